"""A cross-check for people and machines; every disagreement becomes a ready-made issue.

How a cross-check ends: a row per claim, the device's recording, the problems of spec files.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from itertools import groupby

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from swzverify.core.words import counted
from swzverify.errors import Problem
from swzverify.gpu.crosscheck import CrossResult
from swzverify.gpu.recording import Recording
from swzverify.report.console import indented, rendered
from swzverify.report.escape import visible
from swzverify.report.plain import Json, json_text, members
from swzverify.report.result import ClaimResult, ExitCode
from swzverify.report.style import TextStyle

SCHEMA = "swzverify.crosscheck/1"
_AGREEMENT = {True: ("yes", "green"), False: ("NO", "bold red"), None: ("-", "dim")}
"""Words and colours."""


def render_cross_text(report: CrossReport, style: TextStyle) -> str:
    r"""The table by spec, then the disagreements, then one line that sums it up.

    >>> render_cross_text(CrossReport((), None), TextStyle())
    'no claim found\n'
    """
    blocks: list[RenderableType] = []
    if style.verbosity >= 0:
        for spec, rows in groupby(report.rows, key=lambda row: row.result.spec):
            blocks += [Text(visible(spec), style="bold", overflow="fold"), _table(list(rows), style), Text("")]
    for row in report.rows:
        if row.cross.agrees is False:
            blocks += [*_issue(row, report), Text("")]
    blocks.append(_summary(report))
    return rendered(blocks, style)


def _table(rows: list[CrossRow], style: TextStyle) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    for column in ("  claim", "model", "hardware", "agree"):
        table.add_column(column, overflow="fold")
    for row in rows:
        agree, colour = _AGREEMENT[row.cross.agrees]
        what = Text(f"  {visible(row.result.kind)} {visible(row.result.subject)}")
        hardware = Text(visible(row.cross.seen.text))
        for note in row.cross.comparison.left_out if style.verbosity > 0 else ():
            hardware.append(f"; {visible(note)}", style="dim")
        table.add_row(what, _model(row), hardware, Text(agree, style=colour))
    return table


def _model(row: CrossRow) -> Text:
    verdict = row.result.verdict
    cost = "" if verdict.measure is None else f", {counted(verdict.measure.wavefronts, 'wavefront')}"
    return Text(f"{verdict.outcome}{cost}")


def _issue(row: CrossRow, report: CrossReport) -> list[RenderableType]:
    """What a report of the disagreement must hold, to be pasted as it is."""
    recording = report.recording
    device = "" if recording is None else f"{recording.device} (sm_{recording.capability}, CUDA {recording.driver})"
    lines = [
        f"claim: {row.result.id}, line {row.result.line}",
        f"model: {_model(row).plain}; hardware: {row.cross.seen.text}",
        *(f"differs: {text}" for text in row.cross.differences),
        f"device: {device}",
        *([] if recording is None else [f"versions: {json.dumps(dict(recording.versions))}"]),
    ]
    title = f"The model of {row.result.kind} {row.result.subject} and the hardware disagree"
    return [
        Text(visible(title), style="bold red"),
        *(indented(Text(visible(line), overflow="fold"), 2) for line in lines),
    ]


def _summary(report: CrossReport) -> Text:
    agree, disagree, silent = report.counts
    if not report.rows:
        return Text("no claim found" if not report.problems else counted(len(report.problems), "problem"))
    parts = [f"{agree} agree", f"{disagree} disagree", f"{silent} not seen"]
    if report.problems:
        parts.append(counted(len(report.problems), "problem"))
    where = "" if report.recording is None else f" on {report.recording.device}"
    return Text(f"{', '.join(parts)}{where}", style="bold red" if disagree or report.problems else "bold green")


def render_cross_json(report: CrossReport) -> str:
    """The report as JSON, schema "swzverify.crosscheck/1"."""
    agree, disagree, silent = report.counts
    recording = report.recording
    device: Json = None
    if recording is not None:
        device = {"name": recording.device, **members(recording, "capability", "driver", "method")}
    document: dict[str, Json] = {
        "schema": SCHEMA,
        "device": device,
        "summary": {"agree": agree, "disagree": disagree, "not_seen": silent},
        "claims": [_row(row) for row in report.rows],
        "problems": [f"{problem.file}: {problem.code} {problem.message}" for problem in report.problems],
    }
    return json_text(document)


def _row(row: CrossRow) -> Json:
    cost = row.cross.cost
    return {
        **members(row.result, "id", "spec", "line", "kind", "subject"),
        "verdict": row.result.verdict.outcome.value,
        "agrees": row.cross.agrees,
        "hardware": row.cross.seen.text,
        **members(row.cross.comparison, "places", "bytes"),
        "patterns": None if cost is None else cost.patterns,
        "counted": None if cost is None else cost.counted,
        "wavefronts": None if cost is None or not cost.counted else cost.wavefronts,
        **members(row.cross, "differences"),
        **members(row.cross.comparison, "left_out"),
    }


@dataclass(frozen=True, slots=True)
class CrossRow:
    """A claim with its verdict and what the device said of it."""

    result: ClaimResult
    cross: CrossResult


@dataclass(frozen=True, slots=True)
class CrossReport:
    """The rows in the order of the claims; `recording` is None where there was no claim."""

    rows: tuple[CrossRow, ...]
    recording: Recording | None
    problems: tuple[Problem, ...] = ()

    @property
    def counts(self) -> tuple[int, int, int]:
        """Claims of which the device agreed, disagreed, and had nothing to say."""
        answers = [row.cross.agrees for row in self.rows]
        return answers.count(True), answers.count(False), answers.count(None)

    @property
    def exit_code(self) -> ExitCode:
        """1 where the device disagreed, 2 where a spec had problems, 5 without a claim."""
        if self.problems:
            return ExitCode.ERROR
        if not self.rows:
            return ExitCode.NO_CLAIM
        return ExitCode.UNEXPECTED if self.counts[1] else ExitCode.AS_EXPECTED
