"""One question to Z3: a fresh context and a resource limit each, so that verdicts do not drift.

Source: Z3 4.13 to 5, python API; QF_BV for bit-vectors, QF_LIA for digit differences.
"""

# z3py ships no types: what comes out of it is Unknown to a type checker, here and nowhere else.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportUnknownParameterType=false, reportMissingTypeStubs=false, reportUnknownLambdaType=false

from __future__ import annotations

from collections.abc import Iterable

import z3

from swzverify.engines.obligation import Answer, Finding
from swzverify.engines.smt.terms import Bits, Model, Translator, Truth
from swzverify.ir.evaluate import MAX_ARRAY_WIDTH
from swzverify.ir.expr import Expr, Var, postorder

NAME = "z3"
QUICK_RLIMIT = 400_000
"""What the plain solver may spend before the logic's own tactic takes over."""
TIMEOUT_MS = 120_000
"""The safety net only; the resource limit is what decides."""
_INTERRUPTED = "interrupted from keyboard"


class OutOfBudgetError(Exception):
    """A query ended in `unknown`."""


class Query:
    """One question to Z3 in a context of its own."""

    def __init__(self, logic: str = "QF_BV") -> None:
        self.terms = Translator(z3.Context())
        self._logic = logic
        self._conditions: list[Truth] = []

    def require(self, *conditions: Truth) -> None:
        """Add conditions."""
        self._conditions.extend(conditions)

    def solve(self, rlimit: int) -> Model | None:
        """A model, or None when there is none. Raises when Z3 gives up, and on Ctrl-C, which Z3 swallows.

        Z3's plain solver answers most questions in a fraction of the time that the logic's own tactic takes to get
        going; the tactic gets the rest of the budget for the others.
        """
        context = self.terms.context
        quick = min(QUICK_RLIMIT, rlimit)
        try:
            return self._check(z3.SimpleSolver(ctx=context), quick)
        except OutOfBudgetError:
            if rlimit <= quick:
                raise
        return self._check(z3.SolverFor(self._logic, ctx=context), rlimit - quick)

    def _check(self, solver: z3.Solver, rlimit: int) -> Model | None:
        solver.set("rlimit", rlimit)
        solver.set("timeout", TIMEOUT_MS)
        solver.add(*self._conditions, *self.terms.bounds.values())
        answer = solver.check()
        if answer == z3.sat:
            return solver.model()
        if answer == z3.unsat:
            return None
        reason = solver.reason_unknown()
        if _INTERRUPTED in reason:
            raise KeyboardInterrupt
        raise OutOfBudgetError(reason)


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
