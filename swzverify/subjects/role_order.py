"""Which steps of roles can meet: what the phases of their mbarriers put in order (docs/semantics.md, section 10).

A thread that waits knows a least number of complete phases of an object. If the threads that arrive there arrive in
turn, each of them has then made as many arrivals, and what it did before them comes first.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from math import lcm

from swzverify.subjects.phase import Part, Phase, Place, Run
from swzverify.subjects.phase_meeting import Meeting, Who
from swzverify.subjects.role import Arrive, Role, Wait

ROUNDS = 6
"""Periods that are unrolled: at their end, each has to be as the one before."""
MOST_UNROLLED = 1 << 10
"""Iterations that are unrolled."""

Object = tuple[str, int]
"""An `mbarrier` object: the barrier and the stage."""


def period_of(phase: Phase) -> int:
    """Iterations after which stages, phase bits and the parity of each object are as before."""
    cycles = [len(step.stage.values) for step in phase.steps if isinstance(step, Wait | Arrive)]
    cycles += [len(step.phase.values) for step in phase.steps if isinstance(step, Wait)]
    return 2 * lcm(*cycles) if cycles else 2


def complete_after(least: int, parity: int) -> int:
    """How many phases are complete at least once a wait has passed, if `least` were known to be before it.

    It passes where the last complete phase has the parity; before the first phase that is 1.

    >>> complete_after(0, 0), complete_after(0, 1), complete_after(1, 1)
    (1, 0, 2)
    """
    return least + ((least - 1) % 2 != parity)


@dataclass
class _Line:
    """What a thread of one role does, and how many steps of each role's other threads it knows to be done."""

    role: Role
    steps: list[tuple[int, object]]
    at: int = 0
    known: list[list[int]] = field(default_factory=list[list[int]])
    least: dict[Object, int] = field(default_factory=dict[Object, int])


@dataclass
class RoleOrder:
    """The order of the steps of a phase with roles."""

    phase: Phase
    depth: int = 0
    """The iterations by which an arrival that a wait rests on is before the wait, at most."""

    @cached_property
    def span(self) -> int:
        """The iterations that are unrolled."""
        most = min(ROUNDS * period_of(self.phase), MOST_UNROLLED)
        return most if self.phase.count is None else min(most, self.phase.count)

    @cached_property
    def _arrivals(self) -> dict[Object, dict[int, list[int]]]:
        """Of each object the places of the arrivals of one thread, by the number of its role."""
        found: dict[Object, dict[int, list[int]]] = defaultdict(lambda: defaultdict(list))
        for number, role in enumerate(self.phase.roles):
            length = role.end - role.first
            for iteration in range(self.span):
                for at, step in enumerate(self.phase.steps[role.first : role.end]):
                    if isinstance(step, Arrive):
                        those = step.barrier.name, step.stage.at(iteration)
                        found[those][number].append(iteration * length + at)
        return found

    @cached_property
    def _lines(self) -> list[_Line]:
        """The lines with the orders of all objects whose threads arrive in turn."""
        counts = {step.barrier.name: step.barrier.arrivals for step in self.phase.steps if isinstance(step, Arrive)}
        good = {each for each in self._arrivals if self._arriving(each) == counts[each[0]] and self._is_even(each)}
        while True:
            lines = self._closure(good)
            bad = {each for each in good if not self._in_turn(lines, each)}
            if not bad:
                return lines
            good -= bad

    def _arriving(self, those: Object) -> int:
        """How many threads arrive at an object."""
        return sum(self.phase.roles[number].count for number in self._arrivals[those])

    @property
    def _is_whole(self) -> bool:
        """Whether all iterations are unrolled."""
        return self.span == self.phase.count

    def _is_even(self, those: Object) -> bool:
        """Whether all roles that arrive at an object arrive equally often in a period."""
        return self._is_whole or len({self._rate(number, those) for number in self._arrivals[those]}) == 1

    def _rate(self, number: int, those: Object) -> int:
        """The arrivals of each thread of a role at an object in a period."""
        role = self.phase.roles[number]
        end = period_of(self.phase) * (role.end - role.first)
        return sum(place < end for place in self._arrivals[those].get(number, ()))

    @cached_property
    def _following(self) -> set[tuple[int, Object]]:
        """The roles that get through as many phases of an object in a period as each thread arrives there."""
        period, found = period_of(self.phase), set[tuple[int, Object]]()
        for number, role in enumerate(self.phase.roles):
            least: dict[Object, int] = defaultdict(int)
            after: list[dict[Object, int]] = []
            for iteration in range(min(2 * period, self.span)):
                for step in self.phase.steps[role.first : role.end]:
                    if isinstance(step, Wait):
                        those = step.barrier.name, step.stage.at(iteration)
                        least[those] = complete_after(least[those], step.phase.at(iteration))
                if (iteration + 1) % period == 0:
                    after.append(dict(least))
            for those in least if len(after) > 1 else ():
                rates = {self._rate(other, those) for other in self._arrivals.get(those, ())}
                if {after[1][those] - after[0].get(those, 0)} == rates:
                    found.add((number, those))
        return found

    def _closure(self, good: set[Object]) -> list[_Line]:
        """What each thread knows at each place, as far as nobody waits for what is not unrolled."""
        lines = list[_Line]()
        for role in self.phase.roles:
            own = self.phase.steps[role.first : role.end]
            lines.append(_Line(role, [(iteration, step) for iteration in range(self.span) for step in own]))
        moved = True
        while moved:
            moved = False
            for number, line in enumerate(lines):
                while line.at < len(line.steps) and self._advance(lines, number, good):
                    moved = True
        return lines

    def _advance(self, lines: list[_Line], number: int, good: set[Object]) -> bool:
        """Do the next step of a role; whether that was possible."""
        line = lines[number]
        iteration, step = line.steps[line.at]
        now = list(line.known[-1]) if line.known else [0] * len(lines)
        if isinstance(step, Wait):
            those = step.barrier.name, step.stage.at(iteration)
            least = complete_after(line.least.get(those, 0), step.phase.at(iteration))
            if those in good and least and (self._is_whole or (number, those) in self._following):
                for other, places in self._arrivals[those].items():
                    if len(places) < least or places[least - 1] >= lines[other].at:
                        return False
                    place = places[least - 1]
                    self.depth = max(self.depth, iteration - place // (lines[other].role.end - lines[other].role.first))
                    theirs = lines[other].known[place]
                    now = [max(*each) for each in zip(now, theirs, strict=True)]
                    if other != number or line.role.count > 1:
                        now[other] = max(now[other], place + 1)
            line.least[those] = least
        line.known.append(now)
        line.at += 1
        return True

    def _in_turn(self, lines: list[_Line], those: Object) -> bool:
        """Whether nobody arrives for a phase before the phase before it is complete."""
        for number, places in self._arrivals[those].items():
            for turn, place in enumerate(places[1:]):
                if place >= lines[number].at:
                    break
                for other, theirs in self._arrivals[those].items():
                    if other == number and self.phase.roles[number].count == 1:
                        continue
                    if turn >= len(theirs) or lines[number].known[place][other] <= theirs[turn]:
                        return False
        return True

    def _reach(self, first: tuple[int, int], second: tuple[int, int]) -> int | None:
        """The largest gap from a run of the first step to one of the second that is not ordered behind it.

        None if there is no largest. A step is a role's number with a place among its steps.
        """
        (one, at), (other, place) = first, second
        line = self._lines[other]
        length, own = (role.end - role.first for role in (self.phase.roles[one], line.role))
        done = line.at // own
        if done != self.phase.count and not (self._repeats and line.known[done * own - own + place][one]):
            return None  # what is known does not repeat, or nothing ever is
        gaps = list[int]()
        for iteration in range(done):
            known = line.known[iteration * own + place][one]
            # The runs of the first step before this iteration are done.
            until = (known - at + length - 1) // length if known > at else 0
            gaps.append(iteration - until)
        return max(gaps, default=-1)

    @cached_property
    def _repeats(self) -> bool:
        """Whether all that is known repeats in each period; nothing known repeats, too."""
        lines, period = self._lines, period_of(self.phase)
        lengths = [line.role.end - line.role.first for line in lines]
        end = min(line.at // length for line, length in zip(lines, lengths, strict=True))
        window = (-(-self.depth // period) + 2) * period
        return end >= window + 2 * period and all(
            after == (before + own * period if before else 0)
            for line, length in zip(lines, lengths, strict=True)
            for at in range((end - window) * length, end * length)
            for before, after, own in zip(line.known[at - length * period], line.known[at], lengths, strict=True)
        )

    def meetings(self) -> Iterator[Meeting]:
        """Every pair of steps that nothing orders, of two threads."""
        runs = [
            (number, at)
            for number, role in enumerate(self.phase.roles)
            for at, step in enumerate(self.phase.steps[role.first : role.end])
            if isinstance(step, Run)
        ]
        for index, first in enumerate(runs):
            for second in runs[index:]:
                if first[0] != second[0] or self.phase.roles[first[0]].count > 1:
                    yield from self._of(first, second)

    def _of(self, first: tuple[int, int], second: tuple[int, int]) -> Iterator[Meeting]:
        """The meetings of two steps: a range of gaps, which may be open at both ends."""
        one, other = (Place(Part.STEPS, self.phase.roles[number].first + at) for number, at in (first, second))
        who = Who.THREADS if first[0] == second[0] else Who.ANY
        up, down = self._reach(first, second), self._reach(second, first)
        if up is None and down is None:
            yield Meeting(one, other, 0, who, unrelated=True)
            return
        if up is None:
            yield Meeting(one, other, max(0, -(down or 0)), who, at_least=True)
        if down is None:
            yield Meeting(other, one, max(0, -(up or 0)), who, at_least=True)
        for gap in range(0 if up is None else up + 1):
            if gap >= (0 if down is None else -down):
                yield Meeting(one, other, gap, who)
        for gap in range(1, 0 if down is None or first == second else down + 1):
            if gap >= (1 if up is None else -up):
                yield Meeting(other, one, gap, who)
