"""A tile's logical coordinates as rows and columns of cells, and the part of them that is drawn.

Rows are all modes but the last, columns the last one; a tile of one mode is cut into rows of 32
cells. A cell is one element, or a vector of elements that lie side by side in memory.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

import numpy as np
from numpy.typing import NDArray

from swzverify.errors import SwzError
from swzverify.hardware import BANK_PERIOD_BYTES, BANK_WORD_BYTES, BANKS
from swzverify.subjects import Tile

MAX_ROWS = 64
"""Rows of cells that are drawn where no rows are asked for."""
MAX_COLUMNS = 64
"""Columns of cells that are drawn where no columns are asked for."""
MAX_CELLS = 1 << 14
"""Cells that are drawn at most, whatever is asked for."""
MAX_ELEMENTS = 1 << 22
"""Elements of a tile that is drawn: more than shared memory holds."""
VECTOR_BITS = 128
"""The widest vector that a lane reads."""
_PERIOD_ROWS = 1 << 10
"""Rows up to which a period is looked for."""
_PLAIN_COLUMNS = 16
"""Columns up to which each element has a cell of its own."""
_FLAT_COLUMNS = 32

Array = NDArray[np.int64]
Window = tuple[int, int]
"""From the first number up to the second, without the second."""


@dataclass(frozen=True, slots=True)
class View:
    """The part of a grid to draw: elements per cell, and rows and columns of elements.

    None stands for the defaults. `stage` and `base` say which copy of the tile is drawn. The base is a
    byte address, or None for the first one that the tile may have. Without `rows`, at most `most_rows`
    rows of cells are drawn.
    """

    vector: int | None = None
    rows: Window | None = None
    columns: Window | None = None
    stage: int = 0
    base: int | None = None
    most_rows: int = MAX_ROWS


@dataclass(frozen=True, slots=True)
class Grid:
    """The cells of a tile; arrays have the shape (rows, columns).

    Attributes:
        tile: The tile.
        vector: The number of elements of a cell.
        down: Whether vectors go down the rows.
        rows: The rows of elements that are drawn.
        columns: The columns of elements that are drawn.
        all_rows: The number of rows of the tile.
        all_columns: The number of columns of the tile.
        stage: The stage that is drawn.
        base: The base address that is drawn.
        offset: The offset of a cell's first element, in elements inside the stage.
        position: The position of a cell's first element, in the tile's units.
        present: False behind the end of a tile of one mode.
    """

    tile: Tile
    vector: int
    down: bool
    rows: Window
    columns: Window
    all_rows: int
    all_columns: int
    stage: int
    base: int
    offset: Array
    position: Array
    present: NDArray[np.bool_]

    @property
    def banks(self) -> Array:
        """The bank of each cell's first byte."""
        return banks_of(self.tile, self.position)

    @property
    def last_banks(self) -> Array:
        """The bank of each cell's last byte."""
        return banks_of(self.tile, self.position + self.vector * self.tile.element_units - 1)

    @property
    def row_step(self) -> int:
        """Elements from one row of cells to the next."""
        return self.vector if self.down else 1

    @property
    def column_step(self) -> int:
        """Elements from one column of cells to the next."""
        return 1 if self.down else self.vector

    def coordinate(self, row: int, column: int) -> tuple[int, ...]:
        """The tile's coordinate of a cell's first element."""
        at = (self.rows[0] + row * self.row_step, self.columns[0] + column * self.column_step)
        return tuple(int(each) for each in coordinates(self.tile, np.int64(at[0]), np.int64(at[1])))

    @property
    def row_heads(self) -> tuple[str, ...]:
        """What stands before each row."""
        rows = range(self.offset.shape[0])
        return tuple(",".join(map(str, self.coordinate(row, 0)[: max(1, self.tile.layout.rank - 1)])) for row in rows)

    @property
    def column_heads(self) -> tuple[str, ...]:
        """What stands above each column."""
        return tuple(str(self.columns[0] + index * self.column_step) for index in range(self.offset.shape[1]))

    @property
    def row_name(self) -> str:
        """What rows are called."""
        return "row" if self.tile.layout.rank == 2 else "first" if self.tile.layout.rank == 1 else "rows"


def extents_of(tile: Tile) -> tuple[int, int]:
    """Rows and columns of elements.

    Raises:
        SwzError: SWZ581 for a tile of too many elements.
    """
    if tile.size > MAX_ELEMENTS:
        raise SwzError(
            "SWZ581",
            f"tile {tile.name} has {tile.size} elements; at most {MAX_ELEMENTS} are drawn",
            hint="draw a smaller tile of the same layout: banks repeat",
        )
    extents = tile.extents
    if len(extents) == 1:
        columns = min(extents[0], _FLAT_COLUMNS)
        return -(-extents[0] // columns), columns
    return prod(extents[:-1]), extents[-1]


def coordinates(tile: Tile, row: Array | np.int64, column: Array | np.int64) -> list[Array]:
    """The tile's coordinate at a row and a column of elements."""
    extents = tile.extents
    if len(extents) == 1:
        return [np.asarray(np.minimum(row * extents_of(tile)[1] + column, extents[0] - 1))]
    found: list[Array] = [np.asarray(column)]
    rest = np.asarray(row)
    for extent in reversed(extents[1:-1]):
        found.append(rest % extent)
        rest = rest // extent
    return [rest, *reversed(found)]


def banks_of(tile: Tile, position: Array) -> Array:
    """The bank of the byte of each position."""
    return position // tile.units_per_byte // BANK_WORD_BYTES % BANKS


def base_of(tile: Tile, base: int | None) -> int:
    """The base address to draw at.

    Raises:
        SwzError: SWZ581 for a base that the tile cannot have.
    """
    place = tile.origin
    if base is None:
        return place.start_bytes
    index, rest = divmod(base - place.start_bytes, place.unit_bytes) if place.unit_bytes else (0, 0)
    if rest or index < 0 or (place.variable is None and base != place.start_bytes):
        raise SwzError(
            "SWZ581",
            f"tile {tile.name} cannot begin at byte {base}: it has {tile.describe_base()}",
            hint=f"{place.start_bytes} is one that it can have",
        )
    return base


def grid_of(tile: Tile, view: View | None = None) -> Grid:
    """The cells of a tile.

    Raises:
        SwzError: SWZ581 if the tile has no such vector, window, stage or base, or too many elements.

    >>> from swzverify.layout import Layout, Swizzle
    >>> grid = grid_of(Tile("A", 16, Layout((8, 64), (64, 1)), Swizzle(3, 3, 3)))
    >>> grid.vector, grid.banks[1].tolist()
    (8, [4, 0, 12, 8, 20, 16, 28, 24])
    """
    view = View() if view is None else view
    all_rows, all_columns = extents_of(tile)
    if not 0 <= view.stage < tile.stages:
        raise SwzError("SWZ581", f"tile {tile.name} has no stage {view.stage}: it has {tile.stages}", hint="from 0 on")
    base = base_of(tile, view.base)
    down = tile.layout.rank == 2 and tile.contiguous_mode == 0 and tile.extents[0] > 1
    vector = _vector(tile, view, down, base)
    row_step, column_step = (vector, 1) if down else (1, vector)
    rows = _window("rows", view.rows, all_rows, row_step, view.most_rows)
    columns = _window("columns", view.columns, all_columns, column_step, MAX_COLUMNS)
    row = np.arange(rows[0], rows[1], row_step, dtype=np.int64)[:, None]
    column = np.arange(columns[0], columns[1], column_step, dtype=np.int64)[None, :]
    if row.size * column.size > MAX_CELLS:
        raise SwzError(
            "SWZ581",
            f"{row.size} x {column.size} cells; at most {MAX_CELLS} are drawn",
            hint="fewer --rows or --columns, or a larger --vector",
        )
    shape = (row.size, column.size)
    offset, position = _places(tile, row, column, view.stage, base)
    present = np.broadcast_to(np.asarray(_flat(tile, row, column) < tile.size), shape)
    whole = (np.broadcast_to(offset, shape), np.broadcast_to(position, shape), present)
    return Grid(tile, vector, down, rows, columns, all_rows, all_columns, view.stage, base, *whole)


def _flat(tile: Tile, row: Array, column: Array) -> Array:
    return row * extents_of(tile)[1] + column if tile.layout.rank == 1 else np.zeros((1, 1), dtype=np.int64)


def _places(tile: Tile, row: Array, column: Array, stage: int, base: int) -> tuple[Array, Array]:
    """Offset and position of elements, as the tile itself says them."""
    offset = np.asarray(tile.offset(coordinates(tile, row, column)))
    return offset, np.asarray(tile.position_of(offset, stage=stage, base=base))


def _window(what: str, asked: Window | None, extent: int, step: int, most: int) -> Window:
    if asked is None:
        return 0, min(extent, most * step)
    first, end = asked
    if not 0 <= first < end <= extent or first % step:
        rule = f", the first one a multiple of {step}" if step > 1 else ""
        raise SwzError("SWZ581", f"{what} {first}:{end} are not inside 0:{extent}{rule}", hint=f"--{what} 0:{extent}")
    return first, end


def _vector(tile: Tile, view: View, down: bool, base: int) -> int:
    """The number of elements of a cell: the one in `view`, else the longest contiguous vector."""
    extent = extents_of(tile)[0 if down else 1]
    asked = view.vector
    if asked is not None:
        if asked < 1 or extent % asked or not is_whole(tile, asked, down, base):
            raise SwzError(
                "SWZ581",
                f"tile {tile.name}: vectors of {asked} elements do not lie side by side",
                hint="a smaller --vector; --vector 1 draws each element",
            )
        return asked
    if extent <= _PLAIN_COLUMNS:
        return 1
    return longest_vector(tile, down, base)


def longest_vector(tile: Tile, down: bool, base: int) -> int:
    """The largest power of two of elements that are contiguous and aligned everywhere.

    Vectors have at most 16 bytes and start at a multiple of their size, as a lane reads them.
    """
    position = _vectors(tile, down, base)
    best, vector = 1, 2
    while vector * tile.element_bits <= VECTOR_BITS and _lie_together(tile, position, vector):
        if (position[:, ::vector] % (vector * tile.element_units)).any():
            break
        best, vector = vector, 2 * vector
    return best


def is_whole(tile: Tile, vector: int, down: bool, base: int) -> bool:
    """Whether every aligned vector of elements is contiguous and in order, by the tile's addresses."""
    return _lie_together(tile, _vectors(tile, down, base), vector)


def every_position(tile: Tile, stage: int, base: int) -> Array:
    """The position of every element, rows by columns.

    Behind the end of a tile of one mode, it is the position of the last element.
    """
    rows, columns = extents_of(tile)
    row = np.arange(rows, dtype=np.int64)[:, None]
    column = np.arange(columns, dtype=np.int64)[None, :]
    return np.broadcast_to(_places(tile, row, column, stage, base)[1], (rows, columns))


def _vectors(tile: Tile, down: bool, base: int) -> Array:
    """The position of every element, vectors along the last axis."""
    position = every_position(tile, 0, base)
    return position.T if down else position


def _lie_together(tile: Tile, position: Array, vector: int) -> bool:
    if position.shape[1] % vector:
        return False
    split = position.reshape(position.shape[0], -1, vector)
    return bool((split == split[:, :, :1] + np.arange(vector) * tile.element_units).all())


def row_period(tile: Tile, base: int) -> int | None:
    """The number of rows after which the banks of all rows repeat.

    None if they never do, if rows are not one mode, or if there are too many rows to examine.

    >>> from swzverify.layout import Layout, Swizzle
    >>> row_period(Tile("A", 16, Layout((64, 64), (64, 1)), Swizzle(3, 3, 3)), 0)
    8
    """
    rows = extents_of(tile)[0]
    if tile.layout.rank != 2 or not 2 <= rows <= _PERIOD_ROWS:
        return None
    return first_period(every_position(tile, 0, base) % (BANK_PERIOD_BYTES * tile.units_per_byte))


def first_period(lines: Array) -> int | None:
    """The smallest number of lines, at most half of them, after which all repeat; None if none.

    >>> first_period(np.array([[1], [2], [1], [2], [1]]))
    2
    """
    for period in range(1, len(lines) // 2 + 1):
        if (lines[period] == lines[0]).all() and (lines[period:] == lines[:-period]).all():
            return period
    return None
