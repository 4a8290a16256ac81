"""`swzverify sweep`: many variants of a spec, measured."""

from __future__ import annotations

import click

from swzverify.apps.cli.body import run
from swzverify.apps.cli.values import Text


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
@click.option("--target", metavar="NAME", type=Text("target"), help="The GPU.  [default: the spec's]")
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)
def sweep(**given: object) -> None:
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
    run("sweep", given)
