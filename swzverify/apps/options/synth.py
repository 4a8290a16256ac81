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


@dataclass(frozen=True, slots=True)
class SynthOptions(Options):
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

    without: ClassVar[str] = "no answer"
    spec: str = argument("SPEC")
    family: str = option(
        "--family",
        "What may be chosen: a swizzle, a TMA mode, a pad, both, or any XOR of address bits; of a listing its reuse "
        "marks, its order or its registers.",
        (*FAMILIES, *OF_LISTINGS),
        default="swizzle",
    )
    tile: str | None = option("--tile NAME", "The tile.  [default: the only one that is accessed]")
    listing: str | None = option("--listing NAME", "The listing, for its families.  [default: the only one]")
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
    smem_bytes: int | None = option("--smem-bytes N", "All stages of the tile in N bytes at most.", POSITIVE)
    blocks_per_sm: int | None = option(
        "--blocks-per-sm N", "N blocks at once on a multiprocessor.", click.IntRange(min=1, max=32)
    )
    keep_aligned: int | None = option("--keep-aligned BYTES", "Keep vectors of BYTES whole as well.", POSITIVE)
    stages: int | None = option("--stages N", "Stages of the tile.  [default: the spec's]", POSITIVE)
    every: bool = flag("--all", "Tell every answer that is as good, and prove each.")
    target: str | None = option("--target NAME", "The GPU.  [default: the spec's]")
    form: str = option("--format", kind=("text", "json"), default="text", writes=True)
    output: str | None = option("--output FILE", "Write the report to a file instead of standard output.", writes=True)
    write: bool = flag("--write", "Write the answer into the spec; its comments stay.")
    rlimit: int | None = option("--rlimit N", "Z3's budget for each query.", POSITIVE)
