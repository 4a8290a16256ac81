"""Swizzles to put on a tile."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from swzverify.layout import Swizzle
from swzverify.layout.swizzle_range import swizzle_fields
from swzverify.search.cures.cure import Candidate
from swzverify.subjects import OffsetMap, Tile
from swzverify.subjects.tile import SwizzleOn

MAX_BITS = 5
"""A bank's number has five bits."""


def swizzles(tile: Tile, width_bytes: int) -> Iterator[Candidate]:
    """The tile with each swizzle that moves whole vectors, the fewest bits first.

    A vector has `width_bytes`, the width of the widest access. The swizzles act on the same values as the
    tile's own swizzle, or on element offsets if it has none. A tile that an expression places gets none.
    """
    if isinstance(tile.layout, OffsetMap):
        return
    on = "offset" if tile.swizzle is None else tile.swizzle_on
    bits = 8 if on == "address" else tile.element_bits
    vector = max(1, 8 * width_bytes // bits)
    reach = (tile.layout.cosize * tile.element_bits // bits - 1).bit_length()
    if vector & (vector - 1):
        return
    least = vector.bit_length() - 1
    for fields in swizzle_fields(reach, least, most_bits=MAX_BITS):
        swizzle = Swizzle(*fields)
        if swizzle != tile.swizzle:
            where = "byte addresses" if on == "address" else "element offsets"
            instead = "" if tile.swizzle is None else f" instead of {tile.swizzle}"
            change = f"{swizzle} on {where}{instead}"
            again = partial(_swizzled, swizzle, on)
            yield Candidate(tile.name, change, tile, again(tile), again=again)


def _swizzled(swizzle: Swizzle, on: SwizzleOn, tile: Tile) -> Tile:
    return tile.relaid(tile.layout, swizzle, on)
