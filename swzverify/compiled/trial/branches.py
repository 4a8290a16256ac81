"""Where threads go on behind a basic block with several ways.

Source: PTX ISA, Control Flow Instructions: bra, brx.idx.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Final

import numpy as np

from swzverify.compiled.kernel.flow import Block
from swzverify.compiled.ptx import Instruction
from swzverify.compiled.trial.code import EndError
from swzverify.compiled.trial.lanes import Lanes
from swzverify.compiled.trial.memory import Array, FaultError, Mask
from swzverify.hardware import LANES

_BEHIND: Final = 1 << 62
"""More than any instruction's index."""


def targets_of(block: Block, last: Instruction, lanes: Lanes, active: Mask, start: Callable[[int], int]) -> Array | int:
    """Where each thread goes on behind a block that chooses; one number if all go on at one instruction.

    `start` is the first instruction of a block, and `last` the one that chooses.

    Raises:
        EndError: A choice is not known.
        FaultError: A branch has no such case.
    """
    holds, known = lanes.everything, lanes.everything
    if last.guard is not None:
        bit, known = lanes.read(last.guard.register, 1)
        holds = (bit == 0) if last.guard.negated else (bit != 0)
    index = lanes.numbers
    if any(way.cases is not None for way in block.ways):
        index, of_index = lanes.read(last.operands[0], 32)
        known = known & (of_index | ~holds)
    if not lanes.are_known(known) and np.count_nonzero(unsure := active & ~known):
        raise EndError("a branch is not known", lanes.numbers[unsure])
    if (target := _target(block, holds, active, start)) is not None:
        return target
    targets = np.full(lanes.threads, -1, dtype=np.int64)
    for way in block.ways:
        takes = lanes.everything if way.guard is None else holds == way.guard
        if way.cases is not None:
            takes = takes & np.isin(index, way.cases)
        targets[takes] = start(way.target)
    if np.count_nonzero(nowhere := active & (targets < 0)):
        raise FaultError("a branch has no such case", lanes.numbers[nowhere])
    return targets


def _target(block: Block, holds: Mask, active: Mask, start: Callable[[int], int]) -> int | None:
    """Where all threads go on, if a guard alone chooses; None if they part, or if an index chooses."""
    taken = np.count_nonzero(active & holds)
    if taken and taken != np.count_nonzero(active):
        return None
    found: list[int] = []
    for way in block.ways:
        if way.cases is not None:
            return None
        if way.guard is None or way.guard == (taken > 0):
            found.append(start(way.target))
    return found[0] if len(found) == 1 else None


def count_ways(
    counts: Sequence[Counter[tuple[int, int]]], block: Block, lanes: Lanes, targets: Array | int, active: Mask
) -> None:
    """Count the ways that the threads of each block take, and whether lanes of a warp part."""
    if isinstance(targets, int):
        for number in lanes.blocks_of(active):
            counts[number][block.index, targets] += 1
        return
    least = np.minimum.reduceat(np.where(active, targets, _BEHIND), lanes.starts)
    most = np.maximum.reduceat(np.where(active, targets, -1), lanes.starts)
    for at in np.flatnonzero(most >= 0).tolist():
        ways = counts[lanes.block_list[at]]
        ways[block.index, int(least[at])] += 1
        if least[at] == most[at]:
            continue
        mine = slice(lanes.starts[at], lanes.starts[at] + lanes.sizes[at])
        here, rows = active[mine].reshape(-1, LANES), targets[mine].reshape(-1, LANES)
        ways.update((block.index, way) for way in np.unique(rows[here]).tolist() if way > least[at])
        if (rows.max(axis=1, where=here, initial=-1) > rows.min(axis=1, where=here, initial=_BEHIND)).any():
            ways[block.index, -1] += 1
