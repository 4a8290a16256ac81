"""The options of `swzverify sweep`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from swzverify.apps.options.declare import POSITIVE, Options, argument, flag, option
from swzverify.apps.options.shared import jobs_option
from swzverify.apps.options.values import two_axes


@dataclass(frozen=True, slots=True)
class SweepOptions(Options):
    """Measure many variants of a spec, for research.

    SPEC is a spec file with a section `sweep:`, whose axes are constants of the spec, elements,
    instructions, targets or other values of it. Every combination that satisfies the conditions is a
    case. The folder gets cases.parquet and cases.csv: for each case whether it is sound, and the worst
    wavefronts and bank conflicts of every access. If a sweep was stopped, the same command continues
    it.

    \b
    Exit codes:
      0  every case is measured
      2  an error in the spec, the folder or the usage; what is finished stays
    """

    without: ClassVar[str] = "what is finished stays; run the same command again to go on"
    spec: str = argument("SPEC")
    output: str | None = option(
        "--output FOLDER", "The folder of the results.  [default: the spec's name with .sweep after it]"
    )
    jobs: int | None = jobs_option("Processes.  [default: all processors]")
    prove: bool = flag("--prove", "Prove the spec's claims in every case as well; slower.")
    scheduler: str | None = option("--scheduler ADDRESS", "Work on the Dask cluster with this scheduler.")
    slurm: int | None = option("--slurm N", "Work in N Slurm jobs, through dask-jobqueue.", POSITIVE)
    heatmap: tuple[str, str] | None = option(
        "--heatmap X,Y", "Show the fewest bank conflicts for each pair of values of two axes.", convert=two_axes
    )
    picture: str | None = option("--picture FILE", "Draw the heatmap into a file: .svg, .html, .tex, .png or text.")
    restart: bool = flag("--restart", "Delete the results in the folder, and start again.")
    target: str | None = option("--target NAME", "The GPU.  [default: the spec's]")
    form: str = option("--format", kind=("text", "json"), default="text")
