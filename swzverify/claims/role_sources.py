"""What may write between the right write and the read of a byte, in a phase with roles."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from swzverify.claims.phase_points import Pair
from swzverify.subjects.phase import Part, Phase, Place
from swzverify.subjects.phase_meeting import Meeting, Who
from swzverify.subjects.role_order import NONE, RoleOrder, order_of

MOST_BETWEEN = 256
"""The most iterations of one step that are asked about: of a step that runs ahead further, nothing is known."""


@dataclass(frozen=True)
class Between(Pair):
    """Two steps of which the write may come between a read and the right write; `is_sure` if it does in every run."""

    is_sure: bool = False

    def doubt(self, point: Mapping[str, int]) -> str:
        """That the write may come at another time, in words; empty if it does not."""
        del point
        return "" if self.is_sure else f"{self.describe()}: it is not known that the write comes at another time"

    def _missing(self) -> str:
        return "this write comes between the right one and the read"


@dataclass(frozen=True)
class Delivery:
    """A step that writes, and one that reads the bytes `lag` iterations later, in a phase with roles."""

    phase: Phase
    writing: Place
    reading: Place
    lag: int

    @cached_property
    def _order(self) -> RoleOrder:
        return order_of(self.phase)

    def _is_before(self, first: Place, second: Place, gap: int) -> bool:
        """Whether every run of the first step is known to be done before each of the second, `gap` iterations later."""
        latest = self._order.latest(first, second)
        return latest is not None and gap > latest

    @property
    def wrong(self) -> str:
        """That each read comes before its write, in words; empty if that is not known."""
        if not self._is_before(self.reading, self.writing, -self.lag):
            return ""
        return f"{self.phase.describe(self.reading)} comes before {self.phase.describe(self.writing)} of its data"

    def pairs(self) -> Iterator[Between]:
        """The right write, if it is not known to be done before the read; and all writes that may come between them."""
        if not self._is_before(self.writing, self.reading, self.lag):
            yield Between(self.phase, self._meeting(self.writing, -self.lag))
        for place, run in self.phase.runs:
            if not run.writes:
                continue
            match place.part:
                case Part.BEFORE:
                    yield from self._before_loop(place)
                case Part.AFTER:
                    if not self._order.is_last(self.reading, place):
                        yield Between(self.phase, Meeting(self.reading, place, 1, Who.ANY, at_least=True))
                case _:
                    yield from self._in_loop(place)

    def _before_loop(self, place: Place) -> Iterator[Between]:
        """A step before the loop with the reads whose right write is not known to come behind it."""
        unknown = self._order.unknown_in(place, self.writing)
        if unknown is None:
            yield Between(self.phase, Meeting(place, self.reading, 0, Who.ANY, at_least=True))
            return
        for iteration in sorted(unknown):
            yield Between(self.phase, Meeting(place, self.reading, iteration + self.lag, Who.ANY))

    def _in_loop(self, place: Place) -> Iterator[Between]:
        """The runs of a step of the loop that may come between: neither before the right write nor behind the read."""
        first, last = self._order.latest(place, self.writing), self._order.latest(self.reading, place)
        if NONE in (first, last):
            return
        if first is None or last is None or last + first + self.lag >= MOST_BETWEEN:
            yield Between(self.phase, Meeting(place, self.reading, 0, Who.ANY, unrelated=True))
            return
        for later in range(-self.lag - first, last + 1):
            if place != self.writing or later != -self.lag:
                is_behind = self._is_before(self.writing, place, later + self.lag)
                is_sure = is_behind and self._is_before(place, self.reading, -later)
                yield Between(self.phase, self._meeting(place, later), is_sure)

    def _meeting(self, place: Place, later: int) -> Meeting:
        """A run of a step, so many iterations later than the read, which has a right write."""
        if later > 0:
            return Meeting(self.reading, place, later, Who.ANY, start=self.lag)
        return Meeting(place, self.reading, -later, Who.ANY, start=max(0, self.lag + later))
