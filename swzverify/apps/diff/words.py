"""Phrases that the renderers of comparisons share, as plain text: each renderer escapes them."""

from __future__ import annotations

from swzverify.apps.diff.change import Change
from swzverify.apps.diff.result import LOST, ClaimDiff, DiffReport, SideName
from swzverify.core.words import counted
from swzverify.report.words import duration


def side_words(side: SideName) -> str:
    """A side as it is given, with what that is.

    >>> side_words(SideName("main", "a revision", "0123456789abcdef")), side_words(SideName("old", "a folder"))
    ('main (a revision, 0123456789ab)', 'old (a folder)')
    """
    if side.given == side.what:
        return side.given
    commit = f", {side.commit[:12]}" if side.commit else ""
    return f"{side.given} ({side.what}{commit})"


def change_words(change: Change) -> str:
    """One difference in words.

    >>> from swzverify.apps.diff.change import Aspect, Direction
    >>> change_words(Change(Aspect.DOMAIN, Direction.WEAKER, "threads", "128", "64", "tid = 64 is left out"))
    'threads: 128 -> 64 (tid = 64 is left out)'
    """
    note = f" ({change.note})" if change.note else ""
    return f"{change.what}: {change.before} -> {change.after}{note}"


def verdict_words(claim: ClaimDiff) -> str:
    """How the verdicts differ; empty where they do not, or where one is missing.

    >>> from swzverify.apps.diff.result import Status
    >>> verdict_words(ClaimDiff(Status.ADDED, None, None))
    ''
    """
    old, new = claim.result_before, claim.result_after
    if new is None or old is None:
        return "" if new is None or new.ok else f"{new.verdict.outcome}, expected {new.expected}"
    expected = "" if new.ok else f", expected {new.expected}"
    if old.verdict.outcome is new.verdict.outcome and old.ok == new.ok:
        return ""
    return f"{old.verdict.outcome} -> {new.verdict.outcome}{expected}"


def cost_facts(claim: ClaimDiff) -> list[tuple[str, str]]:
    """How the two worst costs differ, a label and a text each; none where they do not."""
    costs = (("wavefronts", claim.wavefronts), ("conflicts", claim.bank_conflicts))
    return [
        (label, f"{found[0]} -> {found[1]}, {'worse' if found[1] > found[0] else 'better'}")
        for label, found in costs
        if found is not None
    ]


def summary_words(report: DiffReport) -> str:
    """The line that sums a comparison up.

    >>> summary_words(DiffReport(SideName("a", "a folder"), SideName("b", "a folder"), (), wall_ms=20.0))
    'no claim on either side, in 20 ms'
    """
    counts = report.counts
    parts = [f"{count} {status}" for status, count in counts.items() if count]
    regressed = sum(claim.regressed for claim in report.claims)
    if regressed:
        parts.append(f"{counted(regressed, 'verdict')} no longer as expected")
    problems = len(report.base_problems) + len(report.head_problems)
    if problems:
        parts.append(counted(problems, "problem"))
    if not report.claims:
        parts.insert(0, "no claim on either side")
    if report.claims and not report.proved:
        parts.append("nothing proved")
    allowed = sum(claim.allowed for claim in report.claims if claim.status in LOST)
    if allowed:
        parts.append(f"{allowed} of them allowed")
    return f"{', '.join(parts)}, in {duration(report.wall_ms)}"
