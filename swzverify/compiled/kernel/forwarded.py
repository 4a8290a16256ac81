"""Loads that may give a lane what it stored itself.

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
from swzverify.compiled.kernel.leaves import ArrayLeaf, LaneLeaf, Made, OpaqueLeaf, UniformLeaf, is_launch_value
from swzverify.compiled.kernel.linear import normal
from swzverify.compiled.kernel.slices import Slices
from swzverify.compiled.kernel.values import address_of
from swzverify.compiled.ptx import Address, Instruction
from swzverify.ir.evaluate import evaluate_many
from swzverify.ir.expr import Expr

_PLAIN: Final = re.compile(
    r"(st|ld)(?:\.weak)?(?:\.(shared|global)(?:::(?:cta|cluster))?)?((?:\.(?!async|bulk|nc)\w+)*)"
)
_STRONG: Final = re.compile(r".*\.(?:volatile|relaxed|acquire|release|mmio|local|param|const)\b.*")
_SHARED: Final = "shared"
_GLOBAL: Final = "global"
WIDEST_BYTES: Final = 32
"""Of a load or store."""
_BARRIER: Final = re.compile(r"bar(?:rier)?\..*|mbarrier\.(?:try|test)_wait.*")


def take_apart(slices: Slices, forms: Forms) -> None:
    """Let each lane have its own value of the loads that may give it what it stored itself."""
    plain = [
        (each, found[1])
        for each in slices.function.instructions
        if (found := _PLAIN.fullmatch(each.opcode)) and not _STRONG.fullmatch(each.opcode)
    ]
    stores = [each for each, kind in plain if kind == "st"]
    loads = {each.index: each for each, kind in plain if kind == "ld"}
    for leaf in [*slices.leaves.by_name.values()] if stores else ():
        if not isinstance(leaf, OpaqueLeaf) or leaf.made not in (Made.MOMENT, Made.INPUT):
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
    """Whether a store and a load of one thread may touch a common byte.

    Global memory that two values of the launch point to is taken to be two buffers.
    """
    spaces = {_space(each) for each in (store, load)}
    if spaces == {_SHARED, _GLOBAL}:
        return False
    if spaces == {_SHARED, ""}:
        return True
    bits = 32 if spaces == {_SHARED} else 64
    first, second = (_place(slices, forms, each, bits) for each in (store, load))
    leaves = [slices.leaves.of(each) for each in (first, second)]
    arrays = [[each for each in of if isinstance(each, ArrayLeaf)] for of in leaves]
    if all(len(of) == 1 and not of[0].symbol.is_extern for of in arrays) and arrays[0][0] is not arrays[1][0]:
        return False
    apart = normal(sub(first, second))
    pointers = [{each for each in of if is_launch_value(each) and each.variable.limit == 1 << 64} for of in leaves]
    if all(pointers) and pointers[0].isdisjoint(pointers[1]):
        return False
    left = slices.leaves.of(apart)
    if slices.threads is None or not all(isinstance(each, LaneLeaf) for each in left):
        return True
    # A place that does not depend on trips is the same in all of them.
    fixed = all(isinstance(each, ArrayLeaf | LaneLeaf | UniformLeaf) for of in leaves for each in of)
    if not fixed or not is_small(apart):
        return True
    (distance,) = evaluate_many((apart,), slices.threads.point)
    away = np.minimum(distance % (1 << 32), -distance % (1 << 32))
    return bool((away < WIDEST_BYTES).any())


def _space(instruction: Instruction) -> str:
    found = _PLAIN.fullmatch(instruction.opcode)
    return (found[2] if found else None) or ""


def _place(slices: Slices, forms: Forms, instruction: Instruction, bits: int) -> Expr:
    """The address."""
    operand = next(each for each in instruction.operands if isinstance(each, Address))
    return widened(forms.resolve(slices.run(address_of(slices, operand, instruction))), bits)
