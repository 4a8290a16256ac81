"""The graph of what one thread does to barriers: events, and what may be accessed between them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from swzverify.compiled.order.events import Act
from swzverify.compiled.order.flights import Flight, Values
from swzverify.ir.expr import Expr


@dataclass(frozen=True, slots=True)
class Deed:
    """An event with its values: the object as its address, or the number of a named barrier.

    With `is_own`, a wait is for the phase in which its thread arrived last.
    """

    act: Act
    index: int
    key: Expr | int
    count: int
    parity: int
    bytes: int
    values: Values
    is_own: bool = False


@dataclass(frozen=True, slots=True)
class Touch:
    """An access, with the values of the leaves that are tracked; `is_data` if it is no operation on a barrier."""

    index: int
    values: Values
    is_data: bool


@dataclass(slots=True)
class Node:
    """Where a thread is behind an event: what it may access before the next one, and what that may be.

    `entry` runs on when the thread comes here, `running` at some time while it is here, and `leaving` when it returns.
    """

    entry: frozenset[Flight] = frozenset()
    running: dict[Flight, None] = field(default_factory=dict[Flight, None])
    leaving: dict[Flight, None] = field(default_factory=dict[Flight, None])
    touches: dict[Touch, None] = field(default_factory=dict[Touch, None])
    deeds: dict[tuple[Deed, int], None] = field(default_factory=dict[tuple[Deed, int], None])
    is_end: bool = False


def merged(nodes: list[Node]) -> list[Node]:
    """The same graph with one node for all from which a thread does the same, whatever it did before.

    What operations on barriers touch follows from what they do: the node has what any of its nodes touches so.
    """
    classes = classes_of(nodes)
    found: dict[int, Node] = {}
    for node, number in zip(nodes, classes, strict=True):
        found.setdefault(number, node).touches |= node.touches
    for node in found.values():
        node.deeds = {(deed, classes[target]): None for deed, target in node.deeds}
    return [found[number] for number in range(len(found))]


def classes_of(nodes: Sequence[Node]) -> list[int]:
    """A number for each node: one for all from which a thread does the same."""
    classes = [0] * len(nodes)
    while True:
        kinds: dict[object, int] = {}
        new: list[int] = []
        for each, known in zip(nodes, classes, strict=True):
            deeds = frozenset((deed, classes[target]) for deed, target in each.deeds)
            touches = frozenset(touch if touch.is_data else touch.index for touch in each.touches)
            parts = touches, frozenset(each.running), frozenset(each.leaving), each.entry, each.is_end
            new.append(kinds.setdefault((known, deeds, parts), len(kinds)))
        if len(kinds) == len(set(classes)):
            return classes
        classes = new
