"""The steps of roles over some iterations: which runs of two steps lack an order."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import product

from swzverify.subjects.phase import Phase, Place
from swzverify.subjects.phase_meeting import Who
from swzverify.subjects.role_closure import Closure
from swzverify.subjects.role_lines import WARP_THREADS, Kind, Lines, Object


@dataclass(frozen=True)
class Runs:
    """A step in one line: where it stands among the events or operations, and in which iterations."""

    line: int
    places: list[int]
    iterations: list[int]


@dataclass(frozen=True)
class Unrolled:
    """The order of the steps of a phase, whose loop runs some iterations."""

    phase: Phase
    lines: Lines
    is_whole: bool
    excluded: frozenset[Object] = frozenset()
    iterations: int = 0

    @cached_property
    def closure(self) -> Closure:
        """What each line knows."""
        return Closure(self.lines, self.excluded)

    @cached_property
    def runs(self) -> dict[Place, list[Runs]]:
        """The runs of each step that touches memory."""
        found: dict[Place, dict[int, Runs]] = defaultdict(dict)
        for number, line in enumerate(self.lines.all):
            rows = [
                (at, each.place, each.iteration)
                for at, each in enumerate(line.operations if line.is_async else line.events)
                if line.is_async or line.events[at].kind is Kind.TOUCH
            ]
            for at, place, iteration in rows:
                own = found[place].setdefault(number, Runs(number, [], []))
                own.places.append(at)
                own.iterations.append(iteration)
        return {place: list(each.values()) for place, each in found.items()}

    def who(self, one: int, other: int) -> Who | None:
        """Which threads of two lines may do two steps; None if it is one thread."""
        first, second = self.lines.all[one], self.lines.all[other]
        if first.is_async or second.is_async:
            return Who.ANY
        if one == other and first.count == 1:
            return None
        if first.role is not second.role:
            return Who.ANY
        share = {each // WARP_THREADS for each in first.threads} & {each // WARP_THREADS for each in second.threads}
        return Who.THREADS if share else Who.WARPS

    def needs_fence(self, first: Place, second: Place) -> bool:
        """Whether a write of the first step has to be made visible to the operations of the second one."""
        one, other = self.phase.run_at(first), self.phase.run_at(second)
        return other.proxy is not None and one.proxy is None and one.writes

    def lacking(self, first: Place, second: Place) -> Iterator[tuple[Who, int]]:
        """The threads and the gap of every run of the first step with one of the second step that lack an order.

        With `Who.PROXY` they have an order, and lack a fence of the proxies. Runs that the closure did not come to have
        none: they never happen, or are not unrolled.
        """
        for one, other in product(self.runs.get(first, ()), self.runs.get(second, ())):
            who = self.who(one.line, other.line)
            if who is None:
                continue
            up, down = self.closure.known[other.line], self.closure.known[one.line]
            rows = up.fenced if self.needs_fence(first, second) else up.done
            back = down.fenced if self.needs_fence(second, first) else down.done
            for place, turn in zip(other.places, other.iterations, strict=True):
                if place >= up.at:
                    break
                for index in range(bisect_left(one.places, rows[place][one.line]), len(one.places)):
                    at = one.places[index]
                    if (
                        at >= down.at
                        or back[at][other.line] > place
                        or self._is_itself((one.line, at), (other.line, place))
                    ):
                        continue
                    in_order = up.done[place][one.line] > at or down.done[at][other.line] > place
                    yield Who.PROXY if in_order else who, turn - one.iterations[index]

    def unknown_from(self, first: Place, second: Place, iteration: int) -> set[Who]:
        """The threads for which a step before the loop is not known to be done in an iteration of another step."""
        found = set[Who]()
        for one, other in product(self.runs.get(first, ()), self.runs.get(second, ())):
            who = self.who(one.line, other.line)
            known = self.closure.known[other.line]
            rows = known.fenced if self.needs_fence(first, second) else known.done
            until = bisect_right(other.iterations, iteration)
            place = other.places[until - 1] if until else len(rows)
            if who is not None and (place >= len(rows) or rows[place][one.line] <= one.places[-1]):
                in_order = place < len(rows) and known.done[place][one.line] > one.places[-1]
                found.add(Who.PROXY if in_order else who)
        return found

    def unknown_in(self, first: Place, second: Place) -> set[int] | None:
        """The iterations in which a step before the loop is not known to be done in another step; None if ever after.

        Who knows it in one iteration knows it ever after.
        """
        found = set[int]()
        for one, other in product(self.runs.get(first, ()), self.runs.get(second, ())):
            if self.who(one.line, other.line) is None:
                continue
            known = self.closure.known[other.line]
            rows = known.fenced if self.needs_fence(first, second) else known.done
            reached = [place for place in other.places if place < len(rows)]
            if not reached or rows[reached[-1]][one.line] <= one.places[-1]:
                return None
            turns = zip(reached, other.iterations, strict=False)
            found |= {turn for place, turn in turns if rows[place][one.line] <= one.places[-1]}
        return found

    def is_done(self, first: Place, second: Place) -> bool:
        """Whether all runs of a step are known to be done before each run of another one that stands behind it."""
        for one, other in product(self.runs.get(first, ()), self.runs.get(second, ())):
            known = self.closure.known[other.line]
            rows = known.fenced if self.needs_fence(first, second) else known.done
            is_own = self.who(one.line, other.line) is None
            places = () if is_own else other.places
            if any(place >= len(rows) or rows[place][one.line] <= one.places[-1] for place in places):
                return False
        return True

    def _is_itself(self, one: tuple[int, int], other: tuple[int, int]) -> bool:
        """Whether it is one operation."""
        return one == other and self.lines.all[one[0]].is_async
