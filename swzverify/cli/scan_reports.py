"""Where the reports of `swzverify scan` go, and as what."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from swzverify.cli.reports import Format, ReportFile
from swzverify.cli.terminal import FILE_WIDTH, Failure, say

if TYPE_CHECKING:
    from swzverify.report.result import Report
    from swzverify.report.scan import ScannedFile
    from swzverify.report.scan_check import Check


def write_scan(
    found: Sequence[ScannedFile],
    report: Report,
    code: int,
    form: Format,
    output: str | None,
    others: Sequence[ReportFile],
    *,
    quiet: bool,
    check: Check | None = None,
) -> None:
    """Write them all, then fail if one could not be; without `output` the main one goes to standard
    output.
    """
    if output is None:
        say(rendered(found, report, code, form, quiet=quiet, check=check))
    else:
        others = [ReportFile(form, output), *others]
    failures: list[str] = []
    for file in others:
        text = rendered(found, report, code, file.form, quiet=quiet, check=check)
        try:
            with open(file.path, "w", encoding="utf-8", errors="backslashreplace", newline="\n") as stream:
                stream.write(text)
        except OSError as error:
            failures.append(f"SWZ504 cannot write the report {file.path!r}: {error.strerror}")
    if failures:
        raise Failure("\n".join(failures))


def rendered(
    found: Sequence[ScannedFile],
    report: Report,
    code: int,
    form: Format,
    *,
    quiet: bool = False,
    check: Check | None = None,
) -> str:
    """What was found in a format; only what that format needs is imported."""
    from swzverify.report.scan import scan_json, scan_jsonl, scan_text  # noqa: PLC0415 - `--help` is to be quick
    from swzverify.report.scan_check import check_markdown, check_record, check_text  # noqa: PLC0415
    from swzverify.report.scan_claims import KIND  # noqa: PLC0415

    def text() -> str:
        known = [not result.ok and not result.failing for result in report.results if result.kind == KIND]
        counted = "" if check is None else check_text(found, check)
        return scan_text(found, known, quiet=quiet) + counted + _baseline(report)

    record = None if check is None else check_record(found, check)

    renderers: dict[Format, Callable[[], str]] = {
        Format.TEXT: text,
        Format.JSON: lambda: scan_json(found, record),
        Format.JSONL: lambda: scan_jsonl(found, record),
        Format.JUNIT: lambda: _junit(report, code),
        Format.SARIF: lambda: _sarif(report, code),
        Format.GITHUB: lambda: _github(report, code, text()),
        Format.MARKDOWN: lambda: _markdown(report, code) + ("" if check is None else check_markdown(found, check)),
        Format.HTML: lambda: _html(report, code),
    }
    return renderers[form]()


def _baseline(report: Report) -> str:
    """Where the file of known failures no longer fits, in a line each."""
    from swzverify.report.escape import visible  # noqa: PLC0415 - see `rendered`

    if report.baseline is None:
        return ""
    kinds = (
        ("known, but not so", report.baseline.changed),
        ("known, and no longer found", report.baseline.fixed),
        ("known, and not in this scan", report.baseline.unseen),
    )
    return "".join(f"{words}: {visible(each)}\n" for words, ids in kinds for each in ids)


def _junit(report: Report, code: int) -> str:
    from swzverify.report.junit import render_junit  # noqa: PLC0415 - see `rendered`
    from swzverify.run.version import installed_version  # noqa: PLC0415

    return render_junit(report, version=installed_version(), exit_code=code)


def _sarif(report: Report, code: int) -> str:
    from swzverify.report.sarif import render_sarif  # noqa: PLC0415 - see `rendered`
    from swzverify.report.scan_claims import VOCABULARY  # noqa: PLC0415
    from swzverify.run.version import installed_version  # noqa: PLC0415

    return render_sarif(report, version=installed_version(), exit_code=code, vocabulary=VOCABULARY)


def _github(report: Report, code: int, text: str) -> str:
    from swzverify.report.escape import log_lines  # noqa: PLC0415 - see `rendered`
    from swzverify.report.github import render_github  # noqa: PLC0415
    from swzverify.report.style import TextStyle  # noqa: PLC0415

    return render_github(report, TextStyle(FILE_WIDTH), code, log_lines(text))


def _markdown(report: Report, code: int) -> str:
    from swzverify.report.markdown import render_markdown  # noqa: PLC0415 - see `rendered`

    return render_markdown(report, exit_code=code)


def _html(report: Report, code: int) -> str:
    from swzverify.report.html.page import render_html  # noqa: PLC0415 - see `rendered`
    from swzverify.report.scan_claims import VOCABULARY  # noqa: PLC0415

    return render_html(report, exit_code=code, vocabulary=VOCABULARY)
