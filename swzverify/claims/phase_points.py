"""Two steps of a phase at a time: their threads, iterations and bytes, as obligations and in plain integers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import product

from swzverify.claims.access_points import access_enough
from swzverify.claims.run_points import P, Q, RunPoints, Turn
from swzverify.claims.verdict import Counterexample, Row
from swzverify.engines.obligations import Apart
from swzverify.hardware import LANES
from swzverify.ir import integers as ints
from swzverify.ir.expr import TRUE, Comparison, Var, compare, conjunction, negation, var
from swzverify.subjects.loop import LANE, WARP
from swzverify.subjects.phase import Part, Phase, Place
from swzverify.subjects.phase_meeting import Meeting, Who

COLUMNS = ("step", "thread", "warp", "lane", "iteration", "address")


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
            RunPoints(run, prefix, turn, scale // unit, threads)
            for run, prefix, turn, unit, threads in zip(
                runs, (P, Q), self.turns, units, self.meeting.threads, strict=True
            )
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
            case Who.ANY | Who.PROXY:
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

    @property
    def name(self) -> str:
        """What its obligation is called."""
        ranges = [each for each in self.meeting.threads if each is not None]
        return f"{self.describe()}: {self.meeting.who}" + "".join(f", {each}" for each in ranges)

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
        if any(len(side.run.starting) > 1 for side in self.sides):
            thread, other = self._meeting_threads(point) or (thread, other)
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
        return bool(self.phase.roles) and self._meeting_threads(point) is None

    def doubt(self, point: Mapping[str, int]) -> str:
        """Why the two threads may never come to both steps at once, in words; empty if a run was found."""
        if not self.may_never_be(point):
            return ""
        return f"{self.describe()}: nothing is known to order them, and no run was found in which they conflict"

    def _meeting_threads(self, point: Mapping[str, int]) -> tuple[int, int] | None:
        """Two threads of which a run was found that comes to both steps; of an operation, threads that start it."""
        from swzverify.subjects.role_run import Stop, can_meet  # noqa: PLC0415 - few phases have roles

        (thread, *_), (other, *_) = (side.record(point) for side in self.sides)
        first, second = self.iterations_at(point)
        ones, others = (side.candidates(at) for side, at in zip(self.sides, (thread, other), strict=True))
        for pair in product(ones, others):
            stops = Stop(pair[0], self.places[0], first), Stop(pair[1], self.places[1], second)
            if can_meet(self.phase, *stops, unfenced=self.meeting.who is Who.PROXY):
                return pair
        return None

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
        if self.meeting.who is Who.PROXY:
            return "no fence.proxy.async lies between"
        if self.phase.roles and not self.meeting.is_one_step:
            return "no barrier orders them"
        match self.meeting.who:
            case Who.WARPS:
                return "no barrier lies between"
            case Who.THREADS:
                one = self.meeting.is_one_step
                return "one step does both" if one else "no barrier lies between"
            case _:
                return "the copy was not waited for"


def _whose(side: RunPoints, thread: int) -> str:
    if side.run.proxy is not None:
        return f"the copy of thread {thread}" if side.run.writes else f"wgmma of the warp group of thread {thread}"
    return f"the warp of thread {thread}" if side.run.is_of_warp else f"thread {thread}"


def _named(nodes: tuple[Var, ...], name: str) -> Var:
    return next(node for node in nodes if node.name == name)
