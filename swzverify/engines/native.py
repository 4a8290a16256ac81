"""What the engines of ours have in common: each kind of obligation goes to its rule, or is not theirs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

from swzverify.engines.obligations import (
    Always,
    Answer,
    Apart,
    CopyCost,
    Cost,
    Covers,
    Finding,
    GatherCost,
    Injective,
    Obligation,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """What an engine does with each kind of obligation; None of those that are not its own."""

    always: Callable[[Always], Finding] | None = None
    injective: Callable[[Injective], Finding] | None = None
    apart: Callable[[Apart], Finding] | None = None
    cost: Callable[[Cost], Finding] | None = None
    gather_cost: Callable[[GatherCost], Finding] | None = None
    copy_cost: Callable[[CopyCost], Finding] | None = None
    covers: Callable[[Covers], Finding] | None = None

    def decide(self, obligation: Obligation) -> Finding | None:
        """What the rule of the obligation's kind finds; None without a rule."""
        rule: Callable[[Any], Finding] | None = getattr(self, _RULES[type(obligation)])
        return rule and rule(obligation)


_RULES: dict[type[Obligation], str] = {
    Always: "always",
    Injective: "injective",
    Apart: "apart",
    Cost: "cost",
    GatherCost: "gather_cost",
    CopyCost: "copy_cost",
    Covers: "covers",
}


class Native:
    """An engine of ours, by its name in reports and its rules.

    Most engines read the formula of an obligation, and not its plain definition: then an equal formula of another
    claim is no new question.
    """

    reads_formula: ClassVar[bool] = True
    name: ClassVar[str]
    rules: ClassVar[Rules]

    def decide(self, obligation: Obligation) -> Finding:
        """The engine's answer; `NOT_APPLICABLE` for a form that it does not know."""
        return self.rules.decide(obligation) or Finding(self.name, Answer.NOT_APPLICABLE)
