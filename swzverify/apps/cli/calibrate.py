"""`swzverify calibrate`: every instruction's cost rule against the counters of the GPU at hand."""

from __future__ import annotations

import click

from swzverify.apps.cli.body import run


@click.command()
@click.option("--output", metavar="FILE", help="Keep the patterns and counts (.npz); `prove --calibration` reads them.")
@click.option("--from", "source", metavar="FILE", help="Judge a file that was kept instead of running here.")
@click.option("--instruction", "names", multiple=True, metavar="NAME", help="Only this one; may be given again.")
@click.option("--patterns", type=click.IntRange(min=1), default=650, show_default=True, help="Patterns of each one.")
@click.option("--seed", type=click.IntRange(min=0), default=1, show_default=True, help="Seed of the random patterns.")
def calibrate(**given: object) -> None:
    """Run discriminating address patterns of every instruction on this GPU and hold its counters
    against the rule.

    \b
    Exit codes:
      0  the rule holds for every pattern
      1  it does not; the report names the patterns
      2  an error in the usage, or with the device
    """
    run("calibrate", given)
