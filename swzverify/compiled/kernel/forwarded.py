"""Loads of shared memory that may give a lane what it stored itself.

Lanes that load one word together get one value. But if a lane stored to this word before, without a barrier between,
ptxas may use the stored register in place of the load, and the other lanes see another value. Only kernels with a race
do this; a verdict on costs does not rest on there being none.
"""

from __future__ import annotations

import re
from typing import Final

import numpy as np

from swzverify.compiled.kernel.arithmetic import sub, widened
from swzverify.compiled.kernel.induction import Forms
from swzverify.compiled.kernel.lanes import is_small
from swzverify.compiled.kernel.leaves import ArrayLeaf, LaneLeaf, Made, OpaqueLeaf
from swzverify.compiled.kernel.linear import normal
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
_BARRIER: Final = re.compile(r"bar(?:rier)?\..*|mbarrier\.(?:try|test)_wait.*")


def take_apart(slices: Slices, forms: Forms) -> None:
    """Let each lane have its own value of the loads that may give it what it stored itself."""
    plain = [each for each in slices.function.instructions if not _STRONG.fullmatch(each.opcode)]
    stores = [each for each in plain if _STORE.fullmatch(each.opcode)]
    loads = {each.index: each for each in plain if _LOAD.fullmatch(each.opcode)}
    for leaf in [*slices.leaves.by_name.values()] if stores else ():
        if not isinstance(leaf, OpaqueLeaf) or leaf.made is not Made.MOMENT:
            continue
        if (load := loads.get(leaf.index)) is None:
            continue
        before = _before(slices, load)
        if any(each.index in before and _may_meet(slices, forms, each, load) for each in stores):
            slices.leaves.make_own(leaf)


def _before(slices: Slices, load: Instruction) -> set[int]:
    """The instructions from which a path leads to a load without a barrier."""
    flow, instructions = slices.flow, slices.function.instructions
    found: set[int] = set()
    pending = [(flow.block_of[load.index], load.index)]
    seen: set[int] = set()
    while pending:
        block, stop = pending.pop()
        for at in range(stop - 1, flow.blocks[block].start - 1, -1):
            if _BARRIER.fullmatch(instructions[at].opcode):
                break
            found.add(at)
        else:
            more = [each for each in flow.before[block] if each not in seen and flow.is_reachable(each)]
            seen.update(more)
            pending += [(each, flow.blocks[each].stop) for each in more]
    return found


def _may_meet(slices: Slices, forms: Forms, store: Instruction, load: Instruction) -> bool:
    """Whether a store and a load of one thread may touch a common byte."""
    first, second = (_place(slices, forms, each) for each in (store, load))
    if first is None or second is None:
        return True
    leaves = [slices.leaves.of(each) for each in (first, second)]
    arrays = [[each for each in of if isinstance(each, ArrayLeaf)] for of in leaves]
    if all(len(of) == 1 and not of[0].symbol.is_extern for of in arrays) and arrays[0][0] is not arrays[1][0]:
        return False
    apart = normal(sub(first, second))
    if slices.threads is None or not all(isinstance(each, LaneLeaf) for each in slices.leaves.of(apart)):
        return True
    # A place that does not depend on trips is the same in all of them.
    if not all(isinstance(each, ArrayLeaf | LaneLeaf) for of in leaves for each in of) or not is_small(apart):
        return True
    (distance,) = evaluate_many((apart,), slices.threads.point)
    away = np.minimum(distance % (1 << apart.width), -distance % (1 << apart.width))
    return bool((away < WIDEST_BYTES).any())


def _place(slices: Slices, forms: Forms, instruction: Instruction) -> Expr | None:
    """The address, of 32 bits; None for a generic one."""
    operand = next((each for each in instruction.operands if isinstance(each, Address)), None)
    if operand is None or "shared" not in instruction.opcode:
        return None
    return widened(forms.resolve(slices.run(address_of(slices, operand, instruction))), 32)
