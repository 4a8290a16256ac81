"""`race_free`: no two accesses of a phase that nothing orders touch one byte."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

from swzverify.claims.claim import Claim
from swzverify.claims.common_base import check_bases_of_phase
from swzverify.claims.form import Form, Role
from swzverify.claims.goal import Fact, Goal, Plan
from swzverify.claims.phase_points import Pair
from swzverify.claims.phase_words import phase_scope, some_run
from swzverify.claims.places import Places, numbers
from swzverify.claims.verdict import Counterexample
from swzverify.subjects import Phase
from swzverify.subjects.phase_order import meetings


@dataclass(frozen=True)
class RaceFree(Claim):
    """Of two steps that can meet, one of them a write, no two threads touch one byte."""

    kind: ClassVar[str] = "race_free"
    form = Form(
        title="No two threads race for a byte.",
        says="no two accesses of this phase that nothing orders touch one byte, if one of them writes",
        roles=(Role.PHASE,),
        examples=("mainloop", {"phase": "mainloop"}),
    )
    phase: Phase

    def __post_init__(self) -> None:
        """Refuse accesses to arrays that nothing relates."""
        self.check_subjects()
        check_bases_of_phase(self.kind, self.phase)

    @cached_property
    def pairs(self) -> dict[str, Pair]:
        """Every two steps that can meet, by what goals call them."""
        return named_pairs(Pair(self.phase, each) for each in meetings(self.phase))

    def plan(self) -> Plan:
        """One obligation for every two steps that can meet."""
        goals = tuple(Goal(pair.obligation(), name) for name, pair in self.pairs.items())
        facts = () if goals else (Fact(True, "no two steps of which one writes can access one byte", decides=True),)
        hang = hang_of(self.phase)
        facts = (Fact(False, hang),) if hang else facts
        return Plan(goals, facts, exists=some_run(self.phase))

    def scope(self) -> str:
        """Every two steps, in all iterations."""
        return phase_scope(self.phase)

    def broken(self, *sides: Places) -> list[int]:
        """The accesses of the first side that share a byte with one of the second."""
        first, second = sides
        return numbers(first.touched_by(second) > 0)

    def replay(self, goal: Goal, point: Mapping[str, int]) -> Counterexample | None:
        """The two threads that meet."""
        pair = self.pairs.get(goal.what)
        return None if pair is None else pair.replay(point)

    def doubt(self, goal: Goal, point: Mapping[str, int]) -> str:
        """The order of roles may leave two steps open that never meet."""
        return self.pairs[goal.what].doubt(point)


def hang_of(phase: Phase) -> str:
    """A wait of a phase with roles that is found to hang, in words; empty if none is."""
    if not phase.roles:
        return ""
    from swzverify.subjects.role_run import find_hang  # noqa: PLC0415 - few phases have roles

    return find_hang(phase)


def named_pairs(pairs: Iterable[Pair]) -> dict[str, Pair]:
    """Pairs that are possible, by their words; of one name for each kind of threads."""
    return {pair.name: pair for pair in pairs if pair.is_possible}
