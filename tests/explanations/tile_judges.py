"""Judges of what is said of a tile's map."""

from __future__ import annotations

import math
from itertools import product

import numpy as np

from swzverify.explain.explanations import statements as said
from swzverify.layout import Layout
from tests.explanations.bit_judges import BitJudges


class TileJudges(BitJudges):
    """Statements on pitches, periods and swizzles of a tile."""

    def pitch(self, it: said.Pitch) -> bool:
        layout = self.tile.layout
        assert isinstance(layout, Layout)
        names = ("row", "col") if layout.rank == 2 else tuple(f"c{i}" for i in range(layout.rank))
        mode = names.index(it.mode)
        extents = [extent for extent, _ in layout.modes[mode].leaves]
        if it.leaves != len(extents) or it.level.count != extents[it.leaf] or not self._level(it.level):
            return False
        weight = math.prod(extents[: it.leaf])
        for digit in range(it.level.count - 1):
            coord = [0] * layout.rank
            coord[mode] = digit * weight
            before = layout(*coord)
            coord[mode] += weight
            if (layout(*coord) - before) * self.tile.element_bits != 8 * it.level.step_bytes:
                return False
        return (it.tile, it.swizzled) == (self.tile.name, self.tile.swizzle is not None)

    def period(self, it: said.Period) -> bool:
        tile = self.tile
        names = ("row", "col") if len(tile.extents) == 2 else tuple(f"c{i}" for i in range(len(tile.extents)))
        mode = names.index(it.mode)
        others = [range(extent) for index, extent in enumerate(tile.extents) if index != mode]
        rest = np.array(list(product(*others)), dtype=np.int64).reshape(math.prod(map(len, others)), len(others)).T
        slices: list[bytes] = []
        for value in range(it.extent):
            columns = [*rest]
            columns.insert(mode, np.full(rest.shape[1], value))
            slices.append(self._banks(columns, it.start_bytes).tobytes())
        repeats = [
            p for p in range(1, it.extent // 2 + 1) if all(a == b for a, b in zip(slices, slices[p:], strict=False))
        ]
        smallest = repeats[0] if repeats else None
        return (it.tile, it.extent, it.period) == (tile.name, tile.extents[mode], smallest)

    def swizzle_bits(self, it: said.SwizzleBits) -> bool:
        tile, picture = self.tile, it.picture
        assert tile.swizzle is not None
        signs = picture.removeprefix("0b")[::-1]
        read = [bit for bit, sign in enumerate(signs) if sign == "Y"]
        changed = [bit for bit, sign in enumerate(signs) if sign == "Z"]
        numbers = [self.rng.randrange(1 << it.width) for _ in range(64)] + [1 << bit for bit in range(it.width)]
        for number in numbers:
            expected = number
            for source, target in zip(read, changed, strict=True):
                expected ^= (number >> source & 1) << target
            if tile.swizzle(number) != expected or it.swizzle(number) != expected:
                return False
        unit = 1 if it.on == "address" else tile.element_bits / 8
        assert isinstance(tile.layout, Layout)
        last = tile.layout(*(extent - 1 for extent in tile.extents))
        largest = last if it.on == "offset" else (last + 1) * tile.element_bits // 8 - 1
        if it.width != max(largest.bit_length(), max(read) + 1, max(changed) + 1):
            return False
        if (it.tile, it.on) != (tile.name, tile.swizzle_on) or not all(0 <= b < it.width for b in (*read, *changed)):
            return False
        if it.byte_shift is None:
            return unit not in (1, 2, 4, 8, 16)
        reached = 0
        for number in numbers:
            reached |= int(tile.swizzle(number) * unit) // 4 ^ int(number * unit) // 4
        return unit == 1 << it.byte_shift and it.bank_bits == tuple(bit for bit in range(5) if reached >> bit & 1)

    def one_to_one(self, it: said.OneToOne) -> bool:
        coord = np.meshgrid(*(np.arange(extent) for extent in self.tile.extents), indexing="ij")
        position = self.tile.position([each.ravel() for each in coord], stage=0, base=0)
        position = np.broadcast_to(position, (self.tile.size,))
        _, counts = np.unique(position, return_counts=True)
        same = set(counts.tolist()) == {1 << (it.bits - it.rank)}
        return it.tile == self.tile.name and same and 1 << it.bits == self.tile.size and len(counts) == 1 << it.rank
