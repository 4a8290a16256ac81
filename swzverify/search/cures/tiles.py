"""A tile with one thing changed, and the room that it has."""

from __future__ import annotations

from swzverify.hardware import Target
from swzverify.layout import Layout
from swzverify.subjects import Base, MemoryBase, OffsetMap, Tile
from swzverify.subjects.tile import SwizzleOn


def with_base(tile: Tile, base: Base) -> Tile:
    """The same tile at another base."""
    kept = (tile.stages, tile.allocation_bytes, tile.pitch_bytes)
    return Tile(tile.name, tile.element_bits, tile.layout, tile.swizzle, tile.swizzle_on, base, *kept)


def with_layout(tile: Tile, layout: Layout) -> Tile:
    """The tile with another layout: its allocation and its pitch become larger where they must."""
    allocation = max(tile.allocation_bytes, -(-layout.cosize * tile.element_bits // 8))
    pitch = tile.pitch_bytes if tile.pitch_bytes >= allocation else None
    placed = (tile.base, tile.stages, allocation, pitch)
    return Tile(tile.name, tile.element_bits, layout, tile.swizzle, tile.swizzle_on, *placed)


def swizzle_reach(tile: Tile, on: SwizzleOn) -> int:
    """The number of bits that a swizzle of this tile can read.

    These are the bits of the largest offset, or of the largest byte address from the start of a stage.
    """
    if on == "address":
        return (tile.allocation_bytes - 1).bit_length()
    assert not isinstance(tile.layout, OffsetMap)  # noqa: S101 - an expression has no swizzle
    return (tile.layout.cosize - 1).bit_length()


def has_room(tile: Tile, target: Target) -> bool:
    """Whether the tile fits into its memory, and into the block's shared memory."""
    if isinstance(tile.base, MemoryBase):
        return tile.base.offset_bytes + tile.total_bytes <= tile.base.memory.bytes
    return tile.total_bytes <= target.shared_bytes_per_block
