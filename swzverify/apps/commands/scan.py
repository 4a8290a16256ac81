"""`swzverify scan`: compiled kernels in, a verdict for every shared-memory access out."""

from __future__ import annotations

import re
import sys
import time
from enum import IntEnum
from typing import NoReturn

import click

from swzverify.apps.commands.files import check_ours, check_output, prepare_known, save_known
from swzverify.apps.commands.reports import check_reports
from swzverify.apps.commands.scan_certificates import prepare_certificates, save_certificates
from swzverify.apps.commands.scan_check import DISAGREEMENT, checked, read_counters, spelled
from swzverify.apps.commands.scan_reports import write_scan
from swzverify.apps.commands.scan_spec import is_ours, save_written
from swzverify.apps.commands.terminal import loudness
from swzverify.apps.options.declare import named_files
from swzverify.apps.options.scan import FAILURES, ScanOptions
from swzverify.apps.run.scan import LaunchFacts, scan_files
from swzverify.claims.verdict import Outcome
from swzverify.compiled.scan import MOST_ALIGN, Given
from swzverify.hardware import find_target
from swzverify.report.result import Report
from swzverify.report.scan_claims import KINDS, report_of
from swzverify.report.scan_text import Detail

MOST_THREADS = 1024
"""Threads of a block. Source: CUDA Programming Guide 13, 5.1.3, table 30."""
_AXES = 3
_SIZE = re.compile(r"([0-9]{1,9})([kK](?:i?[bB])?)?")
_MOST_ALONG_Z = 64


class ExitCode(IntEnum):
    """The exit codes of `swzverify scan`."""

    DONE = 0
    FOUND = 1
    NO_ACCESS = 5


def scan_command(options: ScanOptions) -> NoReturn:
    """Read compiled kernels, write the verdicts of their accesses, and end with the exit code."""
    detail = Detail(loudness(verbose=options.verbose, quiet=options.quiet), options.top)
    read, reports = [*options.files, *options.cubins], options.reports
    given = Given(options.parameters, options.assumptions, _aligned_bytes(options.smem_align))
    launch = LaunchFacts(_shape(options.block), given, _bytes(options.smem, options.target))
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


def _bytes(smem: str | None, target: str) -> int | None:
    """A number of bytes, or of KiB, that a block of the target can have.

    >>> _bytes("48K", "sm_90"), _bytes("49152", "sm_75")
    (49152, 49152)
    """
    if smem is None:
        return None
    most = find_target(target).shared_bytes_per_block
    found = _SIZE.fullmatch(smem)
    value = None if found is None else int(found[1]) * (1024 if found[2] else 1)
    if value is None or value > most:
        message = f"--smem is {smem!r}; give bytes, such as 49152, or KiB, such as 48K; {target} has {most} at most"
        raise click.UsageError(message)
    return value


def _aligned_bytes(align: str | None) -> int | None:
    if align is None:
        return None
    value = int(align) if align.isascii() and align.isdigit() and len(align) <= _AXES + 1 else 0
    if not 1 <= value <= MOST_ALIGN or value & (value - 1):
        raise click.UsageError(f"--smem-align is {align!r}; give a power of two up to {MOST_ALIGN}, such as 128")
    return value


def _shape(block: str | None) -> tuple[int, int, int] | None:
    if block is None:
        return None
    words = block.split(",")
    if len(words) > _AXES or not all(
        word.isascii() and word.strip().isdigit() and len(word) <= _AXES + 1 for word in words
    ):
        raise click.UsageError(f"--block is {block!r}; give one to three numbers, such as 32,8")
    x, y, z = (*(int(word) for word in words), 1, 1)[:_AXES]
    if not 1 <= x * y * z <= MOST_THREADS or z > _MOST_ALONG_Z:
        raise click.UsageError(f"--block is {block!r}; a block has 1 to {MOST_THREADS} threads, 64 at most along z")
    return x, y, z
