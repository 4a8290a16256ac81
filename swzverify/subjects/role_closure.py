"""What each thread of a phase with roles knows to be done at each of its steps (docs/semantics.md, section 10).

A thread that waits knows a least number of complete phases of an object. If the threads that arrive there arrive in
turn, each of them has then made as many arrivals, and what it did before them comes first.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

from swzverify.subjects.role_lines import Event, Kind, Line, Lines, Object, Operation

_MEETS = (Kind.WAIT, Kind.PASS)
"""Events for which others have to come."""
Vector = list[int]
"""Of each line, how many of its first events (or operations) are done."""


def complete_after(least: int, parity: int) -> int:
    """How many phases are complete at least once a wait has passed, if `least` were known to be before it.

    It passes where the last complete phase has the parity; before the first phase that is 1.

    >>> complete_after(0, 0), complete_after(0, 1), complete_after(1, 1)
    (1, 0, 2)
    """
    return least + ((least - 1) % 2 != parity)


@dataclass
class Known:
    """What the threads of a line know at each of their events, or what comes before each operation.

    Attributes:
        line: The line.
        done: What is known of each line; of the own line it is about its other threads.
        fenced: The same, as far as a proxy fence is on the way.
        fences: How many of the own events come before the own last proxy fence.
        least: The phases that are known to be complete, by object.
        arrived: The own arrivals, by object.
    """

    line: Line
    done: list[Vector] = field(default_factory=list[Vector])
    fenced: list[Vector] = field(default_factory=list[Vector])
    fences: list[int] = field(default_factory=list[int])
    least: dict[Object, int] = field(default_factory=dict[Object, int])
    arrived: dict[Object, int] = field(default_factory=lambda: defaultdict[Object, int](int))

    @property
    def at(self) -> int:
        """How many events or operations are done."""
        return len(self.done)


@dataclass(frozen=True)
class Closure:
    """What all lines know, as far as nobody waits for what is not among their events.

    Objects that are `excluded` put nothing in order.
    """

    lines: Lines
    excluded: frozenset[Object] = frozenset()

    @cached_property
    def _arrivals(self) -> dict[Object, dict[int, list[int]]]:
        """Of each object the places of the arrivals and of the copies that complete there, by their line."""
        found: dict[Object, dict[int, list[int]]] = defaultdict(lambda: defaultdict(list))
        for number, line in enumerate(self.lines.all):
            for at, event in enumerate(line.events):
                if event.kind is Kind.ARRIVE:
                    found[event.those][number].append(at)
            for at, each in enumerate(line.operations):
                if each.those is not None:
                    found[each.those][number].append(at)
        return found

    @cached_property
    def _result(self) -> tuple[list[Known], set[Object]]:
        good = {each for each in self._arrivals if each not in self.excluded and self._adds_up(each)}
        while True:
            found = self._closure(good)
            bad = {each for each in good if not self._in_turn(found, each)}
            if not bad:
                return found, good
            good -= bad

    @property
    def known(self) -> list[Known]:
        """What each line knows, with the orders of all objects whose threads arrive in turn."""
        return self._result[0]

    @property
    def bad(self) -> set[Object]:
        """The objects that put nothing in order."""
        return set(self._arrivals) - self._good

    @property
    def _good(self) -> set[Object]:
        return self._result[1]

    def rests(self) -> Iterator[tuple[Event, Event | Operation]]:
        """Every wait that was done, with each arrival and each copy that it rests on."""
        for own in self.known:
            least: dict[Object, int] = {}
            arrived: dict[Object, int] = defaultdict(int)
            for event in own.line.events[: own.at]:
                turns = 0
                if event.kind is Kind.ARRIVE:
                    arrived[event.those] += 1
                elif event.kind is Kind.PASS:
                    turns = arrived[event.those]
                elif event.kind is Kind.WAIT:
                    turns = least[event.those] = complete_after(least.get(event.those, 0), event.number)
                for number, places in (
                    self._arrivals[event.those].items() if turns and event.those in self._good else ()
                ):
                    line = self.lines.all[number]
                    yield event, (line.operations if line.is_async else line.events)[places[turns - 1]]

    def relies_on_later(self) -> set[Object]:
        """The objects at which some wait rests on an arrival or a copy of a later iteration than its own."""
        return {waits.those for waits, each in self.rests() if each.iteration > waits.iteration}

    def partners(self, those: Object | None, number: int, at: int) -> list[int]:
        """The lines that have to have arrived at an object before a line arrives there again, or copies there."""
        if those is None or those not in self._good or self._arrivals[those][number][0] == at:
            return []
        own = self.lines.all[number]
        is_one = own.count == 1 and not own.is_async
        return [each for each in self._arrivals[those] if each != number or not is_one]

    def _adds_up(self, those: Object) -> bool:
        """Whether one arrival of each thread, and one copy of each line of copies, complete a phase."""
        threads = expected = copied = 0
        for number, places in self._arrivals[those].items():
            line = self.lines.all[number]
            bytes_ = {line.operations[at].bytes if line.is_async else line.events[at].number for at in places}
            if len(bytes_) > 1:
                return False
            if line.is_async:
                copied += bytes_.pop()
            else:
                threads += line.count
                expected += line.count * bytes_.pop()
        return threads == self.lines.counts[those] and expected == copied

    def _closure(self, good: set[Object]) -> list[Known]:
        found = [Known(line) for line in self.lines.all]
        moved = True
        while moved:
            moved = False
            for number, own in enumerate(found):
                step = self._start if own.line.is_async else self._advance
                while step(found, number, good):
                    moved = True
        return found

    def _advance(self, found: list[Known], number: int, good: set[Object]) -> bool:
        """Do the next event of a line of threads; whether that was possible."""
        own = found[number]
        at, events = len(own.done), own.line.events
        if at == len(events):
            return False
        event = events[at]
        kind, those = event.kind, event.those
        if at:
            done, fenced, fences = own.done[-1], own.fenced[-1], own.fences[-1]
        else:
            done = fenced = [0] * len(found)
            fences = 0
        if kind in _MEETS:
            least = own.arrived[those]
            if kind is Kind.WAIT:
                least = complete_after(own.least.get(those, 0), event.number)
            if those in good and least:
                joined = self._join(found, number, event, least)
                if joined is None:
                    return False
                done, fenced = _most(done, joined[0]), _most(fenced, joined[1])
            if kind is Kind.WAIT:
                own.least[those] = least
        elif kind is Kind.DRAIN:
            if len(found[event.line].done) < event.number:
                return False
            done = list(done)
            done[event.line] = max(done[event.line], event.number)
        elif kind is Kind.ARRIVE:
            own.arrived[those] += 1
        elif kind is Kind.FENCE:
            fenced, fences = done, at + 1
        own.done.append(done)
        own.fenced.append(fenced)
        own.fences.append(fences)
        return True

    def _join(self, found: list[Known], number: int, event: Event, least: int) -> tuple[Vector, Vector] | None:
        """What comes before the end of a phase; None where somebody has not yet done it."""
        done, fenced = [0] * len(found), [0] * len(found)
        for other, places in self._arrivals[event.those].items():
            if len(places) < least:
                return None
            place, theirs = places[least - 1], found[other]
            if place >= len(theirs.done):
                return None
            if theirs.line.is_async:
                # The end of a copy tells of nothing but the copy.
                done[other] = max(done[other], place + 1)
                continue
            done = _most(done, theirs.done[place])
            fenced = _most(fenced, theirs.fenced[place])
            if other != number or theirs.line.count > 1:
                done[other] = max(done[other], place + 1)
                fenced[other] = max(fenced[other], theirs.fences[place])
        return done, fenced

    def _start(self, found: list[Known], number: int, _: set[Object]) -> bool:
        """Start the next operation of a line; whether all threads that start it are there."""
        own = found[number]
        if own.at == len(own.line.operations):
            return False
        operation = own.line.operations[own.at]
        for line, at in operation.starts:
            if len(found[line].done) <= at:
                return False
        views = views_of(found, operation)
        done, fenced = views[0]
        for other_done, other_fenced in views[1:]:
            done, fenced = list(map(min, done, other_done)), list(map(min, fenced, other_fenced))
        own.done.append(done)
        own.fenced.append(fenced)
        return True

    def _in_turn(self, found: list[Known], those: Object) -> bool:
        """Whether nobody arrives for a phase before the phase before it is complete."""
        for number, places in self._arrivals[those].items():
            own = found[number]
            for turn, place in enumerate(places[1:]):
                if place >= own.at:
                    break
                for other, theirs in self._arrivals[those].items():
                    if other == number and own.line.count == 1 and not own.line.is_async:
                        continue
                    if turn >= len(theirs) or own.done[place][other] <= theirs[turn]:
                        return False
        return True


def views_of(found: list[Known], operation: Operation) -> list[tuple[Vector, Vector]]:
    """What comes before an operation in each line that starts it."""
    return [_before_start(found[line], line, at) for line, at in operation.starts]


def _most(one: Vector, other: Vector) -> Vector:
    """The greater of both, line by line; the very vector where the other one says nothing more."""
    return one if one is other or not any(other) else list(map(max, one, other))


def _before_start(own: Known, number: int, at: int) -> tuple[Vector, Vector]:
    """What comes before an event for all threads of a line: also of the line itself."""
    done, fenced = list(own.done[at]), list(own.fenced[at])
    if own.line.count == 1:
        done[number], fenced[number] = at, own.fences[at]
    else:
        fenced[number] = min(fenced[number], own.fences[at])
    return done, fenced
