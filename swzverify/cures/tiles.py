"""A tile with one thing changed, and the room that it has."""

from __future__ import annotations

from swzverify.hardware import Target
from swzverify.layout import Layout, Swizzle
from swzverify.subjects import Base, MemoryBase, OffsetMap, Tile
from swzverify.subjects.tile import SwizzleOn


def with_base(tile: Tile, base: Base) -> Tile:
    """The same tile at another base."""
    return _tile(tile, tile.layout, tile.swizzle, tile.swizzle_on, base, tile.allocation_bytes, tile.pitch_bytes)


def with_swizzle(tile: Tile, swizzle: Swizzle, on: SwizzleOn) -> Tile:
    """The tile with this swizzle in place of its own."""
    return _tile(tile, tile.layout, swizzle, on, tile.base, tile.allocation_bytes, tile.pitch_bytes)


def with_layout(tile: Tile, layout: Layout) -> Tile:
    """The tile with another layout: its allocation and its pitch become larger where they must."""
    allocation = max(tile.allocation_bytes, -(-layout.cosize * tile.element_bits // 8))
    pitch = tile.pitch_bytes if tile.pitch_bytes >= allocation else None
    return _tile(tile, layout, tile.swizzle, tile.swizzle_on, tile.base, allocation, pitch)


def has_room(tile: Tile, target: Target) -> bool:
    """Whether the tile fits into its memory, and into the block's shared memory."""
    if isinstance(tile.base, MemoryBase):
        return tile.base.offset_bytes + tile.total_bytes <= tile.base.memory.bytes
    return tile.total_bytes <= target.shared_bytes_per_block


def _tile(
    tile: Tile,
    layout: Layout | OffsetMap,
    swizzle: Swizzle | None,
    on: SwizzleOn,
    base: Base,
    allocation: int,
    pitch: int | None,
) -> Tile:
    return Tile(tile.name, tile.element_bits, layout, swizzle, on, base, tile.stages, allocation, pitch)
