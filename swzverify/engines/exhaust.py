"""The exhaustive engine: the front end's own definition at every point, up to 2^20 of them.

It reads plain integer functions (layouts, swizzles, C expressions), never the expression form, so
it checks the lowering too. Where the front end vouches that a variable's first values stand for all
(a base address modulo what the swizzle looks at), only those are tried.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod

import numpy as np

from swzverify.engines.enumeration import Ranges, first_meeting, first_overlap, grid
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
from swzverify.ir.domain import representatives
from swzverify.ir.expr import TRUE

NAME = "exhaustion"
MAX_POINTS = 1 << 20
_OTHER = Finding(NAME, Answer.NOT_APPLICABLE, detail="more than 2^20 points")


def _always(goal: Always) -> Finding:
    counts = goal.domain.representatives()
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
    counts = {name: count for name, count in goal.domain.representatives().items() if name != goal.lane.name}
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
    enough = goal.domain.representatives()
    counts = {node.name: enough[node.name] for node in (*goal.shared, *goal.distinct)}
    if prod(counts.values()) > MAX_POINTS:
        return _OTHER
    arrays = grid(counts)
    shape = (prod(counts.values()),)
    counts_here, where = goal.definition(arrays)
    inside, position = np.broadcast_to(counts_here, shape), np.broadcast_to(where, shape)
    return first_overlap(NAME, goal, counts, position, inside, goal.definition_extent)


def _apart(goal: Apart) -> Finding:
    """Sort the ranges of one side, and look up those of the other."""
    nodes = (goal.shared, goal.first.variables, goal.second.variables)
    shared, *sizes = (representatives(each, goal.enough) for each in nodes)
    points = prod(shared.values()) * sum(prod(size.values()) for size in sizes)
    if points > MAX_POINTS or not (goal.condition is TRUE or goal.tags):
        return _OTHER
    grids = [grid(size) for size in sizes]
    for index in range(prod(shared.values())):
        common = {name: array[index : index + 1] for name, array in grid(shared).items()}
        sides = [
            _ranges(side, {**common, **own}, prod(size.values()), [pair[number] for pair in goal.tags])
            for number, (side, own, size) in enumerate(zip((goal.first, goal.second), grids, sizes, strict=True))
        ]
        found = first_meeting(sides[0], sides[1], (goal.first.extent, goal.second.extent))
        if found is not None:
            point = {name: int(array[0]) for name, array in common.items()}
            for own, at in zip(grids, found, strict=True):
                point |= {name: int(array[at]) for name, array in own.items()}
            return Finding(NAME, Answer.FAILS, point)
    return Finding(NAME, Answer.HOLDS)


def _ranges(side: Side, arrays: Arrays, size: int, tags: list[str]) -> Ranges:
    """The starts of a side's ranges, which of them there are, and the values of its tags."""
    on = np.asarray(True) if side.is_active is None else side.is_active(arrays)
    return (
        np.broadcast_to(side.definition(arrays), (size,)),
        np.broadcast_to(on, (size,)),
        [np.broadcast_to(arrays[name], (size,)) for name in tags],
    )


def _covers(goal: Covers) -> Finding:
    """Count for every element, unit by unit, how many points' ranges meet it."""
    shared, counts = representatives(goal.shared, goal.enough), goal.points.representatives()
    elements = {node.name: node.limit for node in goal.elements}
    if prod(shared.values()) * (prod(counts.values()) + prod(elements.values())) > MAX_POINTS:
        return _OTHER
    points, cells = grid(counts), grid(elements)
    # With a choice of elements, points are not what the obligation is about.
    nothing = goal.is_wanted is None
    for index in range(prod(shared.values())):
        common = {name: array[index : index + 1] for name, array in grid(shared).items()}
        active, address = goal.points_definition({**common, **points})
        shape = (prod(counts.values()),)
        active, address = np.broadcast_to(active, shape), np.broadcast_to(address, shape)
        position = np.broadcast_to(goal.elements_definition({**common, **cells}), (prod(elements.values()),))
        wanted = np.asarray(True) if goal.is_wanted is None else goal.is_wanted({**common, **cells})
        nothing = nothing and not bool(active.any())
        starts = np.sort(address[active])
        # A range meets an element when it begins before the element ends and ends after the element
        # begins.
        begun = np.searchsorted(starts, position + goal.extent, side="left")
        ended = np.searchsorted(starts + goal.reach, position, side="right")
        wrong = np.flatnonzero((begun - ended != goal.times) & wanted)
        if wrong.size:
            found = {second(name): int(array[wrong[0]]) for name, array in cells.items()}
            touches = int((begun - ended)[wrong[0]])
            where = {**{name: int(a[0]) for name, a in common.items()}, **found}
            return Finding(NAME, Answer.EMPTY if nothing else Answer.FAILS, where, detail=str(touches))
    return Finding(NAME, Answer.EMPTY if nothing else Answer.HOLDS)


class Exhaustion(Native):
    """Decides whatever is small enough. Choices of lanes are too many: `matching` counts them."""

    reads_formula = False
    name = NAME
    rules = Rules(always=_always, injective=_injective, apart=_apart, cost=_cost, copy_cost=_copy_cost, covers=_covers)
