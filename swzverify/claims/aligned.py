"""`aligned`: every lane's address is a multiple of the instruction's width, an operand's start of 16."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

import numpy as np

from swzverify.claims.access_points import access_domain, access_scope, exists_active, lane_table, source_domain
from swzverify.claims.claim import Claim
from swzverify.claims.form import OF_AN_ACCESS, Form, Role
from swzverify.claims.goal import Fact, Goal, Plan
from swzverify.claims.operand_points import OperandPoints, misaligned_start, operand_plan
from swzverify.claims.places import Places, lane_places, numbers
from swzverify.claims.stated import multiple
from swzverify.claims.verdict import Counterexample
from swzverify.engines.obligations import Always, Arrays, Truths
from swzverify.ir.expr import BinaryOperator, binary, negation
from swzverify.subjects import Access, Operand
from swzverify.subjects.descriptor import CHUNK_BYTES
from swzverify.subjects.plain_access import sources


@dataclass(frozen=True, slots=True)
class Aligned(Claim):
    """No lane of an access, and no start of an operand, is misaligned.

    A misaligned lane faults, and a descriptor cannot hold a misaligned start.
    """

    kind: ClassVar[str] = "aligned"
    form = Form(
        title="Every address is a multiple of the width.",
        says="every address of this access is a multiple of the instruction's width, or every start address of this "
        "operand one of 16",
        roles=(Role.ACCESS, Role.OPERAND),
        examples=OF_AN_ACCESS,
    )
    access: Access | Operand

    def __post_init__(self) -> None:
        """Refuse an operand whose bases nothing relates."""
        self.check_subjects()
        if isinstance(self.access, Operand):
            _ = OperandPoints(self.access).places

    def plan(self) -> Plan:
        """One obligation over every lane, or every start."""
        if isinstance(self.access, Operand):
            points = OperandPoints(self.access)
            return operand_plan(self.access, lambda: start_goal(points))
        goals = aligned_goals(self.access)
        facts = () if goals else (Fact(holds=True, note="every address is a multiple of 1", decides=True),)
        return Plan(goals, facts, exists=exists_active(self.access))

    def scope(self) -> str:
        """Every lane or start, at every base."""
        if isinstance(self.access, Operand):
            return OperandPoints(self.access).scope()
        return access_scope(self.access, hardware=False)

    def broken(self, *sides: Places) -> list[int]:
        """The lanes, or the start, that are misaligned."""
        return numbers(sides[0].misaligned)

    def sides_at(self, point: Mapping[str, int]) -> tuple[Places, ...]:
        """The start of an operand in one iteration."""
        return (OperandPoints(self.access).start_places(point),) if isinstance(self.access, Operand) else ()

    def replay(self, goal: Goal, point: Mapping[str, int]) -> Counterexample | None:
        """Evaluate a point in plain integers, and give the misaligned lanes or start."""
        del goal  # there is one only
        if isinstance(self.access, Operand):
            return misaligned_start(OperandPoints(self.access), point)
        return misaligned(self.access, point)

    def doubt(self, goal: Goal, point: Mapping[str, int]) -> str:
        """Why the start address of a failing point may never occur, in words."""
        if not isinstance(self.access, Operand):
            return ""
        return OperandPoints(self.access).doubt(point, lambda at: self.replay(goal, at))


def start_goal(points: OperandPoints) -> Always:
    """The start address is a multiple of 16."""

    def definition(arrays: Arrays) -> tuple[Truths, Truths]:
        return np.asarray(True), ~Places(
            points.operand.starts(arrays, points.bases_at(arrays)[0]), CHUNK_BYTES
        ).misaligned

    return Always(points.start_domain, multiple(points.start(), CHUNK_BYTES), definition)


def aligned_goals(access: Access, what: str = "") -> tuple[Goal, ...]:
    """The obligations that no lane, and no source of a copy, is misaligned.

    There is none for lanes whose width is one unit.
    """
    own = () if access.width_units == 1 else (Goal(aligned_goal(access), what),)
    return own if access.source is None else (*own, Goal(source_goal(access), "source"))


@lru_cache(maxsize=512)
def aligned_goal(access: Access) -> Always:
    """The position is a multiple of the width, in whatever units positions count."""
    aligned = multiple(access.lowered.position, access.width_units)
    holds = binary(BinaryOperator.OR, negation(access.lowered.active), aligned)

    def definition(arrays: Arrays) -> tuple[Truths, Truths]:
        assumed, active, position, _ = access.definition(arrays)
        return assumed & active, ~Places(position, access.width_units).misaligned

    return Always(access_domain(access, access.instruction.width_bytes), holds, definition)


@lru_cache(maxsize=512)
def source_goal(access: Access) -> Always:
    """What a copy reads begins at a multiple of its width."""
    width, source = access.instruction.width_bytes, access.lowered.source
    assert source is not None  # noqa: S101 - who asks has looked
    holds = binary(BinaryOperator.OR, negation(access.lowered.active), multiple(source, width))

    def definition(arrays: Arrays) -> tuple[Truths, Truths]:
        assumed, active, *_ = access.definition(arrays)
        return assumed & active, ~Places(sources(access, arrays), width).misaligned

    return Always(source_domain(access, width), holds, definition)


def misaligned(access: Access, point: Mapping[str, int]) -> Counterexample | None:
    """The lanes whose address, or what they read, is no multiple of the width; None when there is none."""
    if not access.assumed_at(point):
        return None
    width, records = access.instruction.width_bytes, access.lanes_at(point)
    marks = dict.fromkeys(numbers(lane_places(access, records).misaligned), "!")
    if not marks:
        return None
    record = records[min(marks)]
    what, where = "address", f"{record.address_bytes}" + ("" if record.in_whole_bytes else " plus some bits")
    if record.in_whole_bytes and (record.address_bytes or 0) % width == 0:
        what, where = "source", f"{record.source_bytes}"
    note = f"lane {record.lane}'s {what} {where} is no multiple of {width}: {access.instruction.name} faults"
    return lane_table(access, point, note, marks)
