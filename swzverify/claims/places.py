"""Concrete places: where elements, lanes and points are, in integers.

A claim says of them whether it holds (`Claim.broken`). It does not matter who computed the places:
the plain definition of a subject, a GPU, or a Python function.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from swzverify.engines.obligations import Numbers, Truths
from swzverify.subjects import Access, Tile
from swzverify.subjects.plain_access import LaneRecord


@dataclass(frozen=True, slots=True, eq=False)
class Places:
    """Where the elements of a tile, the lanes of an access or the points of a map are.

    Without `source` all numbers may be in bytes, or in another unit, in place of bits.

    first: The first bit of each, counted from address 0. Elements have a row for each stage, lanes
        a row for each warp instruction. Of a map, the values: a row for each point.
    bits: How many bits an element or a lane takes; 0 for a map.
    active: Which of them exist.
    inside: Whose coordinates lie in the tile's shape.
    low: The first bit that they may take.
    room_bits: How many bits they may take from there.
    source: Of lanes of a copy, the byte addresses that they read, where that is said.
    """

    first: Numbers
    bits: int = 0
    active: Truths | bool = True
    inside: Truths | bool = True
    low: Numbers | int = 0
    room_bits: int = 0
    source: Numbers | None = None

    @property
    def misaligned(self) -> Truths:
        """Those whose first bit is no multiple of their width, or that read from such a place."""
        wrong = self.first % self.bits != 0
        if self.source is not None:
            wrong = wrong | (8 * self.source % self.bits != 0)
        return self.active & wrong

    @property
    def outside(self) -> Truths:
        """Those that leave the room, or whose coordinates leave the shape."""
        fits = (self.first >= self.low) & (self.first + self.bits <= self.low + self.room_bits)
        return self.active & ~(self.inside & fits)

    def touched_by(self, others: Places) -> Numbers:
        """For each place, how many of the others share a bit with it.

        >>> Places(np.asarray([0, 8, 12, 32]), 8).touched_by(Places(np.asarray([4, 40]), 8)).tolist()
        [1, 1, 0, 0]
        """
        starts = np.sort(others.first[np.broadcast_to(others.active, others.first.shape)])
        begun = np.searchsorted(starts, self.first + self.bits, side="left")
        return begun - np.searchsorted(starts, self.first - others.bits, side="right")

    @property
    def rows(self) -> list[Places]:
        """Each row alone; of elements and lanes only."""
        shape = self.first.shape
        active, inside = np.broadcast_to(self.active, shape), np.broadcast_to(self.inside, shape)
        low = np.broadcast_to(self.low, shape)
        return [
            Places(
                first,
                self.bits,
                active[row],
                inside[row],
                low[row],
                self.room_bits,
                None if self.source is None else self.source[row],
            )
            for row, first in enumerate(self.first)
        ]

    @property
    def read(self) -> list[int | None] | None:
        """What the lanes of one row read, by bytes; None where that is not said."""
        return None if self.source is None else [int(each) for each in self.source]

    @property
    def addresses(self) -> list[int | None]:
        """The byte addresses of one row; None for a lane that is not active."""
        active = np.broadcast_to(self.active, self.first.shape)
        return [int(first) // 8 if on else None for first, on in zip(self.first, active, strict=True)]


def numbers(broken: Truths) -> list[int]:
    """The places for which something is true, counted row after row.

    >>> numbers(np.asarray([[False, True], [True, False]]))
    [1, 2]
    """
    return np.flatnonzero(broken).tolist()


def elsewhere(read: Places, wanted: Places) -> list[int]:
    """The elements that are not read where they should be, or whose access is misaligned."""
    return numbers(~np.asarray(read.inside) | (read.first != wanted.first))


def element_places(tile: Tile, coords: Sequence[Sequence[int]], stage: int, base: int) -> Places:
    """Elements of one stage by the plain definition, in a row; `base` is in bytes."""
    first = [int(tile.position(coord, stage=stage, base=base)) * tile.unit_bits for coord in coords]
    low = 8 * (base + stage * tile.pitch_bytes)
    return Places(np.asarray([first]), tile.element_bits, low=low, room_bits=8 * tile.allocation_bytes)


def lane_places(access: Access, records: Sequence[LaneRecord]) -> Places:
    """The lanes of one warp instruction by the plain definition, in a row."""
    extents = () if access.tile is None else access.tile.extents
    room = access.bytes or 0 if access.tile is None else access.tile.allocation_bytes
    return Places(
        np.asarray([[8 * (record.address_bytes or 0) + record.bit for record in records]]),
        8 * access.instruction.width_bytes,
        np.asarray([[record.address_bytes is not None for record in records]]),
        np.asarray([[all(c < n for c, n in zip(record.coord or (), extents, strict=False)) for record in records]]),
        np.asarray([[8 * record.start_bytes for record in records]]),
        8 * room,
        None if access.source is None else np.asarray([[record.source_bytes or 0 for record in records]]),
    )
