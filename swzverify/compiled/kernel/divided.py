"""Quotients and remainders by a number, as shifts and masks where it is a power of two."""

from __future__ import annotations

from swzverify.compiled.kernel.arithmetic import bit_and, shift_right
from swzverify.ir.expr import BinaryOperator, Expr, binary, const


def quotient(value: Expr, divisor: int) -> Expr:
    """A value without a sign, divided by a number.

    >>> quotient(const(73, 16), 8).value
    9
    """
    if divisor & (divisor - 1) == 0:
        return shift_right(value, const(divisor.bit_length() - 1, value.width), signed=False)
    return binary(BinaryOperator.UDIV, value, const(divisor, value.width))


def rest(value: Expr, divisor: int) -> Expr:
    """What is left of a value without a sign, divided by a number.

    >>> rest(const(73, 16), 8).value
    1
    """
    if divisor & (divisor - 1) == 0:
        return bit_and(value, const(divisor - 1, value.width))
    return binary(BinaryOperator.UREM, value, const(divisor, value.width))
