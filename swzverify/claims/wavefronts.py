"""`wavefronts`: a warp instruction takes at most so many wavefronts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from swzverify.claims.about import About
from swzverify.claims.access_points import access_scope
from swzverify.claims.conflict_free import cost_plan, cost_replay
from swzverify.claims.goal import Goal, Plan
from swzverify.claims.verdict import Counterexample
from swzverify.errors import SwzError
from swzverify.hardware import evidence
from swzverify.subjects import Access


@dataclass(frozen=True, slots=True)
class Wavefronts(About):
    """No warp instruction takes more than `at_most` wavefronts."""

    kind: ClassVar[str] = "wavefronts"
    subject_types = (Access,)
    access: Access
    at_most: int

    def __post_init__(self) -> None:
        """Refuse a bound that nothing can keep."""
        self.check_subjects()
        if self.at_most < 1:
            raise SwzError("SWZ105", f"wavefronts at_most {self.at_most}: an access takes at least 1")

    @property
    def subjects(self) -> tuple[Access]:
        """The access."""
        return (self.access,)

    def plan(self) -> Plan:
        """Alignment, which the rule presumes, and the cost."""
        return cost_plan(self.access, self.at_most)

    def scope(self) -> str:
        """Every warp instruction."""
        return f"at most {self.at_most}: {access_scope(self.access, hardware=True)}"

    def evidence(self) -> str:
        """How the cost rule is known for the instruction and target."""
        return str(evidence(self.access.target, self.access.instruction))

    def replay(self, goal: Goal, point: Mapping[str, int]) -> Counterexample | None:
        """The lanes that collide."""
        return cost_replay(self.access, self.at_most, goal, point)
