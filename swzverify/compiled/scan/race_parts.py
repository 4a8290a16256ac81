"""What barriers of parts of a block say of a kernel's races, and what no barrier is trusted with."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Final

from swzverify.compiled.kernel.whole import Kernel
from swzverify.compiled.order.arrays import are_in_distinct_arrays
from swzverify.compiled.order.barriers import Orders, Scope
from swzverify.compiled.order.instance import Instances
from swzverify.compiled.order.intervals import Meeting
from swzverify.compiled.order.pairs import Asked
from swzverify.compiled.order.pipelines import LEVELS, pipelines_of
from swzverify.compiled.order.step import in_step, missed_by_lanes
from swzverify.compiled.order.threads import Couple
from swzverify.ir.expr import Expr

UNORDERED: Final = "fences of the proxies, and new uses of the bytes of barrier objects, are not modelled"


class Parts:
    """The order by barriers of parts of the block. `never` says whether a condition is shown not to hold.

    `barriers` are the instructions that are known and right, those of the whole block and of warps left out.
    `of_block` and `of_warp` are what the barriers of the whole block and of whole warps say beside it.
    """

    def __init__(self, kernel: Kernel, orders: Orders, never: Callable[[Expr], bool]) -> None:
        self._kernel = kernel
        self.of_block, self.of_warp = (in_step(kernel, scope, orders) for scope in (Scope.BLOCK, Scope.WARP))
        self._accesses = [each for each in kernel.accesses if not each.reason]
        blocks = (each for each, scope in orders.barriers.items() if scope is Scope.BLOCK)
        is_whole = self.of_block.barriers.issuperset(blocks) and not orders.unmodelled
        has_copies = any(each.is_bulk for each in self._accesses)
        self._pipelines = None if is_whole and not has_copies else pipelines_of(kernel, never)
        self.barriers: frozenset[int] = frozenset()
        if self._pipelines is not None:
            # Lemma 3 needs that nothing but barriers of all threads orders what is written with the loads.
            self.of_block, self.of_warp = (
                in_step(kernel, scope, orders, is_partly_ordered=True) for scope in (Scope.BLOCK, Scope.WARP)
            )
            missed = missed_by_lanes(kernel, self.of_warp.barriers, self._pipelines.named)
            self.barriers = frozenset(self._pipelines.partial) - missed

    def refined(self, asked: Asked) -> Iterator[Asked]:
        """The same question at the moments at which both threads can be there; closer to the truth each time."""
        for level in range(LEVELS if self._pipelines is not None else 0):
            moments = None if self._pipelines is None else self._pipelines.moments(asked.accesses, asked.couple, level)
            if moments is not None:
                yield Asked(asked.instances, asked.meeting, moments)

    def unordered(self) -> Iterator[Asked]:
        """Pairs that have to touch distinct bytes whatever is ordered.

        A bulk copy does not see what was written before it without a fence of the proxies, which is not modelled;
        and a barrier object that something else is written to is none any more.
        """
        writes = [each for each in self._accesses if each.is_write and not each.is_bulk]
        pairs = [(one, two) for one in self._accesses if one.is_bulk for two in writes]
        if self._pipelines is not None:
            objects = [each for each in writes if each.is_object and not each.is_atomic]
            pairs += [(one, two) for one in objects for two in writes if not two.is_object]
        any_two = Instances(self._kernel, self.of_block.sharing, Couple.ANY)
        itself = Instances(self._kernel, self.of_warp.sharing, Couple.SELF)
        for one, two in pairs:
            if are_in_distinct_arrays(self._kernel, one, two):
                continue
            for first, second in ((one.index, two.index), (two.index, one.index)):
                other = Meeting(first, second, ((), ()), (), ())
                yield Asked(any_two, other)
                yield Asked(itself, replace(other, is_own=True))
