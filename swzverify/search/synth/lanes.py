"""Every distinct warp instruction of an access, as coordinates.

The plain rule prices these where ranks cannot tell the cost.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

import numpy as np
from numpy.typing import NDArray

from swzverify.errors import SwzError
from swzverify.hardware import LANES
from swzverify.search.costs.access_costs import refuse_what_has_no_end, run_digits
from swzverify.subjects import Access
from swzverify.subjects.loop import LANE, STAGE
from swzverify.subjects.plain_access import stage_at

MAX_LANES = 1 << 23
"""Lanes of all warp instructions of an access that are listed."""
Array = NDArray[np.int64]
Truths = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Lanes:
    """The distinct warp instructions with an active lane; all arrays have the shape (n, 32).

    `coord` has the coordinates for each mode. `stage` is None if the access does not choose the stage.
    """

    coord: tuple[Array, ...]
    active: Truths
    stage: Array | None

    @property
    def count(self) -> int:
        """The number of warp instructions."""
        return len(self.active)


def lanes_of(access: Access) -> Lanes:
    """The warp instructions of every warp and iteration, by the plain definition.

    Raises:
        SwzError: SWZ206 for a loop without a bound, values of the lanes' own, or too many lanes; SWZ105
            if no lane is ever active.
    """
    refuse_what_has_no_end(access)
    sizes = {node.name: node.limit for node in access.free if node.name not in (STAGE, access.origin.name)}
    count = prod(sizes.values())
    if count * LANES > MAX_LANES:
        raise SwzError(
            "SWZ206",
            f"access {access.name}: {count * LANES} lanes to list, over all warps and iterations; at most {MAX_LANES}",
            hint="a search needs fewer iterations: state the ones that differ, or make the access linear over bits",
        )
    point = {name: values[:, None] for name, values in run_digits(np.arange(count, dtype=np.int64), sizes).items()}
    point[LANE] = np.arange(LANES, dtype=np.int64)[None, :]
    staged = access.tile is not None and access.tile.stages > 1
    if staged and access.stage is None:
        point[STAGE] = np.zeros((1, 1), dtype=np.int64)
    if access.origin.variable is not None:
        point[access.origin.name] = np.zeros((1, 1), dtype=np.int64)
    shape = (count, LANES)
    assumed, on, _, _ = access.definition(point)
    active = np.broadcast_to(on, shape) & np.broadcast_to(assumed, shape)
    env = access.environment(point)
    coord = [np.where(active, np.broadcast_to(each, shape), 0) for each in access.coordinates(env)]
    own = staged and access.stage is not None
    stage = np.where(active, np.broadcast_to(stage_at(access, point, env), shape), 0) if own else None
    columns = [*coord, active.astype(np.int64), *([] if stage is None else [stage])]
    rows = np.concatenate(columns, axis=1)[active.any(axis=1)]
    if not len(rows):
        raise SwzError(
            "SWZ105",
            f"access {access.name}: no warp instruction has an active lane, so that nothing has a cost",
            hint="look at `if:`, `assume:` and the loops' bounds",
        )
    rows = _distinct(rows)
    parts = np.split(rows, len(columns), axis=1)
    modes = len(coord)
    return Lanes(tuple(parts[:modes]), parts[modes].astype(np.bool_), parts[-1] if own else None)


def _distinct(rows: Array) -> Array:
    """Each row once, compared as bytes."""
    packed = np.ascontiguousarray(rows).view(np.dtype((np.void, rows.dtype.itemsize * rows.shape[1]))).ravel()
    _, first = np.unique(packed, return_index=True)
    return rows[np.sort(first)]
