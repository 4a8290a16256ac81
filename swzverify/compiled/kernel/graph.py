"""Graphs of numbered nodes: an order, dominators, what is reachable, and values made of parts.

Source: Cooper, Harvey, Kennedy, "A Simple, Fast Dominance Algorithm" (2001).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import filterfalse
from typing import TypeAlias, TypeVar

Edges: TypeAlias = Sequence[Sequence[int]]
_Node = TypeVar("_Node")
_Value = TypeVar("_Value")


def reverse_postorder(root: int, following: Edges) -> list[int]:
    """Every node that the root reaches, each before those it leads to, but for edges backwards.

    >>> reverse_postorder(0, [[1, 2], [3], [3], []])
    [0, 2, 1, 3]
    """
    found: list[int] = []
    seen = {root}
    pending = [(root, iter(following[root]))]
    while pending:
        node, rest = pending[-1]
        for after in rest:
            if after not in seen:
                seen.add(after)
                pending.append((after, iter(following[after])))
                break
        else:
            found.append(node)
            pending.pop()
    found.reverse()
    return found


def inverted(following: Edges) -> list[list[int]]:
    """The same edges from their ends to their begins."""
    found: list[list[int]] = [[] for _ in following]
    for node, targets in enumerate(following):
        for target in targets:
            found[target].append(node)
    return found


def immediate_dominators(root: int, following: Edges) -> list[int | None]:
    """The closest node through which every way from the root to a node leads.

    None for the root, and for nodes that it does not reach.

    >>> immediate_dominators(0, [[1, 2], [3], [3], []])
    [None, 0, 0, 0]
    """
    order = reverse_postorder(root, following)
    place = {node: at for at, node in enumerate(order)}
    before = inverted(following)
    found: list[int | None] = [None] * len(following)
    found[root] = root
    changed = True
    while changed:
        changed = False
        for node in order[1:]:
            known = [each for each in before[node] if found[each] is not None]
            closest = known[0]
            for each in known[1:]:
                closest = _common(closest, each, found, place)
            if found[node] != closest:
                found[node] = closest
                changed = True
    found[root] = None
    return found


def _common(first: int, second: int, found: list[int | None], place: dict[int, int]) -> int:
    while first != second:
        while place[first] > place[second]:
            first = _parent(first, found)
        while place[second] > place[first]:
            second = _parent(second, found)
    return first


def _parent(node: int, found: list[int | None]) -> int:
    parent = found[node]
    return node if parent is None else parent


class Tree:
    """The tree of dominators: `above(a, b)` tells whether every way to `b` leads through `a`."""

    __slots__ = ("_first", "_last", "parents")

    def __init__(self, parents: list[int | None]) -> None:
        self.parents = parents
        children: list[list[int]] = [[] for _ in parents]
        for node, parent in enumerate(parents):
            if parent is not None:
                children[parent].append(node)
        self._first = [0] * len(parents)
        self._last = [0] * len(parents)
        clock = 0
        for root, parent in enumerate(parents):
            if parent is not None:
                continue
            pending = [(root, False)]
            while pending:
                node, is_left = pending.pop()
                clock += 1
                if is_left:
                    self._last[node] = clock
                else:
                    self._first[node] = clock
                    pending.append((node, True))
                    pending += [(child, False) for child in children[node]]

    def above(self, upper: int, lower: int) -> bool:
        """Whether `upper` dominates `lower`; every node dominates itself."""
        return self._first[upper] <= self._first[lower] and self._last[lower] <= self._last[upper]


def closure(starts: Iterable[_Node], after: Callable[[_Node], Iterable[_Node]]) -> dict[_Node, None]:
    """Some nodes with all nodes that `after` leads to, in the order in which they are found.

    >>> [*closure([6], lambda node: [node // 2] if node else [])]
    [6, 3, 1, 0]
    """
    found: dict[_Node, None] = {}
    pending = [*starts]
    while pending:
        node = pending.pop()
        if node not in found:
            found[node] = None
            pending += after(node)
    return found


def reached(starts: Iterable[int], following: Edges, is_end: Callable[[int], bool]) -> set[int]:
    """All nodes on ways from some nodes on; a way stops before a node that `is_end` names.

    >>> sorted(reached([1], [[1], [2], [3], []], lambda node: node == 3))
    [1, 2]
    """
    return {*closure(filterfalse(is_end, starts), lambda node: filterfalse(is_end, following[node]))}


def folded(
    root: _Node, parts: Callable[[_Node], Sequence[_Node]], combined: Callable[[_Node, list[_Value]], _Value]
) -> _Value:
    """The value of a node, combined from the values of its parts.

    It does not recurse, so the depth has no limit.

    >>> folded(3, lambda node: [node - 1] if node else [], lambda node, below: node + sum(below))
    6
    """
    known: dict[_Node, _Value] = {}
    pending = [root]
    while pending:
        node = pending[-1]
        needed = () if node in known else parts(node)
        if waiting := [part for part in needed if part not in known]:
            pending += waiting
            continue
        if node not in known:
            known[node] = combined(node, [known[part] for part in needed])
        pending.pop()
    return known[root]
