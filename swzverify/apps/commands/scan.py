"""`swzverify scan`: compiled kernels in, a verdict for every shared-memory access out."""

from __future__ import annotations

import sys
import time
from enum import IntEnum
from typing import NoReturn

from swzverify.apps.commands.files import check_ours, check_output, prepare_known, save_known
from swzverify.apps.commands.reports import check_reports
from swzverify.apps.commands.scan_certificates import prepare_certificates, save_certificates
from swzverify.apps.commands.scan_check import DISAGREEMENT, checked, read_counters, spelled
from swzverify.apps.commands.scan_launch import launch_of
from swzverify.apps.commands.scan_reports import write_scan
from swzverify.apps.commands.scan_spec import is_ours, save_written
from swzverify.apps.commands.terminal import loudness
from swzverify.apps.options.declare import named_files
from swzverify.apps.options.scan import FAILURES, ScanOptions
from swzverify.apps.run.scan import scan_files
from swzverify.claims.verdict import Outcome
from swzverify.report.result import Report
from swzverify.report.scan_claims import KINDS, report_of
from swzverify.report.scan_text import Detail


class ExitCode(IntEnum):
    """The exit codes of `swzverify scan`."""

    DONE = 0
    FOUND = 1
    NO_ACCESS = 5


def scan_command(options: ScanOptions) -> NoReturn:
    """Read compiled kernels, write the verdicts of their accesses, and end with the exit code."""
    detail = Detail(loudness(verbose=options.verbose, quiet=options.quiet), options.top)
    read, reports = [*options.files, *options.cubins], options.reports
    launch = launch_of(options)
    check_output(reports.output, read, "--output")
    named = named_files(options)
    check_ours("--write-spec", named, read, is_ours)
    check_reports(reports, read, named)
    accepted = prepare_known(named, read)
    counters = read_counters(options)
    prepare_certificates(options.certificates)
    begin = time.monotonic()
    found, check = scan_files(options, launch), None
    if counters is not None:
        found, check = checked(found, counters, spelled(options))
    report = accepted(report_of(found, 1000 * (time.monotonic() - begin), pictures=reports.shows_pictures))
    wanted = options.fail_on or (() if options.baseline is None else FAILURES)
    code = _exit_code(report, (*wanted, DISAGREEMENT))
    write_scan(found, report, int(code), reports, detail=detail, check=check)
    save_known(options.write_baseline, report)
    save_written(options.write_spec, found, options.target)
    save_certificates(options.certificates, found)
    sys.exit(int(code))


def _exit_code(report: Report, fail_on: tuple[str, ...]) -> ExitCode:
    if not report.results and not report.problems:
        return ExitCode.NO_ACCESS
    new = {(result.kind, result.verdict.outcome) for result in report.results if result.failing}
    found = {name for name, kind in KINDS.items() if (kind, Outcome.REFUTED) in new}
    if (KINDS["conflict"], Outcome.UNKNOWN) in new or report.problems:
        found.add("unknown")
    return ExitCode.FOUND if found & set(fail_on) else ExitCode.DONE
