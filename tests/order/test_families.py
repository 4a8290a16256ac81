"""Distances that coordinates decide: compared with all pairs of threads, which numpy looks at without the package."""

from __future__ import annotations

import inspect
import random
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from itertools import product
from typing import Any, TypeAlias

import numpy as np
import pytest
from numpy.typing import NDArray

from swzverify.compiled.kernel.arithmetic import less, widened
from swzverify.compiled.kernel.linear import Sum
from swzverify.compiled.order import families
from swzverify.compiled.order.threads import Couple, Thread, threads_of
from swzverify.ir.evaluate import evaluate_many
from swzverify.ir.expr import TRUE, BinaryOperator, Expr, binary, const, variables
from tests.nightly import counts

Numbers: TypeAlias = NDArray[np.int64]
_BLOCK = 64
_TERMS: tuple[tuple[Callable[[Expr], Expr], Callable[[Numbers], Numbers]], ...] = (
    (lambda x: x, lambda t: t),
    (lambda x: binary(BinaryOperator.AND, x, const(7, 32)), lambda t: t & 7),
    (lambda x: binary(BinaryOperator.LSHR, x, const(3, 32)), lambda t: t >> 3),
    (lambda x: binary(BinaryOperator.XOR, x, const(5, 32)), lambda t: t ^ 5),
    (lambda x: binary(BinaryOperator.MUL, x, x), lambda t: t * t),
)
_FACTORS = (1, 4, 4, 8, 64, 132, -4, -64)
_FAR = (1 << 32) - 232_448


@cache
def _pairs(couple: Couple) -> tuple[Numbers, Numbers]:
    """The numbers of both threads of all pairs that are meant."""
    found = [
        (one, other)
        for one, other in product(range(_BLOCK), repeat=2)
        if {
            Couple.ANY: one != other,
            Couple.WARPS: one // 32 != other // 32,
            Couple.LANES: one // 32 == other // 32 and one != other,
            Couple.SELF: one == other,
        }[couple]
    ]
    first, second = zip(*found, strict=True)
    return np.asarray(first), np.asarray(second)


def _points(threads: tuple[Thread, Thread], numbers: Sequence[Numbers]) -> Mapping[str, Numbers]:
    """The variables of two threads with these numbers."""
    found: dict[str, Numbers] = {}
    for thread, number in zip(threads, numbers, strict=True):
        for each in (*thread.shared, *thread.own):
            name = each.name.rstrip("'")
            found[each.name] = {"thread": number, "warp": number >> 5, "lane": number & 31}[name]
    return found


def _wrong(names: Mapping[str, Any], seed: int) -> bool:
    """Whether lists or the condition for Z3 say that ranges do not meet, and some do."""
    rng = random.Random(seed)
    couple = rng.choice((Couple.ANY, Couple.WARPS, Couple.LANES, Couple.SELF))
    threads, numbers = threads_of(couple, (_BLOCK, 1, 1)), _pairs(couple)
    sums: list[Sum] = []
    positions: list[Numbers] = []
    everywhere: list[Numbers] = []
    guards: list[Expr] = []
    for thread, number in zip(threads, numbers, strict=True):
        total, position = Sum({}, 0, 32), np.zeros(len(number), dtype=np.int64)
        for made, plain in rng.sample(_TERMS, rng.randint(1, 2)):
            factor = rng.choice(_FACTORS)
            total = total.plus(Sum({made(widened(thread.number, 32)): 1}, 0, 32), factor)
            position += factor * plain(number)
        everywhere.append(position)
        limit = rng.choice((_BLOCK, _BLOCK, 8, 40))
        below = less(thread.number, const(limit, thread.number.width), signed=False)
        guards.append(TRUE if limit == _BLOCK else below)
        positions.append(np.where(number < limit, position, 1 << 40 if thread is threads[0] else 1 << 50))
        sums.append(total)
    lengths = rng.choice(((4, 4), (1, 1), (4, 16), (8, 2)))
    family = names["Families"](threads).of(sums, (guards[0], guards[1]), lengths, are_two=couple is not Couple.SELF)
    distances = [rng.choice((0, 4, -4, 128, 2048, -2048, 5000)) + rng.randrange(-8, 9) for _ in range(5)]

    def meets(distance: int) -> bool:
        between = positions[1] + distance - positions[0]
        return bool(((between < lengths[0]) & (between > -lengths[1])).any())

    far = _FAR - rng.randrange(1 << 16)
    if family.is_near(far) and max(abs(everywhere[1] + far - everywhere[0])) >= _FAR:
        return True
    real = [each for each in distances if meets(each)]
    condition = family.meets(distances)
    points = {each.name: _points(threads, numbers)[each.name] for each in variables(condition)}
    is_possible = bool(evaluate_many((condition,), points)[0].any())
    return bool(set(family.apart(distances)) & set(real)) or is_possible < bool(real)


@pytest.mark.parametrize("count", counts(60, 4000))
def test_ranges_that_meet_are_found(count: int) -> None:
    assert not [seed for seed in range(count) if _wrong(vars(families), seed)]


MISTAKES = {
    "the larger range counts alone": (
        "(-self.lengths[1] - each + 1, self.lengths[0] - each)",
        "(1 - each, self.lengths[0] - each)",
    ),
    "numbers have no sign": ("signed=True) for each in self.positions", "signed=False) for each in self.positions"),
    "the number counts twice": ("second[0] + distance, second[1]", "second[0] + 2 * distance, second[1]"),
    "ranges that touch hide others": ("max(pending[1], end)", "min(pending[1], end)"),
    "factors have no sign": ("const(signed(count), width)", "const(abs(signed(count)), width)"),
    "the first guard counts for both": ("positions, guards, strict", "positions, guards[:1] * 2, strict"),
    "one thread counts as two": ("if has_tag else []", "if has_tag or not has_tag else []"),
    "the first sum is near alone": ("abs(two.high + distance - one.low)", "abs(one.high - one.low)"),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_planted_mistakes_are_found(name: str) -> None:
    piece, becomes = MISTAKES[name]
    source = inspect.getsource(families)
    assert source.count(piece) == 1
    names: dict[str, Any] = {"__name__": families.__name__}
    exec(compile(source.replace(piece, becomes), name, "exec", dont_inherit=True), names)  # noqa: S102 - our own text

    def is_found(seed: int) -> bool:
        try:
            return _wrong(names, seed)
        except KeyError:  # a guard of the other thread reads what a side does not have
            return True

    assert any(map(is_found, range(200)))
