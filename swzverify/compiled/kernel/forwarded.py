"""Loads that may give a lane what it stored itself, and loads of words that the kernel itself may write.

Lanes that load one word together get one value. But if a lane stored to this word before, without a barrier between,
ptxas may use the stored register in place of the load, and the other lanes see another value. Only kernels with a race
do this; a verdict on costs does not rest on there being none.

Source: docs/semantics.md, section 6, "Words that lanes load".
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Collection, Container, Iterator, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter
from typing import Final

import numpy as np

from swzverify.compiled.kernel.arithmetic import sub, widened
from swzverify.compiled.kernel.induction import Forms
from swzverify.compiled.kernel.lanes import is_small
from swzverify.compiled.kernel.leaves import (
    ArrayLeaf,
    LaneLeaf,
    Made,
    OpaqueLeaf,
    UniformLeaf,
    are_all,
    is_written_perhaps,
)
from swzverify.compiled.kernel.linear import normal, sum_of
from swzverify.compiled.kernel.own_stores import OwnStores
from swzverify.compiled.kernel.slices import Slices
from swzverify.compiled.kernel.values import address_of
from swzverify.compiled.ptx import Address, Instruction
from swzverify.ir.evaluate import evaluate_many
from swzverify.ir.expr import Expr, Ite, Var, postorder, variables

_PLAIN: Final = re.compile(
    r"(?:st|ldu?)(?:\.weak)?(?:\.(shared|global)(?:::(?:cta|cluster))?)?(?:\.(?!async|bulk|nc)[\w:]+)*"
)
_STRONG: Final = re.compile(r".*\.(?:volatile|relaxed|acquire|release|mmio|local|param|const)\b.*")
WIDEST_BYTES: Final = 32
"""Of a load or store."""
_BARRIER: Final = re.compile(r"bar(?:rier)?\..*")
_BARRIER_OR_WAIT: Final = re.compile(rf"{_BARRIER.pattern}|mbarrier\.(?:try|test)_wait.*")
_SHARED: Final = "shared"
_GLOBAL: Final = "global"
_ADDRESSES: Final = 1 << 32
"""Distances count modulo this: addresses that are so many bytes apart are taken to meet."""
_INDEX: Final = attrgetter("index")


def take_apart(slices: Slices, forms: Forms, conditions: Sequence[Expr] | None = None) -> None:
    """Mark the loads of words to which stores of the kernel may have written.

    `conditions` are those that decide where threads go and which accesses they make. Without them, loads of global
    memory are left out.
    """
    loads = _Loads(slices, forms)
    not_global = {each.index for each in loads.stores if _space(each) != _GLOBAL}
    in_shared: dict[int, list[OpaqueLeaf]] = {}
    in_global: dict[int, list[OpaqueLeaf]] = {}
    for leaf in slices.leaves.by_name.values():
        if is_written_perhaps(leaf):
            in_global.setdefault(leaf.index, []).append(leaf)
        elif isinstance(leaf, OpaqueLeaf) and leaf.made is Made.MOMENT:
            in_shared.setdefault(leaf.index, []).append(leaf)
    for index, leaves in in_shared.items():
        slices.leaves.mark(leaves, is_forwarded=loads.is_forwarded(index, not_global))
    if not in_global or conditions is None:
        return
    stores = OwnStores(slices, [*conditions, *(slices.run(slices.guard(each)) for each in loads.plain)])
    for index, leaves in in_global.items():
        writers = {*stores.writers(leaves[0].feeds), *stores.compared(leaves[0].feeds)}
        slices.leaves.mark(leaves, is_forwarded=loads.is_forwarded(index, writers), is_written=bool(writers))


class _Loads:
    """Says which loads may give a lane what it stored itself."""

    def __init__(self, slices: Slices, forms: Forms) -> None:
        self.plain = [
            each
            for each in slices.function.instructions
            if _PLAIN.fullmatch(each.opcode) and not _STRONG.fullmatch(each.opcode)
        ]
        self.stores = [each for each in self.plain if each.opcode.startswith("st")]
        self._loads = {each.index: each for each in self.plain if each.opcode.startswith("ld")}
        self._places = _Places(slices, forms)
        self._before_global = _Before(slices, self.stores, _BARRIER)
        self._before = _Before(slices, self.stores, _BARRIER_OR_WAIT)

    def is_forwarded(self, index: int, writers: Collection[int]) -> bool:
        """Whether the load of this index may give a lane what one of the stores of some indices wrote."""
        load = self._loads.get(index)
        if load is None or not writers:
            return False
        before = self._before_global if _space(load) == _GLOBAL else self._before
        return any(each.index in writers and self._places.may_meet(each, load) for each in before.of(load))


class _Before:
    """The stores from which a path leads to a load without a barrier."""

    def __init__(self, slices: Slices, stores: Sequence[Instruction], barrier: re.Pattern[str]) -> None:
        self._flow = flow = slices.flow
        self._stores: list[list[Instruction]] = [[] for _ in flow.blocks]
        for each in stores:
            self._stores[flow.block_of[each.index]].append(each)
        self._barriers: list[list[int]] = [[] for _ in flow.blocks]
        for each in slices.function.instructions:
            if each.guard is None and barrier.fullmatch(each.opcode):
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
    """An address as a sum, of 32 bits in shared memory and of 64 bits elsewhere.

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
        self._known: dict[int, _Place] = {}
        self._between: dict[tuple[Expr, Expr], list[int] | None] = {}

    def may_meet(self, store: Instruction, load: Instruction) -> bool:
        """Whether both may touch a byte."""
        spaces = {_space(store), _space(load)}
        if spaces == {_SHARED, _GLOBAL}:
            return False
        if _GLOBAL not in spaces and spaces != {_SHARED}:
            return True
        first, second = self._of(store), self._of(load)
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

    def _of(self, instruction: Instruction) -> _Place:
        """Where an instruction reads or writes."""
        if instruction.index not in self._known:
            self._known[instruction.index] = self._read(instruction)
        return self._known[instruction.index]

    def _read(self, instruction: Instruction) -> _Place:
        slices = self._slices
        operand = next(each for each in instruction.operands if isinstance(each, Address))
        value = self._forms.resolve(slices.run(address_of(slices, operand, instruction)))
        address = widened(value, 32 if _space(instruction) == _SHARED else 64)
        leaves, total = slices.leaves.of(address), sum_of(address)
        arrays = [each for each in leaves if isinstance(each, ArrayLeaf)]
        # An address that is in an array or elsewhere, as a choice says, is in no array.
        chosen = {each for node in postorder(address) if isinstance(node, Ite) for each in variables(node)}
        return _Place(
            replace(total, number=0).expression(),
            total.number,
            arrays[0] if len(arrays) == 1 and not _is_open(arrays[0], chosen) else None,
            are_all(leaves, (UniformLeaf, LaneLeaf)),
        )

    def _distances(self, first: Expr, second: Expr) -> list[int] | None:
        """How far the first base is behind the second one in any thread, in ascending order; None if not known."""
        threads, apart = self._slices.threads, normal(sub(first, second))
        if threads is None or not are_all(self._slices.leaves.of(apart), LaneLeaf) or not is_small(apart):
            return None
        (distances,) = evaluate_many((apart,), threads.point)
        found: list[int] = np.unique(np.asarray(distances) % _ADDRESSES).tolist()
        return found


def _is_open(array: ArrayLeaf, chosen: Container[Var]) -> bool:
    """Whether an address that reads where an array begins may be outside of it."""
    return array.symbol.is_extern or array.variable in chosen


def _space(instruction: Instruction) -> str:
    """`shared`, `global` or empty."""
    found = _PLAIN.fullmatch(instruction.opcode)
    return (found[1] if found else None) or ""
