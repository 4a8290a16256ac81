"""The text report: a line per claim or file, all details of what is wrong, and a summary line."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby

from rich.cells import cell_len
from rich.console import RenderableType
from rich.text import Text

from swzverify.claims.verdict import Outcome
from swzverify.report import words
from swzverify.report.by_file import file_lines, is_for_files
from swzverify.report.cases import Told, told_once
from swzverify.report.console import indented, padded, rendered
from swzverify.report.escape import prose, visible
from swzverify.report.marks import mark, mark_colour
from swzverify.report.matrix import TITLE, Matrix, matrix
from swzverify.report.result import BaselineUse, ClaimResult, ExitCode, Report
from swzverify.report.story import engine_words, expectation, story, subject_words
from swzverify.report.style import TextStyle

_MAX_SUBJECT = 36
_INDENT = 6


def render_text(report: Report, style: TextStyle) -> str:
    r"""The report as text; the problems of spec files are for `render_problems`.

    >>> render_text(Report((), wall_ms=20.0), TextStyle())
    'no claim found in 20 ms\n'
    """
    blocks: list[RenderableType] = []
    if style.verbosity == 0 and style.by_file and is_for_files(report.results):
        blocks += [*file_lines(report.results, style), Text("")]
    elif style.verbosity >= 0:
        for spec, results in groupby(report.results, key=lambda result: result.spec):
            blocks += [*_spec_blocks(spec, tuple(results), style), Text("")]
    failures = told_once(result for result in report.results if result.failing)
    if failures and style.verbosity >= 0:
        blocks.append(Text("Not as expected:", style="bold"))
    for told in failures:
        blocks += [story(told.result, style, told.words), Text("")]
    if report.baseline is not None and style.verbosity >= 0:
        blocks += _baseline_blocks(report.baseline)
    return rendered([*blocks, _summary(report)], style)


def _baseline_blocks(use: BaselineUse) -> list[RenderableType]:
    """Where the file of known failures no longer fits the run."""
    parts = (
        ("Known to fail, but not so:", use.changed, "bold red"),
        ("Known to fail, and no longer failing; take them out of the file:", use.fixed, "yellow"),
        ("Known to fail, and not in this run: renamed, deleted, or not asked for:", use.unseen, "yellow"),
    )
    blocks: list[RenderableType] = []
    for title, ids, style in parts:
        if ids:
            lines = [indented(Text(visible(each), overflow="fold"), 2) for each in ids]
            blocks += [Text(title, style=style), *lines, Text("")]
    return blocks


def _spec_blocks(spec: str, results: tuple[ClaimResult, ...], style: TextStyle) -> list[RenderableType]:
    """The claims of one spec, a line or a story each; failures have their stories at the end."""
    blocks: list[RenderableType] = [Text(visible(spec), style="bold", overflow="fold")]
    lines = told_once(results)
    widths = _Widths.of(lines)
    for told in lines:
        if style.verbosity > 0 and not told.result.failing:
            blocks.append(story(told.result, style, told.words))
        else:
            blocks += [*_claim_line(told, widths, style), *_below(told.result)]
    costs = matrix(results)
    return blocks if costs is None else [*blocks, Text(""), *_matrix_lines(costs)]


def _matrix_lines(costs: Matrix) -> list[RenderableType]:
    """The costs as a table: one line per case."""
    table = [(TITLE, costs.accesses), *costs.rows]
    first = max(cell_len(label) for label, _ in table)
    widths = [max(cell_len(cells[column]) for _, cells in table) for column in range(len(costs.accesses))]
    lines: list[RenderableType] = []
    for label, cells in table:
        filled = (padded(cell, width) for cell, width in zip(cells, widths, strict=True))
        text = "  ".join([padded(label, first), *filled]).rstrip()
        lines.append(indented(Text(text, style="" if lines else "dim", overflow="fold"), 2))
    return lines


@dataclass(frozen=True, slots=True)
class _Widths:
    """The widths, in terminal cells, that line up the claims of one spec."""

    kind: int
    subject: int
    cost: int
    engines: int

    @staticmethod
    def of(lines: list[Told]) -> _Widths:
        results = [told.result for told in lines]
        return _Widths(
            kind=max(cell_len(visible(result.kind)) for result in results),
            subject=min(_MAX_SUBJECT, max(cell_len(subject_words(told.result, told.words)) for told in lines)),
            cost=max(cell_len(words.cost_of(result.verdict)) for result in results),
            engines=max(cell_len(engine_words(result)) for result in results),
        )


def _claim_line(told: Told, widths: _Widths, style: TextStyle) -> list[RenderableType]:
    """Mark, verdict, kind, subject, cost, engines, time; what does not fit goes below, indented."""
    result = told.result
    quiet = _quiet(result)
    line = Text("  ", style="dim" if quiet else "", overflow="fold")
    line.append(f"{mark(result, style)} {result.verdict.outcome.value:<8}", style=mark_colour(result))
    line.append(f"{padded(visible(result.kind), widths.kind)}  ")
    line.append(padded(subject_words(result, told.words), widths.subject), style="" if quiet else "bold")
    columns = [(words.cost_of(result.verdict), widths.cost), (engine_words(result), widths.engines)]
    spent = words.duration(result.verdict.time_ms)
    after = [part for part in (_evidence(result), expectation(result)) if part]
    tail = "  ".join([*(padded(text, width) for text, width in columns if width), f"{spent:>6}", *after])
    if line.cell_len + 2 + cell_len(tail) <= style.columns:
        return [line.append(f"  {tail}")]
    short = "  ".join([*(text for text, _ in columns if text), spent, *after])
    return [line, indented(Text(short, style=line.style, overflow="fold"), _INDENT)]


def _below(result: ClaimResult) -> list[RenderableType]:
    """The scope, or why a documented failure is one; then what a reader of a proof must know."""
    verdict = result.verdict
    if result.failing:
        return []
    if not result.ok:
        lines = [(verdict.reason or verdict.scope, "dim")]
    elif _quiet(result):
        lines = [(result.because or verdict.scope, "dim")]
    else:
        lines = [(verdict.scope, "dim"), (verdict.reason, "yellow")]
    return [indented(Text(prose(text), style=style, overflow="fold"), _INDENT) for text, style in lines if text]


def _quiet(result: ClaimResult) -> bool:
    """Whether this is a documented failure that came out as one."""
    return result.ok and result.verdict.outcome is not Outcome.PROVED


def _evidence(result: ClaimResult) -> str:
    """The hardware fact's evidence where it is weaker than a measurement."""
    evidence = result.verdict.evidence
    return "" if evidence in {"", "measured"} else f"[{visible(evidence)}]"


def _summary(report: Report) -> Text:
    good = report.exit_code is ExitCode.AS_EXPECTED
    return Text(words.summary_line(report), style="bold green" if good else "bold red", overflow="fold")
