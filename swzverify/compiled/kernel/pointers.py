"""Pointers that a kernel loads from global memory.

A kernel without `cvta.shared` makes no generic address of a shared one. So a pointer that it loads leads to shared
memory only if an earlier kernel has left one there, which is assumed not to be so.
"""

from __future__ import annotations

from typing import Final

from swzverify.compiled.kernel.leaves import LaneLeaf, OpaqueLeaf, TripsLeaf, UniformLeaf, are_all, is_input
from swzverify.compiled.kernel.linear import sum_of
from swzverify.compiled.kernel.slices import Slices
from swzverify.compiled.ptx import Function
from swzverify.ir.expr import Expr, Var, variables

NOT_SHARED: Final = "no pointer that the kernel loads from global memory at {} points to shared memory"


def makes_generic(function: Function) -> bool:
    """Whether a function may make a generic address of a shared one."""
    return any(_makes_generic(each.opcode) for each in function.instructions)


def _makes_generic(opcode: str) -> bool:
    # `mapa.shared::cluster` gives a shared address, of which `cvta.shared::cluster` makes a generic one.
    return opcode.startswith(("cvta.shared", "call")) or (opcode.startswith("mapa") and "::cluster" not in opcode)


def loaded_pointer(slices: Slices, generic: Expr) -> OpaqueLeaf | None:
    """The pointer from global memory with which a generic address begins; None if it begins with something else."""
    place = sum_of(generic)
    begins = [term for term, count in place.terms.items() if count == 1 and isinstance(term, Var)]
    found = [slices.leaves[each] for each in begins if each.limit == 1 << 64]
    pointers = [each for each in found if is_input(each)]
    rest = {each for term in place.terms for each in variables(term)} - {each.variable for each in pointers}
    is_offset = are_all((slices.leaves[each] for each in rest), (UniformLeaf, LaneLeaf, TripsLeaf))
    window = variables(slices.symbols.window("shared", generic.width))
    return pointers[0] if len(found) == len(pointers) == 1 and is_offset and rest.isdisjoint(window) else None
