"""Lists of addresses: random questions, beside every point of them, which numpy evaluates without the package."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

import numpy as np
import pytest
from numpy.typing import NDArray

from swzverify.compiled.kernel.arithmetic import add, both, either, less, mul, widened
from swzverify.compiled.order import joins
from swzverify.compiled.order.joins import Ends, Joins
from swzverify.ir.expr import (
    TRUE,
    BinaryOperator,
    Comparison,
    Expr,
    Var,
    binary,
    compare,
    const,
    ite,
    negation,
    var,
)
from tests.nightly import counts

Numbers: TypeAlias = NDArray[np.int64]
Plain: TypeAlias = Callable[[dict[str, Numbers]], NDArray[np.int64] | NDArray[np.bool_]]
_FEW: tuple[int, ...] = (1, 2, 4, 8)


@dataclass(frozen=True)
class Drawn:
    """A value twice: as an expression, and as a function of all points."""

    made: Expr
    plain: Plain


class Case(NamedTuple):
    """A question, and whether the accesses meet at some point."""

    ends: Ends
    conditions: list[Expr]
    few: dict[Var, tuple[int, ...]]
    meets: bool


@pytest.fixture(autouse=True)
def _small_lists(monkeypatch: pytest.MonkeyPatch) -> None:
    """Numbers from 8 on are not listed, so that every point of a question with some of them can be looked at."""
    monkeypatch.setattr(joins, "_MOST_VALUES", 8)
    monkeypatch.setattr(joins, "_FEW", 4)


def _variables() -> dict[str, Var]:
    limits = {"one": 4, "other": 4, "trip": 3, "stride": 9, "base": 18, "data": 12, "data'": 12}
    return {name: var(name, limit) for name, limit in limits.items()}


def _draw(rng: random.Random, names: dict[str, Var], who: int) -> Drawn:
    """A term of an address, of 32 bits."""
    thread, data = ("one", "data") if who == 0 else ("other", "data'")
    count = rng.choice((1, 2, 4, 4, 8, 12, 16, 64, (1 << 32) - 4))
    more = rng.randrange(3)

    def number(name: str) -> Expr:
        return widened(names[name], 32)

    def times(value: Expr, plain: Plain) -> Drawn:
        return Drawn(mul(value, const(count, 32)), lambda at: plain(at) * count)

    kind = rng.randrange(9)
    name = rng.choice((thread, thread, "trip", "stride", "base", data))
    if kind < 4:
        return times(number(name), lambda at: at[name])
    big = rng.choice(("base", data))
    if kind == 4:
        wide = add(number(big), const(more, 32))
        return times(binary(BinaryOperator.UREM, wide, const(3, 32)), lambda at: (at[big] + more) % 3)
    if kind == 5:
        wide = add(number(big), const(more, 32))
        return times(binary(BinaryOperator.AND, wide, const(3, 32)), lambda at: (at[big] + more) & 3)
    if kind == 6:
        chosen = less(number(thread), const(more, 32), signed=False)
        return times(
            ite(chosen, number(thread), number(big)), lambda at: np.where(at[thread] < more, at[thread], at[big])
        )
    if kind == 7:
        chosen = less(number(big), const(5, 32), signed=False)
        return times(ite(chosen, number(thread), const(more, 32)), lambda at: np.where(at[big] < 5, at[thread], more))
    return times(binary(BinaryOperator.LSHR, number(big), const(3, 32)), lambda at: at[big] >> 3)


def _condition(rng: random.Random, names: dict[str, Var]) -> Drawn:
    thread, big = rng.choice(("one", "other")), rng.choice(("base", "data", "data'", "trip", "stride"))
    limit = rng.randrange(5)
    is_low = less(widened(names[thread], 32), const(limit, 32), signed=False)
    is_small = less(widened(names[big], 32), const(limit, 32), signed=False)
    is_here = compare(Comparison.EQ, widened(names[big], 32), widened(names[thread], 32))
    kind = rng.randrange(7)
    if kind == 0:
        return Drawn(is_low, lambda at: at[thread] < limit)
    if kind == 1:
        return Drawn(is_small, lambda at: at[big] < limit)
    if kind == 2:
        return Drawn(
            negation(less(const(limit, 32), widened(names[big], 32), signed=False)), lambda at: at[big] <= limit
        )
    if kind == 3:
        return Drawn(either(is_low, is_small), lambda at: (at[thread] < limit) | (at[big] < limit))
    if kind == 4:
        return Drawn(ite(is_low, is_here, TRUE), lambda at: (at[thread] >= limit) | (at[big] == at[thread]))
    if kind == 5:
        return Drawn(negation(both(is_low, is_here)), lambda at: (at[thread] >= limit) | (at[big] != at[thread]))
    return Drawn(negation(is_low), lambda at: at[thread] >= limit)


def _case(seed: int) -> Case:
    rng = random.Random(seed)
    names = _variables()
    terms = [[_draw(rng, names, who) for _ in range(rng.randint(1, 3))] for who in (0, 1)]
    if rng.random() < 0.5:
        both_have = _draw(rng, names, 0)
        terms[0].append(both_have)
        terms[1].append(both_have)
    starts = [rng.choice((0, 4, 40, (1 << 32) - 8)) for _ in range(2)]
    lengths = rng.choice(((1, 1), (1, 1), (4, 4), (4, 8), (8, 2)))
    conditions = [_condition(rng, names) for _ in range(rng.randrange(4))]
    has_tags = rng.random() < 0.8
    made: list[Expr] = []
    for start, some in zip(starts, terms, strict=True):
        address: Expr = const(start, 32)
        for each in some:
            address = add(address, each.made)
        made.append(address)
    few = {names["stride"]: _FEW}
    ends = Ends((made[0], made[1]), lengths, (names["one"], names["other"]) if has_tags else None)
    # Every point, without the package.
    values = [np.asarray(_FEW) if name == "stride" else np.arange(each.limit) for name, each in names.items()]
    at = dict(zip(names, np.meshgrid(*values, indexing="ij", sparse=True), strict=True))
    a, b = (
        sum((each.plain(at) for each in some), np.asarray(start)) % (1 << 32)
        for start, some in zip(starts, terms, strict=True)
    )
    meets = ((b - a) % (1 << 32) < lengths[0]) | ((a - b) % (1 << 32) < lengths[1])
    for each in conditions:
        meets = meets & each.plain(at)
    if has_tags:
        meets = meets & (at["one"] != at["other"])
    return Case(ends, [each.made for each in conditions], few, bool(meets.any()))


def _wrong(seeds: range) -> tuple[list[int], int, int]:
    """The seeds of which lists say `never` although there is a point; how often they say it, and could."""
    wrong: list[int] = []
    said = free = 0
    for seed in seeds:
        case = _case(seed)
        never = Joins().never_meet(case.ends, case.conditions, case.few)
        said += never
        free += not case.meets
        if never and case.meets:
            wrong.append(seed)
    return wrong, said, free


@pytest.mark.parametrize("count", counts(500, 20_000))
def test_never_is_never_wrong(count: int) -> None:
    wrong, said, free = _wrong(range(count))
    assert not wrong
    assert 3 * said > free > 0.1 * count


def _keeps_more(self: joins.Listed, ends: Ends) -> tuple[int, object]:
    """Mistake: a term that is not listed is left out, and the addresses are compared as if it were not there."""
    modulus, sides = _SIDES(self, ends)
    return max(modulus, 1 << 32), sides


_SIDES = joins.Listed.sides
_NODE = joins.Listed.of_node
_RANGES = joins.Points.ranges


def _known(self: joins.Listed, node: Expr, parts: dict[Expr, joins.Part]) -> joins.Part:
    """Mistake: a choice whose one side is not known counts as known."""
    found = _NODE(self, node, parts)
    return found._replace(lost=joins.FALSE) if isinstance(node, joins.Ite) else found


def _no_wrap(self: joins.Points, place: Numbers, address: tuple[int, int, int], tag: Var | None) -> object:
    """Mistake: addresses do not go round."""
    return _RANGES(self, place, (*address[:2], 0), tag)


def _two_bounds(condition: Expr) -> tuple[Var, int] | None:
    """Mistake: `at most` is read as `less`."""
    found = _BOUND(condition)
    return found and (found[0], max(1, found[1] - 1))


_BOUND = joins.find_bound


@pytest.mark.parametrize(
    ("owner", "name", "mistake", "first"),
    [
        (joins.Listed, "sides", _keeps_more, 0),
        (joins.Listed, "of_node", _known, 0),
        (joins.Points, "ranges", _no_wrap, 2100),
        (joins, "find_bound", _two_bounds, 0),
    ],
)
def test_planted_mistakes_are_found(
    monkeypatch: pytest.MonkeyPatch, owner: object, name: str, mistake: Callable[..., object], first: int
) -> None:
    monkeypatch.setattr(owner, name, mistake)
    assert any(_wrong(range(begin, begin + 20))[0] for begin in range(first, first + 400, 20))
