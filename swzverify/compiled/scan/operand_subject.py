"""A matrix descriptor as questions about it see it: in the window of a block, with and without its path.

What this relies on: the shared memory of a block lies below 228 KiB in the shared window.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

from swzverify.compiled.kernel import ArrayLeaf, KernelAccess, KernelOperand, Leaf, OpaqueLeaf, UniformLeaf
from swzverify.compiled.kernel.arithmetic import is_zero, widened
from swzverify.compiled.kernel.descriptors import is_window
from swzverify.compiled.kernel.special import BlockShape
from swzverify.compiled.ptx import Space
from swzverify.compiled.scan.asker import Asker
from swzverify.compiled.scan.price import block_of
from swzverify.compiled.scan.spell import spell_leaf
from swzverify.compiled.scan.subject import Subject
from swzverify.engines.obligations import Answer
from swzverify.hardware import LANES, MOST_SHARED_BYTES
from swzverify.hardware.tensor_cores import Family
from swzverify.ir.expr import TRUE, Expr, Var, extract, var, variables
from swzverify.subjects.descriptor import ADDRESS_LIMIT

WINDOW_BYTES = MOST_SHARED_BYTES + 1024
"""Shared arrays lie below this address: the most bytes of a block, and those that the system takes.

Source: CUDA Programming Guide 13, 5.1.3, table 31.
"""
_WINDOW_BITS = (ADDRESS_LIMIT - 1).bit_length()
_MOST_NAMED = 3


@dataclass(frozen=True)
class ValueSubject:
    """A value that an instruction reads, with what questions about it need.

    Attributes:
        access: The instruction, with the value as its address.
        shape: The shape of the block; None if it is not known.
        asker: Asks the engines.
        smem: The bytes of dynamic shared memory; None if not known.
    """

    access: KernelAccess
    shape: BlockShape | None
    asker: Asker
    smem: int | None

    @property
    def is_of_one_thread(self) -> bool:
        """Whether each thread that executes the instruction does so for itself, and not its warp group together."""
        return False

    @cached_property
    def here(self) -> Subject:
        """The instruction with its path."""
        return Subject(self.access, 1, 1, LANES, block_of(self.shape or (LANES, 1, 1)), self.asker, self.smem)

    @cached_property
    def anywhere(self) -> Subject:
        """The same as if every lane executed it: what is proved of that holds on every path."""
        return replace(self.here, access=replace(self.access, who=replace(self.access.who, guard=TRUE, sure=TRUE)))

    @property
    def path(self) -> tuple[Expr, ...]:
        """What decides whether some lane executes the instruction."""
        return self.access.who.guard, *(loop.again.condition for loop in self.access.who.loops)

    def leaves_of(self, value: Expr) -> list[Leaf]:
        """The leaves that a value reads."""
        return [self.here.leaves[each.name] for each in variables(value)]

    def other(self, bad: Expr) -> tuple[Answer, dict[str, int]]:
        """Whether a condition can hold in a lane that executes the instruction, with a point.

        It is asked first without the path, which is often enough.
        """
        known = [is_zero(extract(each, 0, _WINDOW_BITS)) for each in variables(bad) if is_window(each)]
        found = self.anywhere.never(*self.anywhere.makes(bad, with_loops=False), *known, bad)
        if found.answer is not Answer.HOLDS:
            found = self.here.never(*self.here.makes(bad, with_loops=True), *known, bad)
        return found.possible, {each.name: 0 for each in variables(bad)} | dict(found.point)

    def sizeless(self, value: Expr) -> str:
        """The array that a value reads and whose size is not known; empty if there is none."""
        names = [
            spell_leaf(leaf)
            for leaf in self.leaves_of(value)
            if isinstance(leaf, ArrayLeaf) and not size_of(leaf, self.smem)
        ]
        return names[0] if names else ""


@dataclass(frozen=True)
class OperandSubject(ValueSubject):
    """A descriptor with what its fields and claims need: the value of an operand."""

    operand: KernelOperand

    @property
    def is_of_one_thread(self) -> bool:
        """Whether one thread issues the instruction."""
        return self.operand.family is Family.TCGEN05


def dependence(leaves: list[Leaf]) -> str:
    """The reason for a value that depends on others."""
    names = list(dict.fromkeys(f"{spell_leaf(leaf)} ({leaf.reason})" for leaf in leaves))
    return f"it depends on {', '.join(names[:_MOST_NAMED])}"


def size_of(leaf: Leaf, smem: int | None) -> int:
    """The bytes of an array; 0 if they are not known."""
    return leaf.symbol.size_bytes or smem or 0 if isinstance(leaf, ArrayLeaf) else 0


def in_window(access: KernelAccess, smem: int | None) -> KernelAccess:
    """The same access with arrays that lie in the window of a block."""
    new: dict[Var, Expr] = {}
    leaves: list[Leaf] = []
    for leaf in access.leaves:
        limit = leaf.variable.limit
        if isinstance(leaf, ArrayLeaf) and leaf.symbol.space is Space.SHARED:
            limit = min(limit, max(0, WINDOW_BYTES - size_of(leaf, smem)) // leaf.multiple + 1)
        if limit == leaf.variable.limit:
            leaves.append(leaf)
        else:
            lower = var(leaf.name, limit)
            new[leaf.variable] = widened(lower, leaf.variable.width)
            leaves.append(replace(leaf, variable=lower))
    others = [each for leaf in leaves if isinstance(leaf, OpaqueLeaf) for each in leaf.feeds]
    others += [each for leaf in leaves if isinstance(leaf, UniformLeaf) for each in leaf.assumed]
    conditions = [loop.again.condition for loop in access.who.loops]
    if not set(variables(*others, *conditions)).isdisjoint(new):
        return access
    return replace(access.with_values(new), leaves=tuple(leaves))
