"""The tile with the lanes of one warp instruction: a picture of `show` with data in each cell.

Each cell knows its banks and lanes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from swzverify.core.words import spans
from swzverify.explain.pictures import Cell, Picture
from swzverify.explain.pictures.chosen import Chosen
from swzverify.explain.pictures.grid import View, extents_of, grid_of
from swzverify.explain.pictures.picture import BANKS_SCALE
from swzverify.explain.pictures.views.logical import logical_panel
from swzverify.explain.pictures.views.physical import physical
from swzverify.explain.pictures.words import part_words, tile_words
from swzverify.hardware import BANK_PERIOD_BYTES, BANK_WORD_BYTES, BANKS
from swzverify.subjects import Tile
from swzverify.subjects.loop import STAGE

MOST_ROWS = 32
"""Rows of cells that are drawn; banks repeat."""
LANES_WORDS = "L names the lanes of the warp instruction that touch a cell."
_WORD_BITS = 8 * BANK_WORD_BYTES
Bits = range
"""A stretch of memory, in bits from address 0."""


@dataclass(frozen=True, slots=True)
class Board:
    """A picture of one panel, and the banks that each of its cells lies in; a cell holds `vector` elements."""

    picture: Picture
    banks: Mapping[Cell, tuple[int, ...]]
    vector: int = 1


def logical_board(tile: Tile, run: Chosen | None) -> Board:
    """The grid by coordinate, in the rows and columns where the drawn warp instruction begins."""
    base = base_bytes(tile, run)
    grid = grid_of(tile, View(base=base, most_rows=MOST_ROWS))
    start = None if run is None else _first_coordinate(run)
    if start is not None and len(tile.extents) == 2:
        rows, columns = _window(grid.rows, grid.all_rows, start[0]), _window(grid.columns, grid.all_columns, start[1])
        if (rows, columns) != (grid.rows, grid.columns):
            grid = grid_of(tile, View(vector=grid.vector, rows=rows, columns=columns, base=base, most_rows=MOST_ROWS))
    panel = logical_panel(grid, "both", "")
    picture = Picture(
        "The tile by coordinate: the offset and the banks of each " + ("element" if grid.vector == 1 else "vector"),
        (tile_words(tile, grid.stage, grid.base), *part_words(grid)),
        (panel,),
        BANKS_SCALE,
    )
    step = 8 // tile.units_per_byte
    size = grid.vector * tile.element_units * step
    position = grid.position.tolist()
    where = [position[cell.row][cell.column] * step for cell in panel.cells]
    return _board(picture, [range(at, at + size) for at in where], run, grid.vector)


def _window(now: tuple[int, int], whole: int, start: int) -> tuple[int, int]:
    """The window of the same size that holds a coordinate."""
    size = now[1] - now[0]
    first = start // size * size
    return first, min(first + size, whole)


def _first_coordinate(run: Chosen) -> tuple[int, int] | None:
    found = next((lane.coord for lane in run.lanes if lane.coord is not None and lane.address_bytes is not None), None)
    tile = run.access.tile
    if found is None or len(found) != 2 or tile is None:
        return None
    rows, columns = extents_of(tile)
    inside = 0 <= found[0] < rows and 0 <= found[1] < columns
    return (found[0], found[1]) if inside else None


def physical_board(tile: Tile, run: Chosen | None) -> Board:
    """Memory in rows of 128 bytes, from the row of the first lane on.

    Raises:
        SwzError: SWZ581 if elements do not fill such rows.
    """
    base = base_bytes(tile, run)
    found = physical(tile, View(base=base, most_rows=MOST_ROWS))
    (panel,) = found.panels
    start = _first_line(run, base)
    if start >= MOST_ROWS:
        first = start // MOST_ROWS * MOST_ROWS
        last = min(first + MOST_ROWS, _lines(tile, base))
        found = physical(tile, View(rows=(first, last), base=base, most_rows=MOST_ROWS))
        (panel,) = found.panels
    title = "The tile in memory: what lies in each row of 128 bytes"
    captions = [each for each in found.captions if not each.startswith("A warp that reads")]
    size = 8 * BANK_PERIOD_BYTES // len(panel.column_heads)
    starts = [8 * int(head) for head in panel.row_heads]
    where = [starts[cell.row] + cell.column * size for cell in panel.cells]
    picture = replace(found, title=title, captions=tuple(captions))
    return _board(picture, [range(at, at + size) for at in where], run)


def _lines(tile: Tile, base: int) -> int:
    return -(-(base % BANK_PERIOD_BYTES + tile.allocation_bytes) // BANK_PERIOD_BYTES)


def _first_line(run: Chosen | None, base: int) -> int:
    if run is None:
        return 0
    found = [lane.address_bytes for lane in run.lanes if lane.address_bytes is not None]
    return (found[0] - base) // BANK_PERIOD_BYTES if found else 0


def base_bytes(tile: Tile, run: Chosen | None) -> int:
    """The first byte of the stage that the warp instruction touches, else of the first stage."""
    if run is None:
        return tile.origin.start_bytes
    return run.access.origin.at(run.point) + run.point.get(STAGE, 0) * tile.pitch_bytes


def lane_bits(run: Chosen) -> Mapping[int, Bits]:
    """The stretch of memory that each lane that counts touches."""
    counted = {lane for group in run.cost.groups for lane in group.lanes}
    width = 8 * run.access.instruction.width_bytes
    return {
        lane.lane: range(8 * lane.address_bytes + lane.bit, 8 * lane.address_bytes + lane.bit + width)
        for lane in run.lanes
        if lane.address_bytes is not None and lane.lane in counted
    }


def _board(picture: Picture, where: Sequence[Bits], run: Chosen | None, vector: int = 1) -> Board:
    touched = {} if run is None else _by_word(lane_bits(run))
    (panel,) = picture.panels
    banks: dict[Cell, tuple[int, ...]] = {}
    for cell, bits in zip(panel.cells, where, strict=True):
        words = words_of(bits)
        lanes = sorted({lane for word in words for lane, held in touched.get(word, ()) if _meet(held, bits)})
        shown = replace(cell, lanes=tuple(lanes), lines=(*cell.lines, f"L{spans(lanes, ',')}") if lanes else cell.lines)
        banks[shown] = tuple(word % BANKS for word in words)
    told = picture.captions if run is None else (*picture.captions, LANES_WORDS)
    return Board(replace(picture, captions=told, panels=(replace(panel, cells=tuple(banks)),)), banks, vector)


def words_of(bits: Bits) -> range:
    """The words of the banks that a stretch of memory touches."""
    return range(bits.start // _WORD_BITS, -(-bits.stop // _WORD_BITS))


def _by_word(lanes: Mapping[int, Bits]) -> dict[int, list[tuple[int, Bits]]]:
    found: dict[int, list[tuple[int, Bits]]] = {}
    for lane, bits in lanes.items():
        for word in words_of(bits):
            found.setdefault(word, []).append((lane, bits))
    return found


def _meet(one: Bits, other: Bits) -> bool:
    return one.start < other.stop and other.start < one.stop
