"""The JSON report, schema "swzverify.report/1": ASCII, fixed key order, an object per claim."""

from __future__ import annotations

import json
import operator
from collections.abc import Mapping
from dataclasses import asdict
from typing import SupportsIndex, TypeAlias

from swzverify.claims.verdict import OF_CLAIMS, Counterexample, Measure, Row, SectorMeasure
from swzverify.errors import Problem
from swzverify.report.result import BaselineUse, ClaimResult, Report

SCHEMA = "swzverify.report/1"

_LONGEST_LINE = 2000
"""Characters of a source line: a long line with many mistakes would make a report of megabytes."""

Json: TypeAlias = "dict[str, Json] | list[Json] | str | int | float | bool | None"


def render_json(report: Report) -> str:
    """The report as JSON text with a line feed at its end.

    >>> print(render_json(Report(())).splitlines()[1])
      "schema": "swzverify.report/1",
    """
    return json_text(document(report))


def json_text(values: Mapping[str, object]) -> str:
    """Plain values as a JSON document: ASCII, indented, with a line feed at its end.

    >>> json_text({"a": 1})
    '{\\n  "a": 1\\n}\\n'
    """
    return json.dumps(values, indent=2, ensure_ascii=True, allow_nan=False, default=plain_integer) + "\n"


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
        "id": result.id,
        "spec": result.spec,
        "line": result.line,
        "kind": result.kind,
        "subject": result.subject,
        "case": dict(result.case),
        "verdict": verdict.outcome.value,
        "expected": result.expected.value,
        "ok": result.ok,
        "accepted": result.accepted,
        "scope": verdict.scope,
        "engines": list(verdict.engines),
        "evidence": verdict.evidence,
        "time_ms": round(verdict.time_ms, 3),
        "measure": None if verdict.measure is None else _measure(verdict.measure),
        "sectors": None if verdict.sectors is None else _sectors(verdict.sectors),
        "counterexample": None if verdict.counterexample is None else _counterexample(verdict.counterexample),
        "reason": verdict.reason,
        "notes": list(verdict.notes),
        "because": result.because,
        "source": result.source,
        "cures": [asdict(each) for each in result.cures],
        "deciding": [asdict(each) for each in result.deciding],
    }


def baseline_object(use: BaselineUse) -> dict[str, Json]:
    """What a run made of its known failures."""
    return {name: list(ids) for name, ids in asdict(use).items()}


def _measure(measure: Measure) -> Json:
    return {
        "wavefronts": measure.wavefronts,
        "minimum": measure.minimum,
        "bank_conflicts": measure.bank_conflicts,
        "where": dict(measure.most_wavefronts.where),
        "exact": measure.exact,
        "most_conflicts": {
            "wavefronts": measure.most_conflicts.wavefronts,
            "minimum": measure.most_conflicts.minimum,
            "where": dict(measure.most_conflicts.where),
        },
    }


def _sectors(found: SectorMeasure) -> Json:
    return {"sectors": found.sectors, "minimum": found.minimum, "where": dict(found.where), "exact": found.exact}


def _counterexample(counterexample: Counterexample) -> Json:
    return {
        "binding": dict(counterexample.binding),
        "note": counterexample.note,
        "lanes": [_row(counterexample.columns, row) for row in counterexample.rows],
    }


def _row(columns: tuple[str, ...], row: Row) -> Json:
    cells = zip(columns, row.cells, strict=True)
    named: dict[str, Json] = {column: [*value] if isinstance(value, tuple) else value for column, value in cells}
    return {**named, "mark": row.mark}


def problem_object(problem: Problem) -> dict[str, Json]:
    """One problem of a spec file or of the command line."""
    return {**asdict(problem), "source_line": problem.source_line[:_LONGEST_LINE]}


def plain_integer(value: SupportsIndex) -> int:
    """A foreign integer, such as numpy's, as a plain one; `TypeError` for what is none."""
    return operator.index(value)
