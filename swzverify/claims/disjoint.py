"""`disjoint`: two tiles or operands, or the stages of one, share no bit.

The bytes that operands read, side by side: what `disjoint` asks of operands.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import ClassVar

import numpy as np

from swzverify.claims.aligned import start_goal
from swzverify.claims.claim import Claim
from swzverify.claims.common_base import origin_text, related
from swzverify.claims.form import Count, Form, Role
from swzverify.claims.goal import Goal, Plan
from swzverify.claims.operand_points import OperandPoints, misaligned_start
from swzverify.claims.places import Places, element_places, numbers
from swzverify.claims.tile_points import TilePoints, address_span, base_values
from swzverify.claims.verdict import Counterexample, Row
from swzverify.engines.obligations import Apart, Arrays, Numbers, Side
from swzverify.errors import SwzError
from swzverify.hardware.targets import Evidence
from swzverify.ir import integers as ints
from swzverify.ir.expr import TRUE, Comparison, Expr, Var, compare, negation, substitute, var
from swzverify.subjects import Operand, Tile
from swzverify.subjects.descriptor import CHUNK_BYTES
from swzverify.subjects.memory import Origin, base_text
from swzverify.subjects.operand import MN, K

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

    def doubt(self, goal: Goal, point: Mapping[str, int]) -> str:
        """Why the start addresses of a failing point of operands may never occur, in words."""
        apart = self._operands
        return "" if apart is None else apart.doubt(goal, point)

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


PREFIXES = ("p.", "q.")


@dataclass(frozen=True)
class OperandsApart:
    """Two operands, or one with its stages, at their common bases.

    Raises:
        SwzError: SWZ105 for two operands whose bases nothing relates, and those of each operand by itself.
    """

    first: Operand
    second: Operand | None

    def __post_init__(self) -> None:
        """Refuse bases that nothing relates."""
        other = self.operands[1]
        _ = self.origins
        if not related(self.first.own_base, other.own_base) and self.second is not None:
            raise SwzError(
                "SWZ105",
                f"disjoint: nothing says how the starts of {self.first.name} and {other.name} lie to each other",
                hint="place both in one memory",
            )

    @property
    def operands(self) -> tuple[Operand, Operand]:
        """The two sides."""
        return self.first, self.first if self.second is None else self.second

    @cached_property
    def points(self) -> tuple[OperandPoints, OperandPoints]:
        """The same at their bases."""
        return OperandPoints(self.operands[0]), OperandPoints(self.operands[1])

    @cached_property
    def origins(self) -> tuple[Origin, Origin]:
        """The bases of both, with one variable."""
        first, other = (points.places[0] for points in self.points)
        count = min(first.count, other.count)
        return Origin(first.start_bytes, first.unit_bytes, count), Origin(other.start_bytes, other.unit_bytes, count)

    @cached_property
    def _stages(self) -> Numbers:
        """The stage of the first operand in each iteration."""
        operand = self.first
        every = operand.joint_values(frozenset(loop.name for loop in operand.loops))
        size = max((array.size for array in every.values()), default=1)
        stage = 0 if operand.stage is None else operand.stage.at_many(every)
        return np.broadcast_to(np.asarray(stage, dtype=np.int64), (size,))

    @cached_property
    def _loop_of_stages(self) -> str | None:
        """The loop that tells the stages of the one operand apart; None where no single loop does."""
        every = self.first.joint_values(frozenset(loop.name for loop in self.first.loops))
        count = len(np.unique(self._stages))
        for loop in self.first.loops:
            values = every[loop.name]
            pairs = np.unique(np.stack([values, self._stages]), axis=1).shape[1]
            if pairs == count == len(np.unique(values)) == loop.count:
                return loop.name
        return None

    def plan(self) -> Plan:
        """Every start is aligned, and no byte of one side is one of the other."""
        if any(not operand.iterations for operand in self.operands):
            return Plan(empty=f"the loops of one of {' and '.join(o.name for o in self.operands)} never run")
        condition, tags = TRUE, ()
        if self.second is None:
            if len(np.unique(self._stages)) == 1:
                return Plan(empty=f"operand {self.first.name} reads one stage: there is nothing to keep apart")
            loop = self._loop_of_stages
            if loop is None:
                return Plan(unknown=f"no loop of {self.first.name} alone says its stage '{self.first.stage}'")
            limit = next(node.limit for node in self.first.variables if node.name == loop)
            tags = ((PREFIXES[0] + loop, PREFIXES[1] + loop),)
            condition = negation(compare(Comparison.EQ, *(var(name, limit) for name in tags[0])))
        starts = dict(zip(PREFIXES, self.points[: 1 if self.second is None else 2], strict=False))
        goals = [Goal(start_goal(points), f"start {prefix}") for prefix, points in starts.items()]
        base = self.origins[0].variable
        span = max(CHUNK_BYTES, *(points.span_bytes for points in self.points))
        shared = () if base is None else (base,)
        enough = () if base is None else ((base.name, base_values(self.origins[0], span)),)
        sides = [self._side(number) for number in (0, 1)]
        return Plan((*goals, Goal(Apart(shared, enough, sides[0], sides[1], condition, tags))))

    def _side(self, number: int) -> Side:
        points, operand, prefix, origin = (
            self.points[number],
            self.operands[number],
            PREFIXES[number],
            self.origins[number],
        )
        lowered = points.lowered
        read = lowered.swizzled(ints.total([origin.address(), lowered.start, lowered.linear]))
        own = {node: var(prefix + node.name, node.limit) for node in operand.variables}
        renamed: dict[Var, Expr] = {**own}

        def definition(arrays: Arrays) -> Numbers:
            return np.asarray(self._reads(number, {node.name: arrays[own[node].name] for node in own}, arrays))

        return Side(tuple(own.values()), substitute(read.bits, renamed), operand.element_bytes, definition)

    def _reads(self, number: int, arrays: Arrays, shared: Arrays) -> Numbers:
        origin = self.origins[number]
        base = origin.start_bytes + origin.unit_bytes * shared.get(origin.name, np.zeros(1, dtype=np.int64))
        return self.operands[number].reads(arrays, base)

    def scope(self) -> str:
        """What is kept apart, in words."""
        where = " and ".join(dict.fromkeys(origin_text(each) for each in self.origins))
        if self.second is None:
            count = len(np.unique(self._stages))
            return f"what is read in every two of {count} stages, {self.first.described()}, {where}"
        return "every byte that either one reads, in every iteration; " + "; ".join(
            [*(operand.described() for operand in self.operands), where]
        )

    def replay(self, goal: Goal, point: Mapping[str, int]) -> Counterexample | None:
        """The two elements that meet, or the start that no descriptor holds."""
        for prefix, points in zip(PREFIXES, self.points, strict=True):
            if goal.what == f"start {prefix}":
                return misaligned_start(points, point)
        rows: list[Row] = []
        reads: list[int] = []
        binding: dict[str, int] = {}
        for number, (prefix, operand) in enumerate(zip(PREFIXES, self.operands, strict=True)):
            own = {node.name: point.get(prefix + node.name, 0) for node in operand.variables}
            arrays = {name: np.asarray([value], dtype=np.int64) for name, value in own.items()}
            shared = {name: np.asarray([value], dtype=np.int64) for name, value in point.items()}
            reads.append(int(np.asarray(self._reads(number, arrays, shared)).ravel()[0]))
            stage = int(np.asarray(operand.stages(arrays)).ravel()[0])
            rows.append(Row((operand.name, (own[MN], own[K]), stage, reads[-1]), "x"))
            mark = "'" if self.second is None and number else ""
            of = "" if self.second is None else f" of {operand.name}"
            binding |= {f"{name}{of}{mark}": value for name, value in operand.binding(own).items()}
        sizes = [operand.element_bytes for operand in self.operands]
        if not (reads[0] < reads[1] + sizes[1] and reads[1] < reads[0] + sizes[0]):
            return None
        if self.second is None and rows[0].cells[2] == rows[1].cells[2]:
            return None
        return Counterexample(
            binding, f"both read byte {max(reads)}", ("operand", "(r, k)", "stage", "read"), tuple(rows)
        )

    def doubt(self, goal: Goal, point: Mapping[str, int]) -> str:
        """Why the start addresses of a failing point may never occur, in words."""
        for prefix, points in zip(PREFIXES, self.points, strict=True):
            if goal.what == f"start {prefix}":
                return points.doubt(point, lambda at, points=points: misaligned_start(points, at))
        if all(operand.stages_of_code is None for operand in self.operands):
            return ""
        found = self.replay(goal, point)
        told = "both read a byte" if found is None else found.note
        return f"{told}, and whether the code ever starts at both of these start addresses is not known"

    def meeting(self) -> list[int]:
        """Bytes that both sides read, by the plain definition, at the first base; misaligned starts too."""
        found: list[dict[int, set[int]]] = []
        for number, points in enumerate(self.points):
            arrays, operand = points.every, self.operands[number]
            reads = np.asarray(self._reads(number, arrays, {}))
            stages = np.broadcast_to(operand.stages(arrays), reads.shape).ravel().tolist()
            bytes_: dict[int, set[int]] = {}
            for read, stage in zip(reads.ravel().tolist(), stages, strict=True):
                for byte in range(read, read + operand.element_bytes):
                    bytes_.setdefault(byte, set()).add(stage)
            found.append(bytes_)
        if self.second is None:
            return sorted(byte for byte, stages in found[0].items() if len(stages) > 1)
        return sorted(set(found[0]) & set(found[1]))
