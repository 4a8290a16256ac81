"""`injective`: different logical elements never share a bit, in any stage and at any base."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from swzverify.claims.claim import Claim
from swzverify.claims.form import OF_A_TILE, Form, Role
from swzverify.claims.goal import Goal, Plan
from swzverify.claims.tile_points import TilePoints, describe
from swzverify.claims.verdict import Counterexample, Row
from swzverify.engines.obligations import Arrays, Bijection, Numbers, Truths, second
from swzverify.engines.obligations import Injective as Obligation
from swzverify.ir import integers as ints
from swzverify.ir.domain import Domain
from swzverify.ir.expr import var
from swzverify.ir.integers import Integer
from swzverify.layout import Swizzle
from swzverify.subjects import Tile
from swzverify.subjects.tile import leaf_offsets, lower_swizzle


@dataclass(frozen=True, slots=True)
class Injective(Claim):
    """The map from coordinates to addresses is one to one."""

    kind: ClassVar[str] = "injective"
    form = Form(
        title="No two elements share a bit.",
        says="no two elements of this tile share a bit",
        roles=(Role.TILE,),
        examples=OF_A_TILE,
    )
    tile: Tile

    def plan(self) -> Plan:
        """One obligation over pairs of leaf digits."""
        return Plan((Goal(injective_goal(self.tile)),))

    def scope(self) -> str:
        """Every pair of elements, at every base."""
        return f"{describe(self.tile)}, {self.tile.describe_base()}"

    def replay(self, goal: Goal, point: Mapping[str, int]) -> Counterexample | None:
        """Two coordinates whose elements share a bit."""
        del goal  # there is one only
        return collision(self.tile, point)


def injective_goal(tile: Tile) -> Obligation:
    """The tile's injectivity: a strided sum, under a bijection if swizzles move whole elements."""
    points = TilePoints.of(tile)
    digits = points.digits
    sum_of_digits = leaf_offsets(tile, [ints.variable(node) for node in digits])

    def offsets(arrays: Arrays) -> tuple[Truths, Numbers]:
        return np.asarray(True), np.asarray(tile.offset(points.coordinate(arrays)))

    def positions(arrays: Arrays) -> tuple[Truths, Numbers]:
        return np.asarray(True), points.positions(arrays)

    if tile.address_swizzle is None:
        # Bits of an element are the offset's e-th multiple onwards: elements are apart when offsets
        # differ.
        outer = None if tile.swizzle is None else _bijection(tile.swizzle, sum_of_digits)
        # An expression may count bytes: then an element takes several offsets.
        extent = tile.element_units // tile.step_units
        return Obligation(Domain(digits), (), sum_of_digits.bits, extent, outer, offsets, extent)
    domain = Domain((*points.placement, *digits), enough=points.enough(1))
    element_bytes = tile.element_bits // 8
    place = points.place
    parts = (element_bytes & (element_bytes - 1), place.start_bytes % element_bytes)
    moves_whole = tile.address_swizzle.base >= element_bytes.bit_length() - 1
    if moves_whole and not any(parts) and not place.unit_bytes % element_bytes and not tile.pitch_bytes % element_bytes:
        start = ints.multiply(points.stage_value(), ints.integer(tile.pitch_bytes // element_bytes))
        if points.base is not None:
            base = ints.multiply(ints.variable(points.base), ints.integer(place.unit_bytes // element_bytes))
            start = ints.add(start, base)
        start = ints.add(start, ints.integer(place.start_bytes // element_bytes))
        inner = ints.add(start, sum_of_digits)
        swizzle = tile.address_swizzle.recast(element_bytes.bit_length() - 1)
        return Obligation(
            domain, points.placement, inner.bits, 1, _bijection(swizzle, inner), positions, tile.element_units
        )
    whole = points.position_of_digits()
    return Obligation(domain, points.placement, whole.bits, tile.element_units, None, positions, tile.element_units)


def _bijection(swizzle: Swizzle, inner: Integer) -> Bijection:
    x = var("x", 1 << inner.bits.width)
    return Bijection(x, lower_swizzle(swizzle, ints.variable(x)).bits)


def collision(tile: Tile, point: Mapping[str, int]) -> Counterexample | None:
    """Two elements in plain integers; None when they are one element, or apart."""
    points = TilePoints.of(tile)
    stage, base = points.stage_at(point), points.base_at(point)
    first, other = points.coordinate_at(point), points.coordinate_at(point, second(""))
    places = [int(tile.position(coord, stage=stage, base=base)) for coord in (first, other)]
    if first == other or abs(places[0] - places[1]) >= tile.element_units:
        return None
    rows = tuple(
        Row((coord, int(tile.offset(coord)), points.address_text(place)), "a")
        for coord, place in zip((first, other), places, strict=True)
    )
    note = f"elements {first} and {other} of tile {tile.name} share address {points.address_text(max(places))}"
    return Counterexample(points.placement_at(point), note, ("coord", "offset", "address"), rows)
