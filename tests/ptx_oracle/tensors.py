"""Tensor copies of a launch that says what its tensor maps are: an argument `tensor_map(...)` for the parameter."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .access import load
from .buffers import Buffer, Record
from .fetch import Array, Batch
from .spaces import GLOBAL_BASE

MAGIC = 0x7A3B_51C9
_MASKS = {0: 0, 32: 1, 64: 3, 128: 7}


def tensor_map(
    tensor: Buffer, size: int, extents: Sequence[int], pitch: Sequence[int], box: Sequence[int], swizzle: int
) -> Record:
    """A tensor map: elements of `size` bytes; `pitch` has the bytes of all dimensions but the innermost one.

    `extents` and `box` are counted in elements, the innermost first; `swizzle` is 0, 32, 64 or 128 bytes.
    """
    numbers = (MAGIC, size, len(extents), swizzle, *extents, *pitch, *box)
    return Record.of(("u64", tensor), *(("u32", each) for each in numbers))


def is_map(given: Record) -> bool:
    """Whether an argument is a tensor map."""
    return any(each.value == MAGIC for each in given.fields)


@dataclass(frozen=True)
class Box:
    """What a tensor copy brings, as the map says."""

    start: int
    size: int
    extents: tuple[int, ...]
    pitches: tuple[int, ...]
    box: tuple[int, ...]
    mask: int

    @property
    def bytes(self) -> int:
        return int(np.prod(self.box)) * self.size

    def sources(self, coordinates: Sequence[int]) -> tuple[Array, Array]:
        """For each byte of the box its place in global memory, and whether the tensor has it."""
        at = np.indices(tuple(reversed(self.box))).reshape(len(self.box), -1)[::-1]
        found = np.zeros(at.shape[1], np.int64)
        inside = np.ones(at.shape[1], bool)
        for own, first, pitch, extent in zip(at, coordinates, self.pitches, self.extents, strict=True):
            place = own + first
            inside &= (place >= 0) & (place < extent)
            found += place * pitch
        each = np.arange(self.size)
        return (self.start + found[:, None] + each).reshape(-1), inside.repeat(self.size)

    def copy(self, batch: Batch, place: int, coordinates: Sequence[int]) -> None:
        """Bring the box to a place of shared memory: the swizzle is an XOR of the address."""
        sources, inside = self.sources(coordinates)
        memory = batch.block.arena.bytes
        values = np.where(inside, memory[np.where(inside, sources - GLOBAL_BASE, 0)], 0).astype(np.uint8)
        to = place + np.arange(self.bytes)
        to ^= ((to >> 7) & self.mask) << 4
        batch.block.shared.bytes[to] = values


def box_at(batch: Batch, lane: int, address: int) -> Box | None:
    """The tensor map at a generic address; None if the launch does not say what it is."""

    def number(offset: int, width: int = 4) -> int:
        return int(load(batch.block, "", np.array([lane]), np.array([address + offset], np.uint64), width)[0])

    if number(8) != MAGIC:
        return None
    size, rank, swizzle = (number(at) for at in (12, 16, 20))
    rest = [number(24 + 4 * at) for at in range(3 * rank - 1)]
    extents, pitches, box = rest[:rank], rest[rank : 2 * rank - 1], rest[2 * rank - 1 :]
    return Box(number(0, 8), size, tuple(extents), (size, *pitches), tuple(box), _MASKS[swizzle])
