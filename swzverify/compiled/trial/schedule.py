"""In which order the instructions of a function run in a trial, and which of its loops wait for other blocks.

A trial runs one block, and the threads at the earliest instruction run first. So once all threads that are in a loop
that waits for a word of global memory, such as a lock, begin another trip, nothing changes the word any more: they go
on until the trial has no steps left.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final

import numpy as np

from swzverify.compiled.kernel.effects import registers_in, written
from swzverify.compiled.kernel.evaluate import space_of
from swzverify.compiled.kernel.flow import Block, Flow, base_name, in_one_piece
from swzverify.compiled.ptx import Address, Function, Instruction, Register
from swzverify.compiled.trial.memory import Array, Mask
from swzverify.hardware import LANES

_COMPUTES: Final = frozenset(
    {"add", "sub", "min", "max", "and", "or", "xor", "not", "shl", "shr", "mov", "cvt", "setp", "selp"}
)
"""Opcodes that change the registers that they write, and nothing else."""
_WAITS: Final = frozenset({"membar", "fence", "nanosleep"})


@lru_cache(maxsize=4)
def paths_of(function: Function) -> tuple[Flow, Array, frozenset[int]]:
    """The control flow of a function, the order in which its instructions first run, and the loops that wait.

    The end and unreachable instructions come last.
    """
    flow = Flow(function)
    end = len(function.instructions)
    order = np.full(end + 1, end, dtype=np.int64)
    at = 0
    for block in map(flow.blocks.__getitem__, in_one_piece(flow)):
        order[block.start : block.stop] = np.arange(at, at + block.stop - block.start)
        at += block.stop - block.start
    return flow, order, frozenset(each.index for each in flow.blocks if _is_waiting(function, each))


class EarlyTrips:
    """Finds the lanes that begin a trip of a loop while others of their warp are in the trip before.

    Only loops that several blocks lead back to have such lanes. Whether they run ahead or wait at the header is not
    known: an H200 was measured to have them wait, if all ways from where the lanes parted lead to the header.
    """

    def __init__(self, flow: Flow, end: int) -> None:
        self._back: dict[int, list[tuple[int, Mask]]] = {}
        for loop in (each for each in flow.loops if len(each.latches) > 1):
            inside = np.zeros(end + 1, dtype=np.bool_)
            for each in loop.blocks - {loop.header}:
                inside[flow.blocks[each].start : flow.blocks[each].stop] = True
            for latch in loop.latches:
                self._back.setdefault(latch, []).append((flow.blocks[loop.header].start, inside))

    def may_be_behind(self, block: Block) -> bool:
        """Whether threads may begin a trip behind a block while others are in the one before."""
        return block.index in self._back

    def of(self, block: Block, before: Array, after: Array, active: Mask) -> Array:
        """The numbers of such threads, as the active ones go from a block to `after` and others stay at `before`."""
        found = np.zeros(len(active), dtype=np.bool_)
        for header, inside in self._back.get(block.index, ()):
            others = inside[np.where(active, after, before)].reshape(-1, LANES).any(axis=1)
            found |= active & (after == header) & np.repeat(others, LANES)
        return np.flatnonzero(found)


def _is_waiting(function: Function, block: Block) -> bool:
    """Whether a block is a loop whose trips are all alike as long as other threads do nothing.

    It loads from global memory and computes. Each trip begins with registers that no trip changes.
    """
    if not any(way.target == block.index for way in block.ways):
        return False
    *body, last = function.instructions[block.start : block.stop]
    if not all(map(_is_plain, body)) or base_name(last) != "bra":
        return False
    changed = {each for instruction in body for each in written(instruction)}
    known: set[object] = set()
    for instruction in body:
        if not known.issuperset(changed.intersection(_read(instruction))):
            return False
        known.update(written(instruction))
    return True


def _is_plain(instruction: Instruction) -> bool:
    name = base_name(instruction)
    if instruction.guard is not None:
        return False
    if any(isinstance(each, Address) for each in instruction.operands):
        return name == "ld" and space_of(instruction.opcode) == "global"
    return name in _COMPUTES or name in _WAITS


def _read(instruction: Instruction) -> set[Register]:
    """The registers that an instruction reads."""
    sources = instruction.operands[1:] if written(instruction) else instruction.operands
    return {register for each in sources for register in registers_in(each)}
