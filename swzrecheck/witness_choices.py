"""The witness of a cost with values of the lanes' own: what lanes can reach, and a cover of it.

In a slot so many different units can be chosen at once as the least cover has parts: some units and
some lanes, such that each lane that is not among them chooses among these units (König's theorem).
The checker finds covers and holds them against every value: a cover of n parts shows that no choice
has more than n, however it was found.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod

from swzrecheck.repetition import repeating
from swzrecheck.statement import GatherCost, Statement
from swzrecheck.table import table
from swzrecheck.warp_rule import LANES, WarpRule, filled, warp_rule
from swzrecheck.witness import Data, WitnessError, periods_of, require, require_same
from swzrecheck.witness_residues import counted_line

Reach = Mapping[int, set[int]]
"""The units that each lane can choose in one slot."""
Lanes = Sequence[frozenset[int]]
"""The addresses that each lane can choose."""


def find_choices(statement: Statement, periods: Mapping[str, int]) -> dict[str, object] | None:
    """The witness from proposed periods; None where they, or the statement, do not hold."""
    try:
        found = _examine(statement, {"periods": dict(periods)})
    except WitnessError:
        return None
    return {"periods": dict(periods), **found}


def check_choices(statement: Statement, data: Data) -> None:
    """Refuse, by WitnessError, a witness that does not show the statement."""
    require_same(data, _examine(statement, data), "periods")


def _examine(statement: Statement, data: Data) -> dict[str, object]:
    """Try every value of the lanes' own in one period of all else; refuse too costly choices."""
    if not isinstance(statement, GatherCost):
        raise WitnessError("choices say nothing about such a statement")
    goal, rule = statement, warp_rule(statement.instruction)
    require(not rule.octets, "covers say nothing about the rule of octets")
    counts = periods_of(data, goal.program, repeating(goal))
    own = [(place, goal.program[place].number) for place in goal.own]
    try:
        assumption = counted_line(goal, counts)
        counted = goal.active if assumption is None else assumption
        found = table(goal.program, (goal.address, goal.active, counted), [*counts, (goal.lane, LANES), *own])
    except ValueError as error:
        raise WitnessError(str(error)) from None
    active, addresses = found.flags(found.truths(1) & found.truths(2)), found.numbers(0)
    values = prod(count for _, count in own)
    most = 0
    seen: set[tuple[tuple[frozenset[int], ...], int]] = set()
    for start in range(0, found.points, LANES * values):
        firsts = range(start, start + LANES * values, values)
        row = tuple(frozenset(addresses[p] for p in range(at, at + values) if active[p]) for at in firsts)
        always = sum(all(active[p] for p in range(at, at + values)) for at in firsts)
        if (row, always) not in seen:
            seen.add((row, always))
            most = max(most, _bound(rule, row, goal.at_most, always))
    return {"points": found.points, "sha256": found.digest(), "most": most}


def _bound(rule: WarpRule, lanes: Lanes, at_most: tuple[int, ...], always: int) -> int:
    """A bound for every choice of a warp; refused if it is too much.

    `always` lanes are active at every value: without a limit, their bytes alone must fill as many
    sectors of global memory. Groups that join take no more than they do apart. Without a limit the
    larger groups are examined: if they have no conflict, the smaller groups have none.
    """
    for lane in lanes:
        require(all(address % rule.width_bytes == 0 for address in lane), "a lane is misaligned")
    size = rule.joined_lanes if rule.joins and not at_most else rule.group_lanes
    groups = [_group(rule, lanes[first : first + size]) for first in range(0, rule.address_lanes, size)]
    limit = at_most[0] if at_most else sum(1 for group in groups if group)
    if rule.sectors and not at_most:
        limit = filled(rule, always)
    require(sum(groups) <= limit, f"the lanes of a warp can choose {sum(groups)} wavefronts")
    return sum(groups)


def _group(rule: WarpRule, lanes: Lanes) -> int:
    """The parts of a least cover, for the slot of a group that needs most."""
    slots: dict[int, dict[int, set[int]]] = {}
    for lane, options in enumerate(lanes):
        for address in options:
            unit = address // rule.unit_bytes
            slots.setdefault(unit % rule.slots, {}).setdefault(lane, set()).add(unit)
    size = len if rule.repeats else cover_size
    return max(map(size, slots.values()), default=0)


def cover_size(reach: Reach) -> int:
    """The parts of a checked cover; it is a least one where the search is right.

    >>> cover_size({0: {1, 2}, 1: {1}, 2: {1}})
    2
    """
    chosen: dict[int, int] = {}
    for lane in reach:
        _improve(lane, reach, chosen, set())
    # From the lanes that got no unit: what alternating paths reach (König's construction).
    busy = set(chosen.values())
    open_lanes, seen = [lane for lane in reach if lane not in busy], set[int]()
    free = set(open_lanes)
    while open_lanes:
        for unit in reach[open_lanes.pop()] - seen:
            seen.add(unit)
            if unit in chosen and chosen[unit] not in free:
                free.add(chosen[unit])
                open_lanes.append(chosen[unit])
    covering = [lane for lane in reach if lane not in free]
    for lane, units in reach.items():
        require(lane not in free or units <= seen, "the cover leaves a unit out")
    return len(covering) + len(seen)


def _improve(lane: int, reach: Reach, chosen: dict[int, int], tried: set[int]) -> bool:
    """Whether a lane gets a unit, perhaps because others move to another one."""
    for unit in sorted(reach[lane]):
        if unit not in tried:
            tried.add(unit)
            if unit not in chosen or _improve(chosen[unit], reach, chosen, tried):
                chosen[unit] = lane
                return True
    return False
