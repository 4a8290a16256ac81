"""The blocks of a cluster whose threads are looked at together: where the memory of each block lies, who reaches it.

Source: docs/semantics.md, section 11, Clusters of several blocks.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import prod
from typing import Final

from swzverify.compiled.kernel.arithmetic import add, bit_and, less, shift_left, shift_right, widened
from swzverify.compiled.kernel.bulk import mask_of
from swzverify.compiled.kernel.clusters import RANK_BITS, far_registers
from swzverify.compiled.kernel.effects import registers_in
from swzverify.compiled.kernel.flow import base_name
from swzverify.compiled.kernel.leaves import Made, OpaqueLeaf
from swzverify.compiled.kernel.paths import Paths
from swzverify.compiled.kernel.slices import Slices
from swzverify.compiled.kernel.special import rank_of
from swzverify.compiled.kernel.values import word_of
from swzverify.compiled.ptx import Address, Instruction, Register
from swzverify.ir.expr import Const, Expr, Ite, Var, conjunction, const, extract, negation, postorder, rebuilt, var

_PLAIN: Final = frozenset({"ld", "ldu", "st", "atom", "red"})
_MASK_BITS: Final = 16


class Ranks:
    """The blocks of a cluster, if they are looked at together; else there is one.

    Attributes:
        count: How many there are.
        threads: The threads of each.
        own: What the address of a thread's own block is more than that of rank 0, of 32 bits.
        targets: For each copy to several blocks, the rank of one of them.
        masks: The ranks to which such a copy goes, as bits.
        outside: For each `mapa`, that a thread executes it with a rank that no block has.
        far: The registers that may have an address in another block.
    """

    def __init__(self, slices: Slices, paths: Paths) -> None:
        cluster, block = slices.arguments.cluster, slices.block or (1, 1, 1)
        self.count = 1 if cluster is None else prod(cluster)
        self.threads = prod(block) // self.count
        self.own: Expr = const(0, 32)
        self.targets: dict[int, Var] = {}
        self.masks: dict[int, Expr] = {}
        self.outside: dict[int, Expr] = {}
        self.far: frozenset[Register] = frozenset()
        if cluster is None:
            return
        own = rank_of(block, slices.leaves, cluster)
        self.own, to_own = shift_left(own, const(RANK_BITS, 32)), set[int]()
        flow = slices.flow
        for each in slices.function.instructions:
            at = flow.block_of[each.index]
            if flow.is_reachable(at) and (mask := mask_of(each)) is not None:
                named = var(f"rank to which line {each.line} copies: {each.index}", self.count)
                leaf = OpaqueLeaf(named, "a rank", each.line, at, made=Made.ANYHOW)
                self.targets[each.index] = slices.leaves.add(leaf)
                self.masks[each.index] = slices.run(word_of(slices, mask, each, bits=_MASK_BITS))
            if flow.is_reachable(at) and base_name(each) == "mapa":
                rank = slices.run(word_of(slices, each.operands[-1], each))
                is_there = less(rank, const(self.count, 32), signed=False)
                guard = slices.run(slices.guard(each))
                self.outside[each.index] = conjunction((*paths.to(at).may, guard, negation(is_there)))
                if rank == own:
                    to_own.add(each.index)
        self.far = far_registers(slices.function, to_own)

    def resolve(self, resolved: Callable[[Expr, int], Expr]) -> None:
        """Put what loops make of them in the place of registers; `resolved` does so at an instruction."""
        self.masks = {each: resolved(value, each) for each, value in self.masks.items()}
        self.outside = {each: resolved(value, each) for each, value in self.outside.items()}

    def is_copy(self, instruction: Instruction) -> bool:
        """Whether an instruction copies to several blocks, which are looked at together."""
        return instruction.index in self.targets

    def is_access(self, instruction: Instruction) -> bool:
        """Whether an instruction loads or stores in a block of a cluster that is looked at as a whole."""
        words = instruction.opcode.split(".")
        is_plain = words[0] in _PLAIN and "shared::cluster" in words and not {"async", "bulk"} & {*words}
        return self.count > 1 and is_plain

    def may_leave(self, instruction: Instruction) -> bool:
        """Whether an access that is no operation on a barrier may reach another block."""
        places = (each for each in instruction.operands if isinstance(each, Address))
        return any(not self.far.isdisjoint(registers_in(each)) for each in places)

    def place(self, index: int, address: Expr) -> Expr:
        """Where an instruction accesses memory, from the address in its own block or relative to that."""
        if index in self.targets:
            return add(address, shift_left(widened(self.targets[index], 32), const(RANK_BITS, 32)))
        return add(address, self.own)

    def where(self, condition: Expr, value: Expr) -> Expr:
        """A value that is read only where a condition holds: `mapa` and what it is for have one guard."""
        if self.count == 1 or isinstance(condition, Const):
            return value
        new: dict[Expr, Expr] = {}
        for node in postorder(value):
            new[node] = rebuilt(node, new)
            if isinstance(node, Ite) and node.condition is condition:
                new[node] = new[node.then]
        return new[value]

    def goes(self, index: int) -> list[Expr]:
        """That a copy goes to the block that its leaf names."""
        if index not in self.targets:
            return []
        target = widened(self.targets[index], _MASK_BITS)
        return [extract(bit_and(shift_right(self.masks[index], target, signed=False), const(1, _MASK_BITS)), 0, 1)]

    def put(self, index: int, rank: int) -> Mapping[Var, Expr]:
        """The leaf of a copy with the rank of a block."""
        target = self.targets[index]
        return {target: const(rank, target.width)}
