"""The counters of one machine instruction, summed over the launches that were profiled."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Counts:
    """How often warps executed an instruction, and the wavefronts that it took in shared memory.

    `lanes` are the threads that took part, summed over the executions, and `ideal` are the
    wavefronts without a conflict; None where the export has no such column.

    >>> Counts(4, 16, 16, 128) + Counts(4, 32, 16, None)
    Counts(executed=8, wavefronts=48, ideal=32, lanes=None)
    """

    executed: int
    wavefronts: int
    ideal: int | None = None
    lanes: int | None = None

    def __add__(self, other: Counts) -> Counts:
        return Counts(
            self.executed + other.executed,
            self.wavefronts + other.wavefronts,
            None if self.ideal is None or other.ideal is None else self.ideal + other.ideal,
            None if self.lanes is None or other.lanes is None else self.lanes + other.lanes,
        )
