"""Random questions for lists of addresses, each beside its answer, which numpy finds at every point.

A value is written twice: as an expression, and as what numpy makes of the numbers of all variables. The second one
uses nothing of the package. The questions of one seed are made of the same few addresses and conditions.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from math import prod
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from swzverify.compiled.kernel.arithmetic import add, both, either, less, mul, sub, widened
from swzverify.compiled.order.joins import Ends
from swzverify.ir.expr import BinaryOperator, Comparison, Expr, Var, binary, compare, const, extract, ite, negation, var

Numbers: TypeAlias = NDArray[np.uint64]
At: TypeAlias = dict[str, Numbers]
Plain: TypeAlias = Callable[[At], Numbers]
WIDTHS = (3, 4, 5, 8, 16, 32, 32, 32, 64)
FEW = {"stride": (1, 2, 4, 8), "mask": (0, 4, (1 << 64) - 8)}
"""Registers with few values, some of which have all high bits."""
LIMITS = {"one": 4, "other": 4, "trip": 3, "stride": 1 << 32, "mask": 1 << 64, "base": 16, "data": 12, "data'": 16}
"""Threads, a trip that both share, the registers, a parameter, and a value of each thread that is chosen by data."""
SHARED = ("trip", "stride", "mask", "base")
MOST_POINTS = 1 << 16
_FACTORS = (1, 2, 4, 4, 8, 12, 16, 64, -4)


@dataclass(frozen=True)
class Drawn:
    """A value of so many bits."""

    made: Expr
    plain: Plain
    width: int


class Asked(NamedTuple):
    """A question, and whether the accesses meet at some point."""

    ends: Ends
    conditions: list[Expr]
    few: dict[Var, tuple[int, ...]]
    meets: bool


def _cut(value: Numbers, width: int) -> Numbers:
    return value & np.uint64((1 << width) - 1)


def _signed(value: Numbers, width: int) -> NDArray[np.int64]:
    """The number with the highest bit as a sign."""
    number = value.astype(np.int64)
    return number if width == 64 else number - ((number >> (width - 1)) << width)


def _number(value: int) -> Numbers:
    return np.asarray(value % (1 << 64), dtype=np.uint64)


class Generator:
    """Draws values and conditions of one seed."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        read = self.rng.sample(("trip", "stride", "mask", "base", "data", "data'"), self.rng.randint(1, 3))
        self.names = {name: var(name, LIMITS[name]) for name in ("one", "other", *read)}
        self._is_plain = self.rng.random() < 0.5
        """Whether terms and conditions are as short as most of them are."""
        self._drawn: dict[tuple[tuple[str, ...], int], list[Drawn]] = {}

    # ---- values

    def constant(self, number: int, width: int) -> Drawn:
        number %= 1 << width
        return Drawn(const(number, width), lambda _: _number(number), width)

    def leaf(self, names: Iterable[str], width: int) -> Drawn:
        """A variable with so many bits, or its low ones."""
        name = self.rng.choice([each for each in names if each in self.names])
        return Drawn(widened(self.names[name], width), lambda at: _cut(at[name], width), width)

    def value(self, names: tuple[str, ...], width: int, depth: int) -> Drawn:
        """A value of some variables, which may be one that was drawn before."""
        known = self._drawn.setdefault((names, width), [])
        if known and self.rng.random() < 0.2:
            return self.rng.choice(known)
        known.append(self._value(names, width, depth))
        return known[-1]

    def _value(self, names: tuple[str, ...], width: int, depth: int) -> Drawn:
        rng = self.rng
        if depth == 0 or rng.random() < 0.2:
            return self.leaf(names, width) if rng.random() < 0.9 else self.constant(rng.randrange(-9, 10), width)
        one, kind = self.value(names, width, depth - 1), rng.randrange(9)
        if kind < 2:
            return self.with_number(one)
        if kind < 4:
            return self.rest(names, width)
        if kind < 6:
            return self.converted(self.value(names, rng.choice(WIDTHS), depth - 1), width)
        other = self.value(names, width, depth - 1)
        if kind == 6:
            return self.two(one, other)
        if kind == 7:
            return self.chosen(self.ordered(one, other), one, other)
        return self.chosen(self.condition(names, depth - 1), one, other)

    def with_number(self, one: Drawn) -> Drawn:
        """An operation with a number."""
        rng, width = self.rng, one.width
        x, plain = one.made, one.plain
        small = rng.choice((1, 2, 3, 4, 5, 7, 8, -1, -4))
        count = rng.choice((0, 1, 2, 3, width - 1, width))
        divisor = rng.choice((1, 2, 3, 4, 5, 8))
        number, shift, by = _number(small % (1 << width)), np.uint64(count), np.uint64(divisor)
        k, s, d = const(small, width), const(count, width), const(divisor, width)

        def shifted_out(at: At) -> Numbers:
            return plain(at) >> shift if count < 64 else plain(at) & np.uint64(0)

        def shifted_up(at: At) -> Numbers:
            return _cut(plain(at) << shift, width) if count < 64 else plain(at) & np.uint64(0)

        def with_sign(at: At) -> Numbers:
            return _cut((_signed(plain(at), width) >> min(count, 63)).astype(np.uint64), width)

        op = BinaryOperator
        choices: list[tuple[Expr, Plain]] = [
            (add(x, k), lambda at: _cut(plain(at) + number, width)),
            (sub(k, x), lambda at: _cut(number - plain(at), width)),
            (mul(x, k), lambda at: _cut(plain(at) * number, width)),
            (binary(op.AND, x, k), lambda at: plain(at) & number),
            (binary(op.OR, x, k), lambda at: plain(at) | number),
            (binary(op.XOR, x, k), lambda at: plain(at) ^ number),
            (binary(op.SHL, x, s), shifted_up),
            (binary(op.LSHR, x, s), shifted_out),
            (binary(op.ASHR, x, s), with_sign),
            (binary(op.UREM, x, d), lambda at: plain(at) % by),
            (binary(op.UDIV, x, d), lambda at: plain(at) // by),
        ]
        made, new = rng.choice(choices)
        return Drawn(made, new, width)

    def rest(self, names: tuple[str, ...], width: int) -> Drawn:
        """What is left of a variable, or of a multiple, plus a number, that is divided by a small one."""
        return self.rests(names, width)[0]

    def rests(self, names: tuple[str, ...], width: int) -> list[Drawn]:
        """Two rests of the same variable and divisor, as the stages of a ring have them."""
        rng, one = self.rng, self.leaf(names, width)
        factor, divisor = rng.choice((1, 1, 1, 2)), rng.choice((2, 3, 4))
        multiple, by = np.uint64(factor), np.uint64(divisor)
        has_mask = divisor != 3 and rng.random() < 0.5

        def rest_of(more: int) -> Drawn:
            number = np.uint64(more)
            total = add(mul(one.made, const(factor, width)), const(more, width))
            if has_mask:
                made = binary(BinaryOperator.AND, total, const(divisor - 1, width))
            else:
                made = binary(BinaryOperator.UREM, total, const(divisor, width))
            return Drawn(made, lambda at: _cut(one.plain(at) * multiple + number, width) % by, width)

        return [rest_of(rng.randrange(6)) for _ in range(2)]

    def two(self, one: Drawn, other: Drawn) -> Drawn:
        """A sum or a difference."""
        width = one.width
        if self.rng.random() < 0.5:
            return Drawn(add(one.made, other.made), lambda at: _cut(one.plain(at) + other.plain(at), width), width)
        return Drawn(sub(one.made, other.made), lambda at: _cut(one.plain(at) - other.plain(at), width), width)

    def chosen(self, condition: Drawn, one: Drawn, other: Drawn) -> Drawn:
        """One of two values."""
        return Drawn(
            ite(condition.made, one.made, other.made),
            lambda at: np.where(condition.plain(at) != 0, one.plain(at), other.plain(at)),
            one.width,
        )

    def converted(self, one: Drawn, width: int) -> Drawn:
        """A value with more bits, with a sign or not, or some of its bits."""
        signed = self.rng.random() < 0.5
        if width < one.width:
            low = self.rng.choice((0, 0, one.width - width))
            shift = np.uint64(low)
            return Drawn(extract(one.made, low, width), lambda at: _cut(one.plain(at) >> shift, width), width)
        if signed:
            return Drawn(
                widened(one.made, width, signed=True),
                lambda at: _cut(_signed(one.plain(at), one.width).astype(np.uint64), width),
                width,
            )
        return Drawn(widened(one.made, width), one.plain, width)

    # ---- conditions

    def ordered(self, one: Drawn, other: Drawn) -> Drawn:
        """A comparison of two values."""
        width, a, b = one.width, one.plain, other.plain
        kind = self.rng.choice(list(Comparison))
        plain: dict[Comparison, Callable[[At], NDArray[np.bool_]]] = {
            Comparison.EQ: lambda at: a(at) == b(at),
            Comparison.ULT: lambda at: a(at) < b(at),
            Comparison.ULE: lambda at: a(at) <= b(at),
            Comparison.SLT: lambda at: _signed(a(at), width) < _signed(b(at), width),
            Comparison.SLE: lambda at: _signed(a(at), width) <= _signed(b(at), width),
        }
        holds = plain[kind]
        return Drawn(compare(kind, one.made, other.made), lambda at: holds(at).astype(np.uint64), 1)

    def narrow(self, names: tuple[str, ...]) -> Drawn:
        """That a variable is below a number, in one of four forms."""
        one, limit = self.leaf(names, 32), self.rng.randrange(1, 8)
        bound = np.uint64(limit)
        forms = (
            less(one.made, const(limit, 32), signed=False),
            compare(Comparison.ULE, one.made, const(limit - 1, 32)),
            negation(compare(Comparison.ULE, const(limit, 32), one.made)),
            negation(less(const(limit - 1, 32), one.made, signed=False)),
        )
        return Drawn(self.rng.choice(forms), lambda at: (one.plain(at) < bound).astype(np.uint64), 1)

    def condition(self, names: tuple[str, ...], depth: int) -> Drawn:
        """A condition on some variables."""
        rng = self.rng
        kind = rng.randrange(2 if self._is_plain else 4 if depth == 0 else 8)
        if kind == 0:
            return self.narrow(names)
        if kind == 1:
            return self.ordered(self.leaf(("one", "other"), 32), self.leaf(names, 32))
        if kind < 4:
            width = rng.choice(WIDTHS)
            one = self.value(names, width, max(0, depth - 1))
            is_number = rng.random() < 0.5
            other = self.constant(rng.randrange(-4, 12), width) if is_number else self.leaf(names, width)
            return self.ordered(one, other)
        one, other = self.condition(names, depth - 1), self.condition(names, depth - 1)
        a, b = one.plain, other.plain
        if kind == 4:
            return Drawn(negation(one.made), lambda at: a(at) ^ np.uint64(1), 1)
        if kind == 5:
            return Drawn(both(one.made, other.made), lambda at: a(at) & b(at), 1)
        if kind == 6:
            return Drawn(either(one.made, other.made), lambda at: a(at) | b(at), 1)
        return self.chosen(self.condition(names, depth - 1), one, other)

    # ---- questions

    def term(self, names: tuple[str, ...]) -> Drawn:
        """A term of an address."""
        kind = self.rng.randrange(2 if self._is_plain else 4)
        if kind == 0:
            one = self.leaf(names, 32)
        elif kind == 1:
            one = self.converted(self.rest(names, self.rng.choice(WIDTHS)), 32)
        else:
            one = self.value(names, 32, self.rng.randint(1, 3))
        return times(one, self.rng.choice(_FACTORS))

    def of_both(self, names: tuple[str, ...]) -> tuple[Drawn, Drawn]:
        """A term of each address, which read the same."""
        rng, kind = self.rng, self.rng.randrange(4)
        if kind == 0:
            one = self.term(names)
            return one, one
        if kind == 1:
            one = self.leaf(names, 32)
            return times(one, rng.choice(_FACTORS)), times(one, rng.choice(_FACTORS))
        factor = rng.choice(_FACTORS)
        one, other = self.rests(names, rng.choice(WIDTHS))
        return times(self.converted(one, 32), factor), times(self.converted(other, 32), factor)

    def address(self, terms: list[Drawn], start: int) -> Drawn:
        """The sum of some terms and a number."""
        total = self.constant(start, 32)
        for each in terms:
            total = self._plus(total, each)
        return total

    @staticmethod
    def _plus(one: Drawn, other: Drawn) -> Drawn:
        return Drawn(add(one.made, other.made), lambda at: _cut(one.plain(at) + other.plain(at), 32), 32)

    def everywhere(self) -> At:
        """All values of the variables, each on an axis of its own."""
        values = [FEW[name] if name in FEW else range(each.limit) for name, each in self.names.items()]
        axes = np.meshgrid(*(np.asarray(list(each), dtype=np.uint64) for each in values), indexing="ij", sparse=True)
        return dict(zip(self.names, axes, strict=True))


def questions(seed: int, count: int) -> list[Asked]:
    """Some questions with the same few terms and conditions."""
    with np.errstate(over="ignore"):  # of single numbers numpy says that they wrap
        return _questions(seed, count)


def _questions(seed: int, count: int) -> list[Asked]:
    made = Generator(seed)
    rng, at = made.rng, made.everywhere()
    if prod(np.broadcast_shapes(*(each.shape for each in at.values()))) > MOST_POINTS:
        return []
    names = (("one", *SHARED, "data"), ("other", *SHARED, "data'"))
    both_read = tuple(each for each in SHARED if each in made.names)
    terms = [[made.term(each) for _ in range(3)] for each in names]
    strides = (
        [rng.choice((1, 4, 4, 8, 16, -4)) for _ in range(2)] if rng.random() < 0.5 else [rng.choice((4, 8, 16))] * 2
    )
    for side, name, stride in zip(terms, ("one", "other"), strides, strict=True):
        side.append(times(made.leaf((name,), 32), stride))
    few_of_both = made.of_both(both_read) if both_read else None
    readers = [*names, names[0] + names[1]]
    conditions = [made.condition(rng.choice(readers), rng.randint(0, 2)) for _ in range(rng.randint(1, 4))]
    conditions += [made.narrow(rng.choice([*names, both_read or names[0]])) for _ in range(3)]
    few = {each: FEW[name] for name, each in made.names.items() if name in FEW}
    found: list[Asked] = []
    for _ in range(count):
        starts = [rng.choice((0, 0, 4, 40, -8)) for _ in range(2)]
        sides = [rng.sample(each, rng.randint(1, 2)) for each in terms]
        if few_of_both is not None and rng.random() < 0.5:
            sides = [[*side, more] for side, more in zip(sides, few_of_both, strict=True)]
        a, b = (made.address(side, start) for side, start in zip(sides, starts, strict=True))
        lengths = rng.choice(((1, 1), (1, 1), (4, 4), (4, 8), (8, 2)))
        chosen = rng.sample(conditions, rng.randint(0, min(4, len(conditions))))
        has_tags = rng.random() < 0.8
        tags = (made.names["one"], made.names["other"]) if has_tags else None
        there, here = a.plain(at), b.plain(at)
        meets = (_cut(here - there, 32) < np.uint64(lengths[0])) | (_cut(there - here, 32) < np.uint64(lengths[1]))
        for each in chosen:
            meets = meets & (each.plain(at) != 0)
        if has_tags:
            meets = meets & (at["one"] != at["other"])
        ends = Ends((a.made, b.made), lengths, tags)
        found.append(Asked(ends, [each.made for each in chosen], few, bool(np.any(meets))))
    return found


def times(one: Drawn, factor: int) -> Drawn:
    """A multiple of a value of 32 bits."""
    number = _number(factor % (1 << 32))
    return Drawn(mul(one.made, const(factor, 32)), lambda at: _cut(one.plain(at) * number, 32), 32)
