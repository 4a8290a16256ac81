"""A comparison as JSON, schema "swzverify.diff/1": ASCII only, keys in a fixed order."""

from __future__ import annotations

from dataclasses import asdict

from swzverify.apps.diff.result import ClaimDiff, DiffReport, SideName, Status
from swzverify.errors import Problem
from swzverify.report.plain import Json, json_text, members
from swzverify.report.result import ClaimResult
from swzverify.spec import SpecClaim

SCHEMA = "swzverify.diff/1"


def render_diff_json(report: DiffReport) -> str:
    """The comparison as JSON text with a line feed at its end.

    >>> side = SideName("a", "a folder")
    >>> print(render_diff_json(DiffReport(side, side, ())).splitlines()[1])
      "schema": "swzverify.diff/1",
    """
    document: dict[str, Json] = {
        "schema": SCHEMA,
        "base": _side(report.base),
        "head": _side(report.head),
        "summary": {
            **{status.value: report.counts[status] for status in Status},
            "regressed": sum(claim.regressed for claim in report.claims),
            "failing": len(report.failing),
            "exit_code": int(report.exit_code),
            "proved": report.proved,
        },
        "claims": [_claim(claim) for claim in report.claims],
        "problems": [
            *(_problem("base", problem) for problem in report.base_problems),
            *(_problem("head", problem) for problem in report.head_problems),
        ],
        **members(report, "wall_ms"),
    }
    return json_text(document)


def _side(side: SideName) -> Json:
    return {**asdict(side), "commit": side.commit or None}


def _claim(claim: ClaimDiff) -> Json:
    return {
        "id": claim.claim.id,
        "status": claim.status.value,
        **members(claim, "failing", "allowed"),
        **members(claim.claim, "kind", "subject", "case"),
        **members(claim, "changes", "note", "regressed"),
        "base": _of_side(claim.before, claim.result_before),
        "head": _of_side(claim.after, claim.result_after),
    }


def _of_side(claim: SpecClaim | None, result: ClaimResult | None) -> Json:
    """One side's claim and result; null where it has no such claim."""
    if claim is None:
        return None
    measure = None if result is None else result.verdict.measure
    return {
        **members(claim, "id", "line", "expected"),
        "verdict": None if result is None else result.verdict.outcome.value,
        "ok": None if result is None else result.ok,
        "wavefronts": None if measure is None else int(measure.wavefronts),
        "bank_conflicts": None if measure is None else int(measure.bank_conflicts),
    }


def _problem(side: str, problem: Problem) -> Json:
    return {"side": side, **members(problem, "code", "message", "hint", "file", "line", "column")}
