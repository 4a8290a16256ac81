"""Whether a kernel writes global memory that its threads are taken to load one word from.

Threads that load from one address have one word only as long as nobody writes it. Others are assumed not to; the
kernel itself may. Two addresses may be one if they are made of one pointer. That distinct pointers lead to distinct
memory is part of what is assumed.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from swzverify.compiled.kernel.evaluate import space_of
from swzverify.compiled.kernel.flow import base_name
from swzverify.compiled.kernel.leaves import Leaf
from swzverify.compiled.kernel.values import address_of
from swzverify.compiled.kernel.whole import Kernel
from swzverify.compiled.ptx import Address, Instruction, Space
from swzverify.ir.expr import Expr, Var, variables

_WRITES: Final = ("st", "atom", "red", "cp", "multimem")
_POINTER_BITS: Final = 64
_UNKNOWN: Final = "a pointer that is not followed"


def own_store(kernel: Kernel, loads: Iterable[Leaf]) -> tuple[int, int] | None:
    """The lines of a store and of a load such that the store may write what the load reads; None if there are none."""
    pointers = {leaf.line: _pointers(kernel, leaf.feeds) for leaf in loads}
    if not pointers:
        return None
    for instruction in kernel.function.instructions:
        written = _written(kernel, instruction)
        for line, read in pointers.items():
            if written & read:
                return instruction.line, line
    return None


def _written(kernel: Kernel, instruction: Instruction) -> frozenset[str]:
    """The pointers that the address of a store to global memory is made of; none for other instructions."""
    space = space_of(instruction.opcode)
    reachable = kernel.flow.is_reachable(kernel.flow.block_of[instruction.index])
    if base_name(instruction) not in _WRITES or space not in ("", "global") or not reachable:
        return frozenset()
    places = [each for each in instruction.operands if isinstance(each, Address)][:1]
    return _pointers(kernel, [kernel.slices.run(address_of(kernel.slices, each, instruction)) for each in places])


def _pointers(kernel: Kernel, addresses: Iterable[Expr]) -> frozenset[str]:
    """The pointers that addresses are made of, also by registers that loops change; none for shared memory."""
    found: set[str] = set()
    seen: set[Var] = set()
    pending = [*addresses]
    while pending:
        for each in variables(pending.pop()):
            if each in seen:
                continue
            seen.add(each)
            leaf, carry = kernel.leaves[each], kernel.slices.carried.get(each)
            if leaf.symbol is not None:
                if leaf.symbol.space is Space.SHARED:
                    return frozenset()
                found.add(each.name)
            elif carry is not None:
                pending += [carry.before, carry.after]
            elif each.width >= _POINTER_BITS and not each.name.startswith("window of "):
                found.add(each.name if kernel.slices.symbols.is_parameter(each) else _UNKNOWN)
    return frozenset(found or {_UNKNOWN})
