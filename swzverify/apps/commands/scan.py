"""`swzverify scan`: compiled kernels in, a verdict for every shared-memory access out."""

from __future__ import annotations

import sys
import time
from enum import IntEnum
from typing import NoReturn

import click

from swzverify.apps.commands.files import check_ours, check_output, prepare_known, save_known
from swzverify.apps.commands.reports import check_reports
from swzverify.apps.commands.scan_certificates import prepare_certificates, save_certificates
from swzverify.apps.commands.scan_launch import launch_of
from swzverify.apps.commands.scan_reports import Streamed, is_streamed, scan_words, write_scan
from swzverify.apps.commands.scan_spec import is_ours, save_written
from swzverify.apps.commands.terminal import INTERRUPTED, loudness
from swzverify.apps.options.declare import named_files
from swzverify.apps.options.scan import FAILURES, ScanOptions
from swzverify.apps.run.progress import status_line
from swzverify.apps.run.scan import scan_files
from swzverify.apps.run.scan_check import DISAGREEMENT, checked, read_counters, spelled
from swzverify.apps.run.scan_run import InterruptedScanError, Listeners, ScanProgress
from swzverify.claims.verdict import Outcome
from swzverify.report.result import Report
from swzverify.report.scan import INTERRUPTED as PARTIAL
from swzverify.report.scan_claims import KINDS, NOTHING, report_of
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
