"""Expressions of compiled code as C expressions of a spec, whose integers do not wrap.

Registers wrap, a spec's integers do not: they stay in -2^31 .. 2^32 - 1 (docs/semantics.md, section
1). So a part of an expression becomes a C expression whose value is the part's modulo 2^width, with
bounds; where an operator needs the very number, a mask makes it. What does not fit is not written.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from swzverify.errors import SwzError
from swzverify.ir.c_ast import MAX_NODES, VALUE_MAX, VALUE_MIN, BinaryOp, CExpr, Conditional, Name
from swzverify.ir.c_formula import CFormula, every, joined, literal
from swzverify.ir.counts import summed
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
    to_signed,
)

COORDINATES: Final = {"tid.x": "tid_x", "tid.y": "tid_y", "tid.z": "tid_z", "laneid": "lane"}
"""What a spec calls the coordinates of a thread."""
_BITWISE: Final = {
    BinaryOperator.AND: BinaryOp.BIT_AND,
    BinaryOperator.OR: BinaryOp.BIT_OR,
    BinaryOperator.XOR: BinaryOp.BIT_XOR,
}
_COMPARISONS: Final = {
    Comparison.EQ: (BinaryOp.EQUAL, False),
    Comparison.ULT: (BinaryOp.LESS, False),
    Comparison.ULE: (BinaryOp.LESS_EQUAL, False),
    Comparison.SLT: (BinaryOp.LESS, True),
    Comparison.SLE: (BinaryOp.LESS_EQUAL, True),
}
_LONGEST_SHIFT: Final = 31
_NO_LIMITS: Final[Mapping[str, int]] = {}


class NotWrittenError(Exception):
    """An expression that is not written; the text is the reason."""


@dataclass(frozen=True, slots=True)
class _Part:
    """A C expression whose value is `low` to `high`, and equals that of a part modulo 2^width."""

    tree: CExpr
    low: int
    high: int
    width: int

    def by(self, operator: BinaryOp, right: CExpr | int, low: int, high: int) -> _Part:
        """The part with an operator behind it, whose value is `low` to `high`."""
        return _Part(joined(self.tree, operator, right), low, high, self.width)

    def unsigned(self) -> _Part:
        """The number without a sign."""
        limit = 1 << self.width
        if self.low >= 0 and self.high < limit:
            return self
        if limit - 1 > VALUE_MAX:
            raise NotWrittenError(f"a number of {self.width} bits wraps")
        return self.by(BinaryOp.BIT_AND, limit - 1, 0, limit - 1)

    def signed(self) -> _Part:
        """The number with a sign."""
        half = 1 << (self.width - 1)
        if -half <= self.low and self.high < half:
            return self
        plain = self.unsigned()
        if half > VALUE_MAX or plain.high + half > VALUE_MAX * 2:
            raise NotWrittenError(f"a signed number of {self.width} bits wraps")
        return plain.by(BinaryOp.BIT_XOR, half, 0, 2 * half - 1).by(BinaryOp.SUBTRACT, half, -half, half - 1)


def unwrapped(
    root: Expr, names: Mapping[str, str], limits: Mapping[str, int] = _NO_LIMITS, *, can_wrap: bool = True
) -> CFormula:
    """An expression as a C expression.

    `names` gives the spec's names of the variables, and `limits` upper bounds of some of them. Without
    `can_wrap`, the number itself must be known not to wrap. The example is a sum that wraps modulo 2^8.

    Raises:
        NotWrittenError: A number is beyond the range of a spec, an operator or a name is not known, or
            the expression is too long.

    >>> from swzverify.ir.expr import const, binary, var
    >>> str(unwrapped(binary(BinaryOperator.ADD, var("x", 256), const(255, 8)), {"x": "tid"}))
    'tid - 1 & 255'
    """
    known: dict[Expr, _Part] = {}
    sizes: dict[Expr, int] = {}
    root = summed(root)
    for node in postorder(root):
        made = _made(node, [known[part] for part in operands(node)], names, limits)
        if made.low < VALUE_MIN or made.high > VALUE_MAX:
            raise NotWrittenError("a number leaves the range of a spec's integers")
        # A part that several read stands in the text as often.
        sizes[node] = 1 + sum(sizes[part] for part in operands(node))
        if sizes[node] > MAX_NODES:
            raise NotWrittenError("the expression is too long")
        known[node] = made
    whole = known[root]
    if not can_wrap and (whole.low < 0 or whole.high >> whole.width):
        raise NotWrittenError("the address may lie before the begin of its array")
    try:
        return CFormula.of(whole.unsigned().tree)
    except SwzError as error:
        raise NotWrittenError("the expression is too long") from error


def all_of(conditions: Sequence[CFormula]) -> CFormula | None:
    """The formula that is true where all conditions are; None without any.

    Raises:
        NotWrittenError: They are too long together.
    """
    try:
        return every(conditions)
    except SwzError as error:
        raise NotWrittenError("the condition is too long") from error


def _made(node: Expr, parts: list[_Part], names: Mapping[str, str], limits: Mapping[str, int]) -> _Part:
    match node:
        case Const(value, width):
            number = to_signed(value, width) if width > 1 else value
            if number < VALUE_MIN or number > VALUE_MAX:
                raise NotWrittenError("a number leaves the range of a spec's integers")
            return _Part(literal(number), number, number, width)
        case Var(name, limit, width):
            if name not in names:
                raise NotWrittenError(f"it reads {name}")
            return _Part(Name(names[name]), 0, min(limit, limits.get(name, limit)) - 1, width)
        case Extract(_, low, width):
            return _extracted(parts[0], low, width)
        case Extend(_, width, signed):
            exact = parts[0].signed() if signed else parts[0].unsigned()
            return _Part(exact.tree, exact.low, exact.high, width)
        case Ite(_, _, _, width):
            condition, then, otherwise = parts[0].unsigned(), parts[1], parts[2]
            tree = Conditional(condition.tree, then.tree, otherwise.tree)
            return _Part(tree, min(then.low, otherwise.low), max(then.high, otherwise.high), width)
        case Compare(comparison, _, _, _):
            sign, is_signed = _COMPARISONS[comparison]
            one, two = (part.signed() if is_signed else part.unsigned() for part in parts)
            return replace(one.by(sign, two.tree, 0, 1), width=1)
        case Binary(operator, _, _, width):
            return _combined(operator, parts[0], parts[1], width)
        case Count():
            raise NotWrittenError("a spec does not count bits")


def _extracted(part: _Part, low: int, width: int) -> _Part:
    if low == 0:
        return _Part(part.tree, part.low, part.high, width)
    exact = part.unsigned()
    if low > _LONGEST_SHIFT:
        if exact.high >> low:
            raise NotWrittenError("a shift by more than 31")
        return _Part(literal(0), 0, 0, width)
    return replace(exact.by(BinaryOp.SHIFT_RIGHT, low, exact.low >> low, exact.high >> low), width=width)


def _combined(operator: BinaryOperator, one: _Part, two: _Part, width: int) -> _Part:
    match operator:
        case BinaryOperator.ADD if two.low == two.high < 0:
            return one.by(BinaryOp.SUBTRACT, -two.low, one.low + two.low, one.high + two.low)
        case BinaryOperator.ADD:
            return one.by(BinaryOp.ADD, two.tree, one.low + two.low, one.high + two.high)
        case BinaryOperator.SUB:
            return one.by(BinaryOp.SUBTRACT, two.tree, one.low - two.high, one.high - two.low)
        case BinaryOperator.MUL:
            corners = [a * b for a in (one.low, one.high) for b in (two.low, two.high)]
            return one.by(BinaryOp.MULTIPLY, two.tree, min(corners), max(corners))
        case BinaryOperator.AND | BinaryOperator.OR | BinaryOperator.XOR:
            return _bitwise(operator, one, two)
        case BinaryOperator.SHL:
            amount = _amount(two, width)
            return one.by(BinaryOp.SHIFT_LEFT, amount, one.low << amount, one.high << amount)
        case BinaryOperator.LSHR | BinaryOperator.ASHR:
            amount = _amount(two, width)
            exact = one.unsigned() if operator is BinaryOperator.LSHR else one.signed()
            return exact.by(BinaryOp.SHIFT_RIGHT, amount, exact.low >> amount, exact.high >> amount)
        case BinaryOperator.UDIV | BinaryOperator.UREM:
            above, below = one.unsigned(), two.unsigned()
            if below.low < 1:
                raise NotWrittenError("a divisor may be 0")
            if operator is BinaryOperator.UDIV:
                return above.by(BinaryOp.DIVIDE, below.tree, 0, above.high // below.low)
            return above.by(BinaryOp.REMAINDER, below.tree, 0, min(above.high, below.high - 1))
        case _:
            raise NotWrittenError("a signed division")


def _bitwise(operator: BinaryOperator, one: _Part, two: _Part) -> _Part:
    """Bits of numbers without a sign: no result has more bits than the larger one."""
    sides = [side if side.low >= 0 else side.unsigned() for side in (one, two)]
    first, second = sides
    bits = (1 << max(first.high, second.high).bit_length()) - 1
    high = min(first.high, second.high) if operator is BinaryOperator.AND else bits
    return first.by(_BITWISE[operator], second.tree, 0, high)


def _amount(part: _Part, width: int) -> int:
    if part.low != part.high or not 0 <= part.low <= min(_LONGEST_SHIFT, width - 1):
        raise NotWrittenError("a shift by a number that is not known, or too large")
    return part.low
