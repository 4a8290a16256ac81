"""`swzverify diff`: two states of a repository's claims in, what was lost and an exit code out."""

from __future__ import annotations

import sys
from typing import NoReturn, assert_never

import click

from swzverify.apps.commands.choices import PageFormat
from swzverify.apps.commands.files import check_output, write_report
from swzverify.apps.commands.terminal import FILE_WIDTH, echo, one_way_out, terminal_style
from swzverify.apps.diff.json import render_diff_json
from swzverify.apps.diff.markdown import render_diff_markdown
from swzverify.apps.diff.result import Allow, DiffReport
from swzverify.apps.diff.run import Wanted, compare
from swzverify.apps.diff.text import render_diff_text
from swzverify.apps.diff.words import summary_words
from swzverify.apps.run.progress import progress_line
from swzverify.apps.run.settings import Settings
from swzverify.hardware import find_target
from swzverify.report.escape import visible
from swzverify.report.problems import render_problems
from swzverify.report.style import TextStyle


def diff(
    *,
    base: str,
    head: str | None,
    paths: tuple[str, ...],
    merge_base: bool,
    allow: tuple[str, ...],
    allow_claim: tuple[str, ...],
    no_prove: bool,
    form: str,
    output: str | None,
    jobs: int | None,
    target: str | None,
    rlimit: int | None,
    verbose: bool,
    quiet: bool,
) -> NoReturn:
    """Compare two states of the claims, and tell what was lost."""
    if verbose and quiet:
        raise click.UsageError("-v and -q cannot be used together")
    if output is not None:
        check_output(output, [], "--output")
    with one_way_out():
        if target is not None:
            find_target(target)
        settings = Settings(target=target, rlimit=rlimit, jobs=jobs)
        wanted = Wanted(paths, frozenset(map(Allow, allow)), allow_claim, merge_base, not no_prove, settings)
        with progress_line(enabled=not quiet) as watch:
            report = compare(base, head, wanted, watch=watch)
        _write(report, PageFormat(form), output, int(verbose) - int(quiet))
    sys.exit(int(report.exit_code))


def _write(report: DiffReport, form: PageFormat, output: str | None, verbosity: int) -> None:
    """Put the comparison where it belongs; the problems go to standard error when it is text."""
    errors = terminal_style(err=True, verbosity=verbosity)
    style = TextStyle(FILE_WIDTH, verbosity=verbosity) if output else terminal_style(err=False, verbosity=verbosity)
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
    if output is None:
        echo(text, style, err=False)
        return
    write_report(text, output, "comparison")
    if verbosity >= 0:
        echo(f"{visible(summary_words(report))}; comparison in {output}\n", errors, err=True)
