"""From the addresses of many warp instructions to a finding, by the hardware's rule."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from swzverify.engines.obligation import Answer, Cost, Finding, Numbers, Point, Truths, WorstCost
from swzverify.hardware import cost_many


def judge_rows(
    engine: str, cost: Cost, addresses: Numbers, active: Truths, counts: Truths, point_of: Callable[[int], Point]
) -> Finding:
    """The finding for rows of 32 lanes, of which those with `counts` are all that the claim speaks about.

    `point_of(row)` gives the free variables' values. Empty when no row with an active lane counts; undecided where
    the rule's upper bound breaks the claim and its lower bound keeps it.
    """
    rows = np.flatnonzero(counts & active.any(axis=1))
    if rows.size == 0:
        return Finding(engine, Answer.EMPTY)
    arrays = cost_many(cost.instruction, addresses[rows], active[rows])
    limit = arrays.minimum if cost.at_most is None else np.full_like(arrays.minimum, cost.at_most)
    # The row that exceeds its own limit most; among equals the most expensive one.
    best = int(np.argmax((arrays.wavefronts - limit) * 4096 + arrays.wavefronts))
    broken = int(np.argmax(arrays.lower_bound - limit))

    def at(row: int) -> WorstCost:
        return WorstCost(
            int(arrays.wavefronts[row]),
            int(arrays.minimum[row]),
            int(arrays.lower_bound[row]),
            point_of(int(rows[row])),
        )

    worst = at(best)
    if arrays.wavefronts[best] <= limit[best]:
        return Finding(engine, Answer.HOLDS, worst.point, worst)
    if not cost.instruction.bound_only:
        return Finding(engine, Answer.FAILS, worst.point, worst)
    if arrays.lower_bound[broken] > limit[broken]:
        return Finding(engine, Answer.FAILS, at(broken).point, at(broken))
    between = f"between {int(arrays.lower_bound.max())} and {worst.wavefronts} wavefronts"
    return Finding(
        engine, Answer.UNDECIDED, worst.point, worst, f"the rule for {cost.instruction.name} only bounds it: {between}"
    )
