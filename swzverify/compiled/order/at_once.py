"""Which accesses two threads may make at one time, for all pairs of accesses of a kernel at once.

A kernel of unrolled code has tens of thousands of pairs. Most of them are at places of the code at which two threads
never are together: the runs of a few threads say so without a question about addresses.

Source: docs/semantics.md, section 11.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from swzverify.compiled.kernel.shared import SharedAccess
from swzverify.compiled.order.pipelines import Pipelines
from swzverify.compiled.order.threads import Couple
from swzverify.compiled.order.together import ACTIVE, Member, Moments

_HELP: Final = 1
"""Threads that help to see an order."""


class AtOnce:
    """The pairs of accesses at which two threads may be at one time."""

    def __init__(self, pipelines: Pipelines, accesses: Sequence[SharedAccess]) -> None:
        self._pipelines = pipelines
        self._place = {index: at for at, index in enumerate(sorted({each.index for each in accesses}))}
        self._at = [self._nodes(at) for at in range(len(pipelines.roles))]
        self._known: dict[Couple, NDArray[np.bool_]] = {}

    def never(self, one: SharedAccess, two: SharedAccess, couple: Couple) -> bool:
        """Whether two threads are never at both accesses at one time; false for copies, which run on."""
        if couple is Couple.SELF or one.is_copy or two.is_copy or one.is_bulk or two.is_bulk:
            return False
        if couple not in self._known:
            self._known[couple] = self._of(couple)
        return not self._known[couple][self._place[one.index], self._place[two.index]]

    def _nodes(self, role: int) -> NDArray[np.float32]:
        """For each access, the nodes of a role at which it may be made."""
        nodes = self._pipelines.roles[role].walk.nodes
        found = np.zeros((len(self._place), len(nodes)), dtype=np.float32)
        for at, node in enumerate(nodes):
            found[[self._place[each.index] for each in node.touches if each.index in self._place], at] = 1
        return found

    def _of(self, couple: Couple) -> NDArray[np.bool_]:
        found = np.zeros((len(self._place), len(self._place)), dtype=np.bool_)
        for one, mine in enumerate(self._at):
            for two, its in enumerate(self._at):
                if not (mine.any() and its.any()):
                    continue
                for pair, _ in self._pipelines.groups.pairs(one, two, couple):
                    both = self._pipelines.groups.common(pair, _HELP, _nodes_of, (0, 0))
                    together = np.ones((mine.shape[1], its.shape[1]), dtype=np.float32)
                    if both is not None:
                        together[:] = 0
                        if both:
                            together[tuple(np.array(sorted(both)).T)] = 1
                    found |= mine @ together @ its.T > 0
        return found


def _nodes_of(
    _members: tuple[Member, ...], moments: Moments, _accesses: tuple[int, int], _is_self: bool
) -> Iterator[tuple[int, int]]:
    """The places of the first two threads at the moments of a group."""
    active = (each for each in moments.nodes if each[1] in ACTIVE)
    return ((each[0], two) for each in active for two, its in moments.nodes[each] if its in ACTIVE)
