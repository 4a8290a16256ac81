"""What the memory of a block says of loops whose trips a parameter gives, if each access stays within its array.

`for (i = tid; i < n; i += ntid) s[i] = 0;` goes through s from trip to trip. If all of these stores are in s, the loop
makes no more trips than s has room for, and n is no larger than that either.

Let an access be made in every trip of a loop, at `a + step * t` in trip t, where the loop changes nothing of a. All
these addresses are in an array of `size` bytes, so two successive ones are exactly `step` apart as integers, and the
last trip that makes the access is at most `size / |step|`. A trip that is not whole may follow. Where one that goes on
to another trip means that all before it did, the thread goes on from no later trip.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np

from swzverify.compiled.kernel.arithmetic import add, either, sub
from swzverify.compiled.kernel.flow import Loop
from swzverify.compiled.kernel.leaves import ArrayLeaf, LaneLeaf, Leaf, UniformLeaf, are_all
from swzverify.compiled.kernel.linear import normal
from swzverify.compiled.kernel.shared import SharedAccess
from swzverify.compiled.kernel.symbols import SHARED_LIMIT
from swzverify.compiled.kernel.whole import Kernel
from swzverify.compiled.order.families import signed
from swzverify.compiled.order.instance import Instances, Place
from swzverify.compiled.order.step import BlockThreads
from swzverify.ir.evaluate import MAX_ARRAY_WIDTH, evaluate, evaluate_many
from swzverify.ir.expr import (
    Comparison,
    Const,
    Expr,
    Var,
    compare,
    conjunction,
    const,
    negation,
    postorder,
    substitute,
    variables,
)

_LAUNCHES: Final = (0, 1, 64, 1 << 10, -1)
"""Values of all parameters with which a launch is looked for that stays within its arrays."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """What holds if each access stays within its array.

    Attributes:
        most: The number of the last trip of some loops, by their headers.
        facts: What holds of every thread of the block.
    """

    most: Mapping[int, int]
    facts: tuple[Expr, ...]

    def of(self, instances: Instances, who: int, place: Place) -> list[Expr]:
        """What holds of one of two threads that is at a place."""
        found = [instances.value(each, who, ()) for each in self.facts]
        for header, _ in place:
            if header in self.most:
                trip = instances.value(instances.kernel.trips(header), who, place)
                found.append(compare(Comparison.ULE, trip, const(self.most[header], trip.width)))
        return found


class MemoryBounds:
    """Finds the bounds of a kernel; `never` shows that a condition on leaves of the kernel never holds."""

    def __init__(self, kernel: Kernel, never: Callable[[Expr], bool]) -> None:
        self._kernel, self._never = kernel, never

    def found(self) -> Bounds | None:
        """The bounds; None if there are none."""
        most: dict[int, int] = {}
        facts: dict[Expr, None] = {}
        for access in self._kernel.accesses:
            around = self._kernel.around(access.index)
            if not around or not self._is_in_every_trip(access, around[-1]):
                continue
            loop = around[-1]
            last = self._last_trip(access, loop)
            if last is None:
                continue
            most[loop.header] = min(last, most.get(loop.header, last))
            if len(around) == 1 and (fact := self._ends(access, loop, last)) is not None:
                facts[fact] = None
        return Bounds(most, tuple(facts) if self._may_hold(tuple(facts)) else ()) if most else None

    def _may_hold(self, facts: tuple[Expr, ...]) -> bool:
        """Whether some launch is found in which each thread fulfils all facts: others say nothing of any launch."""
        leaves = self._kernel.leaves.of(*facts)
        if any(node.width > MAX_ARRAY_WIDTH for node in postorder(*facts)):
            return False
        threads = BlockThreads(self._kernel.block)
        for number in _LAUNCHES:
            point = threads.point | {
                each.name: np.asarray(number % each.variable.limit) for each in leaves if not isinstance(each, LaneLeaf)
            }
            if all(found.all() for found in evaluate_many(facts, point)):
                return True
        return False

    def _is_in_every_trip(self, access: SharedAccess, loop: Loop) -> bool:
        flow, instruction = self._kernel.flow, access.instruction
        is_plain = not (access.reason or access.is_bulk or access.is_object or access.is_collective)
        is_named = "shared" in instruction.opcode and "cluster" not in instruction.opcode and not instruction.guard
        block = flow.block_of[access.index]
        return is_plain and is_named and all(flow.dominators.above(block, latch) for latch in loop.latches)

    def _last_trip(self, access: SharedAccess, loop: Loop) -> int | None:
        """The last trip that a thread can begin; None if the address does not say so."""
        trips, read = self._kernel.trips(loop.header), self._kernel.leaves.of(access.address)
        arrays = [leaf for leaf in read if isinstance(leaf, ArrayLeaf)]
        if len(arrays) != 1 or any(_is_of(leaf, loop) and leaf.variable is not trips for leaf in read):
            return None
        step = self._step(access.address, trips)
        return (arrays[0].symbol.size_bytes or SHARED_LIMIT) // abs(step) + 1 if step else None

    def _step(self, address: Expr, trips: Var) -> int:
        """By how much an address grows from one trip to the next one; 0 if that is not one number."""
        following = substitute(address, {trips: add(trips, const(1, trips.width))})
        step = sub(following, address)
        if not isinstance(step := normal(step), Const):
            guess = evaluate(step, {each.name: 0 for each in variables(step)})
            if not self._never(negation(compare(Comparison.EQ, step, const(guess, step.width)))):
                return 0
            step = const(guess, step.width)
        return signed(step.value)

    def _ends(self, access: SharedAccess, loop: Loop, last: int) -> Expr | None:
        """That a thread which surely makes the access goes on from no trip after the last one; None if unknown."""
        again, trips, sure = self._kernel.repeat[loop.header], self._kernel.trips(loop.header), access.who.sure
        if not again.is_exact or sure is None:
            return None
        read = self._kernel.leaves.of(again.condition, sure)
        if not are_all([leaf for leaf in read if leaf.variable is not trips], (LaneLeaf, UniformLeaf)):
            return None
        if trips not in variables(again.condition):
            return None
        before = substitute(again.condition, {trips: add(trips, const(-1, trips.width))})
        is_in = compare(Comparison.ULE, trips, const(last, trips.width))
        is_later = negation(compare(Comparison.EQ, trips, const(0, trips.width)))
        if not self._never(conjunction((again.condition, is_in, is_later, negation(before)))):
            return None
        at_first = substitute(sure, {trips: const(0, trips.width)})
        at_last = substitute(again.condition, {trips: const(last, trips.width)})
        return either(negation(at_first), negation(at_last))


def _is_of(leaf: Leaf, loop: Loop) -> bool:
    return leaf.block is not None and leaf.block in loop.blocks
