"""Which steps of roles can meet: what the phases of their mbarriers put in order (docs/semantics.md, section 10)."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import combinations_with_replacement, product
from math import lcm

from swzverify.subjects.phase import Part, Phase, Place, Run
from swzverify.subjects.phase_meeting import Meeting, Ranges, Who
from swzverify.subjects.role import Arrive, Wait, ranges_of
from swzverify.subjects.role_closure import Known, complete_after
from swzverify.subjects.role_lines import Kind, Object, lines_of
from swzverify.subjects.role_periods import Periods, repeats_behind, uneven
from swzverify.subjects.role_unrolled import Runs, Unrolled

ROUNDS = 6
"""Periods that are unrolled: at their end, each has to be as the one before."""
MOST_UNROLLED = 1 << 10
"""Iterations that are unrolled."""
MOST_EXITS = 1 << 7
"""Numbers of iterations after which the steps behind the loop are looked at."""
EXITS = 5
"""Periods of iterations after which the loop is left for `after`."""


@lru_cache(maxsize=64)
def period_of(phase: Phase) -> int:
    """Iterations after which stages, phase bits and the parity of each object are as before."""
    cycles = [1]
    for step in phase.steps:
        if isinstance(step, Wait | Arrive):
            cycles.append(len(step.stage.values))
        if isinstance(step, Wait):
            cycles.append(len(step.phase.values))
        if isinstance(step, Run) and step.proxy is not None and step.proxy.stage is not None:
            cycles.append(len(step.proxy.stage.values))
    period = lcm(*cycles)
    if 2 * period > MOST_UNROLLED:
        return 2 * period  # longer than what is unrolled
    return period if _is_even(phase, period) else 2 * period


def _is_even(phase: Phase, period: int) -> bool:
    """Whether each thread waits for an even number of phases of each object in a period, and arrives for as many."""
    lines = lines_of(phase, 2 * period)
    arrivals: dict[Object, int] = defaultdict(int)
    for line in lines.all:
        least: dict[Object, int] = {}
        ends = [dict[Object, int](), dict[Object, int]()]
        for event in line.events:
            if event.kind is Kind.WAIT:
                least[event.those] = complete_after(least.get(event.those, 0), event.number)
            if event.place.part is Part.STEPS:
                ends[event.iteration // period] = dict(least)
                if event.kind is Kind.ARRIVE and event.iteration >= period:
                    arrivals[event.those] += line.count
        if any((ends[1][each] - ends[0].get(each, 0)) % 2 for each in ends[1]):
            return False
    return not any(number % (2 * lines.counts[each]) for each, number in arrivals.items())


@dataclass(frozen=True)
class _Bounds:
    """The largest gap from a run of one step to one of another that is not ordered behind it.

    None if there is no largest, -1 << 30 if there are no two runs.
    """

    plain: int | None
    fenced: int | None


FIRST_GAPS = 5
"""How many gaps of an open range are asked one by one."""
NONE = -(1 << 30)
"""No gap at all."""


@dataclass(frozen=True)
class RoleOrder:
    """The order of the steps of a phase with roles."""

    phase: Phase

    @cached_property
    def span(self) -> int:
        """The iterations that are unrolled."""
        most = min(ROUNDS * period_of(self.phase), MOST_UNROLLED)
        return most if self.phase.count is None else min(most, self.phase.count)

    def _unrolled(self, iterations: int, *, whole: bool) -> Unrolled:
        """The phase, with all steps behind its loop or none."""
        lines = lines_of(self.phase, iterations, whole=whole)
        return Unrolled(self.phase, lines, whole, iterations=iterations)

    @cached_property
    def _solved(self) -> tuple[Unrolled, dict[int, Unrolled]]:
        """The loop, as far as it is unrolled, and the whole phase by its number of iterations.

        What both say of these iterations holds for all later ones.
        """
        if self.phase.count == self.span:
            whole = self._unrolled(self.span, whole=True)
            return whole, {self.span: whole}
        period = period_of(self.phase)
        loop = self._unrolled(self.span, whole=False)
        numbers = range(min(EXITS * period, MOST_EXITS)) if self.phase.after else ()
        exits = {each: self._unrolled(each, whole=True) for each in numbers}
        objects = frozenset[Object]().union(loop.lines.counts, *(each.lines.counts for each in exits.values()))
        excluded = frozenset(uneven(loop.lines, period)) if 2 * period <= self.span else objects
        while True:
            loop = replace(loop, excluded=excluded)
            exits = {at: replace(each, excluded=excluded) for at, each in exits.items()}
            # The steps behind the loop may arrive at the objects of the loop. Out of turn they arrive in no place of
            # it, and what the loop waits for in a later iteration may be what they do in its place.
            more = loop.closure.bad.union(*(each.closure.bad for each in exits.values()))
            more |= loop.closure.relies_on_later() if exits else set()
            if not more <= excluded:
                excluded |= more
                continue
            periods = Periods(loop, period)
            is_known = periods.first is not None and (not exits or repeats_behind(periods, exits))
            if is_known or excluded == objects:
                return loop, exits
            excluded = objects

    @property
    def _loop(self) -> Unrolled:
        return self._solved[0]

    @property
    def _exits(self) -> dict[int, Unrolled]:
        return self._solved[1]

    def bounds(self, first: Place, second: Place, pairs: Sequence[tuple[Runs, Runs]]) -> _Bounds:
        """How far runs of the first step are not ordered before runs of the second one, in these lines."""
        plain = self._bound(pairs, fenced=False)
        needs = self._loop.needs_fence(first, second)
        return _Bounds(plain, self._bound(pairs, fenced=True) if needs else plain)

    def _bound(self, pairs: Sequence[tuple[Runs, Runs]], *, fenced: bool) -> int | None:
        """The largest gap from a run in the first line of a pair to one in the second that is not ordered behind it."""
        loop, gaps = self._loop, [NONE]
        for one, other in pairs:
            own = self._gaps(one, other, loop.closure.known[other.line], fenced=fenced)
            done = len(own)
            gaps += own
            if done == len(other.places) and loop.is_whole:
                continue
            # What is known repeats in each period, or stays as it is: then the gap grows.
            count = sum(each >= self.span - period_of(self.phase) for each in other.iterations)
            if not 0 < 3 * count <= done or own[done - count :] != own[done - 2 * count : done - count]:
                return None
        return max(gaps)

    def _gaps(self, one: Runs, other: Runs, known: Known, *, fenced: bool) -> list[int]:
        """The gap from the first run of a step that is not ordered before each run of another one, as far as known."""
        loop, rows, found = self._loop, known.fenced if fenced else known.done, list[int]()
        for place, iteration in zip(other.places, other.iterations, strict=True):
            if place >= len(rows):
                break
            until = bisect_left(one.places, rows[place][one.line])
            is_last = loop.is_whole and until == len(one.places)
            found.append(NONE if is_last else iteration - _iteration(one.iterations, until))
        return found

    def latest(self, first: Place, second: Place) -> int | None:
        """The largest gap at which some run of a step of the loop is not known to be done before one of another.

        None if there is no largest. Between two runs of one thread its program is the order.
        """
        loop, pairs, found = self._loop, list[tuple[Runs, Runs]](), list[int]()
        for one, other in product(loop.runs.get(first, ()), loop.runs.get(second, ())):
            if loop.who(one.line, other.line) is None:
                found.append(-1 if first.index < second.index else 0)
            else:
                pairs.append((one, other))
        if not pairs:
            return max(found, default=None)
        bound = self.bounds(first, second, pairs).fenced
        return None if bound is None else max([bound, *found])

    def unknown_in(self, first: Place, second: Place) -> set[int] | None:
        """Iterations in which a step before the loop is not known to be done in one of the loop; None if ever after."""
        return self._loop.unknown_in(first, second)

    def is_last(self, first: Place, second: Place) -> bool:
        """Whether every run of a step of the loop is done before a step behind it, after any number of iterations."""
        whole = self._loop.is_whole or len(self._exits) >= EXITS * period_of(self.phase)
        return whole and all(each.is_done(first, second) for each in self._exits.values())

    @cached_property
    def meetings(self) -> list[Meeting]:
        """Every pair of steps that nothing orders, of two threads."""
        return list(self._meetings())

    def _meetings(self) -> Iterator[Meeting]:
        places = [place for place, _ in self.phase.runs]
        for first, second in combinations_with_replacement(places, 2):
            if first.part is second.part is Part.STEPS:
                yield from self._in_loop(first, second)
            elif second.part is Part.AFTER:
                yield from self._with_after(first, second)
            else:
                yield from self._with_before(first, second)

    def _in_loop(self, first: Place, second: Place) -> Iterator[Meeting]:
        """The meetings of two steps of the loop."""
        pairs: dict[Who, list[tuple[Runs, Runs]]] = defaultdict(list)
        for one, other in product(self._loop.runs.get(first, ()), self._loop.runs.get(second, ())):
            who = self._loop.who(one.line, other.line)
            if who is not None:
                pairs[who].append((one, other))
        same = list(self._of(first, second, pairs[Who.THREADS], Who.THREADS))
        yield from same
        for each in self._of(first, second, pairs[Who.WARPS], Who.WARPS):
            if replace(each, who=Who.THREADS) not in same:
                yield each
        blocks = self._blocks(first, second, pairs[Who.ANY])
        found = [list(self._of(first, second, block, Who.ANY)) for block in blocks]
        everywhere = [each for each in found[0] if all(each in other for other in found[1:])] if found else []
        yield from everywhere
        for block, own in zip(blocks, found, strict=True):
            threads = {first: self._threads(first, [one for one, _ in block])}
            threads[second] = self._threads(second, [other for _, other in block])
            for each in own:
                if each not in everywhere:
                    yield replace(each, threads=(threads[each.first], threads[each.second]))

    def _blocks(self, first: Place, second: Place, pairs: list[tuple[Runs, Runs]]) -> list[list[tuple[Runs, Runs]]]:
        """Pairs of lines, divided into those of equal threads in the order: each block has all pairs of two sets."""
        key_of = [self._line_key(place) for place in (first, second)]
        cells: dict[tuple[int, int], list[tuple[Runs, Runs]]] = defaultdict(list)
        for one, other in pairs:
            cells[key_of[0](one), key_of[1](other)].append((one, other))
        values = {
            at: (self.bounds(first, second, cell), self.bounds(second, first, [(other, one) for one, other in cell]))
            for at, cell in cells.items()
        }
        rows, columns = ({at[side]: None for at in cells} for side in (0, 1))
        alike = (
            {row: tuple(values.get((row, column)) for column in columns) for row in rows},
            {column: tuple(values.get((row, column)) for row in rows) for column in columns},
        )
        found: dict[tuple[object, object], list[tuple[Runs, Runs]]] = defaultdict(list)
        for (row, column), cell in cells.items():
            found[alike[0][row], alike[1][column]] += cell
        return list(found.values())

    def _line_key(self, place: Place) -> Callable[[Runs], int]:
        """What tells the lines of a step apart: none are where any thread of a line may touch what others do."""
        run = self.phase.run_at(place)
        return (lambda _: -1) if run.proxy is not None or run.is_of_warp else (lambda each: each.line)

    def _threads(self, place: Place, runs: list[Runs]) -> Ranges | None:
        """The threads of some lines of a step; None if that says nothing."""
        run = self.phase.run_at(place)
        if run.proxy is not None or run.is_of_warp:
            return None
        return ranges_of(sorted({thread for each in runs for thread in self._loop.lines.all[each.line].threads}))

    def _of(self, first: Place, second: Place, pairs: Sequence[tuple[Runs, Runs]], who: Who) -> Iterator[Meeting]:
        """The meetings of two steps of the loop in some lines: a range of gaps, which may be open at both ends."""
        up = self.bounds(first, second, pairs)
        down = self.bounds(second, first, [(other, one) for one, other in pairs])
        if first == second and self.phase.run_at(first).proxy is not None and up.plain is None:
            # Any two operations of the step, the earlier one first.
            down = _Bounds(-1, -1)
        plain = [each for each in _ranges(first, second, up.plain, down.plain, who) if not self._is_itself(each)]
        yield from plain
        if up != _Bounds(up.plain, up.plain) or down != _Bounds(down.plain, down.plain):
            for each in _ranges(first, second, up.fenced, down.fenced, Who.PROXY):
                if replace(each, who=who) not in plain:
                    yield each

    def _is_itself(self, each: Meeting) -> bool:
        """Whether it is one operation with itself."""
        return each.is_one_step and self.phase.run_at(each.first).proxy is not None

    def _with_before(self, first: Place, second: Place) -> Iterator[Meeting]:
        """The meetings of a step before the loop with one before it, or in the loop."""
        loop = self._loop
        rows = [(each, loop.closure.known[each.line].at) for each in loop.runs.get(second, ())]
        missing = [
            turn for own, at in rows for place, turn in zip(own.places, own.iterations, strict=True) if place >= at
        ]
        end = min(missing, default=self.span)
        is_open = second.part is Part.STEPS and not loop.is_whole
        for who, gaps in _gaps(loop, first, second).items():
            for gap in gaps:
                if gap < end or not is_open:
                    yield Meeting(first, second, gap, who)
        if is_open:
            # Who knows the first step to be done in the last iteration that is unrolled, knows it ever after.
            for who in loop.unknown_from(first, second, end - 1):
                yield Meeting(first, second, max(0, end - 1), who, at_least=True)

    def _with_after(self, first: Place, second: Place) -> Iterator[Meeting]:
        """The meetings of a step with one behind the loop, over all numbers of iterations."""
        by_exit = {number: _gaps(each, first, second) for number, each in self._exits.items()}
        for who in {who: None for each in by_exit.values() for who in each}:
            yield from self._behind(first, second, who, {at: each.get(who, []) for at, each in by_exit.items()})

    def _behind(self, first: Place, second: Place, who: Who, gaps: dict[int, list[int]]) -> Iterator[Meeting]:
        """The meetings of a step with one behind the loop, from those after each number of iterations."""
        found = sorted({gap for each in gaps.values() for gap in each})
        period, is_open = period_of(self.phase), False
        if first.part is not Part.AFTER and not self._loop.is_whole:
            is_open = len(gaps) < EXITS * period or any(
                gaps[len(gaps) - period + at] != gaps[len(gaps) - 2 * period + at] for at in range(period)
            )
            if first.part is Part.BEFORE and self.phase.count is not None and not is_open:
                return
        if is_open:
            yield Meeting(first, second, found[0], who, at_least=True)
            return
        for gap in found:
            yield Meeting(first, second, gap, who)


@lru_cache(maxsize=64)
def order_of(phase: Phase) -> RoleOrder:
    """The order of a phase with roles, which all claims on the phase share."""
    return RoleOrder(phase)


def _gaps(unrolled: Unrolled, first: Place, second: Place) -> dict[Who, list[int]]:
    """The gaps from runs of the first step to runs of the second one that lack an order, by the threads."""
    found: dict[Who, set[int]] = defaultdict(set)
    for who, gap in unrolled.lacking(first, second):
        found[who].add(gap)
    if found.get(Who.WARPS, set()) <= found.get(Who.THREADS, set()):
        found.pop(Who.WARPS, None)
    return {who: sorted(each) for who, each in found.items()}


def _iteration(iterations: list[int], at: int) -> int:
    """The iteration of a run, also of the one behind the last that is unrolled."""
    if at < len(iterations):
        return iterations[at]
    return iterations[-1] + (iterations[-1] - iterations[-2] if len(iterations) > 1 else 1)


def _ranges(first: Place, second: Place, up: int | None, down: int | None, who: Who) -> Iterator[Meeting]:
    """The meetings of two steps whose gaps are at most `up`, and at most `down` the other way round."""
    if up is None and down is None:
        yield Meeting(first, second, 0, who, unrelated=True)
        return
    if NONE in (up, down):
        return
    # Of an open range the first gaps are questions of their own: their answers are in small iterations.
    if up is None:
        least = max(0, -(down or 0))
        yield from (Meeting(first, second, gap, who) for gap in range(least, least + FIRST_GAPS))
        yield Meeting(first, second, least + FIRST_GAPS, who, at_least=True)
    if down is None:
        least = max(0, -(up or 0))
        yield from (Meeting(second, first, gap, who) for gap in range(least, least + FIRST_GAPS))
        yield Meeting(second, first, least + FIRST_GAPS, who, at_least=True)
    for gap in range(0 if up is None else up + 1):
        if gap >= (0 if down is None else -down):
            yield Meeting(first, second, gap, who)
    for gap in range(1, 0 if down is None or first == second else down + 1):
        if gap >= (1 if up is None else -up):
            yield Meeting(second, first, gap, who)
