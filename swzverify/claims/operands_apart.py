"""The bytes that operands read, side by side: what `disjoint` asks of operands."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from swzverify.claims.aligned import start_goal
from swzverify.claims.common_base import origin_text, related
from swzverify.claims.goal import Goal, Plan
from swzverify.claims.operand_points import OperandPoints, misaligned_start
from swzverify.claims.tile_points import base_values
from swzverify.claims.verdict import Counterexample, Row
from swzverify.engines.obligations import Apart, Arrays, Numbers, Side
from swzverify.errors import SwzError
from swzverify.ir import integers as ints
from swzverify.ir.expr import TRUE, Comparison, Expr, Var, compare, negation, substitute, var
from swzverify.subjects import Operand
from swzverify.subjects.descriptor import CHUNK_BYTES
from swzverify.subjects.memory import Origin
from swzverify.subjects.operand import MN, K

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
