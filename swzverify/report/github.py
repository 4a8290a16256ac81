"""The report for the log of a GitHub workflow: an annotation per finding, then the text report.

GitHub shows ten annotations of one level per step, the first ones: the gravest come first, and the
text has them all. Source: GitHub, "Workflow commands for GitHub Actions" (the commands);
actions/toolkit, packages/core (the escapes); GitHub community discussions 26680 and 68471 (the
limits: 10 per level and step, 50 per job).
"""

from __future__ import annotations

from swzverify.core.error_codes import TITLES
from swzverify.errors import Problem
from swzverify.report.escape import github_message, github_property, shortened
from swzverify.report.finding import Severity, findings
from swzverify.report.problems import render_problems
from swzverify.report.result import ClaimResult, ExitCode, Report
from swzverify.report.story import facts, headline
from swzverify.report.style import TextStyle
from swzverify.report.text import render_text

_COMMANDS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.NOTE: "notice"}

_TOLD = frozenset({"because", "scope", "reason", "cost", "note", "where", "decides", "cure"})
"""What an annotation tells after its first line; the place is its own."""

_TITLE = 200
_MESSAGE = 4000
"""Characters; GitHub cuts annotations far beyond, and the text below has the rest."""


def render_github(
    report: Report, style: TextStyle | None = None, exit_code: int | None = None, text: str | None = None
) -> str:
    """The workflow commands, a line each, then the text report (or `text`), which has no commands.

    >>> print(render_github(Report((), (Problem("SWZ104", "unknown key 'a'", file="a.yaml", line=3, column=5),))))
    ::error title=SWZ104 an unknown or missing key,file=a.yaml,line=3,col=5::unknown key 'a'
    a.yaml:3:5: SWZ104 unknown key 'a'
    1 problem in <1 ms
    <BLANKLINE>
    """
    style = TextStyle(width=120) if style is None else style
    code = report.exit_code if exit_code is None else exit_code
    commands = [_problem(problem) for problem in report.problems]
    if code == ExitCode.NO_CLAIM:
        commands.append(_command(Severity.ERROR, {"title": "swzverify"}, report.nothing))
    commands += [_finding(grade, result) for grade, result in findings(report)]
    return "".join(
        [
            *(f"{command}\n" for command in commands),
            render_problems(report.problems, style) if report.problems else "",
            render_text(report, style) if text is None else text,
        ]
    )


def _problem(problem: Problem) -> str:
    properties = {"title": f"{problem.code} {TITLES.get(problem.code, '')}".rstrip(), "file": problem.file}
    if problem.line:
        properties |= {"line": str(problem.line), "col": str(max(1, problem.column))}
    message = f"{problem.message}\n{problem.hint}" if problem.hint else problem.message
    return _command(Severity.ERROR, properties, message)


def _finding(grade: Severity, result: ClaimResult) -> str:
    title = shortened(f"{result.kind} {result.subject} {result.verdict.outcome}", _TITLE)
    properties = {"title": title, "file": result.spec, "line": str(result.line)}
    more = [f"{label}: {text}" for label, text in facts(result) if label in _TOLD]
    return _command(grade, properties, "\n".join([headline(result), *more]))


def _command(grade: Severity, properties: dict[str, str], message: str) -> str:
    written = ",".join(f"{name}={github_property(text)}" for name, text in properties.items() if text)
    return f"::{_COMMANDS[grade]} {written}::{github_message(shortened(message, _MESSAGE))}"
