"""A search over a listing as text, and as JSON of the schema "swzverify.synth_listing/1".

What a search over a listing came to, for the renderers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from swzverify.claims import Outcome, Verdict
from swzverify.core.words import counted
from swzverify.report.escape import visible
from swzverify.report.plain import json_text, members, to_json
from swzverify.search.synth.code.found import Found

if TYPE_CHECKING:
    from swzverify.search.synth.code.found import Price

SCHEMA = "swzverify.synth_listing/1"


def render_listing(result: ListingResult) -> str:
    """The result as lines of text, and the listing below."""
    found = result.found
    lines = [
        f"{visible(result.path)}: listing {visible(result.name)} ({found.listing.target}), family {result.family}",
        f"  answer   {_words(found.price)}",
        f"  given    {_words(found.given)}",
        f"  space    {found.space}",
        f"  optimal  {_bound(result)}",
        f"  proved   {_proof(result)}",
    ]
    return "\n".join([*lines, *(visible(line) for line in result.text.splitlines())]) + "\n"


def render_listing_json(result: ListingResult) -> str:
    """The result as JSON text with a line feed at its end."""
    found = result.found
    document = {
        "schema": SCHEMA,
        "path": result.path,
        "listing": result.name,
        "target": found.listing.target,
        "family": result.family,
        "answer": to_json(found.price),
        **members(found, "given", "bound"),
        "optimal": found.is_least,
        **members(found, "space", "how"),
        "verdict": result.verdict.outcome.value,
        **members(result.verdict, "engines", "evidence"),
        "text": result.text,
    }
    return json_text(document)


def _words(price: Price) -> str:
    conflicts = counted(price.conflicts, "conflict")
    marks = counted(price.marks, "mark")
    return f"{conflicts}; {price.bank_reads} registers from the banks, {marks}"


def _bound(result: ListingResult) -> str:
    found = result.found
    if found.is_least:
        return f"none has fewer conflicts: {found.how}"
    return f"open: {found.bound} conflicts at least ({found.how}), {found.price.conflicts} found"


def _proof(result: ListingResult) -> str:
    price, verdict = result.found.price, result.verdict
    if not result.confirmed:
        return f"no: {verdict.outcome.value}, {verdict.reason}"
    return f"at most {price.conflicts}, by {' + '.join(verdict.engines)} ({verdict.evidence})"


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
