"""Whether two threads wait for the same things, in the same order, before and behind what they have in common.

`wgmma` begins for a warp group when the first of its warps issues it. What the waits of one warp put before the issue
comes before that of the others, too, if these wait for the same phases of the same barriers.

Source: docs/semantics.md, section 11.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, TypeAlias

from swzverify.compiled.kernel.graph import closure
from swzverify.compiled.order.events import Act
from swzverify.compiled.order.flights import Running
from swzverify.compiled.order.walk import Deed, Walk
from swzverify.ir.expr import Expr

_MOST_STEPS: Final = 2000
Key: TypeAlias = Expr | int
_WAITS: Final = (Act.WAIT, Act.SYNC, Act.LEAVE)
"""Events at a barrier that tell its phases apart for the thread; arrivals do so where it waits with their states."""


def are_alike(one: Walk, two: Walk) -> bool:
    """Whether two graphs have the same waits in the same order, with the same products between them."""
    if one is two:
        return True
    own = _own(one) | _own(two)
    first = _closed(one, {0}, own), _closed(two, {0}, own)
    pending, seen = [first], {first}
    while pending:
        here, there = pending.pop()
        if _products(one, here) != _products(two, there):
            return False
        mine, its = _waits(one, here, own), _waits(two, there, own)
        if mine.keys() != its.keys():
            return False
        for each in mine:
            both = _closed(one, mine[each], own), _closed(two, its[each], own)
            if both not in seen:
                seen.add(both)
                pending.append(both)
        if len(seen) > _MOST_STEPS:
            return False
    return True


def _own(walk: Walk) -> set[Key]:
    """The objects at which a thread waits with the state of its own arrival."""
    return {deed.key for node in walk.nodes for deed, _ in node.deeds if deed.is_own}


def _tells(deed: Deed, own: set[Key]) -> bool:
    return deed.act in _WAITS or (deed.act is Act.ARRIVE and deed.key in own)


def _closed(walk: Walk, nodes: Iterable[int], own: set[Key]) -> frozenset[int]:
    """Some nodes, with those that a thread comes to from them without a wait."""
    return frozenset(
        closure(nodes, lambda at: [target for deed, target in walk.nodes[at].deeds if not _tells(deed, own)])
    )


def _products(walk: Walk, nodes: frozenset[int]) -> set[object]:
    running = (each for at in nodes for each in walk.nodes[at].running)
    return {(each.index, each.values) for each in running if each.how is Running.PRODUCT}


def _waits(walk: Walk, nodes: frozenset[int], own: set[Key]) -> dict[object, set[int]]:
    """The nodes behind each wait from some nodes on."""
    found: dict[object, set[int]] = {}
    for at in nodes:
        for deed, target in walk.nodes[at].deeds:
            if _tells(deed, own):
                found.setdefault(_kind(deed), set()).add(target)
    return found


def _kind(deed: Deed) -> object:
    return deed.act, deed.key, deed.parity, deed.is_own
