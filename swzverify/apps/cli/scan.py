"""`swzverify scan`: compiled kernels in, a verdict for every shared-memory access out."""

from __future__ import annotations

import click

from swzverify.apps.cli.body import run
from swzverify.apps.cli.reports import format_option, output_option, report_option
from swzverify.apps.commands.choices import FAILURES


@click.command()
@click.argument("files", metavar="FILE...", nargs=-1, required=True)
@click.option("--kernel", metavar="NAME", help="This kernel only, by its name in the PTX; device functions stay.")
@click.option("--block", metavar="X,Y,Z", help="Threads of a block.  [default: what .reqntid says]")
@click.option("--target", default="sm_90", show_default=True, metavar="SM", help="The GPU whose rules count.")
@click.option(
    "--smem",
    metavar="BYTES",
    help="Dynamic shared memory of the launch: what `.extern .shared` arrays have, such as 49152 or 48K.",
)
@click.option(
    "--smem-align",
    metavar="N",
    help="Dynamic shared memory begins at a multiple of N bytes, a power of two, whatever PTX says.",
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
    help="Exit with 1 if there is such a verdict, even for some parameters only; may be given again.",
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
@click.option(
    "--certificates", metavar="DIR", help="Write a certificate of every free access, for `swzverify recheck DIR`."
)
@click.option(
    "--check",
    "exports",
    multiple=True,
    metavar="FILE.csv",
    help="Lay counters beside the verdicts: an export of `ncu --page source --csv`; may be given again.",
)
@click.option(
    "--check-run", metavar="COMMAND", help="Profile this command with ncu, and lay its counters beside the verdicts."
)
@click.option("--no-suggest", is_flag=True, help="Do not look for changes of an array that free its conflicts.")
@click.option(
    "--trials",
    type=click.IntRange(min=0),
    metavar="N",
    help="Launches of a kernel to try at most, where nothing is proved of an access.  [default: 2000]",
)
@click.option(
    "-j",
    "--jobs",
    type=click.IntRange(min=1),
    metavar="N",
    help="Processes to use.  [default: one per processor, for more than a few functions]",
)
@click.option("-q", "--quiet", is_flag=True, help="Show in text only what is neither free nor known, and the summary.")
def scan(**given: object) -> None:
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
    run("scan", given)
