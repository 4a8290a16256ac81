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

    `point_of(row)` gives the free variables' values. Empty when no row with an active lane counts.
    """
    rows = np.flatnonzero(counts & active.any(axis=1))
    if rows.size == 0:
        return Finding(engine, Answer.EMPTY)
    arrays = cost_many(cost.instruction, addresses[rows], active[rows])
    limit = arrays.minimum if cost.at_most is None else np.full_like(arrays.minimum, cost.at_most)
    # The row that exceeds its own limit most; among equals the most expensive one.
    best = int(np.argmax((arrays.wavefronts - limit) * 4096 + arrays.wavefronts))
    point = point_of(int(rows[best]))
    worst = WorstCost(int(arrays.wavefronts[best]), int(arrays.minimum[best]), point)
    answer = Answer.FAILS if arrays.wavefronts[best] > limit[best] else Answer.HOLDS
    return Finding(engine, answer, point, worst)
