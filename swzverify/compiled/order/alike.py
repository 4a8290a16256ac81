"""Values of two threads that are equal because one instruction made them of equal values, whatever it does.

Source: docs/semantics.md, section 10.
"""

from __future__ import annotations

from typing import Final

from swzverify.compiled.kernel.arithmetic import either
from swzverify.compiled.kernel.leaves import Made, OpaqueLeaf
from swzverify.compiled.order.instance import Instances, Place
from swzverify.ir.expr import Comparison, Expr, compare, conjunction, variables

_MOST_DEEP: Final = 4
"""Instructions of which one makes what the next one reads."""


def made_alike(instances: Instances, value: Expr, places: tuple[Place, Place], deep: int = _MOST_DEEP) -> Expr | None:
    """When a value of two threads is one, as far as instructions that are not followed depend on operands alone.

    None if nothing is known of it: no such instruction is read, or one is in a loop that the access is not in.
    """
    kernel = instances.kernel
    read = [kernel.leaves[each] for each in variables(value)]
    made = [each for each in read if isinstance(each, OpaqueLeaf) and is_of_operands(each)]
    known = [{header for header, _ in place} for place in places]
    blocks = [each.block for each in made if each.block is not None]
    headers = {loop.header for block in blocks for loop in kernel.flow.around(block)}
    if not made or not deep or any(each.block is None for each in made):
        return None
    if not all(headers <= each for each in known):
        return None
    found: dict[Expr, Expr] = {}
    for each in (
        *(leaf.variable for leaf in read if leaf not in made),
        *(feed for leaf in made for feed in leaf.feeds),
    ):
        if each not in found:
            one, two = (instances.value(each, who, place) for who, place in enumerate(places))
            found[each] = compare(Comparison.EQ, one, two)
            deeper = made_alike(instances, each, places, deep - 1)
            if deeper is not None:
                found[each] = either(found[each], deeper)
    return conjunction(found.values())


def is_of_operands(leaf: OpaqueLeaf) -> bool:
    """Whether a value depends on `feeds` alone, and PTX defines it for all of them."""
    return leaf.made is Made.DETERMINED and leaf.open is None
