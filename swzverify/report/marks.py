"""The mark of a claim's outcome in text, and its colour."""

from __future__ import annotations

from swzverify.claims.verdict import Outcome
from swzverify.report.result import ClaimResult
from swzverify.report.style import TextStyle


def mark(result: ClaimResult, style: TextStyle) -> str:
    """One sign for a claim's outcome: as expected, known to fail, wrong, undecided, a fault."""
    if result.ok:
        return "\u2713" if style.unicode else "+"
    if not result.failing:
        return "~"
    match result.verdict.outcome:
        case Outcome.UNKNOWN | Outcome.VACUOUS:
            return "?"
        case Outcome.ERROR:
            return "!"
        case Outcome.PROVED | Outcome.CHECKED | Outcome.REFUTED:
            return "\u2717" if style.unicode else "x"


def mark_colour(result: ClaimResult) -> str:
    """The colour of a claim's mark and verdict."""
    if result.ok:
        return "green"
    return (
        "yellow" if not result.failing or result.verdict.outcome in {Outcome.UNKNOWN, Outcome.VACUOUS} else "bold red"
    )
