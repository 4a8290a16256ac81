"""The engines without Z3, asked in the prover's order."""

from __future__ import annotations

from collections.abc import Sequence

from swzverify.claims.in_bounds import tile_bounds_goal
from swzverify.claims.injective import injective_goal
from swzverify.engines.obligations import Answer, Obligation
from swzverify.ir.expr import postorder
from swzverify.ir.intervals import intervals
from swzverify.ir.periods import readers
from swzverify.prover.panel import NATIVE
from swzverify.subjects import Tile


def holds(obligations: Sequence[Obligation]) -> bool:
    """Whether the first engine that applies to each says that it holds; nothing is remembered from
    the last time.
    """
    for memory in (postorder, intervals, readers):
        memory.cache_clear()
    return all(_answer(obligation) is Answer.HOLDS for obligation in obligations)


def _answer(obligation: Obligation) -> Answer:
    for engine in NATIVE:
        answer = engine.decide(obligation).answer
        if answer is not Answer.NOT_APPLICABLE:
            return answer
    return Answer.NOT_APPLICABLE


def bijective_obligations(tile: Tile) -> tuple[Obligation, ...]:
    """One to one and inside the allocation; that there are as many elements as places is counted."""
    return injective_goal(tile), tile_bounds_goal(tile)
