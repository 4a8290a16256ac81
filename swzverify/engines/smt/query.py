"""One question to Z3, whose answer and budget do not depend on earlier questions.

Ids of terms steer Z3's heuristics, and a context gives out ids for as long as it lives. Only in a
fresh context do the same model and the same cost result every time. But a context costs Z3 more than
most questions do (two hash tables of 8 MiB to fill), and so does a solver. Therefore a question goes
to a shared solver first. Only a quick `unsat` counts from there, because it has no model that could
differ. Every other question is asked again in a context of its own, with the whole budget.

Source: Z3 4.13 to 5, python API; QF_BV for bit-vectors, QF_LIA for digit differences.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable
from time import monotonic

import z3

from swzverify.engines.obligations import BY_CLOCK, Answer, Finding
from swzverify.engines.smt.terms import Bits, Model, Translated, Translator, Truth
from swzverify.ir.evaluate import MAX_ARRAY_WIDTH
from swzverify.ir.expr import Expr, Var, postorder

NAME = "z3"
QUICK_RLIMIT = 400_000
"""What the plain solver may spend before the logic's own tactic takes over."""
AT_ONCE = 4
"""A shared solver may spend a part of that: of 1,678 questions about specs that it answers, 10 need more."""
SHARED_RLIMIT = 10 * QUICK_RLIMIT
"""The least budget with which a shared context is asked: so much more than the quick one that what
costs a little more in the one context than in the other is not answered here and given up there.
"""
MAX_SHARED_QUERIES = 64
"""Questions that a shared context is asked before another takes its place."""
TIMEOUT_MS = 3_600_000
"""Wall clock of one check, a safety net only. The resource limit decides, which is some tens of
seconds of work, so that a busy machine gives the same verdicts as an idle one.
"""
_INTERRUPTED = "interrupted from keyboard"


class OutOfBudgetError(Exception):
    """A query ended in `unknown`."""


class OutOfClockError(Exception):
    """A query was ended by the wall clock: nobody may take another path because of it."""


class _Place:
    """A context where many questions are asked, with a solver for each logic."""

    def __init__(self) -> None:
        self.context = z3.Context()
        self.translated = Translated(self.context)
        self.queries_left = MAX_SHARED_QUERIES
        self._solvers: dict[str, z3.Solver] = {}

    def solver(self, logic: str) -> z3.Solver:
        """The solver of a logic; told of it, it sets up no theories of others."""
        if logic not in self._solvers:
            solver = self._solvers[logic] = _within(z3.SimpleSolver(ctx=self.context), QUICK_RLIMIT // AT_ONCE)
            solver.set("smt.logic", logic)
        return self._solvers[logic]


class _Shared(threading.local):
    """The place that a thread's questions share: Z3's contexts may not be used by two at a time."""

    place: _Place | None = None


_shared = _Shared()


def _shared_place() -> _Place:
    if _shared.place is None or not _shared.place.queries_left:
        _shared.place = _Place()
    _shared.place.queries_left -= 1
    return _shared.place


class Query:
    """One question to Z3, in an SMT-LIB logic."""

    def __init__(self, logic: str = "QF_BV") -> None:
        self._place = _shared_place()
        self.terms = Translator(self._place.translated)
        self._logic = logic
        self._conditions: list[Truth] = []

    def require(self, *conditions: Truth) -> None:
        """Add conditions to the question."""
        self._conditions.extend(conditions)

    def solve(self, rlimit: int) -> Model | None:
        """A model, or None if there is none.

        Z3's plain solver answers most questions in a fraction of the time that the logic's own tactic takes
        to start. The tactic gets the rest of the budget for the others.

        Raises:
            OutOfBudgetError: Z3 used up its budget.
            OutOfClockError: The wall clock ended the query.
            KeyboardInterrupt: Ctrl-C was pressed, which Z3 swallows.
        """
        conditions = [*self._conditions, *self.terms.bounds.values()]
        if rlimit >= SHARED_RLIMIT and self._unsat_at_once(conditions):
            return None
        context = z3.Context()
        model = self._alone(context, [condition.translate(context) for condition in conditions], rlimit)
        return None if model is None else model.translate(self.terms.context)

    def _alone(self, context: z3.Context, conditions: list[Truth], rlimit: int) -> Model | None:
        quick = min(QUICK_RLIMIT, rlimit)
        try:
            return self._check(_within(z3.SimpleSolver(ctx=context), quick), conditions)
        except OutOfBudgetError:
            if rlimit <= quick:
                raise
        return self._check(_within(z3.SolverFor(self._logic, ctx=context), rlimit - quick), conditions)

    def _unsat_at_once(self, conditions: list[Truth]) -> bool:
        """Whether the shared solver finds `unsat` quickly; it forgets the question then.

        If it does not finish a question, that solver is not used again.
        """
        solver = self._place.solver(self._logic)
        solver.push()
        try:
            unsat = self._check(solver, conditions) is None
        except BaseException as error:
            _shared.place = None
            if isinstance(error, OutOfBudgetError):
                return False
            raise
        solver.pop()
        return unsat

    def _check(self, solver: z3.Solver, conditions: list[Truth]) -> Model | None:
        for condition in conditions:  # `add` would ask Z3 for the sort of each
            z3.Z3_solver_assert(solver.ctx.ref(), solver.solver, condition.ast)
        started = monotonic()
        answer = solver.check()
        if answer == z3.sat:
            return solver.model()
        if answer == z3.unsat:
            return None
        reason = solver.reason_unknown()
        if _INTERRUPTED in reason:
            raise KeyboardInterrupt
        # Z3 has the same words for both limits in some solvers.
        if 1000 * (monotonic() - started) >= TIMEOUT_MS:
            raise OutOfClockError(BY_CLOCK.format(TIMEOUT_MS // 1000))
        raise OutOfBudgetError(reason)


def _within(solver: z3.Solver, rlimit: int) -> z3.Solver:
    """The solver, with what each of its checks may spend."""
    solver.set(rlimit=rlimit, timeout=TIMEOUT_MS)
    return solver


def copied(terms: Translator, nodes: Iterable[Var], suffix: str) -> dict[Var, Bits]:
    """A second set of some variables, with the same limits."""
    return {node: terms.variable(node, node.name + suffix) for node in nodes}


def overlap(terms: Translator, a: Bits, length_a: int, b: Bits, length_b: int) -> tuple[Truth, ...]:
    """Ranges of the given lengths from a and from b share a unit."""
    if length_a == length_b == 1:
        width = max(a.size(), b.size())
        return (terms.widen(a, width) == terms.widen(b, width),)
    width = 1 + max(a.size(), b.size(), length_a.bit_length(), length_b.bit_length())
    a, b = terms.widen(a, width), terms.widen(b, width)
    return z3.ULT(a, b + terms.fixed(length_b, width)), z3.ULT(b, a + terms.fixed(length_a, width))


def joined_bits(parts: list[Bits]) -> Bits:
    """One number of several, the first highest."""
    return z3.Concat(*parts) if len(parts) > 1 else parts[0]


def value(model: Model, terms: Translator, name: str, node: Var) -> int:
    """A variable's value in a model; 0 where no formula mentions it."""
    term = z3.BitVec(name, node.width, terms.context)
    return model.eval(term, model_completion=True).as_long()


def finding(model: Model | None, nodes: Iterable[Var]) -> Finding:
    """Holds without a model, else fails at its values; a variable that no formula mentions is 0."""
    if model is None:
        return Finding(NAME, Answer.HOLDS)
    values = {declaration.name(): model[declaration].as_long() for declaration in model.decls()}
    return Finding(NAME, Answer.FAILS, {node.name: values.get(node.name, 0) for node in nodes})


def evaluable(*roots: Expr) -> bool:
    """Whether numpy's 64 bits hold every value."""
    return all(node.width < MAX_ARRAY_WIDTH for node in postorder(*roots))
