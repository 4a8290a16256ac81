"""The options of `swzverify synth`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal

import click

from swzverify.apps.options.declare import POSITIVE, Options, argument, flag, option, several
from swzverify.apps.options.values import by_name, weight

FAMILIES = ("swizzle", "tma", "pad", "pad+swizzle", "xor")
"""The families of `synth`."""
OF_LISTINGS = ("reuse", "order", "registers")
"""The families of `synth` for listings."""
OF_OPERANDS = ("descriptor",)
"""The families of `synth` for operands of the tensor core."""


@dataclass(frozen=True, slots=True)
class SynthOptions(Options):
    """Find the best layout of a tile for all accesses to it, and prove it.

    SPEC is a spec file. The cost of every layout of the family is computed or ruled out, so none is
    better than the answer: no bank conflicts, else the fewest wavefronts. If every layout has
    conflicts, the answer names the smallest set of accesses that cannot be free together, and why. Two
    engines prove the answer as ordinary claims. It is printed as a change of the spec, as CuTe C++ and
    as CUDA. The families reuse, order and registers are for a listing of machine code: the fewest register bank
    conflicts with other reuse marks, another order of the instructions, or other register numbers. The family
    descriptor finds each descriptor that names an operand of the tensor core, or proves that none does.

    \b
    Exit codes:
      0  the answer has no bank conflict, and that is proved
      1  every layout of the family has bank conflicts; or no descriptor is right
      2  no answer: an error in the spec or in the usage
      3  the answer was not proved by two engines, or not shown to be the best
    """

    without: ClassVar[str] = "no answer"
    spec: str = argument("SPEC")
    family: str = option(
        "--family",
        "What may be chosen: a swizzle, a TMA mode, a pad, both, or any XOR of address bits; of a listing its reuse "
        "marks, its order or its registers; of an operand its descriptor.",
        (*FAMILIES, *OF_LISTINGS, *OF_OPERANDS),
        default="swizzle",
    )
    tile: str | None = option("--tile NAME", "The tile.  [default: the only one that is accessed]")
    listing: str | None = option("--listing NAME", "The listing, for its families.  [default: the only one]")
    operand: str | None = option("--operand NAME", "The operand, for its descriptor.  [default: the only one]")
    on: Literal["offset", "address"] | None = option(
        "--on",
        "What a swizzle acts on: element offsets, or byte addresses.  [default: as the spec has it, else offset]",
        ("offset", "address"),
    )
    weights: Mapping[str, int] = several(
        "--weight ACCESS=N",
        "Count an access's wavefronts N times, in place of its `weight:` in the spec; may be given again.",
        convert=by_name("--weight", "an access and a number, such as read_A=4", weight),
    )
    smem_bytes: int | None = option("--smem-bytes N", "Limit all stages of the tile to N bytes.", POSITIVE)
    blocks_per_sm: int | None = option(
        "--blocks-per-sm N", "Let N blocks fit on a multiprocessor at once.", click.IntRange(min=1, max=32)
    )
    keep_aligned: int | None = option(
        "--keep-aligned BYTES", "Also keep vectors of BYTES contiguous and aligned.", POSITIVE
    )
    stages: int | None = option("--stages N", "Stages of the tile.  [default: the spec's]", POSITIVE)
    every: bool = flag("--all", "Show and prove every answer that is equally good.")
    target: str | None = option("--target NAME", "The GPU.  [default: the spec's]")
    form: str = option("--format", kind=("text", "json"), default="text", writes=True)
    output: str | None = option("--output FILE", "Write the report to a file instead of standard output.", writes=True)
    write: bool = flag("--write", "Write the answer into the spec; its comments stay.")
    rlimit: int | None = option("--rlimit N", "Z3's budget for each query.", POSITIVE)
