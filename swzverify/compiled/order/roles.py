"""Roles: threads that do the same to barriers, each with the graph of what it does.

Two threads have one role if they agree on every coordinate expression that their events and conditions read,
and if their warps have equally many lanes of each such kind. Such warps can be exchanged, and so can the lanes
of one role within a warp. So a few threads represent all threads of the same roles that are spread over warps
in the same way.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np

from swzverify.compiled.kernel.leaves import LaneLeaf
from swzverify.compiled.kernel.whole import Kernel
from swzverify.compiled.order.events import MASKS, Act, Event, LostError
from swzverify.compiled.order.flights import Flights
from swzverify.compiled.order.step import BlockThreads
from swzverify.compiled.order.tracked import Tracked
from swzverify.compiled.order.walk import Walk
from swzverify.hardware import LANES
from swzverify.ir.evaluate import MAX_ARRAY_WIDTH, evaluate_many
from swzverify.ir.expr import const, postorder

MOST_ROLES: Final = 16


@dataclass(frozen=True, slots=True)
class Role:
    """The numbers of threads that do the same to barriers, what each of them does, and the rank of their block."""

    threads: tuple[int, ...]
    walk: Walk
    rank: int = 0


def roles_of(kernel: Kernel, events: Mapping[int, Event], tracked: Tracked) -> list[Role]:
    """The roles of a block's threads.

    Raises:
        LostError: There are too many, or what a thread does is not known.
    """
    threads = BlockThreads(kernel.block)
    count = len(threads.first_of_warp)
    flights = Flights(kernel)
    columns = [np.arange(count, dtype=np.int64) // kernel.ranks.threads]
    for each, guards in tracked.of_coordinates(flights.guards.values()).items():
        if any(node.width > MAX_ARRAY_WIDTH for node in postorder(each, *guards)):
            raise LostError("threads do different things by a number of more than 64 bits")
        values, *holds = (np.broadcast_to(e, (count,)) for e in evaluate_many((each, *guards), threads.point))
        # What a thread does not execute tells it apart from no other one.
        columns.append(np.where(np.any(np.asarray(holds), axis=0), values, 0))
    names = [event.name for event in events.values() if event.act is Act.SYNC]
    masks = {each - MASKS for each in names if isinstance(each, int) and each >= MASKS}
    columns += [mask >> threads.point["laneid"] & 1 for mask in sorted(masks)]
    rows = [tuple(row) for row in np.stack(columns, axis=1).tolist()]
    place = {row: at for at, row in enumerate(dict.fromkeys(rows))}
    kinds = [place[row] for row in rows]
    warps = [frozenset(Counter(kinds[start : start + LANES]).items()) for start in range(0, count, LANES)]
    groups: dict[tuple[int, frozenset[tuple[int, int]]], list[int]] = {}
    for number, kind in enumerate(kinds):
        groups.setdefault((kind, warps[number // LANES]), []).append(number)
    if len(groups) > MOST_ROLES * kernel.ranks.count:
        raise LostError(f"more than {MOST_ROLES * kernel.ranks.count} sets of threads do different things to barriers")
    lanes = [leaf for leaf in kernel.leaves.by_name.values() if isinstance(leaf, LaneLeaf)]
    graphs: dict[int, Walk] = {}
    found: list[Role] = []
    for (kind, _), numbers in groups.items():
        if kind not in graphs:
            point = {each.variable: int(threads.point[each.name][numbers[0]]) for each in lanes}
            coordinates = {each: const(value, each.width) for each, value in point.items()}
            graphs[kind] = Walk(kernel, events, tracked, flights, coordinates)
        found.append(Role(tuple(numbers), graphs[kind], numbers[0] // kernel.ranks.threads))
    return found
