"""What each thread of a block knows to lie behind it: a vector clock, and the copies that are complete.

Each asynchronous operation has a number, as such operations complete in no order. What a thread
knows has two sides: what comes before it, and which writes of the generic proxy a fence has put
before the async proxy.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from .fetch import Array


class Told(NamedTuple):
    """What is handed on where threads synchronize."""

    clock: Array
    """A time for each thread, and after these the times up to which fences cover its writes."""
    copies: int
    """A bit for each asynchronous operation that is complete."""
    covered: int
    """The same for copies through the generic proxy that a fence covers."""

    def joined(self, other: Told | None) -> Told:
        """Both together."""
        if other is None:
            return self
        clock = np.maximum(self.clock, other.clock)
        return Told(clock, self.copies | other.copies, self.covered | other.covered)

    def common(self, other: Told | None) -> Told:
        """What is in both."""
        if other is None:
            return self
        clock = np.minimum(self.clock, other.clock)
        return Told(clock, self.copies & other.copies, self.covered & other.covered)


class Knowledge:
    """What the threads of a block know."""

    def __init__(self, lanes: int) -> None:
        self.lanes = lanes
        self.clock = np.zeros((lanes, 2 * lanes), np.int32)
        self.clock[np.arange(lanes), np.arange(lanes)] = 1
        self.copies = [0] * lanes
        self.covered = [0] * lanes
        self.issued = 0
        """How many asynchronous operations there were."""
        self._rows: dict[int, list[int]] = {}
        self._since: dict[tuple[int, int], int] = {}
        """From when on a thread knows that an asynchronous operation is complete."""

    def nothing(self) -> Told:
        """What nobody has told anything of."""
        return Told(np.zeros(2 * self.lanes, np.int32), 0, 0)

    def row(self, lane: int) -> list[int]:
        """The clock of a thread."""
        if lane not in self._rows:
            self._rows[lane] = self.clock[lane].tolist()
        return self._rows[lane]

    def issue(self) -> int:
        """The number of a new asynchronous operation."""
        self.issued += 1
        return self.issued - 1

    def all_of(self, lanes: list[int]) -> Told:
        """What some of the threads know."""
        copies = covered = 0
        for lane in lanes:
            copies, covered = copies | self.copies[lane], covered | self.covered[lane]
        return Told(self.clock[lanes].max(0), copies, covered)

    def common_to(self, lanes: list[int]) -> Told:
        """What all of the threads know."""
        copies = covered = -1
        for lane in lanes:
            copies, covered = copies & self.copies[lane], covered & self.covered[lane]
        return Told(self.clock[lanes].min(0), copies, covered)

    def tell(self, lanes: list[int]) -> Told:
        """What threads know together; what they do from now on is later."""
        told = self.all_of(lanes)
        self.tick(lanes)
        return told

    def tick(self, lanes: list[int]) -> None:
        """What threads do from now on is later."""
        self.clock[lanes, lanes] += 1
        self._changed(lanes)

    def learn(self, lanes: Iterable[int], told: Told | None) -> None:
        """Threads come to know more."""
        if told is None:
            return
        chosen = list(lanes)
        self.clock[chosen] = np.maximum(self.clock[chosen], told.clock)
        self._changed(chosen)
        for lane in chosen:
            self.complete(lane, told.copies)
            self.covered[lane] |= told.covered

    def complete(self, lane: int, copies: int) -> None:
        """Asynchronous operations are complete for a thread."""
        new = copies & ~self.copies[lane]
        if not new:
            return
        self.tick([lane])
        self.copies[lane] |= new
        while new:
            self._since[lane, new.bit_length() - 1] = self.row(lane)[lane]
            new &= (1 << new.bit_length() - 1) - 1

    def is_behind(self, lane: int, time: int, copy: int) -> bool:
        """Whether what a thread did at a time comes after an asynchronous operation."""
        return time >= self._since.get((lane, copy), time + 1)

    def fence_proxies(self, lanes: list[int]) -> None:
        """Put what threads know before what the async proxy does later."""
        half = self.lanes
        self.clock[lanes, half:] = np.maximum(self.clock[lanes, half:], self.clock[lanes, :half])
        for lane in lanes:
            self.covered[lane] |= self.copies[lane]
        self.tick(lanes)

    def _changed(self, lanes: Iterable[int]) -> None:
        for lane in lanes:
            self._rows.pop(lane, None)
