"""Two steps of a phase that nothing orders."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

from swzverify.subjects.phase import Place

Ranges: TypeAlias = tuple[tuple[int, int], ...]


class Who(StrEnum):
    """Which threads of two accesses are not ordered."""

    ANY = "any two threads, also a thread and its own copy"
    THREADS = "two threads"
    WARPS = "threads of two warps"
    PROXY = "a write and an operation of the asynchronous proxy, with no fence between"


@dataclass(frozen=True, slots=True)
class Meeting:
    """Two steps that can meet, the earlier one first.

    Attributes:
        first: The earlier step.
        second: The later step; the same for two threads of one step.
        gap: The iterations from the first to the second. `before` counts as iteration 0, `after` as the one
            after the last.
        who: Which threads.
        at_least: Whether `gap` is the least of many.
        unrelated: Whether the iterations are any two, whichever is the earlier one.
        start: The least iteration of the first step, if the gap is exact.
        threads: The threads of each step, as ranges without their ends; None for all that run it.
    """

    first: Place
    second: Place
    gap: int
    who: Who
    at_least: bool = False
    unrelated: bool = False
    start: int = 0
    threads: tuple[Ranges | None, Ranges | None] = (None, None)

    @property
    def is_one_step(self) -> bool:
        """Whether it is one run of one step by several threads."""
        return self.first == self.second and self.gap == 0 and not (self.at_least or self.unrelated)
