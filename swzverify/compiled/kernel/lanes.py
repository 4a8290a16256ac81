"""The threads of a block and their warps: what an expression of their coordinates is in each."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from swzverify.compiled.kernel.arithmetic import add, bit_and, bit_or, mul, widened
from swzverify.compiled.kernel.divided import quotient, rest
from swzverify.compiled.kernel.leaves import Leaves
from swzverify.compiled.kernel.special import BlockShape
from swzverify.compiled.kernel.tables import table
from swzverify.hardware import LANES
from swzverify.ir.evaluate import MAX_ARRAY_WIDTH, evaluate_many
from swzverify.ir.expr import Expr, const, postorder, substitute, variables

ALL_LANES = (1 << LANES) - 1
"""The mask of a whole warp."""
GROUP_THREADS = 128
"""Threads of a warp group: four warps that follow each other, the first one a multiple of four.

Source: PTX ISA 8.7, 9.7.15: wgmma, warpgroup.
"""
MOST_TRIPS = 4096
"""Trips of a loop that are counted through."""
CHUNK = 64
MOST_PARTS = 150
"""Parts of an expression that stands for a number of each thread."""
MOST_NODES = 400
"""An expression with more parts is not evaluated for all threads."""


class Threads:
    """Coordinates of all threads of a block; the last warp may have fewer lanes.

    A thread's lane is its number in the block, counted along x first, modulo 32.
    Source: CUDA Programming Guide 13, Thread Hierarchy; PTX ISA, Special Registers: %laneid.
    """

    def __init__(self, block: BlockShape) -> None:
        self._block = block
        across, down, _ = block
        number = np.arange(block[0] * block[1] * block[2], dtype=np.int64)
        self.point: dict[str, NDArray[np.int64]] = {
            "tid.x": number % across,
            "tid.y": number // across % down,
            "tid.z": number // (across * down),
            "laneid": number % LANES,
        }
        self.starts = np.arange(0, len(number), LANES)
        self.first_of_warp = number // LANES * LANES

    def in_groups(self, size: int = GROUP_THREADS) -> Threads:
        """The threads, with warp groups in the place of warps, or with other groups of so many threads."""
        found = Threads(self._block)
        found.first_of_warp = np.arange(len(self.first_of_warp)) // size * size
        return found

    def in_warps(self) -> tuple[dict[str, NDArray[np.int64]], NDArray[np.bool_]]:
        """The coordinates as rows of 32 lanes, and which of these the block has; the others are 0."""
        count = len(self.first_of_warp)
        rows = -(-count // LANES)

        def padded(values: NDArray[np.int64]) -> NDArray[np.int64]:
            found = np.zeros(rows * LANES, dtype=np.int64)
            found[:count] = values
            return found.reshape(rows, LANES)

        exists = np.arange(rows * LANES).reshape(rows, LANES) < count
        return {name: padded(values) for name, values in self.point.items()}, exists

    def constant(self, value: Expr) -> int | None:
        """The value that all threads share, of an expression of coordinates; None if two differ."""
        if not is_small(value):
            return None
        (found,) = evaluate_many((value,), self.point)
        first = int(found.flat[0])
        return first if bool((found == first).all()) else None

    def coordinates(self, leaves: Leaves) -> dict[str, Expr]:
        """The coordinates as leaves, those left out that are 0 in all threads."""
        axes = zip("xyz", self._block, strict=True)
        return {f"tid.{axis}": leaves.lane(f"tid.{axis}", extent) for axis, extent in axes if extent > 1}

    def number(self, leaves: Leaves) -> Expr:
        """The number of a thread in its block, of 32 bits."""
        found: Expr = const(0, 32)
        known = self.coordinates(leaves)
        for axis, factor in zip("xyz", (1, self._block[0], self._block[0] * self._block[1]), strict=True):
            found = add(found, mul(known.get(f"tid.{axis}", const(0, 32)), const(factor, 32)))
        return found

    @property
    def are_whole_warps(self) -> bool:
        """Whether the block has all lanes of each warp."""
        return len(self.first_of_warp) % LANES == 0

    def lane(self, leaves: Leaves) -> Expr:
        """The lane of a thread, of 32 bits."""
        return bit_and(self.number(leaves), const(LANES - 1, 32))

    def of_lane(self, value: Expr, lane: Expr, leaves: Leaves) -> Expr:
        """A value that depends on coordinates, as the given lane of the same warp has it."""
        across = self._block[0]
        number = bit_or(bit_and(self.number(leaves), const(-LANES, 32)), lane)
        if across % LANES == 0:
            own = leaves.lane("tid.x", across)
            places = {"tid.x": bit_or(bit_and(own, const(-LANES, 32)), lane)}
        else:
            places = places_of(number, self._block)
        places["laneid"] = lane
        read = [each for each in variables(value) if each.name in places]
        return substitute(value, {each: widened(places[each.name], each.width) for each in read})

    def function(self, values: Sequence[int], width: int, leaves: Leaves) -> Expr | None:
        """A number of each thread as an expression of one coordinate or of the thread's number.

        None if the expression would be long.
        """
        for name, index in {**self.coordinates(leaves), "number": self.number(leaves)}.items():
            places = self.point[name].tolist() if name in self.point else range(len(values))
            listed = dict(zip(places, values, strict=True))
            if all(listed[place] == value for place, value in zip(places, values, strict=True)):
                found = table(index, [listed[place] for place in range(len(listed))], width)
                return found if len(postorder(found)) <= MOST_PARTS else None
        return None

    def is_uniform(self, value: Expr) -> bool:
        """Whether a value that depends on coordinates alone is one in each warp."""
        return self.is_uniform_where(value, ())

    def is_uniform_where(self, value: Expr, conditions: Sequence[Expr]) -> bool:
        """Whether a value is one in each warp in which conditions hold; each holds in all lanes of a warp, or in none.

        Value and conditions depend on coordinates alone.
        """
        if not all(map(is_small, (value, *conditions))):
            return False
        shape = self.first_of_warp.shape
        found, *holds = (np.broadcast_to(each, shape) for each in evaluate_many((value, *conditions), self.point))
        inside = np.all(np.asarray(holds, dtype=np.int64), axis=0) if holds else np.ones(shape, dtype=np.bool_)
        return all(map(self.are_alike, holds)) and self.are_alike(np.where(inside, found, 0))

    def last_trip(self, condition: Expr, trips: str, leaves_if: int) -> NDArray[np.int64] | None:
        """The trip in which each thread leaves a loop; None if some thread leaves after the limit.

        A thread leaves as soon as a condition of coordinates and trips is `leaves_if`.
        """
        if not is_small(condition):
            return None
        last = np.full(self.first_of_warp.shape, -1, dtype=np.int64)
        for start in range(0, MOST_TRIPS, CHUNK):
            count = np.arange(start, start + CHUNK, dtype=np.int64)[:, None]
            (found,) = evaluate_many((condition,), {**self.point, trips: count})
            leaving = np.broadcast_to(found == leaves_if, (CHUNK, len(last)))
            new = (last < 0) & leaving.any(axis=0)
            last[new] = start + leaving.argmax(axis=0)[new]
            if (last >= 0).all():
                return last
        return None

    def are_alike(self, values: NDArray[np.int64]) -> bool:
        """Whether all threads of each warp have one value."""
        return bool((values == values[self.first_of_warp]).all())


def places_of(number: Expr, block: BlockShape) -> dict[str, Expr]:
    """The coordinates of a thread from its number in the block.

    >>> from swzverify.ir.evaluate import evaluate
    >>> found = places_of(const(73, 16), (8, 4, 3))
    >>> [evaluate(found[name], {}) for name in ("tid.x", "tid.y", "tid.z")]
    [1, 1, 2]
    """
    across, down, _ = block
    row = quotient(number, across)
    return {"tid.x": rest(number, across), "tid.y": rest(row, down), "tid.z": quotient(row, down)}


def is_small(value: Expr) -> bool:
    """Whether a value can be evaluated for all threads in a short time."""
    nodes = postorder(value)
    return len(nodes) <= MOST_NODES and all(node.width <= MAX_ARRAY_WIDTH for node in nodes)
