"""Draws the pictures of the README and the pages: `python docs/pictures/draw.py`.

They are what `swzverify show` draws, or panels of it put together. A test compares the files with
what this draws.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from swzverify import Access, Layout, Swizzle, Tile
from swzverify.apps.commands.show import show
from swzverify.apps.options.shared import LayoutOptions
from swzverify.apps.options.show import ShowOptions
from swzverify.core.words import counted
from swzverify.explain.pictures import Cell, Panel, Picture, Scale
from swzverify.explain.pictures.chosen import chosen
from swzverify.explain.pictures.picture import LANES_SCALE
from swzverify.explain.pictures.svg import render_svg
from swzverify.explain.pictures.views.groups import CLASH, group_panels, groups
from swzverify.explain.pictures.views.ownership import ownership
from swzverify.explain.pictures.views.swizzled import swizzled_access
from swzverify.explain.pictures.views.waves import waves
from swzverify.ir.c_parse import parse
from swzverify.layout.tma import TmaMode, tma_layout
from swzverify.search.costs import locality
from swzverify.subjects import IndexMap


def column(tile: Tile, instruction: str = "ld.shared.b32", threads: int = 32) -> Access:
    """Lanes that read the first column of a tile."""
    return tile.read(instruction, coord=["lane", 0], threads=threads, name="column")


def side_by_side(title: str, named: list[tuple[str, Access]], *words: str) -> str:
    """The first group of each access, under a name with what it takes."""
    panels: list[Panel] = []
    for name, access in named:
        run = chosen(access)
        panels.append(replace(group_panels(run, 0)[0], title=f"{name}: {counted(run.cost.wavefronts, 'wavefront')}"))
    return render_svg(Picture(title, words, tuple(panels), LANES_SCALE, CLASH))


def published() -> str:
    """The 32 x 16 f32 column under the published base case and under the one called half as good."""
    layout = Layout((32, 16), (16, 1))
    sides = [Swizzle(4, 0, 4), Swizzle(4, 0, 5)]
    return side_by_side(
        "A column of 32 x 16 floats",
        [(str(swizzle), column(Tile("A", 32, layout, swizzle))) for swizzle in sides],
        "A column is a bank; a cell has the lanes that need one of its words.",
    )


def block_orders() -> str:
    """Waves of 16 blocks on 13 x 16 tiles: row by row, and in groups of four rows."""
    grid = {"M": 13, "N": 16, "G": 4}
    rows = "min(M - pid/(G*N)*G, G)"
    values = {
        "row by row": ("pid/N", "pid%N"),
        "groups of 4 rows": (f"pid/(G*N)*G + pid%(G*N)%{rows}", f"pid%(G*N)/{rows}"),
    }
    box = (grid["M"], grid["N"])
    orders = [
        IndexMap(name, (("pid", box[0] * box[1]),), tuple(map(parse, value)), box, grid)
        for name, value in values.items()
    ]
    return render_svg(waves([locality(order, 16) for order in orders]))


def impossible() -> str:
    """The column of a 32 x 32 f64 tile, which is served in two groups of 16 lanes."""
    tile = Tile("A", 64, Layout((32, 32), (32, 1)), Swizzle(5, 0, 5))
    return render_svg(groups(chosen(column(tile, "ld.shared.b64"))))


def alignment() -> str:
    """Eight rows that TMA's 128B mode wrote, as CuTe's element swizzle reads them, by the base."""
    cute = Tile("c", 16, Layout((8, 64), (64, 1)), Swizzle(3, 3, 3))
    tma = Tile("t", 16, tma_layout(TmaMode.B128, 8, 64, 16), TmaMode.B128.swizzle, "address")
    panels: list[Panel] = []
    for base in (1024, 1152):
        written = {int(tma.position((r, 8 * c), stage=0, base=base)): (r, c) for r in range(8) for c in range(8)}
        cells: list[Cell] = []
        for row in range(8):
            for place in range(8):
                got = written.get(int(cute.position((row, 8 * place), stage=0, base=base)))
                text = "-" if got is None else f"{got[0]},{8 * got[1]}"
                value = None if got is None else got[1]
                cells.append(Cell(row, place, (text,), value, got != (row, place)))
        shown = "a multiple of 1024" if base == 1024 else "128 bytes further"
        heads = (tuple(map(str, range(8))), tuple(str(8 * place) for place in range(8)))
        panels.append(Panel(f"base {shown}", "row", "column", *heads, tuple(cells)))
    return render_svg(
        Picture(
            "What a reader gets from a tile that TMA wrote",
            ("A cell is the row and column of the 16 bytes that the reader finds where it looks for its own.",),
            tuple(panels),
            Scale("16 bytes of a row", 0, 7),
            "other data than the reader wants",
        )
    )


def ldmatrix() -> str:
    """The first eight rows that `ldmatrix` reads from a 64 x 64 tile of halfs, without and with a swizzle."""
    return render_svg(swizzled_access(chosen(read_a(Swizzle(3, 3, 3)))))


def read_a(swizzle: Swizzle | None) -> Access:
    """A warp tile by `ldmatrix.x4`, in four steps."""
    where = ["warp*16 + lane%16", "k + lane/16*8"]
    tile = Tile("A", 16, Layout((64, 64), (64, 1)), swizzle)
    return tile.read("ldmatrix.x4", coord=where, threads=128, loops={"k": range(0, 64, 16)}, name="read_A")


def columns() -> str:
    """The first eight lanes that read a column of 32 x 32 floats: as it is, with a pad, with a swizzle."""
    tiles = [
        ("[32][32], all in bank 0", Tile("A", 32, Layout((32, 32), (32, 1)))),
        ("[32][33], one bank further for each row", Tile("A", 32, Layout((32, 32), (33, 1)))),
        (
            "Swizzle<5,0,5>, column 0 of row r lies at column r",
            Tile("A", 32, Layout((32, 32), (32, 1)), Swizzle(5, 0, 5)),
        ),
    ]
    return side_by_side(
        "The first eight lanes of a column of 32 x 32 floats",
        [(name, column(tile, threads=8)) for name, tile in tiles],
    )


def owners() -> str:
    """Which thread of a block copies which vector of a tile of 16 x 64 halfs."""
    tile = Tile("A", 16, Layout((16, 64), (64, 1)), Swizzle(3, 3, 3))
    copy = tile.write("st.shared.v4.b32", coord=["tid/8", "tid%8*8"], threads=128, name="write_A")
    return render_svg(ownership(chosen(copy)))


def xor() -> str:
    """The table of x ^ y, before and after."""
    return render_svg(show(ShowOptions("Swizzle<3,0,3>", view="swizzle")))


def chunks() -> str:
    """Rows of 128 bytes of a swizzled tile, with what lies in them."""
    return render_svg(show(ShowOptions("Sw<3,3,3> o (8,64):(64,1)", "physical", layout=LayoutOptions("f16"))))


def pads() -> str:
    """A column of 32 x 32 halfs under every pad."""
    read = LayoutOptions("f16", "lane,column", "ld.shared.b16", loops={"column": range(32)})
    return render_svg(show(ShowOptions("(32,32):(32,1)", layout=read, sweep="pad")))


def sweep() -> str:
    """A column of 32 x 16 floats under every swizzle."""
    return render_svg(show(ShowOptions("(32,16):(16,1)", layout=LayoutOptions(coord="lane,0"), sweep="B,S")))


PICTURES = {
    "column.svg": columns,
    "ldmatrix.svg": ldmatrix,
    "published.svg": published,
    "impossible.svg": impossible,
    "alignment.svg": alignment,
    "owners.svg": owners,
    "xor.svg": xor,
    "chunks.svg": chunks,
    "pads.svg": pads,
    "sweep.svg": sweep,
    "block_orders.svg": block_orders,
}

if __name__ == "__main__":
    for file, draw in PICTURES.items():
        (Path(__file__).parent / file).write_text(draw(), encoding="utf-8")
