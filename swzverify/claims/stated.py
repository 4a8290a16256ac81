"""What a claim states of integers, as one bit that the engines decide.

The operators of `ir.integers` fold a comparison whose answer their intervals see. A claim must not
be answered where it is stated: here only constants fold, and what is compared with itself.
"""

from __future__ import annotations

from swzverify.ir import integers as ints
from swzverify.ir.expr import Comparison, Expr, compare, conjunction, const, extract
from swzverify.ir.integers import Integer


def equal(left: Integer, right: Integer) -> Expr:
    """The condition left == right.

    >>> from swzverify.ir.integers import integer, named
    >>> equal(named("x", 8), integer(9)).width
    1
    """
    a, b, _ = ints.common(left, right)
    return compare(Comparison.EQ, a, b)


def less(left: Integer, right: Integer) -> Expr:
    """The condition left < right."""
    a, b, is_signed = ints.common(left, right)
    return compare(Comparison.SLT if is_signed else Comparison.ULT, a, b)


def at_most(left: Integer, right: Integer) -> Expr:
    """The condition left <= right."""
    a, b, is_signed = ints.common(left, right)
    return compare(Comparison.SLE if is_signed else Comparison.ULE, a, b)


def multiple(value: Integer, unit: int) -> Expr:
    """The condition value % unit == 0, for a value >= 0 and a unit of at least 2."""
    if unit & (unit - 1) == 0:
        low = unit.bit_length() - 1
        bits = ints.resize(value, max(low, value.bits.width))
        return compare(Comparison.EQ, extract(bits, 0, low), const(0, low))
    return equal(ints.remainder(value, ints.integer(unit)), ints.integer(0))


def within(low: Integer, position: Integer, length: int, high: Integer) -> Expr:
    """The condition low <= position and position + length <= high."""
    return conjunction([at_most(low, position), at_most(position, ints.subtract(high, ints.integer(length)))])
