"""The witness of periods: the values of each variable that stand for all, and a fingerprint there.

Each period is checked against the program line by line (`steps`), then every point of one period is
evaluated.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from itertools import compress, pairwise
from math import prod
from typing import assert_never

from swzrecheck.program import evaluate, reachable
from swzrecheck.repetition import assumption_of, is_still, may_drop, repeating, repeats
from swzrecheck.statement import Always, Apart, Cost, Covers, GatherCost, Injective, Statement
from swzrecheck.steps import steps
from swzrecheck.table import Table, table
from swzrecheck.warp_rule import LANES, warp_cost, warp_rule
from swzrecheck.witness import Data, WitnessError, periods_of, require, require_same

Periods = Mapping[str, int]
Counts = list[tuple[int, int]]


def find_residues(statement: Statement, periods: Periods) -> dict[str, object] | None:
    """The witness from proposed periods; None where they, or the statement, do not hold."""
    try:
        found = _examine(statement, {"periods": dict(periods)})
    except WitnessError:
        return None
    return {"periods": dict(periods), **found}


def check_residues(statement: Statement, data: Data) -> None:
    """Refuse, by WitnessError, a witness that does not show the statement."""
    require_same(data, _examine(statement, data), "periods")


def _examine(statement: Statement, data: Data) -> dict[str, object]:
    """Check the periods and evaluate one of each; refused where the statement fails."""
    counts = periods_of(data, statement.program, repeating(statement))
    try:
        assumption = counted_line(statement, counts)
        match statement:
            case Always():
                return _always(statement, counts, assumption)
            case Cost():
                return _cost(statement, counts, assumption)
            case Injective():
                return _injective(statement, counts, assumption)
            case Covers():
                return _covers(statement, counts)
            case Apart():
                return _apart(statement, counts)
            case GatherCost():
                raise WitnessError("choices have a witness of their own")
            case _:
                assert_never(statement)
    except ValueError as error:
        raise WitnessError(str(error)) from None


def counted_line(statement: Statement, counts: Counts) -> int | None:
    """Refuse wrong periods. Returns the assumption; None where every point counts instead."""
    program, assumption = statement.program, assumption_of(statement)
    kept = True
    for place, count in counts:
        if count < program[place].number:
            after = steps(program, place, count)
            require(repeats(statement, place, after), f"{count} is no period of {program[place].name}")
            kept = kept and is_still(after, assumption)
    require(kept or may_drop(statement), "the assumption does not repeat")
    return assumption if kept else None


def _result(found: Table, **more: object) -> dict[str, object]:
    return {"points": found.points, "sha256": found.digest(), **more}


def _always(goal: Always, counts: Counts, assumption: int | None) -> dict[str, object]:
    found = table(goal.program, (goal.holds if assumption is None else assumption, goal.holds), counts)
    looked_at = (1 << found.points) - 1 if assumption is None else found.truths(0)
    require(looked_at & ~found.truths(1) == 0, "the condition fails at a point of one period")
    return _result(found)


def _cost(goal: Cost, counts: Counts, assumption: int | None) -> dict[str, object]:
    program, rule = goal.program, warp_rule(goal.instruction)
    counted = goal.active if assumption is None else assumption
    found = table(program, (goal.address, goal.active, counted), [*counts, (goal.lane, LANES)])
    active = found.flags(found.truths(1) & found.truths(2))
    addresses = found.numbers(0)
    worst = (0, 0)
    seen: dict[tuple[int | None, ...], tuple[int, int]] = {}
    for start in range(0, found.points, LANES):
        row = tuple(addresses[lane] if active[lane] else None for lane in range(start, start + LANES))
        if row not in seen:
            seen[row] = warp_cost(rule, row)
            wavefronts, minimum = seen[row]
            limit = goal.at_most[0] if goal.at_most else minimum
            require(wavefronts <= limit, f"a warp of one period takes {wavefronts} wavefronts")
            worst = max(worst, (wavefronts, minimum))
    return _result(found, wavefronts=worst[0], minimum=worst[1])


def _injective(goal: Injective, counts: Counts, assumption: int | None) -> dict[str, object]:
    require(not goal.outer, "periods do not look through an outer map")
    each = [(place, goal.program[place].number) for place in goal.distinct]
    found = table(goal.program, (goal.inner, goal.assumption), [*counts, *each])
    everywhere = (1 << found.points) - 1
    positions, assumed = found.numbers(0), found.flags(everywhere if assumption is None else found.truths(1))
    size = prod(count for _, count in each)
    for start in range(0, found.points, size):
        taken = sorted(compress(positions[start : start + size], assumed[start : start + size]))
        near = any(b - a < goal.extent for a, b in pairwise(taken))
        require(not near, "two points of one period meet")
    return _result(found)


def _covers(goal: Covers, counts: Counts) -> dict[str, object]:
    """Count the ranges in one period: points and elements move together."""
    program = goal.program
    points = [(place, program[place].number) for place in goal.points]
    cells = [(place, program[place].number) for place in goal.elements]
    touching = table(program, (goal.address, goal.active, goal.assumption), [*counts, *points])
    touched = table(program, (goal.position,), [*counts, *cells])
    addresses, positions = touching.numbers(0), touched.numbers(0)
    active = touching.flags(touching.truths(1) & touching.truths(2))
    shares = prod(count for _, count in counts)
    size, room = touching.points // shares, touched.points // shares
    for share in range(shares):
        here = slice(share * size, (share + 1) * size)
        starts = sorted(compress(addresses[here], active[here]))
        for position in positions[share * room : (share + 1) * room]:
            # A range meets an element unless it ends before it or begins after it.
            met = bisect_left(starts, position + goal.extent) - bisect_right(starts, position - goal.reach)
            require(met == goal.times, f"an element is met by {met} points")
    return _result(touching, elements=touched.points, elements_sha256=touched.digest())


def _apart(goal: Apart, counts: Counts) -> dict[str, object]:
    """In one period of what the sides share, no two ranges meet where the condition holds."""
    program = goal.program
    own = [[(place, program[place].number) for place in side] for side in (goal.first, goal.second)]
    tables = [
        table(program, (root,), [*counts, *side])
        for root, side in zip((goal.first_position, goal.second_position), own, strict=True)
    ]
    where = [found.numbers(0) for found in tables]
    shares = prod(count for _, count in counts)
    sizes = [found.points // shares for found in tables]
    allowed = _Condition(goal, counts, own)
    for share in range(shares):
        first, second = (where[i][share * sizes[i] : (share + 1) * sizes[i]] for i in (0, 1))
        for i, j in _meetings(first, goal.first_extent, second, goal.second_extent):
            require(not allowed.holds(share, i, j), "two ranges of one period meet")
    return _result(tables[0], others=tables[1].points, others_sha256=tables[1].digest())


def _meetings(
    first: Sequence[int], first_extent: int, second: Sequence[int], second_extent: int
) -> Iterator[tuple[int, int]]:
    """The pairs of ranges that share a unit."""
    order = sorted(range(len(first)), key=first.__getitem__)
    starts = [first[i] for i in order]
    for j, position in enumerate(second):
        low = bisect_right(starts, position - first_extent)
        for place in range(low, bisect_left(starts, position + second_extent)):
            yield order[place], j


class _Condition:
    """Which pairs of points count. Points have numbers in the tables; answers are kept."""

    def __init__(self, goal: Apart, counts: Counts, own: Sequence[Counts]) -> None:
        self.goal, self.boxes = goal, (counts, *own)
        self.reads = {p for p in reachable(goal.program, [goal.condition]) if goal.program[p].operator == "var"}
        self.known: dict[tuple[int, ...], bool] = {}

    def holds(self, *numbers_: int) -> bool:
        """Whether the condition is 1 for a point of what is shared and one of each side."""
        program = self.goal.program
        values: dict[int, int] = {}
        for box, number in zip(self.boxes, numbers_, strict=True):
            rest = number
            for place, count in reversed(box):
                rest, value = divmod(rest, count)
                if place in self.reads:
                    values[place] = value
        key = tuple(values.values())
        if key not in self.known:
            point = {line.name: 0 for line in program if line.operator == "var"}
            point |= {program[place].name: value for place, value in values.items()}
            self.known[key] = evaluate(program, point)[self.goal.condition] == 1
        return self.known[key]
