"""Reading: the interval of unsigned values that each sub-expression can take."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import TypeAlias, assert_never

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

Interval: TypeAlias = tuple[int, int]


@lru_cache(maxsize=1024)
def intervals(*roots: Expr) -> Mapping[Expr, Interval]:
    """An interval (low, high) for every sub-expression that holds its unsigned value at every
    point.

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
    full = (0, (1 << node.width) - 1)
    match node:
        case Const(value):
            return (value, value)
        case Var(_, limit):
            return (0, limit - 1)
        case Binary(operator, left, right):
            return _binary(operator, known[left], known[right], full)
        case Compare(comparison, left, right):
            return _compare(comparison, known[left], known[right])
        case Extract(operand, low, width):
            a, b = known[operand][0] >> low, known[operand][1] >> low
            # The cut keeps an interval only where no bit above it changes between its ends.
            mask = (1 << width) - 1
            return (a & mask, b & mask) if a >> width == b >> width else full
        case Extend(operand, width, signed):
            a, b = known[operand]
            sign = 1 << (operand.width - 1)
            if not signed or b < sign:
                return (a, b)
            above = (1 << width) - (1 << operand.width)
            return (a + above, b + above) if a >= sign else full
        case Ite(condition, then, otherwise):
            fixed = known[condition]
            if fixed[0] == fixed[1]:
                return known[then] if fixed[0] else known[otherwise]
            (a, b), (c, d) = known[then], known[otherwise]
            return (min(a, c), max(b, d))
    assert_never(node)


def _binary(operator: BinaryOperator, left: Interval, right: Interval, full: Interval) -> Interval:
    (a, b), (c, d) = left, right
    match operator:
        case BinaryOperator.ADD:
            return (a + c, b + d) if b + d <= full[1] else full
        case BinaryOperator.SUB:
            return (a - d, b - c) if a >= d else full
        case BinaryOperator.MUL:
            return (a * c, b * d) if b * d <= full[1] else full
        case BinaryOperator.UDIV:
            return (a // d, b // c) if c > 0 else full
        case BinaryOperator.UREM:
            if c > b:
                return left
            return (0, min(b, d - 1)) if c > 0 else (0, max(b, d))
        case BinaryOperator.SHL:
            width = full[1].bit_length()
            return (a << c, b << d) if d < width and b << d <= full[1] else full
        case BinaryOperator.LSHR:
            width = full[1].bit_length()
            return (a >> d if d < width else 0, b >> c if c < width else 0)
        case BinaryOperator.AND:
            return (min(a, c) if full[1] == 1 else 0, min(b, d))
        case BinaryOperator.OR:
            return (max(a, c), (1 << max(b.bit_length(), d.bit_length())) - 1)
        case BinaryOperator.XOR:
            if a == b and c == d:
                return (a ^ c, a ^ c)
            return (0, (1 << max(b.bit_length(), d.bit_length())) - 1)
        case BinaryOperator.SDIV | BinaryOperator.SREM | BinaryOperator.ASHR:
            sign = (full[1] + 1) >> 1
            if b < sign and d < sign:
                unsigned = {
                    BinaryOperator.SDIV: BinaryOperator.UDIV,
                    BinaryOperator.SREM: BinaryOperator.UREM,
                    BinaryOperator.ASHR: BinaryOperator.LSHR,
                }
                return _binary(unsigned[operator], left, right, full)
            return full
        case _:
            assert_never(operator)


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
