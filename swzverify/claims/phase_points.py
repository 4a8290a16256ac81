"""Two steps of a phase at a time: their threads, iterations and bytes, as obligations and in plain integers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from swzverify.claims.access_points import access_enough
from swzverify.claims.verdict import Counterexample, Row
from swzverify.engines.obligations import Apart, Arrays, Numbers, Side, Truths, of_lane
from swzverify.hardware import LANES
from swzverify.ir import integers as ints
from swzverify.ir.expr import TRUE, Comparison, Expr, Var, compare, conjunction, negation, substitute, var
from swzverify.ir.integers import Integer
from swzverify.subjects import Access
from swzverify.subjects.loop import LANE, WARP
from swzverify.subjects.phase import Part, Phase, Place, Run
from swzverify.subjects.phase_meeting import Meeting, Who
from swzverify.subjects.plain_access import LaneRecord

P, Q = "p.", "q."
"""What the names of the variables of the two sides begin with."""
COLUMNS = ("step", "thread", "warp", "lane", "iteration", "address")


@dataclass(frozen=True, slots=True)
class Turn:
    """The iteration of the phase in which a step runs: a number, or a variable that counts from `first`."""

    first: int
    node: Var | None = None

    @property
    def value(self) -> Integer:
        """The iteration over the variable."""
        first = ints.integer(self.first)
        return first if self.node is None else ints.add(ints.variable(self.node), first)

    def of(self, arrays: Arrays) -> Numbers:
        """The iteration in plain integers."""
        return np.full(1, self.first, dtype=np.int64) if self.node is None else arrays[self.node.name] + self.first

    def at(self, point: Mapping[str, int]) -> int:
        """The iteration at one point."""
        return self.first + (0 if self.node is None else point[self.node.name])


@dataclass(frozen=True)
class RunPoints:
    """A step that runs an access: its threads and free loops under names of one side, in one iteration."""

    run: Run
    prefix: str
    turn: Turn
    scale: int

    @property
    def access(self) -> Access:
        """The access."""
        return self.run.access

    @cached_property
    def own(self) -> dict[Var, Var]:
        """The variables that are this side's own, by those of the access."""
        bound = {each.loop for each in self.run.bound}
        shared = self.access.origin.variable
        nodes = (node for node in self.access.variables if node is not shared and node.name not in bound)
        return {node: var(self.prefix + node.name, node.limit) for node in nodes}

    @property
    def inner(self) -> list[str]:
        """The access's loops that the step runs through."""
        bound = {each.loop for each in self.run.bound}
        return [loop.name for loop in self.access.loops if loop.name not in bound]

    @property
    def variables(self) -> tuple[Var, ...]:
        """This side's own variables; that of its iteration is added by the relation."""
        return tuple(self.own.values())

    def expression(self, root: Expr) -> Expr:
        """An expression of the access over this side's variables."""
        new: dict[Var, Expr] = dict(self.own)
        for node in self.access.free:
            bound = next((each for each in self.run.bound if each.loop == node.name), None)
            if bound is not None:
                value = self.turn.value if bound.follows else ints.integer(0)
                new[node] = ints.resize(ints.add(value, ints.integer(bound.number)), node.width)
        return substitute(root, new)

    @property
    def position(self) -> Integer:
        """Where the lane's bytes begin, in the units that both sides count."""
        found = self.access.lowered.position
        wide = Integer(self.expression(found.bits), found.low, found.high)
        return ints.multiply(wide, ints.integer(self.scale))

    @property
    def extent(self) -> int:
        """The length of the lane's bytes, in the same units."""
        return self.access.width_units * self.scale

    @property
    def active(self) -> Expr:
        """Whether the lane runs the access."""
        lowered = self.access.lowered
        return conjunction(self.expression(each) for each in (lowered.assumption, lowered.active, self._of_role))

    @property
    def _of_role(self) -> Expr:
        """Whether the thread has the step's role."""
        role = self.run.role
        if role is None:
            return TRUE
        named = {node.name: ints.variable(node) for node in self.access.variables}
        warp = ints.multiply(named[WARP], ints.integer(LANES)) if WARP in named else ints.integer(0)
        thread = ints.add(warp, named[LANE])
        outside = [
            negation(
                conjunction(
                    ints.truth(each)
                    for each in (ints.less_equal(ints.integer(first), thread), ints.less(thread, ints.integer(end)))
                )
            )
            for first, end in role.ranges
        ]
        return negation(conjunction(outside))

    def plain(self, arrays: Arrays) -> tuple[Truths, Numbers]:
        """The plain definition of both: whether the lane runs it, and where its bytes begin."""
        point = {node.name: arrays[mine.name] for node, mine in self.own.items()}
        shared = self.access.origin.variable
        if shared is not None:
            point[shared.name] = arrays[shared.name]
        for each in self.run.bound:
            turn = self.turn.of(arrays) if each.follows else np.zeros(1, dtype=np.int64)
            point[each.loop] = turn + each.number
        assumed, active, position, _ = self.access.definition(point)
        if self.run.role is not None:
            own = np.zeros(self.access.warps * LANES, dtype=np.bool_)
            own[self.run.role.threads] = True
            active = active & own[np.asarray(point.get(WARP, 0)) * LANES + point[LANE]]
        return assumed & active, np.asarray(position * self.scale)

    def side(self, variables: tuple[Var, ...]) -> Side:
        """This side of an obligation."""
        return Side(
            variables,
            self.position.bits,
            self.extent,
            lambda arrays: self.plain(arrays)[1],
            self.active,
            lambda arrays: self.plain(arrays)[0],
        )

    def record(self, point: Mapping[str, int]) -> tuple[int, LaneRecord, dict[str, int]]:
        """The thread at a point, what it touches, and the values of the access's variables."""
        here = {node.name: point[mine.name] for node, mine in self.own.items()}
        here |= {each.loop: each.at(self.turn.at(point)) for each in self.run.bound}
        shared = self.access.origin.variable
        if shared is not None:
            here[shared.name] = point[shared.name]
        lane, warp = here.pop(LANE), here.get(WARP, 0)
        names = [each.name for each in self.access.read_unknowns]
        others = {of_lane(name, each): 0 for name in names for each in range(LANES)}
        whole = {**here, **others, **{of_lane(name, lane): here.pop(name) for name in names}}
        has_role = self.run.role is None or self.run.role.has(warp * LANES + lane)
        if not self.access.assumed_at(here) or not has_role:
            return warp * LANES + lane, LaneRecord(lane, None, None, None), here
        return warp * LANES + lane, self.access.lanes_at(whole)[lane], here


@dataclass(frozen=True)
class Pair:
    """Two steps in two iterations that stand to each other as a meeting says."""

    phase: Phase
    meeting: Meeting

    @cached_property
    def turns(self) -> tuple[Turn, Turn]:
        """The iterations of the two steps."""
        (first, second), gap = self.places, self.meeting.gap
        count, name = self.phase.count, self.phase.variable
        if self.meeting.unrelated:
            rooms = [self._room(each, 0) for each in self.places]
            return Turn(0, var(P + name, rooms[0])), Turn(0, var(Q + name, rooms[1]))
        if second.part is Part.AFTER and count is not None:
            return self._ending(count)
        if self.meeting.at_least:
            room = self._room(second, gap)
            return self._first(name, self._room(first, 0)), Turn(gap, var(Q + name, max(1, room)))
        if first.part is Part.BEFORE:
            return Turn(0), Turn(gap)
        start = self.meeting.start
        node = var(name, max(1, min(self._room(first, start), self._room(second, gap + start))))
        return Turn(start, node), Turn(gap + start, node)

    def _first(self, name: str, room: int) -> Turn:
        return Turn(0) if self.meeting.first.part is Part.BEFORE else Turn(0, var(P + name, max(1, room)))

    def _ending(self, count: int) -> tuple[Turn, Turn]:
        """Of a loop with a number of iterations, `after` is the one behind its last."""
        first, gap = self.meeting.first, self.meeting.gap
        if first.part is Part.STEPS and self.meeting.at_least:
            return Turn(0, var(P + self.phase.variable, count - gap + 1)), Turn(count)
        return Turn(0 if first.part is Part.BEFORE else count - gap), Turn(count)

    @property
    def places(self) -> tuple[Place, Place]:
        """The two steps."""
        return self.meeting.first, self.meeting.second

    def _room(self, place: Place, gap: int) -> int:
        """How many iterations from `gap` on the phase and the access have there."""
        count = self.phase.count
        rooms = [self.phase.run_at(place).room]
        if count is not None:
            rooms.append(count + (place.part is not Part.STEPS))
        return min(rooms) - gap

    @property
    def is_possible(self) -> bool:
        """Whether there are two such iterations."""
        if self.meeting.unrelated:
            return all(self._room(each, 0) > 0 for each in self.places)
        if self.meeting.second.part is Part.AFTER and self.phase.count is not None:
            return self.phase.count >= self.meeting.gap
        return self._room(self.meeting.second, self.meeting.gap + self.meeting.start) > 0

    @cached_property
    def sides(self) -> tuple[RunPoints, RunPoints]:
        """The two steps over variables."""
        runs = [self.phase.run_at(each) for each in self.places]
        units = [8 // run.access.unit_bits for run in runs]
        scale = max(units)
        first, second = (
            RunPoints(run, prefix, turn, scale // unit)
            for run, prefix, turn, unit in zip(runs, (P, Q), self.turns, units, strict=True)
        )
        return first, second

    @property
    def tags(self) -> tuple[tuple[str, str], ...]:
        """The variables in one of which the threads differ."""
        names: list[str] = []
        match self.meeting.who:
            case Who.WARPS:
                names = [WARP]
            case Who.THREADS:
                names = [] if self._of_warp else [WARP, LANE]
            case Who.ANY:
                names = [WARP, LANE, *self.sides[0].inner] if self.meeting.is_one_step else []
        return tuple((P + name, Q + name) for name in names)

    @property
    def _of_warp(self) -> bool:
        """Whether a lane of one step may touch what another lane's address names, in another step."""
        # No byte of a matrix instruction belongs to one lane: any lane of the warp may touch it.
        return any(side.run.is_of_warp for side in self.sides) and self.meeting.first != self.meeting.second

    def obligation(self) -> Apart:
        """No two threads touch one byte."""
        first, second = self.sides
        bases = [each.access.origin.variable for each in self.sides]
        shared = tuple(dict.fromkeys(node for node in bases if node is not None))
        turns = [turn.node for turn in self.turns]
        related_turns = turns[0] is not None and turns[0] is turns[1]
        if related_turns:
            shared = (*shared, *(node for node in turns[:1] if node is not None))
        own = [
            (*side.variables, *(() if related_turns or node is None else (node,)))
            for side, node in zip(self.sides, turns, strict=True)
        ]
        tags = self.tags
        equal = [compare(Comparison.EQ, *(_named(own[at], pair[at]) for at in range(2))) for pair in tags]
        condition = negation(conjunction(equal)) if tags else TRUE
        if self.meeting.at_least and turns[0] is not None and turns[1] is not None:
            later = ints.truth(
                ints.less_equal(ints.add(self.turns[0].value, ints.integer(self.meeting.gap)), self.turns[1].value)
            )
            condition, tags = conjunction([condition, later]), ()
            if later is TRUE:
                tags = self.tags
        enough = dict[str, int]()
        for side in self.sides:
            for name, count in access_enough(side.access, 1):
                enough[name] = max(count, enough.get(name, 0))
        return Apart(shared, tuple(enough.items()), first.side(own[0]), second.side(own[1]), condition, tags)

    def iterations_at(self, point: Mapping[str, int]) -> tuple[int, int]:
        """The iterations of both steps at a point."""
        return self.turns[0].at(point), self.turns[1].at(point)

    def stand_so(self, iterations: tuple[int, int]) -> bool:
        """Whether the two iterations stand to each other as the meeting says."""
        between = iterations[1] - iterations[0]
        if self.meeting.unrelated:
            return True
        return between >= self.meeting.gap if self.meeting.at_least else between == self.meeting.gap

    def describe(self) -> str:
        """The pair in words."""
        gap, (first, second) = self.meeting.gap, (self.phase.describe(each) for each in self.places)
        if self.meeting.unrelated:
            return f"{first} and {second}, in any two iterations"
        if self.meeting.at_least:
            return f"{first} and {second}, {gap} or more iterations later"
        later = f", {gap} iteration{'s' * (gap > 1)} later" if gap else ""
        return f"{first} and {second}{later}"

    def replay(self, point: Mapping[str, int]) -> Counterexample | None:
        """The two threads in plain integers; None if they do not meet."""
        iterations = self.iterations_at(point)
        found = [side.record(point) for side in self.sides]
        (thread, one, _), (other, two, _) = found
        if one.address_bytes is None or two.address_bytes is None or not self.stand_so(iterations):
            return None
        if not self._may_be(thread, other, (found[0][2], found[1][2])):
            return None
        begins = [8 * (each.address_bytes or 0) + each.bit for each in (one, two)]
        ends = [begin + 8 * side.access.instruction.width_bytes for begin, side in zip(begins, self.sides, strict=True)]
        if max(begins) >= min(ends):
            return None
        byte, name = max(begins) // 8, self.phase.variable
        told = [
            f"{_whose(side, each)} {'writes' if side.run.writes else 'reads'} byte {byte} in {name} = {turn}, "
            f"{self.phase.describe(place)}"
            for side, each, turn, place in zip(self.sides, (thread, other), iterations, self.places, strict=True)
        ]
        rows = tuple(
            Row((self.phase.describe(place), each, each // LANES, each % LANES, turn, record.address_bytes), "x")
            for place, each, turn, record in zip(self.places, (thread, other), iterations, (one, two), strict=True)
        )
        binding = {f"{name} of the first": iterations[0], f"{name} of the second": iterations[1], "byte": byte}
        base = self.sides[0].access.origin
        if base.variable is not None:
            binding["base"] = base.at(point)
        note = f"{told[0]}; {told[1]}; {self._missing()}"
        return Counterexample(binding, note, COLUMNS, rows)

    def may_never_be(self, point: Mapping[str, int]) -> bool:
        """Whether no run was found in which the two threads come to both steps: only roles leave this open."""
        if not self.phase.roles:
            return False
        from swzverify.subjects.role_run import Stop, can_meet  # noqa: PLC0415 - few phases have roles

        (thread, *_), (other, *_) = (side.record(point) for side in self.sides)
        first, second = self.iterations_at(point)
        others = [other]
        if thread == other and self._of_warp:
            others = [at for at in range(other // LANES * LANES, other // LANES * LANES + LANES) if at != thread]
        stops = (Stop(thread, self.places[0], first), Stop(others[0], self.places[1], second))
        return not can_meet(self.phase, *stops)

    def _may_be(self, thread: int, other: int, loops: tuple[Mapping[str, int], Mapping[str, int]]) -> bool:
        """Whether these two threads are some of which nothing orders the two steps."""
        if self.meeting.who is Who.WARPS:
            return thread // LANES != other // LANES
        if self.meeting.who is Who.THREADS:
            return self._of_warp or thread != other
        if not self.meeting.is_one_step:
            return True
        return thread != other or any(loops[0][name] != loops[1][name] for name in self.sides[0].inner)

    def _missing(self) -> str:
        """What would order the two, in words."""
        if self.phase.roles and not self.meeting.is_one_step:
            return "no barrier orders them"
        match self.meeting.who:
            case Who.WARPS:
                return "no barrier lies between"
            case Who.THREADS:
                one = self.meeting.is_one_step
                return "one step does both" if one else "no barrier lies between"
            case Who.ANY:
                return "the copy was not waited for"


def _whose(side: RunPoints, thread: int) -> str:
    return f"the warp of thread {thread}" if side.run.is_of_warp else f"thread {thread}"


def _named(nodes: tuple[Var, ...], name: str) -> Var:
    return next(node for node in nodes if node.name == name)
