"""The report as SARIF 2.1.0, for GitHub's code scanning and editors: a result per finding.

What came out as expected has no result: GitHub shows every result as an alert, `kind: pass` too, so
the counts of the run's properties say how much was proved. An undecided claim is a warning and of
the kind `fail`, since `open` demands the level `none`, under which it would be hidden; a known
failure is a suppressed note.

A run that could not read every spec, or that found no claim, did not execute successfully: GitHub
would take the alerts of claims without a verdict as fixed. It then refuses the file and leaves its
alerts as they are.

GitHub compares `primaryLocationLineHash` from run to run; it is the claim's own fingerprint here,
because the hash of the line, which the upload would fill in, is one for all cases of a claim.

Source: OASIS, SARIF 2.1.0 (3.20.14 executionSuccessful, 3.27.9 kind, 3.27.10 level, 3.27.17
partialFingerprints, 3.35 suppressions). GitHub, "SARIF support for code scanning" and "SARIF
results exceed one or more limits" (25,000 results per run, of which 5,000 are shown; 10 MB
compressed). github/codeql-action, src/upload-lib.ts (unsuccessful execution) and
src/fingerprints.ts. microsoft/PSRule, issue 955 (`pass` as alerts).
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Sequence
from dataclasses import dataclass

from swzverify.errors import Problem
from swzverify.report.escape import markdown_text, sarif_markdown, sarif_text, sarif_uri, shortened, visible
from swzverify.report.finding import Severity, findings, plain_story
from swzverify.report.json import summary_object
from swzverify.report.plain import Json, plain_integer
from swzverify.report.result import ClaimResult, ExitCode, Report, fingerprint_of
from swzverify.report.rules import Rule, Vocabulary, claim_vocabulary, problem_rule
from swzverify.report.story import headline
from swzverify.report.table import ROW_LIMIT, cells, cut_rows, header

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"

_LONGEST = 8000
"""Characters of a message."""
_LEFT_OUT = Rule(
    "report-cut",
    "The report has more findings than a SARIF file may hold.",
    "Mend the findings that are shown, or prove fewer specs in a run. The other formats have every finding.",
)


@dataclass(frozen=True, slots=True)
class Limits:
    """What a file may hold: results and compressed bytes. GitHub's, less room for an upload."""

    results: int = 25_000
    gzip_bytes: int = 9_500_000


GITHUB = Limits()


def render_sarif(
    report: Report,
    *,
    version: str = "",
    exit_code: int | None = None,
    limits: Limits = GITHUB,
    vocabulary: Vocabulary | None = None,
) -> str:
    """The SARIF log of one run, ASCII only.

    `limits` cuts the log, the least grave findings first, and a result says so. `vocabulary` is that of
    claims by default.

    >>> json.loads(render_sarif(Report(())))["runs"][0]["invocations"][0]["exitCode"]
    5
    """
    code = ExitCode(report.exit_code if exit_code is None else exit_code)
    words = claim_vocabulary(result.kind for result in report.results) if vocabulary is None else vocabulary
    results = [*map(_problem, report.problems), *(_claim(grade, result) for grade, result in findings(report))]
    keep = len(results)
    if keep > limits.results:
        keep = limits.results - 1
    while True:
        text = _log(report, version, code, _cut(results, keep), words)
        # A fraction of the results need not have that fraction of the bytes, so a step may have to
        # be taken again.
        size_bytes = len(gzip.compress(text.encode("ascii"), compresslevel=6))
        if size_bytes <= limits.gzip_bytes or keep == 0:
            return text
        keep = min(keep - 1, int(keep * limits.gzip_bytes / size_bytes * 0.95))


def _cut(results: list[dict[str, Json]], keep: int) -> list[dict[str, Json]]:
    """The first `keep` results, and one that counts the others, at the first of their places."""
    if keep >= len(results):
        return results
    count = len(results) - keep
    result: dict[str, Json] = {
        "ruleId": _LEFT_OUT.name,
        "level": Severity.ERROR.value,
        "message": {"text": f"{count} of {len(results)} findings are left out of this file. {_LEFT_OUT.help}"},
        "locations": results[keep]["locations"],
        "partialFingerprints": {"primaryLocationLineHash": f"{_LEFT_OUT.name}:1"},
    }
    return [*results[:keep], result]


def _log(report: Report, version: str, code: ExitCode, results: list[dict[str, Json]], words: Vocabulary) -> str:
    rules = list(words.rules)
    rules += [problem_rule(name) for name in dict.fromkeys(visible(problem.code) for problem in report.problems)]
    if any(result["ruleId"] == _LEFT_OUT.name for result in results):
        rules.append(_LEFT_OUT)
    places = {rule.name: index for index, rule in enumerate(rules)}
    driver: dict[str, Json] = {
        "name": "swzverify",
        **({"version": version} if version else {}),
        "rules": [_rule(rule) for rule in rules],
    }
    invocation: dict[str, Json] = {
        "executionSuccessful": code not in {ExitCode.ERROR, ExitCode.NO_CLAIM, ExitCode.INTERRUPTED},
        "exitCode": int(code),
        "exitCodeDescription": words.exit_words[code],
    }
    run: dict[str, Json] = {
        "tool": {"driver": driver},
        "invocations": [invocation],
        "columnKind": "unicodeCodePoints",
        "results": [{**result, "ruleIndex": places[str(result["ruleId"])]} for result in results],
        "properties": {"claims": summary_object(report), "problems": len(report.problems)},
    }
    log: dict[str, Json] = {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}
    return json.dumps(log, indent=1, ensure_ascii=True, allow_nan=False, default=plain_integer) + "\n"


def _rule(rule: Rule) -> Json:
    return {
        "id": rule.name,
        "shortDescription": {"text": rule.meaning},
        "fullDescription": {"text": rule.meaning},
        "help": {"text": rule.help},
        "defaultConfiguration": {"level": "error"},
        "properties": {"tags": ["gpu", "shared-memory"]},
    }


def _problem(problem: Problem) -> dict[str, Json]:
    line, column = max(1, problem.line), max(1, problem.column)
    region: dict[str, Json] = {"startLine": line}
    if problem.line:
        region |= {"startColumn": column, "endColumn": column + max(1, problem.caret_length)}
    text = f"{problem.message}\n{problem.hint}" if problem.hint else problem.message
    fingerprint = fingerprint_of(f"{problem.code}\n{problem.file}\n{problem.message}")
    return {
        "ruleId": visible(problem.code),
        "level": Severity.ERROR.value,
        "message": {"text": sarif_text(shortened(text, _LONGEST))},
        "locations": [_location(problem.file, region)],
        "partialFingerprints": _fingerprints(fingerprint),
    }


def _claim(grade: Severity, result: ClaimResult) -> dict[str, Json]:
    message: dict[str, Json] = {"text": sarif_text(shortened(f"{headline(result)}\n{plain_story(result)}", _LONGEST))}
    if table := _table(result):
        message["markdown"] = sarif_markdown(f"{markdown_text(headline(result))}\n\n{table}")
    known: dict[str, Json] = {}
    if not result.ok and not result.failing:
        known["suppressions"] = [{"kind": "external", "status": "accepted", "justification": "a known failure"}]
    return {
        "ruleId": result.kind,
        "level": grade.value,
        "message": message,
        "locations": [_location(result.spec, {"startLine": max(1, result.line)})],
        **_related(result),
        "partialFingerprints": _fingerprints(result.fingerprint),
        **known,
        "properties": {"verdict": result.verdict.outcome.value, "expected": result.expected.value},
    }


def _related(result: ClaimResult) -> dict[str, Json]:
    """The lines of the constants that decide how the tile lies."""
    places: list[Json] = []
    for number, each in enumerate(result.deciding, 1):
        place = _location(result.spec, {"startLine": max(1, each.line)})
        places.append({"id": number, **place, "message": {"text": sarif_text(shortened(each.text, _LONGEST))}})
    return {"relatedLocations": places} if places else {}


def _fingerprints(fingerprint: str) -> Json:
    """Under the name that GitHub compares (`:1` tells equal ones apart), and under our own."""
    return {"primaryLocationLineHash": f"{fingerprint}:1", "swzverifyClaim/v1": fingerprint}


def _location(file: str, region: dict[str, Json]) -> dict[str, Json]:
    """A place; GitHub takes no result without one: what belongs to no file stands at the root."""
    artifact: dict[str, Json] = {"uri": sarif_uri(file) or ".", "uriBaseId": "%SRCROOT%"}
    return {"physicalLocation": {"artifactLocation": artifact, "region": region}}


def _table(result: ClaimResult) -> str:
    """The counterexample as a table of GitHub's Markdown; empty where there is none."""
    counterexample = result.verdict.counterexample
    if counterexample is None or not counterexample.rows:
        return ""
    names = header(counterexample.columns)
    lines: list[Sequence[str]] = [["", *names], ["---"] * (1 + len(names))]
    shown = cut_rows(counterexample.rows, ROW_LIMIT).shown
    lines += [[row.mark, *cells(counterexample.columns, row)] for row in shown]
    texts = [[cell if cell == "---" else markdown_text(shortened(cell, 200)) for cell in line] for line in lines]
    return "\n".join(f"| {' | '.join(line)} |" for line in texts)
