"""Other blocks of a cluster: what reaches them, and how the threads of all blocks of a cluster are looked at together.

An address of another block is that of this one, plus 2^24 bytes for each rank between them. The manual does not say so;
what it says is enough for the own rank, as `mapa` of it gives the own address.

Source: PTX ISA, mapa; Special Registers: %cluster_ctarank; docs/semantics.md, section 11, Clusters.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Set
from typing import Final

from swzverify.compiled.kernel.arithmetic import add, shift_left, sub, widened
from swzverify.compiled.kernel.effects import registers_in, registers_of, width_of, written
from swzverify.compiled.kernel.elections import evaluate_with_elections
from swzverify.compiled.kernel.evaluate import evaluate
from swzverify.compiled.kernel.flow import base_name
from swzverify.compiled.kernel.leaves import Leaf
from swzverify.compiled.kernel.slices import Slices, Steps
from swzverify.compiled.kernel.special import BlockShape, rank_of
from swzverify.compiled.ptx import Address, Function, Immediate, Instruction, Plus, Register
from swzverify.ir.expr import const

IS_ALONE: Final = "each block is the only one of its cluster, as {} may reach other blocks"
REMOTE_ARRIVE: Final = re.compile(r"mbarrier\.arrive\b.*\.shared::cluster\b.*")
"""Arrivals at objects of any block of the cluster."""
_SOME_RANK: Final = "the rank of a block of the cluster"
MOST_RANKS: Final = 16
"""Blocks of a cluster. Source: CUDA Programming Guide, thread block clusters: 8, or 16 as a non-portable size."""
RANK_BITS: Final = 24
"""Far more than the shared memory of a block."""
IS_IN_ORDER: Final = "arrivals and waits at barrier objects order the blocks of a cluster, whatever scope they name"
OF_SHAPE: Final = "the launch has clusters of {} blocks"
IS_LINEAR: Final = "the shared memory of the blocks of a cluster lies at equal distances, and each has one layout"
_REACHES: Final = re.compile(
    r"mapa\b.*|.*\.multicast::cluster\b.*|(?:st|red)\.async\b.*|cp\..*\.shared::cluster\.shared::cta\b.*"
)
_SUMS: Final = frozenset({"mov", "add", "sub"})


def reaches_others(function: Function) -> bool:
    """Whether a kernel may reach the shared memory of other blocks of its cluster."""
    return any(
        _REACHES.fullmatch(each.opcode) or REMOTE_ARRIVE.fullmatch(each.opcode) for each in function.instructions
    )


def far_registers(function: Function, own: Collection[int] = ()) -> frozenset[Register]:
    """The registers that may have an address in another block, if there is no `stray_address`.

    `own` has the instructions that surely give an address in the own block.
    """
    tainted: set[Register] = set()
    while True:
        before = len(tainted)
        for each in function.instructions:
            is_first = base_name(each) == "mapa" and each.index not in own
            if is_first or (base_name(each) in _SUMS and _tainted(each, tainted)):
                tainted |= {found for operand in written(each) if (found := registers_of(operand)) is not None}
        if len(tainted) == before:
            return frozenset(tainted)


def stray_address(function: Function) -> Instruction | None:
    """The first instruction that makes of an address in another block something else than a sum; None without one.

    Such addresses may be copied, and numbers may be added to them. Memory is accessed there. A mask that takes the rank
    out of any address, as CUTLASS does for the first block of a pair, is one, too.
    """
    tainted = far_registers(function)
    return next((each for each in function.instructions if _is_stray(each, tainted) or _masks_rank(each)), None)


def _masks_rank(instruction: Instruction) -> bool:
    """Whether an instruction leaves all of a number but some of the bits above the memory of a block."""
    masks = (each.value % (1 << 32) for each in instruction.operands if isinstance(each, Immediate))
    return base_name(instruction) == "and" and any(
        ~each % (1 << RANK_BITS) == 0 and ~each % (1 << 32) for each in masks
    )


def _tainted(instruction: Instruction, tainted: Set[Register]) -> list[int]:
    """The places of the operands that are read and name some registers, addresses of accesses left out."""
    first = 1 if written(instruction) else 0
    values = [(at, each) for at, each in enumerate(instruction.operands) if at >= first]
    return [at for at, each in values if not isinstance(each, Address) and not tainted.isdisjoint(registers_in(each))]


def _is_stray(instruction: Instruction, tainted: Set[Register]) -> bool:
    name, operands, places = base_name(instruction), instruction.operands, _tainted(instruction, tainted)
    if not places:
        return False
    # What is taken off, and a sum of two such addresses, is none.
    is_sum = name in _SUMS and len(places) == 1 and (name != "sub" or places[0] == 1)
    return not is_sum or not all(isinstance(operands[at], Register | Plus) for at in (0, *places))


def is_alone(function: Function, cluster: BlockShape | None = None) -> bool:
    """Whether blocks are taken to be alone: a kernel arrives at objects of its cluster, which may be of one block.

    `cluster` is the number of blocks of a cluster, where the launch gives it.
    """
    reaches = any(base_name(each) == "mapa" or REMOTE_ARRIVE.fullmatch(each.opcode) for each in function.instructions)
    return reaches and (cluster or function.tuning.cluster) in (None, (1, 1, 1))


def assumption_on_clusters(function: Function, cluster: BlockShape | None = None) -> str | None:
    """That blocks are taken to be alone, in words; None if they are, or are not taken so."""
    if not is_alone(function, cluster) or (cluster or function.tuning.cluster) is not None:
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
            return add(address, shift_left(rank, const(RANK_BITS, width)))
    return (yield from evaluate(slices, instruction, at))


def evaluate_in_cluster(slices: Slices, instruction: Instruction, at: int) -> Steps:
    """The value for the operand at a place of `written`; `mapa` is known where a block is alone.

    A generic address of another block is for loads and stores of its memory, of which nothing is claimed.
    """
    is_of_window = instruction.opcode.startswith("mapa.shared::cluster.")
    is_known = is_of_window and slices.arguments.is_alone and len(instruction.operands) == 3
    cluster, block = slices.arguments.cluster, slices.block
    is_of_cluster = base_name(instruction) == "mapa" and cluster is not None and len(instruction.operands) == 3
    target = written(instruction)[at] if is_known or is_of_cluster else None
    if isinstance(target, Register):
        width = width_of(target)
        address = yield from slices.read(instruction.operands[1], width, instruction)
        rank = yield from slices.read(instruction.operands[2], 32, instruction)
        if address is not None and rank is not None:
            away = widened(rank, width)
            if cluster is not None and block is not None:
                away = sub(away, widened(rank_of(block, slices.leaves, cluster), width))
            return add(address, shift_left(away, const(RANK_BITS, width)))
    return (yield from evaluate_with_elections(slices, instruction, at))
