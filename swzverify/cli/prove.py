"""`swzverify prove`: spec files in, a report and an exit code out."""

from __future__ import annotations

import os
import sys
from enum import StrEnum
from typing import TYPE_CHECKING, NoReturn, TypeVar, assert_never

import click

from swzverify.cli.terminal import FILE_WIDTH, INTERRUPTED, Failure, echo, terminal_style

if TYPE_CHECKING:
    from swzverify.report.result import Report
    from swzverify.run.settings import Settings

KINDS = (
    "injective",
    "bijective",
    "contiguous",
    "aligned",
    "in_bounds",
    "conflict_free",
    "wavefronts",
    "covers",
    "equivalent",
    "disjoint",
    "permutation",
)
"""The kinds of claims; listed here, and checked against `claims/` by a test, since importing those takes a while."""


_Limit = TypeVar("_Limit", float | None, int | None)


class Format(StrEnum):
    """What a report can be written as."""

    TEXT = "text"
    JSON = "json"


@click.command()
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@click.option(
    "--format",
    "form",
    type=click.Choice([form.value for form in Format]),
    default=Format.TEXT.value,
    show_default=True,
    help="What to write the report as.",
)
@click.option("--output", metavar="FILE", help="Write the report to a file instead of standard output.")
@click.option(
    "-j",
    "--jobs",
    type=click.IntRange(min=1),
    metavar="N",
    help="Processes to use.  [default: one a processor, for more than a few specs]",
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
@click.option("--single-engine", is_flag=True, help="Skip the second engine; the report says so.")
@click.option("-v", "--verbose", is_flag=True, help="Tell every claim's whole story.")
@click.option("-q", "--quiet", is_flag=True, help="Show only what came out unexpectedly, and the summary.")
def prove(
    *,
    paths: tuple[str, ...],
    form: str,
    output: str | None,
    jobs: int | None,
    select: tuple[str, ...],
    target: str | None,
    rlimit: int | None,
    time_limit_s: float | None,
    memory_limit_mib: int | None,
    certificates: str | None,
    recording: str | None,
    calibration: str | None,
    single_engine: bool,
    verbose: bool,
    quiet: bool,
) -> NoReturn:
    """Prove the claims of spec files.

    PATH is a spec file, a folder (every *.swz.yaml below it) or a pattern in quotes, such as 'specs/**/*.swz.yaml'.

    \b
    Exit codes:
      0  every claim came out as expected
      1  some did not
      2  an error in a spec, in the usage, or in swzverify
      3  nothing was refuted unexpectedly, but something is unknown or vacuous
      5  no claim found
    """
    if verbose and quiet:
        raise click.UsageError("-v and -q cannot be used together")
    try:
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
        )
        report = _run(paths, settings, output, quiet)
        _write(report, Format(form), output, int(verbose) - int(quiet))
    except KeyboardInterrupt:
        click.echo("interrupted: no report", err=True)
        sys.exit(INTERRUPTED)
    except click.ClickException:
        raise
    except Exception as error:
        from swzverify.report.escape import visible_lines  # noqa: PLC0415
        from swzverify.run.fault import fault, what_to_send  # noqa: PLC0415

        raise Failure("\n".join(["SWZ901", *visible_lines(fault(error)), what_to_send()])) from error
    sys.exit(int(report.exit_code))


def _isolated(limit: _Limit) -> _Limit:
    """A limit on a query, where the system has what it takes."""
    if limit is not None and not hasattr(os, "fork"):
        raise click.UsageError("--time-limit and --memory-limit need a system that can fork; this one cannot")
    return limit


def _run(paths: tuple[str, ...], settings: Settings, output: str | None, quiet: bool) -> Report:
    from swzverify.run.collect import collect_specs  # noqa: PLC0415 - see the top
    from swzverify.run.progress import progress_line  # noqa: PLC0415
    from swzverify.run.run import run_specs  # noqa: PLC0415

    if settings.target is not None:
        _check_target(settings.target)
    collected = collect_specs(paths)
    if output is not None:
        _check_output(output, collected.files)
    if settings.certificates is not None:
        _prepare_certificates(settings.certificates)
    _check_evidence(settings.recording, settings.calibration)
    with progress_line(enabled=not quiet) as watch:
        return run_specs(collected.files, settings, problems=collected.problems, watch=watch)


def _check_target(target: str) -> None:
    """Refuse an unknown target once, instead of for every spec."""
    from swzverify.errors import SwzError  # noqa: PLC0415 - see the top
    from swzverify.hardware import find_target  # noqa: PLC0415

    try:
        find_target(target)
    except SwzError as error:
        raise click.BadParameter(f"{error.message}; {error.hint}", param_hint="--target") from error


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


def _check_output(output: str, specs: list[str]) -> None:
    """Refuse, before minutes of work, a report file that cannot be or that is one of the specs."""
    folder = os.path.dirname(output) or os.curdir
    if not os.path.isdir(folder):
        raise click.BadParameter(f"there is no folder {folder!r}", param_hint="--output")
    if os.path.isdir(output):
        raise click.BadParameter(f"{output!r} is a folder", param_hint="--output")
    if os.path.realpath(output) in map(os.path.realpath, specs):
        raise click.BadParameter(f"{output!r} is one of the specs to prove", param_hint="--output")


def _write(report: Report, form: Format, output: str | None, verbosity: int) -> None:
    """Put the report where it belongs; the problems go to standard error when the report is text."""
    from swzverify.report.json import render_json  # noqa: PLC0415 - see the top
    from swzverify.report.problems import render_problems  # noqa: PLC0415
    from swzverify.report.style import TextStyle  # noqa: PLC0415
    from swzverify.report.text import render_text  # noqa: PLC0415
    from swzverify.report.words import summary_line  # noqa: PLC0415

    errors = terminal_style(err=True, verbosity=verbosity)
    if form is Format.TEXT and report.problems:
        echo(render_problems(report.problems, errors), errors, err=True)
    style = TextStyle(FILE_WIDTH, verbosity=verbosity) if output else terminal_style(err=False, verbosity=verbosity)
    match form:
        case Format.TEXT:
            text = render_text(report, style)
        case Format.JSON:
            text = render_json(report)
        case _:
            assert_never(form)
    if output is None:
        echo(text, style, err=False)
        return
    try:
        with open(output, "w", encoding="utf-8", errors="backslashreplace", newline="\n") as file:
            file.write(text)
    except OSError as error:
        raise Failure(f"SWZ504 cannot write the report {output!r}: {error.strerror}") from error
    if verbosity >= 0:
        echo(f"{summary_line(report)}; report in {output}\n", errors, err=True)
