"""The report as JSON Lines, schema "swzverify.report.line/1": claims, problems, then a summary.

Claims and problems have the keys of the JSON report. The last line is of the type `summary`; where
it is missing, the report was cut off.
"""

from __future__ import annotations

import json

from swzverify.report.json import baseline_object, claim_object, problem_object, summary_object
from swzverify.report.plain import Json, plain_integer
from swzverify.report.result import Report

SCHEMA = "swzverify.report.line/1"


def render_jsonl(report: Report, exit_code: int | None = None) -> str:
    """The report in ASCII, a line feed after each line; `exit_code` replaces the report's own.

    >>> render_jsonl(Report(()))[:53]
    '{"schema":"swzverify.report.line/1","type":"summary",'
    """
    baseline = report.baseline
    last: dict[str, Json] = {
        "summary": summary_object(report),
        "problems": len(report.problems),
        "baseline": None if baseline is None else baseline_object(baseline),
        "wall_ms": round(report.wall_ms, 3),
        "exit_code": int(report.exit_code if exit_code is None else exit_code),
    }
    return "".join(
        [
            *(_line("claim", claim_object(result)) for result in report.results),
            *(_line("problem", problem_object(problem)) for problem in report.problems),
            _line("summary", last),
        ]
    )


def _line(kind: str, values: dict[str, Json]) -> str:
    line: dict[str, Json] = {"schema": SCHEMA, "type": kind, **values}
    return json.dumps(line, ensure_ascii=True, allow_nan=False, separators=(",", ":"), default=plain_integer) + "\n"
