"""Values that the lanes of a warp, or the threads at a barrier, pass to one another.

Source: PTX ISA, Data Movement and Conversion Instructions: shfl.sync; Parallel Synchronization and
Communication Instructions: vote.sync, activemask, barrier.red.
"""

from __future__ import annotations

import re
from typing import Final

import numpy as np

from swzverify.compiled.ptx import Instruction, Operand
from swzverify.compiled.ptx.operands import Pair
from swzverify.compiled.trial.lanes import Lanes
from swzverify.compiled.trial.memory import Array, Mask
from swzverify.hardware import LANES

_SHUFFLE: Final = re.compile(r"shfl(?:\.sync)?\.(up|down|bfly|idx)\.b32")
_VOTE: Final = re.compile(r"vote\.sync\.(all|any|uni|ballot)\.(?:pred|b32)")

REDUCTION: Final = re.compile(
    r"bar(?:\.cta)?\.red\.(popc\.u32|(?:and|or)\.pred)"
    r"|barrier(?:\.cta)?\.red\.(popc(?:\.aligned)?\.u32|(?:and|or)(?:\.aligned)?\.pred)"
)
"""Barriers that make something of a predicate of each thread."""


def can_exchange(instruction: Instruction) -> bool:
    """Whether `exchange` knows the instruction."""
    opcode, count = instruction.opcode, len(instruction.operands)
    if opcode == "elect.sync":
        return count == 2
    is_vote = _VOTE.fullmatch(opcode) is not None and count == 3
    return opcode == "activemask.b32" or is_vote or (_SHUFFLE.fullmatch(opcode) is not None and count >= 4)


def exchange(instruction: Instruction, lanes: Lanes, active: Mask) -> None:
    """Run an instruction that passes values between lanes."""
    opcode, operands = instruction.opcode, instruction.operands
    if opcode == "activemask.b32":
        lanes.write(operands[0], _ballot(active), lanes.everything, active)
    elif opcode == "elect.sync":
        _elect(operands, lanes, active)
    elif found := _SHUFFLE.fullmatch(opcode):
        _shuffle(found[1], operands, lanes, active)
    elif found := _VOTE.fullmatch(opcode):
        _vote(found[1], operands, lanes, active)
    else:
        raise AssertionError(opcode)


def _elect(operands: tuple[Operand, ...], lanes: Lanes, active: Mask) -> None:
    """Elect the first lane of a mask; PTX leaves open which one it is."""
    mask, known = lanes.read(operands[1], 32)
    named = mask & _ballot(active)
    first = named & -named
    lane = np.arange(lanes.threads) % LANES
    targets = (operands[0].first, operands[0].second) if isinstance(operands[0], Pair) else (operands[0],)
    lanes.write(targets[-1], (first >> lane) & 1, known, active)
    if len(targets) > 1:
        lanes.write(targets[0], np.log2(np.maximum(first, 1)).astype(np.int64), known, active)


def _shuffle(mode: str, operands: tuple[Operand, ...], lanes: Lanes, active: Mask) -> None:
    value, of_value = lanes.read(operands[1], 32)
    step, of_step = lanes.read(operands[2], 32)
    limit, of_limit = lanes.read(operands[3], 32)
    thread = np.arange(lanes.threads)
    lane = thread % LANES
    step, segment = step & 31, limit >> 8 & 31
    last = lane & segment | limit & 31 & ~segment
    match mode:
        case "up":
            source = lane - step
            taken = source >= last
        case "down":
            source = lane + step
            taken = source <= last
        case "bfly":
            source = lane ^ step
            taken = source <= last
        case _:
            source = lane & segment | step & ~segment
            taken = source <= last
    source = thread - lane + np.where(taken, source, lane) % LANES
    # What a lane has that is elsewhere now is not known.
    known = of_step & of_limit & of_value[source] & active[source]
    target, predicate = (
        (operands[0].first, operands[0].second) if isinstance(operands[0], Pair) else (operands[0], None)
    )
    lanes.write(target, value[source], known, active)
    if predicate is not None:
        lanes.write(predicate, taken.astype(np.int64), of_step & of_limit, active)


def _vote(mode: str, operands: tuple[Operand, ...], lanes: Lanes, active: Mask) -> None:
    value, known = lanes.read(operands[1], 1)
    mask, of_mask = lanes.read(operands[2], 32)
    here, yes = _ballot(active), _ballot(active & (value != 0))
    asked = mask & here
    # All lanes that are asked have to be here, but for those that the block does not have.
    present = _ballot(lanes.exists)
    told = of_mask & ((mask & present) == asked) & (_ballot(active & ~known) == 0)
    match mode:
        case "ballot":
            result = yes & mask
        case "all":
            result = ((yes & asked) == asked).astype(np.int64)
        case "any":
            result = ((yes & asked) != 0).astype(np.int64)
        case _:
            result = (((yes & asked) == asked) | ((yes & asked) == 0)).astype(np.int64)
    lanes.write(operands[0], result, told, active)


def _ballot(which: Mask) -> Array:
    """For each thread the lanes of its warp that are marked, one bit each."""
    warps = which.reshape(-1, LANES)
    bits = (warps.astype(np.int64) << np.arange(LANES)).sum(axis=1)
    return np.repeat(bits, LANES)


def reduce_at_barrier(instruction: Instruction, lanes: Lanes, active: Mask) -> None:
    """Give the active threads, which wait at a barrier, what it makes of their predicates."""
    value, known = lanes.read(instruction.operands[-1], 1)
    bits = value[active] != 0
    match instruction.opcode.partition(".red.")[2].partition(".")[0]:
        case "popc":
            result = int(bits.sum())
        case "and":
            result = int(bits.all())
        case _:
            result = int(bits.any())
    is_known = lanes.everything if known[active].all() else lanes.nothing
    lanes.write(instruction.operands[0], np.full(lanes.threads, result, dtype=np.int64), is_known, active)
