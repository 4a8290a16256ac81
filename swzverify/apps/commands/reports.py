"""The destinations and formats of the reports of `swzverify prove` and `swzverify scan`.

One report goes to the terminal or `--output`, others by `--report`.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

import click

from swzverify.apps.commands.files import check_output, write_each
from swzverify.apps.commands.terminal import FILE_WIDTH, echo, terminal_style
from swzverify.apps.options.shared import ReportFile, Reports
from swzverify.apps.run.version import installed_version
from swzverify.report.formats import Format, Writing, render
from swzverify.report.problems import render_problems
from swzverify.report.result import ExitCode, Report
from swzverify.report.style import TextStyle
from swzverify.report.words import summary_line


def check_reports(reports: Reports, specs: Sequence[str], named: Mapping[str, str]) -> None:
    """Refuse, before minutes of work, a file that cannot be written, or that has another use too.

    `named` are the files that other options name, by the option.
    """
    used = {os.path.realpath(path): option for option, path in named.items()}
    for file in reports.others:
        check_output(file.path, specs, "--report")
        place = os.path.realpath(file.path)
        if place in used:
            raise click.BadParameter(f"{file.path!r} is the file of {used[place]} too", param_hint="--report")
        used[place] = "another --report"


def write_reports(report: Report, code: ExitCode, reports: Reports, verbosity: int, *, printed: bool = True) -> None:
    """Write all reports, then fail if one could not be; without `output` the main one is `printed`.

    Problems go to standard error as well where the main report is text.
    """
    errors = terminal_style(err=True, verbosity=verbosity)
    if reports.form == Format.TEXT and report.problems:
        echo(render_problems(report.problems, errors), errors, err=True)
    if reports.output is None and printed:
        style = terminal_style(err=False, verbosity=verbosity)
        echo(rendered(report, code, reports.form, style), style, err=False)
    write_each(reports.files, lambda file: _in_file(report, code, file, verbosity))
    if verbosity >= 0 and reports.files:
        places = ", ".join(file.path for file in reports.files)
        echo(f"{summary_line(report)}; report in {places}\n", errors, err=True)


def _in_file(report: Report, code: ExitCode, file: ReportFile, verbosity: int) -> str:
    """A report as a file has it; with the problems, which standard error has of one on a terminal."""
    style = TextStyle(FILE_WIDTH, verbosity=verbosity)
    text = rendered(report, code, file.form, style)
    if file.form == Format.TEXT and report.problems:
        return render_problems(report.problems, style) + text
    return text


def rendered(report: Report, code: int, form: str, style: TextStyle) -> str:
    """The report in a format; only what that format needs is imported."""
    return render(form, report, Writing(code, style, installed_version()))
