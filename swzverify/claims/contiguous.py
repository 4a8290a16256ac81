"""`contiguous`: vectors of consecutive elements lie at consecutive, aligned offsets, in order."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import lcm
from typing import ClassVar

import numpy as np

from swzverify.claims.claim import Claim
from swzverify.claims.form import Direction, Form, Named, Number, NumberChange, Role, Subject
from swzverify.claims.goal import Goal, Plan
from swzverify.claims.stated import equal, multiple
from swzverify.claims.tile_points import TilePoints, address_span, describe
from swzverify.claims.verdict import Counterexample, Row
from swzverify.engines.obligations import Always, Arrays, Numbers, Truths
from swzverify.errors import SwzError
from swzverify.ir import integers as ints
from swzverify.ir.domain import Domain
from swzverify.ir.expr import Var, conjunction, var
from swzverify.ir.integers import Integer
from swzverify.ir.whole import keep_whole
from swzverify.subjects import Tile

VECTOR, ITEM = "vector", "item"
MAX_ELEMENTS = 4096
"""A counterexample lists every element of a vector."""


def last_mode(tile: Subject) -> int:
    """The number of a tile's last mode."""
    return len(tile.extents) - 1 if isinstance(tile, Tile) else 0


@dataclass(frozen=True, slots=True)
class Contiguous(Claim):
    """Vectors of `elements` along `mode` (default: the mode of stride 1) stay whole."""

    kind: ClassVar[str] = "contiguous"
    form = Form(
        title="Vectors of neighbours stay together.",
        says="vectors of neighbouring elements stay together, aligned and in order",
        roles=(Role.TILE,),
        examples=({"tile": "A", "elements": 8},),
        keys=(
            Named(Role.TILE, "the name of a tile", "A"),
            Number("elements", "how many neighbours lie together, aligned and in order", (8,), most=MAX_ELEMENTS),
            Number(
                "mode",
                "along which mode, from 0; default: the mode of the first stride 1",
                (1, 0),
                least=0,
                most=last_mode,
                optional=True,
            ),
        ),
        keys_title="Vectors of `elements` along a mode.",
    )
    tile: Tile
    elements: int
    mode: int | None = None

    def __post_init__(self) -> None:
        """Refuse modes that the tile does not have."""
        self.check_subjects()
        keep_whole(self, "contiguous", "elements", optional=("mode",))
        if self.elements < 1:
            raise SwzError("SWZ105", f"contiguous: vectors of {self.elements} elements; at least 1")
        if self.mode is not None and not 0 <= self.mode < self.tile.layout.rank:
            raise SwzError("SWZ105", f"contiguous: tile {self.tile.name} has no mode {self.mode}")

    @property
    def along(self) -> int:
        """The mode that vectors run along."""
        return self.tile.contiguous_mode if self.mode is None else self.mode

    @property
    def numbers(self) -> dict[str, int]:
        """The length of the vectors, and the mode that they run along."""
        return {"elements": self.elements, "mode": self.along}

    def number_changes(self, after: Claim) -> Iterator[NumberChange]:
        """Longer vectors imply shorter ones that divide them, if no element is left at the end."""
        if not isinstance(after, Contiguous):
            return
        if self.along != after.along:
            note = "cannot be compared, so it counts as weaker"
            yield NumberChange("mode", str(self.along), str(after.along), Direction.WEAKER, note)
        elif self.mode != after.mode:
            was, now = ("the default" if each.mode is None else f"{each.mode}" for each in (self, after))
            yield NumberChange("mode", was, now, Direction.NEITHER, "the same mode")
        if self.elements == after.elements:
            return
        extent = after.tile.extents[after.along]
        holds = after.elements % self.elements == 0
        whole = extent // after.elements * after.elements >= extent // self.elements * self.elements
        way = Direction.STRONGER if holds and whole else Direction.WEAKER
        yield NumberChange("elements", str(self.elements), str(after.elements), way)

    @property
    def _vectors(self) -> int:
        return self.tile.extents[self.along] // self.elements

    def plan(self) -> Plan:
        """One obligation over vectors and the items in them."""
        if self._vectors == 0:
            extent = self.tile.extents[self.along]
            return Plan(empty=f"mode {self.along} has {extent} elements: no vector of {self.elements} fits")
        return Plan((Goal(self._goal()),))

    def _variables(self, points: TilePoints) -> tuple[Var, ...]:
        coords = list(points.coords)
        coords[self.along] = var(VECTOR, self._vectors)
        placement = () if self.tile.offsets_decide else points.placement
        return (*placement, *coords, var(ITEM, self.elements))

    def _goal(self) -> Always:
        tile = self.tile
        points = TilePoints.of(tile)
        nodes = self._variables(points)
        count = ints.integer(self.elements)
        first = ints.multiply(ints.named(VECTOR, self._vectors), count)
        item = ints.named(ITEM, self.elements)
        values = [ints.variable(node) for node in points.coords]

        def place(along: Integer) -> Integer:
            coord = [along if i == self.along else value for i, value in enumerate(values)]
            if tile.offsets_decide:
                return tile.lower_offset(coord)
            return tile.lower_position(coord, points.stage_value())

        step = 1 if tile.offsets_decide else tile.element_units
        start = place(first)
        here = place(ints.add(first, item))
        parts = [equal(here, ints.add(start, ints.multiply(item, ints.integer(step))))]
        if self.elements * step > 1:
            parts.append(multiple(start, self.elements * step))
        holds = conjunction(parts)
        granule_bytes = lcm(self.elements * tile.element_bits // 8, address_span(tile))
        enough = () if tile.offsets_decide else points.enough(granule_bytes)

        def definition(arrays: Arrays) -> tuple[Truths, Truths]:
            begin = self._place(points, arrays, arrays[VECTOR] * self.elements)
            there = self._place(points, arrays, arrays[VECTOR] * self.elements + arrays[ITEM])
            whole = (there == begin + arrays[ITEM] * step) & (begin % (self.elements * step) == 0)
            return np.asarray(True), whole

        return Always(Domain(nodes, enough=enough), holds, definition)

    def _place(self, points: TilePoints, arrays: Arrays, along: Numbers) -> Numbers:
        coord = [along if i == self.along else arrays[node.name] for i, node in enumerate(points.coords)]
        if self.tile.offsets_decide:
            return np.asarray(self.tile.offset(coord))
        return np.asarray(self.tile.position(coord, stage=points.stage_of(arrays), base=points.base_of(arrays)))

    def scope(self) -> str:
        """The scope in words: every vector."""
        return f"all vectors of {self.elements} elements along mode {self.along}, {describe(self.tile)}" + (
            "" if self.tile.offsets_decide else f", {self.tile.describe_base()}"
        )

    def replay(self, goal: Goal, point: Mapping[str, int]) -> Counterexample | None:
        """The vector that is torn apart, item by item."""
        del goal  # there is one only
        tile = self.tile
        points = TilePoints.of(tile)
        stage, base = points.stage_at(point), points.base_at(point)
        first = point[VECTOR] * self.elements
        step = 1 if tile.offsets_decide else tile.element_units
        rows: list[Row] = []
        start: int | None = None
        wrong = ""
        for item in range(self.elements):
            coord = tuple(first + item if i == self.along else point[node.name] for i, node in enumerate(points.coords))
            offset, position = int(tile.offset(coord)), int(tile.position(coord, stage=stage, base=base))
            place = offset if tile.offsets_decide else position
            start = place if start is None else start
            bad = place != start + item * step or start % (self.elements * step) != 0
            if bad and not wrong:
                wants = f"{start + item * step}" if item else f"a multiple of {self.elements * step}"
                wrong = f"element {coord} lies at {place}, not at {wants}"
            rows.append(Row((item, coord, offset, points.address_text(position)), "x" if bad else ""))
        if not wrong:
            return None
        binding = {} if tile.offsets_decide else points.placement_at(point)
        return Counterexample(binding, wrong, ("item", "coord", "offset", "address"), tuple(rows))
