"""`disjoint`: two tiles or operands, or the stages of one, share no bit."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import ClassVar

import numpy as np

from swzverify.claims.claim import Claim
from swzverify.claims.common_base import related
from swzverify.claims.form import Count, Form, Role
from swzverify.claims.goal import Goal, Plan
from swzverify.claims.operands_apart import OperandsApart
from swzverify.claims.places import Places, element_places, numbers
from swzverify.claims.tile_points import TilePoints, address_span, base_values
from swzverify.claims.verdict import Counterexample, Row
from swzverify.engines.obligations import Apart, Arrays, Numbers, Side
from swzverify.errors import SwzError
from swzverify.hardware.targets import Evidence
from swzverify.ir import integers as ints
from swzverify.ir.expr import TRUE, Comparison, compare, negation
from swzverify.subjects import Operand, Tile
from swzverify.subjects.memory import base_text

P, Q = "p.", "q."


@dataclass(frozen=True, slots=True)
class Disjoint(Claim):
    """No element of one tile meets one of the other; of one tile: of another stage.

    Of operands it is about the bytes that the tensor core reads.
    """

    kind: ClassVar[str] = "disjoint"
    form = Form(
        title="No shared bits.",
        says="two tiles, or the stages of one, share no bit; or what two operands read, or one in its stages",
        roles=(Role.TILE, Role.OPERAND),
        count=Count.ONE_OR_TWO,
        examples=("A", ["A", "B"], {"tiles": ["A", "B"]}),
    )
    first: Tile | Operand
    second: Tile | Operand | None = None

    def __post_init__(self) -> None:
        """Refuse a tile beside an operand.

        Raises:
            SwzError: SWZ105, also for operands whose bases nothing relates.
        """
        self.check_subjects()
        if len({type(subject) for subject in self.subjects}) > 1:
            names = " and ".join(subject.name for subject in self.subjects)
            raise SwzError("SWZ105", f"disjoint: {names} are a tile and an operand", hint="name two of one kind")
        _ = self._operands

    @property
    def subjects(self) -> tuple[Tile | Operand, ...]:
        """The two that are kept apart, or the one with its stages."""
        return (self.first,) if self.second is None else (self.first, self.second)

    @property
    def other(self) -> Tile | Operand:
        """The second subject, or the first one again."""
        return self.first if self.second is None else self.second

    @property
    def _operands(self) -> OperandsApart | None:
        """The claim on operands; None on tiles."""
        if isinstance(self.first, Operand) and isinstance(self.other, Operand):
            return OperandsApart(self.first, self.other if self.second is not None else None)
        return None

    @property
    def tiles(self) -> tuple[Tile, Tile]:
        """The two tiles, which may be one.

        Raises:
            SwzError: SWZ105 for a claim on operands.
        """
        if isinstance(self.first, Tile) and isinstance(self.other, Tile):
            return self.first, self.other
        raise SwzError("SWZ105", f"disjoint: {self.first.name} is an operand")

    def meeting(self) -> list[int]:
        """The bytes that two operands, or the stages of one, both read at the first base."""
        apart = self._operands
        return [] if apart is None else apart.meeting()

    def _sides(self) -> tuple[TilePoints, TilePoints]:
        tiles = self.tiles
        places = [tile.origin for tile in tiles]
        if not self.shares_base:
            places = [place.renamed(prefix + place.name) for place, prefix in zip(places, (P, Q), strict=True)]
        return TilePoints.of(tiles[0], P, places[0]), TilePoints.of(tiles[1], Q, places[1])

    def plan(self) -> Plan:
        """One obligation over pairs of elements."""
        apart = self._operands
        if apart is not None:
            return apart.plan()
        if self.second is None and self.tiles[0].stages == 1:
            return Plan(empty=f"tile {self.first.name} has one stage: there is nothing to keep apart")
        a, b = self._sides()
        scale = max(x.tile.units_per_byte for x in (a, b))
        shared = () if a.base is None or a.base is not b.base else (a.base,)
        condition, tags = TRUE, ()
        if self.second is None and a.stage is not None and b.stage is not None:
            condition, tags = negation(compare(Comparison.EQ, a.stage, b.stage)), ((a.stage.name, b.stage.name),)
        goal = Apart(shared, self._enough(a, b), _side(a, scale, shared), _side(b, scale, shared), condition, tags)
        return Plan((Goal(goal),))

    def _enough(self, a: TilePoints, b: TilePoints) -> tuple[tuple[str, int], ...]:
        """A shared base counts modulo the wider swizzle; independent bases count in full."""
        if a.base is None or a.base is not b.base:
            return ()
        return ((a.base.name, base_values(a.place, max(address_span(a.tile), address_span(b.tile)))),)

    def scope(self) -> str:
        """The scope in words: every pair of elements."""
        apart = self._operands
        if apart is not None:
            return apart.scope()
        first = self.tiles[0]
        if self.second is None:
            stages = f"every two of {first.stages} stages, {first.pitch_bytes} bytes apart"
            return f"{stages}, {base_text(first.base)}"
        places = "; ".join(f"{tile.name}: {base_text(tile.base)}" for tile in self.tiles)
        return f"every pair of elements and stages; {places}"

    def evidence(self) -> str:
        """How the rule of operands is known; tiles need none."""
        known = [subject.instruction.evidence for subject in self.subjects if isinstance(subject, Operand)]
        return max(known, key=lambda each: each is not Evidence.MEASURED).value if known else ""

    def broken(self, *sides: Places) -> list[int]:
        """The elements of the first side that share a bit with one of the second."""
        first, second = sides
        return numbers(first.touched_by(second) > 0)

    def arranged(self, *sides: Places) -> Iterator[tuple[Places, ...]]:
        """Two tiles as they are, and every two stages of one."""
        yield from combinations(sides[0].rows, 2) if self.second is None else [sides]

    @property
    def shares_base(self) -> bool:
        """Whether the tiles are known relative to each other."""
        return self.second is None or self._operands is not None or related(*(tile.base for tile in self.tiles))

    def replay(self, goal: Goal, point: Mapping[str, int]) -> Counterexample | None:
        """The two elements that meet."""
        apart = self._operands
        if apart is not None:
            return apart.replay(goal, point)
        a, b = self._sides()
        scale = max(x.tile.units_per_byte for x in (a, b))
        rows: list[Row] = []
        begins: list[int] = []
        sides: list[Places] = []
        for points in (a, b):
            tile, coord, stage = points.tile, points.coordinate_at(point), points.stage_at(point)
            position = int(tile.position(coord, stage=stage, base=points.base_at(point)))
            sides.append(element_places(tile, (coord,), stage, points.base_at(point)))
            begins.append(position * (scale // tile.units_per_byte))
            rows.append(Row((tile.name, coord, stage, points.address_text(position)), "x"))
        if self.second is None and a.stage_at(point) == b.stage_at(point):
            return None
        if not self.broken(*sides):
            return None
        binding = {f"base of {x.tile.name}": x.base_at(point) for x in (a, b)}
        note = f"both touch address {max(begins) // scale}"
        if not self.shares_base:
            note += "; their bases are unrelated: place both in one memory to relate them"
        return Counterexample(binding, note, ("tile", "coord", "stage", "address"), tuple(rows))


def _side(points: TilePoints, scale: int, shared: tuple[object, ...]) -> Side:
    tile = points.tile
    wide = scale // tile.units_per_byte
    position = ints.multiply(points.position_of_digits(), ints.integer(wide))
    own = tuple(node for node in (*points.placement, *points.digits) if node not in shared)

    def definition(arrays: Arrays) -> Numbers:
        return np.asarray(points.positions(arrays)) * wide

    return Side(own, position.bits, tile.element_units * wide, definition)
