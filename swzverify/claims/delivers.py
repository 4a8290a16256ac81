"""`delivers`: the tensor core gets the elements that it should multiply."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from swzverify.claims.access_points import exists_active
from swzverify.claims.claim import Claim
from swzverify.claims.form import Form, Role
from swzverify.claims.fragment_points import FragmentPoints
from swzverify.claims.goal import Goal, Plan
from swzverify.claims.operand_points import OperandPoints, misaligned_start, operand_plan
from swzverify.claims.places import Places, elsewhere
from swzverify.claims.stated import equal, multiple
from swzverify.claims.tile_contents import TileContents
from swzverify.claims.verdict import Counterexample, Row
from swzverify.engines.obligations import Always, Arrays, Truths
from swzverify.hardware.targets import Evidence
from swzverify.ir.expr import conjunction
from swzverify.subjects import Access, Operand
from swzverify.subjects.descriptor import CHUNK_BYTES
from swzverify.subjects.operand import MN, K

SHOWN = 16
"""Rows of a counterexample's table: of elements side by side it shows the first of each 16 bytes."""


@dataclass(frozen=True)
class Delivers(Claim):
    """Each element of an operand, or of a fragment, is the tile's element that is meant."""

    kind: ClassVar[str] = "delivers"
    form = Form(
        title="The tensor core reads the elements that it should.",
        says="each element that the tensor core reads for this operand, or that this access loads into a fragment, is "
        "the tile's element that is meant",
        roles=(Role.OPERAND, Role.ACCESS),
        examples=("A", {"operand": "A"}, {"access": "load_A"}),
    )
    operand: Operand | Access

    def __post_init__(self) -> None:
        """Refuse bases that nothing relates, addresses beyond a descriptor's, and accesses without a fragment."""
        self.check_subjects()
        if isinstance(self.operand, Access):
            _ = FragmentPoints(self.operand).fragment
        else:
            _ = OperandPoints(self.operand).places

    @cached_property
    def _points(self) -> OperandPoints | FragmentPoints:
        return FragmentPoints(self.operand) if isinstance(self.operand, Access) else OperandPoints(self.operand)

    def plan(self) -> Plan:
        """One obligation over every element, in every iteration, at every base."""
        points = self._points
        if isinstance(points, FragmentPoints):
            return Plan((Goal(points.goal()),), exists=exists_active(points.access))
        return operand_plan(points.operand, lambda: _operand_goal(points))

    def evidence(self) -> str:
        """How the rule of the instruction is known; that of fragments is in the manual."""
        if isinstance(self.operand, Access):
            return Evidence.DOCUMENTED.value
        return self.operand.instruction.evidence.value

    def scope(self) -> str:
        """Every element, in every iteration, at every base."""
        return self._points.scope()

    def broken(self, *sides: Places) -> list[int]:
        """The elements that are read from elsewhere; all where the start is no multiple of 16.

        Args:
            sides: Where the elements are read, and where the tile has them.
        """
        return elsewhere(sides[0], sides[1])

    def sides_at(self, point: Mapping[str, int]) -> tuple[Places, ...]:
        """Where each element is read in one iteration, and where the tile has it."""
        points = self._points
        if isinstance(points, FragmentPoints):
            return points.sides_at(point)
        return points.read_places(point), points.wanted_places(point)

    def replay(self, goal: Goal, point: Mapping[str, int]) -> Counterexample | None:
        """The elements that are read from elsewhere, in the iteration of a failing point."""
        del goal  # there is one only
        points = self._points
        return points.replay(point) if isinstance(points, FragmentPoints) else _replay(points, point)


def _operand_goal(points: OperandPoints) -> Always:
    operand = points.operand
    holds = conjunction([multiple(points.start(), CHUNK_BYTES), equal(*points.sides())])

    def definition(arrays: Arrays) -> tuple[Truths, Truths]:
        own, of_tile = points.bases_at(arrays)
        aligned = operand.starts(arrays, own) % CHUNK_BYTES == 0
        same = operand.reads(arrays, own) == operand.wanted(arrays, of_tile)
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
        Row((divmod(at, columns), _element(operand, at, point), wanted[at], read[at], here.at(read[at])), "x")
        for at in shown[:SHOWN]
    ]
    note = (
        f"element {divmod(first, columns)} lies at {wanted[first]} and is read at {read[first]}, "
        f"where {here.at(read[first])} lies; {len(broken)} of {operand.rows * columns} elements are wrong"
    )
    return Counterexample(binding, note, ("(r, k)", "coord", "expected", "read", "there lies"), tuple(rows))


def _element(operand: Operand, at: int, point: Mapping[str, int]) -> tuple[int, ...]:
    """The tile's coordinate that an element of the operand should be."""
    row, column = divmod(at, operand.columns)
    where = {name: np.asarray([value]) for name, value in {**point, MN: row, K: column}.items()}
    return tuple(int(value.ravel()[0]) for value in operand.coordinates(where))
