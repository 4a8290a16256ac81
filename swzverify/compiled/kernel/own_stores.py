"""Which stores of a kernel may write words of global memory that it loads.

Threads that load from one address have one word only as long as nobody writes it. Others are assumed not to; the
kernel itself may. Two addresses may be one if they are made of one pointer. That distinct pointers lead to distinct
memory is part of what is assumed. A pointer that is not followed, as it comes from local or shared memory or from an
operation without a value, may be any of them. One that comes from global memory is taken to be another one, unless the
kernel itself writes it there: then it may be each that the kernel writes.

Source: docs/semantics.md, section 10.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Final

from swzverify.compiled.kernel.effects import registers_in
from swzverify.compiled.kernel.evaluate import space_of
from swzverify.compiled.kernel.flow import base_name
from swzverify.compiled.kernel.graph import closure
from swzverify.compiled.kernel.leaves import ArrayLeaf, Made, OpaqueLeaf, TripsLeaf, is_input
from swzverify.compiled.kernel.slices import Slices
from swzverify.compiled.kernel.values import address_of
from swzverify.compiled.ptx import Address, Instruction, Space
from swzverify.ir.expr import Compare, Comparison, Const, Expr, Var, operands, variables

_WRITES: Final = ("st", "atom", "red", "cp", "multimem", "wmma", "discard", "tensormap")
_PUBLISHES: Final = re.compile(rf"(?:{'|'.join(_WRITES)}|st[a-z]+|su(?:st|red))")
"""Also stores of matrices, and those by surfaces."""
_POINTER_BITS: Final = 64
_FROM_MEMORY: Final = "a pointer from global memory or of a tensor map"
_ANY: Final = "a pointer that is not followed"


def own_store(slices: Slices, loads: Iterable[OpaqueLeaf]) -> tuple[int, int] | None:
    """The lines of a store and of a load such that the store may write what the load reads; None if there are none."""
    stores = OwnStores(slices)
    found = [(index, leaf.line) for leaf in loads for index in stores.writers(leaf.feeds)[:1]]
    return next(((slices.function.instructions[index].line, line) for index, line in sorted(found)), None)


class OwnStores:
    """The stores of a function to global memory, and the pointers of which their addresses are made.

    `conditions` may compare pointers.
    """

    def __init__(self, slices: Slices, conditions: Iterable[Expr] = ()) -> None:
        self._slices, self._conditions = slices, conditions

    def writers(self, addresses: Iterable[Expr]) -> list[int]:
        """The indices of the stores that may write the memory at some addresses."""
        read = self.pointers(addresses)
        return [index for index, written in self._writes.items() if written & read or _ANY in written | read]

    def compared(self, addresses: Iterable[Expr]) -> list[int]:
        """The indices of the stores that have a pointer which the conditions may compare with one of some addresses."""
        if _ANY not in self._compared and self._compared.isdisjoint(self.pointers(addresses)):
            return []
        return [index for index, written in self._writes.items() if _ANY in self._compared or written & self._compared]

    def pointers(self, addresses: Iterable[Expr]) -> frozenset[str]:
        """The pointers that addresses are made of, also by registers that loops change; none for shared memory."""
        found, is_shared = _parts(self._slices, addresses)
        return self._whole(found or (set() if is_shared else {_ANY}))

    @cached_property
    def _compared(self) -> frozenset[str]:
        """The pointers that the conditions read, but for tests of a pointer for null: no access is made by null."""
        read = closure(self._conditions, lambda node: () if self._is_test_for_null(node) else operands(node))
        return self._whole(_parts(self._slices, (each for each in read if isinstance(each, Var)))[0])

    def _is_test_for_null(self, node: Expr) -> bool:
        match node:
            case Compare(Comparison.EQ, Var() as read, Const(0)) | Compare(Comparison.EQ, Const(0), Var() as read):
                return self._slices.symbols.is_parameter(read)
            case _:
                return False

    @cached_property
    def _writes(self) -> Mapping[int, frozenset[str]]:
        found = {each.index: self._written(each) for each in self._slices.function.instructions}
        return {index: written for index, written in found.items() if written}

    def _whole(self, pointers: Iterable[str]) -> frozenset[str]:
        """Pointers, with those that one from memory may be."""
        found = frozenset(pointers)
        return found | self._published if _FROM_MEMORY in found else found

    def _written(self, instruction: Instruction) -> frozenset[str]:
        """The pointers that the address of a store to global memory is made of; none for other instructions."""
        slices, space = self._slices, space_of(instruction.opcode)
        reachable = slices.flow.is_reachable(slices.flow.block_of[instruction.index])
        places = [each for each in instruction.operands if isinstance(each, Address)][:1]
        if base_name(instruction) == "call" and reachable:
            return frozenset({_ANY})  # what the function does is not known
        if base_name(instruction) not in _WRITES or space not in ("", "global") or not (reachable and places):
            return frozenset()
        if ".tensor." in instruction.opcode:
            return frozenset({_FROM_MEMORY})
        return self.pointers([slices.run(address_of(slices, each, instruction)) for each in places])

    @cached_property
    def _published(self) -> frozenset[str]:
        """The pointers that the kernel writes to memory, whole or in parts, or puts into a tensor map.

        Also those to all variables, if an initialiser may hold addresses.
        """
        slices, values = self._slices, list[Expr]()
        for instruction in slices.function.instructions:
            if _PUBLISHES.fullmatch(base_name(instruction)):
                data = [each for each in instruction.operands if not isinstance(each, Address)]
                registers = [each for operand in data for each in registers_in(operand)]
                values += [slices.run(slices.before(each, instruction.index)) for each in registers]
        found = _parts(slices, values)[0]
        if any(each.note for each in slices.symbols.module.symbols):
            arrays = (each for each in slices.leaves.by_name.values() if isinstance(each, ArrayLeaf))
            found |= {each.name for each in arrays if each.symbol.space is not Space.SHARED}
        return frozenset(found - {_FROM_MEMORY})


def _parts(slices: Slices, values: Iterable[Expr]) -> tuple[set[str], bool]:
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
            leaf, carry = slices.leaves[each], slices.carried.get(each)
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
                is_named = slices.symbols.is_parameter(each)
                found.add(each.name if is_named else _FROM_MEMORY if is_input(leaf) else _ANY)
    return found, is_shared
