"""`equivalent`: same addresses everywhere; if not, the least base alignment that makes them so.

Two tiles, two maps, or a tile and a map: the same address or value at every coordinate.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from swzverify.claims.access_points import access_scope, exists_active
from swzverify.claims.claim import Claim
from swzverify.claims.common_base import check_comparable, common_origins, open_alignment, origin_text, refuse_moved
from swzverify.claims.equal_lanes import equal_lanes, lanes_of, lanes_that_differ, over_common_loops
from swzverify.claims.form import Addressed, Count, Form, Role, role_of
from swzverify.claims.goal import Fact, Goal, Plan
from swzverify.claims.places import Places, element_places, lane_places, numbers
from swzverify.claims.stated import equal
from swzverify.claims.tile_points import TilePoints, address_span, base_values
from swzverify.claims.verdict import Counterexample, Row
from swzverify.engines.obligations import Always, Arrays, Numbers, Truths
from swzverify.errors import SwzError
from swzverify.ir import integers as ints
from swzverify.ir.domain import Domain
from swzverify.ir.expr import Var, conjunction, negation, substitute
from swzverify.ir.integers import Integer
from swzverify.subjects import Access, AlignedBase, Base, IndexMap, Tile
from swzverify.subjects.memory import Origin

_ANYWHERE = AlignedBase(1)
MAX_ALIGN_LOG2 = 20


@dataclass(frozen=True, slots=True)
class Equivalent(Claim):
    """The same address (or value) everywhere."""

    kind: ClassVar[str] = "equivalent"
    form = Form(
        title="The same addresses.",
        says="two tiles, accesses or maps give the same addresses",
        roles=(Role.TILE, Role.ACCESS, Role.MAP),
        count=Count.TWO,
        examples=(["A", "B"], {"accesses": ["read_A", "write_A"]}),
    )
    first: Addressed
    second: Addressed

    def __post_init__(self) -> None:
        """Refuse pairs that have nothing to compare."""
        self.check_subjects()
        refuse_moved(self.kind, self.first, self.second)
        kinds = {role_of(self.first), role_of(self.second)}
        if len(kinds) > 1 and kinds != {Role.TILE, Role.MAP}:
            raise SwzError(
                "SWZ105",
                f"equivalent: {self.first.name} and {self.second.name} are of different kinds",
                hint="compare two tiles, two accesses, two maps, or a tile and a map",
            )
        self._check_memories()
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

    def _check_memories(self) -> None:
        """Refuse an access to shared memory beside one to global memory.

        No address of one memory is an address of the other.

        Raises:
            SwzError: SWZ409.
        """
        spaces = [each.instruction.space for each in (self.first, self.second) if isinstance(each, Access)]
        if len(set(spaces)) > 1:
            raise SwzError(
                "SWZ409",
                f"equivalent: {self.first.name} goes to {spaces[0]}, {self.second.name} to {spaces[1]}",
                hint="compare index expressions as two `maps:`; addresses of two memories have nothing in common",
            )

    @property
    def placed(self) -> tuple[tuple[Addressed, Origin | None], ...]:
        """Both at their common base; maps that read none have none."""
        first, second = self.first, self.second
        if isinstance(first, IndexMap) and isinstance(second, IndexMap) and not (first.uses_base or second.uses_base):
            return ((first, None), (second, None))
        places = common_origins(*self.bases)
        return ((first, places[0]), (second, places[1]))

    def plan(self) -> Plan:
        """Facts about the shapes, and equality at every point."""
        return self.plan_for(1)

    def plan_for(self, align_bytes: int) -> Plan:
        """The same claim for bases that are multiples of `align_bytes` too."""
        mismatch = self._mismatch()
        if mismatch:
            return Plan(facts=(Fact(holds=False, note=mismatch),))
        places = common_origins(*self.bases, align_bytes)
        if isinstance(self.first, Access) and isinstance(self.second, Access):
            pair = over_common_loops(self.first, self.second)
            neither = conjunction([negation(exists_active(access)) for access in pair])
            return Plan((Goal(equal_lanes(*pair, places)),), exists=negation(neither))
        return Plan((Goal(self._places(places).goal()),))

    def _places(self, places: tuple[Origin, Origin]) -> EqualPlaces:
        if isinstance(self.first, Access) or isinstance(self.second, Access):
            raise TypeError("accesses are compared lane by lane")
        return EqualPlaces.of(self.first, self.second, places)

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
                loops = [{loop.name: loop.key for loop in x.loops} for x in (a, b)]
                if loops[0] != loops[1]:
                    return f"{a.name} and {b.name} have different loops"
                own = [{each.name: (each.start, each.step, each.count) for each in x.unknowns} for x in (a, b)]
                if own[0] != own[1]:
                    return f"{a.name} and {b.name} have different unknowns in their lanes"
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
        """The bases of the two sides."""
        a, b = _base_of(self.first), _base_of(self.second)
        return a or b or _ANYWHERE, b or a or _ANYWHERE

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
        if isinstance(self.first, Access) and isinstance(self.second, Access):
            first, second = self.first, self.second
            differs = list(second.describe_loops()) if second.describe_loops() != first.describe_loops() else []
            if second.instruction.name != first.instruction.name:
                differs.append(second.instruction.name)
            other = f", {second.name}: {', '.join(differs)}" if differs else ""
            return access_scope(first, hardware=False, base=False) + other + base
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

    def broken(self, *sides: Places) -> list[int]:
        """The elements, lanes or points that differ; a lane that only one side has differs, too."""
        if all(isinstance(each, IndexMap) for each in self.subjects):
            return numbers((sides[0].first != sides[1].first).any(axis=1))
        # Beside a tile, a map's values are byte addresses.
        first, second = (
            8 * places.first.ravel() if isinstance(each, IndexMap) else places.first
            for each, places in zip(self.subjects, sides, strict=True)
        )
        active, other = sides[0].active, sides[1].active
        return numbers((active != other) | (active & (first != second)))

    def replay(self, goal: Goal, point: Mapping[str, int]) -> Counterexample | None:
        """The coordinate or lane at which the two differ."""
        del goal  # there is one only
        places = common_origins(*self.bases)
        if isinstance(self.first, Access) and isinstance(self.second, Access):
            pair = self.first.moved(places[0]), self.second.moved(places[1])
            lanes = [lanes_of(each, point) for each in pair]
            broken = self.broken(*map(lane_places, pair, lanes))
            return lanes_that_differ(*pair, point, lanes, broken) if broken else None
        equal = self._places(places)
        return equal.differ(point) if self.broken(*equal.places_at(point)) else None


def _base_of(subject: Addressed) -> Base | None:
    if isinstance(subject, Access):
        return subject.tile.base if subject.tile is not None else subject.base
    return subject.base


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

    def places_at(self, point: Mapping[str, int]) -> list[Places]:
        """The places of both sides at one point."""
        coord = tuple(point[node.name] for node in self.coords)
        stage = 0 if self.stage is None else point[self.stage.name]
        found: list[Places] = []
        for subject, place in self.sides:
            if isinstance(subject, Tile):
                found.append(element_places(subject, (coord,), stage, place.at(point)))
                continue
            names = dict(zip((name for name, _ in subject.over), coord, strict=True))
            value = subject.at({**names, "base": place.at(point)} if subject.uses_base else names)
            found.append(Places(np.asarray([value])))
        return found

    def differ(self, point: Mapping[str, int]) -> Counterexample:
        """Both values at one point."""
        arrays = {name: np.asarray([value], dtype=np.int64) for name, value in point.items()}
        found = [tuple(int(value.ravel()[0]) for value in self._values(x, place, arrays)) for x, place in self.sides]
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
