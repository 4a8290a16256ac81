"""What a search over a listing came to, for the renderers."""

from __future__ import annotations

from dataclasses import dataclass

from swzverify.claims import Outcome, Verdict
from swzverify.search.synth.code.found import Found


@dataclass(frozen=True, slots=True)
class ListingResult:
    """What was found, the listing as text, one instruction per line, and the verdict that it has at
    most so many conflicts.
    """

    path: str
    name: str
    family: str
    found: Found
    verdict: Verdict
    text: str
    wall_ms: float

    @property
    def confirmed(self) -> bool:
        """Whether the number of conflicts was proved, by two engines."""
        return self.verdict.outcome is Outcome.PROVED and not self.verdict.is_by_one_engine
