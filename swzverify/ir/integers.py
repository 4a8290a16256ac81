"""Mathematical integers as bit-vectors: every value has an interval, and no operation wraps.

An `Integer` is a bit-vector expression and the interval of the integer that it represents. It is
unsigned if the interval has no negative number, else two's complement, and never wider than the
interval needs. Every function below returns the exact mathematical result at every point of its
operands' variables.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from swzverify.ir.expr import (
    BinaryOperator,
    Comparison,
    Expr,
    Var,
    binary,
    compare,
    const,
    extend,
    extract,
    ite,
    var,
)

MAX_SHIFT_BITS = 31
"""C shifts a 32-bit integer by 0 to 31."""


@dataclass(frozen=True, slots=True)
class Integer:
    """An expression and the interval low .. high of the integer that it stands for."""

    bits: Expr
    low: int
    high: int

    @property
    def is_constant(self) -> bool:
        """Whether one value is possible only."""
        return self.low == self.high


def width_for(low: int, high: int) -> int:
    """The bits that low .. high need: unsigned for low >= 0, else two's complement.

    >>> width_for(0, 7), width_for(0, 8), width_for(-4, 3), width_for(0, 0)
    (3, 4, 3, 1)
    """
    if low >= 0:
        return high.bit_length() or 1
    return max((-low - 1).bit_length(), high.bit_length() if high > 0 else 0) + 1


@lru_cache(maxsize=4096)
def integer(value: int) -> Integer:
    """A constant."""
    return Integer(const(value, width_for(value, value)), value, value)


def variable(node: Var) -> Integer:
    """A variable's value, 0 .. limit - 1."""
    return Integer(node, 0, node.limit - 1)


def named(name: str, limit: int) -> Integer:
    """The variable `name` with values 0 .. limit - 1."""
    return variable(var(name, limit))


def resize(value: Integer, width: int) -> Expr:
    """The value modulo 2^width: widened by its own sign, or cut."""
    if value.bits.width >= width:
        return extract(value.bits, 0, width)
    return extend(value.bits, width, signed=value.low < 0)


def _fit(bits: Expr, low: int, high: int) -> Integer:
    """A result computed in enough bits, cut to what its interval needs."""
    if low == high:
        return integer(low)
    return Integer(extract(bits, 0, width_for(low, high)), low, high)


def _ring(operator: BinaryOperator, left: Integer, right: Integer, low: int, high: int) -> Integer:
    """+, - and * are exact modulo 2^width, so the operands may be cut to the result's width first."""
    if low == high:
        return integer(low)
    width = width_for(low, high)
    return Integer(binary(operator, resize(left, width), resize(right, width)), low, high)


def _is_tight(value: Integer) -> bool:
    """Whether a sum with 0, or a product with 1, is the very value: it is no constant, and has no bit too many."""
    return value.low != value.high and value.bits.width == width_for(value.low, value.high)


def add(left: Integer, right: Integer) -> Integer:
    """The sum left + right."""
    if left.low == left.high == 0 and _is_tight(right):
        return right
    if right.low == right.high == 0 and _is_tight(left):
        return left
    return _ring(BinaryOperator.ADD, left, right, left.low + right.low, left.high + right.high)


def subtract(left: Integer, right: Integer) -> Integer:
    """The difference left - right."""
    return _ring(BinaryOperator.SUB, left, right, left.low - right.high, left.high - right.low)


def multiply(left: Integer, right: Integer) -> Integer:
    """The product left * right; by a power of two it is a shift."""
    if right.low == right.high == 1 and _is_tight(left):
        return left
    for value, factor in ((left, right), (right, left)):
        number = factor.low
        if number == factor.high and number > 0 and number & (number - 1) == 0 and value.low != value.high:
            low, high = value.low * number, value.high * number
            width = max(width_for(low, high), 6)
            return _fit(
                binary(BinaryOperator.SHL, resize(value, width), const(number.bit_length() - 1, width)), low, high
            )
    corners = left.low * right.low, left.low * right.high, left.high * right.low, left.high * right.high
    low, high = min(corners), max(corners)
    return _ring(BinaryOperator.MUL, left, right, low, high)


def negate(value: Integer) -> Integer:
    """-value."""
    return subtract(integer(0), value)


def invert(value: Integer) -> Integer:
    """~value = -value - 1."""
    return subtract(integer(-1), value)


def total(values: Sequence[Integer]) -> Integer:
    """The sum of some integers; 0 for none."""
    result = integer(0)
    for value in values:
        result = add(result, value)
    return result


def common(left: Integer, right: Integer) -> tuple[Expr, Expr, bool]:
    """Both values in one width that holds both, and whether they are to be read as signed."""
    low, high = min(left.low, right.low), max(left.high, right.high)
    width = width_for(low, high)
    return resize(left, width), resize(right, width), low < 0


def _trunc(a: int, b: int) -> int:
    """C's quotient."""
    quotient = abs(a) // abs(b)
    return -quotient if (a < 0) != (b < 0) else quotient


def divide(left: Integer, right: Integer) -> Integer:
    """C's truncating quotient; the divisor's interval must not hold 0."""
    if right.low <= 0 <= right.high:
        raise ValueError("the divisor can be 0")
    corners = [_trunc(a, b) for a in (left.low, left.high) for b in (right.low, right.high)]
    low, high = min(corners), max(corners)
    if left.low < 0 < left.high:
        low, high = min(low, 0), max(high, 0)
    if low == high:
        return integer(low)
    if left.low >= 0 and right.low > 0:
        if right.is_constant and right.low & (right.low - 1) == 0:
            shift = right.low.bit_length() - 1
            return _fit(extract(left.bits, shift, left.bits.width - shift), low, high)
        a, b, _ = common(left, right)
        return _fit(binary(BinaryOperator.UDIV, a, b), low, high)
    # One bit more than both need, so that the most negative number divided by -1 does not wrap.
    width = 2 + max(width_for(min(v.low, -1), max(v.high, 0)) for v in (left, right))
    return _fit(binary(BinaryOperator.SDIV, resize(left, width), resize(right, width)), low, high)


def remainder(left: Integer, right: Integer) -> Integer:
    """C's remainder, of the dividend's sign; the divisor's interval must not hold 0."""
    if right.low <= 0 <= right.high:
        raise ValueError("the divisor can be 0")
    largest = max(abs(right.low), abs(right.high)) - 1
    smallest_divisor = min(abs(right.low), abs(right.high))
    if max(abs(left.low), abs(left.high)) < smallest_divisor:
        return left
    low = max(left.low, -largest) if left.low < 0 else 0
    high = min(left.high, largest) if left.high > 0 else 0
    if low == high:
        return integer(low)
    if left.low >= 0 and right.low > 0:
        if right.is_constant and right.low & (right.low - 1) == 0:
            return _fit(extract(left.bits, 0, right.low.bit_length() - 1), low, high)
        a, b, _ = common(left, right)
        return _fit(binary(BinaryOperator.UREM, a, b), low, high)
    width = 2 + max(width_for(min(v.low, -1), max(v.high, 0)) for v in (left, right))
    return _fit(binary(BinaryOperator.SREM, resize(left, width), resize(right, width)), low, high)


def _amount(value: Integer) -> None:
    if value.low < 0 or value.high > MAX_SHIFT_BITS:
        raise ValueError("the shift amount can be outside 0..31")


def shift_left(left: Integer, amount: Integer) -> Integer:
    """The value left * 2^amount, for 0 <= amount <= 31."""
    _amount(amount)
    if amount.is_constant:
        return multiply(left, integer(1 << amount.low))
    low = left.low << (amount.high if left.low < 0 else amount.low)
    high = left.high << (amount.high if left.high > 0 else amount.low)
    if low == high:
        return integer(low)
    width = max(width_for(low, high), amount.bits.width)
    return _fit(binary(BinaryOperator.SHL, resize(left, width), resize(amount, width)), low, high)


def shift_right(left: Integer, amount: Integer) -> Integer:
    """floor(left / 2^amount), 0 <= amount <= 31."""
    _amount(amount)
    low = left.low >> (amount.low if left.low < 0 else amount.high)
    high = left.high >> (amount.high if left.high < 0 else amount.low)
    if low == high:
        return integer(low)
    if amount.is_constant and left.low >= 0:
        return _fit(extract(left.bits, amount.low, left.bits.width - amount.low), low, high)
    width = max(left.bits.width, amount.bits.width + 1, 6)
    operator = BinaryOperator.ASHR if left.low < 0 else BinaryOperator.LSHR
    return _fit(binary(operator, resize(left, width), resize(amount, width)), low, high)


def bit_and(left: Integer, right: Integer) -> Integer:
    """The value left & right in two's complement of unbounded width."""
    if left.low >= 0 or right.low >= 0:
        nonnegative = [value.high for value in (left, right) if value.low >= 0]
        return _bitwise(BinaryOperator.AND, left, right, 0, min(nonnegative))
    low, _ = _full_range(left, right)
    return _bitwise(BinaryOperator.AND, left, right, low, max(left.high, right.high))


def bit_or(left: Integer, right: Integer) -> Integer:
    """The value left | right in two's complement of unbounded width."""
    low, high = _full_range(left, right)
    return _bitwise(BinaryOperator.OR, left, right, low if low < 0 else max(left.low, right.low), high)


def bit_xor(left: Integer, right: Integer) -> Integer:
    """The value left ^ right in two's complement of unbounded width."""
    return _bitwise(BinaryOperator.XOR, left, right, *_full_range(left, right))


def _full_range(left: Integer, right: Integer) -> tuple[int, int]:
    """Every number of the common width."""
    low, high = min(left.low, right.low), max(left.high, right.high)
    width = width_for(low, high)
    return (0, (1 << width) - 1) if low >= 0 else (-(1 << (width - 1)), (1 << (width - 1)) - 1)


def _bitwise(operator: BinaryOperator, left: Integer, right: Integer, low: int, high: int) -> Integer:
    a, b, _ = common(left, right)
    bits = binary(operator, a, b)
    if left.is_constant and right.is_constant:
        return _fit(bits, *(2 * (_constant_bitwise(operator, left.low, right.low),)))
    return _fit(bits, low, high)


def _constant_bitwise(operator: BinaryOperator, left: int, right: int) -> int:
    if operator is BinaryOperator.AND:
        return left & right
    return left | right if operator is BinaryOperator.OR else left ^ right


def _bit(bits: Expr) -> Integer:
    return Integer(bits, 0, 1)


def equal(left: Integer, right: Integer) -> Integer:
    """1 where left == right, else 0."""
    if left.high < right.low or right.high < left.low:
        return integer(0)
    a, b, _ = common(left, right)
    return _truth(compare(Comparison.EQ, a, b))


def less(left: Integer, right: Integer) -> Integer:
    """1 where left < right, else 0."""
    if left.high < right.low:
        return integer(1)
    if left.low >= right.high:
        return integer(0)
    a, b, signed = common(left, right)
    return _truth(compare(Comparison.SLT if signed else Comparison.ULT, a, b))


def less_equal(left: Integer, right: Integer) -> Integer:
    """1 where left <= right, else 0."""
    return logical_not(less(right, left))


def _truth(bits: Expr) -> Integer:
    folded = const(1, 1)
    if bits is folded:
        return integer(1)
    return integer(0) if bits is const(0, 1) else _bit(bits)


def truth(value: Integer) -> Expr:
    """One bit: whether the value is not zero."""
    if value.low == 0 and value.high == 1:
        return value.bits
    return logical_not(equal(value, integer(0))).bits


def logical_not(value: Integer) -> Integer:
    """1 where the value is 0, else 0."""
    if value.low == 0 and value.high == 1:
        return _truth(binary(BinaryOperator.XOR, value.bits, const(1, 1)))
    return equal(value, integer(0))


def logical_and(left: Integer, right: Integer) -> Integer:
    """1 where both are non-zero, else 0."""
    if left.low == left.high == 0 or right.low == right.high == 0:
        return integer(0)
    return _truth(binary(BinaryOperator.AND, truth(left), truth(right)))


def logical_or(left: Integer, right: Integer) -> Integer:
    """1 where one is non-zero, else 0."""
    if left.low > 0 or right.low > 0:
        return integer(1)
    return _truth(binary(BinaryOperator.OR, truth(left), truth(right)))


def choose(condition: Expr, then: Integer, otherwise: Integer) -> Integer:
    """`then` where the one-bit condition holds, else `otherwise`."""
    low, high = min(then.low, otherwise.low), max(then.high, otherwise.high)
    if low == high:
        return integer(low)
    if condition is const(1, 1):
        return then
    if condition is const(0, 1):
        return otherwise
    width = width_for(low, high)
    return Integer(ite(condition, resize(then, width), resize(otherwise, width)), low, high)


def minimum(left: Integer, right: Integer) -> Integer:
    """The smaller of two."""
    chosen = choose(truth(less(left, right)), left, right)
    return _within(chosen, min(left.low, right.low), min(left.high, right.high))


def maximum(left: Integer, right: Integer) -> Integer:
    """The larger of two."""
    chosen = choose(truth(less(left, right)), right, left)
    return _within(chosen, max(left.low, right.low), max(left.high, right.high))


def _within(value: Integer, low: int, high: int) -> Integer:
    """The same value, known to lie in low .. high too.

    Only what both intervals hold remains: where a comparison folds, the value's own may be the
    narrower one.
    """
    return _fit(value.bits, max(value.low, low), min(value.high, high))
