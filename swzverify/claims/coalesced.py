"""`coalesced`: a bound of the sectors of global memory that a warp instruction touches."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from typing import ClassVar

from swzverify.claims.access_points import access_scope, aligned_addresses, lane_table
from swzverify.claims.aligned import misaligned
from swzverify.claims.claim import Claim
from swzverify.claims.cost_claim import cost_plan
from swzverify.claims.form import Direction, Form, Named, Number, NumberChange, Role
from swzverify.claims.goal import Goal, Plan
from swzverify.claims.places import Places, numbers
from swzverify.claims.verdict import Counterexample, SectorMeasure
from swzverify.engines.obligations import Always
from swzverify.errors import SwzError
from swzverify.hardware import SectorCost, Space, evidence, sector_cost
from swzverify.ir.whole import keep_whole
from swzverify.subjects import Access
from swzverify.subjects.loop import LANE


@dataclass(frozen=True, slots=True)
class Coalesced(Claim):
    """No warp instruction touches more than `at_most` sectors.

    Without a number, it touches no more than its active lanes need at least.

    >>> from swzverify.hardware import find_any_instruction, find_target
    >>> from swzverify.ir.c_parse import parse
    >>> from swzverify.prover import prove
    >>> from swzverify.subjects import AlignedBase
    >>> load, chip = find_any_instruction("ld.global.f32"), find_target("sm_90")
    >>> bases = (AlignedBase(4), AlignedBase(32))
    >>> rows = [Access("a", load, chip, (32,), address=parse("lane*4"), base=base) for base in bases]
    >>> [prove(Coalesced(row)).outcome.value for row in rows], prove(Coalesced(rows[0], 5)).outcome.value
    (['refuted', 'proved'], 'proved')
    """

    kind: ClassVar[str] = "coalesced"
    space = Space.GLOBAL
    form = Form(
        title="A bound of the sectors of global memory.",
        says="a warp instruction of this access touches no more sectors of 32 bytes than its lanes need, or so many",
        roles=(Role.ACCESS,),
        examples=("store_C", {"access": "store_C", "at_most": 4}),
        keys=(
            Named(Role.ACCESS, "the name of an access to global memory", "store_C"),
            Number(
                "at_most",
                "sectors that no warp instruction exceeds; default: the bytes of its active lanes / 32, rounded up",
                (4, 8),
                optional=True,
            ),
        ),
        keys_title="At most so many sectors per warp instruction.",
        name_alone=True,
    )
    access: Access
    at_most: int | None = None

    def __post_init__(self) -> None:
        """Refuse a bound that nothing can keep, and an access to shared memory."""
        self.check_subjects()
        keep_whole(self, "coalesced", optional=("at_most",))
        if self.at_most is not None and self.at_most < 1:
            raise SwzError("SWZ105", f"coalesced at_most {self.at_most}: an access touches at least 1 sector")

    @property
    def numbers(self) -> dict[str, int]:
        """The bound, where one is stated."""
        return {} if self.at_most is None else {"at_most": self.at_most}

    def number_changes(self, after: Claim) -> Iterator[NumberChange]:
        """A smaller bound says more; a bound and the least number of sectors cannot be compared."""
        if not isinstance(after, Coalesced) or self.at_most == after.at_most:
            return
        old, new = ("the least" if each.at_most is None else f"{each.at_most}" for each in (self, after))
        way = Direction.WEAKER
        if self.at_most is not None and after.at_most is not None and after.at_most < self.at_most:
            way = Direction.STRONGER
        yield NumberChange("at_most", old, new, way)

    def plan(self) -> Plan:
        """Alignment, which the count presumes, and the count."""
        return cost_plan(self.access, self.at_most)

    def scope(self) -> str:
        """The scope in words: every warp instruction."""
        bound = "as few sectors as the lanes need" if self.at_most is None else f"at most {self.at_most} sectors"
        return f"{bound}: {access_scope(self.access, hardware=True)}"

    def evidence(self) -> str:
        """How well it is known that the hardware moves these sectors."""
        return str(evidence(self.access.target, self.access.instruction))

    def broken(self, *sides: Places) -> list[int]:
        """The misaligned lanes; without any, the active ones of warp instructions with too many sectors."""
        (lanes,) = sides
        bad = numbers(lanes.misaligned)
        for row, each in enumerate([] if bad else lanes.rows):
            found = sector_cost(self.access.instruction, each.addresses)
            if self.exceeded(found):
                bad += [row * each.first.size + lane for lane in sorted({*chain(*found.lanes_of.values())})]
        return bad

    def replay(self, goal: Goal, point: Mapping[str, int]) -> Counterexample | None:
        """Evaluate a point in plain integers, and give the sector of each lane."""
        if isinstance(goal.obligation, Always):
            return misaligned(self.access, point)
        if not self.access.assumed_at(point):
            return None
        found = _cost_at(self.access, point)
        if found is None or not self.exceeded(found):
            return None
        claimed = f"its lanes need {found.minimum}" if self.at_most is None else f"at most {self.at_most} are claimed"
        note = f"{self.access.instruction.name} touches {found.sectors} sectors of 32 bytes where {claimed}"
        marks = {lane: f"{at}" for at, lanes in enumerate(found.lanes_of.values(), start=1) for lane in lanes}
        return lane_table(self.access, point, note, marks)

    def measured(self, point: Mapping[str, int]) -> SectorMeasure | None:
        """The count at a point as reports show it; None where no lane is active or one is misaligned."""
        found = _cost_at(self.access, point)
        if found is None:
            return None
        free = {name: value for name, value in point.items() if name != LANE}
        return SectorMeasure(found.sectors, found.minimum, self.access.binding(free), free)

    def exceeded(self, measure: SectorMeasure | SectorCost) -> bool:
        """Whether a warp instruction breaks the claim."""
        return measure.sectors > (measure.minimum if self.at_most is None else self.at_most)


def _cost_at(access: Access, point: Mapping[str, int]) -> SectorCost | None:
    """The sectors at one point, byte by byte; None where no lane is active or one is misaligned."""
    addresses = aligned_addresses(access, point)
    return None if addresses is None else sector_cost(access.instruction, addresses)
