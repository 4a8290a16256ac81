"""How often loops go back to their headers, where the thread's coordinates alone say so.

A choice that every trip comes to leaves the loop as soon as its condition says so. Where the
condition reads nothing but coordinates and the trips of this very loop, its trips are counted, for
every thread of the block.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from swzverify.compiled.kernel.flow import Flow, Loop
from swzverify.compiled.kernel.lanes import Threads
from swzverify.compiled.kernel.leaves import LaneLeaf, Leaves, TripsLeaf
from swzverify.ir.expr import Expr, variables


@dataclass(frozen=True, slots=True, eq=False)
class Count:
    """Trips of a loop by one choice: in which trip each thread leaves at the latest, from 0.

    `is_only_way` tells that the loop has no other way out, so that each thread that comes to the
    loop makes all these trips.
    """

    last: NDArray[np.int64]
    is_only_way: bool

    @property
    def most(self) -> int:
        """The last trip of any thread."""
        return int(self.last.max())


class Counts:
    """The counted choices of the loops of a function.

    `choices` has the values that decide each choice, by its block. Without `threads`, nothing is counted.
    """

    def __init__(
        self, flow: Flow, leaves: Leaves, choices: Mapping[int, tuple[Expr, ...]], threads: Threads | None
    ) -> None:
        self._flow, self._leaves, self._choices, self._threads = flow, leaves, choices, threads
        self._known: dict[tuple[int, int], Count | None] = {}

    def of_loop(self, loop: Loop) -> Count | None:
        """The count by the choice by which threads leave first; None if no choice is counted."""
        found = [self.of_choice(loop, block) for block in sorted(loop.blocks) if self._flow.blocks[block].is_choice]
        counted = [each for each in found if each is not None]
        return min(counted, key=lambda each: each.most, default=None)

    def of_choice(self, loop: Loop, block: int) -> Count | None:
        """The count by one choice; None where it is not counted."""
        key = (loop.header, block)
        if key not in self._known:
            self._known[key] = self._count(loop, block)
        return self._known[key]

    def are_together(self, loop: Loop, block: int) -> bool:
        """Whether all lanes of a warp that are still in the loop leave by this choice in the same trip.

        Before any of them has left, they are in the same trip.
        """
        count = self.of_choice(loop, block)
        return count is not None and self._threads is not None and self._threads.are_alike(count.last)

    def _count(self, loop: Loop, block: int) -> Count | None:
        values, flow = self._choices.get(block, ()), self._flow
        if self._threads is None or len(values) != 1 or len(flow.blocks[block].ways) != 2:
            return None
        if not all(flow.dominators.above(block, latch) for latch in loop.latches):
            return None
        if any(len(inner.blocks) < len(loop.blocks) for inner in flow.around(block)):
            return None
        names: set[str] = set()
        for variable in variables(values[0]):
            leaf = self._leaves[variable]
            if isinstance(leaf, TripsLeaf) and leaf.block == loop.header:
                names.add(leaf.name)
            elif not isinstance(leaf, LaneLeaf):
                return None
        outside = [way.guard for way in flow.blocks[block].ways if way.target not in loop.blocks]
        if len(names) != 1 or len(outside) != 1:
            return None
        last = self._threads.last_trip(values[0], names.pop(), int(bool(outside[0])))
        return None if last is None else Count(last, self._is_only_way(loop, block))

    def _is_only_way(self, loop: Loop, block: int) -> bool:
        out = [each for each in loop.blocks if any(to not in loop.blocks for to in self._flow.following[each])]
        return out == [block]
