"""Bijectivity of a swizzled tile: linear algebra on bits against numpy's enumeration of every
element.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from benchmarks.enumeration import offsets_of, swizzled
from benchmarks.measure import Effort, Row, fastest, require, slowdown, speedup
from benchmarks.native import bijective_obligations, holds
from swzverify.claims import Bijective
from swzverify.layout import Layout, Swizzle
from swzverify.prover import panel, prove
from swzverify.subjects import Tile

COLUMNS_LOG2 = 7
TARGETS = {20: 100.0, 24: 2000.0}


def rows(effort: Effort) -> list[Row]:
    """Deciding alone, from the tile to the answer, with Z3 as well; and how the time grows."""
    table: list[Row] = []
    for size in effort.sizes_log2:
        made = tile(size)
        obligations = bijective_obligations(made)
        theirs = {"numpy for any layout": generic(made), "numpy by hand": enumeration(size)}
        require(all(way() for way in theirs.values()) and holds(obligations), "the tile is bijective")
        goal, name = TARGETS.get(size), f"bijective, 2^{size} elements"
        for way, enumerated in theirs.items():
            table += [
                speedup(f"{name}: engines, {way}", lambda o=obligations: holds(o), enumerated, effort.repeats, goal),
                speedup(f"{name}: from the tile, {way}", lambda t=made: _native(t), enumerated, effort.repeats, goal),
            ]
        proved = f"{name}: proved, with Z3, numpy by hand"
        table.append(speedup(proved, lambda t=made: _proved(t), theirs["numpy by hand"], effort.repeats))
    small, large = (tile(size) for size in effort.far_log2)
    what = f"bijective, 2^{effort.far_log2[1]} against 2^{effort.far_log2[0]} elements"
    table.append(slowdown(what, lambda: _native(large), lambda: _native(small), effort.repeats, 3))
    return table


def tile(size_log2: int) -> Tile:
    """Rows of 128 halves under Swizzle<3,3,4>."""
    columns = 1 << COLUMNS_LOG2
    return Tile("A", 16, Layout(((1 << size_log2) // columns, columns), (columns, 1)), Swizzle(3, 3, 4))


def _proved(made: Tile) -> None:
    """The whole proof; the prover would remember that it was asked the same before."""
    panel._native.cache_clear()
    panel._by_z3.cache_clear()
    prove(Bijective(made))


def _native(made: Tile) -> bool:
    return made.size * made.element_bits == 8 * made.allocation_bytes and holds(bijective_obligations(made))


def generic(made: Tile) -> Callable[[], bool]:
    """As one writes it for any layout and swizzle: digits by division, offsets, how often each
    occurs.
    """
    leaves, swizzle, size = made.layout.leaves, made.swizzle, made.size

    def decide() -> bool:
        offsets = swizzled(offsets_of(leaves, np.arange(size)), swizzle)
        return offsets.max() + 1 == size and bool((np.bincount(offsets, minlength=size) == 1).all())

    return decide


def enumeration(size_log2: int) -> Callable[[], bool]:
    """The fastest of four ways in which numpy enumerates the same tile."""
    size = 1 << size_log2

    def offsets(kind: type[np.signedinteger]) -> np.ndarray:
        row = np.arange(size >> COLUMNS_LOG2, dtype=kind)[:, None] << COLUMNS_LOG2
        plain = (row + np.arange(1 << COLUMNS_LOG2, dtype=kind)).ravel()
        return plain ^ ((plain & (7 << 7)) >> 4)

    def counted(kind: type[np.signedinteger]) -> bool:
        counts = np.bincount(offsets(kind), minlength=size)
        return counts.size == size and bool((counts == 1).all())

    def marked(kind: type[np.signedinteger]) -> bool:
        # size marks in size places leave none unmarked only when no two meet; numpy refuses an
        # index outside.
        taken = np.zeros(size, dtype=np.bool_)
        taken[offsets(kind)] = True
        return bool(taken.all())

    return fastest(
        [
            lambda: counted(np.int32),
            lambda: counted(np.int64),
            lambda: marked(np.int32),
            lambda: marked(np.int64),
        ]
    )
