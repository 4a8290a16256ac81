"""The report as GitHub's Markdown, for a job summary: faults first, each claim's story folded.

No text of a spec is read as markup, and the whole stays below what a step's summary may hold; what
does not fit is counted in a sentence. Source: GitHub, "Adding a job summary": at most 1 MiB per step,
and beyond that nothing is shown.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import groupby

from swzverify.errors import Problem
from swzverify.report import words
from swzverify.report.escape import html_text, markdown_code, markdown_text, shortened
from swzverify.report.finding import Severity, findings, severity
from swzverify.report.matrix import TITLE, Matrix, matrix
from swzverify.report.result import ClaimResult, ExitCode, Report
from swzverify.report.story import expectation, facts, headline, subject_words
from swzverify.report.table import ROW_LIMIT, cells, cut_rows, header, remainder

LIMIT_BYTES = 1024 * 1024
_RESERVE_BYTES = 2048
"""For the sentences on what was left out."""

_LONGEST = 2000
"""Characters of one text of a spec."""

_SIGNS = {Severity.ERROR: "\u274c", Severity.WARNING: "\u26a0\ufe0f", Severity.NOTE: "\u2139\ufe0f", None: "\u2705"}


@dataclass(slots=True)
class _Page:
    """Text that grows up to a limit; a piece that does not fit is not added."""

    limit_bytes: int
    pieces: list[str] = field(default_factory=list[str])
    size_bytes: int = 0

    def add(self, piece: str, *, always: bool = False) -> bool:
        """Whether the piece fitted; what is always added counts too."""
        size_bytes = len(piece.encode("utf-8", "backslashreplace"))
        if not always and self.size_bytes + size_bytes > self.limit_bytes:
            return False
        self.pieces.append(piece)
        self.size_bytes += size_bytes
        return True


def render_markdown(report: Report, *, exit_code: int | None = None, limit_bytes: int = LIMIT_BYTES) -> str:
    """The report; `limit_bytes` (8192 or more, by default 1 MiB) is what it may take in UTF-8.

    >>> print(render_markdown(Report((), wall_ms=20.0)))
    ## \u274c swzverify: no claim found in 20 ms
    <BLANKLINE>
    """
    page = _Page(limit_bytes - _RESERVE_BYTES)
    code = report.exit_code if exit_code is None else exit_code
    grade = {ExitCode.AS_EXPECTED: None, ExitCode.UNDECIDED: Severity.WARNING}.get(ExitCode(code), Severity.ERROR)
    page.add(f"## {_SIGNS[grade]} swzverify: {markdown_text(words.summary_line(report))}\n", always=True)
    found = findings(report)
    _section(page, _PROBLEMS, map(_problem_row, report.problems), len(report.problems), "problems")
    _section(page, _FINDINGS, (_claim_row(result) for _, result in found), len(found), "findings")
    _section(page, "", (_details(grade, result) for grade, result in found), len(found), "stories")
    for spec, results in groupby(report.results, key=lambda result: result.spec):
        costs = matrix(results)
        if costs is not None:
            head, rows = _costs(spec, costs)
            _section(page, head, rows, len(costs.rows), "cases")
    _section(page, _CLAIMS, map(_claim_row, report.results), len(report.results), "claims", end="\n</details>\n")
    return "".join(page.pieces)


_PROBLEMS = "\n### Problems\n\n| at | code | what is wrong | next step |\n|---|---|---|---|\n"
_COLUMNS = "|  | claim | subject | verdict | at |\n|---|---|---|---|---|\n"
_FINDINGS = f"\n### Findings\n\n{_COLUMNS}"
_CLAIMS = f"\n<details><summary>All claims</summary>\n\n{_COLUMNS}"


def _section(page: _Page, start: str, pieces: Iterable[str], count: int, noun: str, end: str = "") -> None:
    """As many pieces as fit, and a sentence on the others; nothing at all where there are none."""
    if not count:
        return
    shown = 0
    if page.add(start):
        for piece in pieces:
            if not page.add(piece):
                break
            shown += 1
        page.add(end, always=True)
    if shown < count:
        sentence = f"\n**{count - shown} of {count} {noun} are left out here: a summary has a limit of size.** "
        page.add(f"{sentence}The log and the other reports have them.\n", always=True)


def _problem_row(problem: Problem) -> str:
    told = [_text(problem.message), _text(problem.hint)]
    return _row([_code(problem.place) if problem.file else "", _code(problem.code), *told])


def _claim_row(result: ClaimResult) -> str:
    verdict = result.verdict.outcome.value
    if told := expectation(result):
        verdict += f", {told}"
    if spent := words.cost_of(result.verdict):
        verdict += f", {spent}"
    where = _code(f"{result.spec}:{result.line}")
    sign = _SIGNS[severity(result)]
    return _row([sign, _code(result.kind), _code(subject_words(result)), markdown_text(verdict), where])


def _costs(spec: str, costs: Matrix) -> tuple[str, Iterable[str]]:
    """What each access costs in each case: the title with the table's head, and the rows."""
    names = _line([TITLE, *map(_code, costs.accesses)])
    head = f"\n### Costs by case: {_code(spec)}\n\n{names}\n{_line(['---'] * (1 + len(costs.accesses)))}\n"
    return head, (_row([_text(label), *map(markdown_text, cells)]) for label, cells in costs.rows)


def _details(grade: Severity, result: ClaimResult) -> str:
    """One finding, folded: the headline, what is known, and the table of its counterexample."""
    head = html_text(shortened(headline(result), _LONGEST)).replace("&#10;", " ")
    lines = [f"\n<details><summary>{_SIGNS[grade]} <code>{head}</code></summary>\n"]
    lines += [f"- {label}: {_text(text)}" for label, text in facts(result)]
    counterexample = result.verdict.counterexample
    if counterexample is not None and counterexample.rows:
        lines.append("")
        names = header(counterexample.columns)
        lines += [_line(["", *map(markdown_text, names)]), _line(["---"] * (1 + len(names)))]
        for row in cut_rows(counterexample.rows, ROW_LIMIT).shown:
            shown = cells(counterexample.columns, row)
            lines.append(_line([markdown_text(row.mark), *(_text(text) for text in shown)]))
        if more := remainder(counterexample, ROW_LIMIT):
            lines += ["", f"{more} not shown"]
    return "\n".join([*lines, "\n</details>\n"])


def _text(text: str) -> str:
    return markdown_text(shortened(text, _LONGEST))


def _code(text: str) -> str:
    return markdown_code(shortened(text, _LONGEST))


def _line(texts: Sequence[str]) -> str:
    return f"| {' | '.join(texts)} |"


def _row(texts: Sequence[str]) -> str:
    return f"{_line(texts)}\n"
