"""The operators of the expression form, and what they give for two unsigned Python integers.

Source: SMT-LIB 2.6, theory FixedSizeBitVectors and logic QF_BV.
"""

from __future__ import annotations

from enum import StrEnum


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


def apply_binary(operator: BinaryOperator, left: int, right: int, width: int) -> int:
    """Apply an operator of SMT-LIB to two unsigned Python integers, modulo 2^width."""
    mask = (1 << width) - 1
    match operator:
        case BinaryOperator.ADD:
            result = left + right
        case BinaryOperator.SUB:
            result = left - right
        case BinaryOperator.MUL:
            result = left * right
        case BinaryOperator.UDIV:
            result = left // right if right else mask
        case BinaryOperator.UREM:
            result = left % right if right else left
        case BinaryOperator.SDIV:
            result = _signed_divide(to_signed(left, width), to_signed(right, width))[0]
        case BinaryOperator.SREM:
            result = _signed_divide(to_signed(left, width), to_signed(right, width))[1]
        case BinaryOperator.SHL:
            result = left << right if right < width else 0
        case BinaryOperator.LSHR:
            result = left >> right if right < width else 0
        case BinaryOperator.ASHR:
            result = to_signed(left, width) >> min(right, width - 1)
        case BinaryOperator.AND:
            result = left & right
        case BinaryOperator.OR:
            result = left | right
        case BinaryOperator.XOR:
            result = left ^ right
    return result & mask


def _signed_divide(left: int, right: int) -> tuple[int, int]:
    """Truncating quotient and remainder; SMT-LIB's values for a zero divisor."""
    if right == 0:
        return (-1 if left >= 0 else 1), left
    quotient = abs(left) // abs(right)
    if (left < 0) != (right < 0):
        quotient = -quotient
    return quotient, left - right * quotient


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
