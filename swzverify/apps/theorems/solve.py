"""One obligation as queries to Z3: is it satisfiable, does it hold, and where does it first fail?

The answers give a theorem's verdict. Counterexamples are replayed in plain Python integers.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import z3

from swzverify.apps.theorems.terms import Symbols, Truth
from swzverify.apps.theorems.theorem import Obligation, Outcome, Sequent, Theorem
from swzverify.engines.obligations import BY_CLOCK

TIMEOUT_MS = 3_600_000
"""Wall clock of one check, a safety net; the budget is the rlimit, the same on every machine."""


@dataclass(frozen=True, slots=True)
class Settled:
    """The outcome of an obligation; `point` refutes it, `reason` says why it is not decided."""

    obligation: str
    outcome: Outcome
    time_ms: float
    point: tuple[tuple[str, int], ...] = ()
    reason: str = ""


class _OutOfBudgetError(Exception):
    """Z3 gave up, or the wall clock ended it; the message is the reason."""


def settle(obligation: Obligation, *, smallest: bool = True) -> Settled:
    """Decide an obligation.

    Its hypotheses must be satisfiable, else it is vacuous and never proved. Each query is encoded anew
    in a context of its own: neither verdicts nor budgets depend on earlier queries. `smallest` asks for
    the first failing point instead of any, which takes many more queries.
    """
    start = time.perf_counter()
    outcome, point, reason = _judge(obligation, smallest)
    return Settled(obligation.name, outcome, (time.perf_counter() - start) * 1000, point, reason)


def _judge(obligation: Obligation, smallest: bool) -> tuple[Outcome, tuple[tuple[str, int], ...], str]:
    try:
        if _solve(obligation, lambda _, sequent: [*sequent.hypotheses]) is None:
            return Outcome.VACUOUS, (), "no point satisfies the hypotheses"
        found = _solve(obligation, _failing)
        if found is None:
            return Outcome.PROVED, (), ""
        point = _first_point(obligation, found) if smallest else found
        return Outcome.REFUTED, tuple(point.items()), ""
    except _OutOfBudgetError as error:
        return Outcome.UNKNOWN, (), str(error)


def _failing(_: Symbols, sequent: Sequent) -> list[Truth]:
    return [*sequent.hypotheses, ~sequent.conclusion]


def _first_point(obligation: Obligation, found: dict[str, int]) -> dict[str, int]:
    """The failing point that is smallest in its first variable, then in its second, and so on.

    It is the same point whatever model Z3 happens to find first, in every version of Z3.
    """
    fixed: dict[str, int] = {}
    for name in tuple(found):
        low, high = 0, found[name]
        middle = 0  # most often it is 0: ask for that first
        while low < high:
            smaller = _solve(obligation, _failing, fixed, (name, middle))
            if smaller is None:
                low = middle + 1
            else:
                found, high = smaller, smaller[name]
            middle = (low + high) // 2
        fixed[name] = low
    return found


def _solve(
    obligation: Obligation,
    conditions: Callable[[Symbols, Sequent], list[Truth]],
    fixed: Mapping[str, int] | None = None,
    at_most: tuple[str, int] | None = None,
) -> dict[str, int] | None:
    """A point within the variables' bounds that satisfies the conditions, or None if there is none.

    Some variables can be fixed, and one can be bounded.

    Raises:
        KeyboardInterrupt: Ctrl-C was pressed, which Z3 swallows.
        _OutOfBudgetError: Z3 gave up.
    """
    symbols = Symbols()
    wanted = conditions(symbols, obligation.encode(symbols))
    wanted += symbols.bounds
    wanted += [symbols.variables[name] == value for name, value in (fixed or {}).items()]
    if at_most is not None:
        wanted.append(symbols.variables[at_most[0]] <= at_most[1])
    solver = z3.SolverFor(symbols.logic, ctx=symbols.context)
    solver.set("rlimit", obligation.rlimit)
    solver.set("timeout", TIMEOUT_MS)
    solver.add(*[condition.term for condition in wanted])
    started = time.perf_counter()
    answer = solver.check()
    if answer == z3.sat:
        return _values(symbols, solver.model())
    if answer == z3.unsat:
        return None
    reason = solver.reason_unknown()
    if "interrupted" in reason:
        raise KeyboardInterrupt
    if 1000 * (time.perf_counter() - started) >= TIMEOUT_MS:
        reason = BY_CLOCK.format(TIMEOUT_MS // 1000)
    raise _OutOfBudgetError(reason)


def _values(symbols: Symbols, model: z3.ModelRef) -> dict[str, int]:
    return {name: model.eval(word.term, model_completion=True).as_long() for name, word in symbols.variables.items()}


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
