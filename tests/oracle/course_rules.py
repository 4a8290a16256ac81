"""A course (courses.py), and the rules of operators that look at nothing but the courses of their
operands.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor, gcd, lcm
from typing import TypeAlias

from .c_expr import BINARY, truncating_quotient

Number: TypeAlias = int | Fraction


@dataclass(frozen=True, slots=True)
class Course:
    """`f(k + period) = f(k) + slope*period`, and `low <= f(k) - slope*k <= high`.

    `partial` tells that f may be undefined at some k: then it proves nothing about which iterations
    exist. `exact` gives f itself where that depends on k alone and never goes against its slope:
    quotients, sums, multiples.
    """

    period: int
    slope: Number
    low: Number
    high: Number
    partial: bool = False
    exact: Callable[[int], int] | None = None

    @property
    def constant(self) -> int | None:
        """The value, where it is one and the same at every k."""
        if self.slope == 0 and self.low == self.high and not self.partial:
            return int(self.low)
        return None

    @property
    def move(self) -> int:
        """By how much a period moves the value."""
        return int(self.slope * self.period)


def constant_course(value: int, *, partial: bool = False) -> Course:
    return Course(1, 0, value, value, partial, lambda _: value)


def crossing(course: Course, bound: int) -> tuple[int, int]:
    """(x, y) such that `f >= bound` has one answer for certain at every k < x, and the other one at
    every k >= y.
    """
    ends = [Fraction(bound - noise) / course.slope for noise in (course.high, course.low)]
    rising = course.slope > 0
    x, y = (ceil(ends[0]), ceil(ends[1])) if rising else (floor(ends[1]) + 1, floor(ends[0]) + 1)
    while course.exact is not None and x < y:
        middle = (x + y) // 2
        if (course.exact(middle) >= bound) is rising:
            y = middle
        else:
            x = middle + 1
    return x, y


def after(f: Course, change: Callable[[int], int]) -> Callable[[int], int] | None:
    """The exact value after a change that never turns the order of two values round, or always
    does.
    """
    exact = f.exact
    return None if exact is None else lambda k: change(exact(k))


def negated(f: Course) -> Course:
    return Course(f.period, -f.slope, -f.high, -f.low, f.partial, after(f, lambda value: -value))


def total(f: Course, g: Course) -> Course:
    partial = f.partial or g.partial
    period, low, high = lcm(f.period, g.period), f.low + g.low, f.high + g.high
    first, second = f.exact, g.exact
    if first is None or second is None or f.slope * g.slope < 0:
        return Course(period, f.slope + g.slope, low, high, partial)
    return Course(period, f.slope + g.slope, low, high, partial, lambda k: first(k) + second(k))


def difference(f: Course, g: Course) -> Course:
    return total(f, negated(g))


def negation(truth: Course | None) -> Course | None:
    return None if truth is None else Course(truth.period, 0, 1 - truth.high, 1 - truth.low, truth.partial)


def both_or_any(symbol: str, f: Course | None, g: Course | None) -> Course | None:
    if f is None or g is None:
        return None
    pick = min if symbol == "&&" else max
    return Course(lcm(f.period, g.period), 0, pick(f.low, g.low), pick(f.high, g.high), f.partial or g.partial)


def product(f: Course, g: Course) -> Course | None:
    """Of a value that moves with a constant."""
    if g.constant is None:
        f, g = g, f
    factor = g.constant
    if factor is None:
        return None
    if factor == 0:
        return constant_course(0, partial=f.partial)
    low, high = sorted((f.low * factor, f.high * factor))
    return Course(f.period, f.slope * factor, low, high, f.partial, after(f, lambda value: value * factor))


def shifted(symbol: str, f: Course, g: Course) -> Course | None:
    """Of a value that moves by a constant."""
    amount = g.constant
    if amount is None or not 0 <= amount <= 31:
        return None
    unit = 1 << amount
    if symbol == "<<":
        exact = after(f, lambda value: value * unit)
        return Course(f.period, f.slope * unit, f.low * unit, f.high * unit, f.partial, exact)
    period = f.period * (unit // gcd(unit, f.move))
    low, high = Fraction(f.low) / unit - Fraction(unit - 1, unit), Fraction(f.high) / unit
    return Course(period, Fraction(f.slope) / unit, low, high, f.partial, after(f, lambda value: value // unit))


def bitwise(symbol: str, f: Course, g: Course) -> Course | None:
    """Of f, which moves, and g, which does not; `f & c` with c < 0 is `f - (f & ~c)`."""
    if g.slope:
        return None
    least, most = int(g.low), int(g.high)
    partial = f.partial or g.partial
    negative = g.constant is not None and g.constant < 0
    if negative and symbol == "&":
        least = most = ~most
    elif least < 0:
        return None
    unit = 1 << most.bit_length()
    period = lcm(f.period * (unit // gcd(unit, f.move)), g.period)
    match symbol:
        case "&" if negative:
            return Course(period, f.slope, f.low - most, f.high, partial)
        case "&":
            return Course(period, 0, 0, most, partial)
        case "|":
            return Course(period, f.slope, f.low, f.high + most, partial)
        case _:
            return Course(period, f.slope, f.low - most, f.high + most, partial)


def without_slope(symbol: str, f: Course, g: Course) -> Course:
    """Of two values that repeat: so does the result, and its bounds follow from theirs."""
    period = lcm(f.period, g.period)
    a, b, c, d = (int(bound) for bound in (f.low, f.high, g.low, g.high))
    undefined = (symbol in ("/", "%") and c <= 0 <= d) or (symbol in ("<<", ">>") and not 0 <= c <= d <= 31)
    partial = f.partial or g.partial or undefined
    if a == b and c == d and not undefined:
        return constant_course(BINARY[symbol](a, c), partial=partial)
    match symbol:
        case "*":
            corners = [x * y for x in (a, b) for y in (c, d)]
        case "/" if undefined:
            corners = [max(abs(a), abs(b)), -max(abs(a), abs(b))]
        case "/":
            corners = [truncating_quotient(x, y) for x in (a, b) for y in (c, d)]
        case "%":
            most = max(abs(c), abs(d), 1) - 1
            corners = [-min(most, max(0, -a)), min(most, max(0, b))]
        case "<<" | ">>":
            amounts = [min(max(amount, 0), 31) for amount in (c, d)]
            corners = [BINARY[symbol](x, y) for x in (a, b) for y in amounts] + [0] * undefined
        case _:
            corners = _bit_bounds(symbol, (a, b), (c, d))
    return Course(period, 0, min(corners), max(corners), partial)


def _bit_bounds(symbol: str, f: tuple[int, int], g: tuple[int, int]) -> list[int]:
    """Bounds of `& | ^`: no more bits than the operands have, and fewer where one of `&` is not
    negative.
    """
    bits = max(bound.bit_length() for bound in (*f, *g))
    if symbol == "&" and max(f[0], g[0]) >= 0:
        return [0, min(high for low, high in (f, g) if low >= 0)]
    return [0 if min(f[0], g[0]) >= 0 else -(1 << bits), (1 << bits) - 1]
