"""Loads of shared memory that may give a lane what it stored itself.

Lanes that load one word together get one value. But if a lane stored to this word before, without a barrier between,
ptxas may use the stored register in place of the load, and the other lanes see another value. Only kernels with a race
do this; a verdict on costs does not rest on there being none.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass, replace
from operator import attrgetter
from typing import Final

import numpy as np

from swzverify.compiled.kernel.arithmetic import sub, widened
from swzverify.compiled.kernel.induction import Forms
from swzverify.compiled.kernel.lanes import is_small
from swzverify.compiled.kernel.leaves import ArrayLeaf, LaneLeaf, Made, OpaqueLeaf
from swzverify.compiled.kernel.linear import normal, sum_of
from swzverify.compiled.kernel.slices import Slices
from swzverify.compiled.kernel.values import address_of
from swzverify.compiled.ptx import Address, Instruction
from swzverify.ir.evaluate import evaluate_many
from swzverify.ir.expr import Expr

_STORE: Final = re.compile(r"st(?:\.weak)?(?:\.shared(?:::(?:cta|cluster))?)?(?:\.(?!async|bulk)\w+)*")
_LOAD: Final = re.compile(r"ld(?:\.weak)?(?:\.shared(?:::(?:cta|cluster))?)?(?:\.\w+)*")
_STRONG: Final = re.compile(r".*\.(?:volatile|relaxed|acquire|release|mmio|global|local|param|const)\b.*")
WIDEST_BYTES: Final = 32
"""Of a load or store."""
_ADDRESSES: Final = 1 << 32
_INDEX: Final = attrgetter("index")
_BARRIER: Final = re.compile(r"bar(?:rier)?\..*|mbarrier\.(?:try|test)_wait.*")


def take_apart(slices: Slices, forms: Forms) -> None:
    """Let each lane have its own value of the loads that may give it what it stored itself."""
    plain = [each for each in slices.function.instructions if not _STRONG.fullmatch(each.opcode)]
    stores = [each for each in plain if _STORE.fullmatch(each.opcode)]
    if not stores:
        return
    loads = {each.index: each for each in plain if _LOAD.fullmatch(each.opcode)}
    before, places = _Before(slices, stores), _Places(slices, forms)
    for leaf in [*slices.leaves.by_name.values()]:
        if not isinstance(leaf, OpaqueLeaf) or leaf.made is not Made.MOMENT:
            continue
        load = loads.get(leaf.index)
        if load is not None and any(places.may_meet(each, load) for each in before.of(load)):
            slices.leaves.make_own(leaf)


class _Before:
    """The stores from which a path leads to a load without a barrier."""

    def __init__(self, slices: Slices, stores: list[Instruction]) -> None:
        self._flow = flow = slices.flow
        self._stores: list[list[Instruction]] = [[] for _ in flow.blocks]
        for each in stores:
            self._stores[flow.block_of[each.index]].append(each)
        self._barriers: list[list[int]] = [[] for _ in flow.blocks]
        for each in slices.function.instructions:
            if _BARRIER.fullmatch(each.opcode):
                self._barriers[flow.block_of[each.index]].append(each.index)

    def of(self, load: Instruction) -> Iterator[Instruction]:
        """The stores before a load; one that it may run after in a loop, too."""
        flow = self._flow
        pending = [(flow.block_of[load.index], load.index)]
        seen: set[int] = set()
        while pending:
            block, stop = pending.pop()
            stores, barriers = self._stores[block], self._barriers[block]
            barrier = bisect_left(barriers, stop)
            first = bisect_left(stores, barriers[barrier - 1], key=_INDEX) if barrier else 0
            yield from stores[first : bisect_left(stores, stop, key=_INDEX)]
            if not barrier:
                more = [each for each in flow.before[block] if each not in seen and flow.is_reachable(each)]
                seen.update(more)
                pending += [(each, flow.blocks[each].stop) for each in more]


@dataclass(frozen=True, slots=True)
class _Place:
    """An address of 32 bits as a sum.

    Attributes:
        base: The sum without its number.
        number: The number.
        array: The array of the kernel that it is in; None if that is not known.
        is_fixed: Whether it is the same in all trips of loops.
    """

    base: Expr
    number: int
    array: ArrayLeaf | None
    is_fixed: bool


class _Places:
    """Whether a store and a load of one thread may touch a common byte.

    Many addresses differ in their number alone, so the distances of all threads are computed once for two bases.
    """

    def __init__(self, slices: Slices, forms: Forms) -> None:
        self._slices, self._forms = slices, forms
        self._known: dict[int, _Place | None] = {}
        self._between: dict[tuple[Expr, Expr], list[int] | None] = {}

    def may_meet(self, store: Instruction, load: Instruction) -> bool:
        """Whether both may touch a byte."""
        first, second = self._of(store), self._of(load)
        if first is None or second is None:
            return True
        if first.array is not None and second.array is not None and first.array is not second.array:
            return False
        # A place that does not depend on trips is the same in all of them.
        if not first.is_fixed or not second.is_fixed:
            return True
        bases = (first.base, second.base)
        if bases not in self._between:
            self._between[bases] = self._distances(*bases)
        distances = self._between[bases]
        if distances is None:
            return True
        least = (second.number - first.number - WIDEST_BYTES + 1) % _ADDRESSES
        at = bisect_left(distances, least)
        nearest = distances[at] if at < len(distances) else distances[0] + _ADDRESSES
        return nearest - least < 2 * WIDEST_BYTES - 1

    def _of(self, instruction: Instruction) -> _Place | None:
        if instruction.index not in self._known:
            self._known[instruction.index] = self._read(instruction)
        return self._known[instruction.index]

    def _read(self, instruction: Instruction) -> _Place | None:
        """Where an instruction reads or writes; None for a generic address."""
        slices = self._slices
        operand = next((each for each in instruction.operands if isinstance(each, Address)), None)
        if operand is None or "shared" not in instruction.opcode:
            return None
        address = widened(self._forms.resolve(slices.run(address_of(slices, operand, instruction))), 32)
        leaves, total = slices.leaves.of(address), sum_of(address)
        arrays = [each for each in leaves if isinstance(each, ArrayLeaf)]
        return _Place(
            replace(total, number=0).expression(),
            total.number,
            arrays[0] if len(arrays) == 1 and not arrays[0].symbol.is_extern else None,
            all(isinstance(each, ArrayLeaf | LaneLeaf) for each in leaves),
        )

    def _distances(self, first: Expr, second: Expr) -> list[int] | None:
        """How far the first base is behind the second one in any thread, in ascending order; None if not known."""
        threads, apart = self._slices.threads, normal(sub(first, second))
        is_known = all(isinstance(each, LaneLeaf) for each in self._slices.leaves.of(apart))
        if threads is None or not is_known or not is_small(apart):
            return None
        (distances,) = evaluate_many((apart,), threads.point)
        found: list[int] = np.unique(distances).tolist()
        return found
