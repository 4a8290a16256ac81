"""`swzverify diff`: two states of a repository's claims in, what was lost and an exit code out."""

from __future__ import annotations

import sys
from enum import StrEnum
from typing import TYPE_CHECKING, NoReturn, assert_never

import click

from swzverify.cli.files import check_output
from swzverify.cli.terminal import FILE_WIDTH, Failure, echo, one_way_out, terminal_style

if TYPE_CHECKING:
    from swzverify.diff.result import DiffReport

ALLOWED = ("deleted", "weakened", "broken-base")
"""What may be lost; listed here, and checked against `diff/` by a test, since importing that takes
a while.
"""


class DiffFormat(StrEnum):
    """What a comparison can be written as."""

    TEXT = "text"
    JSON = "json"
    MARKDOWN = "markdown"


@click.command()
@click.argument("base")
@click.argument("head", required=False)
@click.option("--path", "paths", multiple=True, metavar="PATH", help="Compare only what is here; may be given again.")
@click.option(
    "--merge-base",
    is_flag=True,
    help="Compare with the commit where HEAD's history left BASE's, as for a pull request.",
)
@click.option(
    "--allow",
    type=click.Choice(ALLOWED),
    multiple=True,
    help="Do not fail for such claims, or for specs of BASE that cannot be read; may be given again.",
)
@click.option("--allow-claim", multiple=True, metavar="ID", help="Let this one claim be lost; may be given again.")
@click.option("--no-prove", is_flag=True, help="Compare what is claimed, and prove nothing.")
@click.option(
    "--format",
    "form",
    type=click.Choice([form.value for form in DiffFormat]),
    default=DiffFormat.TEXT.value,
    show_default=True,
    help="What to write the comparison as.",
)
@click.option("--output", metavar="FILE", help="Write the comparison to a file instead of standard output.")
@click.option("-j", "--jobs", type=click.IntRange(min=1), metavar="N", help="Processes to use, as for `prove`.")
@click.option("--target", metavar="NAME", help="Compare for this target instead of the specs' own, such as sm_90.")
@click.option("--rlimit", type=click.IntRange(min=1), metavar="N", help="Budget of a query, in Z3's resource units.")
@click.option("-v", "--verbose", is_flag=True, help="List unchanged claims too.")
@click.option("-q", "--quiet", is_flag=True, help="Show only what fails, and the summary.")
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
    """Tell which claims were added, deleted or weakened between BASE and HEAD, and which verdicts
    changed.

    Each is a spec file, a folder, or a git revision such as main, HEAD~1 or v1.2:path. git:NAME is
    a revision whatever file has that name; without HEAD, the working tree is meant.

    \b
    Exit codes:
      0  nothing was lost
      1  a claim was deleted or weakened, or a verdict is no longer as expected
      2  an error in a spec, in the usage, or in swzverify
      5  no claim on either side
    """
    if verbose and quiet:
        raise click.UsageError("-v and -q cannot be used together")
    if output is not None:
        check_output(output, [], "--output")
    with one_way_out():
        report = _compare(base, head, paths, merge_base, allow, allow_claim, not no_prove, jobs, target, rlimit, quiet)
        _write(report, DiffFormat(form), output, int(verbose) - int(quiet))
    sys.exit(int(report.exit_code))


def _compare(
    base: str,
    head: str | None,
    paths: tuple[str, ...],
    merge_base: bool,
    allow: tuple[str, ...],
    allow_claim: tuple[str, ...],
    prove: bool,
    jobs: int | None,
    target: str | None,
    rlimit: int | None,
    quiet: bool,
) -> DiffReport:
    from swzverify.diff.result import Allow  # noqa: PLC0415 - see the top of cli/__init__.py
    from swzverify.diff.run import Wanted, compare  # noqa: PLC0415
    from swzverify.errors import SwzError  # noqa: PLC0415
    from swzverify.hardware import find_target  # noqa: PLC0415
    from swzverify.run.progress import progress_line  # noqa: PLC0415
    from swzverify.run.settings import Settings  # noqa: PLC0415

    try:
        if target is not None:
            find_target(target)
        settings = Settings(target=target, rlimit=rlimit, jobs=jobs)
        allowed = frozenset(map(Allow, allow))
        wanted = Wanted(paths, allowed, allow_claim, merge_base, prove, settings)
        with progress_line(enabled=not quiet) as watch:
            return compare(base, head, wanted, watch=watch)
    except SwzError as error:
        raise Failure(str(error)) from error


def _write(report: DiffReport, form: DiffFormat, output: str | None, verbosity: int) -> None:
    """Put the comparison where it belongs; the problems go to standard error when it is text."""
    from swzverify.diff.json import render_diff_json  # noqa: PLC0415 - see the top of cli/__init__.py
    from swzverify.diff.markdown import render_diff_markdown  # noqa: PLC0415
    from swzverify.diff.text import render_diff_text  # noqa: PLC0415
    from swzverify.diff.words import summary_words  # noqa: PLC0415
    from swzverify.report.escape import visible  # noqa: PLC0415
    from swzverify.report.problems import render_problems  # noqa: PLC0415
    from swzverify.report.style import TextStyle  # noqa: PLC0415

    errors = terminal_style(err=True, verbosity=verbosity)
    style = TextStyle(FILE_WIDTH, verbosity=verbosity) if output else terminal_style(err=False, verbosity=verbosity)
    match form:
        case DiffFormat.TEXT:
            for side, problems in (("base", report.base_problems), ("head", report.head_problems)):
                if problems:
                    echo(f"{side}:\n{render_problems(problems, errors)}", errors, err=True)
            text = render_diff_text(report, style)
        case DiffFormat.JSON:
            text = render_diff_json(report)
        case DiffFormat.MARKDOWN:
            text = render_diff_markdown(report)
        case _:
            assert_never(form)
    if output is None:
        echo(text, style, err=False)
        return
    try:
        with open(output, "w", encoding="utf-8", errors="backslashreplace", newline="\n") as file:
            file.write(text)
    except OSError as error:
        raise Failure(f"SWZ504 cannot write the comparison {output!r}: {error.strerror}") from error
    if verbosity >= 0:
        echo(f"{visible(summary_words(report))}; comparison in {output}\n", errors, err=True)
