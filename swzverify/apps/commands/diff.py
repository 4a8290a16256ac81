"""`swzverify diff`: two states of a repository's claims in, what was lost and an exit code out."""

from __future__ import annotations

import sys
from typing import NoReturn, assert_never

from swzverify.apps.commands.files import check_output, output_style, tell_report
from swzverify.apps.commands.terminal import echo, loudness, terminal_style
from swzverify.apps.diff.json import render_diff_json
from swzverify.apps.diff.markdown import render_diff_markdown
from swzverify.apps.diff.result import DiffReport
from swzverify.apps.diff.run import compare
from swzverify.apps.diff.text import render_diff_text
from swzverify.apps.diff.words import summary_words
from swzverify.apps.options.diff import DiffOptions
from swzverify.apps.options.shared import PageFormat
from swzverify.apps.run.progress import progress_line
from swzverify.hardware import find_target
from swzverify.report.escape import visible
from swzverify.report.problems import render_problems


def diff_command(options: DiffOptions) -> NoReturn:
    """Compare two states of the claims, and tell what was lost."""
    verbosity = loudness(verbose=options.verbose, quiet=options.quiet)
    check_output(options.output, [], "--output")
    if options.target is not None:
        find_target(options.target)
    with progress_line(enabled=not options.quiet) as watch:
        report = compare(options, watch=watch)
    _write(report, options.form, options.output, verbosity)
    sys.exit(int(report.exit_code))


def _write(report: DiffReport, form: PageFormat, output: str | None, verbosity: int) -> None:
    """Put the comparison where it belongs; the problems go to standard error when it is text."""
    errors = terminal_style(err=True, verbosity=verbosity)
    style = output_style(output, verbosity)
    match form:
        case PageFormat.TEXT:
            for side, problems in (("base", report.base_problems), ("head", report.head_problems)):
                if problems:
                    echo(f"{side}:\n{render_problems(problems, errors)}", errors, err=True)
            text = render_diff_text(report, style)
        case PageFormat.JSON:
            text = render_diff_json(report)
        case PageFormat.MARKDOWN:
            text = render_diff_markdown(report)
        case _:
            assert_never(form)
    tell_report(text, output, style, "comparison")
    if output is not None and verbosity >= 0:
        echo(f"{visible(summary_words(report))}; comparison in {output}\n", errors, err=True)
