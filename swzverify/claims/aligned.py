"""`aligned`: every lane's address is a multiple of the instruction's width."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

from swzverify.claims.access_points import access_domain, access_scope, exists_active, lane_table, source_domain
from swzverify.claims.claim import Claim
from swzverify.claims.form import OF_AN_ACCESS, Form, Role
from swzverify.claims.goal import Fact, Goal, Plan
from swzverify.claims.places import Places, lane_places, numbers
from swzverify.claims.stated import multiple
from swzverify.claims.verdict import Counterexample
from swzverify.engines.obligations import Always, Arrays, Truths
from swzverify.ir.expr import BinaryOperator, binary, negation
from swzverify.subjects import Access
from swzverify.subjects.plain_access import sources


@dataclass(frozen=True, slots=True)
class Aligned(Claim):
    """No lane is misaligned: a misaligned one faults."""

    kind: ClassVar[str] = "aligned"
    form = Form(
        title="Every address is a multiple of the width.",
        says="every address of this access is a multiple of the instruction's width",
        roles=(Role.ACCESS,),
        examples=OF_AN_ACCESS,
    )
    access: Access

    def plan(self) -> Plan:
        """One obligation over every lane."""
        goals = aligned_goals(self.access)
        facts = () if goals else (Fact(holds=True, note="every address is a multiple of 1", decides=True),)
        return Plan(goals, facts, exists=exists_active(self.access))

    def scope(self) -> str:
        """Every lane, at every base."""
        return access_scope(self.access, hardware=False)

    def broken(self, *sides: Places) -> list[int]:
        """The lanes that are misaligned."""
        return numbers(sides[0].misaligned)

    def replay(self, goal: Goal, point: Mapping[str, int]) -> Counterexample | None:
        """Evaluate a point in plain integers, and give the misaligned lanes."""
        del goal  # there is one only
        return misaligned(self.access, point)


def aligned_goals(access: Access, what: str = "") -> tuple[Goal, ...]:
    """The obligations that no lane is misaligned, and that no source of a copy is; none where the width
    is one unit.
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
        return assumed & active, position % access.width_units == 0

    return Always(access_domain(access, access.instruction.width_bytes), holds, definition)


@lru_cache(maxsize=512)
def source_goal(access: Access) -> Always:
    """What a copy reads begins at a multiple of its width."""
    width, source = access.instruction.width_bytes, access.lowered.source
    assert source is not None  # noqa: S101 - who asks has looked
    holds = binary(BinaryOperator.OR, negation(access.lowered.active), multiple(source, width))

    def definition(arrays: Arrays) -> tuple[Truths, Truths]:
        assumed, active, *_ = access.definition(arrays)
        return assumed & active, sources(access, arrays) % width == 0

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
