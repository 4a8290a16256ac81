"""`elect.sync` of whole warps, if lane 0 is taken to be the one that is elected.

PTX says that the same lane is elected each time, and not which one. So a verdict that rests on it names the
assumption.

Source: PTX ISA, Parallel Synchronization and Communication Instructions: elect.sync; docs/semantics.md, section 11.
"""

from __future__ import annotations

from typing import Final

from swzverify.compiled.kernel.arithmetic import is_zero, widened
from swzverify.compiled.kernel.effects import width_of, written
from swzverify.compiled.kernel.evaluate import evaluate, names_all
from swzverify.compiled.kernel.flow import base_name
from swzverify.compiled.kernel.slices import Slices, Steps
from swzverify.compiled.kernel.warps import lane_in_whole_warp
from swzverify.compiled.ptx import Instruction, Register
from swzverify.ir.expr import const

FIRST_IS_ELECTED: Final = "elect.sync elects lane 0 of each warp, at {}"


def evaluate_with_elections(slices: Slices, instruction: Instruction, at: int) -> Steps:
    """The value for the operand at a place of `written`, with lane 0 elected."""
    if base_name(instruction) == "elect" and instruction.guard is None and len(instruction.operands) == 2:
        lane = lane_in_whole_warp(slices, slices.flow.block_of[instruction.index])
        is_of_all = yield from names_all(slices, instruction.operands[1], instruction)
        if lane is not None and is_of_all:
            target = written(instruction)[at]
            width = width_of(target) if isinstance(target, Register) else 32
            return widened(is_zero(lane), 1) if at else const(0, width)
    return (yield from evaluate(slices, instruction, at))
