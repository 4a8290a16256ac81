"""What each instruction orders: barriers of the block and of a warp, and orders that are not modelled.

Leaving out an order is sound for a proof that nothing races. A race that is found may then be none.

Source: PTX ISA, Parallel Synchronization and Communication Instructions: bar, barrier, bar.warp.sync,
mbarrier; Memory Consistency Model.
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
NAMED: Final = "a barrier of a part of the block, or with its number in a register, is not modelled"
_WHOLE: Final = re.compile(r"bar(?:rier)?(?:\.cta)?\.(?:sync|red)\b.*")
_BARRIERS: Final = frozenset({"bar", "barrier", "mbarrier"})
_FLAGS: Final = re.compile(r"(?:ld|atom|red|fence)\b.*\.(?:acquire|acq_rel|sc)\b.*")


class Scope(StrEnum):
    """Whose accesses a barrier orders."""

    BLOCK = "block"
    WARP = "warp"


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
        found = _order(each, kernel.constants.get(each.index, ()), kernel.block)
        if isinstance(found, Scope):
            barriers[each.index] = found
        elif found:
            left_out[found] = None
            if base_name(each) in _BARRIERS:
                unmodelled[each.index] = found
    return Orders(barriers, unmodelled, tuple(left_out))


def _order(instruction: Instruction, values: tuple[int | None, ...], block: tuple[int, int, int]) -> Scope | str:
    """The scope of a barrier; a reason for an order that is left out; empty for no order."""
    opcode, name = instruction.opcode, base_name(instruction)
    if opcode.startswith("bar.warp.sync"):
        return Scope.WARP if values[:1] == (ALL_LANES,) and instruction.guard is None else MASKED
    if _WHOLE.fullmatch(opcode):
        return Scope.BLOCK if _is_whole(instruction, values, block) else NAMED
    if name in ("bar", "barrier"):
        return "barriers of a cluster are not modelled" if "cluster" in opcode else "bar.arrive is not modelled"
    if (name == "mbarrier" and "wait" in opcode) or opcode.startswith("cp.async.mbarrier"):
        return "barriers in shared memory (mbarrier) are not modelled"
    if opcode.startswith(("cp.async.bulk.wait_group", "wgmma.wait_group", "tcgen05.wait")):
        return f"`{opcode}` is not modelled"
    return "an acquire or a fence may order accesses, which is not modelled" if _FLAGS.fullmatch(opcode) else ""


def _is_whole(instruction: Instruction, values: tuple[int | None, ...], block: tuple[int, int, int]) -> bool:
    """Whether all threads of the block take part: the number is known, and no other count is given."""
    operands = values
    if ".red" in instruction.opcode:
        # The result comes first, and a predicate last.
        operands = values[1:-1]
    threads = block[0] * block[1] * block[2]
    is_counted = len(operands) == 1 or (len(operands) == 2 and operands[1] == threads)
    return instruction.guard is None and is_counted and operands[0] is not None
