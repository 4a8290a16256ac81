"""Other blocks of a cluster: what reaches them, and a block that is the only one of its cluster.

An address of another block is that of this one, plus the rank of the other block times `RANK_BYTES`. The manual does
not say so; what it says is enough for rank 0, which is this block where it is alone.

Source: PTX ISA, mapa; Special Registers: %cluster_ctarank; docs/semantics.md, section 11, Clusters.
"""

from __future__ import annotations

import re
from typing import Final

from swzverify.compiled.kernel.arithmetic import add, shift_left, widened
from swzverify.compiled.kernel.effects import width_of, written
from swzverify.compiled.kernel.elections import evaluate_with_elections
from swzverify.compiled.kernel.evaluate import evaluate
from swzverify.compiled.kernel.flow import base_name
from swzverify.compiled.kernel.leaves import Leaf
from swzverify.compiled.kernel.slices import Slices, Steps
from swzverify.compiled.ptx import Function, Instruction, Register
from swzverify.ir.expr import const

IS_ALONE: Final = "each block is the only one of its cluster, as {} may reach other blocks"
REMOTE_ARRIVE: Final = re.compile(r"mbarrier\.arrive\b.*\.shared::cluster\b.*")
"""Arrivals at objects of any block of the cluster."""
_SOME_RANK: Final = "the rank of a block of the cluster"
MOST_RANKS: Final = 16
"""Blocks of a cluster. Source: CUDA Programming Guide, thread block clusters: 8, or 16 as a non-portable size."""
_RANK_BITS: Final = 24
"""Far more than the shared memory of a block."""


def is_alone(function: Function) -> bool:
    """Whether blocks are taken to be alone: a kernel arrives at objects of its cluster, which may be of one block."""
    reaches = any(base_name(each) == "mapa" or REMOTE_ARRIVE.fullmatch(each.opcode) for each in function.instructions)
    return reaches and function.tuning.cluster in (None, (1, 1, 1))


def assumption_on_clusters(function: Function) -> str | None:
    """That blocks are taken to be alone, in words; None if they are, or are not taken so."""
    if not is_alone(function) or function.tuning.cluster is not None:
        return None
    lines = [each.line for each in function.instructions if REMOTE_ARRIVE.fullmatch(each.opcode)]
    lines = lines or [each.line for each in function.instructions if base_name(each) == "mapa"]
    return IS_ALONE.format(f"line {', '.join(map(str, lines))}")


def is_rank(leaf: Leaf) -> bool:
    """Whether a leaf is the rank of the block to whose memory an address leads; at rank 0 it is the own address."""
    return leaf.reason == _SOME_RANK


def evaluate_in_some_block(slices: Slices, instruction: Instruction, at: int) -> Steps:
    """The value for the operand at a place of `written`; `mapa` leads to the same place in some block."""
    is_of_window = instruction.opcode.startswith("mapa.shared::cluster.") and len(instruction.operands) == 3
    target = written(instruction)[at] if is_of_window else None
    if isinstance(target, Register):
        width = width_of(target)
        address = yield from slices.read(instruction.operands[1], width, instruction)
        if address is not None:
            name = f"rank at line {instruction.line}: {instruction.index}"
            rank = slices.leaves.uniform(name, width, _SOME_RANK, instruction.line, MOST_RANKS)
            return add(address, shift_left(rank, const(_RANK_BITS, width)))
    return (yield from evaluate(slices, instruction, at))


def evaluate_in_cluster(slices: Slices, instruction: Instruction, at: int) -> Steps:
    """The value for the operand at a place of `written`; `mapa` is known where a block is alone.

    A generic address of another block is for loads and stores of its memory, of which nothing is claimed.
    """
    is_of_window = instruction.opcode.startswith("mapa.shared::cluster.")
    is_known = is_of_window and slices.arguments.is_alone and len(instruction.operands) == 3
    target = written(instruction)[at] if is_known else None
    if isinstance(target, Register):
        width = width_of(target)
        address = yield from slices.read(instruction.operands[1], width, instruction)
        rank = yield from slices.read(instruction.operands[2], 32, instruction)
        if address is not None and rank is not None:
            return add(address, shift_left(widened(rank, width), const(_RANK_BITS, width)))
    return (yield from evaluate_with_elections(slices, instruction, at))
