"""`swzverify calibrate`: every instruction's cost rule against the counters of the GPU at hand."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import NoReturn

import click

from swzverify.apps.commands.terminal import echo, say, terminal_style
from swzverify.apps.options.calibrate import CalibrateOptions
from swzverify.gpu.calibrate import calibrate as measure
from swzverify.gpu.calibration import judged, load_calibration, save_calibration
from swzverify.report.calibration import render_calibration, render_calibration_json


def calibrate_command(options: CalibrateOptions) -> NoReturn:
    """Measure, or read what was measured, and tell whether the cost rules hold; exit code 0 or 1."""
    if options.source is not None and options.output is not None:
        raise click.UsageError("--from reads a file that --output wrote; give one of them")
    if options.source is not None:
        found = load_calibration(Path(options.source))
    else:
        with tempfile.TemporaryDirectory(prefix="swzverify-") as folder:
            found = measure(Path(folder), options.names, options.patterns, options.seed)
    if options.output is not None:
        save_calibration(Path(options.output), found)
    rows = judged(found)
    if options.form == "json":
        say(render_calibration_json(found.about, rows))
    else:
        style = terminal_style(err=False, verbosity=0)
        echo(render_calibration(found.about, rows, style), style, err=False)
    sys.exit(0 if all(row.holds for row in rows) else 1)
