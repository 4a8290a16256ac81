"""The loops around an access, and the names of an access's variables."""

from __future__ import annotations

from dataclasses import dataclass

from swzverify.errors import SwzError

LANE, WARP, STAGE = "lane", "warp", "stage"
ANY_LIMIT = 1 << 32
"""Where an unbounded loop ends: beyond C's range in any case."""


@dataclass(frozen=True, slots=True)
class Loop:
    """`for (name = start; name < stop; name += step)`; without `stop`, every value from `start` that overflows nothing.

    >>> Loop("k", 0, 64, 16).count
    4
    """

    name: str
    start: int
    stop: int | None
    step: int = 1

    def __post_init__(self) -> None:
        """Refuse a loop that goes down or nowhere."""
        if self.step < 1:
            raise SwzError("SWZ105", f"loop {self.name} has the step {self.step}: at least 1")

    @property
    def count(self) -> int | None:
        """Iterations; None without a bound."""
        if self.stop is None:
            return None
        return max(0, -(-(self.stop - self.start) // self.step))

    def describe(self) -> str:
        """The loop's values in words."""
        if self.stop is None:
            return f"every {self.name} >= {self.start} that overflows nothing"
        if self.count == 0:
            return f"never any {self.name}"
        step = f" step {self.step}" if self.step > 1 else ""
        last = self.start + self.step * max(0, (self.count or 1) - 1)
        return f"{self.name} in {self.start}..{last}{step}"
