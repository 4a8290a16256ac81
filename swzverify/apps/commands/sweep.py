"""`swzverify sweep`: many variants of a spec, measured."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from swzverify.apps.commands.choices import picture_format
from swzverify.apps.commands.drawing import tell_picture
from swzverify.apps.commands.files import check_output
from swzverify.apps.commands.terminal import echo, one_way_out, terminal_style
from swzverify.apps.commands.writing import write_text
from swzverify.apps.run.sweep import SweepOptions, SweepResult, run_sweep
from swzverify.apps.run.sweep_progress import progress_bar
from swzverify.report.sweep import render_sweep, sweep_json
from swzverify.report.sweep_picture import heatmap_picture


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
    """Measure the variants of a spec, and tell the table."""
    pair = _pair(heatmap)
    if scheduler is not None and slurm is not None:
        raise click.UsageError("--scheduler and --slurm: one of them")
    if picture is not None:
        if pair is None:
            raise click.UsageError("--picture draws a heatmap: name two axes with --heatmap")
        check_output(picture, [spec], "--picture")
    folder = output if output is not None else f"{Path(spec).name.partition('.')[0]}.sweep"
    with one_way_out("what is finished stays; run the same command again to go on"):
        options = SweepOptions(folder, jobs, target, prove, scheduler, slurm, restart, pair)
        with progress_bar() as watch:
            result = run_sweep(spec, options, watch)
        _tell(result, form)
        if picture is not None and result.summary.heatmap is not None:
            tell_picture(heatmap_picture(result.path, result.summary.heatmap), picture_format(picture), picture)


def _pair(text: str | None) -> tuple[str, str] | None:
    if text is None:
        return None
    across, comma, down = text.partition(",")
    if not comma or not across.strip() or not down.strip() or across.strip() == down.strip():
        raise click.BadParameter(f"{text!r}: two axes, such as B,S", param_hint="--heatmap")
    return across.strip(), down.strip()


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
