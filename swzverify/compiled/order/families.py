"""Pairs of accesses whose distance reads coordinates alone, told apart by a number: unrolled code has many.

The addresses are sums of the same terms, and only the number between them differs. So the distances that two threads
can have are listed once, and Z3 is asked once whether a distance can be one of many.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from swzverify.compiled.kernel.arithmetic import add, either, less, mul, sub, widened
from swzverify.compiled.kernel.linear import Sum
from swzverify.compiled.kernel.symbols import ADDRESSES
from swzverify.compiled.order.threads import Thread
from swzverify.engines.enumeration import Numbers, Ranges, first_meeting
from swzverify.ir.bounded import bounded
from swzverify.ir.evaluate import MAX_ARRAY_WIDTH, evaluate_many
from swzverify.ir.expr import (
    FALSE,
    Comparison,
    Expr,
    compare,
    conjunction,
    const,
    negation,
    postorder,
)
from swzverify.ir.intervals import intervals

MOST_SHARED: Final = 232_448
"""Bytes of shared memory that a block can have. Source: CUDA Programming Guide 13, 5.1.3, table 31."""
_MOST_BITS: Final = 40
"""Bits of positions."""


@dataclass(frozen=True, slots=True)
class _Side:
    """A sum at all points of a thread: its smallest and its largest value, and the ranges without the number."""

    low: int
    high: int
    ranges: Ranges


@dataclass(frozen=True, slots=True, eq=False)
class Family:
    """Two sums of coordinates, as numbers that do not wrap, and the conditions under which they count.

    Attributes:
        threads: The two threads.
        positions: The sums, of so many bits that no difference of them wraps.
        spans: Bounds of the sums, within which no difference wraps.
        sides: What is listed of both.
        guards: When each thread makes its access.
        lengths: The bytes of both accesses.
        are_two: Whether the threads are distinct.
    """

    threads: tuple[Thread, Thread]
    positions: tuple[Expr, Expr]
    spans: tuple[tuple[int, int], tuple[int, int]]
    sides: tuple[_Side, _Side]
    guards: tuple[Expr, Expr]
    lengths: tuple[int, int]
    are_two: bool

    def is_near(self, distance: int) -> bool:
        """Whether the second sum plus a number is so near to the first one that addresses do not go round."""
        one, two = self.sides
        most = max(abs(two.high + distance - one.low), abs(one.high - two.low - distance))
        return most < ADDRESSES - MOST_SHARED

    def apart(self, distances: Iterable[int]) -> list[int]:
        """The numbers with which no two ranges meet, of the second sum plus a number and the first one."""
        first, second = (each.ranges for each in self.sides)
        found: list[int] = []
        for distance in distances:
            moved = second[0] + distance, second[1], second[2]
            if first_meeting(first, moved, self.lengths) is None:
                found.append(distance)
        return found

    def meets(self, distances: Sequence[int]) -> Expr:
        """That two threads have ranges that meet, with one of these numbers."""
        low, high = self._least(distances), self._most(distances)
        width = max(abs(low), abs(high)).bit_length() + 2
        one, two = (widened(each, width, signed=True) for each in self.positions)
        between = sub(two, one)
        near: Expr = FALSE
        for start, end in _merged((-self.lengths[1] - each + 1, self.lengths[0] - each) for each in distances):
            near = either(near, less(sub(between, const(start, width)), const(end - start, width), signed=False))
        differ = [negation(compare(Comparison.EQ, *(each.tag for each in self.threads)))] if self.are_two else []
        return bounded(conjunction((*differ, *self.guards, near)))

    def _least(self, distances: Sequence[int]) -> int:
        return min(self.spans[1][0] - self.spans[0][1], -max(distances) - max(self.lengths)) - max(self.lengths)

    def _most(self, distances: Sequence[int]) -> int:
        return max(self.spans[1][1] - self.spans[0][0], max(self.lengths) - min(distances)) + max(self.lengths)


class Families:
    """The families of two threads; each is made once."""

    def __init__(self, threads: tuple[Thread, Thread]) -> None:
        self._threads = threads
        self._found: dict[tuple[object, ...], Family | None] = {}

    def of(
        self, sums: Sequence[Sum], guards: tuple[Expr, Expr], lengths: tuple[int, int], *, are_two: bool
    ) -> Family | None:
        """The family of two sums of coordinates, without numbers; None if their values may be too large."""
        key = *(frozenset(each.terms.items()) for each in sums), guards, lengths, are_two
        if key not in self._found:
            self._found[key] = self._made(sums, guards, lengths, are_two=are_two)
        return self._found[key]

    def _made(
        self, sums: Sequence[Sum], guards: tuple[Expr, Expr], lengths: tuple[int, int], *, are_two: bool
    ) -> Family | None:
        spans = [_span(each) for each in sums]
        width = max(abs(end) for span in spans for end in span).bit_length() + 2
        if width > _MOST_BITS or any(node.width >= MAX_ARRAY_WIDTH for node in postorder(*guards)):
            return None
        positions: list[Expr] = []
        for each in sums:
            position: Expr = const(0, width)
            for term, count in each.terms.items():
                position = add(position, mul(widened(term, width), const(signed(count), width)))
            positions.append(bounded(position))
        if any(node.width >= MAX_ARRAY_WIDTH for node in postorder(*positions)):
            return None
        sides = [_side(*each, has_tag=are_two) for each in zip(self._threads, positions, guards, strict=True)]
        both = (positions[0], positions[1]), (spans[0], spans[1]), (sides[0], sides[1])
        return Family(self._threads, *both, guards, lengths, are_two)


def _side(thread: Thread, position: Expr, guard: Expr, *, has_tag: bool) -> _Side:
    """What is listed of a thread; ranges of different values that two threads share are far apart."""
    nodes = (*thread.shared, *thread.own)
    shape = tuple(each.limit for each in nodes)
    axes = np.ix_(*(np.arange(each.limit) for each in nodes))
    arrays = {each.name: axis for each, axis in zip(nodes, axes, strict=True)}
    values = evaluate_many((position, guard, *nodes), arrays)
    starts, holds, *places = (np.broadcast_to(each, shape).ravel() for each in values)
    signed = starts - ((starts >> (position.width - 1)) << position.width)
    place: Numbers = np.zeros(signed.shape, dtype=np.int64)
    for each, values_of in zip(thread.shared, places, strict=False):
        place = place * each.limit + values_of
    tags = [places[nodes.index(thread.tag)]] if has_tag else []
    return _Side(int(signed.min()), int(signed.max()), (signed + place * (4 * ADDRESSES), holds != 0, tags))


def _span(total: Sum) -> tuple[int, int]:
    """The lowest and the highest value of a sum without its number, or numbers beyond them."""
    low = high = 0
    for term, count in total.terms.items():
        ends = [signed(count) * end for end in intervals(term)[term]]
        low, high = low + min(ends), high + max(ends)
    return low, high


def _merged(ranges: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Ranges of numbers, in order, and those that touch as one."""
    pending: tuple[int, int] | None = None
    for start, end in sorted(ranges):
        if pending is not None and start <= pending[1]:
            pending = pending[0], max(pending[1], end)
        else:
            if pending is not None:
                yield pending
            pending = start, end
    if pending is not None:
        yield pending


def signed(number: int) -> int:
    """A number of 32 bits, with its highest bit as a sign."""
    return number - ADDRESSES if number >= ADDRESSES >> 1 else number
