"""From the addresses of many warp instructions to a finding, by the hardware's rule."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from swzverify.engines.obligations import (
    READ_TWICE,
    Answer,
    Cost,
    Finding,
    Numbers,
    Point,
    Truths,
    WarpCost,
    WorstCost,
)
from swzverify.engines.prices import MISALIGNED, are_aligned, price_copies, price_many

RANK = 4096
"""More than any warp instruction costs."""


def judge_rows(
    engine: str,
    cost: Cost,
    addresses: Numbers,
    active: Truths,
    counts: Truths,
    point_of: Callable[[int], Point],
    sources: Numbers | None = None,
) -> Finding:
    """The finding for rows of 32 lanes; the claim covers only the rows with `counts`.

    `point_of(row)` gives the free variables' values, and `sources` are what lanes of a copy read. The
    answer is `EMPTY` if no such row has an active lane, and `NOT_APPLICABLE` if one has a misaligned lane.
    """
    rows = np.flatnonzero(counts & active.any(axis=1))
    if rows.size == 0:
        return Finding(engine, Answer.EMPTY)
    if not are_aligned(cost.instruction, addresses[rows], active[rows]):
        return Finding(engine, Answer.NOT_APPLICABLE, detail=MISALIGNED)
    is_exact = True
    if sources is None:
        arrays = price_many(cost.instruction, addresses[rows], active[rows])
    elif not are_aligned(cost.instruction, sources[rows], active[rows]):
        return Finding(engine, Answer.NOT_APPLICABLE, detail=MISALIGNED)
    else:
        arrays, is_exact = price_copies(addresses[rows], sources[rows], active[rows])
    conflicts = arrays.wavefronts - arrays.minimum

    def largest(rank: Numbers) -> WarpCost:
        best = int(np.argmax(rank))
        return WarpCost(int(arrays.wavefronts[best]), int(arrays.minimum[best]), point_of(int(rows[best])))

    # Among equals the one that is worse by the other measure too.
    worst = WorstCost(largest(arrays.wavefronts * RANK + conflicts), largest(conflicts * RANK + arrays.wavefronts))
    return judged(engine, cost, worst, is_exact=is_exact)


def judged(engine: str, cost: Cost, worst: WorstCost, *, is_exact: bool = True) -> Finding:
    """The finding that two worst cases come to; if they are not exact, they are lower bounds."""
    failing = worst.failing(cost.at_most)
    if not is_exact:
        if failing is None:
            return Finding(engine, Answer.UNDECIDED, detail=READ_TWICE)
        return Finding(engine, Answer.FAILS, failing.point)
    if failing is None:
        return Finding(engine, Answer.HOLDS, worst.deciding(cost.at_most).point, worst)
    return Finding(engine, Answer.FAILS, failing.point, worst)
