"""What a search over a listing came to, for the renderers."""

from __future__ import annotations

from dataclasses import dataclass

from swzverify.claims import Outcome, Verdict
from swzverify.search.synth.code.found import Found


@dataclass(frozen=True, slots=True)
class ListingResult:
    """The result of a search over a listing.

    Attributes:
        path: The path of the spec.
        name: The name of the listing.
        family: The family that was searched.
        found: The listing that was found, with its price.
        verdict: The verdict that the listing has at most so many conflicts.
        text: The listing as text, one instruction per line.
        wall_ms: The time of the search.
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
