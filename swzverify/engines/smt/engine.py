"""The Z3 engine: the proof of record for every kind of obligation."""

# z3py ships no types: what comes out of it is Unknown to a type checker, here and nowhere else.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportUnknownParameterType=false, reportMissingTypeStubs=false, reportUnknownLambdaType=false

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import assert_never

import numpy as np
import z3

from swzverify.engines.smt.apart import apart
from swzverify.engines.smt.cost import cost
from swzverify.engines.smt.covers import covers
from swzverify.engines.smt.injective import injective
from swzverify.engines.smt.query import NAME, OutOfBudgetError, Query, evaluable, finding
from swzverify.hardware import LANES
from swzverify.ir.evaluate import evaluate_many
from swzverify.ir.expr import Expr, variables
from swzverify.obligations import Always, Answer, Apart, Cost, Covers, Finding, Injective, Obligation

DEFAULT_RLIMIT = 30_000_000
"""Z3's own deterministic measure of work; some tens of seconds."""


@dataclass(frozen=True, slots=True)
class SMT:
    """Decides every obligation, within `rlimit` units of work a query."""

    rlimit: int = DEFAULT_RLIMIT

    @property
    def name(self) -> str:
        """What reports call it."""
        return NAME

    def decide(self, obligation: Obligation) -> Finding:
        """Unsatisfiable: holds; satisfiable: fails at the model; no budget left: undecided."""
        try:
            match obligation:
                case Always():
                    return _always(obligation, self.rlimit)
                case Injective():
                    return injective(obligation, self.rlimit)
                case Apart():
                    return apart(obligation, self.rlimit)
                case Cost():
                    return cost(obligation, self.rlimit)
                case Covers():
                    return covers(obligation, self.rlimit)
                case _:
                    assert_never(obligation)
        except OutOfBudgetError as reason:
            return Finding(NAME, Answer.UNDECIDED, detail=f"Z3 gave up within rlimit {self.rlimit}: {reason}")

    def satisfiable(self, condition: Expr) -> bool | None:
        """Whether some point inside the variables' limits satisfies a one-bit expression; None without an answer."""
        if _seen_true(condition):
            return True
        try:
            return _satisfiable(condition, self.rlimit)
        except OutOfBudgetError:
            return None


def _always(goal: Always, rlimit: int) -> Finding:
    query = Query()
    query.require(query.terms.truth(goal.domain.assumption), z3.Not(query.terms.truth(goal.holds)))
    return finding(query.solve(rlimit), goal.domain.variables)


def _seen_true(condition: Expr) -> bool:
    """Whether a look at a few points, each variable by itself over its first values, shows one that satisfies."""
    nodes = variables(condition)
    if not evaluable(condition):
        return False
    for swept in nodes:
        point = {node.name: np.zeros(1, dtype=np.int64) for node in nodes}
        point[swept.name] = np.arange(min(swept.limit, LANES), dtype=np.int64)
        if evaluate_many((condition,), point)[0].any():
            return True
    return False


@lru_cache(maxsize=1024)
def _satisfiable(condition: Expr, rlimit: int) -> bool:
    query = Query()
    query.require(query.terms.truth(condition))
    return query.solve(rlimit) is not None
