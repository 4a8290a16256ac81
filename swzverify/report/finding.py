"""What a report must not hide: the claims that call for a reader, how gravely, and in which order."""

from __future__ import annotations

from enum import StrEnum

from swzverify.claims.verdict import Outcome
from swzverify.report.console import rendered
from swzverify.report.result import ClaimResult, Report
from swzverify.report.story import story
from swzverify.report.style import TextStyle

_STYLE = TextStyle(width=120)


class Severity(StrEnum):
    """How grave a finding is: errors are wrong, warnings undecided, notes do not fail the run."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


def severity(result: ClaimResult) -> Severity | None:
    """How grave a claim's verdict is; None for a proof or a refutation that came out as expected.

    A fault is an error whatever was expected. Notes are known failures, and claims that are
    undecided as expected.

    >>> from swzverify.claims.verdict import Verdict
    >>> verdict = Verdict(Outcome.UNKNOWN, "")
    >>> severity(ClaimResult("", "a.yaml", 3, "bijective", "A", Outcome.PROVED, verdict)).value
    'warning'
    """
    match result.verdict.outcome:
        case Outcome.ERROR:
            return Severity.ERROR
        case Outcome.UNKNOWN | Outcome.VACUOUS:
            return Severity.WARNING if result.failing else Severity.NOTE
        case Outcome.PROVED | Outcome.CHECKED | Outcome.REFUTED:
            if result.failing:
                return Severity.ERROR
            return None if result.ok else Severity.NOTE


def findings(report: Report) -> list[tuple[Severity, ClaimResult]]:
    """The claims that have a severity, the gravest first, else in the report's order."""
    graded = [(grade, result) for result in report.results if (grade := severity(result)) is not None]
    order = list(Severity)
    return sorted(graded, key=lambda graded: (order.index(graded[0]), graded[1].verdict.outcome is not Outcome.ERROR))


def plain_story(result: ClaimResult) -> str:
    """A claim's whole story as plain text of 120 columns; no line is a command.

    >>> from swzverify.claims.verdict import Verdict
    >>> verdict = Verdict(Outcome.UNKNOWN, "", reason="out of time", time_ms=20.0)
    >>> print(plain_story(ClaimResult("", "a.yaml", 3, "bijective", "A", Outcome.PROVED, verdict)), end="")
      ? unknown  bijective  A  expected proved
        at       a.yaml:3
        reason   out of time
        engines  none, 20 ms
    """
    return rendered([story(result, _STYLE)], _STYLE)
