"""The variables over a tile's elements: leaf digits or mode coordinates, the stage, the base."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from swzverify.ir import integers as ints
from swzverify.ir.expr import Var, var
from swzverify.ir.integers import Integer
from swzverify.subjects import Tile
from swzverify.subjects.memory import Origin
from swzverify.subjects.plain_access import base_bytes
from swzverify.subjects.tile import coordinate_of_digits, leaf_offsets, lower_swizzle

Array = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class TilePoints:
    """A tile and the variables of its elements; `prefix` tells tiles apart, `place` is its base."""

    tile: Tile
    place: Origin
    prefix: str = ""

    @staticmethod
    def of(tile: Tile, prefix: str = "", place: Origin | None = None) -> TilePoints:
        """The tile at its own base, or at another one."""
        return TilePoints(tile, tile.origin if place is None else place, prefix)

    @property
    def digits(self) -> tuple[Var, ...]:
        """One variable per leaf of the layout, or per mode of an expression."""
        return tuple(var(f"{self.prefix}leaf.{i}", extent) for i, extent in enumerate(self.tile.digit_extents))

    @property
    def coords(self) -> tuple[Var, ...]:
        """One variable for each mode."""
        return tuple(var(f"{self.prefix}coord.{i}", extent) for i, extent in enumerate(self.tile.extents))

    @property
    def stage(self) -> Var | None:
        """The stage, if there are several."""
        return var(f"{self.prefix}stage", self.tile.stages) if self.tile.stages > 1 else None

    @property
    def base(self) -> Var | None:
        """The base, if it is open."""
        return self.place.variable

    @property
    def placement(self) -> tuple[Var, ...]:
        """Stage and base, as far as they are open."""
        return tuple(node for node in (self.stage, self.base) if node is not None)

    def stage_value(self) -> Integer:
        """The stage as an expression."""
        return ints.integer(0) if self.stage is None else ints.variable(self.stage)

    def position_of_digits(self) -> Integer:
        """The element's first unit from the leaf digits."""
        tile = self.tile
        offset = leaf_offsets(tile, [ints.variable(node) for node in self.digits])
        if tile.swizzle is not None and tile.swizzle_on == "offset":
            offset = lower_swizzle(tile.swizzle, offset)
        return tile.lower_position_of(offset, self.stage_value(), self.place)

    def coordinate(self, point: Mapping[str, Array]) -> tuple[Array, ...]:
        """The coordinate at points of the digits."""
        return coordinate_of_digits(self.tile, [point[node.name] for node in self.digits])

    def coordinate_at(self, point: Mapping[str, int], rename: str = "") -> tuple[int, ...]:
        """The coordinate at one point, in plain integers; `rename` is put behind the names."""
        digits = [np.asarray([point[node.name + rename]], dtype=np.int64) for node in self.digits]
        return tuple(int(value[0]) for value in coordinate_of_digits(self.tile, digits))

    def stage_of(self, point: Mapping[str, Array]) -> Array:
        """The stage at some points."""
        return np.zeros(1, dtype=np.int64) if self.stage is None else point[self.stage.name]

    def base_of(self, point: Mapping[str, Array]) -> Array:
        """The base address in bytes at some points."""
        return base_bytes(self.place, point)

    def positions(self, point: Mapping[str, Array]) -> Array:
        """The elements' first units at points of the digits, from the plain definition."""
        return np.asarray(
            self.tile.position(self.coordinate(point), stage=self.stage_of(point), base=self.base_of(point))
        )

    def stage_at(self, point: Mapping[str, int]) -> int:
        """The stage at one point."""
        return 0 if self.stage is None else point.get(self.stage.name, 0)

    def base_at(self, point: Mapping[str, int]) -> int:
        """The base address in bytes at one point."""
        return self.place.at(point)

    def placement_at(self, point: Mapping[str, int]) -> dict[str, int]:
        """Stage and base as a report shows them."""
        shown: dict[str, int] = {} if self.stage is None else {"stage": self.stage_at(point)}
        if self.base is not None or self.place.start_bytes:
            shown["base"] = self.base_at(point)
        return shown

    def enough(self, granule_bytes: int) -> tuple[tuple[str, int], ...]:
        """How many values of the base stand for all."""
        if self.base is None:
            return ()
        return ((self.base.name, base_values(self.place, max(granule_bytes, address_span(self.tile)))),)

    def address_text(self, position: int) -> int | str:
        """A position as a byte address; with the bit where units are bits."""
        byte, bit = divmod(position, self.tile.units_per_byte)
        return byte if self.tile.unit_bits == 8 else f"{byte}.{bit}"


def address_span(tile: Tile | None) -> int:
    """Bytes after which a swizzle of addresses repeats; 1 where no swizzle sees addresses.

    >>> address_span(None)
    1
    """
    return 1 if tile is None or tile.address_swizzle is None else tile.address_swizzle.span


def base_values(place: Origin, period_bytes: int) -> int:
    """How many values of a base reach every residue modulo any `period_bytes`.

    >>> from swzverify.subjects.memory import Origin
    >>> base_values(Origin(0, 128, 1000), 1024), base_values(Origin(0, 1024, 1000), 1024)
    (8, 1)
    """
    return max(1, min(place.count, period_bytes // int(np.gcd(period_bytes, place.unit_bytes))))


def describe(tile: Tile) -> str:
    """A tile in words: element, layout, swizzle."""
    acts_on = "addresses" if tile.swizzle_on == "address" else "offsets"
    swizzle = "" if tile.swizzle is None else f", {tile.swizzle} on {acts_on}"
    return f"all {tile.size} elements of {tile.element_bits} bits at {tile.layout}{swizzle}"
