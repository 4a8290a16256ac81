"""Whether a kernel writes global memory that its threads are taken to load one word from.

Threads that load from one address have one word only as long as nobody writes it. Others are assumed not to; the
kernel itself may. Two addresses may be one if they are made of one pointer. That distinct pointers lead to distinct
memory is part of what is assumed. A pointer that is not followed, as it comes from local or shared memory or from an
operation without a value, may be any of them. One that comes from global memory is taken to be another one, unless the
kernel itself writes it there: then it may be each that the kernel writes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from swzverify.compiled.kernel.effects import registers_in
from swzverify.compiled.kernel.evaluate import space_of
from swzverify.compiled.kernel.flow import base_name
from swzverify.compiled.kernel.leaves import ArrayLeaf, Made, OpaqueLeaf, TripsLeaf, is_input
from swzverify.compiled.kernel.values import address_of
from swzverify.compiled.kernel.whole import Kernel
from swzverify.compiled.ptx import Address, Instruction, Space
from swzverify.ir.expr import Expr, Var, variables

_WRITES: Final = ("st", "atom", "red", "cp", "multimem", "wmma", "discard", "tensormap")
_PUBLISHES: Final = re.compile(rf"(?:{'|'.join(_WRITES)}|st[a-z]+|su(?:st|red))")
"""Also stores of matrices, and those by surfaces."""
_POINTER_BITS: Final = 64
_FROM_MEMORY: Final = "a pointer from global memory or of a tensor map"
_ANY: Final = "a pointer that is not followed"


def own_store(kernel: Kernel, loads: Iterable[OpaqueLeaf]) -> tuple[int, int] | None:
    """The lines of a store and of a load such that the store may write what the load reads; None if there are none."""
    pointers = {leaf.line: _pointers(kernel, leaf.feeds) for leaf in loads}
    if not pointers:
        return None
    writes = [(each.line, written) for each in kernel.function.instructions if (written := _written(kernel, each))]
    from_memory = frozenset({_FROM_MEMORY})
    if any(from_memory <= each for each in (*pointers.values(), *(written for _, written in writes))):
        from_memory |= _published(kernel)
    for store, written in writes:
        for load, read in pointers.items():
            both = [each | from_memory if _FROM_MEMORY in each else each for each in (written, read)]
            if both[0] & both[1] or _ANY in both[0] | both[1]:
                return store, load
    return None


def _written(kernel: Kernel, instruction: Instruction) -> frozenset[str]:
    """The pointers that the address of a store to global memory is made of; none for other instructions."""
    space = space_of(instruction.opcode)
    reachable = kernel.flow.is_reachable(kernel.flow.block_of[instruction.index])
    places = [each for each in instruction.operands if isinstance(each, Address)][:1]
    if base_name(instruction) not in _WRITES or space not in ("", "global") or not (reachable and places):
        return frozenset()
    if ".tensor." in instruction.opcode:
        return frozenset({_FROM_MEMORY})
    return _pointers(kernel, [kernel.slices.run(address_of(kernel.slices, each, instruction)) for each in places])


def _published(kernel: Kernel) -> frozenset[str]:
    """The pointers that the kernel writes to memory, whole or in parts, or puts into a tensor map.

    Also those to all variables, if an initialiser may hold addresses.
    """
    values: list[Expr] = []
    for instruction in kernel.function.instructions:
        if _PUBLISHES.fullmatch(base_name(instruction)):
            data = [each for each in instruction.operands if not isinstance(each, Address)]
            registers = [each for operand in data for each in registers_in(operand)]
            values += [kernel.slices.run(kernel.slices.before(each, instruction.index)) for each in registers]
    found = _parts(kernel, values)[0]
    if any(each.note for each in kernel.slices.symbols.module.symbols):
        arrays = (each for each in kernel.leaves.by_name.values() if isinstance(each, ArrayLeaf))
        found |= {each.name for each in arrays if each.symbol.space is not Space.SHARED}
    return frozenset(found - {_FROM_MEMORY})


def _pointers(kernel: Kernel, addresses: Iterable[Expr]) -> frozenset[str]:
    """The pointers that addresses are made of, also by registers that loops change; none for shared memory."""
    found, is_shared = _parts(kernel, addresses)
    return frozenset(found or (set() if is_shared else {_ANY}))


def _parts(kernel: Kernel, values: Iterable[Expr]) -> tuple[set[str], bool]:
    """The pointers that values are made of, and whether the address of a shared array is among their parts."""
    found: set[str] = set()
    seen: set[Var] = set()
    is_shared = False
    pending = [*values]
    while pending:
        for each in variables(pending.pop()):
            if each in seen:
                continue
            seen.add(each)
            leaf, carry = kernel.leaves[each], kernel.slices.carried.get(each)
            if isinstance(leaf, ArrayLeaf):
                is_shared = is_shared or leaf.symbol.space is Space.SHARED
                found |= set() if leaf.symbol.space is Space.SHARED else {each.name}
            elif carry is not None:
                pending += [carry.before, carry.after]
            elif isinstance(leaf, TripsLeaf):
                pass  # a number of trips is no pointer
            elif isinstance(leaf, OpaqueLeaf) and leaf.made is Made.DETERMINED and leaf.feeds:
                pending += leaf.feeds
            elif each.width >= _POINTER_BITS and not each.name.startswith("window of "):
                is_named = kernel.slices.symbols.is_parameter(each)
                found.add(each.name if is_named else _FROM_MEMORY if is_input(leaf) else _ANY)
    return found, is_shared
