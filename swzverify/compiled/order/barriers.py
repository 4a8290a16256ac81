"""What each instruction orders: barriers of the block and of a warp, and orders that are not modelled.

Leaving out an order is sound for a proof that nothing races. A race that is found may then be none.

Source: PTX ISA, Parallel Synchronization and Communication Instructions: bar, barrier, bar.warp.sync,
barrier.cluster, mbarrier; Memory Consistency Model.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from swzverify.compiled.kernel.flow import base_name
from swzverify.compiled.kernel.lanes import ALL_LANES
from swzverify.compiled.kernel.whole import Kernel
from swzverify.compiled.ptx import Instruction

MASKED: Final = "bar.warp.sync with a mask, or in parts of a warp, is not modelled"
SPLIT: Final = "a barrier of the cluster whose threads go on between arrival and wait is not modelled"
NAMED: Final = "a barrier of a part of the block, or with its number in a register, is not modelled"
_WHOLE: Final = re.compile(r"bar(?:rier)?(?:\.cta)?\.(?:sync|red)\b.*")
_BARRIERS: Final = frozenset({"bar", "barrier", "mbarrier"})
CLUSTER_BARRIER: Final = re.compile(r"barrier\.cluster\.(arrive|wait)(?:\.(?:release|acquire|relaxed))?(?:\.aligned)?")
_OF_INITS: Final = re.compile(r"fence\.mbarrier_init\.release\.cluster")
_OF_REGISTERS: Final = frozenset(
    {"mov", "add", "sub", "mul", "mad", "and", "or", "xor", "not", "shl", "shr", "cvt", "cvta", "setp", "selp", "mapa"}
)
_FLAGS: Final = re.compile(r"(?:ld|atom|red|fence)\b.*\.(?:acquire|acq_rel|sc)\b.*")


class Scope(StrEnum):
    """Whose accesses a barrier orders."""

    CLUSTER = "cluster"
    BLOCK = "block"
    WARP = "warp"

    def holds(self, other: Scope) -> bool:
        """Whether the threads of another scope are some of those of this one."""
        return list(Scope).index(self) <= list(Scope).index(other)


@dataclass(frozen=True, slots=True)
class Orders:
    """What orders the accesses of a kernel's threads.

    Attributes:
        barriers: The barriers that are modelled, by their instructions.
        unmodelled: The reasons why other barriers are not; threads may miss these, too.
        left_out: The reasons of all orders that are left out.
    """

    barriers: Mapping[int, Scope]
    unmodelled: Mapping[int, str]
    left_out: tuple[str, ...]


def orders_of(kernel: Kernel) -> Orders:
    """All that orders the accesses of a kernel's threads."""
    barriers: dict[int, Scope] = {}
    unmodelled: dict[int, str] = {}
    left_out: dict[str, None] = {}
    for each in kernel.function.instructions:
        if not kernel.flow.is_reachable(kernel.flow.block_of[each.index]):
            continue
        found = _order(each, kernel.constants.get(each.index, ()), kernel.ranks.threads)
        if isinstance(found, Scope):
            barriers[each.index] = found
        elif CLUSTER_BARRIER.fullmatch(each.opcode) and (wait := _meeting_at(kernel, each)):
            if wait == each.index:
                barriers[wait] = Scope.BLOCK if kernel.ranks.count == 1 else Scope.CLUSTER
        elif found:
            left_out[found] = None
            if base_name(each) in _BARRIERS:
                unmodelled[each.index] = found
    return Orders(barriers, unmodelled, tuple(left_out))


def _order(instruction: Instruction, values: tuple[int | None, ...], threads: int) -> Scope | str:
    """The scope of a barrier; a reason for an order that is left out; empty for no order."""
    opcode, name = instruction.opcode, base_name(instruction)
    if opcode.startswith("bar.warp.sync"):
        return Scope.WARP if values[:1] == (ALL_LANES,) and instruction.guard is None else MASKED
    if _WHOLE.fullmatch(opcode):
        return Scope.BLOCK if _is_whole(instruction, values, threads) else NAMED
    if name in ("bar", "barrier"):
        return SPLIT if "cluster" in opcode else "bar.arrive is not modelled"
    if (name == "mbarrier" and "wait" in opcode) or opcode.startswith("cp.async.mbarrier"):
        return "barriers in shared memory (mbarrier) are not modelled"
    if opcode.startswith(("cp.async.bulk.wait_group", "wgmma.wait_group", "tcgen05.wait")):
        return f"`{opcode}` is not modelled"
    return "an acquire or a fence may order accesses, which is not modelled" if _FLAGS.fullmatch(opcode) else ""


def _is_whole(instruction: Instruction, values: tuple[int | None, ...], threads: int) -> bool:
    """Whether all threads of the block take part: the number is known, and no other count is given."""
    operands = values
    if ".red" in instruction.opcode:
        # The result comes first, and a predicate last.
        operands = values[1:-1]
    is_counted = len(operands) == 1 or (len(operands) == 2 and operands[1] == threads)
    return instruction.guard is None and is_counted and operands[0] is not None


def _meeting_at(kernel: Kernel, instruction: Instruction) -> int | None:
    """The wait of a barrier of the cluster, from the arrival or the wait; None unless the one stands behind the other.

    Nothing between them works on memory or on what is in flight. Then the threads meet as at a barrier of the block.
    """
    instructions, block = kernel.function.instructions, kernel.flow.blocks[kernel.flow.block_of[instruction.index]]
    is_first = ".arrive" in instruction.opcode
    way = range(instruction.index, block.stop) if is_first else range(instruction.index, block.start - 1, -1)
    ends = [instructions[at] for at in way if _is_of_memory(instructions[at])][:2]
    if len(ends) < 2 or any(not CLUSTER_BARRIER.fullmatch(each.opcode) or each.guard is not None for each in ends):
        return None
    first, last = sorted(ends, key=lambda each: each.index)
    is_pair = ".arrive" in first.opcode and ".wait" in last.opcode and releases(kernel, first)
    return last.index if is_pair else None


def _is_of_memory(instruction: Instruction) -> bool:
    """Whether an instruction may work on memory, on its order, or on what is in flight."""
    is_plain = base_name(instruction) in _OF_REGISTERS or instruction.opcode.startswith("ld.param")
    return not is_plain


def releases(kernel: Kernel, instruction: Instruction) -> bool:
    """Whether what a thread did in shared memory before it arrives at the barrier of the cluster is released there.

    A relaxed arrival releases nothing. `fence.mbarrier_init` before it does so for the objects that are initialised.
    """
    if ".relaxed" not in instruction.opcode:
        return True
    flow, instructions = kernel.flow, kernel.function.instructions
    pending = [(flow.block_of[instruction.index], instruction.index, False)]
    seen: set[tuple[int, int, bool]] = set()
    while pending:
        block, stop, is_fenced = state = pending.pop()
        if state in seen:
            continue
        seen.add(state)
        for at in range(stop - 1, flow.blocks[block].start - 1, -1):
            opcode = instructions[at].opcode
            is_fenced = is_fenced or (_OF_INITS.fullmatch(opcode) is not None and instructions[at].guard is None)
            if at in kernel.parts and not (is_fenced and opcode.startswith("mbarrier.init.")):
                return False
        pending += [(each, flow.blocks[each].stop, is_fenced) for each in flow.before[block]]
    return True
