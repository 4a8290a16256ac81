"""Which tiles the blocks of a grid need together: an order of thread blocks, wave by wave.

A block of a matrix product reads one row of tiles of A and one column of tiles of B. Blocks that
run together share what they read through the L2 cache. A wave is as many blocks as run at a time,
in the order of their numbers: the first variable of the map runs fastest, as `blockIdx.x` does.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import prod

import numpy as np
from numpy.typing import NDArray

from swzverify.core.shown import Drawn
from swzverify.core.words import counted
from swzverify.errors import SwzError
from swzverify.subjects import IndexMap

MAX_BLOCKS = 1 << 22
"""Blocks of a grid: a second, and half a gigabyte."""
_Array = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Wave:
    """Blocks that run together.

    `blocks` counts those that have a tile, `idle` those with a tile outside of the box. `tiles` are
    the different tiles of the product; `a` and `b` are the different tiles of A and of B that they
    need. `fewest` is the least `a + b` that so many tiles of the product can need.
    """

    blocks: int
    idle: int
    tiles: int
    a: int
    b: int
    fewest: int

    @property
    def needed(self) -> int:
        """Tiles of A and B."""
        return self.a + self.b


@dataclass(frozen=True, slots=True)
class Locality(Drawn):
    """All waves of an order of blocks.

    Attributes:
        name: The name of the order.
        size: The number of blocks of a wave; the last wave may have fewer.
        rows: The number of tiles of A that the whole grid needs.
        columns: The number of tiles of B that the whole grid needs.
        waves: The waves.
        row: The row of each block that has a tile.
        column: The column of each block that has a tile.
        wave_of: The wave of each block that has a tile.
    """

    name: str
    size: int
    rows: int
    columns: int
    waves: tuple[Wave, ...]
    row: _Array = field(repr=False, compare=False)
    column: _Array = field(repr=False, compare=False)
    wave_of: _Array = field(repr=False, compare=False)

    @property
    def needed(self) -> int:
        """Tiles of A and B, added up over the waves."""
        return sum(wave.needed for wave in self.waves)

    @property
    def fewest(self) -> int:
        """The least that as many tiles in each wave can need."""
        return sum(wave.fewest for wave in self.waves)

    @property
    def most(self) -> int:
        """The tiles of A and B of the wave that needs most."""
        return max(wave.needed for wave in self.waves)


def locality(order: IndexMap, size: int) -> Locality:
    """The tiles that each wave of `size` blocks needs, in plain integers.

    `order` has two values: the row of a block's tile, which names its tiles of A, and the column,
    which names those of B. Where the map has `onto`, a block outside of that box has no tile.

    Raises:
        SwzError: SWZ585 for a map without two values, one that reads `base`, a wave without blocks,
            more than `MAX_BLOCKS` blocks, or none with a tile.

    >>> from swzverify.ir.c_parse import parse
    >>> rows = IndexMap("rows", (("bid", 16),), (parse("bid/4"), parse("bid%4")), (4, 4))
    >>> squares = IndexMap("squares", (("bid", 16),), (parse("bid/8*2 + bid%2"), parse("bid%8/2")), (4, 4))
    >>> locality(rows, 4).waves[0]
    Wave(blocks=4, idle=0, tiles=4, a=1, b=4, fewest=4)
    >>> locality(rows, 4).needed, locality(squares, 4).needed
    (20, 16)
    """
    blocks = prod(extent for _, extent in order.over)
    _check(order, size, blocks)
    point: dict[str, _Array] = {}
    rest = np.arange(blocks, dtype=np.int64)
    for name, extent in order.over:
        point[name], rest = rest % extent, rest // extent
    row, column = (np.broadcast_to(value, (blocks,)).astype(np.int64) for value in order.at_many(point))
    has_tile = np.full(blocks, fill_value=True)
    if order.onto is not None:
        for value, extent in zip((row, column), order.onto, strict=True):
            has_tile &= (value >= 0) & (value < extent)
    wave_of = np.arange(blocks, dtype=np.int64) // size
    waves = int(wave_of[-1]) + 1
    launched = np.bincount(wave_of, minlength=waves)
    row, column, wave_of = row[has_tile], column[has_tile], wave_of[has_tile]
    if not row.size:
        raise SwzError("SWZ585", f"no block of map {order.name} has a tile inside of its box `onto`")
    rows, columns = np.unique(row), np.unique(column)
    row_place, column_place = np.searchsorted(rows, row), np.searchsorted(columns, column)
    active = np.bincount(wave_of, minlength=waves)
    pairs, pair_place = np.unique(row_place * columns.size + column_place, return_inverse=True)
    tiles = _different(wave_of, pair_place, pairs.size, waves)
    a = _different(wave_of, row_place, rows.size, waves)
    b = _different(wave_of, column_place, columns.size, waves)
    least = {count: fewest(count, rows.size, columns.size) for count in set(tiles.tolist())}
    found = tuple(
        Wave(on, started - on, count, of_a, of_b, least[count])
        for on, started, count, of_a, of_b in zip(
            active.tolist(), launched.tolist(), tiles.tolist(), a.tolist(), b.tolist(), strict=True
        )
    )
    return Locality(order.name, size, rows.size, columns.size, found, row, column, wave_of)


def fewest(tiles: int, rows: int, columns: int) -> int:
    """The least a + b for which a x b tiles are at least `tiles`, with a <= rows and b <= columns.

    Tiles of the product with `a` different rows and `b` different columns are at most a x b, so that
    no order can do with less. Domain: 0 <= tiles <= rows x columns.

    >>> fewest(132, 64, 64), fewest(132, 4, 64), fewest(0, 4, 4)
    (23, 37, 0)
    """
    if not tiles:
        return 0
    return min(a + -(-tiles // a) for a in range(1, min(rows, tiles) + 1) if -(-tiles // a) <= columns)


def _check(order: IndexMap, size: int, blocks: int) -> None:
    if len(order.value) != 2:
        raise SwzError(
            "SWZ585",
            f"map {order.name} has {counted(len(order.value), 'value')}; the tile of a block has a row and a column",
            hint="value: [row, column]",
        )
    if order.uses_base:
        raise SwzError("SWZ585", f"map {order.name} reads `base`; the order of blocks has none")
    if size < 1:
        raise SwzError("SWZ585", f"a wave of {size} blocks", hint="at least 1: the blocks that run at a time")
    if blocks > MAX_BLOCKS:
        raise SwzError("SWZ585", f"map {order.name} has {blocks} blocks; at most {MAX_BLOCKS} are counted")


def _different(wave_of: _Array, value: _Array, extent: int, waves: int) -> _Array:
    """The number of different values in each wave.

    Values are below `extent`, which is at most the number of blocks, so no key wraps.
    """
    keys = np.unique(wave_of * extent + value)
    return np.bincount(keys // extent, minlength=waves)
