"""The witness of periods: how many values of each variable stand for all, and the fingerprint of the values there.

Each period is checked against the program line by line (`steps`), then every point of one period is evaluated.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from itertools import compress, pairwise
from math import lcm, prod
from typing import assert_never

from swzverify.certificates.affine import columns, forms, numbering
from swzverify.certificates.program import evaluate, reachable
from swzverify.certificates.statement import Always, Apart, Cost, Covers, Injective, Statement
from swzverify.certificates.steps import steps
from swzverify.certificates.table import Table, table
from swzverify.certificates.warp_rule import LANES, LINE_BYTES, WORD_BYTES, warp_cost, warp_rule
from swzverify.certificates.witness import Data, WitnessError, periods_of, require

Periods = Mapping[str, int]
Counts = list[tuple[int, int]]


def find_residues(statement: Statement, periods: Periods) -> dict[str, object] | None:
    """The witness from periods that are proposed; None where they, or the statement, do not hold."""
    try:
        found = _examine(statement, {"periods": dict(periods)})
    except WitnessError:
        return None
    return {"periods": dict(periods), **found}


def check_residues(statement: Statement, data: Data) -> None:
    """Refuse, by WitnessError, a witness that does not show the statement."""
    for name, value in _examine(statement, data).items():
        require(data.get(name) == value, f"{name!r} is {data.get(name)}, the expression gives {value}")


def _examine(statement: Statement, data: Data) -> dict[str, object]:
    """Check the periods, evaluate one of each, and say what came of it; refused where the statement fails."""
    try:
        match statement:
            case Always():
                return _always(statement, data)
            case Cost():
                return _cost(statement, data)
            case Injective():
                return _injective(statement, data)
            case Covers():
                return _covers(statement, data)
            case Apart():
                return _apart(statement, data)
            case _:
                assert_never(statement)
    except ValueError as error:
        raise WitnessError(str(error)) from None


def _still(statement: Statement, counts: Counts, roots: Sequence[int]) -> None:
    """Some lines have the same value again after each period."""
    program = statement.program
    for place, count in counts:
        if count < program[place].number:
            after = steps(program, place, count)
            for root in roots:
                one = after[root]
                require(one is not None and one.still, f"{count} is no period of {program[place].name}")


def _alike(statement: Statement, counts: Counts, roots: Sequence[int]) -> None:
    """Some lines grow by the same number, exactly, after each period."""
    program = statement.program
    for place, count in counts:
        if count < program[place].number:
            found = [steps(program, place, count)[root] for root in roots]
            same = all(one is not None and one.exact and one == found[0] for one in found)
            require(same, f"positions do not move together every {count} values of {program[place].name}")


def _result(found: Table, **more: object) -> dict[str, object]:
    return {"points": found.points, "sha256": found.digest(), **more}


def _always(goal: Always, data: Data) -> dict[str, object]:
    counts = periods_of(data, goal.program, goal.variables)
    _still(goal, counts, (goal.assumption, goal.holds))
    found = table(goal.program, (goal.assumption, goal.holds), counts)
    require(found.truths(0) & ~found.truths(1) == 0, "the condition fails at a point of one period")
    return _result(found)


def _cost(goal: Cost, data: Data) -> dict[str, object]:
    program, rule = goal.program, warp_rule(goal.instruction)
    counts = periods_of(data, program, goal.free)
    _still(goal, counts, (goal.active, goal.assumption))
    unit = lcm(LINE_BYTES if rule.octets else WORD_BYTES, rule.width_bytes)
    for place, count in counts:
        if count < program[place].number and not _turns(goal, place, count, unit):
            require(_flips(goal, place, rule.width_bytes), f"{count} is no period of {program[place].name}")
    found = table(program, (goal.address, goal.active, goal.assumption), [*counts, (goal.lane, LANES)])
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


def _turns(goal: Cost, place: int, count: int, unit: int) -> bool:
    """Every address grows by the same multiple of the unit: banks turn, and equal stays equal."""
    one = steps(goal.program, place, count)[goal.address]
    whole = one is not None and (one.exact or goal.program[goal.address].width >= LINE_BYTES.bit_length() - 1)
    return whole and one is not None and one.increase % unit == 0


def _flips(goal: Cost, place: int, width_bytes: int) -> bool:
    """The variable only flips address bits, the same in every lane, and none below the width."""
    variables = (goal.lane, *goal.free)
    rows = [form for form in forms(goal.program, variables, [goal.address])[0] if form is not None]
    first = numbering(goal.program, variables)[place]
    flipped = columns(rows, range(first, first + goal.program[place].width))
    return len(rows) == goal.program[goal.address].width and not any(c & (width_bytes - 1) for c in flipped)


def _injective(goal: Injective, data: Data) -> dict[str, object]:
    require(not goal.outer, "periods do not look through an outer map")
    program = goal.program
    counts = periods_of(data, program, goal.shared)
    _still(goal, counts, (goal.assumption,))
    _alike(goal, counts, (goal.inner,))
    each = [(place, program[place].number) for place in goal.distinct]
    found = table(program, (goal.inner, goal.assumption), [*counts, *each])
    positions, assumed = found.numbers(0), found.flags(found.truths(1))
    size = prod(count for _, count in each)
    for start in range(0, found.points, size):
        taken = sorted(compress(positions[start : start + size], assumed[start : start + size]))
        near = any(b - a < goal.extent for a, b in pairwise(taken))
        require(not near, "two points of one period meet")
    return _result(found)


def _covers(goal: Covers, data: Data) -> dict[str, object]:
    """Points and elements move together, so that one period of what they share tells all; then ranges are counted."""
    program = goal.program
    counts = periods_of(data, program, goal.shared)
    _still(goal, counts, (goal.assumption, goal.active))
    _alike(goal, counts, (goal.address, goal.position))
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


def _apart(goal: Apart, data: Data) -> dict[str, object]:
    """Every pair of ranges that meet breaks the condition; one period of what the sides share."""
    program = goal.program
    counts = periods_of(data, program, goal.shared)
    _still(goal, counts, (goal.condition,))
    _alike(goal, counts, (goal.first_position, goal.second_position))
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
    """Which pairs count; points are given by their numbers in the tables, and answers are kept."""

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
