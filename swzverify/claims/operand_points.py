"""The elements of an operand of the tensor core at every base: what claims on operands share."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from swzverify.claims.common_base import common_origins, origin_text
from swzverify.claims.goal import Goal, Plan
from swzverify.claims.k_order import Elements, KOrder, check_count
from swzverify.claims.places import Places
from swzverify.claims.tile_points import address_span, base_values
from swzverify.claims.verdict import Counterexample, Row
from swzverify.engines.obligations import Always, Arrays, Numbers
from swzverify.errors import SwzError
from swzverify.ir import integers as ints
from swzverify.ir.domain import Domain
from swzverify.ir.expr import Var
from swzverify.ir.integers import Integer
from swzverify.layout.tma import TmaMode
from swzverify.subjects.descriptor import ADDRESS_LIMIT, CHUNK_BYTES, REPEATS_BYTES
from swzverify.subjects.lowered_operand import LoweredOperand
from swzverify.subjects.memory import BASE, Origin
from swzverify.subjects.operand import MN, K, Operand
from swzverify.subjects.tile import lower_swizzle


@dataclass(frozen=True)
class OperandPoints:
    """An operand and its tile at their common bases.

    The bases are those at which the operand and the tile end at or below 2^18, where the addresses of
    a descriptor end. `order` says in which order the elements along K come, where another one than the
    stated one is meant. Errors: SWZ410 where there is no such base; those of bases that nothing relates.
    """

    operand: Operand
    order: KOrder | None = None

    @cached_property
    def places(self) -> tuple[Origin, Origin]:
        """The bases of the operand's start and of the tile."""
        operand, tile = self.operand, self.operand.tile
        own, of_tile = common_origins(operand.own_base, tile.base)
        if operand.iterations == 0:
            return own, of_tile
        end = max(own.start_bytes + operand.farthest, of_tile.start_bytes + tile.total_bytes)
        if end > ADDRESS_LIMIT:
            raise SwzError(
                "SWZ410",
                f"operand {operand.name} of tile {tile.name} reaches byte {end - 1} at the lowest base, and "
                f"descriptors name addresses below {ADDRESS_LIMIT}",
                hint="what is read beyond is not known",
            )
        count = max(1, min(own.count, (ADDRESS_LIMIT - end) // own.unit_bytes + 1))
        return Origin(own.start_bytes, own.unit_bytes, count), Origin(of_tile.start_bytes, of_tile.unit_bytes, count)

    @property
    def base(self) -> Var | None:
        """The common base."""
        return self.places[0].variable

    @property
    def domain(self) -> Domain:
        """Every element in every iteration, at every base."""
        base = () if self.base is None else (self.base,)
        span = max(CHUNK_BYTES, self.span_bytes, address_span(self.operand.tile))
        enough = () if self.base is None else ((self.base.name, base_values(self.places[0], span)),)
        return Domain((*base, *self.operand.variables), enough=enough)

    @property
    def start_domain(self) -> Domain:
        """Every iteration, at every base."""
        base = () if self.base is None else (self.base,)
        enough = () if self.base is None else ((self.base.name, base_values(self.places[0], CHUNK_BYTES)),)
        return Domain((*base, *self.operand.variables[:-2]), enough=enough)

    @property
    def span_bytes(self) -> int:
        """Bytes after which the descriptor's swizzle repeats."""
        return 1 if self.operand.descriptor.swizzle is TmaMode.NONE else REPEATS_BYTES

    @cached_property
    def lowered(self) -> LoweredOperand:
        """The operand as expressions."""
        return LoweredOperand(self.operand)

    @property
    def swizzles_cancel(self) -> bool:
        """Whether operand and tile have one and the same permutation of addresses, or none."""
        fields = self.operand.descriptor
        offset_counts = fields.base_offset != 0 and fields.swizzle is not TmaMode.NONE
        return not offset_counts and fields.swizzle.swizzle == self.operand.tile.address_swizzle

    def sides(self) -> tuple[Integer, Integer]:
        """Two integers that are equal where the address that is read is that of the tile's element.

        One permutation of addresses on both sides cancels, and with it the base.
        """
        own, of_tile = self._firsts if self.swizzles_cancel else self._bases
        read = ints.total([own, self.lowered.start, self.lowered.linear])
        wanted = self._unswizzled(of_tile)
        if self.swizzles_cancel:
            return read, wanted
        return self.lowered.swizzled(read), self._swizzled(wanted)

    def wanted_address(self) -> Integer:
        """Where the tile has an element that should be read."""
        return self._swizzled(self._unswizzled(self.places[1].address()))

    def _unswizzled(self, base: Integer) -> Integer:
        """The same before the tile's swizzle of addresses, from a base of the tile."""
        tile, coordinate = self.operand.tile, list(self.lowered.coordinate)
        if self.order is not None:
            coordinate[self._k_mode] = self.order.lowered(coordinate[self._k_mode])
        offset = ints.multiply(tile.lower_offset(coordinate), ints.integer(tile.step_units))
        return ints.add(self._stage_start(base), offset)

    def _swizzled(self, address: Integer) -> Integer:
        swizzle = self.operand.tile.address_swizzle
        return address if swizzle is None else lower_swizzle(swizzle, address)

    def read_in_stage(self) -> tuple[Integer, Integer]:
        """The address that is read, and that of the tile's stage."""
        own, of_tile = self._bases
        read = ints.total([own, self.lowered.start, self.lowered.linear])
        return self.lowered.swizzled(read), self._stage_start(of_tile)

    def start(self) -> Integer:
        """The start address."""
        return ints.add(self.places[0].address(), self.lowered.start)

    def _stage_start(self, base: Integer) -> Integer:
        return ints.add(base, ints.multiply(self.lowered.stage, ints.integer(self.operand.tile.pitch_bytes)))

    @property
    def _firsts(self) -> tuple[Integer, Integer]:
        """The first of the bases."""
        first, second = (ints.integer(each.start_bytes) for each in self.places)
        return first, second

    @property
    def _bases(self) -> tuple[Integer, Integer]:
        """The bases that are judged.

        If their unit is a multiple of what a swizzle looks at, a base moves everything alike, and the first
        one stands for all.
        """
        own, of_tile = self.places
        span = max(self.span_bytes, address_span(self.operand.tile))
        return self._firsts if own.unit_bytes % span == 0 else (own.address(), of_tile.address())

    def bases_at(self, arrays: Arrays) -> tuple[Numbers, Numbers]:
        """The two base addresses at some points."""
        index = np.zeros(1, dtype=np.int64) if self.base is None else arrays[self.base.name]
        first, second = (each.start_bytes + each.unit_bytes * index for each in self.places)
        return first, second

    @property
    def _k_mode(self) -> int:
        return self.operand.modes.index("K")

    def coordinates(self, arrays: Arrays) -> tuple[Numbers, ...]:
        """The tile's coordinates of the elements that should be read at some points."""
        found = list(self.operand.coordinates(arrays))
        if self.order is not None:
            found[self._k_mode] = self.order.at(found[self._k_mode])
        return tuple(found)

    def wanted(self, arrays: Arrays, base: Numbers) -> Numbers:
        """Where the tile, at a base, has these elements."""
        operand = self.operand
        return np.asarray(operand.tile.position(self.coordinates(arrays), stage=operand.stages(arrays), base=base))

    @property
    def every(self) -> dict[str, Numbers]:
        """Every element of every iteration, at the first base.

        Raises:
            SwzError: SWZ107 if there are too many.
        """
        operand = self.operand
        check_count(operand.name, operand.iterations * operand.rows * operand.columns)
        counts = [max(1, loop.count or 0) for loop in operand.loops]
        turns = np.indices(counts, dtype=np.int64).reshape(len(counts), -1, 1, 1)
        arrays = {loop.name: turn for loop, turn in zip(operand.loops, turns, strict=True)}
        return {**arrays, **self._elements({self.places[0].name: 0})}

    def elements(self, arrays: Arrays) -> Elements:
        """At points: which elements should be read, and where they are read."""
        operand, (own, of_tile) = self.operand, self.bases_at(arrays)
        coordinates = operand.coordinates(arrays)
        return Elements(
            np.asarray(operand.iterations > 0),
            of_tile + operand.stages(arrays) * operand.tile.pitch_bytes,
            coordinates[1 - self._k_mode],
            coordinates[self._k_mode],
            operand.reads(arrays, own),
            self.wanted(arrays, of_tile),
        )

    @property
    def k_extent(self) -> int:
        """The tile's extent along K."""
        return self.operand.tile.extents[self._k_mode]

    def binding(self, point: Mapping[str, int]) -> dict[str, int]:
        """The loops and the base, as people know them."""
        own = self.places[0]
        base = {} if own.variable is None and not own.start_bytes else {BASE: own.at(point)}
        return {**self.operand.binding(point), **base}

    def point_of(self, binding: Mapping[str, int]) -> dict[str, int] | None:
        """The iteration and the base as the engines know them; None where there is no such one."""
        operand, own = self.operand, self.places[0]
        index, rest = divmod(binding.get(BASE, own.start_bytes) - own.start_bytes, own.unit_bytes)
        turns = {loop.name: loop.iteration_of(binding.get(loop.name, loop.value(0))) for loop in operand.loops}
        inside = all(
            turn is not None and turn < (loop.count or 0)
            for turn, loop in zip(turns.values(), operand.loops, strict=True)
        )
        if rest or not 0 <= index < own.count or not inside:
            return None
        return {**{name: turn or 0 for name, turn in turns.items()}, own.name: index}

    def read_places(self, point: Mapping[str, int]) -> Places:
        """Where the elements are read in one iteration, a row for each row of the operand."""
        arrays = self._elements(point)
        own, of_tile = self.bases_at(arrays)
        tile = self.operand.tile
        low = 8 * (of_tile + self.operand.stages(arrays) * tile.pitch_bytes)
        placed = self._placed(self.operand.reads(arrays, own), low, 8 * tile.allocation_bytes)
        aligned = not self.start_places(point).misaligned.any()
        return replace(placed, inside=np.asarray(aligned))

    def wanted_places(self, point: Mapping[str, int]) -> Places:
        """Where the tile has these elements."""
        arrays = self._elements(point)
        return self._placed(self.wanted(arrays, self.bases_at(arrays)[1]))

    def start_places(self, point: Mapping[str, int]) -> Places:
        """The start address in one iteration."""
        arrays = {name: np.asarray([value], dtype=np.int64) for name, value in point.items()}
        start = np.asarray(self.operand.starts(arrays, self.bases_at(arrays)[0])).ravel()
        return Places(8 * start, 8 * CHUNK_BYTES)

    def _elements(self, point: Mapping[str, int]) -> dict[str, Numbers]:
        """Every element of one iteration."""
        arrays: dict[str, Numbers] = {name: np.asarray([value], dtype=np.int64) for name, value in point.items()}
        arrays[MN] = np.arange(self.operand.rows, dtype=np.int64)[:, None]
        arrays[K] = np.arange(self.operand.columns, dtype=np.int64)[None, :]
        return arrays

    def _placed(self, addresses: Numbers, low: Numbers | int = 0, room_bits: int = 0) -> Places:
        shape = (self.operand.rows, self.operand.columns)
        return Places(
            8 * np.broadcast_to(addresses, shape), 8 * self.operand.element_bytes, low=low, room_bits=room_bits
        )

    def doubt(self, point: Mapping[str, int], replay: Callable[[Mapping[str, int]], Counterexample | None]) -> str:
        """Why an iteration that breaks a claim may be one that never occurs, in words; empty if one occurs.

        Of the start addresses of compiled code some occurs, and it is not known which. So the claim is broken for
        certain where it is broken at each of them.
        """
        operand, stages = self.operand, self.operand.stages_of_code
        if operand.code is None or stages is None:
            return ""
        points = [{**point, stages.name: turn} for turn in range(stages.count or 0)]
        right = next((each for each in points if replay(each) is None), None)
        if right is None:
            return ""
        broken = replay(point)
        (here, start), (there, other) = (
            (operand.binding(each)[stages.name], int(operand.start.at({**operand.constants, **operand.binding(each)})))
            for each in (point, right)
        )
        return (
            f"for {stages.name} = {here} the code starts {start} bytes from its base: "
            f"{'the claim is broken' if broken is None else broken.note}. It is not known whether this start address "
            f"occurs; for {stages.name} = {there}, {other} bytes from the base, the claim holds"
        )

    def scope(self) -> str:
        """Every element, iteration and base, in words."""
        operand = self.operand
        loops = [loop.describe(loop.count or 0) for loop in operand.loops]
        texts = list(dict.fromkeys(origin_text(each) for each in self.places))
        where = texts[0] if len(texts) == 1 else f"{operand.name}: {texts[0]}; tile {operand.tile.name}: {texts[1]}"
        within = f", up to address {ADDRESS_LIMIT}" if self.base is not None else ""
        return ", ".join([operand.described(), *loops, where]) + within


def operand_plan(operand: Operand, goal: Callable[[], Always]) -> Plan:
    """The plan of a claim that asks one thing of an operand."""
    if operand.iterations == 0:
        return Plan(empty=f"the loops of operand {operand.name} never run")
    return Plan((Goal(goal()),))


def misaligned_start(points: OperandPoints, point: Mapping[str, int]) -> Counterexample | None:
    """The start address in plain integers; None where a descriptor can hold it."""
    place = points.start_places(point)
    if not place.misaligned.any():
        return None
    start = int(place.first[0]) // 8
    note = f"the start address {start} is no multiple of {CHUNK_BYTES}: a descriptor cannot hold it"
    return Counterexample(points.binding(point), note, ("start",), (Row((start,), "x"),))
