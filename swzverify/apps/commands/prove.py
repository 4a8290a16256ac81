"""`swzverify prove`: spec files in, a report and an exit code out."""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from typing import NoReturn, TypeVar

import click

from swzverify.apps.commands.choices import ReportFile
from swzverify.apps.commands.files import Known, check_output
from swzverify.apps.commands.reports import check_reports, wants_pictures, write_reports
from swzverify.apps.commands.terminal import one_way_out
from swzverify.apps.run.collect import Collected, collect_specs
from swzverify.apps.run.progress import progress_line
from swzverify.apps.run.run import run_specs
from swzverify.apps.run.settings import STDIN, Settings
from swzverify.errors import SwzError
from swzverify.report.escape import shown_names
from swzverify.report.result import ExitCode, Report
from swzverify.spec.guard import MAX_BYTES

_Limit = TypeVar("_Limit", float | None, int | None)


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
    """Prove the claims, write the reports, and end with the exit code."""
    if verbose and quiet:
        raise click.UsageError("-v and -q cannot be used together")
    if write_test is not None and "-" in paths:
        raise click.UsageError("--write-test needs the spec's file, which its tests read: save standard input to one")
    with one_way_out():
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
        report, collected = _run(paths, settings, output, reports, known, write_test, quiet)
        told = report if allow_no_claims else _with_empty_paths(report, collected)
        code = told.exit_code
        if code is ExitCode.NO_CLAIM and allow_no_claims:
            code = ExitCode.AS_EXPECTED
        write_reports(told, code, form, output, reports, int(verbose) - int(quiet))
        known.save(report)
        if write_test is not None:
            _case_tests().save_tests(write_test, report, target, quiet=quiet)
    sys.exit(int(code))


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
    write_test: str | None,
    quiet: bool,
) -> tuple[Report, Collected]:
    if settings.target is not None:
        _check_target(settings.target)
    settings, collected = _with_stdin(settings, paths)
    if output is not None:
        check_output(output, collected.files, "--output")
    taken = {"--output": output, "--baseline": known.read, "--write-baseline": known.write}
    taken |= {"--recording": settings.recording, "--calibration": settings.calibration}
    if write_test is not None:
        _case_tests().check_tests(write_test, collected.files, taken)
    check_reports(reports, collected.files, {**taken, "--write-test": write_test})
    accepted = known.prepare(settings, output, collected.files)
    if settings.certificates is not None:
        from swzrecheck.folder import prepare  # noqa: PLC0415 - few runs write certificates

        prepare(settings.certificates)  # refuses, before minutes of work, a folder that holds anything else
    if settings.recording is not None or settings.calibration is not None:
        from swzverify.gpu.evidence import check_evidence  # noqa: PLC0415 - few runs have evidence of their own

        check_evidence(settings.recording, settings.calibration)
    with progress_line(enabled=not quiet) as watch:
        report = run_specs(collected.files, settings, problems=collected.problems, watch=watch)
    return accepted(replace(report, nothing=f"{report.nothing} in {shown_names(paths)}")), collected


def _with_empty_paths(report: Report, collected: Collected) -> Report:
    """The report with a problem for each path without a claim, beside others with some."""
    if not report.results:
        return report
    told = {result.spec for result in report.results}.union(problem.file for problem in report.problems)
    return replace(report, problems=(*report.problems, *collected.without_claims(told)))


def _with_stdin(settings: Settings, paths: tuple[str, ...]) -> tuple[Settings, Collected]:
    """The spec files; where one of the paths is `-`, the settings get the spec on standard input."""
    if "-" not in paths:
        return settings, collect_specs(paths)
    if any(file == STDIN for file in collect_specs(path for path in paths if path != "-").files):
        raise click.UsageError(f"a file is called {STDIN}, as standard input is: give it another name")
    data = sys.stdin.buffer.read(MAX_BYTES + 1)
    return replace(settings, stdin=data), collect_specs(paths, STDIN)


def _check_target(target: str) -> None:
    """Refuse an unknown target once, instead of for every spec."""
    from swzverify.hardware import find_target  # noqa: PLC0415 - few runs name one

    try:
        find_target(target)
    except SwzError as error:
        raise click.BadParameter(f"{error.code} {error.message}; {error.hint}", param_hint="--target") from error


def _case_tests():
    from swzverify.apps.commands import case_tests  # noqa: PLC0415 - few runs write tests

    return case_tests
