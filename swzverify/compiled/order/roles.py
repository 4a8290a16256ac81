"""Roles: threads that do the same to barriers, each with the graph of what it does.

Two threads are of one kind if they agree on every coordinate expression that their events and conditions read, or if
what they do to barriers is one graph all the same. They have one role if their warps have equally many lanes of each
kind, too, where warps have barriers of their own. Such warps can be exchanged, and so can the lanes of one role within
a warp. So a few threads represent all threads of the same roles that are spread over warps in the same way.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from swzverify.compiled.kernel.leaves import LaneLeaf
from swzverify.compiled.kernel.whole import Kernel
from swzverify.compiled.order.events import MASKS, Act, Event, LostError
from swzverify.compiled.order.flights import Flights
from swzverify.compiled.order.handed import Handed
from swzverify.compiled.order.step import BlockThreads
from swzverify.compiled.order.tracked import Tracked
from swzverify.compiled.order.walk import Walk
from swzverify.hardware import LANES
from swzverify.ir.evaluate import MAX_ARRAY_WIDTH, evaluate_many
from swzverify.ir.expr import const, postorder

MOST_ROLES: Final = 16
_MOST_KINDS: Final = 64


@dataclass(frozen=True, slots=True)
class Role:
    """The numbers of threads that do the same to barriers, what each of them does, and the rank of their block."""

    threads: tuple[int, ...]
    walk: Walk
    rank: int = 0


def roles_of(kernel: Kernel, events: Mapping[int, Event], tracked: Tracked, handed: Handed | None = None) -> list[Role]:
    """The roles of a block's threads. `handed` has the words of shared memory that are followed.

    Raises:
        LostError: There are too many, or what a thread does is not known.
    """
    threads = BlockThreads(kernel.block)
    count = len(threads.first_of_warp)
    flights = Flights(kernel)
    columns = [np.arange(count, dtype=np.int64) // kernel.ranks.threads]
    conditions = [*flights.guards.values(), *([] if handed is None else handed.guards)]
    for each, guards in tracked.of_coordinates(conditions).items():
        if any(node.width > MAX_ARRAY_WIDTH for node in postorder(each, *guards)):
            raise LostError("threads do different things by a number of more than 64 bits")
        values, *holds = (np.broadcast_to(e, (count,)) for e in evaluate_many((each, *guards), threads.point))
        # What a thread does not execute tells it apart from no other one.
        columns.append(np.where(np.any(np.asarray(holds), axis=0), values, 0))
    of_warps = [event.name for event in events.values() if event.act is Act.SYNC and event.is_of_warp]
    masks = {each - MASKS for each in of_warps if isinstance(each, int)}
    columns += [mask >> threads.point["laneid"] & 1 for mask in sorted(masks)]
    lanes = [leaf for leaf in kernel.leaves.by_name.values() if isinstance(leaf, LaneLeaf)]

    def walk(thread: int) -> Walk:
        point = {each.variable: int(threads.point[each.name][thread]) for each in lanes}
        coordinates = {each: const(value, each.width) for each, value in point.items()}
        return Walk(kernel, events, tracked, flights, coordinates, handed, thread)

    graphs: dict[tuple[int, ...], Walk] = {}
    rows = _rows(columns)
    if handed is not None:
        for thread in {row: at for at, row in reversed([*enumerate(rows)]) if handed.writers[at]}.values():
            graphs[rows[thread]] = walk(thread)
        handed.close()
        rows = [(*row, *more) for row, more in zip(rows, handed.kinds(count), strict=True)]
        graphs = {row: graphs[row[: len(columns)]] for row in rows if row[: len(columns)] in graphs}
    first = {row: at for at, row in reversed([*enumerate(rows)])}
    if len(first) > _MOST_KINDS * kernel.ranks.count:
        raise LostError(f"more than {_MOST_KINDS * kernel.ranks.count} sets of threads do different things to barriers")
    graphs |= {row: walk(at) for row, at in first.items() if row not in graphs}
    alike: dict[object, int] = {}
    kinds = {row: alike.setdefault((row[0], _deeds_of(row, graphs[row])), at) for row, at in first.items()}
    of_kind = {kinds[row]: graphs[row] for row in reversed(first)}
    of_threads = [kinds[row] for row in rows]
    # Threads of one warp have more in common than those of two where warps have barriers of their own.
    warps = [
        frozenset(Counter(of_threads[at : at + LANES]).items() if of_warps else ()) for at in range(0, count, LANES)
    ]
    groups: dict[tuple[int, frozenset[tuple[int, int]]], list[int]] = {}
    for number, kind in enumerate(of_threads):
        groups.setdefault((kind, warps[number // LANES]), []).append(number)
    if len(groups) > MOST_ROLES * kernel.ranks.count:
        raise LostError(f"more than {MOST_ROLES * kernel.ranks.count} sets of threads do different things to barriers")
    return [
        Role(tuple(numbers), of_kind[kind], numbers[0] // kernel.ranks.threads) for (kind, _), numbers in groups.items()
    ]


def _deeds_of(row: tuple[int, ...], walk: Walk) -> object:
    """What is equal for two graphs of threads that do the same; those of threads that copy stay apart."""
    if any(deed.act is Act.COPY for node in walk.nodes for deed, _ in node.deeds):
        return row
    nodes = [
        (each.entry, frozenset(each.running), frozenset(each.leaving), frozenset(each.touches), each.is_end)
        for each in walk.nodes
    ]
    deeds = [frozenset(each.deeds) for each in walk.nodes]
    return tuple(nodes), tuple(deeds), frozenset(walk.own)


def _rows(columns: Sequence[NDArray[np.int64]]) -> list[tuple[int, ...]]:
    """What tells threads apart, for each thread: the rank of the block first."""
    return [tuple(row) for row in np.stack(columns, axis=1).tolist()]
