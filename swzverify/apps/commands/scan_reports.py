"""Where the reports of `swzverify scan` go, and as what."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from typing import Final

from rich.text import Text

from swzverify.apps.commands.files import write_each, write_report
from swzverify.apps.commands.terminal import FILE_WIDTH, say
from swzverify.apps.options.shared import ReportFile, Reports
from swzverify.apps.run.progress import StatusLine
from swzverify.apps.run.scan_run import Listeners, ScanProgress
from swzverify.apps.run.version import installed_version
from swzverify.compiled.kinds import RACE_CLAIMS
from swzverify.core.demangle import demangled
from swzverify.core.words import counted
from swzverify.errors import Problem
from swzverify.report.escape import log_lines, visible
from swzverify.report.formats import Format, Writing, render
from swzverify.report.result import Report
from swzverify.report.scan import ScannedFile, access_lines, last_lines, scan_json, scan_jsonl
from swzverify.report.scan_check import Check, check_markdown, check_record, check_text
from swzverify.report.scan_claims import KIND, VOCABULARY
from swzverify.report.scan_text import Detail, TextParts, scan_text
from swzverify.report.style import TextStyle

RACE_KINDS: Final = frozenset(each.kind for each in RACE_CLAIMS)


class Streamed:
    """The main report of a scan, written as functions are judged; nothing is written before the first.

    `line` is the line of the terminal that says how far the scan is.
    """

    def __init__(self, to: Reports, detail: Detail, line: StatusLine | None) -> None:
        self.begun = False
        self._to, self._detail, self._line = to, detail, line
        self._part: Callable[[ScannedFile], str] = access_lines
        self._last: Callable[[Sequence[ScannedFile]], str] = last_lines

    def listeners(self, watch: Callable[[ScanProgress], None]) -> Listeners:
        """Who hears of the scan."""
        return Listeners(self._begin, lambda file: self._write(self._part(file)), watch)

    def end(self, found: Sequence[ScannedFile]) -> None:
        """Write what comes behind all functions."""
        if not self.begun:
            self._begin([], [problem for file in found for problem in file.problems])
        self._write(self._last(found))

    def _begin(self, kernels: Sequence[str], problems: Sequence[Problem]) -> None:
        first = ""
        if self._to.form == Format.TEXT:
            text = TextParts(kernels, problems, self._detail)
            self._part, self._last, first = text.part, text.last, text.first
        if self._to.output is not None:
            write_report("", self._to.output)
        self.begun = True
        self._write(first)

    def _write(self, text: str) -> None:
        if not text:
            return
        if self._to.output is not None:
            write_report(text, self._to.output, mode="a")
            return
        with nullcontext() if self._line is None else self._line.away():
            say(text)


def is_streamed(to: Reports, detail: Detail, *, needs_all: bool) -> bool:
    """Whether the main report is written as functions are judged.

    Formats of documents, and what compares or sorts all findings, need all of them.
    """
    return not needs_all and (to.form == Format.JSONL or (to.form == Format.TEXT and detail.top is None))


def scan_words(progress: ScanProgress) -> Text:
    """How far a scan is.

    >>> scan_words(ScanProgress(40, 2, 310, 1, "gemm")).plain
    '2 of 40 functions, 310 accesses, 1 conflict  gemm'
    """
    parts = [f"{progress.judged} of {counted(progress.functions, 'function')}", counted(progress.accesses, "access")]
    if progress.conflicts:
        parts.append(counted(progress.conflicts, "conflict"))
    line = Text(", ".join(parts))
    if progress.latest:
        line.append(f"  {visible(demangled(progress.latest).short)}", style="dim")
    return line


def write_scan(
    found: Sequence[ScannedFile],
    report: Report,
    code: int,
    to: Reports,
    *,
    detail: Detail,
    check: Check | None = None,
    streamed: Streamed | None = None,
) -> None:
    """Write all reports, then fail if one could not be; the main one may go to the terminal.

    What was streamed gets its end.
    """

    def whole(file: ReportFile) -> str:
        return rendered(found, report, code, file.form, detail=detail, check=check)

    if streamed is not None:
        streamed.end(found)
    elif to.output is None:
        say(whole(ReportFile(to.form, "")))
    write_each(to.files if streamed is None else to.others, whole)


def rendered(
    found: Sequence[ScannedFile],
    report: Report,
    code: int,
    form: str,
    *,
    detail: Detail = Detail(),  # noqa: B008 - it is frozen
    check: Check | None = None,
) -> str:
    """What was found in a format; only what that format needs is imported."""

    def text() -> str:
        known = [not result.ok and not result.failing for result in report.results if result.kind == KIND]
        races = {result.id for result in report.results if result.accepted and result.kind in RACE_KINDS}
        counted = "" if check is None else check_text(found, check)
        return scan_text(found, known, detail, races) + counted + _baseline(report)

    record = None if check is None else check_record(found, check)

    match form:
        case Format.TEXT:
            return text()
        case Format.JSON:
            return scan_json(found, record)
        case Format.JSONL:
            return scan_jsonl(found, record)
        case _:
            log = log_lines(text()) if form == Format.GITHUB else None
            to = Writing(code, TextStyle(FILE_WIDTH), installed_version(), VOCABULARY, log)
            more = "" if check is None or form != Format.MARKDOWN else check_markdown(found, check)
            return render(form, report, to) + more


def _baseline(report: Report) -> str:
    """Where the file of known failures no longer fits, in a line each."""
    if report.baseline is None:
        return ""
    kinds = (
        ("known, but not so", report.baseline.changed),
        ("known, and no longer found", report.baseline.fixed),
        ("known, and not in this scan", report.baseline.unseen),
    )
    return "".join(f"{words}: {visible(each)}\n" for words, ids in kinds for each in ids)
