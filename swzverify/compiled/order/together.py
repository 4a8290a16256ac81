"""What can be at one time in the runs of a few threads: where each of them is, and what it has in flight."""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import dataclass, field
from enum import IntEnum, auto
from typing import Final, NamedTuple, TypeAlias

from swzverify.compiled.order.flights import Values
from swzverify.compiled.order.nodes import Touch
from swzverify.compiled.order.objects import Key


class Being(IntEnum):
    """How a thread is at a place: it goes on, it is held before it can, or it has returned from there.

    A thread that has stopped may make the accesses at its place, and no operation on a barrier.
    """

    FREE = auto()
    STOPPED = auto()
    HELD = auto()
    GONE = auto()


ACTIVE: Final = frozenset({Being.FREE, Being.STOPPED})
"""How a thread is at a place whose accesses it may make now."""


class Member(NamedTuple):
    """A thread that is looked at: its number in the block, and the place of its role."""

    thread: int
    role: int


_Nodes: TypeAlias = set[tuple[int, int, Being, Being]]
Place: TypeAlias = tuple[int, Being]
"""A node of a thread, and how the thread is there."""
_Copies: TypeAlias = set[tuple[int, Touch, int, int, Being]]


class Moments(NamedTuple):
    """What can be at one time in a run, as far as it concerns two of its threads, 0 and 1, or one.

    Attributes:
        nodes: For each place of thread 0, and how it is there, the places of thread 1 and how this one is there.
        copies: The copies that run, by instruction, by their thread and another one, and by each place of this one:
            what the leaves in their addresses were.
    """

    nodes: dict[Place, set[Place]]
    copies: dict[int, dict[tuple[int, int], dict[Place, set[Values]]]]

    def running(self, index: int, owner: int, who: int) -> Mapping[Place, Set[Values]]:
        """The copies of a thread that run while another one is at each of its places."""
        return self.copies.get(index, {}).get((owner, who), {})

    def add(self, copy: Touch, owner: int, who: int, place: Place) -> None:
        """Let a copy run while a thread is at a place."""
        of_threads = self.copies.setdefault(copy.index, {}).setdefault((owner, who), {})
        of_threads.setdefault(place, set()).add(copy.values)


@dataclass(slots=True)
class AllMoments:
    """What can be at one time in a run.

    Attributes:
        nodes: For each two threads, their places, and how each of them is there.
        copies: A copy that runs, with its thread, the place of a thread, and how it is there.
        early: Who arrived again in one phase, or copied late in it, and at which barrier; such runs are not followed.
        unmade: Who used an object that was not initialised or had ended, or had a copy to it in flight when it ended,
            and which one; such runs are not followed.
    """

    nodes: dict[tuple[int, int], _Nodes] = field(default_factory=dict[tuple[int, int], _Nodes])
    copies: _Copies = field(default_factory=_Copies)
    early: set[tuple[int, Key]] = field(default_factory=set[tuple[int, Key]])
    unmade: set[tuple[int, Key]] = field(default_factory=set[tuple[int, Key]])
    _of_two: dict[tuple[int, int], Moments] = field(default_factory=dict[tuple[int, int], Moments], compare=False)

    def of(self, one: int, two: int) -> Moments:
        """The moments of two threads, by their places among those of the run; both are one for a thread alone."""
        if (one, two) not in self._of_two:
            self._of_two[one, two] = self._find(one, two)
        return self._of_two[one, two]

    def _find(self, one: int, two: int) -> Moments:
        """The moments of two threads."""
        new = {one: 0, two: 0 if one == two else 1}
        nodes: dict[Place, set[Place]] = {}
        for mine, its, mine_is, its_is in self.nodes.get((one, two), ()):
            nodes.setdefault((mine, mine_is), set()).add((its, its_is))
        for its, mine, its_is, mine_is in self.nodes.get((two, one), ()):
            nodes.setdefault((mine, mine_is), set()).add((its, its_is))
        found = Moments(nodes, {})
        for owner, touch, who, node, being in self.copies:
            if owner in new and who in new:
                found.add(touch, new[owner], new[who], (node, being))
        return found
