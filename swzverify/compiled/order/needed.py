"""What loops count and carry, as far as events, conditions or descriptors of products are made of it.

Source: docs/semantics.md, section 11.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from swzverify.compiled.kernel.leaves import TripsLeaf, largest_parts
from swzverify.compiled.kernel.whole import Kernel
from swzverify.ir.expr import Const, Expr, Var, variables


def stages_of_products(kernel: Kernel, put: Callable[[Expr], Expr]) -> dict[Var, list[Expr]]:
    """For each trip number in the descriptors of products, the parts of these that are made of trip numbers alone.

    `put` gives an expression as it is followed.
    """
    found: dict[Var, list[Expr]] = {}

    def is_trips(variable: Var) -> bool:
        return isinstance(kernel.leaves.by_name.get(variable.name), TripsLeaf)

    for access in (each for each in kernel.accesses if each.operand is not None):
        for part in largest_parts(put(access.address), is_trips):
            for leaf in variables(part):
                found.setdefault(leaf, []).append(part)
    return found


def first_trips_only(kernel: Kernel) -> list[Var]:
    """What loops carry that is one number in the first trip and another one later, and decides where threads go."""
    flow = kernel.flow
    edges = [kernel.edge(block.index, target) for block in flow.blocks for target in flow.following[block.index]]
    carries = {each: kernel.carried[each] for edge in edges for each in variables(edge) if each in kernel.carried}
    return [e for e, carry in carries.items() if isinstance(carry.before, Const) and isinstance(carry.after, Const)]


def closure_of(
    kernel: Kernel, values: Iterable[Expr], put: Callable[[Expr], Expr]
) -> tuple[tuple[Var, ...], list[Expr]]:
    """The leaves of loops that some values depend on, and all values that these are made of, as `put` has them."""
    needed, found = dict.fromkeys(map(put, values)), dict[Var, None]()
    pending = list(needed)
    while pending:
        for each in variables(pending.pop()):
            carry = kernel.carried.get(each)
            is_trips = isinstance(kernel.leaves.by_name.get(each.name), TripsLeaf)
            if each in found or (not is_trips and carry is None):
                continue
            found[each] = None
            if carry is not None:
                new = [part for part in map(put, (carry.before, carry.after)) if part not in needed]
                needed |= dict.fromkeys(new)
                pending += new
    return tuple(found), list(needed)
