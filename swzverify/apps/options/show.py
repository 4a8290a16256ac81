"""The options of `swzverify show`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import click

from swzverify.apps.options.declare import POSITIVE, Options, argument, group, option, several
from swzverify.apps.options.shared import PICTURE_FORMATS, LayoutOptions
from swzverify.apps.options.values import window

VIEWS = ("logical", "physical", "ownership", "groups", "swizzle")
"""The views of `show`."""


@dataclass(frozen=True, slots=True)
class ShowOptions(Options):
    """Draw a layout, a swizzle, or a tile, access or operand of a spec.

    LAYOUT is what CuTe prints, such as 'Sw<3,3,3> o (8,64):(64,1)', or a swizzle alone; FILE is a
    spec. Views of a tile: logical (offset and bank of each element), physical (what lies in each
    row of 128 bytes), swizzle (before and after). Views of an access: groups (which lanes need
    which words of a bank, group by group), ownership (threads and their values), swizzle. Pictures
    of tiles and accesses state the wavefronts. View of an operand: the address that the tensor core
    reads for each element.

    \b
    swzverify show 'Sw<3,3,3> o (8,64):(64,1)' --element f16
    swzverify show '(32,32):(32,1)' --coord lane,0
    swzverify show kernel.swz.yaml --access read_A -o read_A.svg
    swzverify show kernel.swz.yaml --operand A --at k=1
    swzverify show '(32,16):(16,1)' --coord lane,0 --sweep B,S
    """

    without: ClassVar[str] = "no picture"
    what: str = argument("LAYOUT|FILE")
    view: str | None = option("--view", "The view.  [default: logical; for an access groups]", VIEWS)
    tile: str | None = option("--tile NAME", "A tile of the spec.  [default: the only one]")
    accesses: tuple[str, ...] = several("--access NAME", "An access of the spec; a sweep takes several.")
    operand: str | None = option("--operand NAME", "An operand of the spec.")
    layout: LayoutOptions = group(LayoutOptions)
    sweep: str | None = option(
        "--sweep B,S|pad", "Worst-case wavefronts under every swizzle, or every pad; also B,S,M=3."
    )
    numbers: Literal["both", "offset", "bank"] = option(
        "--numbers",
        "The contents of cells in the views logical and swizzle.",
        ("both", "offset", "bank"),
        default="both",
    )
    vector: int | None = option("--vector N", "Elements per cell.  [default: those that are contiguous]", POSITIVE)
    rows: tuple[int, int] | None = option(
        "--rows FROM:TO",
        "Rows of elements to draw; in the view physical, rows of 128 bytes.",
        convert=window("--rows"),
    )
    columns: tuple[int, int] | None = option(
        "--columns FROM:TO", "Columns of elements to draw.", convert=window("--columns")
    )
    stage: int = option("--stage N", "The stage of the tile to draw.", click.IntRange(min=0), default=0)
    base: int | None = option(
        "--base BYTES", "The tile's base address.  [default: its first one]", click.IntRange(min=0)
    )
    target: str | None = option("--target NAME", "The GPU.  [default: the spec's, else sm_90]")
    form: str | None = option("--format", "[default: by the file's name, else text]", (*PICTURE_FORMATS, "json"))
    output: str | None = option("-o, --output FILE", "Write to a file instead of standard output.")
