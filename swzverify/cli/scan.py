"""`swzverify scan`: compiled kernels in, a verdict for every shared-memory access out."""

from __future__ import annotations

import sys
import time
from enum import IntEnum
from typing import TYPE_CHECKING, NoReturn

import click

from swzverify.cli.files import Known, check_output
from swzverify.cli.reports import (
    Format,
    ReportFile,
    check_reports,
    format_option,
    output_option,
    report_option,
    wants_pictures,
)
from swzverify.cli.scan_check import DISAGREEMENT, check_options, held_against, read_counters, spelled
from swzverify.cli.scan_reports import write_scan
from swzverify.cli.scan_spec import check_written, save_written
from swzverify.cli.terminal import one_way_out

if TYPE_CHECKING:
    from swzverify.report.result import Report

MOST_THREADS = 1024
"""Threads of a block. Source: CUDA Programming Guide 13, 5.1.3, table 30."""
MOST_SHARED = 227 * 1024
"""Bytes of shared memory that a block can have. Source: CUDA Programming Guide 13, 5.1.3, table 31."""
FAILURES = ("conflict", "unknown", "misaligned", "out-of-bounds")
_AXES = 3
_MOST_ALONG_Z = 64


class ExitCode(IntEnum):
    """The exit codes of `swzverify scan`."""

    DONE = 0
    FOUND = 1
    NO_ACCESS = 5


@click.command()
@click.argument("files", metavar="FILE...", nargs=-1, required=True)
@click.option("--kernel", metavar="NAME", help="This kernel only, by its name in the PTX; device functions stay.")
@click.option("--block", metavar="X,Y,Z", help="Threads of a block.  [default: what .reqntid says]")
@click.option("--target", default="sm_90", show_default=True, metavar="SM", help="The GPU whose rules count.")
@click.option(
    "--smem",
    type=click.IntRange(0, MOST_SHARED),
    metavar="BYTES",
    help="Dynamic shared memory of the launch: what `.extern .shared` arrays have.",
)
@click.option(
    "--param",
    "parameters",
    multiple=True,
    metavar="NAME=VALUE",
    help="The value of an integer parameter, by its name or number: lda=128, 3=128; may be given again.",
)
@click.option(
    "--assume",
    "assumptions",
    multiple=True,
    metavar="CONDITION",
    help="A C condition on parameters that holds of every launch, such as 'lda % 32 == 0'; may be given again.",
)
@click.option(
    "--nvcc-arg",
    "nvcc_arguments",
    multiple=True,
    metavar="ARG",
    help="An option for nvcc, which compiles .cu files, such as --nvcc-arg=-Iinclude; may be given again.",
)
@click.option(
    "--cubin",
    "cubins",
    multiple=True,
    metavar="FILE",
    help="A file with the machine code of the PTX, built with -lineinfo; may be given again.",
)
@format_option
@output_option
@report_option
@click.option(
    "--fail-on",
    type=click.Choice(FAILURES),
    multiple=True,
    help="Exit with 1 if there is such a verdict, be it for some parameters only; may be given again.",
)
@click.option(
    "--baseline",
    metavar="FILE",
    help="Accept the known findings in this file; fail on new ones only, of both kinds without --fail-on.",
)
@click.option("--write-baseline", metavar="FILE", help="Write what is found now as known findings.")
@click.option(
    "--write-spec",
    metavar="FILE",
    help="Write a spec with each decided access and a claim of its verdict, which `swzverify prove` proves.",
)
@check_options
@click.option("--no-suggest", is_flag=True, help="Do not look for changes of an array that free its conflicts.")
@click.option(
    "-j",
    "--jobs",
    type=click.IntRange(min=1),
    metavar="N",
    help="Processes to use.  [default: one per processor, for more than a few functions]",
)
@click.option("-q", "--quiet", is_flag=True, help="Show in text only what is neither free nor known, and the summary.")
def scan(
    *,
    files: tuple[str, ...],
    kernel: str | None,
    block: str | None,
    target: str,
    smem: int | None,
    parameters: tuple[str, ...],
    assumptions: tuple[str, ...],
    nvcc_arguments: tuple[str, ...],
    cubins: tuple[str, ...],
    form: str,
    output: str | None,
    reports: tuple[ReportFile, ...],
    fail_on: tuple[str, ...],
    baseline: str | None,
    write_baseline: str | None,
    write_spec: str | None,
    exports: tuple[str, ...],
    check_run: str | None,
    no_suggest: bool,
    jobs: int | None,
    quiet: bool,
) -> NoReturn:
    """Find the bank conflicts of compiled kernels, without a spec, and misaligned or outside accesses.

    Each FILE is PTX; a cubin, fatbin, object, library or program that holds PTX, which cuobjdump
    takes out; or a .cu file, which nvcc compiles. Every access to shared memory is listed with a
    verdict: free, conflict, depends (on parameters), or unknown with the reason. Beside it stands
    whether each lane's address is aligned, and inside its array. Machine code with a table of lines
    (-lineinfo) tells what each access became on the chip.

    \b
    Exit codes:
      0  every access was listed
      1  there is a verdict that --fail-on names, and no known finding; or counters disagree
      2  an error in a file or in the usage
      5  no access to shared memory found
    """
    with one_way_out():
        from swzverify.report.scan_claims import report_of  # noqa: PLC0415 - `--help` is to be quick
        from swzverify.run.scan import ScanSettings, scan_files  # noqa: PLC0415
        from swzverify.run.settings import Settings  # noqa: PLC0415
        from swzverify.scan import Given  # noqa: PLC0415

        given = Given(parameters, assumptions)
        settings = ScanSettings(
            _shape(block), kernel, target, given, jobs, nvcc_arguments, smem, cubins, suggest=not no_suggest
        )
        known = Known(baseline, write_baseline)
        if output is not None:
            check_output(output, [*files, *cubins], "--output")
        taken = {"--output": output, "--baseline": baseline, "--write-baseline": write_baseline}
        check_written(write_spec, [*files, *cubins], taken)
        taken["--write-spec"] = write_spec
        check_reports(reports, [*files, *cubins], taken)
        accepted = known.prepare(Settings(), output, [*files, *cubins])
        counters = read_counters(exports, check_run, kernel)
        begin = time.monotonic()
        found = scan_files(files, settings)
        asked = {
            "--block": block,
            "--kernel": kernel,
            "--target": None if target == "sm_90" else target,
            "--smem": smem,
            "--param": parameters,
            "--assume": assumptions,
            "--nvcc-arg": nvcc_arguments,
            "--cubin": cubins,
            "--check": exports,
            "--check-run": check_run,
        }
        found, check = held_against(found, counters, spelled(files, asked))
        report = accepted(report_of(found, 1000 * (time.monotonic() - begin), pictures=wants_pictures(form, reports)))
        if baseline is not None and not fail_on:
            fail_on = FAILURES
        fail_on = (*fail_on, DISAGREEMENT)
        code = _exit_code(report, fail_on)
        write_scan(found, report, int(code), Format(form), output, reports, quiet=quiet, check=check)
        known.save(report)
        save_written(write_spec, found, target)
    sys.exit(int(code))


def _exit_code(report: Report, fail_on: tuple[str, ...]) -> ExitCode:
    from swzverify.claims.verdict import Outcome  # noqa: PLC0415 - see `scan`
    from swzverify.report.scan_claims import KINDS  # noqa: PLC0415

    if not report.results and not report.problems:
        return ExitCode.NO_ACCESS
    new = {(result.kind, result.verdict.outcome) for result in report.results if result.failing}
    found = {name for name, kind in KINDS.items() if (kind, Outcome.REFUTED) in new}
    if (KINDS["conflict"], Outcome.UNKNOWN) in new or report.problems:
        found.add("unknown")
    return ExitCode.FOUND if found & set(fail_on) else ExitCode.DONE


def _shape(block: str | None) -> tuple[int, int, int] | None:
    if block is None:
        return None
    words = block.split(",")
    if len(words) > _AXES or not all(
        word.isascii() and word.strip().isdigit() and len(word) <= _AXES + 1 for word in words
    ):
        raise click.UsageError(f"--block is {block!r}; give one to three numbers, such as 32,8")
    x, y, z = (*(int(word) for word in words), 1, 1)[:_AXES]
    if not 1 <= x * y * z <= MOST_THREADS or z > _MOST_ALONG_Z:
        raise click.UsageError(f"--block is {block!r}; a block has 1 to {MOST_THREADS} threads, 64 at most along z")
    return x, y, z
