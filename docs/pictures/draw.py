"""Draws the pictures of the README and the pages: `python docs/pictures/draw.py`.

A test compares the files with what this draws.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from xml.sax.saxutils import escape

from swzverify import Layout, Swizzle, Tile
from swzverify.layout.tma import TmaMode, tma_layout

CELL = 18
GOOD, BAD, LINE, TEXT = "#dbe9f6", "#f4b6ae", "#8a8f98", "#22262b"


def column_words(tile: Tile) -> list[int]:
    """The first word of each of 32 lanes that read a column of a tile."""
    return [int(tile.position((lane, 0), stage=0, base=0)) // 4 for lane in range(32)]


def banks(title: str, groups: Sequence[tuple[str, Sequence[tuple[int, int]]]]) -> str:
    """Lanes stacked over the banks that they touch, a panel per group; red where a bank has several
    words.
    """
    blocks: list[str] = []
    y = 28
    for name, touches in groups:
        stacks: dict[int, list[tuple[int, int]]] = {}
        for lane, word in touches:
            stacks.setdefault(word % 32, []).append((lane, word))
        height = max(len(stack) for stack in stacks.values())
        blocks.append(f'<text x="4" y="{y + 12}">{escape(name)}</text>')
        y += 18
        for bank in range(32):
            stack = stacks.get(bank, [])
            clash = len({word for _, word in stack}) > 1
            x = 4 + bank * CELL
            for level in range(height):
                top = y + (height - 1 - level) * CELL
                fill = "none" if level >= len(stack) else BAD if clash else GOOD
                blocks.append(f'<rect x="{x}" y="{top}" width="{CELL}" height="{CELL}" fill="{fill}"/>')
                if level < len(stack):
                    blocks.append(f'<text x="{x + CELL / 2:g}" y="{top + 13}" class="n">{stack[level][0]}</text>')
            blocks.append(f'<text x="{x + CELL / 2:g}" y="{y + height * CELL + 12}" class="b">{bank}</text>')
        y += height * CELL + 22
    return _svg(title, 8 + 32 * CELL, y + 4, blocks)


def chunks(title: str, panels: Sequence[tuple[str, Sequence[Sequence[int]], Sequence[Sequence[bool]]]]) -> str:
    """Rows of eight 16-byte chunks, each with the number of the chunk that lies there; red where it
    is another one.
    """
    blocks: list[str] = []
    for index, (name, rows, wrong) in enumerate(panels):
        left = 4 + index * (8 * 2 * CELL + 30)
        blocks.append(f'<text x="{left}" y="40">{escape(name)}</text>')
        for r, row in enumerate(rows):
            for c, chunk in enumerate(row):
                x, top = left + c * 2 * CELL, 48 + r * CELL
                fill = BAD if wrong[r][c] else GOOD
                blocks.append(f'<rect x="{x}" y="{top}" width="{2 * CELL}" height="{CELL}" fill="{fill}"/>')
                blocks.append(f'<text x="{x + CELL}" y="{top + 13}" class="n">{chunk}</text>')
    return _svg(title, 8 + len(panels) * (8 * 2 * CELL + 30), 56 + 8 * CELL, blocks)


def _svg(title: str, width: int, height: int, blocks: Sequence[str]) -> str:
    style = (
        f"text{{font:11px sans-serif;fill:{TEXT}}}.n,.b{{text-anchor:middle;font-size:9px}}"
        f".b{{fill:{LINE}}}rect{{stroke:{LINE};stroke-width:.5}}"
    )
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img">'
    return "\n".join([head, f"<title>{escape(title)}</title>", f"<style>{style}</style>", *blocks, "</svg>"]) + "\n"


def published() -> str:
    """The 32 x 16 f32 column under the published base case and under the one called half as good."""
    layout = Layout((32, 16), (16, 1))
    sides = [(Swizzle(4, 0, 4), "2 wavefronts"), (Swizzle(4, 0, 5), "1 wavefront")]
    return banks(
        "A column of 32x16 floats",
        [
            (f"{swizzle}: {cost}", list(enumerate(column_words(Tile("A", 32, layout, swizzle)))))
            for swizzle, cost in sides
        ],
    )


def impossible() -> str:
    """The column of a 32 x 32 f64 tile, which is served in two groups of 16 lanes."""
    words = column_words(Tile("A", 64, Layout((32, 32), (32, 1)), Swizzle(5, 0, 5)))
    halves = [[(lane, words[lane] + q) for lane in range(first, first + 16) for q in range(2)] for first in (0, 16)]
    names = ["lanes 0 to 15: 1 wavefront", "lanes 16 to 31: 1 wavefront"]
    return banks("A column of 32x32 doubles, Swizzle<5,0,5>", list(zip(names, halves, strict=True)))


def alignment() -> str:
    """Eight rows that TMA's 128B mode wrote, as CuTe's element swizzle reads them, by the base."""
    cute = Tile("c", 16, Layout((8, 64), (64, 1)), Swizzle(3, 3, 3))
    tma = Tile("t", 16, tma_layout(TmaMode.B128, 8, 64, 16), TmaMode.B128.swizzle, "address")
    panels: list[tuple[str, list[list[int]], list[list[bool]]]] = []
    for base in (1024, 1152):
        written = {int(tma.position((r, 8 * c), stage=0, base=base)): 8 * r + c for r in range(8) for c in range(8)}
        rows = [
            [written.get(int(cute.position((r, 8 * c), stage=0, base=base)), -1) for c in range(8)] for r in range(8)
        ]
        wrong = [[rows[r][c] != 8 * r + c for c in range(8)] for r in range(8)]
        shown = "a multiple of 1024" if base == 1024 else "128 bytes further"
        panels.append((f"base {shown}", rows, wrong))
    return chunks("Chunks that a reader gets from a tile that TMA wrote", panels)


def ldmatrix() -> str:
    """The first eight rows that `ldmatrix` reads from a 64 x 64 tile of halfs, without and with a swizzle."""
    panels: list[tuple[str, list[tuple[int, int]]]] = []
    for swizzle in (None, Swizzle(3, 3, 3)):
        tile = Tile("A", 16, Layout((64, 64), (64, 1)), swizzle)
        words = [int(tile.position((lane, 0), stage=0, base=0)) // 4 for lane in range(8)]
        name = f"{swizzle}: 1 wavefront" if swizzle else "no swizzle: 8 wavefronts"
        panels.append((name, [(lane, word + q) for lane, word in enumerate(words) for q in range(4)]))
    return banks("Eight rows of a 64x64 tile of halfs, as ldmatrix reads them", panels)


def column() -> str:
    """The first eight lanes that read a column of 32 x 32 floats: as it is, with a pad, with a swizzle."""
    tiles = [
        ("[32][32]: all in bank 0", Tile("A", 32, Layout((32, 32), (32, 1)))),
        ("[32][33]: one bank further for each row", Tile("A", 32, Layout((32, 32), (33, 1)))),
        (
            "Swizzle<5,0,5>: column 0 of row r lies at column r",
            Tile("A", 32, Layout((32, 32), (32, 1)), Swizzle(5, 0, 5)),
        ),
    ]
    return banks(
        "The first eight lanes of a column of 32x32 floats",
        [(name, list(enumerate(column_words(tile)[:8]))) for name, tile in tiles],
    )


PICTURES = {
    "column.svg": column,
    "ldmatrix.svg": ldmatrix,
    "published.svg": published,
    "impossible.svg": impossible,
    "alignment.svg": alignment,
}

if __name__ == "__main__":
    for file, draw in PICTURES.items():
        (Path(__file__).parent / file).write_text(draw())
