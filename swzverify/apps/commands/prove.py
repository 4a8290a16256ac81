"""`swzverify prove`: spec files in, a report and an exit code out."""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from typing import NoReturn

import click

from swzverify.apps.commands.files import check_output, prepare_known, save_known
from swzverify.apps.commands.reports import check_reports, write_reports
from swzverify.apps.commands.terminal import loudness, say
from swzverify.apps.options.declare import named_files
from swzverify.apps.options.prove import STDIN, ProveOptions, Settings
from swzverify.apps.run.collect import Collected, collect_specs
from swzverify.apps.run.progress import progress_line
from swzverify.apps.run.run import run_specs
from swzverify.errors import SwzError
from swzverify.report.escape import shown_names
from swzverify.report.result import ExitCode, Report
from swzverify.spec.guard import MAX_BYTES


def prove_command(options: ProveOptions) -> NoReturn:
    """Prove the claims, write the reports, and end with the exit code."""
    if options.write_test is not None and "-" in options.paths:
        raise click.UsageError("--write-test needs the spec's file, which its tests read: save standard input to one")
    if options.watch:
        from swzverify.apps.commands.watching import watch_specs  # noqa: PLC0415 - an extra has what it needs

        watch_specs(options, prove_once)
    sys.exit(int(prove_once(options)[1]))


def prove_once(options: ProveOptions) -> tuple[Report, ExitCode]:
    """Prove the claims and write the reports; returns the report and the exit code."""
    verbosity = loudness(verbose=options.verbose, quiet=options.quiet)
    if options.fix or options.diff:
        report, collected = _fixed_run(options)
    else:
        report, collected = _run(options)
    told = report if options.allow_no_claims else _with_nothing_found(report, collected, options.settings.select)
    code = told.exit_code
    if code is ExitCode.NO_CLAIM and options.allow_no_claims:
        code = ExitCode.AS_EXPECTED
    write_reports(told, code, options.reports, verbosity, printed=not options.diff)
    save_known(options.write_baseline, report)
    if options.write_test is not None:
        _case_tests().save_tests(options.write_test, report, options.settings.target, quiet=options.quiet)
    return report, code


def _fixed_run(options: ProveOptions) -> tuple[Report, Collected]:
    """The report on the specs after what `--fix` writes; what is written is told on standard error."""
    from swzverify.apps.commands.fixes import (  # noqa: PLC0415 - few runs write into specs
        check_fixes,
        find_fixes,
        save_fixes,
        tell_fixes,
    )

    check_fixes(options)
    certifies = options.fix and options.settings.certificates is not None
    plain = replace(options, settings=replace(options.settings, certificates=None)) if certifies else options
    report, collected = _run(plain)
    found = find_fixes(report, options.settings)
    if options.diff:
        say("".join(each.diff for each in found))
    changed = save_fixes(found) if options.fix else 0
    if not options.quiet:
        tell_fixes(found, written=options.fix)
    return _run(options) if changed or certifies else (report, collected)


def _run(options: ProveOptions) -> tuple[Report, Collected]:
    settings = replace(options.settings, pictures=options.reports.shows_pictures)
    isolated = settings.time_limit_s is not None or settings.memory_limit_mib is not None
    if isolated and not hasattr(os, "fork"):
        raise click.UsageError("--time-limit and --memory-limit need a system that can fork; this one cannot")
    if settings.target is not None:
        _check_target(settings.target)
    paths = options.paths or (os.curdir,)
    settings, collected = _with_stdin(settings, paths)
    files, named = collected.files, named_files(options)
    check_output(options.reports.output, files, "--output")
    if options.write_test is not None:
        _case_tests().check_tests(options.write_test, files, named)
    check_reports(options.reports, files, named)
    if options.write_baseline is not None and settings.select:
        raise click.UsageError("--write-baseline needs every claim: leave --select out")
    accepted = prepare_known(named, files)
    if settings.certificates is not None:
        from swzrecheck.folder import prepare  # noqa: PLC0415 - few runs write certificates

        prepare(settings.certificates)  # refuses, before minutes of work, a folder that holds anything else
    if settings.recording is not None or settings.calibration is not None:
        from swzverify.gpu.evidence import check_evidence  # noqa: PLC0415 - few runs have evidence of their own

        check_evidence(settings.recording, settings.calibration)
    with progress_line(enabled=not options.quiet) as watch:
        report = run_specs(files, settings, problems=collected.problems, watch=watch)
    return accepted(replace(report, nothing=f"{report.nothing} in {shown_names(paths)}")), collected


def _with_nothing_found(report: Report, collected: Collected, select: tuple[str, ...]) -> Report:
    """The report with a problem for each name that selects no claim, and for each path without a claim.

    Where no path has a claim, and no name is wrong, the report says so by itself.
    """
    if select and not report.problems:
        from swzverify.apps.run.select import names_without_claims  # noqa: PLC0415 - most runs select nothing

        report = replace(report, problems=(*report.problems, *names_without_claims(select, report.results)))
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
