"""`swzverify synth`: the best layout of a tile in a family, or of a listing's code, proved."""

from __future__ import annotations

import click

from swzverify.apps.cli.body import run
from swzverify.apps.cli.values import Text
from swzverify.apps.commands.choices import FAMILIES, OF_LISTINGS


@click.command()
@click.argument("spec", metavar="SPEC")
@click.option(
    "--family",
    type=click.Choice([*FAMILIES, *OF_LISTINGS]),
    default="swizzle",
    show_default=True,
    help="What may be chosen: a swizzle, a TMA mode, a pad, both, or any XOR of address bits; of a listing its reuse "
    "marks, its order or its registers.",
)
@click.option("--tile", metavar="NAME", help="The tile.  [default: the only one that is accessed]")
@click.option("--listing", metavar="NAME", help="The listing, for its families.  [default: the only one]")
@click.option(
    "--on",
    type=click.Choice(["offset", "address"]),
    help="What a swizzle acts on: element offsets, or byte addresses.  [default: as the spec has it, else offset]",
)
@click.option(
    "--weight",
    "weights",
    multiple=True,
    metavar="ACCESS=N",
    help="Count an access's wavefronts N times, in place of its `weight:` in the spec; may be given again.",
)
@click.option(
    "--smem-bytes", type=click.IntRange(min=1), metavar="N", help="All stages of the tile in N bytes at most."
)
@click.option(
    "--blocks-per-sm", type=click.IntRange(min=1, max=32), metavar="N", help="N blocks at once on a multiprocessor."
)
@click.option(
    "--keep-aligned", type=click.IntRange(min=1), metavar="BYTES", help="Keep vectors of BYTES whole as well."
)
@click.option("--stages", type=click.IntRange(min=1), metavar="N", help="Stages of the tile.  [default: the spec's]")
@click.option("--all", "every", is_flag=True, help="Tell every answer that is as good, and prove each.")
@click.option("--target", metavar="NAME", type=Text("target"), help="The GPU.  [default: the spec's]")
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)
@click.option("--output", metavar="FILE", help="Write the report to a file instead of standard output.")
@click.option("--write", is_flag=True, help="Write the answer into the spec; its comments stay.")
@click.option("--rlimit", type=click.IntRange(min=1), metavar="N", help="Z3's budget for each query.")
def synth(**given: object) -> None:
    """Find the best layout of a tile for all accesses to it, and prove it.

    SPEC is a spec file. Every member of the family is priced or ruled out, so that none is better
    than the answer: no bank conflicts, else the fewest wavefronts. Where none is free of conflicts,
    the smallest set of accesses is told that cannot be free together, and why. The answer is proved
    as ordinary claims by two engines, and told as a change of the spec, as CuTe C++ and as CUDA.

    The families reuse, order and registers are those of a listing of machine code: the fewest
    register bank conflicts by other reuse marks, another order of the instructions, or other numbers
    of the registers.

    \b
    Exit codes:
      0  the answer has no bank conflict, and that is proved
      1  every layout of the family has bank conflicts; the best one is told
      2  no answer: an error in the spec or in the usage
      3  the answer was not proved by two engines, or not shown to be the best one
    """
    run("synth", given)
