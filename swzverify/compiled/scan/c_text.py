"""Expressions of compiled code as C text of a spec, whose integers do not wrap.

Registers wrap, a spec's integers do not: they stay in -2^31 .. 2^32 - 1 (docs/semantics.md, section
1). So a part of an expression becomes a text whose value is the part's modulo 2^width, with bounds;
where an operator needs the very number, a mask makes it. What does not fit is not written.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

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
    operands,
    postorder,
    to_signed,
)

LOWEST: Final = -(1 << 31)
HIGHEST: Final = (1 << 32) - 1
MOST_CHARACTERS: Final = 2000
COORDINATES: Final = {"tid.x": "tid_x", "tid.y": "tid_y", "tid.z": "tid_z", "laneid": "lane"}
"""What a spec calls the coordinates of a thread."""
_SIGNS: Final = {
    BinaryOperator.ADD: "+",
    BinaryOperator.SUB: "-",
    BinaryOperator.MUL: "*",
    BinaryOperator.AND: "&",
    BinaryOperator.OR: "|",
    BinaryOperator.XOR: "^",
}
_COMPARISONS: Final = {
    Comparison.EQ: ("==", False),
    Comparison.ULT: ("<", False),
    Comparison.ULE: ("<=", False),
    Comparison.SLT: ("<", True),
    Comparison.SLE: ("<=", True),
}
_LONGEST_SHIFT: Final = 31
_NO_LIMITS: Final[Mapping[str, int]] = {}


class NotWrittenError(Exception):
    """An expression that is not written; the text is the reason."""


@dataclass(frozen=True, slots=True)
class _Text:
    """A text whose value is `low` to `high`, and equals the part's modulo 2^width."""

    text: str
    low: int
    high: int
    width: int

    def unsigned(self) -> _Text:
        """The number without a sign."""
        limit = 1 << self.width
        if self.low >= 0 and self.high < limit:
            return self
        if limit - 1 > HIGHEST:
            raise NotWrittenError(f"a number of {self.width} bits wraps")
        return _Text(f"({self.text} & {limit - 1})", 0, limit - 1, self.width)

    def signed(self) -> _Text:
        """The number with a sign."""
        half = 1 << (self.width - 1)
        if -half <= self.low and self.high < half:
            return self
        plain = self.unsigned()
        if half > HIGHEST or plain.high + half > HIGHEST * 2:
            raise NotWrittenError(f"a signed number of {self.width} bits wraps")
        return _Text(f"(({plain.text} ^ {half}) - {half})", -half, half - 1, self.width)


def c_text(
    root: Expr, names: Mapping[str, str], limits: Mapping[str, int] = _NO_LIMITS, *, can_wrap: bool = True
) -> str:
    """An expression as C text.

    `names` gives the spec's names of the variables, and `limits` upper bounds of some of them. Without
    `can_wrap`, the number itself must be known not to wrap. The example is a sum that wraps modulo 2^8.

    Raises:
        NotWrittenError: A number is beyond the range of a spec, an operator or a name is not known, or
            the text is too long.

    >>> from swzverify.ir.expr import const, binary, var
    >>> c_text(binary(BinaryOperator.ADD, var("x", 256), const(255, 8)), {"x": "tid"})
    '((tid - 1) & 255)'
    """
    known: dict[Expr, _Text] = {}
    for node in postorder(root):
        made = _made(node, [known[part] for part in operands(node)], names, limits)
        if made.low < LOWEST or made.high > HIGHEST:
            raise NotWrittenError("a number leaves the range of a spec's integers")
        if len(made.text) > MOST_CHARACTERS:
            raise NotWrittenError("the expression is too long")
        known[node] = made
    whole = known[root]
    if not can_wrap and (whole.low < 0 or whole.high >> whole.width):
        raise NotWrittenError("the address may lie before the begin of its array")
    return whole.unsigned().text


def _made(node: Expr, parts: list[_Text], names: Mapping[str, str], limits: Mapping[str, int]) -> _Text:
    match node:
        case Const(value, width):
            number = to_signed(value, width) if width > 1 else value
            return _Text(str(number) if number >= 0 else f"({number})", number, number, width)
        case Var(name, limit, width):
            if name not in names:
                raise NotWrittenError(f"it reads {name}")
            return _Text(names[name], 0, min(limit, limits.get(name, limit)) - 1, width)
        case Extract(_, low, width):
            return _extracted(parts[0], low, width)
        case Extend(_, width, signed):
            exact = parts[0].signed() if signed else parts[0].unsigned()
            return _Text(exact.text, exact.low, exact.high, width)
        case Ite(_, _, _, width):
            condition, then, otherwise = parts[0].unsigned(), parts[1], parts[2]
            text = f"({condition.text} ? {then.text} : {otherwise.text})"
            return _Text(text, min(then.low, otherwise.low), max(then.high, otherwise.high), width)
        case Compare(comparison, _, _, _):
            sign, is_signed = _COMPARISONS[comparison]
            one, two = (part.signed() if is_signed else part.unsigned() for part in parts)
            return _Text(f"({one.text} {sign} {two.text})", 0, 1, 1)
        case Binary(operator, _, _, width):
            return _combined(operator, parts[0], parts[1], width)


def _extracted(part: _Text, low: int, width: int) -> _Text:
    if low == 0:
        return _Text(part.text, part.low, part.high, width)
    exact = part.unsigned()
    if low > _LONGEST_SHIFT:
        if exact.high >> low:
            raise NotWrittenError("a shift by more than 31")
        return _Text("0", 0, 0, width)
    return _Text(f"({exact.text} >> {low})", exact.low >> low, exact.high >> low, width)


def _combined(operator: BinaryOperator, one: _Text, two: _Text, width: int) -> _Text:
    match operator:
        case BinaryOperator.ADD if two.low == two.high < 0:
            return _Text(f"({one.text} - {-two.low})", one.low + two.low, one.high + two.low, width)
        case BinaryOperator.ADD:
            return _Text(f"({one.text} + {two.text})", one.low + two.low, one.high + two.high, width)
        case BinaryOperator.SUB:
            return _Text(f"({one.text} - {two.text})", one.low - two.high, one.high - two.low, width)
        case BinaryOperator.MUL:
            corners = [a * b for a in (one.low, one.high) for b in (two.low, two.high)]
            return _Text(f"({one.text} * {two.text})", min(corners), max(corners), width)
        case BinaryOperator.AND | BinaryOperator.OR | BinaryOperator.XOR:
            return _bitwise(operator, one, two, width)
        case BinaryOperator.SHL:
            amount = _amount(two, width)
            return _Text(f"({one.text} << {amount})", one.low << amount, one.high << amount, width)
        case BinaryOperator.LSHR | BinaryOperator.ASHR:
            amount = _amount(two, width)
            exact = one.unsigned() if operator is BinaryOperator.LSHR else one.signed()
            return _Text(f"({exact.text} >> {amount})", exact.low >> amount, exact.high >> amount, width)
        case BinaryOperator.UDIV | BinaryOperator.UREM:
            above, below = one.unsigned(), two.unsigned()
            if below.low < 1:
                raise NotWrittenError("a divisor may be 0")
            if operator is BinaryOperator.UDIV:
                return _Text(f"({above.text} / {below.text})", 0, above.high // below.low, width)
            return _Text(f"({above.text} % {below.text})", 0, min(above.high, below.high - 1), width)
        case _:
            raise NotWrittenError("a signed division")


def _bitwise(operator: BinaryOperator, one: _Text, two: _Text, width: int) -> _Text:
    """Bits of numbers without a sign: no result has more bits than the larger one."""
    sides = [side if side.low >= 0 else side.unsigned() for side in (one, two)]
    first, second = sides
    bits = (1 << max(first.high, second.high).bit_length()) - 1
    high = min(first.high, second.high) if operator is BinaryOperator.AND else bits
    return _Text(f"({first.text} {_SIGNS[operator]} {second.text})", 0, high, width)


def _amount(part: _Text, width: int) -> int:
    if part.low != part.high or not 0 <= part.low <= min(_LONGEST_SHIFT, width - 1):
        raise NotWrittenError("a shift by a number that is not known, or too large")
    return part.low
