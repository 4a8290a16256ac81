"""Which arrays of shared memory an address may lie in.

The array is not the symbol in the address: a register that a loop changes may carry the distance to another array,
and a choice between a symbol and a pointer that is not followed, such as one from local memory, may be either.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from swzverify.compiled.kernel.leaves import ArrayLeaf
from swzverify.compiled.kernel.linear import sum_of
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
    carried: dict[Var, tuple[Expr, Expr]] = {}
    pending, found = [address], set[str]()
    while pending:
        for each in variables(pending.pop()):
            carry = kernel.carried.get(each)
            if isinstance(kernel.leaves[each], ArrayLeaf):
                found |= _starts(kernel, each)
            elif carry is not None and each not in carried:
                carried[each] = carry.before, carry.after
                pending += carried[each]
    if len(found) != 1 or any(_is_start(kernel, term) for term in sum_of(address).terms):
        return frozenset(found)
    nodes = postorder(address, *(value for both in carried.values() for value in both))
    if not carried and not any(isinstance(each, Ite) for each in nodes):
        return frozenset(found)
    known: dict[Expr, frozenset[str]] = {}
    size = -1
    while size < sum(map(len, known.values())):
        size = sum(map(len, known.values()))
        for each in nodes:
            known[each] = _places(kernel, each, known, carried.get(each, ()) if isinstance(each, Var) else ())
    return known[address] if found & known[address] else frozenset()


def _is_start(kernel: Kernel, term: Expr) -> bool:
    read = variables(term)
    return bool(read) and all(isinstance(kernel.leaves[each], ArrayLeaf) for each in read)


def _places(kernel: Kernel, node: Expr, known: Mapping[Expr, frozenset[str]], carry: Sequence[Expr]) -> frozenset[str]:
    """The arrays that a value may be made of, one for each choice in it, from those of its parts."""
    match node:
        case Var() if carry:
            return frozenset[str]().union(*(known.get(each, frozenset()) for each in carry))
        case Var():
            return _starts(kernel, node)
        case Ite():
            return known[node.then] | known[node.otherwise]
        case Compare():
            return frozenset({_NONE})
        case _:
            parts = [known[each] for each in operands(node)]
            starts = frozenset[str]().union(*parts) - {_NONE}
            return starts | {_NONE} if all(_NONE in each for each in parts) else starts


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
        one, two = self.of(first.address), self.of(second.address)
        return len(one) == len(two) == 1 and one != two

    def of(self, address: Expr) -> frozenset[str]:
        """The arrays that an address may lie in."""
        if address not in self._found:
            self._found[address] = arrays_of(self._kernel, address)
        return self._found[address]
