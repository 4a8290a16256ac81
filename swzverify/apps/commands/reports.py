"""Where the reports of `swzverify prove` and `swzverify scan` go, and as what: one to the terminal
or `--output`, others by `--report`.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

import click

from swzverify.apps.commands.choices import ReportFile
from swzverify.apps.commands.files import check_output, write_each
from swzverify.apps.commands.terminal import FILE_WIDTH, echo, terminal_style
from swzverify.apps.run.version import installed_version
from swzverify.report.formats import WITH_PICTURES, Format, Writing, render
from swzverify.report.problems import render_problems
from swzverify.report.result import ExitCode, Report
from swzverify.report.style import TextStyle
from swzverify.report.words import summary_line


def wants_pictures(form: str, others: Sequence[ReportFile]) -> bool:
    """Whether one of the reports shows pictures, which are drawn while the run goes."""
    return not WITH_PICTURES.isdisjoint({form, *(file.form for file in others)})


def check_reports(files: Sequence[ReportFile], specs: list[str], taken: Mapping[str, str | None]) -> None:
    """Refuse, before minutes of work, a file that cannot be written, or that has another use too.

    `taken` are the files that other options name, by the option.
    """
    used = {os.path.realpath(path): option for option, path in taken.items() if path is not None}
    for file in files:
        check_output(file.path, specs, "--report")
        place = os.path.realpath(file.path)
        if place in used:
            raise click.BadParameter(f"{file.path!r} is the file of {used[place]} too", param_hint="--report")
        used[place] = "another --report"


def write_reports(
    report: Report, code: ExitCode, form: str, output: str | None, others: Sequence[ReportFile], verbosity: int
) -> None:
    """Write all reports, then fail if one could not be; without `output` the main one is printed.

    Problems go to standard error as well where the main report is text.
    """
    errors = terminal_style(err=True, verbosity=verbosity)
    if form == Format.TEXT and report.problems:
        echo(render_problems(report.problems, errors), errors, err=True)
    if output is None:
        style = terminal_style(err=False, verbosity=verbosity)
        echo(_rendered(report, code, form, style), style, err=False)
    else:
        others = [ReportFile(form, output), *others]
    write_each(others, lambda file: _in_file(report, code, file, verbosity))
    if verbosity >= 0 and others:
        places = ", ".join(file.path for file in others)
        echo(f"{summary_line(report)}; report in {places}\n", errors, err=True)


def _in_file(report: Report, code: ExitCode, file: ReportFile, verbosity: int) -> str:
    """A report as a file has it; with the problems, which standard error has of one on a terminal."""
    style = TextStyle(FILE_WIDTH, verbosity=verbosity)
    text = _rendered(report, code, file.form, style)
    if file.form == Format.TEXT and report.problems:
        return render_problems(report.problems, style) + text
    return text


def _rendered(report: Report, code: ExitCode, form: str, style: TextStyle) -> str:
    """The report in a format; only what that format needs is imported."""
    return render(form, report, Writing(code, style, installed_version()))
