"""`swzverify crosscheck`: the claims of spec files held against a real GPU."""

from __future__ import annotations

import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import click

from swzverify.cli.terminal import FILE_WIDTH, Failure, echo, one_way_out, terminal_style

if TYPE_CHECKING:
    from swzverify.report.cross_result import CrossReport


class Format(StrEnum):
    """What the report can be written as."""

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
    "--cost",
    "method",
    type=click.Choice(["counters", "clocks", "none"]),
    default="counters",
    show_default=True,
    help="How to take costs: Nsight Compute's counters, the slope of the clock (coarser), or not at all.",
)
@click.option("--record", metavar="FILE", help="Keep what the device answered; `swzverify prove --recording` reads it.")
@click.option("--emit", metavar="DIR", help="Write a CUDA program to run elsewhere instead of running here.")
@click.option(
    "--against", metavar="FILE", help="Compare with what an emitted program answered instead of running here."
)
@click.option("-v", "--verbose", is_flag=True, help="Tell what was left out, too.")
@click.option("-q", "--quiet", is_flag=True, help="Show only disagreements, and the summary.")
def crosscheck(
    *,
    paths: tuple[str, ...],
    form: str,
    output: str | None,
    method: str,
    record: str | None,
    emit: str | None,
    against: str | None,
    verbose: bool,
    quiet: bool,
) -> NoReturn:
    """Hold the claims of spec files against the GPU at hand: the same maps, the real instructions,
    the counters.

    \b
    Exit codes:
      0  the device agrees with everything that it can see
      1  it disagrees with something
      2  an error in a spec, in the usage, or with the device
      5  no claim found
    """
    if verbose and quiet:
        raise click.UsageError("-v and -q cannot be used together")
    if emit is not None and (against is not None or record is not None):
        raise click.UsageError("--emit only writes a program; run it, then use --against with the file that it writes")

    with one_way_out():
        if emit is not None:
            _emit(paths, emit, quiet)
        report = _run(paths, method, against, quiet)
        _write(report, Format(form), output, int(verbose) - int(quiet))
        if record is not None and report.recording is not None:
            from swzverify.gpu.recording import save_recording  # noqa: PLC0415

            save_recording(Path(record), report.recording)
    sys.exit(int(report.exit_code))


def _emit(paths: tuple[str, ...], folder: str, quiet: bool) -> NoReturn:
    from swzverify.run.collect import collect_specs  # noqa: PLC0415 - see cli/__init__.py
    from swzverify.run.emit import run_emit  # noqa: PLC0415
    from swzverify.run.progress import progress_line  # noqa: PLC0415
    from swzverify.run.settings import Settings  # noqa: PLC0415

    collected = collect_specs(paths)
    with progress_line(enabled=not quiet) as watch:
        claims, problems = run_emit(collected.files, Settings(), Path(folder), problems=collected.problems, watch=watch)
    _show_problems(problems)
    if not claims and not problems:
        click.echo("no claim found: nothing is written", err=True)
    sys.exit(2 if problems else 0 if claims else 5)


def _run(paths: tuple[str, ...], method: str, against: str | None, quiet: bool) -> CrossReport:
    from swzverify.gpu.crosscheck import Method  # noqa: PLC0415 - see cli/__init__.py
    from swzverify.run.collect import collect_specs  # noqa: PLC0415
    from swzverify.run.crosscheck import by_device, run_crosscheck  # noqa: PLC0415
    from swzverify.run.emit import by_answers  # noqa: PLC0415
    from swzverify.run.progress import progress_line  # noqa: PLC0415
    from swzverify.run.settings import Settings  # noqa: PLC0415

    collected = collect_specs(paths)
    with progress_line(enabled=not quiet) as watch:
        return run_crosscheck(
            collected.files,
            Settings(),
            by_device(Method(method)) if against is None else by_answers(Path(against)),
            problems=collected.problems,
            watch=watch,
        )


def _show_problems(problems: tuple[object, ...]) -> None:
    from swzverify.report.problems import render_problems  # noqa: PLC0415 - see cli/__init__.py

    errors = terminal_style(err=True, verbosity=0)
    if problems:
        echo(render_problems(problems, errors), errors, err=True)  # type: ignore[arg-type]


def _write(report: CrossReport, form: Format, output: str | None, verbosity: int) -> None:
    from swzverify.report.crosscheck import render_cross_json, render_cross_text  # noqa: PLC0415 - see cli/__init__.py
    from swzverify.report.style import TextStyle  # noqa: PLC0415

    _show_problems(report.problems)
    style = TextStyle(FILE_WIDTH, verbosity=verbosity) if output else terminal_style(err=False, verbosity=verbosity)
    text = render_cross_json(report) if form is Format.JSON else render_cross_text(report, style)
    if output is None:
        echo(text, style, err=False)
        return
    try:
        Path(output).write_text(text, encoding="utf-8")
    except OSError as error:
        raise Failure(f"SWZ504 cannot write the report {output!r}: {error.strerror}") from error
