"""`swzverify scan`: compiled kernels in, a verdict for every shared-memory access out.

`--certificates` writes what was proved into a folder, and `--write-spec` a spec of the accesses.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from enum import IntEnum
from typing import NoReturn

import click

from swzverify.apps.commands.files import check_ours, check_output, prepare_known, save_known, write_report
from swzverify.apps.commands.reports import check_reports
from swzverify.apps.commands.scan_launch import launch_of
from swzverify.apps.commands.scan_reports import Streamed, is_streamed, scan_words, write_scan
from swzverify.apps.commands.terminal import INTERRUPTED, loudness
from swzverify.apps.options.declare import named_files
from swzverify.apps.options.scan import FAILURES, ScanOptions
from swzverify.apps.run.progress import status_line
from swzverify.apps.run.scan import scan_files
from swzverify.apps.run.scan_check import DISAGREEMENT, checked, read_counters, spelled
from swzverify.apps.run.scan_run import InterruptedScanError, Listeners, ScanProgress
from swzverify.claims.verdict import Outcome
from swzverify.report.escape import visible
from swzverify.report.result import Report
from swzverify.report.scan import INTERRUPTED as PARTIAL
from swzverify.report.scan import ScannedFile
from swzverify.report.scan_claims import KINDS, NOTHING, report_of
from swzverify.report.scan_spec import scan_spec
from swzverify.report.scan_text import Detail


class ExitCode(IntEnum):
    """The exit codes of `swzverify scan`."""

    DONE = 0
    FOUND = 1
    NO_ACCESS = 5


def scan_command(options: ScanOptions) -> NoReturn:
    """Read compiled kernels, write the verdicts of their accesses, and end with the exit code."""
    if options.watch:
        from swzverify.apps.commands.watching import watch_kernels  # noqa: PLC0415 - an extra has what it needs

        watch_kernels(options, scan_once)
    sys.exit(scan_once(options))


def scan_once(options: ScanOptions) -> int:
    """Read compiled kernels and write the verdicts of their accesses; returns the exit code."""
    detail = Detail(loudness(verbose=options.verbose, quiet=options.quiet), options.top)
    read, reports = [*options.files, *options.cubins], options.reports
    launch = launch_of(options)
    check_output(reports.output, read, "--output")
    if options.scheduler is not None and options.certificates is not None:
        raise click.UsageError("--certificates and --scheduler: workers would write into folders of their own")
    named = named_files(options)
    check_ours("--write-spec", named, read, is_ours)
    check_reports(reports, read, named)
    accepted = prepare_known(named, read)
    counters = read_counters(options)
    prepare_certificates(options.certificates)
    begin = time.monotonic()
    partial = ""
    needs_all = options.baseline is not None or counters is not None
    with status_line("reading", enabled=not options.quiet) as line:
        stream = Streamed(reports, detail, line) if is_streamed(reports, detail, needs_all=needs_all) else None

        def watch(progress: ScanProgress) -> None:
            if line is not None:
                line.show(scan_words(progress))

        to = Listeners(watch=watch) if stream is None else stream.listeners(watch)
        try:
            found, check = scan_files(options, launch, to), None
        except InterruptedScanError as stopped:
            found, check, partial = [*stopped.files], None, str(stopped)
    if counters is not None and not partial:
        found, check = checked(found, counters, spelled(options))
    report = accepted(report_of(found, 1000 * (time.monotonic() - begin), pictures=reports.shows_pictures))
    wanted = options.fail_on or (() if options.baseline is None else FAILURES)
    code = INTERRUPTED if partial else int(_exit_code(report, (*wanted, DISAGREEMENT)))
    write_scan(found, report, code, reports, detail=detail, check=check, streamed=stream)
    if partial:
        click.echo(f"{PARTIAL}: {partial}", err=True)
    else:
        save_known(options.write_baseline, report)
        save_written(options.write_spec, found, options.target)
    save_certificates(options.certificates, found)
    return code


def _exit_code(report: Report, fail_on: tuple[str, ...]) -> ExitCode:
    if not report.results and not report.problems and report.nothing == NOTHING:
        return ExitCode.NO_ACCESS
    new = {(result.kind, result.verdict.outcome) for result in report.results if result.failing}
    found = {name for name, kind in KINDS.items() if (kind, Outcome.REFUTED) in new}
    if (KINDS["conflict"], Outcome.UNKNOWN) in new or report.problems:
        found.add("unknown")
    return ExitCode.FOUND if found & set(fail_on) else ExitCode.DONE


def prepare_certificates(folder: str | None) -> None:
    """Refuse, before minutes of work, a folder that holds anything else.

    Raises:
        CertificateError: SWZ606.
    """
    if folder is not None:
        from swzrecheck.folder import prepare  # noqa: PLC0415 - few runs write certificates

        prepare(folder)


def save_certificates(folder: str | None, found: Sequence[ScannedFile]) -> None:
    """List the certificates, and report on standard error how many there are.

    The report also says why some accesses have none.

    Raises:
        CertificateError: SWZ606.
    """
    if folder is None:
        return
    from swzverify.apps.run.certificates import list_accesses  # noqa: PLC0415 - few runs write certificates

    list_accesses(folder, found)
    every = [(file.name, access) for file in found for access in file.accesses]
    written = sum(bool(access.certificate) for _, access in every)
    free = written + sum(bool(access.no_certificate) for _, access in every)
    for name, access in every:
        if access.no_certificate:
            click.echo(f"{visible(name)}:{access.line}: no certificate: {visible(access.no_certificate)}", err=True)
    again = f"; recheck them: swzverify recheck {visible(folder)}" if written else ""
    click.echo(f"{visible(folder)}: certificates of {written} of {free} free accesses{again}", err=True)


FIRST_LINE = "# Written by swzverify scan --write-spec."


def is_ours(path: str) -> bool:
    """Whether a file begins as those of `save_written`."""
    try:
        with open(path, encoding="utf-8", errors="replace") as stream:
            return stream.readline().rstrip("\n") == FIRST_LINE
    except OSError:
        return False


def save_written(path: str | None, found: Sequence[ScannedFile], target: str) -> None:
    """Write the spec, and say to standard error how many accesses it has.

    Raises:
        SwzError: SWZ504.
    """
    if path is None:
        return
    write_report(f"{FIRST_LINE}\n{scan_spec(found, target)}", path, "spec")
    every = [access for file in found for access in file.accesses]
    said = sum(not access.written.reason for access in every)
    click.echo(
        f"{visible(path)}: {said} of {len(every)} accesses; prove them: swzverify prove {visible(path)}", err=True
    )
