"""`aligned`: every lane's address is a multiple of the instruction's width."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

from swzverify.claims.access_points import access_domain, access_scope, exists_active, lane_table
from swzverify.claims.goal import Goal, Plan
from swzverify.claims.verdict import Counterexample
from swzverify.engines.obligation import Always, Arrays, Truths
from swzverify.ir import integers as ints
from swzverify.ir.expr import BinaryOperator, binary, negation
from swzverify.subjects import Access


@dataclass(frozen=True, slots=True)
class Aligned:
    """No lane is misaligned: a misaligned one faults."""

    kind: ClassVar[str] = "aligned"
    access: Access

    @property
    def subject(self) -> str:
        """The access's name."""
        return self.access.name

    def plan(self) -> Plan:
        """One obligation over every lane."""
        return Plan((Goal(aligned_goal(self.access)),), exists=exists_active(self.access))

    def scope(self) -> str:
        """Every lane, at every base."""
        return access_scope(self.access, hardware=False)

    def evidence(self) -> str:
        """No hardware fact but that of the instruction's width."""
        return ""

    def replay(self, goal: Goal, point: Mapping[str, int]) -> Counterexample | None:
        """The misaligned lanes."""
        del goal  # there is one only
        return misaligned(self.access, point)


@lru_cache(maxsize=512)
def aligned_goal(access: Access) -> Always:
    """The position is a multiple of the width, in whatever units positions count."""
    width = ints.integer(access.width_units)
    multiple = ints.truth(ints.equal(ints.remainder(access.lowered.position, width), ints.integer(0)))
    holds = binary(BinaryOperator.OR, negation(access.lowered.active), multiple)

    def definition(arrays: Arrays) -> tuple[Truths, Truths]:
        assumed, active, position, _ = access.definition(arrays)
        return assumed & active, position % access.width_units == 0

    return Always(access_domain(access, access.instruction.width_bytes), holds, definition)


def misaligned(access: Access, point: Mapping[str, int]) -> Counterexample | None:
    """The lanes whose address is no multiple of the width; None when there is none."""
    if not access.assumed_at(point):
        return None
    width = access.instruction.width_bytes
    marks = {
        record.lane: "!"
        for record in access.lanes_at(point)
        if record.address_bytes is not None and (record.address_bytes % width or not record.in_whole_bytes)
    }
    if not marks:
        return None
    record = access.lanes_at(point)[min(marks)]
    where = f"{record.address_bytes}" + ("" if record.in_whole_bytes else " plus some bits")
    note = f"lane {record.lane}'s address {where} is no multiple of {width}: {access.instruction.name} faults"
    return lane_table(access, point, note, marks)
