"""The Z3 engine: the proof of record for every kind of obligation."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import assert_never

import numpy as np
import z3

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
from swzverify.engines.smt.apart import apart
from swzverify.engines.smt.cost import copy_cost, cost
from swzverify.engines.smt.covers import covers
from swzverify.engines.smt.gather import gather_cost
from swzverify.engines.smt.injective import injective
from swzverify.engines.smt.query import NAME, OutOfBudgetError, OutOfClockError, Query, evaluable, finding
from swzverify.hardware import LANES
from swzverify.ir.evaluate import evaluate_many
from swzverify.ir.expr import Expr, variables

DEFAULT_RLIMIT = 30_000_000
"""Z3's own deterministic measure of work; some tens of seconds."""


@dataclass(frozen=True, slots=True)
class SMT:
    """Decides every obligation, within `rlimit` units of work a query."""

    rlimit: int = DEFAULT_RLIMIT

    @property
    def name(self) -> str:
        """The name of the engine in reports."""
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
                case CopyCost():
                    return copy_cost(obligation, self.rlimit)
                case GatherCost():
                    return gather_cost(obligation, self.rlimit)
                case Covers():
                    return covers(obligation, self.rlimit)
                case _:
                    assert_never(obligation)
        except OutOfClockError as reason:
            return Finding(NAME, Answer.UNDECIDED, detail=str(reason))
        except OutOfBudgetError as reason:
            return Finding(NAME, Answer.UNDECIDED, detail=f"Z3 gave up within rlimit {self.rlimit}: {reason}")

    def possible(self, condition: Expr) -> Finding:
        """Whether a one-bit expression holds at some point inside the variables' limits.

        If it does, the finding has such a point. If it holds nowhere, the answer is `EMPTY`. If the budget
        is too small, it is `UNDECIDED`.
        """
        point = _seen_true(condition)
        if point is not None:
            return Finding(NAME, Answer.HOLDS, point)
        try:
            return _possible(condition, self.rlimit)
        except (OutOfBudgetError, OutOfClockError) as reason:
            return Finding(NAME, Answer.UNDECIDED, detail=str(reason))


def _always(goal: Always, rlimit: int) -> Finding:
    query = Query()
    query.require(query.terms.truth(goal.domain.assumption), z3.Not(query.terms.truth(goal.holds)))
    return finding(query.solve(rlimit), goal.domain.variables)


def _seen_true(condition: Expr) -> dict[str, int] | None:
    """A satisfying point among a few: each variable alone over its first values; None if none is found."""
    nodes = variables(condition)
    if not evaluable(condition):
        return None
    sizes = [min(node.limit, LANES) for node in nodes]
    points = {node.name: np.zeros(sum(sizes) or 1, dtype=np.int64) for node in nodes}
    for at, (node, size) in enumerate(zip(nodes, sizes, strict=True)):
        start = sum(sizes[:at])
        points[node.name][start : start + size] = np.arange(size)
    found = np.flatnonzero(evaluate_many((condition,), points)[0])
    return {name: int(values[found[0]]) for name, values in points.items()} if found.size else None


@lru_cache(maxsize=1024)
def _possible(condition: Expr, rlimit: int) -> Finding:
    query = Query()
    query.require(query.terms.truth(condition))
    found = finding(query.solve(rlimit), variables(condition))
    return Finding(NAME, Answer.EMPTY if found.answer is Answer.HOLDS else Answer.HOLDS, found.point)
