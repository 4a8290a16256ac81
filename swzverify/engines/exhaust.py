"""The exhaustive engine: the front end's own definition at every point, up to 2^20 of them.

It reads plain integer functions (layouts, swizzles, C expressions), never the expression form, so
it checks the lowering too. Where the front end vouches that a variable's first values stand for all
(a base address modulo what the swizzle looks at), only those are tried.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod

import numpy as np

from swzverify.engines.enumeration import first_overlap, grid
from swzverify.engines.native import Native, Rules
from swzverify.engines.obligations import (
    Always,
    Answer,
    Apart,
    Arrays,
    CopyCost,
    Cost,
    Covers,
    Finding,
    Injective,
    Numbers,
    Point,
    Side,
    second,
)
from swzverify.engines.worst import judge_rows
from swzverify.hardware import LANES
from swzverify.ir.expr import TRUE

NAME = "exhaustion"
MAX_POINTS = 1 << 20
_OTHER = Finding(NAME, Answer.NOT_APPLICABLE, detail="more than 2^20 points")


def _always(goal: Always) -> Finding:
    counts = {node.name: count for node, count in goal.domain.representatives()}
    if prod(counts.values()) > MAX_POINTS:
        return _OTHER
    arrays = grid(counts)
    shape = (prod(counts.values()),)
    inside, holds = (np.broadcast_to(array, shape) for array in goal.definition(arrays))
    if not inside.any():
        return Finding(NAME, Answer.EMPTY)
    failing = np.flatnonzero(inside & ~holds)
    if failing.size == 0:
        return Finding(NAME, Answer.HOLDS)
    return Finding(NAME, Answer.FAILS, {name: int(array[failing[0]]) for name, array in arrays.items()})


def _copy_cost(goal: CopyCost) -> Finding:
    return _cost(goal.cost, goal.definition)


def _cost(goal: Cost, source: Callable[[Arrays], Numbers] | None = None) -> Finding:
    counts = {node.name: count for node, count in goal.domain.representatives() if node is not goal.lane}
    rows = prod(counts.values())
    if rows * LANES > MAX_POINTS:
        return _OTHER
    free = grid(counts)
    arrays = {name: array[:, None] for name, array in free.items()}
    arrays[goal.lane.name] = np.arange(LANES, dtype=np.int64)[None, :]
    counts_here, where, on = goal.definition(arrays)
    inside, active = np.broadcast_to(counts_here, (rows, LANES)), np.broadcast_to(on, (rows, LANES))
    address = np.broadcast_to(where, (rows, LANES))

    def point_of(row: int) -> Point:
        return {name: int(array[row]) for name, array in free.items()}

    sources = () if source is None else (np.broadcast_to(source(arrays), (rows, LANES)),)
    return judge_rows(NAME, goal, address, active, inside[:, 0], point_of, *sources)


def _injective(goal: Injective) -> Finding:
    enough = {node.name: count for node, count in goal.domain.representatives()}
    nodes = (*goal.shared, *goal.distinct)
    counts = {node.name: enough[node.name] for node in nodes}
    if prod(counts.values()) > MAX_POINTS:
        return _OTHER
    arrays = grid(counts)
    shape = (prod(counts.values()),)
    counts_here, where = goal.definition(arrays)
    inside, position = np.broadcast_to(counts_here, shape), np.broadcast_to(where, shape)
    return first_overlap(NAME, goal, counts, position, inside, goal.definition_extent)


def _apart(goal: Apart) -> Finding:
    """Mark the places that one side touches, and look up those of the other."""
    enough = dict(goal.enough)
    shared = {node.name: min(node.limit, enough.get(node.name, node.limit)) for node in goal.shared}
    sizes = [_counts(side, enough) for side in (goal.first, goal.second)]
    points = prod(shared.values()) * sum(prod(size.values()) for size in sizes)
    tags = next((n.limit for n in goal.first.variables if goal.tags and n.name == goal.tags[0]), 1)
    if points * tags > MAX_POINTS:
        return _OTHER
    if goal.condition is not TRUE and goal.tags is None:
        return Finding(NAME, Answer.NOT_APPLICABLE, detail="the condition is no pair of tags")
    for index in range(prod(shared.values())):
        common = {name: array[index : index + 1] for name, array in grid(shared).items()}
        found = _meet(goal, common, sizes)
        if found is not None:
            return Finding(NAME, Answer.FAILS, {**{name: int(a[0]) for name, a in common.items()}, **found})
    return Finding(NAME, Answer.HOLDS)


def _counts(side: Side, enough: dict[str, int]) -> dict[str, int]:
    return {node.name: min(node.limit, enough.get(node.name, node.limit)) for node in side.variables}


def _meet(goal: Apart, common: dict[str, Numbers], sizes: list[dict[str, int]]) -> Point | None:
    """Two ranges that meet, the tag of the first one as small as possible."""
    first, other = grid(sizes[0]), grid(sizes[1])
    a, rows_a = _starts(goal.first, {**common, **first}, prod(sizes[0].values()))
    b, rows_b = _starts(goal.second, {**common, **other}, prod(sizes[1].values()))
    if goal.tags is None:
        hit = _hit(goal, a, rows_a, b, rows_b)
    else:
        tags_a, tags_b = first[goal.tags[0]], other[goal.tags[1]]
        if not _has_hit(goal, (a[rows_a], tags_a[rows_a]), (b[rows_b], tags_b[rows_b])):
            return None
        of_tags = ((rows_a[tags_a[rows_a] == tag], rows_b[tags_b[rows_b] != tag]) for tag in np.unique(tags_a))
        hit = next((found for one, two in of_tags if (found := _hit(goal, a, one, b, two)) is not None), None)
    if hit is None:
        return None
    return {
        **{name: int(array[hit[0]]) for name, array in first.items()},
        **{name: int(array[hit[1]]) for name, array in other.items()},
    }


def _starts(side: Side, arrays: dict[str, Numbers], count: int) -> tuple[Numbers, Numbers]:
    """The starts of all ranges of a side, and the places of those that are there."""
    starts = np.broadcast_to(side.definition(arrays), (count,))
    there = np.ones(1, dtype=np.bool_) if side.is_there is None else side.is_there(arrays)
    return starts, np.flatnonzero(np.broadcast_to(there, (count,)))


def _has_hit(goal: Apart, first: tuple[Numbers, Numbers], second: tuple[Numbers, Numbers]) -> bool:
    """Whether a range meets one with another tag: more ranges meet it than those with its own tag."""
    (a, tags_a), (b, tags_b) = first, second
    if not a.size or not b.size:
        return False
    low = min(int(a.min()), int(b.min())) - goal.first.extent
    span = max(int(a.max()), int(b.max())) + goal.second.extent - low + 1
    met = np.zeros(b.size, dtype=np.int64)
    for sign, (starts, wanted) in ((1, (a - low, b - low)), (-1, (tags_a * span + a - low, tags_b * span + b - low))):
        ordered = np.sort(starts)
        before_end = np.searchsorted(ordered, wanted + goal.second.extent, side="left")
        met += sign * (before_end - np.searchsorted(ordered, wanted - goal.first.extent, side="right"))
    return bool((met > 0).any())


def _hit(goal: Apart, a: Numbers, rows_a: Numbers, b: Numbers, rows_b: Numbers) -> tuple[int, int] | None:
    """The places of two ranges that meet, among some of each side."""
    if not rows_a.size or not rows_b.size:
        return None
    order = np.argsort(a[rows_a], kind="stable")
    starts = a[rows_a][order]
    # The last range of `a` that begins before a range of `b` ends is the one that may reach into it.
    before = np.searchsorted(starts, b[rows_b] + goal.second.extent, side="left") - 1
    hit = (before >= 0) & (starts[np.maximum(before, 0)] + goal.first.extent > b[rows_b])
    if not hit.any():
        return None
    which = int(np.flatnonzero(hit)[0])
    return int(rows_a[order[before[which]]]), int(rows_b[which])


def _covers(goal: Covers) -> Finding:
    """Count for every element, unit by unit, how many points' ranges meet it."""
    enough = dict(goal.enough)
    shared = {node.name: min(node.limit, enough.get(node.name, node.limit)) for node in goal.shared}
    counts = {node.name: count for node, count in goal.points.representatives()}
    elements = {node.name: node.limit for node in goal.elements}
    if prod(shared.values()) * (prod(counts.values()) + prod(elements.values())) > MAX_POINTS:
        return _OTHER
    points, cells = grid(counts), grid(elements)
    nothing = True
    for index in range(prod(shared.values())):
        common = {name: array[index : index + 1] for name, array in grid(shared).items()}
        active, address = goal.points_definition({**common, **points})
        shape = (prod(counts.values()),)
        active, address = np.broadcast_to(active, shape), np.broadcast_to(address, shape)
        position = np.broadcast_to(goal.elements_definition({**common, **cells}), (prod(elements.values()),))
        nothing = nothing and not bool(active.any())
        starts = np.sort(address[active])
        # A range meets an element when it begins before the element ends and ends after the element
        # begins.
        begun = np.searchsorted(starts, position + goal.extent, side="left")
        ended = np.searchsorted(starts + goal.reach, position, side="right")
        wrong = np.flatnonzero(begun - ended != goal.times)
        if wrong.size:
            found = {second(name): int(array[wrong[0]]) for name, array in cells.items()}
            touches = int((begun - ended)[wrong[0]])
            where = {**{name: int(a[0]) for name, a in common.items()}, **found}
            return Finding(NAME, Answer.EMPTY if nothing else Answer.FAILS, where, detail=str(touches))
    return Finding(NAME, Answer.EMPTY if nothing else Answer.HOLDS)


class Exhaustion(Native):
    """Decides whatever is small enough. Choices of lanes are too many: `matching` counts them."""

    name = NAME
    rules = Rules(always=_always, injective=_injective, apart=_apart, cost=_cost, copy_cost=_copy_cost, covers=_covers)
