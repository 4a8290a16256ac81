"""Exact integers over a program: every result is as wide as its bounds need, so nothing wraps.

This is a second arithmetic, written from docs/semantics.md, section 1; it shares nothing with the
prover's. Every function is total: what C leaves undefined has some value here, and the caller notes
that it must not happen.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce

from swzrecheck.meaning import signed
from swzrecheck.program import Builder, Operation

MAX_SHIFT = 31


@dataclass(frozen=True, slots=True)
class Exact:
    """A line as an integer in low .. high: unsigned if low >= 0, else in two's complement."""

    place: int
    low: int
    high: int


def width_of(low: int, high: int) -> int:
    """The bits that low .. high need.

    >>> width_of(0, 7), width_of(0, 8), width_of(-4, 3), width_of(0, 0)
    (3, 4, 3, 1)
    """
    if low >= 0:
        return max(1, high.bit_length())
    return 1 + max((-low - 1).bit_length(), max(0, high).bit_length())


class Arithmetic:
    """Exact integers whose lines a builder holds."""

    def __init__(self, out: Builder) -> None:
        self.out = out

    def number(self, value: int) -> Exact:
        """A constant."""
        return Exact(self.out.const(value, width_of(value, value)), value, value)

    def variable(self, name: str, limit: int) -> Exact:
        """A variable with values 0 .. limit - 1."""
        return Exact(self.out.var(name, limit, width_of(0, limit - 1)), 0, limit - 1)

    def bit(self, place: int) -> Exact:
        """A line of one bit as the integer 0 or 1."""
        return Exact(place, 0, 1)

    def cut(self, value: Exact, low: int, high: int) -> Exact:
        """The value where it lies in low .. high; elsewhere some number of as many bits."""
        low, high = max(low, value.low), min(high, value.high)
        return self._settled(self._fitted(value, width_of(low, high)), low, high)

    def _settled(self, place: int, low: int, high: int) -> Exact:
        """A line with its bounds; a constant has exact ones."""
        known = self.out.known(place)
        if known is not None:
            value = signed(known, self.out.width(place)) if low < 0 else known
            if low <= value <= high:
                return self.number(value)
        return Exact(place, low, high)

    def _fitted(self, value: Exact, width: int) -> int:
        """The value modulo 2^width."""
        has = self.out.width(value.place)
        if has < width:
            kind = "sign_extend" if value.low < 0 else "zero_extend"
            return self.out.add(Operation(kind, width, (value.place,)))
        return self.out.extract(value.place, 0, width)

    def _wrapped(self, operator: str, a: Exact, b: Exact, low: int, high: int) -> Exact:
        """An operator that is right modulo any power of two, in the width of its result."""
        width = width_of(low, high)
        found = self.out.op(operator, self._fitted(a, width), self._fitted(b, width))
        return self._settled(found, low, high)

    def _common(self, a: Exact, b: Exact) -> tuple[int, int, bool]:
        """Two values in one width that holds both, and whether it is signed."""
        low, high = min(a.low, b.low), max(a.high, b.high)
        width = width_of(low, high)
        return self._fitted(a, width), self._fitted(b, width), low < 0

    # --- sums and products -----------------------------------------------------------------------------------------

    def add(self, a: Exact, b: Exact) -> Exact:
        """The sum a + b."""
        if (b.low, b.high) == (0, 0):
            return a
        if (a.low, a.high) == (0, 0):
            return b
        return self._wrapped("bvadd", a, b, a.low + b.low, a.high + b.high)

    def total(self, values: Sequence[Exact]) -> Exact:
        """The sum of several values."""
        return reduce(self.add, values, self.number(0))

    def subtract(self, a: Exact, b: Exact) -> Exact:
        """The difference a - b."""
        return self._wrapped("bvsub", a, b, a.low - b.high, a.high - b.low)

    def multiply(self, a: Exact, b: Exact) -> Exact:
        """The product a * b."""
        for one, other in ((a, b), (b, a)):
            if one.low == one.high == 1:
                return other
        corners = [x * y for x in (a.low, a.high) for y in (b.low, b.high)]
        return self._wrapped("bvmul", a, b, min(corners), max(corners))

    def times(self, a: Exact, factor: int) -> Exact:
        """The product a * factor."""
        return self.multiply(a, self.number(factor))

    # --- division --------------------------------------------------------------------------------------------------

    def divide(self, a: Exact, b: Exact) -> Exact:
        """The quotient a / b, rounded towards 0; 0 if b is 0."""
        return self._unless_zero(b, self._quotient(a, b))

    def remainder(self, a: Exact, b: Exact) -> Exact:
        """The remainder a - b * (a / b), with the sign of a; 0 if b is 0."""
        if a.low >= 0 and a.high < b.low:
            return a
        return self._unless_zero(b, self._rest(a, b))

    def _unless_zero(self, b: Exact, value: Exact) -> Exact:
        if b.low > 0 or b.high < 0:
            return value
        return self.choose(self.equal(b, self.number(0)), self.number(0), value)

    def _quotient(self, a: Exact, b: Exact) -> Exact:
        divisors = [value for value in (b.low, b.high, -1, 1) if value and b.low <= value <= b.high] or [1]
        dividends = [a.low, a.high, *([0] if a.low <= 0 <= a.high else [])]
        corners = [_towards_zero(x, y) for x in dividends for y in divisors]
        low, high = min(corners), max(corners)
        if a.low >= 0 and _is_power_of_two(b):
            return self._above(a, b.low.bit_length() - 1)
        return self._divided("bvudiv", "bvsdiv", a, b, low, high)

    def _rest(self, a: Exact, b: Exact) -> Exact:
        most = min(max(-a.low, a.high), max(1, -b.low, b.high) - 1)
        low, high = 0 if a.low >= 0 else -most, 0 if a.high <= 0 else most
        if (b.low, b.high) == (1, 1):
            return self.number(0)
        if a.low >= 0 and _is_power_of_two(b):
            # The bits below it; the value is cut, not bounded.
            return self.cut(Exact(self._fitted(a, b.low.bit_length() - 1), 0, b.low - 1), 0, b.low - 1)
        return self._divided("bvurem", "bvsrem", a, b, low, high)

    def _divided(self, plain: str, with_sign: str, a: Exact, b: Exact, low: int, high: int) -> Exact:
        """A division in a width that holds both operands and, if signed, the least number / -1."""
        if a.low >= 0 and b.low >= 0:
            width = max(width_of(0, a.high), width_of(0, b.high))
            found = self.out.op(plain, self._fitted(a, width), self._fitted(b, width))
            return self.cut(Exact(found, 0, (1 << width) - 1), low, high)
        width = 1 + width_of(min(a.low, b.low, -1), max(a.high, b.high))
        found = self.out.op(with_sign, self._fitted(a, width), self._fitted(b, width))
        return self.cut(Exact(found, -(1 << (width - 1)), (1 << (width - 1)) - 1), low, high)

    # --- bits ------------------------------------------------------------------------------------------------------

    def _above(self, a: Exact, bits: int) -> Exact:
        """The quotient a / 2^bits, rounded down."""
        width = self.out.width(a.place)
        if width <= bits:
            if a.low >= 0:
                return self.number(0)
            sign = self.out.extract(a.place, width - 1, 1)
            return self.cut(Exact(sign, -1, 0), -1, 0)
        found = Exact(self.out.extract(a.place, bits, width - bits), a.low >> bits, a.high >> bits)
        return self.cut(found, found.low, found.high)

    def shift_left(self, a: Exact, b: Exact) -> Exact:
        """The value a * 2^b; a value of b outside 0 .. 31 counts as the nearest of these."""
        amount = self.clamp(b, 0, MAX_SHIFT)
        if amount.low == amount.high:
            return self.times(a, 1 << amount.low)
        corners = [x << y for x in (a.low, a.high) for y in (amount.low, amount.high)]
        low, high = min(corners), max(corners)
        # No narrower than the amount, so that this is not cut.
        width = max(width_of(low, high), self.out.width(amount.place))
        found = self.out.op("bvshl", self._fitted(a, width), self._fitted(amount, width))
        return self.cut(Exact(found, low, high), low, high)

    def shift_right(self, a: Exact, b: Exact) -> Exact:
        """floor(a / 2^b); for another b than 0 .. 31 as for the nearest of these."""
        amount = self.clamp(b, 0, MAX_SHIFT)
        if amount.low == amount.high:
            return self._above(a, amount.low)
        corners = [x >> y for x in (a.low, a.high) for y in (amount.low, amount.high)]
        width = max(self.out.width(a.place), self.out.width(amount.place))
        operator = "bvlshr" if a.low >= 0 else "bvashr"
        found = self.out.op(operator, self._fitted(a, width), self._fitted(amount, width))
        wide = Exact(found, min(0, a.low), max(0, a.high))
        return self.cut(wide, min(corners), max(corners))

    def bitwise(self, operator: str, a: Exact, b: Exact) -> Exact:
        """`bvand`, `bvor` or `bvxor` on two's complement of unlimited width."""
        first, other, negative = self._common(a, b)
        found = self.out.op(operator, first, other)
        width = self.out.width(found)
        if not negative:
            high = min(a.high, b.high) if operator == "bvand" else (1 << width) - 1
            return self.cut(Exact(found, 0, (1 << width) - 1), 0, high)
        wide = Exact(found, -(1 << (width - 1)), (1 << (width - 1)) - 1)
        plain = [value.high for value in (a, b) if value.low >= 0]
        if operator == "bvand" and plain:
            return self.cut(wide, 0, min(plain))
        return wide

    def invert(self, a: Exact) -> Exact:
        """-a - 1."""
        return self.subtract(self.number(-1), a)

    # --- order and choice ------------------------------------------------------------------------------------------

    def less(self, a: Exact, b: Exact) -> int:
        """One bit: a < b."""
        first, other, negative = self._common(a, b)
        return self.out.op("bvslt" if negative else "bvult", first, other)

    def less_equal(self, a: Exact, b: Exact) -> int:
        """One bit: a <= b."""
        first, other, negative = self._common(a, b)
        return self.out.op("bvsle" if negative else "bvule", first, other)

    def equal(self, a: Exact, b: Exact) -> int:
        """One bit: a = b."""
        first, other, _ = self._common(a, b)
        return self.out.op("=", first, other)

    def within(self, value: Exact, low: int, high: int) -> int:
        """One bit: low <= value <= high; bounds that already hold are not asked."""
        parts: list[int] = []
        if value.low < low:
            parts.append(self.less_equal(self.number(low), value))
        if value.high > high:
            parts.append(self.less_equal(value, self.number(high)))
        return self.out.all(parts)

    def truth(self, value: Exact) -> int:
        """One bit: value != 0."""
        if self.out.width(value.place) == 1:
            return value.place
        return self.out.negate(self.equal(value, self.number(0)))

    def choose(self, condition: int, then: Exact, otherwise: Exact) -> Exact:
        """`then` where one bit is 1, else `otherwise`."""
        first, other, _ = self._common(then, otherwise)
        found = self.out.ite(condition, first, other)
        return self._settled(found, min(then.low, otherwise.low), max(then.high, otherwise.high))

    def least(self, a: Exact, b: Exact) -> Exact:
        """The smaller one."""
        found = self.choose(self.less(a, b), a, b)
        return self.cut(found, min(a.low, b.low), min(a.high, b.high))

    def largest(self, a: Exact, b: Exact) -> Exact:
        """The larger one."""
        found = self.choose(self.less(a, b), b, a)
        return self.cut(found, max(a.low, b.low), max(a.high, b.high))

    def clamp(self, value: Exact, low: int, high: int) -> Exact:
        """The nearest number of low .. high; the value itself where its bounds lie inside."""
        if value.low < low:
            value = self.largest(value, self.number(low))
        return self.least(value, self.number(high)) if value.high > high else value


def _towards_zero(a: int, b: int) -> int:
    quotient = abs(a) // abs(b)
    return quotient if (a < 0) == (b < 0) else -quotient


def _is_power_of_two(value: Exact) -> bool:
    return value.low == value.high > 0 and value.low & (value.low - 1) == 0
