"""Expressions as Z3 terms: operators by the names of Z3's C interface, one context per query.

This file prevents three errors: z3py's `<`, `>>`, `/` and `%` on bit-vectors are signed, `bool(x ==
y)` is silently False, and `BitVecVal(300, 8)` wraps.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias, assert_never

import z3

from swzverify.engines.smt.linear import addends, total
from swzverify.errors import InternalError
from swzverify.ir.expr import (
    Binary,
    BinaryOperator,
    Compare,
    Comparison,
    Const,
    Count,
    Expr,
    Extend,
    Extract,
    Ite,
    Var,
    operands,
    postorder,
    var,
)

Bits: TypeAlias = z3.BitVecRef
"""A bit-vector term."""
Truth: TypeAlias = z3.BoolRef
"""A Boolean term."""
Number: TypeAlias = z3.ArithRef
"""An integer term."""
Model: TypeAlias = z3.ModelRef
"""A Z3 model."""


class _Term(z3.BitVecRef):
    """A bit-vector term that knows its width.

    z3py would ask Z3 for the sort, and wrap it, at every use.
    """

    def __init__(self, made: z3.Ast, context: z3.Context, width: int) -> None:
        super().__init__(made, context)
        self.width = width

    __hash__ = z3.BitVecRef.__hash__

    def size(self) -> int:
        return self.width

    def __eq__(self, other: object) -> Truth:
        """The formula, as in z3py; Z3 itself refuses another width."""
        return _equal(self, other) if isinstance(other, _Term) else super().__eq__(other)


class Translated:
    """The terms already translated into a context, for all questions that are asked there.

    It has no bounds of variables; they are part of each question.
    """

    def __init__(self, context: z3.Context) -> None:
        self.context = context
        self.terms: dict[Expr, Bits] = {}
        self.fixed: dict[tuple[int, int], Bits] = {}
        self.sorts: dict[int, z3.BitVecSortRef] = {}


class Translator:
    """Translates a question's expressions into a Z3 context, each once, and keeps variables' bounds."""

    def __init__(self, known: Translated) -> None:
        self.context = known.context
        self.bounds: dict[str, Truth] = {}
        self.limits: dict[str, int] = {}
        self._known = known
        self._remainders: dict[tuple[Expr, int], Bits] = {}

    def variable(self, node: Var, name: str | None = None) -> Bits:
        """The Z3 constant for a variable, and its bound among `bounds`."""
        label = name or node.name
        symbol = z3.Z3_mk_string_symbol(self.context.ref(), label)
        made = z3.Z3_mk_const(self.context.ref(), symbol, self._sort(node.width).ast)
        term = _Term(made, self.context, node.width)
        if self.limits.setdefault(label, node.limit) != node.limit:
            raise InternalError(f"two variables are called {label}: of {self.limits[label]} and {node.limit} values")
        if label not in self.bounds and node.limit < 1 << node.width:
            self.bounds[label] = z3.ULE(term, self.fixed(node.limit - 1, node.width))
        return term

    def fixed(self, value: int, width: int) -> Bits:
        """A constant, never wrapped."""
        if not 0 <= value < 1 << width:
            raise ValueError(f"{value} does not fit {width} bits")
        found = self._known.fixed.get((value, width))
        if found is None:
            made = z3.Z3_mk_numeral(self.context.ref(), str(value), self._sort(width).ast)
            found = self._known.fixed[value, width] = _Term(made, self.context, width)
        return found

    def _sort(self, width: int) -> z3.BitVecSortRef:
        found = self._known.sorts.get(width)
        if found is None:
            found = self._known.sorts[width] = z3.BitVecSort(width, self.context)
        return found

    def term(self, root: Expr, given: Mapping[Var, Bits] | None = None) -> Bits:
        """A bit-vector term for an expression; `given` replaces variables by terms of their width.

        What `given` does not touch is translated once in a context.
        """
        replaced: dict[Expr, Bits] = {} if given is None else {**given}
        kept = self._known.terms
        for node in postorder(root):
            if node in replaced:
                continue
            if replaced and any(operand in replaced for operand in operands(node)):
                replaced[node] = self._node(node, [(replaced if o in replaced else kept)[o] for o in operands(node)])
            elif isinstance(node, Binary) and (divisor := _slow_divisor(node)):
                replaced[node] = self._remainder(node, divisor)
            elif node not in kept or (isinstance(node, Var) and self.limits.get(node.name) != node.limit):
                kept[node] = self._node(node, [kept[o] for o in operands(node)])
        return (replaced if root in replaced else kept)[root]

    def _remainder(self, node: Binary, divisor: int) -> Bits:
        """A remainder by a constant. Constant addends of the dividend are added to the remainder of the others.

        Z3 would divide for k%3 and for (k+2)%3, and find only by search that the two differ.
        """
        parts = list(addends(node.left))
        dividend = total(part for part in parts if not isinstance(part, Const))
        if (dividend, divisor) not in self._remainders:
            self._remainders[dividend, divisor] = self._defined_remainder(dividend, divisor)
        rest = self._remainders[dividend, divisor]
        shift = sum(part.value for part in parts if isinstance(part, Const)) % divisor
        if not shift:
            return self.widen(rest, node.width)
        width = node.width + 1
        limit = self.fixed(divisor, width)
        moved = _binary(BinaryOperator.ADD, self.widen(rest, width), self.fixed(shift, width))
        back = _binary(BinaryOperator.SUB, moved, limit)
        return self._cut(self._choose(_compare(Comparison.ULT, moved, limit), moved, back), 0, node.width)

    def _defined_remainder(self, dividend: Expr, divisor: int) -> Bits:
        """The one solution of quotient*divisor + remainder = dividend, which costs Z3 less than its own divider."""
        value, name = self.term(dividend), f"{len(self._remainders)}: "
        quotient = self.variable(var(f"{name}quotient", ((1 << dividend.width) - 1) // divisor + 1))
        remainder = self.variable(var(f"{name}remainder", divisor))
        width = max(dividend.width, divisor.bit_length()) + 1  # no sum wraps
        product = _binary(BinaryOperator.MUL, self.widen(quotient, width), self.fixed(divisor, width))
        found = _binary(BinaryOperator.ADD, product, self.widen(remainder, width))
        self.bounds[f"{name}division"] = _equal(found, self.widen(value, width))
        return remainder

    def _node(self, node: Expr, parts: Sequence[Bits]) -> Bits:
        """One operator, over its operands' terms."""
        match node:
            case Const(value, width):
                return self.fixed(value, width)
            case Var():
                return self.variable(node)
            case Binary(operator):
                return _binary(operator, parts[0], parts[1])
            case Compare(comparison):
                return self._choose(_compare(comparison, parts[0], parts[1]), self.fixed(1, 1), self.fixed(0, 1))
            case Extract(_, low, width):
                return self._cut(parts[0], low, width)
            case Extend(operand, width, signed):
                widen = z3.Z3_mk_sign_ext if signed else z3.Z3_mk_zero_ext
                return _Term(widen(self.context.ref(), width - operand.width, parts[0].ast), self.context, width)
            case Count():
                return self._count(parts[0], node.width)
            case Ite():
                return self._choose(_equal(parts[0], self.fixed(1, 1)), parts[1], parts[2])
            case _:
                assert_never(node)

    def _count(self, term: Bits, width: int) -> Bits:
        """The sum of all bits, of neighbours first: no sum is wider than it needs to be."""
        terms = [self._cut(term, at, 1) for at in range(term.size())]
        bits = 1
        while len(terms) > 1:
            bits += 1
            wide = [self.widen(each, bits) for each in terms]
            pairs = [_binary(BinaryOperator.ADD, *pair) for pair in zip(wide[::2], wide[1::2], strict=False)]
            terms = pairs + wide[2 * len(pairs) :]
        return self.widen(terms[0], width) if bits <= width else self._cut(terms[0], 0, width)

    def _cut(self, term: Bits, low: int, width: int) -> Bits:
        made = z3.Z3_mk_extract(self.context.ref(), low + width - 1, low, term.ast)
        return _Term(made, self.context, width)

    def _choose(self, condition: Truth, then: Bits, otherwise: Bits) -> Bits:
        made = z3.Z3_mk_ite(self.context.ref(), condition.ast, then.ast, otherwise.ast)
        return _Term(made, self.context, then.size())

    def truth(self, root: Expr, given: Mapping[Var, Bits] | None = None) -> Truth:
        """A Boolean term for a one-bit expression."""
        return _equal(self.term(root, given), self.fixed(1, 1))

    def widen(self, term: Bits, width: int) -> Bits:
        """Zero-extended to `width` bits."""
        more = width - term.size()
        if more <= 0:
            return term
        return _Term(z3.Z3_mk_zero_ext(self.context.ref(), more, term.ast), self.context, width)


# The C interface is called by name: the IR has made sure of the widths, which z3py would check
# again each time.

_BINARY: dict[BinaryOperator, Callable[[z3.ContextObj, z3.Ast, z3.Ast], z3.Ast]] = {
    BinaryOperator.ADD: z3.Z3_mk_bvadd,
    BinaryOperator.SUB: z3.Z3_mk_bvsub,
    BinaryOperator.MUL: z3.Z3_mk_bvmul,
    BinaryOperator.UDIV: z3.Z3_mk_bvudiv,
    BinaryOperator.UREM: z3.Z3_mk_bvurem,
    BinaryOperator.SDIV: z3.Z3_mk_bvsdiv,
    BinaryOperator.SREM: z3.Z3_mk_bvsrem,
    BinaryOperator.SHL: z3.Z3_mk_bvshl,
    BinaryOperator.LSHR: z3.Z3_mk_bvlshr,
    BinaryOperator.ASHR: z3.Z3_mk_bvashr,
    BinaryOperator.AND: z3.Z3_mk_bvand,
    BinaryOperator.OR: z3.Z3_mk_bvor,
    BinaryOperator.XOR: z3.Z3_mk_bvxor,
}

_COMPARE: dict[Comparison, Callable[[z3.ContextObj, z3.Ast, z3.Ast], z3.Ast]] = {
    Comparison.EQ: z3.Z3_mk_eq,
    Comparison.ULT: z3.Z3_mk_bvult,
    Comparison.ULE: z3.Z3_mk_bvule,
    Comparison.SLT: z3.Z3_mk_bvslt,
    Comparison.SLE: z3.Z3_mk_bvsle,
}


def _binary(operator: BinaryOperator, left: Bits, right: Bits) -> Bits:
    return _Term(_BINARY[operator](left.ctx.ref(), left.ast, right.ast), left.ctx, left.size())


def _compare(comparison: Comparison, left: Bits, right: Bits) -> Truth:
    return z3.BoolRef(_COMPARE[comparison](left.ctx.ref(), left.ast, right.ast), left.ctx)


def _equal(left: Bits, right: Bits) -> Truth:
    return _compare(Comparison.EQ, left, right)


def _slow_divisor(node: Binary) -> int:
    """The constant that a remainder divides by, if Z3 would make a divider for it; else 0."""
    if node.operator is not BinaryOperator.UREM or not isinstance(node.right, Const):
        return 0
    value = node.right.value
    return value if value & (value - 1) else 0
