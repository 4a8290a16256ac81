"""`swzverify prove`: spec files in, a report and an exit code out."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, NoReturn, TypeVar

import click

from swzverify.claims import KINDS
from swzverify.cli.case_tests import CaseTests
from swzverify.cli.files import Known, check_output
from swzverify.cli.reports import (
    Format,
    ReportFile,
    check_reports,
    format_option,
    output_option,
    report_option,
    wants_pictures,
    write_reports,
)
from swzverify.cli.terminal import Failure, one_way_out

if TYPE_CHECKING:
    from swzverify.report.result import ExitCode, Report
    from swzverify.run.collect import Collected
    from swzverify.run.settings import Settings

_Limit = TypeVar("_Limit", float | None, int | None)


@click.command()
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@format_option
@output_option
@report_option
@click.option(
    "-j",
    "--jobs",
    type=click.IntRange(min=1),
    metavar="N",
    help="Processes to use.  [default: one per processor, for more than a few specs]",
)
@click.option(
    "--select",
    type=click.Choice(KINDS),
    multiple=True,
    metavar="KIND",
    help=f"Prove claims of this kind only; may be given again. Kinds: {', '.join(KINDS)}.",
)
@click.option("--target", metavar="NAME", help="Prove for this target instead of the specs' own, such as sm_90.")
@click.option("--rlimit", type=click.IntRange(min=1), metavar="N", help="Budget of a query, in Z3's resource units.")
@click.option(
    "--time-limit",
    "time_limit_s",
    type=click.FloatRange(min=0, min_open=True),
    metavar="SECONDS",
    help="End a Z3 query after so long, in a process of its own; its claim is then unknown.",
)
@click.option(
    "--memory-limit",
    "memory_limit_mib",
    type=click.IntRange(min=1),
    metavar="MIB",
    help="Give a Z3 query so much memory, in a process of its own; out of it, its claim is unknown.",
)
@click.option("--certificates", metavar="DIR", help="Write a certificate of every proof, for `swzverify recheck DIR`.")
@click.option(
    "--recording",
    metavar="FILE",
    help="Name the device as evidence of costs that `swzverify crosscheck --record` measured in full.",
)
@click.option(
    "--calibration",
    metavar="FILE",
    help="Name the device as evidence of instructions whose rule `swzverify calibrate --output` found to hold.",
)
@click.option("--baseline", metavar="FILE", help="Accept the known failures in this file; fail on new ones only.")
@click.option(
    "--write-baseline",
    metavar="FILE",
    help="Write what fails now as known failures; the exit code stays what it would be.",
)
@click.option(
    "--write-test",
    metavar="FILE",
    help="Write each new counterexample as a pytest test, which fails until the spec is mended.",
)
@click.option(
    "--allow-no-claims", is_flag=True, help="Exit with 0 where no claim is found, for files that may hold none."
)
@click.option("--single-engine", is_flag=True, help="Skip the second engine; the report says so.")
@click.option(
    "--no-cures",
    "--no-suggest",
    "no_cures",
    is_flag=True,
    help="Do not look for changes that would make refuted costs hold.",
)
@click.option("-v", "--verbose", is_flag=True, help="Tell every claim's whole story.")
@click.option("-q", "--quiet", is_flag=True, help="Show only what came out unexpectedly, and the summary.")
def prove(
    *,
    paths: tuple[str, ...],
    form: str,
    output: str | None,
    reports: tuple[ReportFile, ...],
    jobs: int | None,
    select: tuple[str, ...],
    target: str | None,
    rlimit: int | None,
    time_limit_s: float | None,
    memory_limit_mib: int | None,
    certificates: str | None,
    recording: str | None,
    calibration: str | None,
    baseline: str | None,
    write_baseline: str | None,
    write_test: str | None,
    allow_no_claims: bool,
    single_engine: bool,
    no_cures: bool,
    verbose: bool,
    quiet: bool,
) -> NoReturn:
    """Prove the claims of spec files.

    PATH is a spec file, a folder (every *.swz.yaml below it) or a pattern in quotes, such as
    'specs/**/*.swz.yaml'; - is standard input, which is called <stdin>.

    \b
    Exit codes:
      0  every claim came out as expected
      1  some did not
      2  an error in a spec, in the usage, or in swzverify
      3  nothing was refuted unexpectedly, but something is unknown or vacuous
      5  no claim found, without --allow-no-claims
    """
    if verbose and quiet:
        raise click.UsageError("-v and -q cannot be used together")
    if write_test is not None and "-" in paths:
        raise click.UsageError("--write-test needs the spec's file, which its tests read: save standard input to one")
    with one_way_out():
        from swzverify.run.settings import Settings  # noqa: PLC0415 - see the top

        settings = Settings(
            frozenset(select),
            target,
            rlimit,
            single_engine,
            jobs,
            _isolated(time_limit_s),
            _isolated(memory_limit_mib),
            certificates,
            recording,
            calibration,
            cures=not no_cures,
            pictures=wants_pictures(form, reports),
        )
        known = Known(baseline, write_baseline)
        tests = CaseTests(write_test, settings.target)
        report = _run(paths, settings, output, reports, known, tests, quiet)
        code = _exit_code(report, allow_no_claims)
        write_reports(report, code, Format(form), output, reports, int(verbose) - int(quiet))
        known.save(report)
        tests.save(report, quiet=quiet)
    sys.exit(int(code))


def _exit_code(report: Report, allow_no_claims: bool) -> ExitCode:
    from swzverify.report.result import ExitCode  # noqa: PLC0415 - see the top

    nothing = report.exit_code is ExitCode.NO_CLAIM
    return ExitCode.AS_EXPECTED if nothing and allow_no_claims else report.exit_code


def _isolated(limit: _Limit) -> _Limit:
    """A limit on a query, where the system has what it takes."""
    if limit is not None and not hasattr(os, "fork"):
        raise click.UsageError("--time-limit and --memory-limit need a system that can fork; this one cannot")
    return limit


def _run(
    paths: tuple[str, ...],
    settings: Settings,
    output: str | None,
    reports: tuple[ReportFile, ...],
    known: Known,
    tests: CaseTests,
    quiet: bool,
) -> Report:
    from swzverify.run.progress import progress_line  # noqa: PLC0415 - see the top
    from swzverify.run.run import run_specs  # noqa: PLC0415

    if settings.target is not None:
        _check_target(settings.target)
    settings, collected = _with_stdin(settings, paths)
    if output is not None:
        check_output(output, collected.files, "--output")
    taken = {"--output": output, "--baseline": known.read, "--write-baseline": known.write}
    taken |= {"--recording": settings.recording, "--calibration": settings.calibration}
    tests.check(collected.files, taken)
    check_reports(reports, collected.files, {**taken, "--write-test": tests.path})
    accepted = known.prepare(settings, output, collected.files)
    if settings.certificates is not None:
        _prepare_certificates(settings.certificates)
    _check_evidence(settings.recording, settings.calibration)
    with progress_line(enabled=not quiet) as watch:
        report = run_specs(collected.files, settings, problems=collected.problems, watch=watch)
    return accepted(report)


def _with_stdin(settings: Settings, paths: tuple[str, ...]) -> tuple[Settings, Collected]:
    """The spec files; where one of the paths is `-`, the settings get the spec on standard input."""
    from dataclasses import replace  # noqa: PLC0415 - see the top

    from swzverify.run.collect import collect_specs  # noqa: PLC0415
    from swzverify.run.settings import STDIN  # noqa: PLC0415
    from swzverify.spec.guard import MAX_BYTES  # noqa: PLC0415

    if "-" not in paths:
        return settings, collect_specs(paths)
    if any(file == STDIN for file in collect_specs(path for path in paths if path != "-").files):
        raise click.UsageError(f"a file is called {STDIN}, as standard input is: give it another name")
    data = sys.stdin.buffer.read(MAX_BYTES + 1)
    return replace(settings, stdin=data), collect_specs(paths, STDIN)


def _check_target(target: str) -> None:
    """Refuse an unknown target once, instead of for every spec."""
    from swzverify.errors import SwzError  # noqa: PLC0415 - see the top
    from swzverify.hardware import find_target  # noqa: PLC0415

    try:
        find_target(target)
    except SwzError as error:
        raise click.BadParameter(f"{error.code} {error.message}; {error.hint}", param_hint="--target") from error


def _check_evidence(recording: str | None, calibration: str | None) -> None:
    """Refuse a file that is no recording or calibration, once, instead of for every claim."""
    if recording is None and calibration is None:
        return
    from pathlib import Path  # noqa: PLC0415 - see the top

    from swzverify.errors import SwzError  # noqa: PLC0415
    from swzverify.gpu.calibration import load_calibration  # noqa: PLC0415
    from swzverify.gpu.recording import load_recording  # noqa: PLC0415

    try:
        if recording is not None:
            load_recording(Path(recording))
        if calibration is not None:
            load_calibration(Path(calibration))
    except SwzError as error:
        raise Failure(str(error)) from error


def _prepare_certificates(folder: str) -> None:
    """Refuse, before minutes of work, a folder for certificates that holds anything else."""
    from swzverify.certificates.folder import prepare  # noqa: PLC0415 - see the top
    from swzverify.errors import SwzError  # noqa: PLC0415

    try:
        prepare(folder)
    except SwzError as error:
        raise Failure(str(error)) from error
