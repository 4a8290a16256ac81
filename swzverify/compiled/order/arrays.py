"""Which arrays of shared memory an address may lie in.

The array is not the symbol in the address: a register that a loop changes may carry the distance to another array.
"""

from __future__ import annotations

from swzverify.compiled.kernel.leaves import ArrayLeaf
from swzverify.compiled.kernel.shared import SharedAccess
from swzverify.compiled.kernel.symbols import DYNAMIC
from swzverify.compiled.kernel.whole import Kernel
from swzverify.ir.expr import Expr, Var, variables


def arrays_of(kernel: Kernel, address: Expr) -> set[str]:
    """The arrays that an address may lie in, also by registers that loops change."""
    found: set[str] = set()
    seen: set[Var] = set()
    pending = [address]
    while pending:
        for each in variables(pending.pop()):
            if each in seen:
                continue
            seen.add(each)
            leaf = kernel.leaves[each]
            if isinstance(leaf, ArrayLeaf):
                found.add(DYNAMIC if leaf.symbol.size_bytes is None else each.name)
            elif (carry := kernel.carried.get(each)) is not None:
                pending += [carry.before, carry.after]
    return found


class Arrays:
    """The arrays of the accesses of one kernel; each address is looked at once."""

    def __init__(self, kernel: Kernel) -> None:
        self._kernel = kernel
        self._found: dict[Expr, set[str]] = {}

    def are_distinct(self, first: SharedAccess, second: SharedAccess) -> bool:
        """Whether each address lies in one array, and these are two."""
        one, two = self._of(first.address), self._of(second.address)
        return len(one) == len(two) == 1 and one != two

    def _of(self, address: Expr) -> set[str]:
        if address not in self._found:
            self._found[address] = arrays_of(self._kernel, address)
        return self._found[address]
