"""`swzverify sweep`: many variants of a spec, measured."""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager

import click

from swzverify.apps.commands.drawing import tell_picture
from swzverify.apps.commands.files import check_output
from swzverify.apps.commands.terminal import echo, terminal_style
from swzverify.apps.commands.writing import write_text
from swzverify.apps.options.choices import picture_format
from swzverify.apps.options.sweep import SweepOptions
from swzverify.apps.run.sweep import Progress, SweepResult, run_sweep
from swzverify.report.sweep import render_sweep, sweep_json
from swzverify.report.sweep_picture import heatmap_picture


def sweep_command(options: SweepOptions) -> None:
    """Measure the variants of a spec, and tell the table."""
    if options.scheduler is not None and options.slurm is not None:
        raise click.UsageError("--scheduler and --slurm: one of them")
    if options.picture is not None and options.heatmap is None:
        raise click.UsageError("--picture draws a heatmap: name two axes with --heatmap")
    check_output(options.picture, [options.spec], "--picture")
    with progress_bar() as watch:
        result = run_sweep(options, watch)
    _tell(result, options.form)
    if options.picture is not None and result.summary.heatmap is not None:
        picture = heatmap_picture(result.path, result.summary.heatmap)
        tell_picture(picture, picture_format(options.picture), options.picture)


def _tell(result: SweepResult, form: str) -> None:
    if form == "json":
        write_text(sweep_json(result.path, result.folder, result.manifest, result.summary) + "\n", None)
        return
    style = terminal_style(err=False, verbosity=0)
    echo(render_sweep(result.path, result.folder, result.summary, style), style, err=False)
    if result.measured and sys.stderr.isatty():
        rate = result.measured / max(result.seconds, 1e-9)
        words = f"{result.measured} combinations in {result.seconds:.1f} s, {rate:.0f} per second"
        click.echo(words, err=True)


@contextmanager
def progress_bar() -> Generator[Callable[[Progress], None]]:
    """Give what `run_sweep` wants as `watch`. Only a terminal at standard error shows a bar."""
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.console import Console  # noqa: PLC0415 - most runs have no terminal there
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn  # noqa: PLC0415
    from rich.progress import Progress as Bar  # noqa: PLC0415

    columns = (BarColumn(), MofNCompleteColumn(), TextColumn("{task.fields[rate]}"), TimeRemainingColumn())
    with Bar(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("sweep", rate="")

        def watch(progress: Progress) -> None:
            spent = bar.tasks[0].elapsed or 0.0
            rate = (progress.done - progress.before) / spent if spent else 0.0
            bar.update(task, completed=progress.done, total=progress.total, rate=f"{rate:.0f} cases per second")

        yield watch
