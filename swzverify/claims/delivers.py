"""`delivers`: the tensor core gets the elements that it should multiply."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar

import numpy as np

from swzverify.claims.access_points import exists_active
from swzverify.claims.claim import Claim
from swzverify.claims.form import Count, Form, Role
from swzverify.claims.fragment_points import FragmentPoints
from swzverify.claims.goal import Fact, Goal, Plan
from swzverify.claims.operand_points import OperandPoints, misaligned_start, operand_plan
from swzverify.claims.places import Places, elsewhere
from swzverify.claims.shared_k import Points, SharedK
from swzverify.claims.stated import equal, multiple
from swzverify.claims.tile_contents import TileContents
from swzverify.claims.verdict import Counterexample, Row
from swzverify.engines.obligations import Always, Arrays, Truths
from swzverify.hardware.targets import Evidence
from swzverify.ir.expr import conjunction
from swzverify.subjects import Access, Operand
from swzverify.subjects.descriptor import CHUNK_BYTES
from swzverify.subjects.operand import MN, K

_SIDES = ("first", "second")
"""The names of the goals on two operands."""
_MAY_NOT_OCCUR = "and whether the code ever starts at each of its start addresses is not known"
SHOWN = 16
"""Rows of a counterexample's table: of elements side by side it shows the first of each 16 bytes."""


@dataclass(frozen=True)
class Delivers(Claim):
    """Each element of an operand, or of a fragment, is the tile's element that is meant.

    Of an operand A and an operand B the elements along K may come in another order, which both share.
    """

    kind: ClassVar[str] = "delivers"
    form = Form(
        title="The tensor core reads the elements that it should.",
        says="each element that the tensor core reads for this operand, or that this access loads into a fragment, is "
        "the tile's element that is meant; of an operand A and an operand B, up to an order of K that both share",
        roles=(Role.OPERAND, Role.ACCESS),
        count=Count.ONE_OR_TWO,
        examples=("A", {"operand": "A"}, {"access": "load_A"}, ["A", "B"]),
    )
    operand: Operand | Access
    second: Operand | Access | None = None

    def __post_init__(self) -> None:
        """Refuse bases that nothing relates, addresses beyond a descriptor's, and accesses without a fragment.

        Raises:
            SwzError: Those, and of two operands what has no order of K.
        """
        self.check_subjects()
        for subject in self.subjects:
            points = _points(subject)
            _ = (points.fragment, points.tile_origin) if isinstance(points, FragmentPoints) else points.places
        _ = self.parts

    @property
    def subjects(self) -> tuple[Operand | Access, ...]:
        """The operand, or the operand A and the operand B."""
        return (self.operand,) if self.second is None else (self.operand, self.second)

    @cached_property
    def _shared(self) -> SharedK | None:
        """The two operands with their order of K; None of one operand."""
        return None if self.second is None else SharedK(_points(self.operand), _points(self.second))

    @cached_property
    def parts(self) -> tuple[Points, ...]:
        """Each operand, in the order of K that is judged."""
        shared = self._shared
        if shared is None:
            return (_points(self.operand),)
        return (shared.first, shared.second) if shared.is_empty else shared.sides

    def plan(self) -> Plan:
        """An obligation over every element of each operand, in every iteration, at every base."""
        if self._shared is not None and self._shared.is_empty:
            return Plan(empty=f"one of {self.operand.name} and {self.subjects[1].name} is never read")
        plans = [_plan(points) for points in self.parts]
        if self._shared is None:
            return plans[0]
        goals = tuple(
            Goal(goal.obligation, name) for name, plan in zip(_SIDES, plans, strict=True) for goal in plan.goals
        )
        why = "the order in which the elements along K come is not one to one on those that are read"
        if not self._shared.is_one_to_one and self._compares_stages:
            return Plan(unknown=f"{why}, {_MAY_NOT_OCCUR}")
        facts = () if self._shared.is_one_to_one else (Fact(holds=False, note=why),)
        return Plan(goals, facts, exists=conjunction([plan.exists for plan in plans]))

    def evidence(self) -> str:
        """How the rule of the instruction is known; that of fragments is in the manual."""
        known = {
            Evidence.DOCUMENTED if isinstance(subject, Access) else subject.instruction.evidence
            for subject in self.subjects
        }
        return (Evidence.DOCUMENTED if Evidence.DOCUMENTED in known else Evidence.MEASURED).value

    def scope(self) -> str:
        """Every element, in every iteration, at every base; an order of K other than the stated one."""
        order = "" if self._shared is None or self._shared.is_empty else self._shared.described()
        return "; ".join([*(points.scope() for points in self.parts), *([order] if order else [])])

    def broken(self, *sides: Places) -> list[int]:
        """The elements that are read from elsewhere; all where the start is no multiple of 16.

        Args:
            sides: Where the elements are read, and where the tile has them; of two operands twice that.

        Returns:
            Their numbers, of each operand by itself.
        """
        return [at for read, wanted in zip(sides[::2], sides[1::2], strict=True) for at in elsewhere(read, wanted)]

    def sides_of(self, number: int, point: Mapping[str, int]) -> tuple[Places, ...]:
        """Where each element of the first (0) or second operand is read in one iteration, and where the tile has it."""
        points = self.parts[number]
        if isinstance(points, FragmentPoints):
            return points.sides_at(point)
        return points.read_places(point), points.wanted_places(point)

    def sides_at(self, point: Mapping[str, int]) -> tuple[Places, ...]:
        """Where each element of the first operand is read in one iteration, and where the tile has it."""
        return self.sides_of(0, point)

    def replay(self, goal: Goal, point: Mapping[str, int]) -> Counterexample | None:
        """The elements that are read from elsewhere, in the iteration of a failing point."""
        number = 0 if self.second is None else _SIDES.index(goal.what)
        points = self.parts[number]
        found = points.replay(point) if isinstance(points, FragmentPoints) else _replay(points, point)
        if found is None or self.second is None:
            return found
        order = f" in the order of K that {self.operand.name} has" if points.order is not None else ""
        return replace(found, note=f"{self.subjects[number].name}{order}: {found.note}")

    @property
    def _compares_stages(self) -> bool:
        """Whether two operands are compared, one of them at start addresses that may never occur."""
        stages = [subject.stages_of_code for subject in self.subjects if isinstance(subject, Operand)]
        return self.second is not None and any(each is not None for each in stages)

    def doubt(self, goal: Goal, point: Mapping[str, int]) -> str:
        """Why the start address of a failing point of an operand may never occur, in words."""
        points = self.parts[0]
        if self._compares_stages:
            found = self.replay(goal, point)
            return f"{'' if found is None else found.note}, {_MAY_NOT_OCCUR}"
        if self.second is not None or isinstance(points, FragmentPoints):
            return ""
        return points.doubt(point, lambda at: self.replay(goal, at))


def _points(subject: Operand | Access) -> Points:
    return FragmentPoints(subject) if isinstance(subject, Access) else OperandPoints(subject)


def _plan(points: Points) -> Plan:
    if isinstance(points, FragmentPoints):
        return Plan((Goal(points.goal()),), exists=exists_active(points.access))
    return operand_plan(points.operand, lambda: _operand_goal(points))


def _operand_goal(points: OperandPoints) -> Always:
    operand = points.operand
    holds = conjunction([multiple(points.start(), CHUNK_BYTES), equal(*points.sides())])

    def definition(arrays: Arrays) -> tuple[Truths, Truths]:
        own, of_tile = points.bases_at(arrays)
        aligned = operand.starts(arrays, own) % CHUNK_BYTES == 0
        same = operand.reads(arrays, own) == points.wanted(arrays, of_tile)
        return np.asarray(True), aligned & same

    return Always(points.domain, holds, definition)


def _replay(points: OperandPoints, point: Mapping[str, int]) -> Counterexample | None:
    operand = points.operand
    binding = points.binding(point)
    crooked = misaligned_start(points, point)
    if crooked is not None:
        return crooked
    sides = points.read_places(point), points.wanted_places(point)
    broken = elsewhere(*sides)
    if not broken:
        return None
    read, wanted = ((each.first // 8).ravel().tolist() for each in sides)
    first, columns = broken[0], operand.columns
    here = TileContents.of(operand.tile, points.places[1].at(point))
    shown = [at for at in broken if wanted[at] % CHUNK_BYTES == 0] or broken
    rows = [
        Row((divmod(at, columns), _element(points, at, point), wanted[at], read[at], here.at(read[at])), "x")
        for at in shown[:SHOWN]
    ]
    note = (
        f"element {divmod(first, columns)} lies at {wanted[first]} and is read at {read[first]}, "
        f"where {here.at(read[first])} lies; {len(broken)} of {operand.rows * columns} elements are wrong"
    )
    return Counterexample(binding, note, ("(r, k)", "coord", "expected", "read", "there lies"), tuple(rows))


def _element(points: OperandPoints, at: int, point: Mapping[str, int]) -> tuple[int, ...]:
    """The tile's coordinate that an element of the operand should be."""
    row, column = divmod(at, points.operand.columns)
    where = {name: np.asarray([value]) for name, value in {**point, MN: row, K: column}.items()}
    return tuple(int(value.ravel()[0]) for value in points.coordinates(where))
