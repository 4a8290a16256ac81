"""The report as JUnit XML for GitLab, Jenkins and others: a suite per file, a case per claim.

Unexpected claims are failures, of the type of their outcome (refuted, unknown, ...); faults and
problems of specs are errors; known failures are skipped. Valid against the two schemas that are in
use, that of Ant's reports by Windy Road and that of Jenkins' xUnit plugin: no property or place
belongs to a case there, so both are in its failure's text.
"""

from __future__ import annotations

import posixpath
from collections.abc import Sequence
from datetime import UTC, datetime
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from swzverify.claims.verdict import Outcome
from swzverify.core.error_codes import TITLES
from swzverify.errors import Problem
from swzverify.report.escape import prose, xml_text
from swzverify.report.finding import plain_story
from swzverify.report.problems import render_problems
from swzverify.report.result import ClaimResult, ExitCode, Report
from swzverify.report.story import headline
from swzverify.report.style import TextStyle
from swzverify.report.text import render_text

_STYLE = TextStyle(width=120)
_NO_FILE = "swzverify"
"""The suite of what belongs to no file."""


def render_junit(report: Report, *, version: str = "", exit_code: int | None = None, at: datetime | None = None) -> str:
    """The document, ASCII only; `at` is when the run was, by default now, and is written in UTC.

    >>> print(render_junit(Report((), (Problem("SWZ501", "no such file", file="a.yaml"),))).splitlines()[8].strip())
    <testcase classname="a.yaml" name="SWZ501" time="0.000">
    """
    code = report.exit_code if exit_code is None else exit_code
    stamp = (at or datetime.now(UTC)).astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S")
    root = Element("testsuites")
    files = _by_file(report)
    if code == ExitCode.NO_CLAIM:
        files.setdefault(_NO_FILE, ([], []))
    for index, (file, (results, problems)) in enumerate(files.items()):
        suite = _suite(root, index, file, results, problems)
        suite.set("timestamp", stamp)
        if file == _NO_FILE and code == ExitCode.NO_CLAIM:
            _no_claim(suite, report.nothing)
        _count(suite)
        properties = {"swzverify.version": version, "swzverify.exit_code": str(int(code)), "spec": file}
        for name, value in properties.items():
            SubElement(suite[0], "property", name=name, value=xml_text(value))
    indent(root)
    return tostring(root, encoding="us-ascii", xml_declaration=True).decode("ascii") + "\n"


def _by_file(report: Report) -> dict[str, tuple[list[ClaimResult], list[Problem]]]:
    files: dict[str, tuple[list[ClaimResult], list[Problem]]] = {}
    for result in report.results:
        files.setdefault(result.spec, ([], []))[0].append(result)
    for problem in report.problems:
        files.setdefault(problem.file or _NO_FILE, ([], []))[1].append(problem)
    return files


def _suite(
    root: Element, index: int, file: str, results: Sequence[ClaimResult], problems: Sequence[Problem]
) -> Element:
    """A suite without its counts: place for properties, the cases, and the text report."""
    name = prose(file) or _NO_FILE
    suite = SubElement(root, "testsuite", name=name, id=str(index), hostname="localhost")
    suite.set("package", posixpath.dirname(name) or ".")
    wall_ms = sum(result.verdict.time_ms for result in results)
    suite.set("time", _seconds(wall_ms))
    SubElement(suite, "properties")
    for result in results:
        _claim(suite, name, result)
    for problem in problems:
        _problem(suite, name, problem)
    output = render_text(Report(tuple(results), wall_ms=wall_ms), _STYLE) if results else ""
    SubElement(suite, "system-out").text = xml_text(output)
    SubElement(suite, "system-err").text = xml_text(render_problems(problems, _STYLE)) if problems else ""
    return suite


def _claim(suite: Element, classname: str, result: ClaimResult) -> None:
    """A case; its name is the claim's id within its file, which no other claim has."""
    name = prose(result.id.removeprefix(f"{result.spec}::"))
    case = SubElement(suite, "testcase", classname=classname, name=name, time=_seconds(result.verdict.time_ms))
    if result.verdict.outcome is Outcome.ERROR:
        child = "error"
    elif result.failing:
        child = "failure"
    elif not result.ok:
        child = "skipped"
    else:
        return
    detail = SubElement(case, child, message=xml_text(headline(result)))
    if child != "skipped":  # which has no type
        detail.set("type", result.verdict.outcome.value)
    detail.text = xml_text(plain_story(result))


def _problem(suite: Element, classname: str, problem: Problem) -> None:
    place = f" at {problem.line}:{problem.column}" if problem.line else ""
    name = prose(f"{problem.code}{place}")
    case = SubElement(suite, "testcase", classname=classname, name=name, time=_seconds(0))
    kind = f"{problem.code} {TITLES.get(problem.code, '')}".rstrip()
    detail = SubElement(case, "error", type=xml_text(kind), message=xml_text(problem.message))
    detail.text = xml_text(render_problems([problem], _STYLE))


def _no_claim(suite: Element, words: str) -> None:
    """A report without cases is read as a success by some; this run was none."""
    case = Element("testcase", classname=_NO_FILE, name=words, time=_seconds(0))
    SubElement(case, "error", type="no claim", message=words).text = words
    suite.insert(1, case)


def _count(suite: Element) -> None:
    cases = suite.findall("testcase")
    suite.set("tests", str(len(cases)))
    for attribute, child in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        suite.set(attribute, str(sum(case.find(child) is not None for case in cases)))


def _seconds(time_ms: float) -> str:
    """A time in seconds, as both schemas have it."""
    return f"{time_ms / 1000:.3f}"
