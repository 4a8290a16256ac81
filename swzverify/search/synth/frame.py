"""A layout to put swizzles on: the tile in each variant, and the swizzles that are members with it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from swzverify.layout import Layout
from swzverify.layout.tma import TmaMode
from swzverify.search.synth.pricing import Array, Fields, Truths
from swzverify.search.synth.starts import start_step, starts
from swzverify.subjects import Tile
from swzverify.subjects.tile import SwizzleOn

_CHUNK = 1 << 20
"""Offsets that are looked at in one go."""


@dataclass(frozen=True, slots=True)
class Frame:
    """The tile without a swizzle in each variant, and the swizzles to price on it, best first.

    In each variant, `pad_elements` follow every `pad_rows` elements.
    """

    tiles: tuple[Tile, ...]
    fields: Fields
    on: SwizzleOn
    pad_rows: tuple[int, ...] = ()
    pad_elements: int = 0
    mode: TmaMode | None = None

    @property
    def bytes(self) -> int:
        """The bytes that the tile takes over all stages, in the variant where it takes most."""
        return max(tile.total_bytes for tile in self.tiles)

    def whole(self, vector_bits: int, least_base: int | None) -> Truths:
        """For each swizzle, whether it and the pad keep vectors of `vector_bits` bits whole.

        `least_base` is the lowest bit that a swizzle may change then.
        """
        bits = self.tiles[0].element_bits
        for row in self.pad_rows:
            if row * bits < vector_bits or (row + self.pad_elements) * bits % vector_bits:
                return np.zeros(len(self.fields), dtype=np.bool_)
        kept: Truths = self.fields.bits == 0
        return kept if least_base is None else kept | (self.fields.base >= least_base)

    def inside(self) -> Truths:
        """For each swizzle whether every element stays in the tile's allocation, in every variant."""
        kept = np.ones(len(self.fields), dtype=np.bool_)
        for tile in self.tiles:
            kept &= _inside(tile, self.fields, self.on)
        return kept


def _inside(tile: Tile, fields: Fields, on: SwizzleOn) -> Truths:
    unit_bits = 8 if on == "address" else tile.element_bits
    room, rest = divmod(8 * tile.allocation_bytes, unit_bits)
    span = np.int64(1) << np.where(fields.shift < 0, fields.top, fields.bits + fields.base)
    start = start_step(tile) if on == "address" else 0
    assert isinstance(tile.layout, Layout)  # noqa: S101 - an expression has no swizzle
    fits = tile.layout.cosize * tile.element_bits <= 8 * tile.allocation_bytes
    # Blocks of the allocation keep their places: nothing leaves them that was inside.
    kept: Truths = (fields.bits == 0) | ((room % span == 0) & (start % span == 0) & (rest == 0))
    kept &= fits
    if kept.all():
        return kept
    offsets = np.array(tile.layout.offsets(), dtype=np.int64)
    left = np.flatnonzero(~kept)
    if on == "address":
        for index in left:
            kept[index] = _addresses_stay(tile, fields.pick(slice(index, index + 1)), offsets)
        return kept
    step = max(1, _CHUNK // len(offsets))
    for at in range(0, len(left), step):
        some = left[at : at + step]
        kept[some] = fields.pick(some).apply(offsets[None]).max(axis=1) < room
    return kept


def _addresses_stay(tile: Tile, one: Fields, offsets: Array) -> bool:
    period = 1 << int(one.top[0])
    step = tile.element_bits // 8
    for begin in starts(tile, period):
        # A whole period more changes nothing, and keeps what moves down from becoming negative.
        moved = one.apply(begin + period + step * offsets) - begin - period
        if int(moved.min()) < 0 or int(moved.max()) + step > tile.allocation_bytes:
            return False
    return True
