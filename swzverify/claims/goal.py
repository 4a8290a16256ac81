"""What a claim asks of the engines, and how it answers for a failing point."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Protocol

from swzverify.claims.about import Subject
from swzverify.claims.verdict import Counterexample
from swzverify.ir.expr import TRUE, Expr
from swzverify.obligations import Cost, Obligation


@dataclass(frozen=True, slots=True)
class Goal:
    """One obligation of a claim; `what` names it when it is not the whole claim."""

    obligation: Obligation
    what: str = ""


@dataclass(frozen=True, slots=True)
class Fact:
    """Something that plain arithmetic decides, such as a count.

    `note` says what is wrong when it does not hold, or, where it `decides` in place of a goal, why it holds.
    """

    holds: bool
    note: str
    decides: bool = False


@dataclass(frozen=True, slots=True)
class Plan:
    """Everything that decides a claim: facts, goals, and what must be possible for the claim to say anything.

    `exists` is a one-bit expression that some point must satisfy; `empty` says in words why nothing is claimed at all.
    `measured` is a cost that is wanted for the report, where no goal asks for it.
    """

    goals: tuple[Goal, ...] = ()
    facts: tuple[Fact, ...] = ()
    exists: Expr = TRUE
    empty: str = ""
    measured: Cost | None = None


class ClaimLike(Protocol):
    """What the prover needs of a claim."""

    kind: ClassVar[str]

    @property
    def subjects(self) -> tuple[Subject, ...]:
        """What the claim is about."""
        ...

    @property
    def subject(self) -> str:
        """The names of what the claim is about."""
        ...

    def plan(self) -> Plan:
        """The obligations, facts and non-emptiness conditions."""
        ...

    def scope(self) -> str:
        """What a proof covers, in words."""
        ...

    def evidence(self) -> str:
        """How well the hardware fact that the claim leans on is known; empty without one."""
        ...

    def replay(self, goal: Goal, point: Mapping[str, int]) -> Counterexample | None:
        """The failing point in plain integers; None when it does not fail there after all."""
        ...
