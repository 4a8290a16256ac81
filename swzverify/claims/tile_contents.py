"""What lies at an address of a tile: what the tables of `delivers` look up."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product

import numpy as np

from swzverify.subjects import Tile

MAX_LOOKED_UP = 1 << 21
"""Elements of a tile, over all stages, among which the table looks for what lies at an address."""


@dataclass(frozen=True, slots=True)
class TileContents:
    """What a tile of whole bytes has at which address, at one base."""

    name: str
    stages: int
    elements: Mapping[int, tuple[int, tuple[int, ...]]] | None
    element_bytes: int

    @staticmethod
    def of(tile: Tile, base: int) -> TileContents:
        """The tile at a base, in bytes."""
        found: dict[int, tuple[int, tuple[int, ...]]] | None = None
        if tile.size * tile.stages <= MAX_LOOKED_UP:
            coords = np.meshgrid(*(np.arange(n, dtype=np.int64) for n in tile.extents), indexing="ij")
            listed = list(product(*(range(n) for n in tile.extents)))
            found = {}
            for stage in reversed(range(tile.stages)):
                places = np.asarray(tile.position(coords, stage=stage, base=base)).ravel().tolist()
                found |= {place: (stage, coord) for place, coord in zip(places, listed, strict=True)}
        return TileContents(tile.name, tile.stages, found, tile.element_bits // 8)

    def at(self, address: int) -> str:
        """What lies at an address, in words."""
        if self.elements is None:
            return "something else"
        found = self.elements.get(address)
        inside = "" if found is not None else "a part of "
        found = found or next(
            (self.elements[near] for near in range(address - self.element_bytes + 1, address) if near in self.elements),
            None,
        )
        if found is None:
            return f"nothing of {self.name}"
        return f"{inside}{found[1]}" + (f" of stage {found[0]}" if self.stages > 1 else "")
