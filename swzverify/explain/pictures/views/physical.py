"""The view `physical`: memory in rows of 128 bytes.

A cell has the coordinate of the element or vector at its place.
"""

from __future__ import annotations

import numpy as np

from swzverify.errors import SwzError
from swzverify.explain.pictures.grid import MAX_ROWS, Array, Grid, View, banks_of, coordinates, extents_of, grid_of
from swzverify.explain.pictures.picture import Cell, Panel, Picture, Scale
from swzverify.explain.pictures.probe import probe_words
from swzverify.explain.pictures.words import part_words, tile_words
from swzverify.hardware import BANK_PERIOD_BYTES, BANKS, Target
from swzverify.subjects import Tile


def physical(tile: Tile, view: View | None = None, *, target: Target | None = None) -> Picture:
    """The bank grid. `rows` of the view are rows of 128 bytes here, and its `columns` mean nothing.

    A cell is as wide as one of the view `logical`.

    Raises:
        SwzError: Those of `grid_of`, and SWZ581 for elements that do not fill rows of 128 bytes.
    """
    view = View() if view is None else view
    grid = grid_of(tile, View(view.vector, stage=view.stage, base=view.base))
    across = f"logical {'row' if grid.down else 'column'}" + (f" / {grid.vector}" if grid.vector > 1 else "")
    return Picture(
        f"{tile.name}: what lies in each row of {BANK_PERIOD_BYTES} bytes",
        (
            tile_words(tile, grid.stage, grid.base),
            *_words(grid, view),
            *probe_words(tile, grid.vector, grid.down, target),
        ),
        (_panel(grid, view),),
        Scale(across, 0, _across(grid) - 1),
        "several elements lie there",
    )


def _words(grid: Grid, view: View) -> list[str]:
    first, end, whole = _lines(grid, view)
    cut = f"The picture shows rows {first} to {end - 1} of {whole}. " if end - first < whole else ""
    return [
        f"{cut}A row is {BANK_PERIOD_BYTES} bytes, all {BANKS} banks, in {_cells_across(grid)} cells.",
        *(each for each in part_words(grid) if not each.startswith("The picture shows")),
    ]


def _cells_across(grid: Grid) -> int:
    """Cells of a row of 128 bytes.

    Raises:
        SwzError: SWZ581 if they do not fill it.
    """
    bits = grid.vector * grid.tile.element_bits
    cells, rest = divmod(8 * BANK_PERIOD_BYTES, bits)
    if rest or not cells:
        raise SwzError(
            "SWZ581",
            f"tile {grid.tile.name}: cells of {bits} bits do not fill rows of {BANK_PERIOD_BYTES} bytes",
            hint="--view logical draws them",
        )
    return cells


def _across(grid: Grid) -> int:
    rows, columns = extents_of(grid.tile)
    return (rows if grid.down else columns) // grid.vector


def _all_positions(grid: Grid) -> tuple[Array, Array, Array]:
    """Row, column and position of every vector's first element."""
    tile, (rows, columns) = grid.tile, extents_of(grid.tile)
    every = np.mgrid[0 : rows : grid.row_step, 0 : columns : grid.column_step].astype(np.int64)
    row, column = (each.ravel() for each in every)
    if tile.layout.rank == 1:
        inside = row * columns + column < tile.size
        row, column = row[inside], column[inside]
    offset = tile.offset(coordinates(tile, row, column))
    position = np.broadcast_to(np.asarray(tile.position_of(offset, stage=grid.stage, base=grid.base)), row.shape)
    return row, column, position


def _first_line(grid: Grid) -> int:
    """The number of the row of 128 bytes in which the stage begins."""
    return (grid.base + grid.stage * grid.tile.pitch_bytes) // BANK_PERIOD_BYTES


def _lines(grid: Grid, view: View) -> tuple[int, int, int]:
    """The first row of 128 bytes, the end, and the number of rows, counted from the stage's start."""
    _, _, position = _all_positions(grid)
    last = (position.max() + grid.vector * grid.tile.element_units - 1) // grid.tile.units_per_byte
    whole = int(last) // BANK_PERIOD_BYTES - _first_line(grid) + 1
    asked = view.rows
    if asked is None:
        return 0, min(whole, view.most_rows), whole
    if not 0 <= asked[0] < asked[1] <= whole or asked[1] - asked[0] > 4 * MAX_ROWS:
        most = f", at most {4 * MAX_ROWS} at once" if whole > 4 * MAX_ROWS else ""
        raise SwzError("SWZ581", f"rows {asked[0]}:{asked[1]} are not inside 0:{whole}{most}", hint="rows of 128 bytes")
    return *asked, whole


def _panel(grid: Grid, view: View) -> Panel:
    tile, cells_across = grid.tile, _cells_across(grid)
    first, end, _ = _lines(grid, view)
    row, column, position = _all_positions(grid)
    units = grid.vector * tile.element_units
    if (position % units).any():
        raise SwzError(
            "SWZ581",
            f"tile {tile.name}: vectors of {grid.vector} elements do not begin at a multiple of their size, "
            f"so that rows of {BANK_PERIOD_BYTES} bytes have no cells for them",
            hint="--vector 1, a --base that is a multiple of the vector, or --view logical",
        )
    line, place = np.divmod(position // units, cells_across)
    line = line - _first_line(grid)
    found: dict[tuple[int, int], list[tuple[int, int]]] = {}
    seen = np.flatnonzero((line >= first) & (line < end))
    for at in seen.tolist():
        found.setdefault((int(line[at]) - first, int(place[at])), []).append((int(row[at]), int(column[at])))
    banks = banks_of(tile, np.arange(cells_across, dtype=np.int64) * units).tolist()
    words = BANKS // cells_across
    heads = [f"{bank}-{bank + words - 1}" if words > 1 else str(bank) for bank in banks]
    cells = [_cell(grid, key, held) for key, held in sorted(found.items())]
    start = _first_line(grid) + first
    names = tuple(str((start + index) * BANK_PERIOD_BYTES) for index in range(end - first))
    return Panel("", "byte", "bank", names, tuple(heads), tuple(cells))


def _cell(grid: Grid, place: tuple[int, int], held: list[tuple[int, int]]) -> Cell:
    shown = [
        ",".join(str(int(each)) for each in coordinates(grid.tile, np.int64(row), np.int64(column)))
        for row, column in held
    ]
    text = shown[0] + (f" +{len(shown) - 1}" if len(shown) > 1 else "")
    row, column = held[0]
    value = (row if grid.down else column) // grid.vector
    tip = "elements " + ", ".join(f"({each})" for each in shown[:8])
    return Cell(*place, (text,), value, len(held) > 1, tip)
