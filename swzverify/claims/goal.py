"""What a claim asks of the engines."""

from __future__ import annotations

from dataclasses import dataclass

from swzverify.engines.obligations import AnyCost, Obligation
from swzverify.ir.expr import TRUE, Expr


@dataclass(frozen=True, slots=True)
class Goal:
    """One obligation of a claim; `what` names it when it is not the whole claim."""

    obligation: Obligation
    what: str = ""


@dataclass(frozen=True, slots=True)
class Fact:
    """Something that plain arithmetic decides, such as a count.

    `note` says what is wrong when it does not hold, or, where it `decides` in place of a goal, why
    it holds.
    """

    holds: bool
    note: str
    decides: bool = False


@dataclass(frozen=True, slots=True)
class Plan:
    """What decides a claim: facts, goals, and what must be possible for it to say anything.

    `exists` is a one-bit expression that some point must satisfy; `empty` says in words why nothing
    is claimed at all; `unknown` says why nobody can know. `measured` is a cost that is wanted for
    the report, where no goal asks for it.
    """

    goals: tuple[Goal, ...] = ()
    facts: tuple[Fact, ...] = ()
    exists: Expr = TRUE
    empty: str = ""
    unknown: str = ""
    measured: AnyCost | None = None
