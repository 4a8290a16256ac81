"""Bases at multiples of more bytes."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from swzverify.search.cures.cure import Candidate
from swzverify.search.cures.tiles import with_base
from swzverify.subjects import Access, AlignedBase, Tile

MAX_ALIGN_BYTES = 1 << 14
"""Beyond what any swizzle of shared memory looks at."""


def alignments(access: Access) -> Iterator[Candidate]:
    """The base of the tile, or of a bare access, at each larger power of two, the smallest first.

    Where the first one helps it is the smallest that does: every smaller one was tried before.
    """
    tile = access.tile
    base = access.base if tile is None else tile.base
    if not isinstance(base, AlignedBase):
        return
    align = 2 * base.align_bytes
    while align <= MAX_ALIGN_BYTES:
        change = f"base at a multiple of {align} bytes instead of {base.align_bytes}"
        if tile is None:
            yield Candidate(access.name, change, base=AlignedBase(align))
        else:
            yield Candidate(tile.name, change, tile, _at(align, tile), again=partial(_at, align))
        align *= 2


def _at(align: int, tile: Tile) -> Tile:
    """The tile at multiples of so many bytes, or of more if it has more already."""
    base = tile.base
    return with_base(tile, AlignedBase(max(align, base.align_bytes))) if isinstance(base, AlignedBase) else tile
