"""`swzverify crosscheck`: the claims of spec files held against a real GPU."""

from __future__ import annotations

import click

from swzverify.apps.cli.body import run
from swzverify.apps.commands.choices import RecordFormat


@click.command()
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@click.option(
    "--format",
    "form",
    type=click.Choice([form.value for form in RecordFormat]),
    default=RecordFormat.TEXT.value,
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
def crosscheck(**given: object) -> None:
    """Hold the claims of spec files against the GPU at hand: the same maps, the real instructions,
    the counters.

    \b
    Exit codes:
      0  the device agrees with everything that it can see
      1  it disagrees with something
      2  an error in a spec, in the usage, or with the device
      5  no claim found
    """
    run("crosscheck", given)
