"""Which arrays of shared memory an address may lie in.

The array is not the symbol in the address: a register that a loop changes may carry the distance to another array,
and a choice between a symbol and a pointer that is not followed, such as one from local memory, may be either.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from swzverify.compiled.kernel.leaves import ArrayLeaf
from swzverify.compiled.kernel.shared import SharedAccess
from swzverify.compiled.kernel.symbols import DYNAMIC
from swzverify.compiled.kernel.whole import Kernel
from swzverify.ir.expr import Compare, Expr, Ite, Var, operands, postorder, variables

_NONE: Final = ""
"""Stands for an address that no array is known to be a part of."""


def arrays_of(kernel: Kernel, address: Expr) -> frozenset[str]:
    """The arrays that an address may lie in, also by registers that loops change; the empty name for any other place.

    What is added to the start of an array is taken as an offset in it.
    """
    carried: dict[Var, frozenset[str]] = {}
    pending, found, has_choice = [address], set[str](), False
    while pending:
        value = pending.pop()
        has_choice = has_choice or any(isinstance(each, Ite) for each in postorder(value))
        for each in variables(value):
            carry = kernel.carried.get(each)
            if isinstance(kernel.leaves[each], ArrayLeaf):
                found |= _starts(kernel, each)
            elif carry is not None and each not in carried:
                carried[each] = frozenset()
                pending += [carry.before, carry.after]
    if len(found) != 1 or not (carried or has_choice):
        return frozenset(found)
    while True:
        carries = ((each, kernel.carried[each]) for each in carried)
        new = {each: _by(kernel, of.before, carried) | _by(kernel, of.after, carried) for each, of in carries}
        if new == carried:
            places = _by(kernel, address, carried)
            return places if found & places else frozenset()
        carried = new


def _by(kernel: Kernel, value: Expr, carried: Mapping[Var, frozenset[str]]) -> frozenset[str]:
    """The arrays that a value may be made of, one for each choice in it."""
    known: dict[Expr, frozenset[str]] = {}
    for node in postorder(value):
        match node:
            case Var():
                known[node] = carried.get(node, _starts(kernel, node))
            case Ite():
                known[node] = known[node.then] | known[node.otherwise]
            case Compare():
                known[node] = frozenset({_NONE})
            case _:
                parts = [known[each] for each in operands(node)]
                starts = frozenset[str]().union(*parts) - {_NONE}
                known[node] = starts | {_NONE} if all(_NONE in each for each in parts) else starts
    return known[value]


def _starts(kernel: Kernel, variable: Var) -> frozenset[str]:
    leaf = kernel.leaves[variable]
    if not isinstance(leaf, ArrayLeaf):
        return frozenset({_NONE})
    return frozenset({DYNAMIC if leaf.symbol.size_bytes is None else leaf.name})


class Arrays:
    """The arrays of the accesses of one kernel; each address is looked at once."""

    def __init__(self, kernel: Kernel) -> None:
        self._kernel = kernel
        self._found: dict[Expr, frozenset[str]] = {}

    def are_distinct(self, first: SharedAccess, second: SharedAccess) -> bool:
        """Whether each address lies in one array, and these are two."""
        one, two = self._of(first.address), self._of(second.address)
        return len(one) == len(two) == 1 and one != two

    def _of(self, address: Expr) -> frozenset[str]:
        if address not in self._found:
            self._found[address] = arrays_of(self._kernel, address)
        return self._found[address]
