"""The residue engine: an expression that repeats in a variable is evaluated over one period of it.

Bank conflicts do not change when every address of a warp grows by a whole number of words, and a
condition's truth repeats if its expression does. So the engine reduces every free variable to one
period, however large or unbounded it is, and evaluates the rest.

A bound by residues for costs with values of the lanes' own: the lanes that can reach one slot.

Ranges of data are often too large to list. But the place of a lane in the 128-byte line repeats, so
one period of each variable tells which slots a lane can reach.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from math import gcd, lcm, prod

import numpy as np

from swzverify.engines.enumeration import Ranges, everywhere, first_meeting, first_overlap, grid, point_at
from swzverify.engines.native import Native, Rules
from swzverify.engines.obligations import (
    Always,
    Answer,
    Apart,
    Cost,
    Finding,
    GatherCost,
    Injective,
    Side,
    Truths,
)
from swzverify.engines.worst import judge_rows
from swzverify.hardware import BANK_PERIOD_BYTES, LANES, Instruction, turn_bytes
from swzverify.ir.evaluate import MAX_ARRAY_WIDTH
from swzverify.ir.expr import TRUE, Expr, Var, postorder
from swzverify.ir.gf2 import VariableBits, affine_bits
from swzverify.ir.periods import Repetition, repetition

NAME = "residues"
MAX_POINTS = 1 << 21
_OTHER = Finding(NAME, Answer.NOT_APPLICABLE)


def _constant_period(root: Expr, name: str) -> int | None:
    """After how many steps of a variable an expression has the same value again."""
    found = repetition(root, name)
    if found is None:
        return None
    if found.constant and found.exact:
        return found.period
    # Modulo 2^width every increment comes round.
    return _scaled(found, 1 << root.width)


def _scaled(found: Repetition, unit: int) -> int:
    return found.period * (unit // gcd(found.increment, unit)) if found.increment else found.period


def _cut(nodes: Sequence[Var], periods: Mapping[str, int | None]) -> dict[str, int]:
    """How many first values of each variable stand for all."""
    return {node.name: min(node.limit, periods[node.name] or node.limit) for node in nodes}


def _always(goal: Always) -> Finding:
    nodes = goal.domain.variables
    periods: dict[str, int | None] = {}
    for node in nodes:
        found = [_constant_period(root, node.name) for root in (goal.holds, goal.domain.assumption)]
        periods[node.name] = None if found[0] is None or found[1] is None else lcm(found[0], found[1])
    counts = _cut(nodes, periods)
    if prod(counts.values()) > MAX_POINTS or not _fits((goal.holds, goal.domain.assumption)):
        return _OTHER
    holds, assumed = everywhere((goal.holds, goal.domain.assumption), counts)
    if not assumed.any():
        return Finding(NAME, Answer.EMPTY)
    failing = np.flatnonzero((assumed == 1) & (holds == 0))
    if failing.size == 0:
        return Finding(NAME, Answer.HOLDS)
    return Finding(NAME, Answer.FAILS, point_at(counts, int(failing[0])))


def _fits(roots: tuple[Expr, ...]) -> bool:
    return all(node.width <= 62 for node in postorder(*roots))


def _cost(goal: Cost) -> Finding:
    unit = turn_bytes(goal.instruction)
    periods: dict[str, int | None] = {}
    for node in goal.free:
        periods[node.name] = _cost_period(goal, node, unit)
    counts = _cut(goal.free, periods)
    roots = (goal.address, goal.active, goal.domain.assumption)
    if prod(counts.values()) * LANES > MAX_POINTS or not _fits(roots):
        return _OTHER
    found = everywhere(roots, {**counts, goal.lane.name: LANES})
    address, active, assumed = (each.reshape(-1, LANES) for each in found)
    return judge_rows(NAME, goal, address, active == 1, assumed[:, 0] == 1, partial(point_at, counts))


def _cost_period(goal: Cost, node: Var, unit: int) -> int | None:
    """Steps of a variable after which every lane's address grew by one common multiple of `unit`."""
    address = repetition(goal.address, node.name)
    active = _constant_period(goal.active, node.name)
    assumed = _constant_period(goal.domain.assumption, node.name)
    if active is None or assumed is None:
        return None
    if address is not None and (address.exact or (1 << goal.address.width) % BANK_PERIOD_BYTES == 0):
        return lcm(_scaled(address, unit), active, assumed)
    return _linear_period(goal, lcm(active, assumed))


def _linear_period(goal: Cost, others: int) -> int | None:
    """`others`, if all address bits are affine, so that a variable only flips them; else None.

    The flipped bits are the same in every lane, so the cost is the same at every value.
    """
    (bits,) = affine_bits([goal.address], VariableBits.of(goal.domain.variables))
    return others if all(form is not None for form in bits) else None


def _injective(goal: Injective) -> Finding:
    """All points of one period of the shared variables, sorted."""
    periods: dict[str, int | None] = {node.name: node.limit for node in goal.distinct}
    for node in goal.shared:
        step = repetition(goal.inner, node.name)
        assumed = _constant_period(goal.domain.assumption, node.name)
        periods[node.name] = None if step is None or assumed is None else lcm(step.period, assumed)
        if step is not None and not step.exact:
            periods[node.name] = None
    nodes = (*goal.shared, *goal.distinct)
    counts = _cut(nodes, periods)
    if goal.outer is not None or prod(counts.values()) > MAX_POINTS or not _fits((goal.inner, goal.domain.assumption)):
        return _OTHER
    position, assumed = everywhere((goal.inner, goal.domain.assumption), counts)
    return first_overlap(NAME, goal, counts, position, assumed == 1, goal.extent)


def _apart(goal: Apart) -> Finding:
    """One period of every variable: of shared ones the positions may grow alike, of others not at all."""
    if not (goal.condition is TRUE or goal.tags):
        return _OTHER
    roots = [(side.position, side.active) for side in (goal.first, goal.second)]
    if not _fits((*roots[0], *roots[1])):
        return _OTHER
    common = _cut(goal.shared, {node.name: _common_period(goal, node.name) for node in goal.shared})
    tags = [{pair[number] for pair in goal.tags} for number in range(2)]
    counts = [
        _cut(side.variables, {node.name: _own_period(side, node.name, tags[number]) for node in side.variables})
        for number, side in enumerate((goal.first, goal.second))
    ]
    if prod(common.values()) * sum(prod(own.values()) for own in counts) > MAX_POINTS:
        return _OTHER
    rows = prod(common.values())
    sides: list[list[Ranges]] = []
    for number, (root, own) in enumerate(zip(roots, counts, strict=True)):
        position, active = (each.reshape(rows, -1) for each in everywhere(root, {**common, **own}))
        places = grid(own)
        told = [places[pair[number]] for pair in goal.tags]
        sides.append([(at, on == 1, told) for at, on in zip(position, active, strict=True)])
    for index, (first, other) in enumerate(zip(*sides, strict=True)):
        found = first_meeting(first, other, (goal.first.extent, goal.second.extent))
        if found is not None:
            here = point_at(common, index)
            return Finding(NAME, Answer.FAILS, here | point_at(counts[0], found[0]) | point_at(counts[1], found[1]))
    return Finding(NAME, Answer.HOLDS)


def _common_period(goal: Apart, name: str) -> int | None:
    """Steps of a shared variable after which both positions grew by the same amount."""
    steps = [repetition(side.position, name) for side in (goal.first, goal.second)]
    still = [_constant_period(side.active, name) for side in (goal.first, goal.second)]
    if steps[0] is None or steps[1] is None or still[0] is None or still[1] is None:
        return None
    period = lcm(steps[0].period, steps[1].period, still[0], still[1])
    grown = [step.increment * (period // step.period) for step in steps if step is not None]
    return period if steps[0].exact and steps[1].exact and grown[0] == grown[1] else None


def _own_period(side: Side, name: str, tags: set[str]) -> int | None:
    """Steps of a side's own variable after which the same range comes again; none for a tag."""
    step, still = repetition(side.position, name), _constant_period(side.active, name)
    if name in tags or step is None or still is None or not (step.constant and step.exact):
        return None
    return lcm(step.period, still)


def _gather_cost(goal: GatherCost) -> Finding:
    """Holds where lanes that can meet in a slot are few enough, whatever units they choose there."""
    cost, row = goal.cost, goal.cost.instruction
    none = Finding(NAME, Answer.NOT_APPLICABLE)
    roots = (cost.address, cost.active, cost.domain.assumption)
    if (
        row.by_octets
        or (row.is_global and cost.at_most is None)
        or any(node.width >= MAX_ARRAY_WIDTH - 1 for node in postorder(*roots))
    ):
        return none
    nodes = [node for node in cost.free if node is not cost.lane]
    periods = [_period(goal, node) for node in (*nodes, *goal.own)]
    counts = {node.name: count for node, count in zip((*nodes, *goal.own), periods, strict=True)}
    if prod(counts.values()) * LANES > MAX_POINTS:
        return none
    free, own = ({node.name: counts[node.name] for node in of} for of in (nodes, goal.own))
    shape = (prod(free.values()), LANES, prod(own.values()))
    found = everywhere(roots, {**free, cost.lane.name: LANES, **own})
    address, active, assumed = (each.reshape(shape) for each in found)
    busy = (active == 1) & (assumed == 1)
    if not busy.any():
        return none
    reached = np.zeros((shape[0], LANES, row.slots), dtype=np.bool_)
    rows, lanes, _ = np.nonzero(busy)
    reached[rows, lanes, address[busy] // row.unit_bytes % row.slots] = True
    size = row.joined_group_lanes if row.joins and cost.at_most is None else row.group_lanes
    most = _most(row, reached, size)
    bound = int(np.maximum(most - 1, 0).sum(axis=1).max() if cost.at_most is None else most.sum(axis=1).max())
    return Finding(NAME, Answer.HOLDS) if bound <= (cost.at_most or 0) else none


def _most(row: Instruction, reached: Truths, size: int) -> np.typing.NDArray[np.int64]:
    """For each warp instruction and group, the most lanes that can reach one slot."""
    groups = [reached[:, start : start + size].sum(axis=1).max(axis=1) for start in range(0, row.address_lanes, size)]
    return np.stack(groups, axis=1)


def _period(goal: GatherCost, node: Var) -> int:
    """How many first values of a variable show every slot that any of its values can reach."""
    cost = goal.cost
    address, active, assumed = (
        repetition(root, node.name) for root in (cost.address, cost.active, cost.domain.assumption)
    )
    if address is None or active is None or assumed is None:
        return node.limit
    # Of 7 bits or more: what comes round modulo 2^width comes round modulo the line.
    if not address.exact and (1 << cost.address.width) % BANK_PERIOD_BYTES:
        return node.limit
    if not (active.constant and active.exact and assumed.constant and assumed.exact):
        return node.limit
    turn = BANK_PERIOD_BYTES // gcd(address.increment, BANK_PERIOD_BYTES) if address.increment else 1
    return min(node.limit, lcm(address.period * turn, active.period, assumed.period))


class Residues(Native):
    """Decides what repeats, by evaluating one period of every variable."""

    name = NAME
    rules = Rules(always=_always, injective=_injective, apart=_apart, cost=_cost, gather_cost=_gather_cost)
