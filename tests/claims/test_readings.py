"""Each goal is written three times: as an expression, as a definition over arrays, as a replay in
plain integers.

At every point that stands for others, and at bases far from those, the three must say the same;
what they say of the claim as a whole must be what the oracle says, which is written from
docs/semantics.md alone.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Mapping
from math import prod
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from swzverify.claims import Claim, Permutation
from swzverify.claims.goal import Goal
from swzverify.claims.verdict import Outcome
from swzverify.engines.enumeration import grid
from swzverify.engines.obligations import Always, Apart, Cost, Covers, Injective, Side, second
from swzverify.engines.prices import price_many
from swzverify.hardware import LANES
from swzverify.ir.evaluate import evaluate_many
from swzverify.ir.expr import Var
from swzverify.prover import Options, prove
from tests.claims.edges import OTHERS, PROVED, REFUTED, alone, claims
from tests.differential.comparison import difference
from tests.oracle.brute_force import judge
from tests.oracle.oracle_errors import OracleAmbiguousError, OracleError

ALL = [*REFUTED, *PROVED, *OTHERS]
Array = NDArray[np.int64]
Arrays = Mapping[str, Array]
MOST_POINTS = 1 << 13
REPLAYED = 5
FAR = 5


def drawn(text: str) -> random.Random:
    return random.Random(f"readings of {text}")


def box(variables: Iterable[Var], enough: Mapping[str, int], rng: random.Random) -> dict[str, Array]:
    """All points of the first values of every variable, and as many again with each base far away."""
    counts = {node.name: min(node.limit, enough.get(node.name, node.limit)) for node in variables}
    while prod(counts.values()) > MOST_POINTS:
        longest = max(counts, key=lambda name: counts[name])
        counts[longest] = max(2, counts[longest] // 2)
    arrays = grid(counts)
    far = dict(arrays)
    for node in variables:
        if node.limit > counts[node.name]:
            many = [rng.randrange(node.limit) for _ in range(FAR)]
            far[node.name] = np.asarray([*many, node.limit - 1])[arrays[node.name] % (FAR + 1)]
    return {name: np.concatenate([arrays[name], far[name]]) for name in arrays}


def at(arrays: Arrays, row: int) -> dict[str, int]:
    return {name: int(array[row]) for name, array in arrays.items()}


def some(rng: random.Random, rows: Array) -> list[int]:
    """The first, the last and some others."""
    found = [int(row) for row in rows]
    return sorted({*found[:1], *found[-1:], *rng.sample(found, min(len(found), REPLAYED))})


def replays(claim: Claim, goal: Goal, points: Iterable[tuple[Mapping[str, int], bool]]) -> None:
    for point, fails in points:
        assert (claim.replay(goal, point) is not None) == fails, point


def check_always(claim: Claim, goal: Goal, obligation: Always, rng: random.Random) -> None:
    arrays = box(obligation.domain.variables, dict(obligation.domain.enough), rng)
    size = next(iter(arrays.values())).size
    counts, holds = (np.broadcast_to(each, size) for each in obligation.definition(arrays))
    said, assumed = (
        np.broadcast_to(each == 1, size)
        for each in evaluate_many((obligation.holds, obligation.domain.assumption), arrays)
    )
    # An inactive lane has no position: the expression keeps the claim there, the definition does
    # not count it.
    assert np.array_equal(assumed & ~said, counts & ~holds)
    failing = counts & ~holds
    replays(claim, goal, ((at(arrays, row), True) for row in some(rng, np.flatnonzero(failing))))
    # A replay shows all lanes, or all items of a vector, at once: it finds nothing where none of
    # them fails.
    free = [name for name in arrays if name not in ("lane", "item")]
    failed = {tuple(int(arrays[name][row]) for name in free) for row in np.flatnonzero(failing)}
    clean = [
        row for row in some(rng, np.flatnonzero(~failing)) if tuple(int(arrays[n][row]) for n in free) not in failed
    ]
    replays(claim, goal, ((at(arrays, row), False) for row in clean))


def check_cost(claim: Claim, goal: Goal, obligation: Cost, rng: random.Random) -> None:
    arrays = box(obligation.free, dict(obligation.domain.enough), rng)
    rows = next(iter(arrays.values())).size
    table = {name: array[:, None] for name, array in arrays.items()} | {"lane": np.arange(LANES)[None, :]}
    shape = (rows, LANES)
    counts, address, active = (np.broadcast_to(each, shape) for each in obligation.definition(table))
    roots = (obligation.domain.assumption, obligation.address, obligation.active)
    assumed, where, on = (np.broadcast_to(each, shape) for each in evaluate_many(roots, table))
    assert np.array_equal(assumed == 1, counts)
    assert np.array_equal(counts & active, (assumed == 1) & (on == 1))
    assert np.array_equal(np.where(counts & active, address, 0), np.where(counts & active, where, 0))
    width = obligation.instruction.width_bytes
    asked = np.flatnonzero(counts[:, 0] & active.any(axis=1) & ~(active & (address % width != 0)).any(axis=1))
    if asked.size:
        found = price_many(obligation.instruction, address[asked], active[asked])
        limit = found.minimum if obligation.at_most is None else np.full_like(found.minimum, obligation.at_most)
        broken = found.wavefronts > limit
        for chosen in (asked[broken], asked[~broken]):
            replays(claim, goal, ((at(arrays, row), bool(broken[asked == row][0])) for row in some(rng, chosen)))
    off = np.flatnonzero(~counts[:, 0] | ~active.any(axis=1))
    replays(claim, goal, ((at(arrays, row), False) for row in some(rng, off)))


def check_injective(claim: Claim, goal: Goal, obligation: Injective, rng: random.Random) -> None:
    enough = dict(obligation.domain.enough)
    arrays = box(obligation.shared, enough, rng) if obligation.shared else {}
    shares = [at(arrays, row) for row in range(next(iter(arrays.values())).size)] if arrays else [{}]
    digits = grid({node.name: node.limit for node in obligation.distinct})
    size = next(iter(digits.values())).size
    for share in [*shares[:2], *shares[-2:], *rng.sample(shares, min(len(shares), 4))]:
        here = {**digits, **{name: np.full(size, value) for name, value in share.items()}}
        _, position = obligation.definition(here)
        (inner,) = (np.broadcast_to(each, size) for each in evaluate_many((obligation.inner,), here))
        if obligation.outer is not None:
            (inner,) = evaluate_many((obligation.outer.image,), {obligation.outer.x.name: inner})
        one, two = np.triu_indices(size, 1)
        near = np.abs(position[one] - position[two]) < obligation.definition_extent
        assert np.array_equal(near, np.abs(inner[one] - inner[two]) < obligation.extent)
        for rows, fails in ((np.flatnonzero(near), True), (np.flatnonzero(~near), False)):
            for row in some(rng, rows):
                other = {second(name): int(array[two[row]]) for name, array in digits.items()}
                point = {**at(digits, int(one[row])), **share, **other}
                replays(
                    claim, goal, [(point, fails), ({**point, **{name[:-1]: v for name, v in other.items()}}, False)]
                )


def values(side: Side, own: Arrays, share: Mapping[str, int], size: int) -> Array:
    """A side's first units; both readings agree on them."""
    here = {**own, **{name: np.full(size, value) for name, value in share.items()}}
    found = np.broadcast_to(side.definition(here), size)
    assert np.array_equal(found, np.broadcast_to(evaluate_many((side.position,), here)[0], size))
    return found


def check_apart(claim: Claim, goal: Goal, obligation: Apart, rng: random.Random) -> None:
    shared = box(obligation.shared, dict(obligation.enough), rng) if obligation.shared else {}
    shares = [at(shared, row) for row in range(next(iter(shared.values())).size)] if shared else [{}]
    first, other = (
        box(side.variables, {"p.base": 9, "q.base": 9}, rng) for side in (obligation.first, obligation.second)
    )
    sizes = [next(iter(arrays.values())).size for arrays in (first, other)]
    for share in [*shares[:2], *shares[-2:]]:
        a, b = values(obligation.first, first, share, sizes[0]), values(obligation.second, other, share, sizes[1])
        one, two = (np.asarray([rng.randrange(size) for _ in range(400)]) for size in sizes)
        # Random elements of large tiles hardly meet: for each some of the nearest ones too.
        nearest = np.argsort(np.abs(a[one[:100], None] - b[None, :]), axis=1)[:, :3]
        one, two = np.concatenate([one, np.repeat(one[:100], 3)]), np.concatenate([two, nearest.ravel()])
        meet = (a[one] < b[two] + obligation.second.extent) & (b[two] < a[one] + obligation.first.extent)
        differ = np.ones(one.size, dtype=bool)
        if obligation.tags:
            ((mine, yours),) = obligation.tags
            differ = first[mine][one] != other[yours][two]
        meet &= differ
        here = {
            **{name: array[one] for name, array in first.items()},
            **{name: array[two] for name, array in other.items()},
        }
        (apart,) = evaluate_many((obligation.condition,), here)
        assert np.array_equal(np.broadcast_to(apart == 1, differ.shape), differ)
        for rows, fails in ((np.flatnonzero(meet), True), (np.flatnonzero(~meet), False)):
            replays(claim, goal, (({**at(here, row), **share}, fails) for row in some(rng, rows)))


def check_covers(claim: Claim, goal: Goal, obligation: Covers, rng: random.Random) -> None:
    shared = box(obligation.shared, dict(obligation.enough), rng) if obligation.shared else {}
    shares = [at(shared, row) for row in range(next(iter(shared.values())).size)] if shared else [{}]
    points = grid({node.name: node.limit for node in obligation.points.variables})
    cells = grid({node.name: node.limit for node in obligation.elements})
    size, elements = (next(iter(each.values())).size for each in (points, cells))
    for share in [*shares[:2], *shares[-2:], *rng.sample(shares, min(len(shares), 2))]:
        spread = {name: np.full(size, value) for name, value in share.items()}
        on, start = (np.broadcast_to(each, size) for each in obligation.points_definition({**points, **spread}))
        roots = (obligation.points.assumption, obligation.active, obligation.address)
        assumed, active, address = (np.broadcast_to(e, size) for e in evaluate_many(roots, {**points, **spread}))
        assert np.array_equal(on, (assumed == 1) & (active == 1))
        assert np.array_equal(start[on], address[on])
        wide = {**cells, **{name: np.full(elements, value) for name, value in share.items()}}
        begin = np.broadcast_to(obligation.elements_definition(wide), elements)
        assert np.array_equal(begin, np.broadcast_to(evaluate_many((obligation.position,), wide)[0], elements))
        hits = (start[on][None, :] < begin[:, None] + obligation.extent) & (
            start[on][None, :] + obligation.reach > begin[:, None]
        )
        touches = hits.sum(axis=1)
        for rows, fails in ((touches != obligation.times, True), (touches == obligation.times, False)):
            for row in some(rng, np.flatnonzero(rows)):
                point = {**share, **{second(name): int(array[row]) for name, array in cells.items()}}
                found = claim.replay(goal, point)
                assert (found is not None) == fails, point
                if found is not None:
                    assert len(found.rows) == touches[row]
                    assert f"is touched {touches[row]} times, not {obligation.times}" in found.note


def check_numbers(claim: Permutation, goal: Goal, obligation: Injective, rng: random.Random) -> None:
    """A map's values, numbered: two points with one value have one number, two values have two."""
    arrays = box(obligation.domain.variables, {"base": 8}, rng)
    size = next(iter(arrays.values())).size
    _, number = obligation.definition(arrays)
    (inner,) = (np.broadcast_to(each, size) for each in evaluate_many((obligation.inner,), arrays))
    place = claim.map.origin
    bases = (
        {}
        if place is None
        else {"base": place.start_bytes + place.unit_bytes * arrays.get("base", np.zeros(size, int))}
    )
    points = {name: arrays[name] for name, _ in claim.map.over} | bases
    value = [claim.map.at(at(points, row)) for row in range(size)]
    inside = [all(0 <= v < extent for v, extent in zip(each, claim.box, strict=True)) for each in value]
    assert obligation.extent == obligation.definition_extent == 1
    for _ in range(300):
        one, two = rng.randrange(size), rng.randrange(size)
        assert (number[one] == number[two]) == (value[one] == value[two])
        if inside[one] and inside[two]:
            assert (inner[one] == inner[two]) == (value[one] == value[two])
        shared = {node.name for node in obligation.shared}
        other = {second(name): int(arrays[name][two]) for name in arrays if name not in shared}
        here = at(arrays, one) | other
        moved = at(points, two) | {name: int(array[one]) for name, array in bases.items()}
        same = claim.map.at(at(points, one)) == claim.map.at(moved)
        differ = any(arrays[name][one] != arrays[name][two] for name in arrays if name not in shared)
        replays(claim, goal, [(here, same and differ)])


CHECKS: dict[type, Callable[[Any, Goal, Any, random.Random], None]] = {
    Always: check_always,
    Cost: check_cost,
    Injective: check_injective,
    Apart: check_apart,
    Covers: check_covers,
}


@pytest.mark.parametrize("text", ALL)
def test_expression_definition_and_replay_say_the_same(text: str) -> None:
    claim = claims()[text]
    for goal in claim.plan().goals:
        check = CHECKS[type(goal.obligation)]
        if isinstance(claim, Permutation) and isinstance(goal.obligation, Injective):
            check = check_numbers
        check(claim, goal, goal.obligation, drawn(text))


@pytest.mark.parametrize("text", ALL)
def test_verdict_is_the_oracles(text: str) -> None:
    """From every engine; where the oracle cannot judge, the verdict is the one that the list names."""
    verdict = prove(claims()[text], options=Options(every_engine=True))
    if text in REFUTED:
        assert verdict.outcome is Outcome.REFUTED, verdict.reason
    elif text in PROVED:
        assert verdict.outcome is Outcome.PROVED, verdict.reason
    else:
        assert verdict.outcome is Outcome.VACUOUS, verdict.reason
    try:
        (judgement,) = judge(alone(text))
    except (OracleAmbiguousError, OracleError):
        assert text in UNJUDGED
        return
    assert text not in UNJUDGED
    assert not difference(judgement, verdict)


UNJUDGED = {
    "aligned: crooked",  # elements inside bytes
    "in_bounds: crooked",
    "covers: {access: crooked, tile: packs}",
    "in_bounds: bare",  # a bare address with a base
    "in_bounds: within",
    "in_bounds: loose",
    "covers: {access: by_bytes, tile: packs}",  # a common base
    "covers: {access: packed, tile: bytes}",
    "covers: {access: bare, tile: flat}",
    "covers: {access: lines, tile: even}",
    "covers: {access: calm, tile: torn}",
    "covers: {access: likewise, tile: flat}",
    "disjoint: [inner, outer]",  # a memory at a fixed base against a fixed base
    "disjoint: [inner, after]",
    "equivalent: [inner, outer]",
    "equivalent: [level, paired]",
    "equivalent: [also, swapped]",  # maps that read any base
    "permutation: based",
    "permutation: lost",
    "equivalent: [nibble, packs]",  # another box
    "disjoint: flat",
}
