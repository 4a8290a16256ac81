"""Where the reports of `swzverify scan` go, and as what."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from swzverify.apps.commands.files import write_each
from swzverify.apps.commands.terminal import FILE_WIDTH, say
from swzverify.apps.options.shared import Reports
from swzverify.apps.run.version import installed_version
from swzverify.compiled.kinds import RACE_CLAIMS
from swzverify.report.escape import log_lines, visible
from swzverify.report.formats import Format, Writing, render
from swzverify.report.result import Report
from swzverify.report.scan import ScannedFile, scan_json, scan_jsonl
from swzverify.report.scan_check import Check, check_markdown, check_record, check_text
from swzverify.report.scan_claims import KIND, VOCABULARY
from swzverify.report.scan_text import Detail, scan_text
from swzverify.report.style import TextStyle

RACE_KINDS: Final = frozenset(each.kind for each in RACE_CLAIMS)


def write_scan(
    found: Sequence[ScannedFile],
    report: Report,
    code: int,
    to: Reports,
    *,
    detail: Detail,
    check: Check | None = None,
) -> None:
    """Write all reports, then fail if one could not be; the main one may go to the terminal."""
    if to.output is None:
        say(rendered(found, report, code, to.form, detail=detail, check=check))
    write_each(to.files, lambda file: rendered(found, report, code, file.form, detail=detail, check=check))


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
