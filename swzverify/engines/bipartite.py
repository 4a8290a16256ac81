"""The largest matching of lanes to units: how many different units lanes can choose at once."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import TypeVar

Left = TypeVar("Left", bound=Hashable)
Right = TypeVar("Right", bound=Hashable)


def largest_matching(reach: Mapping[Left, Sequence[Right]]) -> dict[Left, Right]:
    """A largest matching: pairs of a left item and an item that it reaches, each item in one pair at most.

    Kuhn's algorithm: a pair is added along a path that exchanges pairs. If no such path is left, the
    matching is a largest one (Berge's theorem).

    >>> sorted(largest_matching({"a": [1, 2], "b": [1], "c": [1]}).items())
    [('a', 2), ('b', 1)]
    """
    taken: dict[Right, Left] = {}
    for left in reach:
        _add(left, reach, taken, set())
    return {left: right for right, left in taken.items()}


def _add(left: Left, reach: Mapping[Left, Sequence[Right]], taken: dict[Right, Left], seen: set[Right]) -> bool:
    """Whether a place for `left` was found; others move on to make room. At most 32 go deep."""
    for right in reach[left]:
        if right in seen:
            continue
        seen.add(right)
        if right not in taken or _add(taken[right], reach, taken, seen):
            taken[right] = left
            return True
    return False
