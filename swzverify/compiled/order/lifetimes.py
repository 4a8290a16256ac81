"""Whether the blocks of a cluster are there whenever others access their shared memory.

A block is there from when one of its threads has begun until all of them have returned. So for each access it is
enough that one thread of the other block has begun before it, and that one returns behind it. Runs do not know that
two threads make equally many trips of their loops. So where a thread that reaches other blocks has a loop, it is
assumed that no block returns too early, and the verdict says so.

Source: docs/semantics.md, section 11, Clusters of several blocks.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum, auto
from typing import Final

from swzverify.compiled.kernel.clusters import RANK_BITS
from swzverify.compiled.kernel.linear import sum_of
from swzverify.compiled.kernel.whole import Kernel
from swzverify.compiled.order.events import Act, LostError
from swzverify.compiled.order.groups import LEVELS
from swzverify.compiled.order.pipelines import Pipelines
from swzverify.compiled.order.together import Being, Member, Moments
from swzverify.compiled.order.walk import Walk

_NEITHER: Final = (0, 0)
STAYS: Final = "no block of a cluster returns before the last access of other blocks to its memory, at {}"


class _End(Enum):
    """Which end of a block's time an access may be behind."""

    BEGIN = auto()
    RETURN = auto()


@dataclass(frozen=True, slots=True)
class _Reach:
    """An access of a role to another block: at a node of its graph, or as a copy that runs."""

    index: int
    node: int


def late_lines(kernel: Kernel, pipelines: Pipelines) -> list[int]:
    """The lines of accesses in loops of which it has to be assumed that the block that they reach has not returned.

    Raises:
        LostError: An access may come when the block whose memory it reaches is not there.
    """
    late: set[int] = set()
    for place, role in enumerate(pipelines.roles):
        for rank in range(kernel.ranks.count):
            if rank == role.rank:
                continue
            reached = set(_reached(kernel, pipelines, place, rank))
            for end in _End:
                is_assumed = end is _End.RETURN and _has_loop(role.walk)
                open_ones = reached if is_assumed else _without(pipelines, place, rank, reached, end)
                lines = {kernel.function.instructions[each.index].line for each in open_ones}
                if is_assumed:
                    late |= lines
                elif lines:
                    when = "has begun" if end is _End.BEGIN else "is still there"
                    raise LostError(
                        f"it is not known that a block {when} when another one reaches its memory at line {min(lines)}"
                    )
    return sorted(late)


def _has_loop(walk: Walk) -> bool:
    """Whether a thread may come to a place of its graph again."""
    left = {at: {target for _, target in node.deeds} for at, node in enumerate(walk.nodes)}
    while ends := [at for at, targets in left.items() if targets.isdisjoint(left)]:
        for at in ends:
            del left[at]
    return bool(left)


def _reached(kernel: Kernel, pipelines: Pipelines, place: int, rank: int) -> Iterator[_Reach]:
    """The accesses of a role that may reach the memory of the block of another rank."""
    for at, node in enumerate(pipelines.roles[place].walk.nodes):
        for deed, _ in node.deeds:
            if not isinstance(deed.key, int) and sum_of(deed.key).number >> RANK_BITS == rank:
                yield _Reach(deed.index, -1 if deed.act is Act.COPY else at)
        touched = (each.index for each in node.touches if each.is_data)
        yield from (_Reach(e, at) for e in touched if kernel.ranks.may_leave(kernel.function.instructions[e]))


def _without(pipelines: Pipelines, place: int, rank: int, reached: set[_Reach], end: _End) -> set[_Reach]:
    """The accesses for which no thread of a block is known to have begun, or to return behind them."""
    left = reached
    others = [at for at, each in enumerate(pipelines.roles) if each.rank == rank]
    member = Member(pipelines.roles[place].threads[0], place)

    def seen(
        _group: tuple[Member, ...], moments: Moments, _accesses: tuple[int, int], _is_self: bool
    ) -> Iterator[_Reach]:
        return _at_end(moments, left, end)

    for level in range(LEVELS):
        for at in others:
            if left:
                both = [member, Member(pipelines.roles[at].threads[0], at)]
                open_ones = pipelines.groups.common(both, level, seen, _NEITHER, is_of_time=True)
                left = left if open_ones is None else left & open_ones
    return left


def _at_end(moments: Moments, reached: set[_Reach], end: _End) -> Iterator[_Reach]:
    """The accesses that may be made while the second thread has not begun, or has returned."""
    nodes: dict[int, list[int]] = {}
    for each in reached:
        nodes.setdefault(each.node, []).append(each.index)
    for node, indices in nodes.items():
        for two, its_is in moments.nodes.get((node, Being.FREE), ()):
            is_at_end = its_is is Being.GONE if end is _End.RETURN else two == 0 and its_is is not Being.GONE
            if is_at_end:
                yield from (_Reach(index, node) for index in indices)
    for index in nodes.get(-1, ()):
        for node, its_is in moments.running(index, 0, 1):
            is_at_end = its_is is Being.GONE if end is _End.RETURN else node == 0 and its_is is not Being.GONE
            if is_at_end:
                yield _Reach(index, -1)
