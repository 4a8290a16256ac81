"""Injectivity of a nested layout with extents that are no powers of two, against numpy's
enumeration.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod

import numpy as np

from benchmarks.enumeration import offsets_of
from benchmarks.measure import Effort, Row, fastest, require, speedup
from benchmarks.native import holds
from swzverify.claims.injective import injective_goal
from swzverify.layout import Layout
from swzverify.subjects import Tile

EXTENTS = (5, 7, 3, 11, 9)
STRIDE_ORDER = (3, 0, 4, 2, 5, 1)
TARGET_LOG2, TARGET = 20, 500.0


def rows(effort: Effort) -> list[Row]:
    """Deciding alone, and from the tile to the answer."""
    made = tile(effort.points_log2)
    obligations = (injective_goal(made),)
    theirs = {"numpy for any layout": generic(made), "numpy by hand": enumeration(made)}
    require(all(way() for way in theirs.values()) and holds(obligations), "the layout is injective")
    goal = TARGET if effort.points_log2 >= TARGET_LOG2 else None
    what = f"nested, no powers of two, {made.size:,} elements"
    table: list[Row] = []
    for way, enumerated in theirs.items():
        table += [
            speedup(f"{what}: engines, {way}", lambda: holds(obligations), enumerated, effort.repeats, goal),
            speedup(
                f"{what}: from the tile, {way}",
                lambda: holds((injective_goal(made),)),
                enumerated,
                effort.repeats,
                goal,
            ),
        ]
    return table


def tile(size_log2: int) -> Tile:
    """Six leaves in three modes, at least 2^size_log2 elements, dense in an order unlike the
    coordinate's.
    """
    extents = (*EXTENTS, max(1, -(-(1 << size_log2) // prod(EXTENTS))))
    strides = [0] * len(extents)
    reach = 1
    for leaf in STRIDE_ORDER:
        strides[leaf] = reach
        reach *= extents[leaf]
    a, b, c, d, e, f = strides
    return Tile("N", 16, Layout((extents[:2], extents[2:4], extents[4:]), ((a, b), (c, d), (e, f))))


def generic(made: Tile) -> Callable[[], bool]:
    """As one writes it for any layout: digits by division, offsets, how often each occurs."""
    leaves, size = made.layout.leaves, made.size
    return lambda: bool(np.bincount(offsets_of(leaves, np.arange(size))).max() == 1)


def enumeration(made: Tile) -> Callable[[], bool]:
    """The fastest of four ways in which numpy enumerates the same layout, leaf by leaf."""
    leaves, room = made.layout.leaves, made.layout.cosize

    def offsets(kind: type[np.signedinteger]) -> np.ndarray:
        total = np.zeros(1, dtype=kind)
        for extent, stride in leaves:
            total = (total[:, None] + np.arange(extent, dtype=kind) * kind(stride)).ravel()
        return total

    def counted(kind: type[np.signedinteger]) -> bool:
        return int(np.bincount(offsets(kind), minlength=room).max()) == 1

    def marked(kind: type[np.signedinteger]) -> bool:
        taken = np.zeros(room, dtype=np.bool_)
        taken[offsets(kind)] = True
        return int(np.count_nonzero(taken)) == made.size

    return fastest(
        [
            lambda: counted(np.int32),
            lambda: counted(np.int64),
            lambda: marked(np.int32),
            lambda: marked(np.int64),
        ]
    )
