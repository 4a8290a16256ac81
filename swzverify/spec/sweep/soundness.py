"""Faults of a tile or an access under each of many swizzles, by the plain definition.

A fault is two elements in one place, an element outside the allocation, or a torn vector.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from swzverify.errors import SwzError
from swzverify.search.synth.frame import Frame
from swzverify.search.synth.pricing import Array, Fields, Path, Truths
from swzverify.search.synth.starts import starts
from swzverify.subjects import Access, OffsetMap, Tile
from swzverify.subjects.tile import SwizzleOn

MAX_ELEMENTS = 1 << 21
"""The most elements of a tile, times the places where a stage may begin, that are looked at."""
_CHUNK = 1 << 20


class TileCheck:
    """A tile without its swizzle, looked at once, and then under many swizzles.

    Raises:
        SwzError: SWZ206 for more elements than are looked at.
    """

    def __init__(self, tile: Tile) -> None:
        """List the tile's elements."""
        if tile.size > MAX_ELEMENTS:
            raise SwzError(
                "SWZ206",
                f"tile {tile.name} has {tile.size} elements: at most {MAX_ELEMENTS} are looked at",
                hint="sweep a smaller tile; `swzverify prove` takes any",
            )
        self.tile = tile
        self._whole: dict[int, bool] = {}
        grid = np.indices(tile.extents, dtype=np.int64)
        self._offsets: Array = np.asarray(tile.layout(*grid), dtype=np.int64)

    def overlaps(self, fields: Fields, on: SwizzleOn) -> Truths:
        """Under which swizzles two elements share a bit."""
        tile = self.tile
        flat = self._offsets.reshape(-1) * tile.step_units
        plain = np.full(len(fields), _share(flat[None], tile.element_units)[0], dtype=np.bool_)
        if on == "offset":
            return plain  # a swizzle takes different offsets to different ones
        # A swizzle of addresses may tear elements; one that keeps them whole changes no overlap.
        tears = (fields.bits > 0) & ((1 << fields.base) < tile.element_units)
        for index in np.flatnonzero(tears):
            one = fields.pick(slice(index, index + 1))
            begin = np.array(starts(tile, 1 << int(one.top[0])), dtype=np.int64)
            self._refuse_many(begin.size * flat.size)
            plain[index] = _share(one.apply(flat[None] + begin[:, None]), tile.element_units).any()
        return plain

    def outside(self, fields: Fields, on: SwizzleOn) -> Truths:
        """Under which swizzles an element leaves its stage's allocation."""
        tile = self.tile
        if isinstance(tile.layout, OffsetMap):
            begin = self._offsets * tile.step_units
            room = tile.allocation_bytes * tile.units_per_byte
            out = int(begin.min()) < 0 or int(begin.max()) + tile.element_units > room
            return np.full(len(fields), out, dtype=np.bool_)
        return ~Frame((tile,), fields, on).inside()

    def torn(self, elements: int, fields: Fields, on: SwizzleOn) -> Truths:
        """For each swizzle, whether it tears vectors of `elements` elements.

        A vector is whole if its elements are contiguous, aligned and in order, along the tile's contiguous
        mode. If the mode is shorter than a vector, every swizzle tears it.
        """
        tile = self.tile
        if tile.extents[tile.contiguous_mode] < elements:
            return np.ones(len(fields), dtype=np.bool_)
        if on == "offset" and not tile.counts_bytes:
            # A swizzle of whole vectors keeps them; what tears one depends on the layout alone then.
            safe = (fields.bits == 0) | (1 << fields.base >= elements if elements & (elements - 1) == 0 else False)
            found = np.full(len(fields), not self._is_whole(elements), dtype=np.bool_)
            left = np.flatnonzero(~safe)
            vectors = self._vectors(elements)
            for at in _steps(left, vectors.size):
                found[at] = _apart(fields.pick(at).apply(vectors[None]), elements, 1)
            return found
        return self._torn_addresses(elements, fields)

    def _refuse_many(self, count: int) -> None:
        if count > MAX_ELEMENTS:
            raise SwzError(
                "SWZ206",
                f"tile {self.tile.name}: {count} addresses to look at; at most {MAX_ELEMENTS}",
                hint="align the tile's base to more bytes",
            )

    def _is_whole(self, elements: int) -> bool:
        if elements not in self._whole:
            self._whole[elements] = not _apart(self._vectors(elements)[None], elements, 1)[0]
        return self._whole[elements]

    def _vectors(self, elements: int) -> Array:
        """The offsets, one row per vector."""
        along = self.tile.contiguous_mode
        count = self.tile.extents[along] // elements
        offsets = np.moveaxis(self._offsets, along, -1)[..., : count * elements]
        return offsets.reshape(-1, elements)

    def _torn_addresses(self, elements: int, fields: Fields) -> Truths:
        tile = self.tile
        step = tile.element_units
        # Beyond the period of the widest vector and swizzle nothing changes.
        reach = max(int(fields.top.max()), (elements * step - 1).bit_length())
        begin = np.array(starts(tile, 1 << reach), dtype=np.int64)
        vectors = self._vectors(elements) * tile.step_units
        raw = vectors[None] + begin[:, None, None]
        self._refuse_many(raw.size)
        found = np.zeros(len(fields), dtype=np.bool_)
        for at in _steps(np.arange(len(fields)), raw.size):
            moved = fields.pick(at).apply(raw[None])
            found[at] = _apart(moved.reshape(len(at), -1, elements), elements, step)
        return found


def _share(places: Array, width: int) -> Truths:
    """For each row whether two stretches of `width` units that begin at its places overlap."""
    return np.asarray((np.diff(np.sort(places, axis=-1), axis=-1) < width).any(axis=-1))


def _steps(which: NDArray[np.signedinteger], size: int) -> list[NDArray[np.signedinteger]]:
    """The numbers in parts, so that no array grows large."""
    step = max(1, _CHUNK // max(1, size))
    return [which[at : at + step] for at in range(0, len(which), step)]


def _apart(places: Array, elements: int, step: int) -> Truths:
    """For each first index whether some vector is not aligned, or not one element behind the other."""
    first = places[..., :1]
    wanted = first + step * np.arange(elements, dtype=np.int64)
    wrong = (places != wanted).any(axis=-1) | (first[..., 0] % (elements * step) != 0)
    return np.asarray(wrong.any(axis=-1))


def leaves_tile(path: Path, elements: int) -> bool:
    """Whether an active lane's vector begins or ends outside the tile's extents.

    Errors are those of `lanes_of`.
    """
    access = path.access
    tile = access.tile
    assert tile is not None  # noqa: S101 - only accesses to tiles have coordinates
    lanes = path.lanes
    for mode, (extent, coord) in enumerate(zip(tile.extents, lanes.coord, strict=True)):
        reach = elements if mode == tile.contiguous_mode else 1
        last = coord + (reach - 1)
        if (lanes.active & ((coord < 0) | (last >= extent))).any():
            return True
    return False


def vector_elements(access: Access) -> int:
    """The elements that a lane's vector touches, one at least.

    >>> from swzverify.hardware import find_instruction, find_target
    >>> from swzverify.ir.c_parse import parse
    >>> from swzverify.layout import Layout
    >>> tile = Tile("A", 16, Layout((8, 64), (64, 1)))
    >>> row = find_instruction("ldmatrix.x4")
    >>> vector_elements(Access("r", row, find_target("sm_90"), (32,), tile=tile, coord=(parse("lane"), parse("0"))))
    8
    """
    assert access.tile is not None  # noqa: S101 - see `leaves_tile`
    return max(1, -(-8 * access.instruction.width_bytes // access.tile.element_bits))
