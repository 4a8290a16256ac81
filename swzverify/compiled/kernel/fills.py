"""What may write shared memory before the tensor core reads it: copies from global memory, and everything else.

Source: PTX ISA 8.7, cp.async, st, mbarrier, tcgen05.alloc, tcgen05.commit; Instruction Set.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final, TypeAlias

from swzverify.compiled.kernel.access import KernelAccess, blank
from swzverify.compiled.kernel.arguments import Box
from swzverify.compiled.kernel.bulk import TENSOR_TO_PHASE, ends_of, mask_of
from swzverify.compiled.kernel.copies import limit_of_source
from swzverify.compiled.kernel.evaluate import space_of
from swzverify.compiled.kernel.flow import Flow, base_name
from swzverify.compiled.kernel.graph import reached
from swzverify.compiled.kernel.leaves import LaneLeaf, LoopLeaf, is_input
from swzverify.compiled.kernel.listing import Touch, Use, count_synchronizations, use_of
from swzverify.compiled.ptx import Address, Bracketed, Immediate, Instruction, Operand, Vector, size_of_type
from swzverify.hardware import CHUNK_BYTES, Kind
from swzverify.hardware.kinds import MATRIX_OPCODES
from swzverify.ir.expr import Const, Expr, Extend, Ite, Var, conjuncts, negation, variables

STORES: Final = "it stores registers"
"""The reason for an instruction whose registers are not followed to a load."""
_LOADS: Final = frozenset({"ld", "ldu", "wgmma", *(kind.value for kind in Kind if kind.moves_matrices and kind.loads)})
_READS: Final = ("wmma.load", "mbarrier.test_wait", "mbarrier.try_wait", "tcgen05.mma", "tcgen05.cp")
_OBJECT_BYTES: Final = 8
_ALLOCATED_BYTES: Final = 4
_OF_LOAD: Final = re.compile(r": (\d+)\.(\d+)\.\d+$")
"""The end of the name of a value that an instruction makes: its place, and which of its results."""
_OF_TENSOR: Final = "a tensor copy fills it, and the tensor map says what"
_OF_BULK: Final = "a bulk copy fills it"
_OF_MAP: Final = "it is a tensor map"
BULK_COPIES: Final = (_OF_TENSOR, _OF_BULK)
"""The reasons for bulk copies, whose sources are not followed."""


@dataclass(frozen=True, slots=True)
class FillOperands:
    """What an instruction writes into shared memory.

    Attributes:
        destination: Where each thread writes; None if that is not looked at.
        width_bytes: The bytes that each thread writes from there on.
        source: Where a copy reads in global memory; None of other instructions.
        size: How many bytes a copy reads, or a predicate that says whether it reads none; it writes zeros for the
            others. None if it reads all.
        stored: The registers that are stored, each of as many bytes.
        coordinates: The coordinates of the box that a tensor copy moves, in elements, the innermost first.
        mask: The ranks of the blocks of a cluster to which a tensor copy goes, as bits; None if it goes to one block.
        reason: Why nothing is known of what is written.
    """

    destination: Operand | None = None
    width_bytes: int = 0
    source: Operand | None = None
    size: Operand | None = None
    stored: tuple[Operand, ...] = ()
    coordinates: tuple[Operand, ...] = ()
    mask: Operand | None = None
    reason: str = ""

    @property
    def wanted(self) -> tuple[Operand, ...]:
        """The operands whose values are needed."""
        several = (*self.stored, *self.coordinates, self.mask)
        return tuple(each for each in (self.destination, self.source, self.size, *several) if each is not None)


@dataclass(frozen=True, slots=True)
class BoxMoved:
    """What a tensor copy moves.

    Attributes:
        tensor_map: The parameter that has its tensor map, and the byte in it at which the map begins.
        box: The box of the map.
        coordinates: Where in the tensor the box begins: for each extent, the value of an operand, of 64 bits.
    """

    tensor_map: tuple[str, int]
    box: Box
    coordinates: tuple[KernelAccess, ...]


Section: TypeAlias = tuple[int, int]
"""A basic block, and how many barriers, fences and waits stand before an instruction in it."""


@dataclass(frozen=True, slots=True, eq=False)
class KernelFill:
    """An instruction that may write shared memory.

    Attributes:
        block: The basic block of the instruction.
        section: Its block, and how many barriers, fences and waits stand before it there.
        destination: The instruction; its `address`, of 64 bits, is where each thread writes. It and the source
            take divisions as defined: their `assumes` says which.
        width_bytes: The bytes that each thread writes from there on; 0 if that is not looked at.
        source: The copy, or the load whose registers are stored, with the address in global memory; None of
            other instructions.
        read_bytes: How many bytes it reads: it writes zeros for the others. None if it reads all; without an
            `address` if that is not known.
        moved: The box that a tensor copy moves; None of other instructions, and if it is not known.
        reason: Why nothing is known of what is written.
        zeros: A store of zeros, in the reading that instructions have in which divisions may have no result.
        leads_to: The blocks to which paths lead from behind its block.
        follows: The blocks from which paths lead to its block.
        of_block: The names of its leaves that loops decide, and of which all threads of the block have one value where
            they are in the same trips of all loops around.
        mask: The ranks of the blocks to which a tensor copy goes, as bits; None if it goes to one block.
        of_other: The rank of the block that makes a copy into the memory of another one; None in its own block.
        begins: Of a copy of a box, the first section from which all paths to it have no barrier, fence or wait, in its
            loops.
    """

    block: int
    section: Section
    destination: KernelAccess
    width_bytes: int
    source: KernelAccess | None
    read_bytes: KernelAccess | None
    moved: BoxMoved | None
    reason: str
    zeros: KernelAccess | None
    leads_to: frozenset[int]
    follows: frozenset[int]
    of_block: frozenset[str] = frozenset()
    mask: KernelAccess | None = None
    of_other: int | None = None
    begins: Section = (-1, -1)

    @property
    def values(self) -> tuple[KernelAccess, ...]:
        """The values of its operands that are read."""
        boxes = () if self.moved is None else self.moved.coordinates
        parts = (self.destination, self.source, self.read_bytes, self.zeros, *boxes, self.mask)
        return tuple(each for each in parts if each is not None)

    @property
    def origins(self) -> tuple[KernelAccess, ...]:
        """What says where a copy reads; empty for other instructions."""
        if self.moved is not None:
            return self.moved.coordinates
        return () if self.source is None else (self.source,)

    def may_precede(self, block: int, index: int) -> bool:
        """Whether it does not stand behind an instruction of some block, in each thread.

        If no path leads from one to the other, as in the branches of producer and consumer warps, different
        threads execute them, in any order.
        """
        return _may_precede((self.block, self.destination.site.index), (self.leads_to, self.follows), (block, index))


class Order:
    """Which instructions of a function surely stand behind others."""

    def __init__(self, flow: Flow) -> None:
        self._flow = flow
        self._known: dict[int, tuple[frozenset[int], frozenset[int]]] = {}

    def around(self, block: int) -> tuple[frozenset[int], frozenset[int]]:
        """The blocks to which paths lead from behind a block, and the blocks from which paths lead to it."""
        if block not in self._known:
            behind, before = (
                frozenset(reached(edges[block], edges, lambda _: False))
                for edges in (self._flow.following, self._flow.before)
            )
            self._known[block] = behind, before
        return self._known[block]

    def begins(self, section: Section) -> Section:
        """The first section from which all paths that lead to one have no barrier, fence or wait, in the same loops."""
        flow, (block, count) = self._flow, section
        while not count and (upper := flow.dominators.parents[block]) is not None:
            behind = reached(flow.following[upper], flow.following, {upper, block}.__contains__)
            between = behind & reached(flow.before[block], flow.before, {upper, block}.__contains__)
            is_free = not any(map(self._count, between))
            if not is_free or any(flow.around(each) != flow.around(block) for each in (upper, *between)):
                break
            block, count = upper, self._count(upper)
        return block, count

    def _count(self, block: int) -> int:
        """How many barriers, fences and waits a block has."""
        own = self._flow.blocks[block]
        return count_synchronizations(self._flow.function.instructions[own.start : own.stop])

    def may_precede(self, one: int, other: int) -> bool:
        """Whether an instruction does not stand behind another one, in each thread."""
        block, last = (self._flow.block_of[each] for each in (one, other))
        return _may_precede((block, one), self.around(block), (last, other))


def _may_precede(one: tuple[int, int], around: tuple[frozenset[int], frozenset[int]], other: tuple[int, int]) -> bool:
    """Whether an instruction, a block and a place, does not stand behind another one; `around` is as for `Order`."""
    (own, place), (leads_to, follows), (block, index) = one, around, other
    if block == own and block not in leads_to:
        return place < index
    return block in leads_to or block not in follows


def fill_operands(instruction: Instruction) -> FillOperands | None:
    """What an instruction writes into shared memory; None if it surely writes nothing there."""
    use = use_of(instruction)
    name, opcode, operands = base_name(instruction), instruction.opcode, instruction.operands
    if use is None or name in _LOADS or opcode.startswith(_READS):
        return None
    ends = ends_of(opcode)
    if ends and not any(each.operand == 0 for each in ends):
        return None  # a bulk copy out of shared memory
    places = [each for each in operands if isinstance(each, Address)]
    if opcode.startswith("cp.async.c") and len(places) > 1 and use.touch is Touch.SHARED:
        size = operands[2] if len(operands) > 2 else None
        if isinstance(size, Immediate):
            return FillOperands(places[0], size.value, places[1], next(iter(limit_of_source(instruction)), None))
    if ends and name == "tensormap":
        is_placed = places and use.touch is Touch.SHARED
        return (
            FillOperands(places[0], ends[0].size_bytes, reason=_OF_MAP) if is_placed else FillOperands(reason=_OF_MAP)
        )
    if ends:
        reason = _OF_TENSOR if "tensor" in opcode else _OF_BULK
        tensor = next((each for each in operands if isinstance(each, Bracketed)), None)
        coordinates = None if tensor is None else tensor.items[-1]
        mask = mask_of(instruction)
        if (TENSOR_TO_PHASE.fullmatch(opcode) or mask) and places and isinstance(coordinates, Vector):
            return FillOperands(places[0], coordinates=coordinates.items, mask=mask, reason=reason)
        return FillOperands(reason=reason)
    is_of_barrier = use.touch is Touch.BARRIER or opcode.startswith("tcgen05.commit.")
    if places and is_of_barrier and "shared" in opcode:
        return FillOperands(places[0], _OBJECT_BYTES, reason="it is a barrier object")
    if places and opcode.startswith("tcgen05.alloc.") and "shared::cta" in opcode:
        return FillOperands(places[0], _ALLOCATED_BYTES, reason="it is an address in tensor memory")
    width = CHUNK_BYTES if name in MATRIX_OPCODES else _width(opcode)
    last = operands[-1] if operands else None
    items = last.items if isinstance(last, Vector) else () if last is None else (last,)
    stored = items if name == "st" and width in (4 * len(items), 8 * len(items)) else ()
    if places and not use.reason and use.touch is Touch.SHARED and space_of(opcode) == "shared" and width:
        return FillOperands(places[0], width, stored=stored, reason=STORES)
    return FillOperands(stored=stored, reason="it may write any byte")


@dataclass(frozen=True, slots=True)
class LoadedWords:
    """Successive words of one load that an instruction stores.

    Attributes:
        index: The place of the load in the function.
        first: The first byte that is stored, counted from the first one that is loaded.
        may_be_zero: Whether a register is 0 if the load is not executed.
    """

    index: int
    first: int
    may_be_zero: bool


def loaded(values: Sequence[KernelAccess], width_bytes: int) -> LoadedWords | None:
    """What an instruction stores: its registers are `values`, in order; None if these are no words of one load.

    A register that is 0 unless the load is executed counts as the load. This is not so where coordinates alone decide
    it, or what is loaded, as in a maximum with 0.
    """
    size = width_bytes // max(1, len(values))
    places = [_place(access, 8 * size) for access in values]
    first = places[0] if places else None
    if first is None or any(place is None or place[:2] != (first[0], first[1] + at) for at, place in enumerate(places)):
        return None
    return LoadedWords(first[0], first[1] * size, any(place is not None and place[2] for place in places))


def _place(access: KernelAccess, bits: int) -> tuple[int, int, bool] | None:
    """The load that makes a value, which of its words that is, and whether the value may be 0 instead."""
    value, held = access.address, conjuncts(access.who.guard)
    kinds = {leaf.variable: leaf for leaf in access.leaves}
    executed: list[Expr] = []
    while isinstance(value, Extend | Ite):
        if isinstance(value, Extend):
            value = value.operand
        elif value.condition in held:
            value = value.then
        else:
            is_zero = [isinstance(each, Const) and each.value == 0 for each in (value.then, value.otherwise)]
            executed += conjuncts(value.condition if is_zero[1] else negation(value.condition))
            value = value.then if is_zero[1] else value.otherwise if is_zero[0] else None
    leaf = next((each for each in access.leaves if each.variable is value), None)
    if leaf is None or not is_input(leaf) or not leaf.name.startswith("ld.global") or value is None:
        return None
    found = _OF_LOAD.search(leaf.name)
    if found is None or value.width != bits:
        return None
    own = leaf.name[: found.start(2)]
    for part in (each for each in executed if each not in held):
        read = [kinds[each] for each in variables(part)]
        if all(isinstance(each, LaneLeaf) for each in read) or any(each.name.startswith(own) for each in read):
            return None  # coordinates say that it is 0, or what is loaded
    return int(found[1]), int(found[2]), bool(executed)


def known_fill(
    flow: Flow,
    order: Order,
    instruction: Instruction,
    given: FillOperands,
    destination: KernelAccess | None,
    source: KernelAccess | None,
    read_bytes: KernelAccess | None,
    moved: BoxMoved | None,
    stored: Sequence[KernelAccess],
    mask: KernelAccess | None,
    *,
    may_be_zero: bool,
    is_of_block: Callable[[Var], bool],
) -> KernelFill:
    """A writer with the values of its operands; `may_be_zero` if the registers that it stores may be 0.

    `is_of_block` says of a leaf that loops decide whether all threads of the block have one value.
    """
    block = flow.block_of[instruction.index]
    nowhere = blank(instruction, Use(Touch.OTHER, given.reason or "it is not looked at"))
    is_zero = bool(stored) and all(isinstance(each.address, Const) and not each.address.value for each in stored)
    zeros = stored[0] if is_zero else None
    behind, before = order.around(block)
    place = destination or nowhere
    count = count_synchronizations(flow.function.instructions[flow.blocks[block].start : instruction.index])
    section = block, count
    if may_be_zero:
        read_bytes = nowhere
    width = given.width_bytes if moved is None else moved.box.size_bytes
    origins = () if moved is None else moved.coordinates
    read = [leaf for of in (place, source, *origins) if of is not None for leaf in of.leaves]
    shared = frozenset(leaf.name for leaf in read if isinstance(leaf, LoopLeaf) and is_of_block(leaf.variable))
    parts = source, read_bytes, moved, given.reason, zeros, behind, before, shared, mask
    begins = section if moved is None else order.begins(section)
    return KernelFill(block, section, place, width, *parts, begins=begins)


def with_divisions(access: KernelAccess) -> KernelAccess:
    """The reading in which divisions have a result, if there is one."""
    defined = access.defined
    return access if defined is None or defined.address is None else replace(defined, defined=None)


def _width(opcode: str) -> int:
    """The bytes that a thread stores; 0 if they are not known."""
    words = opcode.split(".")
    count = next((int(each[1:]) for each in words if each in ("v2", "v4", "v8")), 1)
    return (size_of_type(words[-1]) or 0) * count
