"""`in_bounds`: no lane touches a byte outside the tile, no element lies outside its allocation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from swzverify.claims.access_points import access_domain, access_scope, exists_active, lane_table, lane_where
from swzverify.claims.claim import Claim
from swzverify.claims.form import OF_AN_ACCESS, Form, Role
from swzverify.claims.goal import Goal, Plan
from swzverify.claims.operand_points import OperandPoints, misaligned_start, operand_plan
from swzverify.claims.places import Places, element_places, lane_places, numbers
from swzverify.claims.stated import less, multiple, within
from swzverify.claims.tile_points import TilePoints, describe
from swzverify.claims.verdict import Counterexample, Row
from swzverify.engines.obligations import Always, Arrays, Truths
from swzverify.errors import SwzError
from swzverify.ir import integers as ints
from swzverify.ir.domain import Domain
from swzverify.ir.expr import BinaryOperator, Expr, binary, conjunction, negation
from swzverify.subjects import Access, Operand, Tile
from swzverify.subjects.descriptor import CHUNK_BYTES
from swzverify.subjects.tile import leaf_offsets, lower_swizzle


@dataclass(frozen=True, slots=True)
class InBounds(Claim):
    """Everything touched lies inside the stage's allocation, and every coordinate inside the shape."""

    kind: ClassVar[str] = "in_bounds"
    form = Form(
        title="Nothing outside the allocation is touched.",
        says="this access or operand touches nothing outside of its tile, or this tile nothing outside of its "
        "allocation",
        roles=(Role.TILE, Role.ACCESS, Role.OPERAND),
        examples=(*OF_AN_ACCESS, {"tile": "A"}),
    )
    counts_room = True
    about: Tile | Access | Operand

    def __post_init__(self) -> None:
        """Refuse an access without stated bounds, and an operand whose bases nothing relates."""
        self.check_subjects()
        if isinstance(self.about, Operand):
            _ = OperandPoints(self.about).places
        if isinstance(self.about, Access) and self.about.tile is None and self.about.bytes is None:
            raise SwzError(
                "SWZ105",
                f"access {self.about.name} is a bare address: nothing says what its bounds are",
                hint="give the access `bytes: n`",
            )

    def plan(self) -> Plan:
        """One obligation over elements, or over lanes."""
        if isinstance(self.about, Tile):
            return Plan((Goal(tile_bounds_goal(self.about)),))
        if isinstance(self.about, Operand):
            points = OperandPoints(self.about)
            return operand_plan(self.about, lambda: _operand_goal(points))
        return Plan((Goal(_access_goal(self.about)),), exists=exists_active(self.about))

    def scope(self) -> str:
        """Every element or lane, at every base."""
        if isinstance(self.about, Tile):
            return f"{describe(self.about)}, {self.about.describe_base()}"
        if isinstance(self.about, Operand):
            return OperandPoints(self.about).scope()
        return access_scope(self.about, hardware=False)

    def evidence(self) -> str:
        """How the rule of an operand's instruction is known."""
        return self.about.instruction.evidence.value if isinstance(self.about, Operand) else ""

    def sides_at(self, point: Mapping[str, int]) -> tuple[Places, ...]:
        """Where an operand's elements are read in one iteration."""
        return (OperandPoints(self.about).read_places(point),) if isinstance(self.about, Operand) else ()

    def broken(self, *sides: Places) -> list[int]:
        """The elements or lanes that leave the allocation, or the shape."""
        return numbers(sides[0].outside)

    def replay(self, goal: Goal, point: Mapping[str, int]) -> Counterexample | None:
        """The lane or element that lies outside."""
        del goal  # there is one only
        if isinstance(self.about, Tile):
            return tile_outside(self.about, point)
        if isinstance(self.about, Operand):
            return _read_outside(OperandPoints(self.about), point)
        return _lanes_outside(self.about, point)

    def doubt(self, goal: Goal, point: Mapping[str, int]) -> str:
        """Why the start address of a failing point of an operand may never occur, in words."""
        if not isinstance(self.about, Operand):
            return ""
        return OperandPoints(self.about).doubt(point, lambda at: self.replay(goal, at))


def tile_bounds_goal(tile: Tile) -> Always:
    """Every element inside the allocation of its stage."""
    points = TilePoints.of(tile)
    room = tile.allocation_bytes * tile.units_per_byte
    if tile.address_swizzle is None:
        # Position minus start is the offset, whatever stage and base are.
        offset = leaf_offsets(tile, [ints.variable(node) for node in points.digits])
        if tile.swizzle is not None:
            offset = lower_swizzle(tile.swizzle, offset)
        relative = ints.multiply(offset, ints.integer(tile.step_units))
        holds = within(ints.integer(0), relative, tile.element_units, ints.integer(room))
        domain = Domain(points.digits)
    else:
        start = tile.lower_start(points.stage_value())
        holds = within(start, points.position_of_digits(), tile.element_units, ints.add(start, ints.integer(room)))
        domain = Domain((*points.placement, *points.digits), enough=points.enough(1))

    def definition(arrays: Arrays) -> tuple[Truths, Truths]:
        if tile.address_swizzle is None:
            offsets = np.asarray(tile.offset(points.coordinate(arrays))) * tile.step_units
            return np.asarray(True), ~Places(offsets, tile.element_units, room_bits=room).outside
        start = (points.base_of(arrays) + points.stage_of(arrays) * tile.pitch_bytes) * tile.units_per_byte
        return np.asarray(True), ~Places(
            points.positions(arrays), tile.element_units, low=start, room_bits=room
        ).outside

    return Always(domain, holds, definition)


def tile_outside(tile: Tile, point: Mapping[str, int]) -> Counterexample | None:
    """The element in plain integers; None when it lies inside."""
    points = TilePoints.of(tile)
    coord, stage, base = points.coordinate_at(point), points.stage_at(point), points.base_at(point)
    if not element_places(tile, (coord,), stage, base).outside.any():
        return None
    place = int(tile.position(coord, stage=stage, base=base))
    start = (base + stage * tile.pitch_bytes) * tile.units_per_byte
    end = start + tile.allocation_bytes * tile.units_per_byte
    row = Row((coord, int(tile.offset(coord)), points.address_text(place)), "a")
    ends = f"{points.address_text(start)}..{points.address_text(end - 1)}"
    note = f"element {coord} of tile {tile.name} lies at {points.address_text(place)}, outside its allocation {ends}"
    return Counterexample(points.placement_at(point), note, ("coord", "offset", "address"), (row,))


def _access_goal(access: Access) -> Always:
    lowered = access.lowered
    width = access.width_units
    parts: list[Expr] = []
    if access.tile is not None and lowered.start is not None:
        tile = access.tile
        room = tile.allocation_bytes * tile.units_per_byte
        for value, extent in zip(lowered.coord, tile.extents, strict=True):
            parts.append(less(value, ints.integer(extent)))
        if tile.address_swizzle is None and lowered.relative is not None:
            parts.append(within(ints.integer(0), lowered.relative, width, ints.integer(room)))
        else:
            end = ints.add(lowered.start, ints.integer(room))
            parts.append(within(lowered.start, lowered.position, width, end))
    else:
        base = access.origin.address()
        end = ints.add(base, ints.integer(access.bytes or 0))
        parts.append(within(base, lowered.position, width, end))
    holds = binary(BinaryOperator.OR, negation(lowered.active), conjunction(parts))

    def definition(arrays: Arrays) -> tuple[Truths, Truths]:
        assumed, active, position, start = access.definition(arrays)
        inside = np.asarray(True)
        if access.tile is None:
            room = access.bytes or 0
        else:
            room = access.tile.allocation_bytes * access.tile.units_per_byte
            coords = access.coordinates(access.environment(arrays))
            for value, extent in zip(coords, access.tile.extents, strict=True):
                inside = inside & (value < extent)
        return assumed & active, ~Places(position, width, inside=inside, low=start, room_bits=room).outside

    return Always(access_domain(access, 1), holds, definition)


def _operand_goal(points: OperandPoints) -> Always:
    """Every start is aligned, and every element that is read lies in the allocation of the stage."""
    operand, tile = points.operand, points.operand.tile
    read, low = points.read_in_stage()
    size, room = operand.element_bytes, tile.allocation_bytes

    def definition(arrays: Arrays) -> tuple[Truths, Truths]:
        own, of_tile = points.bases_at(arrays)
        places, start = operand.reads(arrays, own), of_tile + operand.stages(arrays) * tile.pitch_bytes
        misaligned = Places(operand.starts(arrays, own), CHUNK_BYTES).misaligned
        return np.asarray(True), ~(misaligned | Places(places, size, low=start, room_bits=room).outside)

    inside = within(low, read, size, ints.add(low, ints.integer(room)))
    return Always(points.domain, conjunction([multiple(points.start(), CHUNK_BYTES), inside]), definition)


def _read_outside(points: OperandPoints, point: Mapping[str, int]) -> Counterexample | None:
    crooked = misaligned_start(points, point)
    if crooked is not None:
        return crooked
    places = points.read_places(point)
    broken = numbers(places.outside)
    if not broken:
        return None
    columns, addresses = points.operand.columns, (places.first // 8).ravel().tolist()
    rows = [Row((divmod(at, columns), addresses[at]), "out") for at in broken[:32]]
    low = int(np.asarray(places.low).ravel()[0]) // 8
    note = (
        f"element {divmod(broken[0], columns)} is read at {addresses[broken[0]]}, outside the bytes "
        f"{low}..{low + points.operand.tile.allocation_bytes - 1} of tile {points.operand.tile.name}"
    )
    return Counterexample(points.binding(point), note, ("(r, k)", "read"), tuple(rows))


def _lanes_outside(access: Access, point: Mapping[str, int]) -> Counterexample | None:
    if not access.assumed_at(point):
        return None
    records = access.lanes_at(point)
    outside = dict.fromkeys(numbers(lane_places(access, records).outside), "out")
    if not outside:
        return None
    lane = min(outside)
    where = lane_where(records[lane])
    what = f"tile {access.tile.name}" if access.tile is not None else f"its {access.bytes} bytes"
    note = f"lane {lane} touches {access.instruction.width_bytes} bytes at {where}, outside {what}"
    return lane_table(access, point, note, outside)
