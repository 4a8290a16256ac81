"""Expressions as Z3 terms, wrapped once: unsigned where z3py defaults to signed, widths checked, one context a query.

Traps that this file fences in: z3py's `<`, `>>`, `/` and `%` on bit-vectors are signed, `bool(x == y)` is silently
False, `BitVecVal(300, 8)` wraps.
"""

# z3py ships no types: what comes out of it is Unknown to a type checker, here and nowhere else.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportUnknownParameterType=false, reportMissingTypeStubs=false, reportUnknownLambdaType=false

from __future__ import annotations

from typing import Any, TypeAlias, assert_never

import z3

from swzverify.errors import InternalError
from swzverify.ir.expr import (
    Binary,
    BinaryOperator,
    Compare,
    Comparison,
    Const,
    Expr,
    Extend,
    Extract,
    Ite,
    Var,
    postorder,
)

Bits: TypeAlias = Any
"""A Z3 bit-vector term. z3py's own annotations name unions of every sort, which no checker can narrow."""
Truth: TypeAlias = Any
"""A Z3 Boolean term."""
Number: TypeAlias = Any
"""A Z3 integer term."""
Model: TypeAlias = Any
"""A Z3 model."""


class Translator:
    """Translates expressions into one Z3 context; `suffix` renames variables, for a second copy of a point.

    Only variables in `renamed` get the suffix; the rest are shared between copies.
    """

    def __init__(self, context: z3.Context) -> None:
        self.context = context
        self.bounds: dict[str, Truth] = {}
        self.limits: dict[str, int] = {}

    def variable(self, node: Var, name: str | None = None) -> Bits:
        """The Z3 constant for a variable, and its bound among `bounds`."""
        label = name or node.name
        term = z3.BitVec(label, node.width, self.context)
        if self.limits.setdefault(label, node.limit) != node.limit:
            raise InternalError(f"two variables are called {label}: of {self.limits[label]} and {node.limit} values")
        if label not in self.bounds and node.limit < 1 << node.width:
            self.bounds[label] = z3.ULE(term, z3.BitVecVal(node.limit - 1, node.width, self.context))
        return term

    def fixed(self, value: int, width: int) -> Bits:
        """A constant, never wrapped."""
        if not 0 <= value < 1 << width:
            raise ValueError(f"{value} does not fit {width} bits")
        return z3.BitVecVal(value, width, self.context)

    def term(self, root: Expr, given: dict[Var, Bits] | None = None) -> Bits:
        """A bit-vector term for an expression; `given` replaces variables by terms of their width."""
        terms: dict[Expr, Bits] = {}
        for node in postorder(root):
            match node:
                case Const(value, width):
                    terms[node] = self.fixed(value, width)
                case Var():
                    found = (given or {}).get(node)
                    terms[node] = self.variable(node) if found is None else found
                case Binary(operator, left, right):
                    terms[node] = _binary(operator, terms[left], terms[right])
                case Compare(comparison, left, right):
                    one, zero = self.fixed(1, 1), self.fixed(0, 1)
                    terms[node] = z3.If(_compare(comparison, terms[left], terms[right]), one, zero, self.context)
                case Extract(operand, low, width):
                    terms[node] = z3.Extract(low + width - 1, low, terms[operand])
                case Extend(operand, width, signed):
                    extra = width - operand.width
                    widen = z3.SignExt if signed else z3.ZeroExt
                    terms[node] = widen(extra, terms[operand])
                case Ite(condition, then, otherwise):
                    chosen = terms[condition] == self.fixed(1, 1)
                    terms[node] = z3.If(chosen, terms[then], terms[otherwise], self.context)
                case _:
                    assert_never(node)
        return terms[root]

    def truth(self, root: Expr, given: dict[Var, Bits] | None = None) -> Truth:
        """A Boolean term for a one-bit expression."""
        return self.term(root, given) == self.fixed(1, 1)

    def widen(self, term: Bits, width: int) -> Bits:
        """Zero-extended to `width` bits."""
        return z3.ZeroExt(width - term.size(), term) if width > term.size() else term


def _binary(operator: BinaryOperator, left: Bits, right: Bits) -> Bits:
    match operator:
        case BinaryOperator.ADD:
            return left + right
        case BinaryOperator.SUB:
            return left - right
        case BinaryOperator.MUL:
            return left * right
        case BinaryOperator.UDIV:
            return z3.UDiv(left, right)
        case BinaryOperator.UREM:
            return z3.URem(left, right)
        case BinaryOperator.SDIV:
            return left / right
        case BinaryOperator.SREM:
            return z3.SRem(left, right)
        case BinaryOperator.SHL:
            return left << right
        case BinaryOperator.LSHR:
            return z3.LShR(left, right)
        case BinaryOperator.ASHR:
            return left >> right
        case BinaryOperator.AND:
            return left & right
        case BinaryOperator.OR:
            return left | right
        case BinaryOperator.XOR:
            return left ^ right
        case _:
            assert_never(operator)


def _compare(comparison: Comparison, left: Bits, right: Bits) -> Truth:
    match comparison:
        case Comparison.EQ:
            return left == right
        case Comparison.ULT:
            return z3.ULT(left, right)
        case Comparison.ULE:
            return z3.ULE(left, right)
        case Comparison.SLT:
            return left < right
        case Comparison.SLE:
            return left <= right
        case _:
            assert_never(comparison)
