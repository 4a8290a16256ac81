"""Whether what the lines of a loop know repeats in each period (docs/semantics.md, section 10, "Iterations").

What is known at an event is the greatest of a few values known at events before it. So if each value either grows by
as much as one period of its line has events, or stays as it is, over enough periods, no later value is less.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from swzverify.subjects.phase import Part
from swzverify.subjects.role_closure import Known, complete_after, views_of
from swzverify.subjects.role_lines import Event, Kind, Line, Lines, Object, Operation
from swzverify.subjects.role_unrolled import Unrolled

Row = tuple[int, ...]
"""All that is known at one event, one number for each line and kind of knowledge."""


def uneven(lines: Lines, period: int) -> set[Object]:
    """The objects at which some line arrives, copies or waits at another rate than the others do.

    It needs two periods of the loop in `lines`.
    """
    arrivals: dict[Object, dict[int, int]] = defaultdict(dict)
    waits: dict[Object, set[int]] = defaultdict(set)
    for number, line in enumerate(lines.all):
        least: dict[Object, int] = defaultdict(int)
        before: dict[Object, int] = {}
        in_loop: set[Object] = set()
        for each in line.operations if line.is_async else line.events:
            is_second = each.place.part is Part.STEPS and period <= each.iteration < 2 * period
            if each.place.part is Part.STEPS and each.iteration < period:
                before = dict(least)
            if isinstance(each, Operation):
                if each.those is not None:
                    arrivals[each.those][number] = arrivals[each.those].get(number, 0) + is_second
            elif each.kind is Kind.ARRIVE:
                arrivals[each.those][number] = arrivals[each.those].get(number, 0) + is_second
            elif each.kind is Kind.WAIT and (each.place.part is not Part.STEPS or each.iteration < 2 * period):
                least[each.those] = complete_after(least[each.those], each.number)
                before = dict(least) if each.place.part is not Part.STEPS or each.iteration < period else before
                in_loop |= {each.those} if each.place.part is Part.STEPS else set()
        for those in in_loop:
            waits[those].add(least[those] - before.get(those, 0))
    found = set[Object]()
    for those, rates in arrivals.items():
        both = {*rates.values(), *waits.get(those, ())}
        if len(both) > 1 or any(each % 2 for each in waits.get(those, ())):
            found.add(those)
    return found


@dataclass(frozen=True)
class Periods:
    """What is known at the events of a loop, compared with what was known one period before."""

    loop: Unrolled
    period: int

    @cached_property
    def end(self) -> int:
        """The iterations that all lines have done."""
        ends = [self.loop.iterations]
        for known in self.loop.closure.known:
            rest = (known.line.operations if known.line.is_async else known.line.events)[known.at :]
            ends += [each.iteration for each in rest if each.place.part is Part.STEPS][:1]
        return min(ends)

    @cached_property
    def _at(self) -> list[dict[int, list[int]]]:
        """For each line, its events or operations of the loop by iteration."""
        found: list[dict[int, list[int]]] = []
        for line in self.loop.lines.all:
            own: dict[int, list[int]] = defaultdict(list)
            for at, each in enumerate(line.operations if line.is_async else line.events):
                if each.place.part is Part.STEPS:
                    own[each.iteration].append(at)
            found.append(own)
        return found

    def shifts(self, unrolled: Unrolled) -> list[int]:
        """For each line, its events or operations in the last period that all lines have done."""
        end = self.end if unrolled is self.loop else unrolled.iterations
        return [
            sum(
                each.place.part is Part.STEPS and end - self.period <= each.iteration < end
                for each in (line.operations if line.is_async else line.events)
            )
            for line in unrolled.lines.all
        ]

    @cached_property
    def _shifts(self) -> list[int]:
        return self.shifts(self.loop)

    @cached_property
    def depth(self) -> int:
        """The iterations by which an arrival that a wait of the loop rests on is before the wait, at most."""
        rests = self.loop.closure.rests()
        return max(
            (waits.iteration - each.iteration for waits, each in rests if waits.place.part is Part.STEPS), default=0
        )

    @cached_property
    def first(self) -> int | None:
        """The iteration from which all that is known repeats; None if that is not seen."""
        least = self.end - (-(-max(self.depth, 0) // self.period) + 2) * self.period
        if least < 2 * self.period:
            return None
        grows: dict[tuple[int, int, int], tuple[bool, ...]] = {}
        first = self.end
        while first > 2 * self.period and self._repeats(first - 1, grows):
            first -= 1
        return first if first <= least else None

    def _repeats(self, iteration: int, grows: dict[tuple[int, int, int], tuple[bool, ...]]) -> bool:
        """Whether all lines know in an iteration what they knew a period before, in the way of later periods."""
        for number, own in enumerate(self._at):
            here, before = own.get(iteration, []), own.get(iteration - self.period, [])
            if len(here) != len(before):
                return False
            for turn, (at, was) in enumerate(zip(here, before, strict=True)):
                found = self.compared(self.loop, self.loop, self._shifts, number, (was, at))
                if found is None or grows.setdefault((number, iteration % self.period, turn), found) != found:
                    return False
        return True

    def compared(
        self, one: Unrolled, other: Unrolled, shifts: list[int], number: int, places: tuple[int, int]
    ) -> tuple[bool, ...] | None:
        """Which values grow by a period of their line from one event to the event one period later.

        None if one neither grows so nor stays, if the events are no such two, or if an arrival would not be in turn
        for ever.
        """
        was, at = places
        before, after = one.closure.known[number], other.closure.known[number]
        if max(was - before.at, at - after.at) >= 0 or not _are_alike(before.line, was, after.line, at, shifts):
            return None
        rows = list(zip(_rows(before, was), _rows(after, at), strict=True))
        columns = [*shifts, *shifts, shifts[number]]
        found = tuple(new == old + shift for (old, new), shift in zip(rows, columns, strict=True))
        if any(new not in (old, old + shift) for (old, new), shift in zip(rows, columns, strict=True)):
            return None
        if after.line.is_async:
            # The least of what all starting threads know: each of them has to know more, if it does.
            views = (
                [(*done, *fenced) for done, fenced in views_of(closure.known, known.line.operations[place])]
                for closure, known, place in ((one.closure, before, was), (other.closure, after, at))
            )
            for old_view, new_view in zip(*views, strict=True):
                pairs = zip(found[:-1], old_view, new_view, columns[:-1], strict=True)
                if any(grows and new != old + shift for grows, old, new, shift in pairs):
                    return None
        each = (after.line.operations if after.line.is_async else after.line.events)[at]
        if isinstance(each, Operation) or each.kind is Kind.ARRIVE:
            others = other.closure.partners(each.those, number, at)
            if any(shifts[line] and not found[line] for line in others):
                return None
        return found


def _are_alike(one: Line, was: int, other: Line, at: int, shifts: list[int]) -> bool:
    """Whether two events, or operations, are one and the same step of two periods."""
    if one.is_async:
        first, second = one.operations[was], other.operations[at]
        return (first.place, first.those, first.bytes) == (second.place, second.those, second.bytes)
    old, new = one.events[was], other.events[at]
    more = shifts[new.line] if new.kind is Kind.DRAIN else 0
    return old._replace(iteration=0, number=old.number + more) == new._replace(iteration=0)


def repeats_behind(periods: Periods, exits: dict[int, Unrolled]) -> bool:
    """Whether what is known behind the loop is the same, moved by periods, for all numbers of iterations beyond these.

    No wait of the loop may rest on a later iteration than its own: else a step behind the loop could be in its place.
    """
    period, count, first = periods.period, len(exits), periods.first
    if first is None or periods.loop.closure.relies_on_later():
        return False
    depth = 0
    for each in exits.values():
        if not each.closure.bad <= periods.loop.excluded:
            return False
        for waits, rests in each.closure.rests():
            if waits.place.part is Part.AFTER and rests.place.part is not Part.AFTER:
                depth = max(depth, waits.iteration - rests.iteration)
    if count - 2 * period < first + depth:
        return False
    return all(_is_moved(periods, exits[number - period], exits[number]) for number in range(count - period, count))


def _is_moved(periods: Periods, one: Unrolled, other: Unrolled) -> bool:
    """Whether what is known behind the loop is known one period later, too."""
    shifts = periods.shifts(other)
    if len(one.lines.all) != len(other.lines.all):
        return False
    for number, (old, new) in enumerate(zip(one.lines.all, other.lines.all, strict=True)):
        was, at = _after(old), _after(new)
        if len(was) != len(at):
            return False
        for places in zip(was, at, strict=True):
            never = places[0] >= one.closure.known[number].at and places[1] >= other.closure.known[number].at
            found = None if never else periods.compared(one, other, shifts, number, places)
            if found is None and not never:
                return False
    return True


def _after(line: Line) -> list[int]:
    rows: Sequence[Event | Operation] = line.operations if line.is_async else line.events
    return [at for at, each in enumerate(rows) if each.place.part is Part.AFTER]


def _rows(known: Known, at: int) -> Row:
    """All that is known at an event."""
    return (*known.done[at], *known.fenced[at], known.fences[at] if not known.line.is_async else 0)
