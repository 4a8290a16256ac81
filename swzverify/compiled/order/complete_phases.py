"""Barrier objects whose first phase the thread that makes them completes by itself.

A consumer that frees stages arrives once in each phase but the first one, in which all stages are free: the thread that
initialises the object arrives there for it. Both steps count as one that makes the object in its second phase.

Source: docs/semantics.md, section 11.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from swzverify.compiled.order.events import Act, Event
from swzverify.compiled.order.nodes import Deed, Node
from swzverify.compiled.order.roles import Role
from swzverify.ir.expr import Expr


def with_complete_phases(roles: Sequence[Role], events: Mapping[int, Event]) -> None:
    """Put one step for the initialisation and the first arrival of each object whose count adds up only so."""
    deeds: dict[Expr, list[tuple[int, Deed]]] = {}
    for at, role in enumerate(roles):
        for deed in (deed for node in role.walk.nodes for deed, _ in node.deeds):
            if not isinstance(deed.key, int):
                deeds.setdefault(deed.key, []).append((at, deed))
    for of in deeds.values():
        inits = [each for each in of if each[1].act is Act.INIT]
        if len(inits) != 1 or len(roles[inits[0][0]].threads) > 1:
            continue
        (maker, init), nodes = inits[0], roles[inits[0][0]].walk.nodes
        place = next(at for at, node in enumerate(nodes) for deed, _ in node.deeds if deed == init)
        first = _next_at(nodes, _behind(nodes[place], init), init.key)
        if len(first) != 1:
            continue
        (arrival,) = first
        is_whole = arrival.act is Act.ARRIVE and (arrival.count, arrival.bytes) == (init.count, 0)
        is_whole = is_whole and events[arrival.index].given is None
        if is_whole and _adds_up(roles, of, init, (maker, arrival)):
            _make_later(nodes, place, init, arrival)


def _behind(node: Node, event: Deed) -> int:
    """The node behind an event."""
    return next(target for deed, target in node.deeds if deed == event)


def _next_at(nodes: Sequence[Node], start: int, key: Expr | int) -> set[Deed]:
    """The first events at an object on all paths from a node."""
    pending, seen, found = [start], {start}, set[Deed]()
    while pending:
        for deed, target in nodes[pending.pop()].deeds:
            if deed.key == key:
                found.add(deed)
            elif target not in seen:
                seen.add(target)
                pending.append(target)
    return found


def _adds_up(roles: Sequence[Role], of: Sequence[tuple[int, Deed]], init: Deed, first: tuple[int, Deed]) -> bool:
    """Whether the arrivals without the first one are as many as the object counts, and with it they are not."""
    shares = {(at, each.count) for at, each in of if each.act is Act.ARRIVE and (at, each) != first}
    total = sum(len(roles[at].threads) * count for at, count in shares)
    return total == init.count and first[0] not in {at for at, _ in shares}


def _make_later(nodes: Sequence[Node], place: int, init: Deed, arrival: Deed) -> None:
    """The graph of the maker without the initialisation, and with one in the second phase for the arrival."""
    node = nodes[place]
    target = _behind(node, init)
    behind = nodes[target]
    del node.deeds[init, target]
    node.deeds |= behind.deeds
    node.touches |= behind.touches
    node.running |= behind.running
    node.leaving |= behind.leaving
    node.is_end |= behind.is_end
    if all(to != target for each in nodes for _, to in each.deeds):
        nodes[target].deeds, nodes[target].touches, nodes[target].is_end = {}, {}, False
        nodes[target].running, nodes[target].leaving = {}, {}
    later = replace(arrival, act=Act.INIT, parity=1)
    for each in nodes:
        each.deeds = {(later if deed == arrival else deed, target): None for deed, target in each.deeds}
