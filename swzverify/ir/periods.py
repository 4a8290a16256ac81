"""Reading: how an expression repeats in one variable, f(v + period) = f(v) + increment.

Padded, strided and div/mod maps are not XOR-linear, but they repeat: `(v/4)*132 + v%4` grows by 132
whenever v grows by 4. Whatever depends on the value modulo 128 bytes only, bank conflicts say, then
needs one period of v, however many values v has. Period and increment hold for every value of the
other variables and wherever both v and v + period are inside the limit.

A repetition is `exact` when it holds for the unsigned integers, else modulo 2^width only, which is
all that +, -, *, << and the low bits need. What looks at magnitudes (>>, /, comparisons) needs the
exact kind.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from math import gcd, lcm
from typing import assert_never

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
    operands,
    postorder,
)
from swzverify.ir.intervals import Interval, intervals

MAX_PERIOD = 1 << 20
"""Beyond this many values of a variable nothing is gained by knowing its period."""


@dataclass(frozen=True, slots=True)
class Repetition:
    """f(v + period) = f(v) + increment; as integers when `exact`, else modulo 2^width."""

    period: int
    increment: int
    exact: bool

    def times(self, count: int) -> Repetition:
        """The same repetition seen every `count` periods."""
        return Repetition(self.period * count, self.increment * count, self.exact)

    @property
    def constant(self) -> bool:
        """Whether f(v + period) = f(v)."""
        return self.increment == 0


def repetition(root: Expr, name: str) -> Repetition | None:
    """How `root` repeats in the variable `name`, or None when it is not seen to.

    >>> from swzverify.ir.integers import add, divide, integer, multiply, named, remainder
    >>> v = named("v", 1000)
    >>> padded = add(multiply(divide(v, integer(4)), integer(132)), remainder(v, integer(4)))
    >>> repetition(padded.bits, "v")
    Repetition(period=4, increment=132, exact=True)
    """
    masks, places = readers(root)
    if name not in places:
        return _STILL
    mine = places[name]
    bounds = intervals(root)
    found: dict[Expr, Repetition | None] = {}
    for node, mask in masks.items():
        if not mask & mine:
            found[node] = _STILL
            continue
        result = _repetition(node, name, found, bounds)
        if result is not None and result.period > MAX_PERIOD:
            result = None
        found[node] = result
    return found[root]


_STILL = Repetition(1, 0, exact=True)
"""What does not read the variable."""


@lru_cache(maxsize=1024)
def readers(root: Expr) -> tuple[Mapping[Expr, int], Mapping[str, int]]:
    """The variables that each sub-expression reads, as bit masks, and each variable's bit.

    The map lists operands before their users.
    """
    masks: dict[Expr, int] = {}
    places: dict[str, int] = {}
    for node in postorder(root):
        if isinstance(node, Var):
            masks[node] = places.setdefault(node.name, 1 << len(places))
        else:
            mask = 0
            for operand in operands(node):
                mask |= masks[operand]
            masks[node] = mask
    return masks, places


def _repetition(
    node: Expr, name: str, found: Mapping[Expr, Repetition | None], bounds: Mapping[Expr, Interval]
) -> Repetition | None:
    match node:
        case Const():
            return _STILL
        case Var():
            return Repetition(1, int(node.name == name), exact=True)
        case Binary(operator, left, right):
            a, b = found[left], found[right]
            if a is None or b is None:
                return None
            return _binary(operator, (left, a), (right, b), bounds)
        case Compare(comparison, left, right):
            a, b = found[left], found[right]
            return None if a is None or b is None else _compare(comparison, a, b, left.width)
        case Extract(operand, low, width):
            a = found[operand]
            return None if a is None else _extract(a, low, width, bounds[operand])
        case Extend(operand, _, signed):
            a = found[operand]
            return None if a is None else _extend(a, signed, operand.width, bounds[operand])
        case Ite(condition, then, otherwise):
            c, a, b = found[condition], found[then], found[otherwise]
            if c is None or a is None or b is None:
                return None
            return _choose(c, a, b, node.width)
        case Count(operand):
            a = found[operand]
            return None if a is None else _constant_again(a, operand.width)
        case _:
            assert_never(node)


def _reduce(value: Repetition, width: int) -> Repetition:
    """A repetition modulo 2^width whose increment is a multiple of 2^width is none, exactly."""
    if not value.exact and value.increment % (1 << width) == 0:
        return Repetition(value.period, 0, exact=True)
    return value


def _aligned(*values: Repetition) -> list[Repetition]:
    """The same repetitions, all seen at one common period."""
    period = lcm(*[value.period for value in values])
    if all(value.period == period for value in values):
        return list(values)
    return [value.times(period // value.period) for value in values]


def _multiple(value: Repetition, unit: int) -> Repetition:
    """The repetition seen so seldom that its increment is a multiple of `unit`."""
    return value.times(unit // gcd(value.increment, unit)) if value.increment else value


def _binary(
    operator: BinaryOperator,
    left: tuple[Expr, Repetition],
    right: tuple[Expr, Repetition],
    bounds: Mapping[Expr, Interval],
) -> Repetition | None:
    (x, a), (y, b) = left, right
    width = x.width
    full = 1 << width
    a, b = _aligned(a, b)
    both_exact = a.exact and b.exact
    (x_low, x_high), (_, y_high) = bounds[x], bounds[y]
    if a.constant and b.constant and both_exact:
        return Repetition(a.period, 0, exact=True)
    match operator:
        case BinaryOperator.ADD:
            exact = both_exact and x_high + y_high < full
            return _reduce(Repetition(a.period, a.increment + b.increment, exact), width)
        case BinaryOperator.SUB:
            exact = both_exact and x_low >= y_high
            return _reduce(Repetition(a.period, a.increment - b.increment, exact), width)
        case BinaryOperator.MUL:
            for factor, other, high in ((x, b, y_high), (y, a, x_high)):
                if isinstance(factor, Const):
                    exact = other.exact and high * factor.value < full
                    return _reduce(Repetition(other.period, other.increment * factor.value, exact), width)
            return None
        case BinaryOperator.SHL:
            if not isinstance(y, Const) or y.value >= width:
                return None
            exact = a.exact and x_high << y.value < full
            return _reduce(Repetition(a.period, a.increment << y.value, exact), width)
        case BinaryOperator.UDIV:
            if not isinstance(y, Const) or y.value == 0:
                return None
            scaled = _multiple(_settled(a, width), y.value)
            return Repetition(scaled.period, scaled.increment // y.value, exact=True)
        case BinaryOperator.UREM:
            if not isinstance(y, Const) or y.value == 0:
                return None
            return Repetition(_multiple(_settled(a, width), y.value).period, 0, exact=True)
        case BinaryOperator.LSHR:
            if not isinstance(y, Const) or y.value >= width:
                return None
            scaled = _multiple(_settled(a, width), 1 << y.value)
            return Repetition(scaled.period, scaled.increment >> y.value, exact=True)
        case BinaryOperator.AND:
            for mask, other in ((x, b), (y, a)):
                if isinstance(mask, Const):
                    return _mask(other, mask.value, width)
            return None
        case BinaryOperator.OR | BinaryOperator.XOR:
            for value, small, small_high in ((a, b, y_high), (b, a, x_high)):
                if small.constant and small.exact:
                    return _multiple(value, 1 << small_high.bit_length())
            return None
        case BinaryOperator.SDIV | BinaryOperator.SREM | BinaryOperator.ASHR:
            sign = full >> 1
            if x_high < sign and y_high < sign:
                return _binary(_UNSIGNED[operator], (x, a), (y, b), bounds)
            return None
        case _:
            assert_never(operator)


_UNSIGNED = {
    BinaryOperator.SDIV: BinaryOperator.UDIV,
    BinaryOperator.SREM: BinaryOperator.UREM,
    BinaryOperator.ASHR: BinaryOperator.LSHR,
}


def _mask(value: Repetition, mask: int, width: int) -> Repetition:
    """The repetition of x & mask.

    A mask of all high bits keeps the increment. Any other mask sees only the bits up to its own top.
    """
    lowest = mask & -mask
    if mask and mask == (1 << width) - lowest:
        return _multiple(value, lowest)
    return Repetition(_multiple(value, 1 << mask.bit_length()).period, 0, exact=True)


def _extract(value: Repetition, low: int, width: int, bound: Interval) -> Repetition:
    """(x >> low) mod 2^width."""
    if low == 0:
        exact = value.exact and bound[1] < 1 << width
        return _reduce(Repetition(value.period, value.increment, exact), width)
    if value.exact:
        scaled = _multiple(value, 1 << low)
        exact = bound[1] >> low < 1 << width
        return _reduce(Repetition(scaled.period, scaled.increment >> low, exact), width)
    return Repetition(_multiple(value, 1 << (low + width)).period, 0, exact=True)


def _extend(value: Repetition, signed: bool, width: int, bound: Interval) -> Repetition | None:
    """Widening keeps what is exact; a signed value must not cross its sign bit."""
    if value.constant and value.exact:
        return value
    if signed and bound[1] >= 1 << (width - 1):
        return _constant_again(value, width)
    return value if value.exact else _constant_again(value, width)


def _constant_again(value: Repetition, width: int) -> Repetition:
    """Any repetition modulo 2^width is constant once its increment has gone round."""
    return Repetition(_multiple(value, 1 << width).period, 0, exact=True)


def _settled(value: Repetition, width: int) -> Repetition:
    """The same value, repeating exactly.

    A value that wraps modulo 2^width is constant from one round to the next.
    """
    return value if value.exact else _constant_again(value, width)


def _compare(comparison: Comparison, a: Repetition, b: Repetition, width: int) -> Repetition | None:
    a, b = _aligned(a, b)
    if a.constant and b.constant and a.exact and b.exact:
        return Repetition(a.period, 0, exact=True)
    same = a.increment == b.increment or (a.increment - b.increment) % (1 << width) == 0
    if comparison is Comparison.EQ and same:
        return Repetition(a.period, 0, exact=True)
    if not (a.exact and b.exact):
        return _compare(comparison, _settled(a, width), _settled(b, width), width)
    if comparison in (Comparison.ULT, Comparison.ULE) and a.increment == b.increment:
        return Repetition(a.period, 0, exact=True)
    return None


def _choose(c: Repetition, a: Repetition, b: Repetition, width: int) -> Repetition | None:
    c, a, b = _aligned(_settled(c, 1), a, b)
    if not (c.constant and c.exact):
        return None
    if a.increment == b.increment:
        return Repetition(a.period, a.increment, a.exact and b.exact)
    if (a.increment - b.increment) % (1 << width) == 0:
        return _reduce(Repetition(a.period, a.increment, exact=False), width)
    return None
