"""`delivers`: the tensor core reads the elements that it should multiply."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import ClassVar

import numpy as np

from swzverify.claims.claim import Claim
from swzverify.claims.form import Form, Role
from swzverify.claims.goal import Goal, Plan
from swzverify.claims.operand_points import OperandPoints, misaligned_start, operand_plan
from swzverify.claims.places import Places, numbers
from swzverify.claims.stated import equal, multiple
from swzverify.claims.verdict import Counterexample, Row
from swzverify.engines.obligations import Always, Arrays, Truths
from swzverify.ir.expr import conjunction
from swzverify.subjects import Operand
from swzverify.subjects.descriptor import CHUNK_BYTES
from swzverify.subjects.operand import MN, K

SHOWN = 16
"""Rows of a counterexample's table: of elements side by side it shows the first of each 16 bytes."""
MAX_LOOKED_UP = 1 << 21
"""Elements of a tile, over all stages, among which the table looks for what lies at an address."""


@dataclass(frozen=True)
class Delivers(Claim):
    """Each element of an operand is read where the tile has it."""

    kind: ClassVar[str] = "delivers"
    form = Form(
        title="The tensor core reads the elements that it should.",
        says="each element that the tensor core reads for this operand is the tile's element that is meant",
        roles=(Role.OPERAND,),
        examples=("A", {"operand": "A"}),
    )
    operand: Operand

    def __post_init__(self) -> None:
        """Refuse bases that nothing relates, and what reaches beyond a descriptor's addresses."""
        self.check_subjects()
        _ = self._points.places

    @cached_property
    def _points(self) -> OperandPoints:
        return OperandPoints(self.operand)

    def plan(self) -> Plan:
        """One obligation over every element, in every iteration, at every base."""
        return operand_plan(self.operand, self._goal)

    def _goal(self) -> Always:
        points = self._points
        holds = conjunction([multiple(points.start(), CHUNK_BYTES), equal(*points.sides())])

        def definition(arrays: Arrays) -> tuple[Truths, Truths]:
            own, of_tile = points.bases_at(arrays)
            aligned = self.operand.starts(arrays, own) % CHUNK_BYTES == 0
            same = self.operand.reads(arrays, own) == self.operand.wanted(arrays, of_tile)
            return np.asarray(True), aligned & same

        return Always(points.domain, holds, definition)

    def evidence(self) -> str:
        """How the rule of the instruction is known."""
        return self.operand.instruction.evidence.value

    def scope(self) -> str:
        """Every element, in every iteration, at every base."""
        return self._points.scope()

    def broken(self, *sides: Places) -> list[int]:
        """The elements that are read from elsewhere; all where the start is no multiple of 16.

        Args:
            sides: Where the elements are read, and where the tile has them.
        """
        return numbers(~np.asarray(sides[0].inside) | (sides[0].first != sides[1].first))

    def sides_at(self, point: Mapping[str, int]) -> tuple[Places, ...]:
        """Where each element is read in one iteration, and where the tile has it."""
        return self._points.read_places(point), self._points.wanted_places(point)

    def replay(self, goal: Goal, point: Mapping[str, int]) -> Counterexample | None:
        """The elements that are read from elsewhere, in the iteration of a failing point."""
        del goal  # there is one only
        points, operand = self._points, self.operand
        binding = points.binding(point)
        crooked = misaligned_start(points, point)
        if crooked is not None:
            return crooked
        sides = self.sides_at(point)
        broken = self.broken(*sides)
        if not broken:
            return None
        read, wanted = ((each.first // 8).ravel().tolist() for each in sides)
        first, columns = broken[0], operand.columns
        here = _Contents.of(operand, points.places[1].at(point))
        shown = [at for at in broken if wanted[at] % CHUNK_BYTES == 0] or broken
        rows = [
            Row((divmod(at, columns), self._element(at, point), wanted[at], read[at], here.at(read[at])), "x")
            for at in shown[:SHOWN]
        ]
        note = (
            f"element {divmod(first, columns)} lies at {wanted[first]} and is read at {read[first]}, "
            f"where {here.at(read[first])} lies; {len(broken)} of {operand.rows * columns} elements are wrong"
        )
        return Counterexample(binding, note, ("(r, k)", "coord", "expected", "read", "there lies"), tuple(rows))

    def _element(self, at: int, point: Mapping[str, int]) -> tuple[int, ...]:
        """The tile's coordinate that an element of the operand should be."""
        row, column = divmod(at, self.operand.columns)
        where = {name: np.asarray([value]) for name, value in {**point, MN: row, K: column}.items()}
        return tuple(int(value.ravel()[0]) for value in self.operand.coordinates(where))


@dataclass(frozen=True, slots=True)
class _Contents:
    """What a tile has at which address, at one base."""

    name: str
    stages: int
    elements: Mapping[int, tuple[int, tuple[int, ...]]] | None
    element_bytes: int

    @staticmethod
    def of(operand: Operand, base: int) -> _Contents:
        tile = operand.tile
        found: dict[int, tuple[int, tuple[int, ...]]] | None = None
        if tile.size * tile.stages <= MAX_LOOKED_UP:
            coords = np.meshgrid(*(np.arange(n, dtype=np.int64) for n in tile.extents), indexing="ij")
            listed = list(product(*(range(n) for n in tile.extents)))
            found = {}
            for stage in reversed(range(tile.stages)):
                places = np.asarray(tile.position(coords, stage=stage, base=base)).ravel().tolist()
                found |= {place: (stage, coord) for place, coord in zip(places, listed, strict=True)}
        return _Contents(tile.name, tile.stages, found, operand.element_bytes)

    def at(self, address: int) -> str:
        """What lies at an address, in words."""
        if self.elements is None:
            return "something else"
        found = self.elements.get(address)
        inside = "" if found is not None else "a part of "
        found = found or next(
            (self.elements[near] for near in range(address - self.element_bytes + 1, address) if near in self.elements),
            None,
        )
        if found is None:
            return f"nothing of {self.name}"
        return f"{inside}{found[1]}" + (f" of stage {found[0]}" if self.stages > 1 else "")
