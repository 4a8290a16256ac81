"""The warp instructions of an access by the plain definition, and their costs by the oracle's rule.

Nothing here reads the expression form that explanations are made from.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from math import prod

import numpy as np
from numpy.typing import NDArray

from swzverify.layout import Layout
from swzverify.subjects import Access, Tile
from tests.oracle.hardware import Cost, Instruction, read_instruction, warp_cost

Array = NDArray[np.int64]
MOST_ROWS = 384
"""Warp instructions that are looked at; of accesses with more a random choice."""
MOST_BASES = 32
"""Places of the base that are looked at."""


def groups_of(instruction: Instruction, addresses: list[int | None]) -> list[list[int]]:
    """The lanes that go together, joined where neighbours agree; those without an address too."""
    words = max(1, instruction.width_bytes // 4)
    size = 32 // words
    if instruction.kind == "load" and words > 1:
        for distance in (1, 2):
            pairs = [(addresses[lane], addresses[lane ^ distance]) for lane in range(32)]
            if all(one == other for one, other in pairs if one is not None and other is not None):
                size *= 2
                break
    return [list(range(first, first + size)) for first in range(0, instruction.lanes, size)]


@dataclass(frozen=True)
class Warps:
    """Rows of points; `is_all` tells that no warp instruction is left out, but for bases that are
    like those.
    """

    access: Access
    points: dict[str, Array]
    is_all: bool

    @staticmethod
    def of(access: Access, rng: random.Random, most: int = MOST_ROWS) -> Warps:
        sizes = {node.name: node.limit for node in access.free}
        places, all_places = _bases(access)
        if access.origin.variable is not None:
            sizes[access.origin.name] = len(places)
        count = prod(sizes.values())
        if count <= most:
            rows = list(product(*(range(size) for size in sizes.values())))
        else:
            rows = [tuple(0 for _ in sizes), *(tuple(rng.randrange(n) for n in sizes.values()) for _ in range(most))]
            rows += [tuple(min(size - 1, rng.randrange(4)) for size in sizes.values()) for _ in range(most // 4)]
        table = np.array(rows, dtype=np.int64).reshape(len(rows), len(sizes))
        points = {name: table[:, [column]] for column, name in enumerate(sizes)}
        if access.origin.variable is not None:
            points[access.origin.name] = np.array(places)[points[access.origin.name]]
        for node in access.own:
            drawn = [[rng.randrange(node.limit) for _ in range(32)] for _ in rows]
            points[node.name] = np.array(drawn, dtype=np.int64).reshape(len(rows), 32)
        return Warps(access, points, count <= most and all_places and not access.own)

    def at(self, where: Mapping[str, int]) -> Warps:
        """The one warp instruction at values as people know them."""
        found: dict[str, Array] = {}
        for name in self.points:
            number = where.get(name, 0)
            for loop in self.access.loops:
                if loop.name == name:
                    number = next(i for i in range(1 << 12) if loop.value(i) == where[name])
            place = self.access.origin
            if name == place.name:
                number, rest = divmod(where["base"] - place.start_bytes, place.unit_bytes)
                assert rest == 0
            found[name] = np.array([[number]], dtype=np.int64)
        return Warps(self.access, found, is_all=False)

    @cached_property
    def _lane(self) -> dict[str, Array]:
        return {**self.points, "lane": np.arange(32, dtype=np.int64)[None, :]}

    @cached_property
    def shape(self) -> tuple[int, int]:
        return (len(next(iter(self.points.values()), np.zeros((1, 1)))), 32)

    @cached_property
    def active(self) -> NDArray[np.bool_]:
        assumed, active, _, _ = self.access.definition(self._lane)
        return np.broadcast_to(assumed, self.shape) & np.broadcast_to(active, self.shape)

    @cached_property
    def address(self) -> Array:
        """Byte addresses; of lanes that are not active they mean nothing."""
        position = self.access.definition(self._lane)[2]
        return np.broadcast_to(position // (8 // self.access.unit_bits), self.shape)

    @property
    def instruction(self) -> Instruction:
        return read_instruction(self.access.instruction.name)

    @cached_property
    def rows(self) -> list[list[int | None]]:
        """The addresses of each warp instruction that has an active lane."""
        return as_rows(self.address, self.active)

    @cached_property
    def values(self) -> dict[str, Array]:
        """Every variable as people know it, broadcast to lanes; of listed loops the place in the list
        too.
        """
        env = self.access.environment(self._lane)
        place = self.access.origin
        found = {"lane": self._lane["lane"], **self.points}
        found |= {f"index({loop.name})": self.points[loop.name] for loop in self.access.loops}
        found |= {loop.name: env[loop.name] for loop in self.access.loops}
        index = self.points.get(place.name, np.zeros((1, 1), dtype=np.int64))
        found["base"] = place.start_bytes + place.unit_bytes * index
        return {name: np.broadcast_to(value, self.shape) for name, value in found.items()}

    def costs(self) -> list[Cost]:
        return [warp_cost(self.instruction, row) for row in self.rows]

    def worst(self, tile: Tile | None = None) -> tuple[int, int]:
        """The most wavefronts and the most bank conflicts; on another tile in place of its own."""
        rows = self.rows if tile is None else Warps(replace(self.access, tile=tile), self.points, self.is_all).rows
        found = [warp_cost(self.instruction, row) for row in rows]
        return max(each.wavefronts for each in found), max(each.conflicts for each in found)

    @cached_property
    def _offsets(self) -> tuple[Array, Array]:
        """Element offsets without a swizzle, and where the stage starts in bytes."""
        tile = self.access.tile
        assert tile is not None
        assert isinstance(tile.layout, Layout)
        coord = self.access.coordinates(self.access.environment(self._lane))
        start = self.access.definition(self._lane)[3] // tile.units_per_byte
        offset = np.asarray(tile.layout(*coord))
        return np.broadcast_to(offset, self.shape), np.broadcast_to(start, self.shape)

    def swizzled(self, fields: tuple[int, int, int], on: str) -> tuple[int, int] | None:
        """The worst under another swizzle, by its formula written out; None where a lane is
        misaligned.
        """
        tile = self.access.tile
        assert tile is not None
        offset, start = self._offsets
        if on == "offset":
            bits = 8 * start + moved(offset, fields) * tile.element_bits
        else:
            bits = 8 * moved(start + offset * (tile.element_bits // 8), fields)
        if (self.active & (bits % (8 * self.access.instruction.width_bytes) != 0)).any():
            return None
        address = bits // 8
        found = {tuple(row): warp_cost(self.instruction, row) for row in as_rows(address, self.active)}.values()
        return max(each.wavefronts for each in found), max(each.conflicts for each in found)


def as_rows(address: Array, active: NDArray[np.bool_]) -> list[list[int | None]]:
    """Rows with an active lane, each pattern once."""
    masked = np.unique(np.where(active, address, -1), axis=0)
    return [[None if each < 0 else each for each in row] for row in masked.tolist() if max(row) >= 0]


def moved(values: Array, fields: tuple[int, int, int]) -> Array:
    """Swizzle<B,M,S> of some numbers, written out bit by bit."""
    bits, base, shift = fields
    found = values
    for bit in range(bits):
        source, target = base + bit + max(shift, 0), base + bit + max(-shift, 0)
        found = found ^ ((values >> source & 1) << target)
    return found


def _bases(access: Access) -> tuple[list[int], bool]:
    """Places of bases, and whether every start modulo 128 bytes is among them; where a swizzle acts on
    addresses, modulo 2^14 bytes, which is more than what any of the tests looks at.
    """
    place = access.origin
    if place.variable is None:
        return [0], True
    of_addresses = access.tile is not None and access.tile.swizzle_on == "address"
    period = 1 << 14 if of_addresses else 128
    count = min(place.count, max(1, period // place.unit_bytes))
    if count <= MOST_BASES:
        return sorted({*range(count), place.count - 1}), True
    powers = [1 << bit for bit in range(count.bit_length() - 1)]
    return sorted({*range(MOST_BASES // 2), *powers, count - 1, place.count - 1}), False
