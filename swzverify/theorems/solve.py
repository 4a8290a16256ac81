"""One obligation put to Z3: is it satisfiable at all, does it hold, and if not, where is the first point it fails?"""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportMissingTypeStubs=false

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeAlias

import z3

from swzverify.theorems.terms import Symbols, Term, Truth
from swzverify.theorems.theorem import Obligation, Outcome

TIMEOUT_MS = 120_000
"""A safety net; the budget is the rlimit, which is the same on every machine."""

_INTERRUPTED = "interrupted"


@dataclass(frozen=True, slots=True)
class Answer:
    """What came of an obligation; `point` is the first point that refutes it, `reason` why it is not decided."""

    obligation: str
    outcome: Outcome
    time_ms: float
    point: tuple[tuple[str, int], ...] = ()
    reason: str = ""


_Values: TypeAlias = "dict[str, int] | None"


class _OutOfBudgetError(Exception):
    """Z3 gave up; the message is its reason."""


def settle(obligation: Obligation) -> Answer:
    """Decide an obligation. Its hypotheses must be satisfiable, else it is vacuous and never proved.

    Each question has a solver, and each obligation a context, of its own: neither verdicts nor budgets depend on what was
    asked before.
    """
    start = time.perf_counter()
    outcome, point, reason = _judge(obligation)
    return Answer(obligation.name, outcome, (time.perf_counter() - start) * 1000, point, reason)


def _judge(obligation: Obligation) -> tuple[Outcome, tuple[tuple[str, int], ...], str]:
    symbols = Symbols()
    sequent = obligation.encode(symbols)
    hypotheses = [*symbols.bounds, *sequent.hypotheses]
    try:
        if _solve(symbols, hypotheses, obligation.rlimit) is None:
            return Outcome.VACUOUS, (), "no point satisfies the hypotheses"
        failing = [*hypotheses, ~sequent.conclusion]
        found = _solve(symbols, failing, obligation.rlimit)
        if found is None:
            return Outcome.PROVED, (), ""
        return Outcome.REFUTED, tuple(_first_point(symbols, failing, found, obligation.rlimit).items()), ""
    except _OutOfBudgetError as error:
        return Outcome.UNKNOWN, (), str(error)


def _first_point(symbols: Symbols, conditions: list[Truth], found: dict[str, int], rlimit: int) -> dict[str, int]:
    """The satisfying point that is smallest in its first variable, then in its second, and so on.

    It is the same point whatever model Z3 happens to find first, in every version of Z3.
    """
    fixed = list(conditions)
    for name, word in symbols.words.items():
        low, high = 0, found[name]
        while low < high:
            middle = (low + high) // 2
            smaller = _solve(symbols, [*fixed, word <= middle], rlimit)
            if smaller is None:
                low = middle + 1
            else:
                found, high = smaller, smaller[name]
        fixed.append(word == low)
    return found


def _solve(symbols: Symbols, conditions: Iterable[Truth], rlimit: int) -> _Values:
    """A satisfying point, or None when there is none. Raises when Z3 gives up, and on Ctrl-C, which Z3 swallows."""
    solver = z3.SolverFor("QF_BV", ctx=symbols.context)
    solver.set("rlimit", rlimit)
    solver.set("timeout", TIMEOUT_MS)
    solver.add(*[condition.term for condition in conditions])
    answer = solver.check()
    if answer == z3.sat:
        return _values(symbols, solver.model())
    if answer == z3.unsat:
        return None
    reason = solver.reason_unknown()
    if _INTERRUPTED in reason:
        raise KeyboardInterrupt
    raise _OutOfBudgetError(reason)


def _values(symbols: Symbols, model: Term) -> dict[str, int]:
    return {
        name: model.eval(word.term, model_completion=True).as_long() for name, word in symbols.words.items()
    }
