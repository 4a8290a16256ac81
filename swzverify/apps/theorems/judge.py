"""A theorem's verdict from the answers to its obligations.

Counterexamples are replayed in plain Python integers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from swzverify.apps.theorems.solve import Settled, settle
from swzverify.apps.theorems.theorem import Outcome, Theorem


@dataclass(frozen=True, slots=True)
class Judgement:
    """The result of judging a theorem: the outcome, a reason if one is needed, and the answers.

    `counterexample` is the obligation that fails, with the point where it fails. All of it is plain data
    that can go through a pipe.
    """

    name: str
    outcome: Outcome
    answers: tuple[Settled, ...]
    reason: str = ""
    counterexample: Settled | None = None

    @property
    def time_ms(self) -> float:
        """Milliseconds spent on the obligations."""
        return sum(answer.time_ms for answer in self.answers)


def judge(theorem: Theorem) -> Judgement:
    """Settle every obligation and make a verdict; a fault in an encoding is an `error`, not a crash."""
    try:
        wrong = theorem.expected is Outcome.REFUTED  # a published mistake gets its smallest counterexample
        answers = tuple(settle(obligation, smallest=wrong) for obligation in theorem.obligations)
        return verdict(theorem, answers)
    except Exception as error:  # noqa: BLE001 - one broken proof must not hide the others' verdicts
        return Judgement(theorem.name, Outcome.ERROR, (), f"{type(error).__name__}: {error}")


def verdict(theorem: Theorem, answers: Sequence[Settled]) -> Judgement:
    """The outcome: refuted if an obligation fails, else vacuous or unknown if one is, else proved."""
    all_answers = tuple(answers)
    for outcome in (Outcome.REFUTED, Outcome.VACUOUS, Outcome.UNKNOWN):
        for answer in all_answers:
            if answer.outcome is not outcome:
                continue
            where = f"{answer.obligation}: {answer.reason}" if answer.reason else answer.obligation
            if outcome is not Outcome.REFUTED:
                return Judgement(theorem.name, outcome, all_answers, where)
            if theorem.refutes is not None and not theorem.refutes(dict(answer.point)):
                reason = f"{where}: the counterexample does not fail in plain integers"
                return Judgement(theorem.name, Outcome.ERROR, all_answers, reason, answer)
            return Judgement(theorem.name, outcome, all_answers, where, answer)
    return Judgement(theorem.name, Outcome.PROVED, all_answers)
