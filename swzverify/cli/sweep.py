"""`swzverify sweep`: many variants of a spec, measured."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from swzverify.cli.drawing import format_of, tell_picture
from swzverify.cli.files import check_output
from swzverify.cli.terminal import Failure, echo, one_way_out, terminal_style
from swzverify.cli.values import Text, targets
from swzverify.cli.writing import write_text

if TYPE_CHECKING:
    from swzverify.run.sweep import SweepResult


@click.command()
@click.argument("spec", metavar="SPEC")
@click.option(
    "--output", metavar="FOLDER", help="Where the results go.  [default: the spec's name, with .sweep behind it]"
)
@click.option("-j", "--jobs", type=click.IntRange(min=1), metavar="N", help="Processes.  [default: all processors]")
@click.option("--prove", is_flag=True, help="Prove the spec's claims in every case as well; slower.")
@click.option("--scheduler", metavar="ADDRESS", help="Work on the Dask cluster whose scheduler is there.")
@click.option("--slurm", type=click.IntRange(min=1), metavar="N", help="Work in N Slurm jobs, through dask-jobqueue.")
@click.option("--heatmap", metavar="X,Y", help="Show the fewest bank conflicts for each pair of values of two axes.")
@click.option("--picture", metavar="FILE", help="Draw the heatmap into a file: .svg, .html, .tex, .png or text.")
@click.option("--restart", is_flag=True, help="Throw away what is in the folder, and begin anew.")
@click.option("--target", metavar="NAME", type=Text(targets), help="The GPU.  [default: the spec's]")
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)
def sweep(
    *,
    spec: str,
    output: str | None,
    jobs: int | None,
    prove: bool,
    scheduler: str | None,
    slurm: int | None,
    heatmap: str | None,
    picture: str | None,
    restart: bool,
    target: str | None,
    form: str,
) -> None:
    """Measure many variants of a spec, for research.

    SPEC is a spec file with a section `sweep:`, whose axes are constants of the spec, elements,
    instructions, targets or other values of it. Every combination that meets the conditions is a
    case. The folder gets cases.parquet and cases.csv: for each case whether it is sound, and the wavefronts
    and bank conflicts of every access in the worst case. A sweep that was stopped goes on where it
    was when the same command runs again.

    \b
    Exit codes:
      0  every case is measured
      2  an error in the spec, the folder or the usage; what is finished stays
    """
    pair = _pair(heatmap)
    if scheduler is not None and slurm is not None:
        raise click.UsageError("--scheduler and --slurm: one of them")
    if picture is not None:
        if pair is None:
            raise click.UsageError("--picture draws a heatmap: name two axes with --heatmap")
        check_output(picture, [spec], "--picture")
    folder = output if output is not None else f"{Path(spec).name.partition('.')[0]}.sweep"
    with one_way_out("what is finished stays; run the same command again to go on"):
        result = _result(spec, folder, jobs, prove, scheduler, slurm, pair, restart, target)
        _tell(result, form)
        _draw(result, picture)


def _pair(text: str | None) -> tuple[str, str] | None:
    if text is None:
        return None
    across, comma, down = text.partition(",")
    if not comma or not across.strip() or not down.strip() or across.strip() == down.strip():
        raise click.BadParameter(f"{text!r}: two axes, such as B,S", param_hint="--heatmap")
    return across.strip(), down.strip()


def _result(
    spec: str,
    folder: str,
    jobs: int | None,
    prove: bool,
    scheduler: str | None,
    slurm: int | None,
    pair: tuple[str, str] | None,
    restart: bool,
    target: str | None,
) -> SweepResult:
    from swzverify.run.sweep import SweepOptions, run_sweep  # noqa: PLC0415 - `--help` is to be quick
    from swzverify.run.sweep_progress import progress_bar  # noqa: PLC0415
    from swzverify.spec import SpecError  # noqa: PLC0415

    options = SweepOptions(folder, jobs, target, prove, scheduler, slurm, restart, pair)
    try:
        with progress_bar() as watch:
            return run_sweep(spec, options, watch)
    except SpecError as error:
        raise Failure(str(error)) from error


def _draw(result: SweepResult, file: str | None) -> None:
    if file is None or result.summary.heatmap is None:
        return
    from swzverify.report.sweep_picture import heatmap_picture  # noqa: PLC0415 - `--help` is to be quick

    tell_picture(heatmap_picture(result.path, result.summary.heatmap), format_of(file), file)


def _tell(result: SweepResult, form: str) -> None:
    from swzverify.report.sweep import render_sweep, sweep_json  # noqa: PLC0415 - `--help` is to be quick

    if form == "json":
        write_text(sweep_json(result.path, result.folder, result.manifest, result.summary) + "\n", None)
        return
    style = terminal_style(err=False, verbosity=0)
    echo(render_sweep(result.path, result.folder, result.summary, style), style, err=False)
    if result.measured and sys.stderr.isatty():
        rate = result.measured / max(result.seconds, 1e-9)
        words = f"{result.measured} combinations in {result.seconds:.1f} s, {rate:.0f} per second"
        click.echo(words, err=True)
