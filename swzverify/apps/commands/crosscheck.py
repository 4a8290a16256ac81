"""`swzverify crosscheck`: the claims of spec files held against a real GPU."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

import click

from swzverify.apps.commands.files import output_style, tell_report
from swzverify.apps.commands.terminal import echo, loudness, terminal_style
from swzverify.apps.options.crosscheck import CrosscheckOptions
from swzverify.apps.options.prove import Settings
from swzverify.apps.run.collect import collect_specs
from swzverify.apps.run.crosscheck import by_device, run_crosscheck
from swzverify.apps.run.emit import by_answers, run_emit
from swzverify.apps.run.progress import progress_line
from swzverify.errors import Problem
from swzverify.gpu.crosscheck import Method
from swzverify.gpu.recording import save_recording
from swzverify.report.crosscheck import CrossReport, render_cross_json, render_cross_text
from swzverify.report.problems import render_problems


def crosscheck_command(options: CrosscheckOptions) -> NoReturn:
    """Hold the claims against the GPU, or write the program that does so elsewhere."""
    verbosity = loudness(verbose=options.verbose, quiet=options.quiet)
    if options.emit is not None and (options.against is not None or options.record is not None):
        raise click.UsageError("--emit only writes a program; run it, then use --against with the file that it writes")
    if options.emit is not None:
        _emit(options.paths, options.emit, options.quiet)
    report = _run(options)
    _write(report, options.form, options.output, verbosity)
    if options.record is not None and report.recording is not None:
        save_recording(Path(options.record), report.recording)
    sys.exit(int(report.exit_code))


def _emit(paths: tuple[str, ...], folder: str, quiet: bool) -> NoReturn:
    collected = collect_specs(paths)
    with progress_line(enabled=not quiet) as watch:
        claims, problems = run_emit(collected.files, Settings(), Path(folder), problems=collected.problems, watch=watch)
    _show_problems(problems)
    if not claims and not problems:
        click.echo("no claim found: nothing is written", err=True)
    sys.exit(2 if problems else 0 if claims else 5)


def _run(options: CrosscheckOptions) -> CrossReport:
    collected = collect_specs(options.paths)
    with progress_line(enabled=not options.quiet) as watch:
        return run_crosscheck(
            collected.files,
            Settings(),
            by_device(Method(options.method)) if options.against is None else by_answers(Path(options.against)),
            problems=collected.problems,
            watch=watch,
        )


def _show_problems(problems: Sequence[Problem]) -> None:
    errors = terminal_style(err=True, verbosity=0)
    if problems:
        echo(render_problems(problems, errors), errors, err=True)


def _write(report: CrossReport, form: str, output: str | None, verbosity: int) -> None:
    _show_problems(report.problems)
    style = output_style(output, verbosity)
    text = render_cross_json(report) if form == "json" else render_cross_text(report, style)
    tell_report(text, output, style)
