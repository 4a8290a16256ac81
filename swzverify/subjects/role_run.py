"""A run of a phase with roles, one step of one thread at a time: whether it ends, and whether two threads meet in it.

Two touches race if a run comes to a point where both are the next step of their threads. An operation is under way
from its start until it completes. Threads that do the same move together.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import product

from swzverify.subjects.phase import Part, Phase, Place
from swzverify.subjects.role_lines import Event, Kind, Object, lines_of
from swzverify.subjects.role_order import MOST_UNROLLED, period_of

MAX_STEPS_RUN = 400_000
"""Steps of all lines after which a run is given up."""


@dataclass(frozen=True, slots=True)
class Stop:
    """A thread before a step in an iteration, or the operation that it started there."""

    thread: int
    place: Place
    iteration: int


@dataclass
class RoleRun:
    """The lines of a phase, each before its next event; `iterations` is the number of iterations.

    Attributes:
        phase: The phase.
        iterations: The iterations of the loop.
        whole: Whether the steps behind the loop run.
        alone: The threads that move on their own.
        stops: Where a line has to stop.
        holds_fences: Whether no thread does a proxy fence.
        spent: The events that were done.
    """

    phase: Phase
    iterations: int
    whole: bool = True
    alone: tuple[int, ...] = ()
    stops: dict[int, int] = field(default_factory=dict[int, int])
    holds_fences: bool = False
    spent: int = 0

    def __post_init__(self) -> None:
        """Nothing has been done."""
        self.lines = lines_of(self.phase, self.iterations, whole=self.whole, alone=self.alone)
        self.at = [0] * len(self.lines.all)
        self.phases: dict[Object, int] = defaultdict(int)
        self.pending: dict[Object, int] = defaultdict(int)
        self.bytes: dict[Object, int] = defaultdict(int)
        self._tickets: dict[tuple[int, Object], int] = {}

    def next_event(self, number: int) -> Event | None:
        """The event that is next; None where the line has to stop, or has none."""
        line, at = self.lines.all[number], self.at[number]
        if line.is_async or at == len(line.events) or at == self.stops.get(number):
            return None
        return line.events[at]

    def is_under_way(self, number: int) -> bool:
        """Whether some thread has started the next operation of a line."""
        line, at = self.lines.all[number], self.at[number]
        return at < len(line.operations) and any(self.at[own] > start for own, start in line.operations[at].starts)

    def _operate(self, number: int) -> bool:
        """Complete the next operation of a line; whether that was possible."""
        line, at = self.lines.all[number], self.at[number]
        if at == len(line.operations) or at == self.stops.get(number):
            return False
        operation = line.operations[at]
        if any(self.at[own] <= start for own, start in operation.starts):
            return False
        self.at[number] += 1
        self.spent += 1
        if operation.those is not None:
            self.bytes[operation.those] -= operation.bytes
            self._complete(operation.those)
        return True

    def _move(self, number: int) -> bool:
        """Do the next event of a line; whether that was possible."""
        event = self.next_event(number)
        if event is None:
            return False
        those = event.those
        if event.kind is Kind.WAIT and (self.phases[those] - 1) % 2 != event.number:
            return False
        if event.kind is Kind.PASS and self.phases[those] == self._tickets[number, those]:
            return False
        if event.kind is Kind.DRAIN and self.at[event.line] < event.number:
            return False
        if event.kind is Kind.FENCE and self.holds_fences:
            return False
        self.at[number] += 1
        self.spent += 1
        if event.kind is Kind.ARRIVE:
            self._arrive(number, event)
        return True

    def _arrive(self, number: int, event: Event) -> None:
        """All threads of a line arrive, one after the other."""
        those, left = event.those, self.lines.all[number].count
        while left:
            room = self.lines.counts[those] - self.pending[those]
            some = min(left, room) if room > 0 else left
            self._tickets[number, those] = self.phases[those]
            self.pending[those] += some
            self.bytes[those] += some * event.number
            left -= some
            self._complete(those)

    def _complete(self, those: Object) -> None:
        """Begin the next phase of an object if this one is complete, and let those go on that wait for it."""
        if self.pending[those] != self.lines.counts[those] or self.bytes[those]:
            return
        self.pending[those] = 0
        self.phases[those] += 1
        for number in range(len(self.lines.all)):
            event = self.next_event(number)
            if event is not None and event.kind in (Kind.WAIT, Kind.PASS) and event.those == those:
                self._move(number)

    def go(self, first: Iterable[int] = ()) -> None:
        """Go on until nobody can; the lines in `first` go whenever they can."""
        moved = True
        while moved and self.spent < MAX_STEPS_RUN:
            moved = False
            for number in range(len(self.lines.all)):
                for each in first:
                    while self._move(each):
                        moved = True
                moved |= self._operate(number) if self.lines.all[number].is_async else self._move(number)

    @property
    def is_through(self) -> bool:
        """Whether every line has done all its events, and every operation is complete."""
        return all(
            self.at[number] == len(line.operations if line.is_async else line.events)
            for number, line in enumerate(self.lines.all)
        )

    def state(self, objects: Iterable[Object]) -> list[tuple[int, int, int]]:
        """What objects hold, as far as waits see it."""
        return [(self.phases[those] % 2, self.pending[those], self.bytes[those]) for those in objects]

    @property
    def waiting(self) -> str:
        """A wait that nobody lets pass, in words; empty if all threads are through."""
        events = [(line, self.next_event(number)) for number, line in enumerate(self.lines.all)]
        # Who waits for operations waits for threads that have not started them yet.
        for line, event in sorted(events, key=lambda each: each[1] is not None and each[1].kind is Kind.DRAIN):
            if event is not None:
                those, name = event.those, self.phase.variable
                bytes_ = f", and {self.bytes[those]} bytes more than were copied" if self.bytes[those] else ""
                return (
                    f"thread {line.threads[0]} never gets through {self.phase.describe(event.place)} in {name} = "
                    f"{event.iteration}: {self.phases[those]} phases are complete, and the next one has "
                    f"{self.pending[those]} of {self.lines.counts.get(those, 0)} arrivals{bytes_}"
                )
        return ""


def find_hang(phase: Phase) -> str:
    """A wait that some thread never gets through, in words; empty if none was found.

    All go on as far as they can; once without a delay, and once for each role with its first thread delayed until the
    others cannot go on.
    """
    most = min(2 * period_of(phase), MOST_UNROLLED)
    counts = (most, most + 1) if phase.count is None else (min(most, phase.count),)
    for count, late in product(counts, ((), *((role.threads[0],) for role in phase.roles))):
        run = RoleRun(phase, count, phase.count in (None, count), alone=late)
        run.stops = dict.fromkeys((run.lines.at[each] for each in late), 0)
        run.go()
        run.stops = {}
        run.go()
        if run.waiting and run.spent < MAX_STEPS_RUN:
            return run.waiting
    return ""


def can_meet(phase: Phase, first: Stop, second: Stop, *, unfenced: bool = False) -> bool:
    """Whether a run was found in which two threads are before two steps at the same time.

    Of a write and an operation that are `unfenced`: a run in which the write is done, the operation is under way, and
    nobody did a proxy fence between.
    """
    ends = [each for each in (first, second) if each.place.part is Part.AFTER]
    period = period_of(phase)
    most = max(each.iteration for each in ends or (first, second))
    inside = [each.iteration for each in (first, second) if each.place.part is not Part.BEFORE]
    shift = 0
    if len(inside) == 2 and period <= MOST_UNROLLED and _is_fresh_after(phase, period):
        # All threads can come to each multiple of the period together, and there everything is as in the beginning.
        shift = min(inside) // period * period
    count = most - shift if ends else most - shift + 1 + period
    if phase.count is not None:
        count = min(count, phase.count - shift)
    whole = phase.count is None or bool(ends) or phase.count == count + shift
    if count * len(phase.steps) > MAX_STEPS_RUN:
        return False
    alone = tuple(dict.fromkeys((first.thread, second.thread)))
    run = RoleRun(phase, count, whole, alone=alone)
    where = [_find(run, each, shift) for each in (first, second)]
    if None in where or where[0] == where[1]:
        return False
    stops = [each for each in where if each is not None]
    if unfenced:
        return _meets_unfenced(run, *stops)
    if stops[0][0] == stops[1][0]:
        return False
    run.stops = dict(stops)
    run.go([number for number, _ in stops if not run.lines.all[number].is_async])
    return all(_is_there(run, number, at) for number, at in stops)


def _find(run: RoleRun, stop: Stop, shift: int) -> tuple[int, int] | None:
    """The line and the place in it of a step of a thread, or of the operation that it starts."""
    iteration = stop.iteration - (0 if stop.place.part is Part.BEFORE else shift)
    own = run.lines.at.get(stop.thread)
    for number, line in enumerate(run.lines.all):
        if line.is_async:
            for at, each in enumerate(line.operations):
                starts = any(of == own for of, _ in each.starts)
                if each.place == stop.place and each.iteration == iteration and starts:
                    return number, at
        elif number == own:
            for at, event in enumerate(line.events):
                if event.place == stop.place and event.iteration == iteration and event.kind is Kind.TOUCH:
                    return number, at
    return None


def _is_there(run: RoleRun, number: int, at: int) -> bool:
    """Whether a line is before an event, or its operation is under way."""
    return run.at[number] == at and (not run.lines.all[number].is_async or run.is_under_way(number))


def _meets_unfenced(run: RoleRun, one: tuple[int, int], other: tuple[int, int]) -> bool:
    """Whether an operation is under way with a write behind which nobody did a proxy fence."""
    write, operation = (other, one) if run.lines.all[one[0]].is_async else (one, other)
    run.stops = dict((write, operation))
    run.go([write[0]])
    if run.at[write[0]] != write[1] or run.at[operation[0]] > operation[1]:
        return False
    run.stops, run.holds_fences = dict([operation]), True
    run.go()
    return run.at[write[0]] > write[1] and _is_there(run, *operation)


def _is_fresh_after(phase: Phase, period: int) -> bool:
    """Whether everything is as before the loop after so many iterations of all threads."""
    runs = [RoleRun(phase, count, whole=False) for count in (0, period)]
    for run in runs:
        run.go()
    start, end = (run.state(runs[1].lines.counts) for run in runs)
    return all(run.is_through for run in runs) and start == end
