"""`equivalent`: two maps give the same address everywhere; if not, the smallest base alignment for which they do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import ClassVar, TypeAlias

import numpy as np

from swzverify.claims.access_points import access_scope, exists_active
from swzverify.claims.common_base import check_comparable, common_origins, open_alignment, origin_text
from swzverify.claims.goal import Fact, Goal, Plan
from swzverify.claims.tile_points import TilePoints, address_span, base_values
from swzverify.claims.verdict import Counterexample, Row
from swzverify.engines.obligation import Always, Arrays, Numbers, Truths
from swzverify.errors import SwzError
from swzverify.hardware import LANES
from swzverify.ir import integers as ints
from swzverify.ir.domain import Domain
from swzverify.ir.expr import BinaryOperator, Expr, Var, binary, compare, conjunction, negation, substitute
from swzverify.ir.expr import Comparison as Cmp
from swzverify.ir.integers import Integer
from swzverify.subjects import Access, AlignedBase, Base, IndexMap, Tile
from swzverify.subjects.memory import Origin
from swzverify.subjects.plain_access import LaneRecord

Subject: TypeAlias = Tile | Access | IndexMap
MAX_ALIGN_LOG2 = 20


@dataclass(frozen=True, slots=True)
class Equivalent:
    """The same address (or value) everywhere."""

    kind: ClassVar[str] = "equivalent"
    first: Subject
    second: Subject

    def __post_init__(self) -> None:
        """Refuse pairs that have nothing to compare."""
        kinds = {type(self.first), type(self.second)}
        if len(kinds) > 1 and kinds != {Tile, IndexMap}:
            raise SwzError(
                "SWZ105",
                f"equivalent: {self.first.name} and {self.second.name} are of different kinds",
                hint="compare two tiles, two accesses, two maps, or a tile and a map",
            )

        tile = self.first if isinstance(self.first, Tile) else self.second if isinstance(self.second, Tile) else None
        for index in (self.first, self.second):
            if tile is not None and isinstance(index, IndexMap) and index.base not in (None, tile.base):
                raise SwzError(
                    "SWZ105",
                    f"equivalent: map {index.name} has a `base:` other than tile {tile.name}'s, which counts here",
                    hint="leave the map's `base:` out",
                )
        if not self._mismatch():
            check_comparable(*self.bases, f"equivalent: {self.first.name} and {self.second.name}")
            if isinstance(self.first, IndexMap) or isinstance(self.second, IndexMap):
                self.plan()  # a map's expressions must be defined at the bases that the other one brings

    @property
    def subject(self) -> str:
        """Both names."""
        return f"{self.first.name},{self.second.name}"

    def plan(self) -> Plan:
        """Facts about the shapes, and equality at every point."""
        return self.plan_for(1)

    def plan_for(self, align_bytes: int) -> Plan:
        """The same claim for bases that are multiples of `align_bytes` too."""
        mismatch = self._mismatch()
        if mismatch:
            return Plan(facts=(Fact(holds=False, note=mismatch),))
        if isinstance(self.first, Access) and isinstance(self.second, Access):
            pair = _same_loops(self.first, self.second)
            either = [negation(exists_active(access)) for access in pair]
            return Plan((Goal(_accesses(*pair, align_bytes)),), exists=negation(conjunction(either)))
        return Plan((Goal(_Pair.of(self.first, self.second, align_bytes).goal()),))

    def _mismatch(self) -> str:
        """Why the two cannot be equal, as far as shapes tell."""
        match self.first, self.second:
            case Tile() as a, Tile() as b:
                if a.extents != b.extents:
                    return f"{a.name} has the extents {a.extents}, {b.name} has {b.extents}"
                if a.stages != b.stages:
                    return f"{a.name} has {a.stages} stages, {b.name} has {b.stages}"
            case Access() as a, Access() as b:
                if a.threads != b.threads:
                    return f"{a.name} has {a.threads} threads, {b.name} has {b.threads}"
                loops = [{loop.name: (loop.start, loop.step, loop.count) for loop in x.loops} for x in (a, b)]
                if loops[0] != loops[1]:
                    return f"{a.name} and {b.name} have different loops"
                stages = [x.tile.stages if x.tile is not None and x.stage is None else 1 for x in (a, b)]
                if stages[0] != stages[1] and min(stages) > 1:
                    return f"{a.name} runs in {stages[0]} stages, {b.name} in {stages[1]}"
            case IndexMap() as a, IndexMap() as b:
                boxes = [[extent for _, extent in x.over] for x in (a, b)]
                if boxes[0] != boxes[1] or len(a.value) != len(b.value):
                    sides = [
                        f"{x.name} from {box} to {len(x.value)} values" for x, box in zip((a, b), boxes, strict=True)
                    ]
                    return f"the maps go {sides[0]}, {sides[1]}"
            case (Tile() as tile, IndexMap() as index) | (IndexMap() as index, Tile() as tile):
                extents = tuple(extent for _, extent in index.over)
                if extents != tile.extents or len(index.value) != 1:
                    values = f"{len(index.value)} values"
                    return f"map {index.name} goes over {extents} to {values}, {tile.name} has {tile.extents}"
            case _:
                pass
        return ""

    @property
    def bases(self) -> tuple[Base, Base]:
        """Where the two lie."""
        return _bases(self.first, self.second)

    def alignments(self) -> tuple[int, ...]:
        """The larger base alignments to try when the claim fails; none where the base is fixed."""
        maps = [x for x in (self.first, self.second) if isinstance(x, IndexMap)]
        if len(maps) == 2 and not any(x.uses_base for x in maps):
            return ()
        align = open_alignment(*self.bases)
        if align is None or self._mismatch():
            return ()
        return tuple(1 << log for log in range(MAX_ALIGN_LOG2 + 1) if 1 << log > align)

    def scope(self) -> str:
        """Every coordinate or lane, at every common base."""
        base = "" if self._mismatch() else f"{self._stages_text()}, {self._bases_text()}"
        if isinstance(self.first, Access):
            return access_scope(self.first, hardware=False, base=False) + base
        maps = [x for x in (self.first, self.second) if isinstance(x, IndexMap)]
        if len(maps) == 2:
            return f"every point of {self.first.name}" + (base if any(x.uses_base for x in maps) else "")
        return f"every coordinate{base}"

    def _stages_text(self) -> str:
        """The stages in which either runs or has elements, if there are several."""
        tiles = [
            x.tile if isinstance(x, Access) and x.stage is None else x if isinstance(x, Tile) else None
            for x in (self.first, self.second)
        ]
        stages = max(1 if tile is None else tile.stages for tile in tiles)
        return f", all {stages} stages" if stages > 1 else ""

    def _bases_text(self) -> str:
        """The base that both have, or each one's."""
        texts = [origin_text(place) for place in common_origins(*self.bases)]
        if texts[0] == texts[1]:
            return texts[0]
        return f"{self.first.name}: {texts[0]}; {self.second.name}: {texts[1]}"

    def evidence(self) -> str:
        """No hardware fact."""
        return ""

    def replay(self, goal: Goal, point: Mapping[str, int]) -> Counterexample | None:
        """The coordinate or lane at which the two differ."""
        del goal  # there is one only
        if isinstance(self.first, Access) and isinstance(self.second, Access):
            return _lanes_differ(self.first, self.second, point)
        return _Pair.of(self.first, self.second, 1).differ(point)


def _bases(first: Subject, other: Subject) -> tuple[Base, Base]:
    """Where two subjects lie; one without a base takes the other's, two without may be anywhere."""
    a, b = _base_of(first), _base_of(other)
    anywhere = AlignedBase(1)
    return a or b or anywhere, b or a or anywhere


def _base_of(subject: Subject) -> Base | None:
    if isinstance(subject, Access):
        return subject.tile.base if subject.tile is not None else subject.base
    return subject.base


@dataclass(frozen=True, slots=True)
class _Pair:
    """Two tiles or maps over common coordinates; two maps, whose values may be no addresses, have one unit a byte."""

    first: Tile | IndexMap
    other: Tile | IndexMap
    places: tuple[Origin, Origin]
    coords: tuple[Var, ...]
    stage: Var | None
    units_a_byte: int

    @staticmethod
    def of(first: Subject, other: Subject, align_bytes: int) -> _Pair:
        if isinstance(first, Access) or isinstance(other, Access):
            raise TypeError("accesses are compared lane by lane")
        bases = _bases(first, other)
        tile = first if isinstance(first, Tile) else other if isinstance(other, Tile) else None
        if tile is not None:
            coords = TilePoints.of(tile).coords
        else:
            coords = first.variables if isinstance(first, IndexMap) else ()
        stage = None if tile is None else TilePoints.of(tile).stage
        units = max(x.units_a_byte if isinstance(x, Tile) else 1 for x in (first, other))
        return _Pair(first, other, common_origins(*bases, align_bytes), coords, stage, units)

    @property
    def sides(self) -> tuple[tuple[Tile | IndexMap, Origin], tuple[Tile | IndexMap, Origin]]:
        """Each with its base."""
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
        holds = conjunction(ints.truth(ints.equal(a, b)) for a, b in zip(*values, strict=True))
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
        """For tiles the swizzles' spans tell how many bases stand for all; a map's use of the base is unknown."""
        base = self.base
        if base is None or isinstance(self.first, IndexMap) or isinstance(self.other, IndexMap):
            return ()
        span = max(address_span(self.first), address_span(self.other))
        return ((base.name, base_values(self.places[0], span)),)

    def _lower(self, subject: Tile | IndexMap, place: Origin) -> tuple[Integer, ...]:
        if isinstance(subject, Tile):
            stage = ints.integer(0) if self.stage is None else ints.variable(self.stage)
            position = subject.lower_position([ints.variable(node) for node in self.coords], stage, place)
            return (ints.multiply(position, ints.integer(self.units_a_byte // subject.units_a_byte)),)
        own = dict(zip(subject.variables, self.coords, strict=True))
        lowered = subject.lower(place)
        renamed = [Integer(substitute(value.bits, dict(own)), value.low, value.high) for value in lowered]
        return tuple(ints.multiply(value, ints.integer(self.units_a_byte)) for value in renamed)

    def _values(self, subject: Tile | IndexMap, place: Origin, arrays: Arrays) -> tuple[Numbers, ...]:
        base = self.base
        index = np.zeros(1, dtype=np.int64) if base is None else arrays[base.name]
        address = place.start_bytes + place.unit_bytes * index
        if isinstance(subject, Tile):
            stage = np.zeros(1, dtype=np.int64) if self.stage is None else arrays[self.stage.name]
            coord = [arrays[node.name] for node in self.coords]
            position = np.asarray(subject.position(coord, stage=stage, base=address))
            return (position * (self.units_a_byte // subject.units_a_byte),)
        point = {name: arrays[node.name] for (name, _), node in zip(subject.over, self.coords, strict=True)}
        if subject.uses_base:
            point["base"] = address
        return tuple(value * self.units_a_byte for value in subject.at_many(point))

    def differ(self, point: Mapping[str, int]) -> Counterexample | None:
        """Both values at one point."""
        arrays = {name: np.asarray([value], dtype=np.int64) for name, value in point.items()}
        found = [tuple(int(value.ravel()[0]) for value in self._values(x, place, arrays)) for x, place in self.sides]
        if found[0] == found[1]:
            return None
        coord = tuple(point[node.name] for node in self.coords)
        binding: dict[str, int] = {} if self.stage is None else {"stage": point[self.stage.name]}
        if self.base is not None:
            binding["base"] = self.places[0].start_bytes + self.places[0].unit_bytes * point[self.base.name]
        shown = [self._shown(value[0]) if len(value) == 1 else value for value in found]
        rows = tuple(Row((x.name, coord, value), "x") for x, value in zip((self.first, self.other), shown, strict=True))
        note = f"at {coord} {self.first.name} gives {shown[0]}, {self.other.name} gives {shown[1]}"
        return Counterexample(binding, note, ("map", "coord", "address"), rows)

    def _shown(self, position: int) -> int | str:
        """A position as a byte address; where either side counts in bits, with the bit."""
        byte, bit = divmod(position, self.units_a_byte)
        return byte if self.units_a_byte == 1 else f"{byte}.{bit}"


def _accesses(first: Access, other: Access, align_bytes: int) -> Always:
    bases = _bases(first, other)
    places = common_origins(*bases, align_bytes)
    one, two = first.moved(places[0]), other.moved(places[1])
    (a, active_a), (b, active_b) = _lowered(one), _lowered(two)
    same = ints.truth(ints.equal(a, b))
    either = binary(BinaryOperator.OR, negation(active_a), same)
    holds = conjunction([compare(Cmp.EQ, active_a, active_b), either])
    nodes = [node for node in first.variables if node.name != first.origin.name]
    nodes += [node for node in other.variables if node.name != other.origin.name and node not in nodes]
    base = places[0].variable
    if base is not None:
        nodes.append(base)
    span = max(address_span(first.tile), address_span(other.tile))
    enough = () if base is None else ((base.name, base_values(places[0], span)),)

    def definition(arrays: Arrays) -> tuple[Truths, Truths]:
        (on_a, at_a), (on_b, at_b) = _plain(one, arrays), _plain(two, arrays)
        return np.asarray(True), (on_a == on_b) & (~on_a | (at_a == at_b))

    return Always(Domain(tuple(nodes), enough=enough), holds, definition)


def _lowered(access: Access) -> tuple[Integer, Expr]:
    lowered = access.lowered
    # A case that an access's assumption excludes is one that it does not run in.
    runs = conjunction([lowered.assumption, lowered.active])
    return ints.multiply(lowered.position, ints.integer(access.unit_bits)), runs


def _plain(access: Access, arrays: Arrays) -> tuple[Truths, Numbers]:
    assumed, active, position, _ = access.definition(arrays)
    return assumed & active, position * access.unit_bits


def _same_loops(first: Access, other: Access) -> tuple[Access, Access]:
    """Unbounded loops of both end where the first of them overflows."""
    if first.loop_limits == other.loop_limits or [x.name for x in first.loops] != [x.name for x in other.loops]:
        return first, other
    limits = [min(pair) for pair in zip(first.loop_limits, other.loop_limits, strict=True)]
    loops = tuple(replace(x, stop=x.start + x.step * n) for x, n in zip(first.loops, limits, strict=True))
    return replace(first, loops=loops), replace(other, loops=loops)


def _lanes_differ(first: Access, other: Access, point: Mapping[str, int]) -> Counterexample | None:
    places = common_origins(*_bases(first, other))
    a, b = first.moved(places[0]), other.moved(places[1])
    # With the bit where either side has elements that are no whole bytes.
    in_bits = min(a.unit_bits, b.unit_bits) < 8
    rows: list[Row] = []
    note = ""
    nothing = tuple(LaneRecord(lane, None, None, None) for lane in range(LANES))
    sides = [x.lanes_at(point) if x.assumed_at(point) else nothing for x in (a, b)]
    for one, two in zip(*sides, strict=True):
        differ = (one.address_bytes, one.bit) != (two.address_bytes, two.bit)
        shown = [_shown_address(record, in_bits=in_bits) for record in (one, two)]
        if differ and not note:
            note = f"lane {one.lane}: {first.name} gives {shown[0]}, {other.name} gives {shown[1]}"
        rows.append(Row((one.lane, *shown), "x" if differ else ""))
    if not note:
        return None
    return Counterexample(
        a.binding({k: v for k, v in point.items() if k != "lane"}), note, ("lane", first.name, other.name), tuple(rows)
    )


def _shown_address(record: LaneRecord, *, in_bits: bool) -> int | str | None:
    if record.address_bytes is None or not in_bits:
        return record.address_bytes
    return f"{record.address_bytes}.{record.bit}"
