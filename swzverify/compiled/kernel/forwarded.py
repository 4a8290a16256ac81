"""Loads that may give a lane what it stored itself, and loads of words that the kernel itself may write.

Lanes that load one word together get one value. But if a lane stored to this word before, without a barrier between,
ptxas may use the stored register in place of the load, and the other lanes see another value. Only kernels with a race
do this; a verdict on costs does not rest on there being none.

Source: docs/semantics.md, section 6, "Words that lanes load".
"""

from __future__ import annotations

import re
from collections.abc import Sequence
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
from swzverify.compiled.kernel.linear import normal
from swzverify.compiled.kernel.own_stores import OwnStores
from swzverify.compiled.kernel.slices import Slices
from swzverify.compiled.kernel.values import address_of
from swzverify.compiled.ptx import Address, Instruction
from swzverify.ir.evaluate import evaluate_many
from swzverify.ir.expr import Expr

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


def take_apart(slices: Slices, forms: Forms, conditions: Sequence[Expr] | None = None) -> None:
    """Mark the loads of words to which stores of the kernel may have written.

    `conditions` are those that decide where threads go and which accesses they make. Without them, loads of global
    memory are left out.
    """
    loads = _Loads(slices, forms)
    not_global = [each for each in loads.stores if _space(each) != _GLOBAL]
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
        is_forwarded = loads.is_forwarded(index, [each for each in loads.stores if each.index in writers])
        slices.leaves.mark(leaves, is_forwarded=is_forwarded, is_written=bool(writers))


class _Loads:
    """Says which loads may give a lane what it stored itself."""

    def __init__(self, slices: Slices, forms: Forms) -> None:
        self._slices, self._forms = slices, forms
        instructions = slices.function.instructions
        self.plain = [
            each for each in instructions if _PLAIN.fullmatch(each.opcode) and not _STRONG.fullmatch(each.opcode)
        ]
        self.stores = [each for each in self.plain if each.opcode.startswith("st")]
        self._loads = {each.index: each for each in self.plain if each.opcode.startswith("ld")}

    def is_forwarded(self, index: int, stores: Sequence[Instruction]) -> bool:
        """Whether the load of this index may give a lane what one of some stores wrote."""
        load = self._loads.get(index)
        if load is None or not stores:
            return False
        before = _before(self._slices, load)
        return any(each.index in before and _may_meet(self._slices, self._forms, each, load) for each in stores)


def _before(slices: Slices, load: Instruction) -> set[int]:
    """The instructions from which a path leads to a load without a barrier."""
    flow, instructions = slices.flow, slices.function.instructions
    barrier = _BARRIER if _space(load) == _GLOBAL else _BARRIER_OR_WAIT
    found: set[int] = set()
    pending = [(flow.block_of[load.index], load.index)]
    seen: set[int] = set()
    while pending:
        block, stop = pending.pop()
        for at in range(stop - 1, flow.blocks[block].start - 1, -1):
            if barrier.fullmatch(instructions[at].opcode):
                break
            found.add(at)
        else:
            more = [each for each in flow.before[block] if each not in seen and flow.is_reachable(each)]
            seen.update(more)
            pending += [(each, flow.blocks[each].stop) for each in more]
    return found


def _may_meet(slices: Slices, forms: Forms, store: Instruction, load: Instruction) -> bool:
    """Whether a store and a load of one thread may touch a common byte."""
    spaces = {_space(store), _space(load)}
    if spaces == {_SHARED, _GLOBAL}:
        return False
    if _GLOBAL not in spaces and spaces != {_SHARED}:
        return True
    bits = 64 if _GLOBAL in spaces else 32
    first, second = (_place(slices, forms, each, bits) for each in (store, load))
    leaves = [slices.leaves.of(each) for each in (first, second)]
    arrays = [[each for each in of if isinstance(each, ArrayLeaf)] for of in leaves]
    if all(len(of) == 1 and not of[0].symbol.is_extern for of in arrays) and arrays[0][0] is not arrays[1][0]:
        return False
    apart = normal(sub(first, second))
    if slices.threads is None or not are_all(slices.leaves.of(apart), LaneLeaf):
        return True
    # A place that does not depend on trips is the same in all of them.
    if not all(are_all(of, (UniformLeaf, LaneLeaf)) for of in leaves) or not is_small(apart):
        return True
    (distance,) = evaluate_many((apart,), slices.threads.point)
    away = np.minimum(distance % _ADDRESSES, -distance % _ADDRESSES)
    return bool((away < WIDEST_BYTES).any())


def _space(instruction: Instruction) -> str:
    """`shared`, `global` or empty."""
    found = _PLAIN.fullmatch(instruction.opcode)
    return (found[1] if found else None) or ""


def _place(slices: Slices, forms: Forms, instruction: Instruction, bits: int) -> Expr:
    """The address."""
    operand = next(each for each in instruction.operands if isinstance(each, Address))
    return widened(forms.resolve(slices.run(address_of(slices, operand, instruction))), bits)
