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
    """Find bank conflicts, races, and misaligned or outside accesses in compiled kernels, without a spec.

    Each FILE is PTX, a .cu file, which nvcc compiles, or a cubin, fatbin, object, library or program
    with PTX, which cuobjdump extracts. Every access to shared memory has a verdict: free, conflict,
    depends (on parameters), or unknown with the reason. Bulk copies have no such verdict. The report also
    says whether the access is aligned and inside its array. With machine code and its table of lines
    (-lineinfo) it says what each access became on the chip. Each kernel has a verdict on races in shared
    memory.

    Text and JSON Lines are written while functions are judged. After Ctrl-C the report covers the
    functions that were judged.

    \b
    Exit codes:
      0  every access was listed, and nothing was found that --fail-on names
      1  a verdict that --fail-on names was found, and is not known; or counters disagree
      2  an error in a file or in the usage
      5  no access to shared memory found
      130  interrupted; the report covers what was judged
    """

    files: tuple[str, ...] = argument("FILE...")
    kernel: str | None = option(
        "--kernel NAME", "Only this kernel, by its name in the PTX or in C++, and the device functions."
    )
    blocks: tuple[str, ...] = several(
        "--block [KERNEL=]X,Y,Z",
        "The shape of the block, for all kernels or for those with a name or a glob; may be given again.  [default: "
        ".reqntid of the kernel, else the launches in its source, else .maxntid; the last two are assumptions]",
    )
    grid: str | None = option("--grid X,Y,Z", "Blocks of the grid, in every launch.  [default: any grid]")
    cluster: str | None = option(
        "--cluster X,Y,Z",
        "Blocks of a cluster, for races and operands of kernels that reach the memory of other blocks.  [default: "
        ".reqnctapercluster of the kernel, else one block as an assumption]",
    )
    lockstep: bool = flag(
        "--lockstep",
        "Assume that the lanes of a warp run each instruction together, for code that relies on it. No GPU since "
        "sm_70 guarantees it.",
    )
    target: str = option("--target SM", "The GPU whose rules are used.", default="sm_90")
    smem: str | None = option(
        "--smem BYTES",
        "Dynamic shared memory of the launch, such as 49152 or 48K: the size of `.extern .shared` arrays.",
    )
    smem_align: str | None = option(
        "--smem-align N", "Assume that dynamic shared memory starts at a multiple of N bytes, a power of two."
    )
    parameters: tuple[str, ...] = several(
        "--param NAME=VALUE",
        "The value of an integer parameter, by its name or number: lda=128, 3=128; may be given again.",
    )
    assumptions: tuple[str, ...] = several(
        "--assume CONDITION",
        "A C condition on parameters that every launch satisfies, such as 'lda % 32 == 0'; may be given again.",
    )
    tensor_maps: tuple[str, ...] = several(
        "--tensor-map NAME=BOX,SWIZZLE,STRIDES",
        "The box of a tensor map, innermost extent first, with the type of an element, its swizzle mode, and if known "
        "its strides in bytes: a=64x128xf16,128B, or p+128=64x128x1xf16,128B,_x128 for byte 128 of a struct; may be "
        "given again.",
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
        "Accept the known findings in this file; fail on new ones only, of every kind without --fail-on.",
        writes=True,
    )
    write_baseline: str | None = option(
        "--write-baseline FILE", "Write the present findings as known findings.", writes=True
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
        "Compare the verdicts with counters: an export of `ncu --page source --csv`, or nsight-python's data as CSV; "
        "may be given again.",
    )
    check_run: str | None = option(
        "--check-run COMMAND", "Profile this command with ncu, and compare the verdicts with its counters."
    )
    fragments: bool = flag(
        "--fragments", "Follow the operands of `mma.sync` from registers to shared memory, and judge what fills them."
    )
    suggest: bool = flag(
        "--no-suggest", "Do not look for changes of an array that remove its conflicts.", turns=False, writes=True
    )
    trials: int | None = option(
        "--trials N",
        "Limit the launches of a kernel, which find conflicts of accesses without a proof.  [default: 4000]",
        click.IntRange(min=0),
    )
    jobs: int | None = jobs_option("Processes to use.  [default: one per processor, for more than a few functions]")
    scheduler: str | None = option("--scheduler ADDRESS", "Work on the Dask cluster with this scheduler.", writes=True)
    resume: str | None = option(
        "--resume FOLDER",
        "Store the findings of each function there; the same scan, run again, continues from them.",
        writes=True,
    )
    watch: bool = flag("--watch", "Scan again each FILE that changes, until Ctrl-C.", writes=True)
    top: int | None = option(
        "--top N", "In text, show only the N worst problems of all kernels.", click.IntRange(min=1), writes=True
    )
    verbose: bool = flag("-v, --verbose", "In text, list every access with all its lanes.", writes=True)
    quiet: bool = flag("-q, --quiet", "In text, show only new problems, without lanes, and the summary.", writes=True)
