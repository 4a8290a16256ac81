"""The operators of the expression form, and what they give for two unsigned Python integers.

Source: SMT-LIB 2.6, theory FixedSizeBitVectors and logic QF_BV.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import Final


class BinaryOperator(StrEnum):
    """Operators of two bit-vectors of one width, named as in SMT-LIB."""

    ADD = "bvadd"
    SUB = "bvsub"
    MUL = "bvmul"
    UDIV = "bvudiv"
    UREM = "bvurem"
    SDIV = "bvsdiv"
    SREM = "bvsrem"
    SHL = "bvshl"
    LSHR = "bvlshr"
    ASHR = "bvashr"
    AND = "bvand"
    OR = "bvor"
    XOR = "bvxor"


class Comparison(StrEnum):
    """Comparisons of two bit-vectors of one width; the result has one bit."""

    EQ = "="
    ULT = "bvult"
    ULE = "bvule"
    SLT = "bvslt"
    SLE = "bvsle"


def to_signed(value: int, width: int) -> int:
    """The two's complement reading of an unsigned `width`-bit value."""
    return value - (1 << width) if value >> (width - 1) else value


def _signed_divide(left: int, right: int) -> tuple[int, int]:
    """Truncating quotient and remainder; SMT-LIB's values for a zero divisor."""
    if right == 0:
        return (-1 if left >= 0 else 1), left
    quotient = abs(left) // abs(right)
    if (left < 0) != (right < 0):
        quotient = -quotient
    return quotient, left - right * quotient


_RESULTS: Final[Mapping[BinaryOperator, Callable[[int, int, int], int]]] = {
    BinaryOperator.ADD: lambda left, right, _: left + right,
    BinaryOperator.SUB: lambda left, right, _: left - right,
    BinaryOperator.MUL: lambda left, right, _: left * right,
    BinaryOperator.UDIV: lambda left, right, _: left // right if right else -1,
    BinaryOperator.UREM: lambda left, right, _: left % right if right else left,
    BinaryOperator.SDIV: lambda left, right, width: _signed_divide(to_signed(left, width), to_signed(right, width))[0],
    BinaryOperator.SREM: lambda left, right, width: _signed_divide(to_signed(left, width), to_signed(right, width))[1],
    BinaryOperator.SHL: lambda left, right, width: left << right if right < width else 0,
    BinaryOperator.LSHR: lambda left, right, width: left >> right if right < width else 0,
    BinaryOperator.ASHR: lambda left, right, width: to_signed(left, width) >> min(right, width - 1),
    BinaryOperator.AND: lambda left, right, _: left & right,
    BinaryOperator.OR: lambda left, right, _: left | right,
    BinaryOperator.XOR: lambda left, right, _: left ^ right,
}
"""From two numbers and their width, modulo 2^width. In a table, as `match` compares with one operator after another."""


def apply_binary(operator: BinaryOperator, left: int, right: int, width: int) -> int:
    """Apply an operator of SMT-LIB to two unsigned Python integers, modulo 2^width."""
    return _RESULTS[operator](left, right, width) & ((1 << width) - 1)


def apply_comparison(comparison: Comparison, left: int, right: int, width: int) -> bool:
    """One comparison of two unsigned Python integers, as SMT-LIB defines it."""
    match comparison:
        case Comparison.EQ:
            return left == right
        case Comparison.ULT:
            return left < right
        case Comparison.ULE:
            return left <= right
        case Comparison.SLT:
            return to_signed(left, width) < to_signed(right, width)
        case Comparison.SLE:
            return to_signed(left, width) <= to_signed(right, width)
