"""Reading: the interval of unsigned values that each sub-expression can take."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, TypeAlias, assert_never

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
    postorder,
)

Interval: TypeAlias = tuple[int, int]
_Rule: TypeAlias = Callable[[Interval, Interval, int], Interval]
"""From two intervals and the largest value of the width."""


@lru_cache(maxsize=1024)
def intervals(*roots: Expr) -> Mapping[Expr, Interval]:
    """For every sub-expression, an interval (low, high) that holds its unsigned value at every point.

    >>> from swzverify.ir.expr import binary, const, var
    >>> node = binary(BinaryOperator.AND, var("x", 100), const(12, 7))
    >>> intervals(node)[node]
    (0, 12)
    """
    result: dict[Expr, Interval] = {}
    for node in postorder(*roots):
        result[node] = interval_of(node, result)
    return result


def interval_of(node: Expr, known: Mapping[Expr, Interval]) -> Interval:
    """The interval of one node, from those of its operands."""
    return _READINGS[type(node)](node, known)


def _of_binary(node: Binary, known: Mapping[Expr, Interval]) -> Interval:
    return _OPERATORS[node.operator](known[node.left], known[node.right], (1 << node.width) - 1)


def _of_extract(node: Extract, known: Mapping[Expr, Interval]) -> Interval:
    a, b = known[node.operand]
    a, b, width = a >> node.low, b >> node.low, node.width
    # The cut keeps an interval only where no bit above it changes between its ends.
    mask = (1 << width) - 1
    return (a & mask, b & mask) if a >> width == b >> width else (0, mask)


def _of_extend(node: Extend, known: Mapping[Expr, Interval]) -> Interval:
    a, b = known[node.operand]
    sign = 1 << (node.operand.width - 1)
    if not node.signed or b < sign:
        return (a, b)
    above = (1 << node.width) - (1 << node.operand.width)
    return (a + above, b + above) if a >= sign else (0, (1 << node.width) - 1)


def _of_ite(node: Ite, known: Mapping[Expr, Interval]) -> Interval:
    fixed, (a, b), (c, d) = known[node.condition], known[node.then], known[node.otherwise]
    if fixed[0] == fixed[1]:
        return (a, b) if fixed[0] else (c, d)
    return (min(a, c), max(b, d))


def _of_count(node: Count, known: Mapping[Expr, Interval]) -> Interval:
    low, high = known[node.operand]
    if low == high:
        return (low.bit_count(), low.bit_count())
    # Only 2^k - 1 has k ones among the numbers below 2^k.
    return (int(low > 0), (high + 1).bit_length() - 1)


_READINGS: dict[type[Expr], Callable[[Any, Mapping[Expr, Interval]], Interval]] = {
    Const: lambda node, _: (node.value, node.value),
    Var: lambda node, _: (0, node.limit - 1),
    Binary: _of_binary,
    Compare: lambda node, known: _compare(node.comparison, known[node.left], known[node.right]),
    Extract: _of_extract,
    Extend: _of_extend,
    Ite: _of_ite,
    Count: _of_count,
}
"""By kind, and not by `match`: half of the time of a proof by intervals went there."""


def _add(left: Interval, right: Interval, most: int) -> Interval:
    high = left[1] + right[1]
    return (left[0] + right[0], high) if high <= most else (0, most)


def _sub(left: Interval, right: Interval, most: int) -> Interval:
    return (left[0] - right[1], left[1] - right[0]) if left[0] >= right[1] else (0, most)


def _mul(left: Interval, right: Interval, most: int) -> Interval:
    high = left[1] * right[1]
    return (left[0] * right[0], high) if high <= most else (0, most)


def _udiv(left: Interval, right: Interval, most: int) -> Interval:
    return (left[0] // right[1], left[1] // right[0]) if right[0] > 0 else (0, most)


def _urem(left: Interval, right: Interval, _: int) -> Interval:
    (_, b), (c, d) = left, right
    if c > b:
        return left
    return (0, min(b, d - 1)) if c > 0 else (0, max(b, d))


def _shl(left: Interval, right: Interval, most: int) -> Interval:
    (a, b), (c, d) = left, right
    return (a << c, b << d) if d < most.bit_length() and b << d <= most else (0, most)


def _lshr(left: Interval, right: Interval, most: int) -> Interval:
    (a, b), (c, d) = left, right
    width = most.bit_length()
    return (a >> d if d < width else 0, b >> c if c < width else 0)


def _and(left: Interval, right: Interval, most: int) -> Interval:
    return (min(left[0], right[0]) if most == 1 else 0, min(left[1], right[1]))


def _or(left: Interval, right: Interval, _: int) -> Interval:
    (a, b), (c, d) = left, right
    return (max(a, c), (1 << max(b.bit_length(), d.bit_length())) - 1)


def _xor(left: Interval, right: Interval, _: int) -> Interval:
    (a, b), (c, d) = left, right
    if a == b and c == d:
        return (a ^ c, a ^ c)
    return (0, (1 << max(b.bit_length(), d.bit_length())) - 1)


def _of_signed(unsigned: _Rule) -> _Rule:
    """An operator on signed numbers: where none is negative it is the unsigned one."""

    def rule(left: Interval, right: Interval, most: int) -> Interval:
        sign = (most + 1) >> 1
        return unsigned(left, right, most) if left[1] < sign and right[1] < sign else (0, most)

    return rule


_OPERATORS: dict[BinaryOperator, _Rule] = {
    BinaryOperator.ADD: _add,
    BinaryOperator.SUB: _sub,
    BinaryOperator.MUL: _mul,
    BinaryOperator.UDIV: _udiv,
    BinaryOperator.UREM: _urem,
    BinaryOperator.SHL: _shl,
    BinaryOperator.LSHR: _lshr,
    BinaryOperator.AND: _and,
    BinaryOperator.OR: _or,
    BinaryOperator.XOR: _xor,
    BinaryOperator.SDIV: _of_signed(_udiv),
    BinaryOperator.SREM: _of_signed(_urem),
    BinaryOperator.ASHR: _of_signed(_lshr),
}


def _compare(comparison: Comparison, left: Interval, right: Interval) -> Interval:
    (a, b), (c, d) = left, right
    certain: bool | None = None
    match comparison:
        case Comparison.EQ:
            if b < c or d < a:
                certain = False
            elif a == b == c == d:
                certain = True
        case Comparison.ULT:
            certain = True if b < c else False if a >= d else None
        case Comparison.ULE:
            certain = True if b <= c else False if a > d else None
        case Comparison.SLT | Comparison.SLE:
            # Signed order is left to the readings that see the sign bit; nothing here relies on it.
            certain = None
        case _:
            assert_never(comparison)
    return (0, 1) if certain is None else (int(certain), int(certain))
