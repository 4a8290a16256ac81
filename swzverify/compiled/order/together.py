"""What can be at one time in the runs of a few threads: where each of them is, and what it has in flight."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum, auto
from typing import Final, NamedTuple, TypeAlias

from swzverify.compiled.order.nodes import Touch
from swzverify.compiled.order.objects import Key


class Being(Enum):
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
_Copies: TypeAlias = set[tuple[int, Touch, int, int, Being]]


class Moments(NamedTuple):
    """What can be at one time in a run, as far as it concerns two of its threads, 0 and 1, or one.

    Attributes:
        nodes: The places of both threads, and how each of them is there.
        copies: A copy that runs, with its thread, the place of a thread, and how it is there.
    """

    nodes: _Nodes
    copies: _Copies


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

    def of(self, one: int, two: int) -> Moments:
        """The moments of two threads, by their places among those of the run; both are one for a thread alone."""
        new = {one: 0, two: 0 if one == two else 1}
        nodes = self.nodes.get((one, two))
        if nodes is None:
            nodes = {(its, mine, its_is, mine_is) for mine, its, mine_is, its_is in self.nodes.get((two, one), ())}
        copies = {
            (new[owner], touch, new[who], node, being)
            for owner, touch, who, node, being in self.copies
            if owner in new and who in new
        }
        return Moments(nodes, copies)
