"""The options of `swzverify scan`."""

from __future__ import annotations

from dataclasses import dataclass

import click

from swzverify.apps.options.declare import Options, argument, flag, group, option, several
from swzverify.apps.options.shared import Reports, jobs_option
from swzverify.compiled.kinds import OPERAND_CLAIMS, RACE_CLAIMS

FAILURES = ("conflict", "unknown", *(each.failure for each in (*OPERAND_CLAIMS, *RACE_CLAIMS)))
"""The verdicts of `scan` that may end it with 1."""


@dataclass(frozen=True, slots=True)
class ScanOptions(Options):
    """Find bank conflicts and races of compiled kernels, without a spec, and misaligned or outside accesses.

    Each FILE is PTX; a cubin, fatbin, object, library or program that holds PTX, which cuobjdump
    takes out; or a .cu file, which nvcc compiles. Every access to shared memory is listed with a
    verdict: free, conflict, depends (on parameters), or unknown with the reason. Beside it stands
    whether each lane's address is aligned, and inside its array. Machine code with a table of lines
    (-lineinfo) tells what each access became on the chip. Each kernel has a verdict on races of its
    threads in shared memory.

    Text and JSON Lines are written as functions are judged. After Ctrl-C the report is on those that
    were.

    \b
    Exit codes:
      0  every access was listed
      1  there is a verdict that --fail-on names, and no known finding; or counters disagree
      2  an error in a file or in the usage
      5  no access to shared memory found
      130  interrupted; the report is on what was judged
    """

    files: tuple[str, ...] = argument("FILE...")
    kernel: str | None = option(
        "--kernel NAME", "This kernel only, by its name in the PTX or in C++; device functions stay."
    )
    blocks: tuple[str, ...] = several(
        "--block [KERNEL=]X,Y,Z",
        "Threads of a block, of all kernels or of those that a name or a glob means; may be given again.  [default: "
        "what .reqntid says, else what .maxntid says, as an assumption]",
    )
    grid: str | None = option("--grid X,Y,Z", "Blocks of the grid, in every launch.  [default: any grid]")
    lockstep: bool = flag(
        "--lockstep",
        "Take the lanes of a warp to run each instruction together, for code that is written for one warp: no GPU "
        "since sm_70 promises it.",
    )
    target: str = option("--target SM", "The GPU whose rules count.", default="sm_90")
    smem: str | None = option(
        "--smem BYTES",
        "Dynamic shared memory of the launch: what `.extern .shared` arrays have, such as 49152 or 48K.",
    )
    smem_align: str | None = option(
        "--smem-align N", "Dynamic shared memory begins at a multiple of N bytes, a power of two, whatever PTX says."
    )
    parameters: tuple[str, ...] = several(
        "--param NAME=VALUE",
        "The value of an integer parameter, by its name or number: lda=128, 3=128; may be given again.",
    )
    assumptions: tuple[str, ...] = several(
        "--assume CONDITION",
        "A C condition on parameters that holds of every launch, such as 'lda % 32 == 0'; may be given again.",
    )
    nvcc_arguments: tuple[str, ...] = several(
        "--nvcc-arg ARG",
        "An option for nvcc, which compiles .cu files, such as --nvcc-arg=-Iinclude; may be given again.",
    )
    cubins: tuple[str, ...] = several(
        "--cubin FILE", "A file with the machine code of the PTX, built with -lineinfo; may be given again."
    )
    reports: Reports = group(Reports)
    fail_on: tuple[str, ...] = several(
        "--fail-on",
        "Exit with 1 if there is such a verdict, even for some parameters only; may be given again.",
        FAILURES,
        writes=True,
    )
    baseline: str | None = option(
        "--baseline FILE",
        "Accept the known findings in this file; fail on new ones only, of both kinds without --fail-on.",
        writes=True,
    )
    write_baseline: str | None = option(
        "--write-baseline FILE", "Write what is found now as known findings.", writes=True
    )
    write_spec: str | None = option(
        "--write-spec FILE",
        "Write a spec with each decided access and a claim of its verdict, which `swzverify prove` proves.",
        writes=True,
    )
    certificates: str | None = option(
        "--certificates DIR", "Write a certificate of every free access, for `swzverify recheck DIR`.", writes=True
    )
    exports: tuple[str, ...] = several(
        "--check FILE.csv",
        "Lay counters beside the verdicts: an export of `ncu --page source --csv`; may be given again.",
    )
    check_run: str | None = option(
        "--check-run COMMAND", "Profile this command with ncu, and lay its counters beside the verdicts."
    )
    suggest: bool = flag(
        "--no-suggest", "Do not look for changes of an array that free its conflicts.", turns=False, writes=True
    )
    trials: int | None = option(
        "--trials N",
        "Launches of a kernel to try at most, where nothing is proved of an access.  [default: 2000]",
        click.IntRange(min=0),
    )
    jobs: int | None = jobs_option("Processes to use.  [default: one per processor, for more than a few functions]")
    scheduler: str | None = option(
        "--scheduler ADDRESS", "Work on the Dask cluster whose scheduler is there.", writes=True
    )
    resume: str | None = option(
        "--resume FOLDER",
        "Keep there what was found at each function, and go on there when the same scan runs again.",
        writes=True,
    )
    watch: bool = flag("--watch", "Scan again each FILE that changes, until Ctrl-C.", writes=True)
    top: int | None = option(
        "--top N", "Show in text only the N worst problems of all kernels.", click.IntRange(min=1), writes=True
    )
    verbose: bool = flag("-v, --verbose", "List every access in text, each with all its lanes.", writes=True)
    quiet: bool = flag(
        "-q, --quiet", "Show in text only what is neither free nor known, without lanes, and the summary.", writes=True
    )
