"""What a starter spec is asked to be about."""

from __future__ import annotations

import re
from dataclasses import dataclass

from swzverify.errors import SwzError

MAX_EXTENT = 65_536
_TILE = re.compile(r"\s*([1-9][0-9]{0,5})\s*[xX*,]\s*([1-9][0-9]{0,5})\s*")


@dataclass(frozen=True, slots=True)
class StarterOptions:
    """A tile of `rows` x `columns` elements, row after row, and the instruction of interest.

    `swizzle` is `auto`, `none` or a swizzle's notation, and counts only without `pad`, elements
    added to each row; `threads` are those of the block, None for as many as fit; `stages` are
    copies of the tile.
    """

    element: str = "f16"
    rows: int = 64
    columns: int = 64
    instruction: str = "ldmatrix.x4"
    swizzle: str = "auto"
    pad: int = 0
    target: str = "sm_90"
    threads: int | None = None
    stages: int = 1


def parse_tile(text: str) -> tuple[int, int]:
    """The rows and columns of `64x64`.

    Raises:
        SwzError: SWZ523 for any other form, or an extent above 65,536.

    >>> parse_tile("128x32")
    (128, 32)
    >>> parse_tile("128")
    Traceback (most recent call last):
    swzverify.errors.SwzError: SWZ523: '128' is not a tile
      write rows x columns, such as 64x64
    """
    found = _TILE.fullmatch(text)
    if found is None:
        raise SwzError("SWZ523", f"'{text[:40]}' is not a tile", hint="write rows x columns, such as 64x64")
    rows, columns = int(found[1]), int(found[2])
    if max(rows, columns) > MAX_EXTENT:
        message = f"a tile of {rows} x {columns} elements is larger than any shared memory"
        raise SwzError("SWZ523", message, hint=f"{MAX_EXTENT} is the most of either")
    return rows, columns
