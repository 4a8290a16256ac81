"""Whether two threads wait for the same things, in the same order, before and behind what they have in common.

`wgmma` begins for a warp group when the first of its warps issues it. What the waits of one warp put before the issue
comes before that of the others, too, if these wait for the same phases of the same barriers.

Source: docs/semantics.md, section 11.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from swzverify.compiled.order.events import Act
from swzverify.compiled.order.flights import Running
from swzverify.compiled.order.walk import Deed, Walk

_MOST_STEPS: Final = 2000
_WAITS: Final = (Act.WAIT, Act.SYNC, Act.LEAVE)
"""Events at a barrier that tell its phases apart for the thread."""


def are_alike(one: Walk, two: Walk) -> bool:
    """Whether two graphs have the same waits in the same order, with the same products between them."""
    if one is two:
        return True
    first = _closed(one, {0}), _closed(two, {0})
    pending, seen = [first], {first}
    while pending:
        here, there = pending.pop()
        if _products(one, here) != _products(two, there):
            return False
        mine, its = _waits(one, here), _waits(two, there)
        if mine.keys() != its.keys():
            return False
        for each in mine:
            both = _closed(one, mine[each]), _closed(two, its[each])
            if both not in seen:
                seen.add(both)
                pending.append(both)
        if len(seen) > _MOST_STEPS:
            return False
    return True


def _closed(walk: Walk, nodes: Iterable[int]) -> frozenset[int]:
    """Some nodes, with those that a thread comes to from them without a wait."""
    found, pending = set[int](), list(nodes)
    while pending:
        at = pending.pop()
        if at not in found:
            found.add(at)
            pending += [target for deed, target in walk.nodes[at].deeds if deed.act not in _WAITS]
    return frozenset(found)


def _products(walk: Walk, nodes: frozenset[int]) -> set[object]:
    running = (each for at in nodes for each in walk.nodes[at].running)
    return {(each.index, each.values) for each in running if each.how is Running.PRODUCT}


def _waits(walk: Walk, nodes: frozenset[int]) -> dict[object, set[int]]:
    """The nodes behind each wait from some nodes on."""
    found: dict[object, set[int]] = {}
    for at in nodes:
        for deed, target in walk.nodes[at].deeds:
            if deed.act in _WAITS:
                found.setdefault(_kind(deed), set()).add(target)
    return found


def _kind(deed: Deed) -> object:
    return deed.act, deed.key, deed.parity, deed.is_own
