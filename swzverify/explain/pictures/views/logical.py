"""The view `logical`: each element, or vector, with the offset and the bank where it lies."""

from __future__ import annotations

from typing import Literal

from swzverify.explain.pictures.grid import Grid, View, grid_of
from swzverify.explain.pictures.picture import BANKS_SCALE, Cell, Panel, Picture
from swzverify.explain.pictures.probe import probe_words
from swzverify.explain.pictures.words import part_words, tile_words
from swzverify.hardware import Target
from swzverify.subjects import Tile

Numbers = Literal["both", "offset", "bank"]


def logical(
    tile: Tile,
    view: View | None = None,
    *,
    numbers: Numbers = "both",
    probed: bool = True,
    target: Target | None = None,
) -> Picture:
    """The logical grid. `numbers` is what a cell shows; `probed` adds what reads of the tile cost.

    Errors are those of `grid_of`.
    """
    grid = grid_of(tile, view)
    what = {"both": "the offset and the bank", "offset": "the offset", "bank": "the bank"}[numbers]
    return Picture(
        f"{tile.name}: {what} of each {'element' if grid.vector == 1 else 'vector'}",
        (
            tile_words(tile, grid.stage, grid.base),
            *part_words(grid),
            *(probe_words(tile, grid.vector, grid.down, target) if probed else ()),
        ),
        (logical_panel(grid, numbers, ""),),
        BANKS_SCALE,
    )


def logical_panel(grid: Grid, numbers: Numbers, title: str) -> Panel:
    """The grid as a panel."""
    first, last, offset = grid.banks.tolist(), grid.last_banks.tolist(), grid.offset.tolist()
    cells: list[Cell] = []
    for row, column in zip(*(each.tolist() for each in grid.present.nonzero()), strict=True):
        bank, end, at = first[row][column], last[row][column], offset[row][column]
        banks = f"b{bank}" if bank == end else f"b{bank}-{end}"
        lines = {"both": (str(at), banks), "offset": (str(at),), "bank": (banks,)}[numbers]
        where = ",".join(map(str, grid.coordinate(row, column)))
        cells.append(Cell(row, column, lines, bank, tip=f"({where}): offset {at}, bank {banks[1:]}"))
    return Panel(title, grid.row_name, "column", grid.row_heads, grid.column_heads, tuple(cells))
