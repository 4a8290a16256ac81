"""The JSON report, schema "swzverify.report/1": ASCII, fixed key order, an object per claim."""

from __future__ import annotations

from typing import TYPE_CHECKING

from swzverify.claims.verdict import OF_CLAIMS, Counterexample, Measure, Row
from swzverify.errors import Problem
from swzverify.report.plain import Json, json_text, members, to_json
from swzverify.report.result import BaselineUse, ClaimResult, Report

if TYPE_CHECKING:
    from swzverify.search.cures import Cure

SCHEMA = "swzverify.report/1"

_LONGEST_LINE = 2000
"""Characters of a source line: a long line with many mistakes would make a report of megabytes."""


def render_json(report: Report) -> str:
    """The report as JSON text with a line feed at its end.

    >>> print(render_json(Report(())).splitlines()[1])
      "schema": "swzverify.report/1",
    """
    return json_text(document(report))


def document(report: Report) -> dict[str, Json]:
    """The report as the plain values that JSON knows.

    >>> list(document(Report(())))
    ['schema', 'summary', 'claims', 'problems', 'baseline', 'wall_ms']
    """
    return {
        "schema": SCHEMA,
        "summary": summary_object(report),
        "claims": [claim_object(result) for result in report.results],
        "problems": [problem_object(problem) for problem in report.problems],
        "baseline": None if report.baseline is None else baseline_object(report.baseline),
        "wall_ms": round(report.wall_ms, 3),
    }


def summary_object(report: Report) -> dict[str, Json]:
    """A count per outcome, and how many claims did not come out as expected."""
    summary = report.summary
    counts: dict[str, Json] = {outcome.value: summary.counts[outcome] for outcome in OF_CLAIMS}
    return {**counts, "unexpected": summary.unexpected, "accepted": summary.accepted}


def claim_object(result: ClaimResult) -> dict[str, Json]:
    """One claim with its verdict."""
    verdict = result.verdict
    return {
        **members(result, "id", "spec", "line", "kind", "subject", "case"),
        "verdict": verdict.outcome.value,
        **members(result, "expected", "ok", "accepted"),
        **members(verdict, "scope", "engines", "evidence", "time_ms"),
        "measure": None if verdict.measure is None else _measure(verdict.measure),
        "sectors": None
        if verdict.sectors is None
        else members(verdict.sectors, "sectors", "minimum", "where", "exact"),
        "counterexample": None if verdict.counterexample is None else _counterexample(verdict.counterexample),
        **members(verdict, "reason", "notes"),
        **members(result, "because", "source"),
        "cures": [cure_object(each) for each in result.cures],
        **members(result, "deciding"),
    }


def cure_object(cure: Cure) -> dict[str, Json]:
    """The words of a change that helps."""
    return members(cure, "object", "change", "gives", "also")


def baseline_object(use: BaselineUse) -> dict[str, Json]:
    """What a run made of its known failures."""
    return members(use)


def _measure(measure: Measure) -> Json:
    return {
        **members(measure, "wavefronts", "minimum", "bank_conflicts"),
        "where": to_json(measure.most_wavefronts.where),
        "exact": measure.exact,
        "most_conflicts": members(measure.most_conflicts, "wavefronts", "minimum", "where"),
    }


def _counterexample(counterexample: Counterexample) -> Json:
    return {
        **members(counterexample, "binding", "note"),
        "lanes": [_row(counterexample.columns, row) for row in counterexample.rows],
    }


def _row(columns: tuple[str, ...], row: Row) -> Json:
    cells = zip(columns, row.cells, strict=True)
    named: dict[str, Json] = {column: [*value] if isinstance(value, tuple) else value for column, value in cells}
    return {**named, "mark": row.mark}


def problem_object(problem: Problem) -> dict[str, Json]:
    """One problem of a spec file or of the command line."""
    return {**members(problem), "source_line": problem.source_line[:_LONGEST_LINE]}
