"""`swzverify calibrate`: every instruction's cost rule against the counters of the GPU at hand."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import NoReturn

import click

from swzverify.apps.commands.terminal import echo, one_way_out, terminal_style
from swzverify.gpu.calibrate import calibrate as measure
from swzverify.gpu.calibration import judged, load_calibration, save_calibration
from swzverify.report.calibration import render_calibration


def calibrate(*, output: str | None, source: str | None, names: tuple[str, ...], patterns: int, seed: int) -> NoReturn:
    """Measure, or read what was measured, and tell whether the cost rules hold; exit code 0 or 1."""
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
