"""`swzverify calibrate`: the cost rule of every instruction against the counters of the GPU at
hand.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import NoReturn

import click

from swzverify.cli.terminal import echo, one_way_out, terminal_style


@click.command()
@click.option("--output", metavar="FILE", help="Keep the patterns and counts (.npz); `prove --calibration` reads them.")
@click.option("--from", "source", metavar="FILE", help="Judge a file that was kept instead of running here.")
@click.option("--instruction", "names", multiple=True, metavar="NAME", help="Only this one; may be given again.")
@click.option("--patterns", type=click.IntRange(min=1), default=650, show_default=True, help="Patterns of each one.")
@click.option("--seed", type=click.IntRange(min=0), default=1, show_default=True, help="Of the random patterns.")
def calibrate(*, output: str | None, source: str | None, names: tuple[str, ...], patterns: int, seed: int) -> NoReturn:
    """Run discriminating address patterns of every instruction on this GPU and hold its counters
    against the rule.

    \b
    Exit codes:
      0  the rule holds for every pattern
      1  it does not; the report names the patterns
      2  an error in the usage, or with the device
    """
    from swzverify.gpu.calibrate import calibrate as measure  # noqa: PLC0415
    from swzverify.gpu.calibration import judged, load_calibration, save_calibration  # noqa: PLC0415
    from swzverify.report.calibration import render_calibration  # noqa: PLC0415

    if source is not None and output is not None:
        raise click.UsageError("--from reads a file that --output wrote; give one of them")
    with one_way_out():
        if source is not None:
            found = load_calibration(Path(source))
        else:
            with tempfile.TemporaryDirectory(prefix="swzverify-") as folder:
                found = measure(Path(folder), names, patterns, seed)
        if output is not None:
            save_calibration(Path(output), found)
        rows = judged(found)
    style = terminal_style(err=False, verbosity=0)
    echo(render_calibration(found.about, rows, style), style, err=False)
    sys.exit(0 if all(row.holds for row in rows) else 1)
