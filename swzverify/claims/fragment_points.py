"""The elements that a load puts into the registers of `mma.sync`, at every base: what `delivers` asks.

Its points are the elements of the lanes' ranges: where each lands follows from the instruction, so that
each register part that the load fills is looked at once.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from math import prod

import numpy as np

from swzverify.claims.access_points import access_enough, access_scope
from swzverify.claims.common_base import common_origins, refuse_moved
from swzverify.claims.k_order import Elements, KOrder, check_count
from swzverify.claims.places import Places, elsewhere
from swzverify.claims.stated import equal, multiple
from swzverify.claims.tile_contents import TileContents
from swzverify.claims.tile_points import address_span
from swzverify.claims.verdict import Counterexample, Row
from swzverify.engines.obligations import Always, Arrays, Numbers, Truths
from swzverify.errors import SwzError
from swzverify.hardware.fragments import (
    CELL_BYTES,
    GROUP_LANES,
    GROUP_ROWS,
    REGISTER_BYTES,
    Landing,
    landing,
    loaded_registers,
)
from swzverify.hardware.instructions import LANES
from swzverify.hardware.kinds import Kind
from swzverify.ir import integers as ints
from swzverify.ir.c_formula import CFormula
from swzverify.ir.domain import Domain
from swzverify.ir.expr import BinaryOperator, Var, binary, conjunction, negation, var
from swzverify.ir.formula import Reading
from swzverify.ir.integers import Integer
from swzverify.subjects import Access, Tile
from swzverify.subjects.access_names import constants, loops
from swzverify.subjects.check_fragment import joint_values, reach
from swzverify.subjects.fragment import REGISTER, Fragment
from swzverify.subjects.loop import LANE, WARP
from swzverify.subjects.lowered_operand import high_part, low_part, times
from swzverify.subjects.memory import Origin, base_text
from swzverify.subjects.plain_access import base_bytes
from swzverify.subjects.tile import lower_swizzle

ELEMENT = "element.of.lane"
"""The variable of an element of a lane's range. No loop has such a name."""
SHOWN = 16
"""Rows of a counterexample's table."""


@dataclass(frozen=True, slots=True)
class _Lowered:
    """Where an element of a lane's range lands, as expressions."""

    lane: Integer
    register: Integer
    part: Integer


@dataclass(frozen=True)
class FragmentPoints:
    """An access with a fragment; `order` is the order of K where another one than the stated one is meant."""

    access: Access
    order: KOrder | None = None

    @cached_property
    def fragment(self) -> Fragment:
        """What the registers should hold.

        Raises:
            SwzError: SWZ105 for an access without one.
        """
        if self.access.fragment is None:
            raise SwzError(
                "SWZ105",
                f"access {self.access.name} does not say what its registers should hold",
                hint="give it `fragment: {mma: m16n8k16.f16, role: A, at: [warp*16, k]}`",
            )
        return self.access.fragment

    @property
    def tile(self) -> Tile:
        """The tile that is meant: that of the access, or of an address that of its fragment.

        Raises:
            SwzError: SWZ105 for an access without one.
        """
        found = self.access.tile or self.fragment.tile
        if found is None:
            raise SwzError("SWZ105", f"access {self.access.name} has no tile")
        return found

    @cached_property
    def tile_origin(self) -> Origin:
        """The base of the tile, over the variable of the access's own.

        Raises:
            SwzError: SWZ105 if nothing says how an address lies to the tile.
        """
        access, tile = self.access, self.tile
        if access.tile is not None:
            return access.origin
        refuse_moved("delivers", access)
        own, of_tile = common_origins(access.base, tile.base)
        if own != access.origin:
            told = f"{base_text(access.base)} of access {access.name}, and {base_text(tile.base)} of tile {tile.name}"
            raise SwzError("SWZ105", f"delivers: {told}", hint="the access needs at least the alignment of the tile")
        return of_tile

    @property
    def element_bytes(self) -> int:
        """The bytes of an element."""
        return self.fragment.mma.element_bytes

    @property
    def count(self) -> int:
        """The elements of a lane's range."""
        return self.access.instruction.width_bytes // self.element_bytes

    @property
    def element(self) -> Var:
        """The variable of an element of a lane's range."""
        return var(ELEMENT, self.count)

    def goal(self) -> Always:
        """Every active lane is aligned, and each element is the one that its register should hold."""
        access, lowered = self.access, self.access.lowered
        aligned = multiple(lowered.position, access.width_units)
        holds = binary(BinaryOperator.OR, negation(lowered.active), conjunction([aligned, equal(*self._sides())]))
        width = access.instruction.width_bytes
        enough = access_enough(access, max(width, address_span(self.tile)))
        domain = Domain((*access.variables, self.element), lowered.assumption, enough)

        def definition(arrays: Arrays) -> tuple[Truths, Truths]:
            assumed, active, read, wanted, _ = self._plain(arrays)
            aligned = (read - arrays[ELEMENT] * self.tile.element_units) % access.width_units == 0
            return assumed & active, aligned & (read == wanted)

        return Always(domain, holds, definition)

    def _sides(self) -> tuple[Integer, Integer]:
        """Two integers that are equal where the element is the one that is wanted."""
        lowered, tile = self.access.lowered, self.tile
        step = ints.multiply(ints.variable(self.element), ints.integer(tile.element_units))
        if tile.address_swizzle is None and lowered.relative is not None:  # base and stage are the same on both sides
            return ints.add(lowered.relative, step), self._wanted_offset()
        return ints.add(lowered.position, step), self.wanted_position()

    def _wanted_offset(self) -> Integer:
        return ints.multiply(self.tile.lower_offset(self._coordinate()), ints.integer(self.tile.step_units))

    def wanted_position(self) -> Integer:
        """Where the tile has the element that should be where an element of a lane's range lands."""
        start, swizzle = self.access.lowered.start, self.tile.address_swizzle
        if start is None:
            stage, reading = self.fragment.stage, self._reading(ints.integer(0))
            number = ints.integer(0) if stage is None else self._value(stage, reading)
            start = self.tile.lower_start(number, self.tile_origin)
        position = ints.add(start, self._wanted_offset())
        return position if swizzle is None else lower_swizzle(swizzle, position)

    def fragment_register(self) -> Integer:
        """Which register of the fragment a register of the load is, over `register`."""
        register = ints.named(REGISTER, loaded_registers(self.access.instruction))
        return self._value(self.fragment.register, self._reading(register))

    def _reading(self, register: Integer) -> Reading:
        """How the fragment's expressions are lowered where the register of the load is known."""
        access = self.access
        env = constants(access) | loops(access, access.loop_limits, access.loop_room)
        env |= {WARP: ints.named(WARP, access.warps), REGISTER: register}
        return Reading(env, lambda read: joint_values(access, access.loop_limits, read))

    def _lands(self) -> _Lowered:
        """`landing`, over the lane and the element."""
        lane, at_byte = ints.named(LANE, LANES), times(ints.variable(self.element), self.element_bytes)
        size = self.element_bytes
        if self.access.instruction.kind is not Kind.LDMATRIX:
            part = high_part(low_part(at_byte, REGISTER_BYTES), size)
            return _Lowered(lane, high_part(at_byte, REGISTER_BYTES), part)
        last = loaded_registers(self.access.instruction) - 1
        matrix, row = ints.minimum(high_part(lane, GROUP_ROWS), ints.integer(last)), low_part(lane, GROUP_ROWS)
        if self.access.instruction.name.endswith(".trans"):
            own = ints.add(times(low_part(row, 2), CELL_BYTES), low_part(at_byte, CELL_BYTES))
            to = ints.add(times(high_part(at_byte, CELL_BYTES), GROUP_LANES), high_part(row, 2))
            return _Lowered(to, matrix, high_part(own, size))
        to = ints.add(times(row, GROUP_LANES), high_part(at_byte, REGISTER_BYTES))
        return _Lowered(to, matrix, high_part(low_part(at_byte, REGISTER_BYTES), size))

    def _coordinate(self) -> list[Integer]:
        """The tile's coordinate of the element that should be there."""
        fragment, lands = self.fragment, self._lands()
        mma, reading = fragment.mma, self._reading(lands.register)
        register = self._value(fragment.register, reading)
        halves = mma.halves(fragment.role)
        row = ints.add(high_part(lands.lane, GROUP_LANES), times(low_part(register, halves), GROUP_ROWS))
        group = ints.add(times(high_part(register, halves), GROUP_LANES), low_part(lands.lane, GROUP_LANES))
        element = {"MN": row, "K": ints.add(times(group, mma.parts), lands.part)}
        pairs = zip(fragment.at, fragment.modes, strict=True)
        found = [ints.add(self._value(value, reading), element[mode]) for value, mode in pairs]
        if self.order is not None:
            found[self._k_mode] = self.order.lowered(found[self._k_mode])
        return found

    def _value(self, formula: CFormula, reading: Reading) -> Integer:
        """A formula, within the bounds that all its iterations have."""
        value = formula.lowered(reading)
        if 0 in self.access.loop_limits:
            return ints.integer(0)
        bounds = reach(self.access, self.access.loop_limits, formula)
        return ints.minimum(ints.maximum(value, ints.integer(bounds.low)), ints.integer(bounds.high))

    def _plain(self, arrays: Arrays) -> tuple[Truths, Truths, Numbers, Numbers, Landing]:
        """At points: assumed, active, where the element is read and should be, in units, and where it lands."""
        access, tile = self.access, self.tile
        assumed, active, position, start = access.definition(arrays)
        start = self._start_at(arrays, start)
        lands = landing(access.instruction, arrays[LANE], arrays[ELEMENT] * self.element_bytes, self.element_bytes)
        offset = tile.offset(self._in_order(self._wanted(arrays, lands)))
        raw = start + np.asarray(offset) * tile.step_units
        swizzle = tile.address_swizzle
        wanted = raw if swizzle is None else swizzle(raw)
        return assumed, active, position + arrays[ELEMENT] * tile.element_units, np.asarray(wanted), lands

    def _start_at(self, arrays: Arrays, of_access: Numbers) -> Numbers:
        """Where the stage of the tile begins at points, in units."""
        access, stage = self.access, self.fragment.stage
        if access.tile is not None:
            return of_access
        number: Numbers = np.zeros(1, dtype=np.int64)
        if stage is not None and 0 not in access.loop_limits:
            number = np.asarray(stage.at_many(access.environment(arrays)))
        return (base_bytes(self.tile_origin, arrays) + number * self.tile.pitch_bytes) * self.tile.units_per_byte

    def _wanted(self, arrays: Arrays, lands: Landing) -> list[Numbers]:
        """The tile's coordinate of the element that should be there, by the plain definition."""
        fragment = self.fragment
        env = {**self.access.environment(arrays), REGISTER: np.asarray(lands.register)}
        if 0 in self.access.loop_limits:
            return [np.zeros(1, dtype=np.int64)] * 2
        register = self.fragment_registers(arrays)
        element = {
            "MN": fragment.mma.row(fragment.role, lands.lane, register),
            "K": fragment.mma.column(fragment.role, lands.lane, register, lands.part),
        }
        pairs = zip(fragment.at, fragment.modes, strict=True)
        return [np.asarray(value.at_many(env)) + element[mode] for value, mode in pairs]

    @property
    def _k_mode(self) -> int:
        return self.fragment.modes.index("K")

    def _in_order(self, coordinate: list[Numbers]) -> list[Numbers]:
        """The coordinate of the element that stands where another one should be."""
        if self.order is not None:
            coordinate[self._k_mode] = self.order.at(coordinate[self._k_mode])
        return coordinate

    @property
    def k_extent(self) -> int:
        """The tile's extent along K."""
        return self.tile.extents[self._k_mode]

    @property
    def every(self) -> dict[str, Numbers]:
        """Every element of every lane's range, in every warp, iteration and stage, at the first base.

        Raises:
            SwzError: SWZ107 if there are too many.
        """
        access = self.access
        nodes = [node for node in access.free if node is not access.origin.variable]
        check_count(access.name, prod(node.limit for node in nodes) * access.instruction.address_lanes * self.count)
        turns = np.indices([node.limit for node in nodes], dtype=np.int64).reshape(len(nodes), -1, 1, 1)
        free = {node.name: turn for node, turn in zip(nodes, turns, strict=True)}
        return {**self._arrays({}), **free}

    def elements(self, arrays: Arrays) -> Elements:
        """At points: which elements the registers should hold, and where they are read."""
        assumed, active, read, wanted, lands = self._plain(arrays)
        *_, start = self.access.definition(arrays)
        start = self._start_at(arrays, start)
        coordinate = self._wanted(arrays, lands)
        row, k = coordinate[1 - self._k_mode], coordinate[self._k_mode]
        return Elements(assumed & active, start, row, k, read, wanted)

    def fragment_registers(self, arrays: Arrays) -> Numbers:
        """The registers of the fragment into which the elements of lanes' ranges go, at points."""
        size = self.element_bytes
        lands = landing(self.access.instruction, arrays[LANE], arrays[ELEMENT] * size, size)
        env = {**self.access.environment(arrays), REGISTER: np.asarray(lands.register)}
        return np.asarray(self.fragment.register.at_many(env))

    def scope(self) -> str:
        """Every register part that the load fills, in every warp and iteration, at every base."""
        own = "" if self.access.tile is not None else f", tile {self.tile.name}: {self.tile.describe_base()}"
        told = f"the registers of {self.fragment.described()} that the load fills, "
        return told + access_scope(self.access, hardware=False) + own

    def _arrays(self, point: Mapping[str, int]) -> dict[str, Numbers]:
        """Every element of every lane in one iteration."""
        free = {node.name: np.asarray([[point.get(node.name, 0)]], dtype=np.int64) for node in self.access.free}
        lanes = np.arange(self.access.instruction.address_lanes, dtype=np.int64)[:, None]
        return {**free, LANE: lanes, ELEMENT: np.arange(self.count, dtype=np.int64)[None, :]}

    def sides_at(self, point: Mapping[str, int]) -> tuple[Places, Places]:
        """Where each element is read in one iteration, and where the tile has what should be there."""
        arrays = self._arrays(point)
        _, _, read, wanted, _ = self._plain(arrays)
        shape = np.broadcast_shapes(read.shape, wanted.shape)
        aligned = (read - arrays[ELEMENT] * self.tile.element_units) % self.access.width_units == 0
        bits = self.tile.unit_bits
        size = 8 * self.element_bytes
        first = Places(bits * np.broadcast_to(read, shape), size, inside=np.broadcast_to(aligned, shape))
        return first, Places(bits * np.broadcast_to(wanted, shape), size)

    def replay(self, point: Mapping[str, int]) -> Counterexample | None:
        """The elements that are others than they should be, in the iteration of a failing point."""
        if not self.access.assumed_at(point):
            return None
        sides = self.sides_at(point)
        broken = elsewhere(*sides)
        if not broken:
            return None
        arrays = self._arrays(point)
        lands = landing(self.access.instruction, arrays[LANE], arrays[ELEMENT] * self.element_bytes, self.element_bytes)
        shape = sides[0].first.shape
        table = [np.broadcast_to(each, shape).ravel() for each in (lands.lane, lands.register, lands.part)]
        coords = [np.broadcast_to(each, shape).ravel() for each in self._in_order(self._wanted(arrays, lands))]
        read, wanted = ((each.first // 8).ravel().tolist() for each in sides)
        here = TileContents.of(self.tile, self.tile_origin.at(point))
        broken.sort(key=lambda at: tuple(int(each[at]) for each in table))
        rows = [
            Row(
                (*(int(each[at]) for each in table), tuple(int(each[at]) for each in coords), wanted[at], read[at],
                 here.at(read[at])),
                "x",
            )
            for at in broken[:SHOWN]
        ]  # fmt: skip
        first = rows[0].cells
        note = (
            f"lane {first[0]}, register {first[1]}, part {first[2]} should hold {first[3]}, and holds {first[6]}; "
            f"{len(broken)} of {len(read)} parts are wrong"
        )
        free = {name: value for name, value in point.items() if name not in (LANE, ELEMENT)}
        columns = ("lane", "register", "part", "coord", "expected", "read", "there lies")
        return Counterexample(self.access.binding(free), note, columns, tuple(rows))
