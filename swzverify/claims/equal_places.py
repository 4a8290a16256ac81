"""Two tiles, two maps, or a tile and a map: the same address or value at every coordinate."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from swzverify.claims.stated import equal
from swzverify.claims.tile_points import TilePoints, address_span, base_values
from swzverify.claims.verdict import Counterexample, Row
from swzverify.engines.obligations import Always, Arrays, Numbers, Truths
from swzverify.ir import integers as ints
from swzverify.ir.domain import Domain
from swzverify.ir.expr import Var, conjunction, substitute
from swzverify.ir.integers import Integer
from swzverify.subjects import IndexMap, Tile
from swzverify.subjects.memory import Origin


@dataclass(frozen=True, slots=True)
class EqualPlaces:
    """Two tiles or maps over common coordinates; two maps count one unit per byte."""

    first: Tile | IndexMap
    other: Tile | IndexMap
    places: tuple[Origin, Origin]
    coords: tuple[Var, ...]
    stage: Var | None
    units_per_byte: int

    @staticmethod
    def of(first: Tile | IndexMap, other: Tile | IndexMap, places: tuple[Origin, Origin]) -> EqualPlaces:
        """The two at their bases."""
        tile = first if isinstance(first, Tile) else other if isinstance(other, Tile) else None
        if tile is not None:
            coords = TilePoints.of(tile).coords
        else:
            coords = first.variables if isinstance(first, IndexMap) else ()
        stage = None if tile is None else TilePoints.of(tile).stage
        units = max(x.units_per_byte if isinstance(x, Tile) else 1 for x in (first, other))
        return EqualPlaces(first, other, places, coords, stage, units)

    @property
    def sides(self) -> tuple[tuple[Tile | IndexMap, Origin], tuple[Tile | IndexMap, Origin]]:
        """The two sides, each with its base."""
        return (self.first, self.places[0]), (self.other, self.places[1])

    @property
    def base(self) -> Var | None:
        """The common base."""
        if not any(isinstance(x, Tile) or x.uses_base for x in (self.first, self.other)):
            return None
        return self.places[0].variable

    def goal(self) -> Always:
        """Equality at every coordinate, stage and base."""
        values = [self._lower(x, place) for x, place in self.sides]
        holds = conjunction(equal(a, b) for a, b in zip(*values, strict=True))
        extra = tuple(node for node in (self.stage, self.base) if node is not None)
        domain = Domain((*extra, *self.coords), enough=self._enough())

        def definition(arrays: Arrays) -> tuple[Truths, Truths]:
            found = [self._values(x, place, arrays) for x, place in self.sides]
            same = np.asarray(True)
            for a, b in zip(*found, strict=True):
                same = same & (a == b)
            return np.asarray(True), same

        return Always(domain, holds, definition)

    def _enough(self) -> tuple[tuple[str, int], ...]:
        """How many bases stand for all, by the tiles' swizzles; for maps no number is known."""
        base = self.base
        if base is None or isinstance(self.first, IndexMap) or isinstance(self.other, IndexMap):
            return ()
        span = max(address_span(self.first), address_span(self.other))
        return ((base.name, base_values(self.places[0], span)),)

    def _lower(self, subject: Tile | IndexMap, place: Origin) -> tuple[Integer, ...]:
        if isinstance(subject, Tile):
            stage = ints.integer(0) if self.stage is None else ints.variable(self.stage)
            position = subject.lower_position([ints.variable(node) for node in self.coords], stage, place)
            return (ints.multiply(position, ints.integer(self.units_per_byte // subject.units_per_byte)),)
        own = dict(zip(subject.variables, self.coords, strict=True))
        lowered = subject.lower(place)
        renamed = [Integer(substitute(value.bits, dict(own)), value.low, value.high) for value in lowered]
        return tuple(ints.multiply(value, ints.integer(self.units_per_byte)) for value in renamed)

    def _values(self, subject: Tile | IndexMap, place: Origin, arrays: Arrays) -> tuple[Numbers, ...]:
        base = self.base
        index = np.zeros(1, dtype=np.int64) if base is None else arrays[base.name]
        address = place.start_bytes + place.unit_bytes * index
        if isinstance(subject, Tile):
            stage = np.zeros(1, dtype=np.int64) if self.stage is None else arrays[self.stage.name]
            coord = [arrays[node.name] for node in self.coords]
            position = np.asarray(subject.position(coord, stage=stage, base=address))
            return (position * (self.units_per_byte // subject.units_per_byte),)
        point = {name: arrays[node.name] for (name, _), node in zip(subject.over, self.coords, strict=True)}
        if subject.uses_base:
            point["base"] = address
        return tuple(value * self.units_per_byte for value in subject.at_many(point))

    def differ(self, point: Mapping[str, int]) -> Counterexample | None:
        """Both values at one point."""
        arrays = {name: np.asarray([value], dtype=np.int64) for name, value in point.items()}
        found = [tuple(int(value.ravel()[0]) for value in self._values(x, place, arrays)) for x, place in self.sides]
        if found[0] == found[1]:
            return None
        coord = tuple(point[node.name] for node in self.coords)
        binding: dict[str, int] = {} if self.stage is None else {"stage": point[self.stage.name]}
        if self.base is not None:
            binding["base"] = self.places[0].at(point)
        shown = [self._shown(value[0]) if len(value) == 1 else value for value in found]
        rows = tuple(Row((x.name, coord, value), "x") for x, value in zip((self.first, self.other), shown, strict=True))
        note = f"at {coord} {self.first.name} gives {shown[0]}, {self.other.name} gives {shown[1]}"
        return Counterexample(binding, note, ("map", "coord", "address"), rows)

    def _shown(self, position: int) -> int | str:
        """A position as a byte address; where either side counts in bits, with the bit."""
        byte, bit = divmod(position, self.units_per_byte)
        return byte if self.units_per_byte == 1 else f"{byte}.{bit}"
