"""Draw the pictures of the claims' pages that show more than a view of `swzverify show`.

Run it by `python docs/pictures/draw_claims.py`. Each picture is made of the specs on the page itself,
good and bad side by side, and drawn by the package's own renderer. A test compares the files with
what this draws.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

from swzverify import Access, Tile
from swzverify.core.words import counted
from swzverify.explain.pictures import Cell, Panel, Picture, Scale
from swzverify.explain.pictures.chosen import chosen
from swzverify.explain.pictures.grid import View, grid_of
from swzverify.explain.pictures.picture import BANKS_SCALE, LANES_SCALE
from swzverify.explain.pictures.svg import render_svg
from swzverify.explain.pictures.views.ownership import ownership
from swzverify.hardware import LANES, SECTOR_BYTES
from swzverify.spec import Spec
from swzverify.spec.build import SpecCase
from swzverify.subjects import IndexMap, Listing

DOCS = Path(__file__).parents[1]
UNNAMED = 64
"""The end of a scale whose legend names no values."""


def case_of(page: str, name: str = "good.swz.yaml") -> SpecCase:
    """The spec of that name on a page."""
    text = (DOCS / page).read_text("utf-8")
    found = re.search(rf"^```yaml\n(# {re.escape(name)}\n.*?)^```", text, re.MULTILINE | re.DOTALL)
    assert found is not None, f"{page} has no {name}"
    return Spec.from_text(found[1], path=page).cases[0]


def both(kind: str) -> tuple[SpecCase, SpecCase]:
    """The spec that is proved, and the one that is not."""
    page = f"claims/{kind}.md"
    return case_of(page), case_of(page, "bad.swz.yaml")


def heads(count: int, step: int = 1, first: int = 0) -> tuple[str, ...]:
    """Numbers before rows or above columns."""
    return tuple(str(first + step * index) for index in range(count))


def injective() -> str:
    """The end of the first rows of 32 x 33 floats, in rows of 34 and in rows of 32."""
    panels = [_ends(case.tiles["tile"]) for case in both("injective")]
    return render_svg(
        Picture(
            "Two layouts of 32 x 33 floats",
            ("A cell is an element, with its offset; its colour is its bank. Columns 1 to 27 are left out.",),
            tuple(panels),
            BANKS_SCALE,
            "another element lies there too",
        )
    )


def _ends(tile: Tile) -> Panel:
    """Four rows of a tile: the first column and the last ones."""
    rows, columns = tile.extents
    everything = [
        tile.position((row, column), stage=0, base=tile.origin.start_bytes)
        for row in range(rows)
        for column in range(columns)
    ]
    counts: dict[int, int] = {}
    for each in map(int, everything):
        counts[each] = counts.get(each, 0) + 1
    shown = [0, *range(columns - 5, columns)]
    cells: list[Cell] = []
    for row in range(4):
        grid = grid_of(tile, View(1, rows=(row, row + 1)))
        for place, column in enumerate(shown):
            at = int(grid.position[0, column])
            offset = str(int(grid.offset[0, column]))
            cells.append(Cell(row, place, (offset,), int(grid.banks[0, column]), counts[at] > 1))
    return Panel(str(tile.layout), "row", "column", heads(4), tuple(map(str, shown)), tuple(cells))


def aligned() -> str:
    """The addresses of the first warp, in rows of 144 and of 136 bytes."""
    panels: list[Panel] = []
    for case in both("aligned"):
        access = case.accesses["store"]
        cells = [
            Cell(row, column // 8, (str(at),), at // 4 % 32, at % 16 != 0)
            for row, column, at, thread in _touched(access)
            if thread < LANES and row < 4
        ]
        panels.append(
            Panel(f"rows of {_row_bytes(access)} bytes", "row", "column", heads(4), heads(8, 8), tuple(cells))
        )
    return render_svg(
        Picture(
            "A warp that stores 16 bytes per lane",
            ("A cell has the byte address of a lane; its colour is the bank of the first word.",),
            tuple(panels),
            BANKS_SCALE,
            "the address is no multiple of 16",
        )
    )


def _row_bytes(access: Access) -> int:
    tile = access.tile
    assert tile is not None
    return int(tile.offset((1, 0))) * tile.element_bits // 8


def _touched(access: Access) -> Iterator[tuple[int, int, int, int]]:
    """Row, column, byte address and thread of every lane of all warps and iterations.

    They are those at the first base.
    """
    limits = dict(zip((loop.name for loop in access.loops), access.loop_limits, strict=True))
    (loop,) = limits
    for step in range(limits[loop]):
        for warp in range(access.warps):
            for lane in access.lanes_at({"warp": warp, loop: step}):
                if lane.address_bytes is not None and lane.coord is not None:
                    yield *lane.coord, lane.address_bytes, warp * LANES + lane.lane


def in_bounds() -> str:
    """The last rows that a store touches, without and with its predicate."""
    good, bad = both("in_bounds")
    first, last = 56, 64
    panels: list[Panel] = []
    for name, case in (("without a predicate", bad), ("with `if: i*16 + tid/8 < ROWS`", good)):
        access = case.accesses["store"]
        assert access.tile is not None
        end = access.tile.allocation_bytes
        cells = [
            Cell(row - first, column // 8, (f"T{thread}",), thread % LANES, at + 16 > end)
            for row, column, at, thread in _touched(access)
            if row >= first
        ]
        panels.append(Panel(name, "row", "column", heads(last - first, 1, first), heads(8, 8), tuple(cells)))
    return render_svg(
        Picture(
            "The last rows of a store to a tile of 60 rows",
            ("A cell is 16 bytes, with the thread that stores them; rows 60 to 63 are not of the tile.",),
            tuple(panels),
            LANES_SCALE,
            "outside of the tile",
        )
    )


def disjoint() -> str:
    """Which tile lies where: a map of shared memory around the end of A."""
    first, rows, across, step = 7, 4, 8, 128
    panels: list[Panel] = []
    for case in both("disjoint"):
        cells: list[Cell] = []
        held = {name: _bytes_of(tile) for name, tile in case.tiles.items()}
        for row in range(rows):
            for column in range(across):
                begin = (first + row) * across * step + column * step
                there = [name for name, touched in held.items() if not touched.isdisjoint(range(begin, begin + step))]
                shade = 8 if there == ["A"] else 28 if there == ["B"] else 18
                if there:
                    cells.append(Cell(row, column, (" and ".join(there),), shade, len(there) > 1))
        start = case.tiles["B"].origin.start_bytes
        names = heads(rows, across * step, first * across * step)
        panels.append(Panel(f"B begins at byte {start}", "byte", "plus", names, heads(across, step), tuple(cells)))
    return render_svg(
        Picture(
            "Shared memory around the end of tile A",
            ("A cell is 128 bytes, with the tiles that have an element there. A has 64 rows of 144 bytes.",),
            tuple(panels),
            Scale("tile", 0, UNNAMED // 2),
            "two tiles share bytes",
        )
    )


def _bytes_of(tile: Tile) -> set[int]:
    """The first byte of each element of the first stage, and so, by its width, all of them."""
    base, size = tile.origin.start_bytes, tile.element_bits // 8
    rows, columns = tile.extents
    starts = (int(tile.position((r, c), stage=0, base=base)) for r in range(rows) for c in range(columns))
    return {start + each for start in starts for each in range(size)}


def permutation() -> str:
    """Which block computes which tile of the product, with a ragged last group."""
    good, bad = both("permutation")
    sides = (("the last group has two rows", good), ("the last group is taken for four rows", bad))
    return render_svg(
        Picture(
            "40 blocks on 10 x 4 tiles, in groups of 4 rows",
            (
                "A cell is a tile of the product, with the number of its block.",
                "An empty cell is a tile that no block computes.",
            ),
            tuple(_blocks(name, case.maps["grouped"]) for name, case in sides),
            Scale("block", 0, UNNAMED),
            "outside of the grid",
        )
    )


def _blocks(name: str, order: IndexMap) -> Panel:
    (variable, count), *_ = order.over
    assert order.onto is not None
    rows, columns = order.onto
    cells: list[Cell] = []
    for block in range(count):
        row, column = (int(each) for each in order.at({variable: block}))
        cells.append(Cell(row, column, (str(block),), block, row >= rows or column >= columns))
    down = max(cell.row for cell in cells) + 1
    return Panel(name, "row", "column", heads(down), heads(columns), tuple(cells))


def register_conflict_free() -> str:
    """What two instructions read from each bank, with the cached register in its slot and not."""
    good, bad = both("register_conflict_free")
    sides = (("R4 stays in its slot", good), ("R4 changes its slot", bad))
    return _register_picture("Two FFMAs on sm_52", [_reads(name, case.listings["pair"]) for name, case in sides])


def register_conflicts() -> str:
    """What three instructions read from each bank."""
    listing = case_of("claims/register_conflicts.md").listings["three"]
    return _register_picture("Three FFMAs on sm_61", [_reads("each sum", listing)])


def _register_picture(title: str, panels: list[Panel]) -> str:
    words = (
        "A row is an instruction; a cell has the registers that it reads from a bank.",
        "A bank gives one register per cycle. A register in parentheses comes from the reuse cache.",
    )
    scale = Scale("registers from the bank", 0, 3)
    return render_svg(Picture(title, words, tuple(panels), scale, "more registers than the bank gives in a cycle"))


def _reads(name: str, listing: Listing) -> Panel:
    cells: list[Cell] = []
    for row, (each, cost) in enumerate(zip(listing.instructions, listing.counted, strict=True)):
        for bank in range(listing.banks.banks):
            reads = [read for read in each.reads if listing.banks.bank(read.register) == bank]
            held = [read for read in reads if read.slot and cost.held.in_slot(read.slot)[0] == read.register]
            read = {read.register for read in reads if read not in held}
            words = [f"R{each.register}" if each not in held else f"(R{each.register})" for each in reads]
            if words:
                slow = listing.banks.extra_cycles(read) > 0
                cells.append(Cell(row, bank, (" ".join(words),), len(read), slow))
    told = f"{name}: {counted(listing.most or 0, 'conflict')}"
    rows = tuple(each.text.rstrip(";") for each in listing.instructions)
    return Panel(told, "", "register bank", rows, heads(listing.banks.banks), tuple(cells))


def coalesced() -> str:
    """The loads of the page's second spec, from an array that begins with a sector and after it."""
    access = both("coalesced")[1].accesses["load"]
    words = (
        "A row is a sector of 32 bytes, a cell 4 bytes of it with the lane that loads them.",
        "Four sectors hold what the 32 lanes need.",
    )
    panels = [_sectors(access, base) for base in (0, 4)]
    return render_svg(Picture("A warp that loads floats", words, tuple(panels), LANES_SCALE, "one sector too many"))


def _sectors(access: Access, base: int) -> Panel:
    width = access.instruction.width_bytes
    lanes = access.lanes_at({"warp": 0, "base": base // width})
    addresses = [each.address_bytes for each in lanes if each.address_bytes is not None]
    least = -(-LANES * width // SECTOR_BYTES)
    cells = [
        Cell(at // SECTOR_BYTES, at % SECTOR_BYTES // width, (str(lane),), lane, at // SECTOR_BYTES >= least)
        for lane, at in enumerate(addresses)
    ]
    count = len({at // SECTOR_BYTES for at in addresses})
    columns = heads(SECTOR_BYTES // width, width)
    return Panel(f"The array begins at {base}: {count} sectors", "sector", "byte", heads(count), columns, tuple(cells))


def prefetch() -> str:
    """The first step of the copy in the tutorial, into the first stage."""
    access = case_of("tutorial/next.md", "assumed.swz.yaml").accesses["prefetch"]
    run = chosen(access, {"k": 0, "i": 0})
    return render_svg(ownership(run, View(rows=(0, 16)), ("k", "i")))


PICTURES: dict[str, Callable[[], str]] = {
    "injective.svg": injective,
    "aligned.svg": aligned,
    "in_bounds.svg": in_bounds,
    "disjoint.svg": disjoint,
    "permutation.svg": permutation,
    "register_conflict_free.svg": register_conflict_free,
    "register_conflicts.svg": register_conflicts,
    "coalesced.svg": coalesced,
    "prefetch.svg": prefetch,
}

if __name__ == "__main__":
    for file, draw in PICTURES.items():
        (Path(__file__).parent / file).write_text(draw(), encoding="utf-8")
