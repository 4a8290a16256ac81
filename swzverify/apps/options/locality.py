"""The options of `swzverify locality`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from swzverify.apps.options.declare import POSITIVE, Options, argument, flag, option, several
from swzverify.apps.options.shared import PICTURE_FORMATS
from swzverify.apps.options.values import by_name, named_value


@dataclass(frozen=True, slots=True)
class LocalityOptions(Options):
    """Count the tiles of A and B that each wave of blocks needs.

    SPEC is a spec with maps from blocks to tiles: value is [row, column] of the tile. A block reads
    one row of tiles of A and one column of tiles of B. The fewer different tiles a wave needs, the
    more its blocks share through the L2 cache. The first variable of a map runs fastest, as
    blockIdx.x does. Blocks outside of `onto` have no tile.

    \b
    swzverify locality orders.swz.yaml --map row_major --map grouped --wave 132
    swzverify locality orders.swz.yaml --map grouped -o grouped.svg
    """

    without: ClassVar[str] = "nothing counted"
    spec: str = argument("SPEC")
    maps: tuple[str, ...] = several("--map NAME", "An order of the spec; several are compared.  [default: all]")
    wave: int = option("--wave N", "Blocks that run at a time.", POSITIVE, default=132)
    at: Mapping[str, int] = several(
        "--at NAME=N",
        "The value of a constant that has several.",
        convert=by_name("--at", "such as GROUP=8", named_value),
    )
    picture: bool = flag("--picture", "Draw the grid with the wave of each tile, as text.")
    form: str | None = option(
        "--format",
        "[default: by the file's name, else text]; svg, html, latex and png are pictures.",
        ("json", *PICTURE_FORMATS),
    )
    output: str | None = option("-o, --output FILE", "Write to a file instead of standard output.")
