"""What the threads of a scope share, the loops that they run in step, and the barriers that some miss.

Values that lanes of a warp share need not be shared in the block: results of votes and shuffles, and
whatever the number of the warp decides. A loop with a barrier in it runs in step if every choice that
ends a trip is shared, or sends threads away for good. A thread that is sent away meets neither a barrier
nor an access any more: it counts as arrived.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from swzverify.compiled.kernel.counts import Counts
from swzverify.compiled.kernel.flow import Flow
from swzverify.compiled.kernel.graph import immediate_dominators, inverted, reached
from swzverify.compiled.kernel.lanes import Threads
from swzverify.compiled.kernel.leaves import Leaf, Made, OpaqueLeaf, is_input
from swzverify.compiled.kernel.uniform import ANYWHERE, Uniformity
from swzverify.compiled.kernel.whole import Kernel
from swzverify.compiled.order.barriers import MASKED, Orders, Scope
from swzverify.ir.expr import Expr, Var

RETURNED: Final = "threads that return after an access are not ordered by the barriers that the others reach"
_LOAD: Final = re.compile(r"ldu?\..*")
_STRONG: Final = re.compile(r".*\.(?:relaxed|acquire|mmio)\b.*|.*\.volatile\.global\b.*")
_OF_WARP: Final = re.compile(r"(?:vote|redux|shfl|match)\.sync\b.*")


class BlockThreads(Threads):
    """Coordinates of all threads of a block; what is uniform has one value in the whole block."""

    def is_uniform(self, value: Expr) -> bool:
        """Whether a value that depends on coordinates alone is one in the block."""
        return self.constant(value) is not None

    def are_alike(self, values: NDArray[np.int64]) -> bool:
        """Whether all threads have one value."""
        return bool((values == values.flat[0]).all())


class Sharing(Uniformity):
    """What all threads of a scope share that are in the same trips of the loops around a value.

    `loops` are the loops that all threads leave at one trip, those apart that are sent away for good.
    `barriers` are instructions at which all threads of the scope meet. With `is_partly_ordered`, barriers of some
    threads order accesses, too: then shared memory may change between two loads without a race. `handed` are leaves
    of loads that read words which change between barriers of the whole block alone.
    """

    def __init__(
        self,
        kernel: Kernel,
        scope: Scope,
        barriers: Collection[int],
        *,
        is_partly_ordered: bool = False,
        handed: Collection[Var] = (),
    ) -> None:
        flow, self._handed = kernel.flow, handed
        self._is_partly_ordered = is_partly_ordered or kernel.ranks.count > 1
        self._scope, self._closed = scope, kernel.closed
        self._holds = holds = {flow.block_of[each] for each in barriers}
        accesses = {flow.block_of[each.index] for each in kernel.accesses}
        self._matters = reached(holds | accesses, flow.before, lambda _: False)
        """The blocks from which a barrier or an access is reached."""
        self._with_barriers = {loop.header for loop in flow.loops if holds & loop.blocks}
        self.steps = set(self._with_barriers)
        """The loops with a barrier in them that all threads run in step."""
        threads = _threads_of(kernel, scope)
        counts = Counts(flow, kernel.leaves, kernel.choices, threads)
        super().__init__(flow, kernel.leaves, kernel.slices.carried, kernel.choices, threads, counts)
        # An inner loop is in step only if the outer ones are: else threads are in different runs of it.
        together = self.steps & self.loops
        self.steps = {each for each in together if {loop.header for loop in flow.around(each)} <= together}

    def leaf(self, variable: Var, inside: frozenset[int] = ANYWHERE) -> bool:
        """Whether the threads share a leaf; one that came after the analysis has no answer."""
        if variable.name not in self._closed:
            raise AssertionError(variable.name)
        return super().leaf(variable, inside)

    def is_shared_choice(self, block: int) -> bool:
        """Whether all threads that come to a choice in one trip go on alike."""
        return self._is_shared_choice(block)

    def has_barrier(self, header: int) -> bool:
        """Whether a loop has a barrier of the scope in it."""
        return header in self._with_barriers

    def is_gone(self, block: int) -> bool:
        """Whether neither a barrier nor an access is reached from a block."""
        return block not in self._matters

    def _stays(self, leaf: Leaf) -> bool:
        if leaf.name in self._own or not isinstance(leaf, OpaqueLeaf) or not leaf.is_moment:
            return super()._stays(leaf)
        opcode, is_of_warp = leaf.name.partition(" ")[0], leaf.made is Made.REDUCED
        if _LOAD.fullmatch(opcode) and not _STRONG.fullmatch(opcode):
            is_fed = all(self.shares(each) for each in leaf.feeds)
            if leaf.variable in self._handed:
                return is_fed
            if is_input(leaf) or self._is_partly_ordered:
                return is_fed and is_input(leaf)
            return is_fed and leaf.block is not None and self._is_together(leaf.block, leaf.index)
        is_of_warp = is_of_warp or _OF_WARP.fullmatch(opcode) is not None
        return self._scope is Scope.WARP and is_of_warp and super()._stays(leaf)

    def _leaves_together(self, header: int) -> bool:
        loop = self._flow.loop_at[header]
        return all(
            self._is_shared_choice(block) or self._counts.are_together(loop, block) or self._is_sent_away(header, block)
            for block in {*self._outside[header], *self._around_barriers(header)}
        )

    def _around_barriers(self, header: int) -> list[int]:
        """The choices of a loop with a barrier between the choice and the place where its sides meet.

        Threads that pass by the barrier come to it in a later trip, perhaps while others are there.
        """
        if header not in self.steps:
            return []
        choices = (each for each in self._flow.loop_at[header].blocks if self._flow.blocks[each].is_choice)
        return [each for each in choices if self._flow.parted(each) & self._holds]

    def _is_sent_away(self, header: int, block: int) -> bool:
        """Whether the threads that part at a choice of a loop with a barrier are gone, but for one side."""
        rest = [each for each in self._flow.following[block] if not self.is_gone(each)]
        return header in self.steps and len(rest) <= 1


@dataclass(frozen=True, slots=True)
class InStep:
    """The barriers at which all threads of a scope meet, and what the threads share.

    Attributes:
        scope: The scope.
        barriers: The barriers.
        sharing: What the threads share.
        divergent: The barriers that some threads miss, each with the line of the choice where threads part.
        left_out: The reasons of barriers that are not counted.
        has_returns: Whether some threads may return before a barrier that others wait at.
    """

    scope: Scope
    barriers: frozenset[int]
    sharing: Sharing
    divergent: dict[int, int]
    left_out: tuple[str, ...]
    has_returns: bool


def _threads_of(kernel: Kernel, scope: Scope) -> Threads:
    """The threads that are looked at, as so many of them are together in a scope."""
    if scope is Scope.WARP:
        return Threads(kernel.block)
    if scope is Scope.BLOCK and kernel.ranks.count > 1:
        return Threads(kernel.block).in_groups(kernel.ranks.threads)
    return BlockThreads(kernel.block)


def in_step(kernel: Kernel, scope: Scope, orders: Orders, *, is_partly_ordered: bool = False) -> InStep:
    """The barriers that count for a scope; those that some of its threads miss are taken out.

    `is_partly_ordered` is that of `Sharing`.
    """
    barriers = orders.barriers
    kept = {each for each, of in barriers.items() if of.holds(scope)}
    divergent: dict[int, int] = {}
    left_out: dict[str, None] = {}
    while True:
        sharing = Sharing(kernel, scope, kept, is_partly_ordered=is_partly_ordered)
        missed = _missed(kernel.flow, kept, sharing, {kernel.flow.block_of[each.index] for each in kernel.accesses})
        if not missed:
            has_returns = bool(kept) and _has_returns(kernel.flow, sharing)
            return InStep(scope, frozenset(kept), sharing, divergent, tuple(left_out), has_returns)
        for each, (choice, is_returned) in missed.items():
            if barriers[each] is Scope.WARP:
                left_out[MASKED] = None
            elif is_returned:
                left_out[RETURNED] = None
            else:
                divergent[each] = kernel.function.instructions[kernel.flow.blocks[choice].stop - 1].line
        kept -= set(missed)


def missed_by_lanes(
    kernel: Kernel, barriers: Collection[int], named: Collection[int], handed: Collection[Var] = ()
) -> set[int]:
    """The instructions among `named` that the lanes of a warp may not come to together; `handed` as for `Sharing`."""
    kept = {*barriers, *named}
    accesses = {kernel.flow.block_of[each.index] for each in kernel.accesses}
    sharing = Sharing(kernel, Scope.WARP, kept, is_partly_ordered=True, handed=handed)
    return {*named} & _missed(kernel.flow, kept, sharing, accesses).keys()


def _has_returns(flow: Flow, sharing: Sharing) -> bool:
    """Whether threads part at a choice with a side from which neither a barrier nor an access is reached."""
    return any(
        flow.blocks[block].is_choice
        and not sharing.is_shared_choice(block)
        and len({each == flow.exit or sharing.is_gone(each) for each in flow.following[block]}) > 1
        for block in flow.place
        if block != flow.exit
    )


def _missed(flow: Flow, barriers: set[int], sharing: Sharing, accesses: set[int]) -> dict[int, tuple[int, bool]]:
    """The barriers that come before threads that part at a choice have met again.

    Each has the choice, and whether the threads that miss it return after accesses of their own. The graph
    ends at barriers, and leaves out what is gone: node n is a block up to its first barrier, and node
    n + count what is behind its last one.
    """
    found: dict[int, tuple[int, bool]] = {}
    holds = {flow.block_of[each] for each in barriers}
    count = flow.exit
    sink = 2 * count
    following: list[list[int]] = [[] for _ in range(sink + 1)]
    for block in range(count):
        after = [each for each in flow.following[block] if each != flow.exit and not sharing.is_gone(each)] or [sink]
        following[block] = [sink] if block in holds else after
        following[block + count] = after
    _end_loops(following, flow, sharing)
    meeting = immediate_dominators(sink, inverted(following))
    for block in flow.place:
        if block == flow.exit or not flow.blocks[block].is_choice or sharing.is_shared_choice(block):
            continue
        node = block + count if block in holds else block
        if len(following[node]) < 2 or meeting[node] not in (sink, None):
            continue
        region = reached(following[node], following, lambda each: each == sink)
        wrong = [each for each in barriers if flow.block_of[each] in region]
        if not wrong:
            continue
        is_returned = _is_returned(flow, following[node], holds, accesses)
        found |= {each: (block, is_returned) for each in wrong if each not in found}
    return found


def _end_loops(following: list[list[int]], flow: Flow, sharing: Sharing) -> None:
    """Give the nodes of a loop without a way to the end an edge to it: threads may stay there, or leave it for good.

    Post-dominators pass over nodes from which the end is not reached.
    """
    sink = len(following) - 1
    for is_left_for_good in (True, False):
        ends = reached([sink], inverted(following), lambda _: False)
        for node in range(sink):
            gone = any(each == flow.exit or sharing.is_gone(each) for each in flow.following[node % flow.exit])
            if node not in ends and (gone or not is_left_for_good):
                following[node] = [*following[node], sink]


def _is_returned(flow: Flow, sides: list[int], holds: set[int], accesses: set[int]) -> bool:
    """Whether the sides without a barrier have accesses that no other side has, and one side has barriers."""
    reach = [reached([each], flow.following, lambda node: node == flow.exit) for each in sides]
    on = [each for each in reach if each & holds]
    off = [each & accesses for each in reach if not each & holds]
    return len(on) == 1 and all(not each & on[0] for each in off)
