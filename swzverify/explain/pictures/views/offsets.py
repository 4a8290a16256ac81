"""The view of a layout without a tile: the offset of each coordinate, plain and swizzled.

A layout has no element size, so it has no banks. The colours are the banks that elements of 4 bytes
would have; the picture says so.
"""

from __future__ import annotations

from collections import Counter
from math import prod

import numpy as np

from swzverify.explain.pictures.picture import Cell, Panel, Picture, Scale
from swzverify.hardware import BANK_WORD_BYTES, BANKS
from swzverify.layout import ComposedLayout, Layout, Swizzle

MOST = 32
"""Rows and columns that are drawn at most."""
SEVERAL = "another drawn cell has the same offset"
_SCALE = Scale(f"offset % {BANKS}", 0, BANKS - 1)


def offsets(layout: Layout | ComposedLayout) -> Picture:
    """The offset of each coordinate, in elements.

    Rows are all modes but the last, and the first mode is the slowest.

    >>> from swzverify.layout import Layout
    >>> [cell.lines[0] for cell in offsets(Layout((2, 2), (1, 2))).panels[0].cells]
    ['0', '2', '1', '3']
    """
    extents = layout.extents
    flat, size = len(extents) < 2, prod(extents)
    columns = min(size, MOST) if flat else extents[-1]
    rows = -(-size // columns)
    drawn = (min(rows, MOST), min(columns, MOST))
    cells: list[tuple[int, int, str, int]] = []
    for row in range(drawn[0]):
        for column in range(drawn[1]):
            at = _coordinate(extents, row, column, columns)
            if not flat or at[0] < size:
                cells.append((row, column, ",".join(map(str, at)), layout(*at)))
    heads = [",".join(map(str, _coordinate(extents, row, 0, columns)[: 1 if flat else -1])) for row in range(drawn[0])]
    return Picture(
        f"{layout}: the offset of each coordinate",
        (
            f"{size} coordinates; offsets are counted in elements.",
            *_cut((("row", drawn[0], rows), ("column", drawn[1], columns))),
            f"Colours are the banks of elements of {BANK_WORD_BYTES} bytes, offset % {BANKS}: "
            "a layout has no element, a Tile has one.",
        ),
        (_panel("first" if flat else "row" if len(extents) == 2 else "rows", heads, drawn[1], cells),),
        _SCALE,
        SEVERAL,
    )


def swizzled_offsets(swizzle: Swizzle) -> Picture:
    """What becomes of each offset: a row has the offsets with one value of the upper bits.

    >>> from swzverify.layout import Swizzle
    >>> [cell.lines[0] for cell in swizzled_offsets(Swizzle(1, 0, 1)).panels[0].cells]
    ['0', '1', '3', '2']
    """
    step = 1 << swizzle.base
    rows, columns = 1 << swizzle.bits, 1 << abs(swizzle.shift)
    drawn = (min(rows, MOST), min(columns, MOST))
    cells = [
        (row, column, str(first), swizzle(first))
        for row in range(drawn[0])
        for column in range(drawn[1])
        for first in [(row * columns + column) * step]
    ]
    together = f"A cell is {step} offsets that stay together, by the first of them." if step > 1 else ""
    return Picture(
        f"{swizzle}: where each offset goes",
        (
            "The row's head plus the column's head is an offset x; the cell has what the swizzle makes of x.",
            *filter(None, [together]),
            *_cut((("row", drawn[0], rows), ("column", drawn[1], columns))),
            "A colour is the column to which an offset moves.",
        ),
        (_panel("x", [str(row * columns * step) for row in range(drawn[0])], drawn[1], cells, step, columns),),
        Scale("column", 0, max(1, columns - 1)),
        SEVERAL,
    )


def _coordinate(extents: tuple[int, ...], row: int, column: int, columns: int) -> tuple[int, ...]:
    """The coordinate at a row and a column.

    The last mode is the column, and the mode before it runs fastest over the rows. A single mode is cut
    into rows.
    """
    if len(extents) < 2:
        return (row * columns + column,)
    return (*map(int, np.unravel_index(row, extents[:-1])), column)


def _cut(sides: tuple[tuple[str, int, int], ...]) -> list[str]:
    parts = [f"{name}s 0 to {shown - 1} of {whole}" for name, shown, whole in sides if shown < whole]
    return [f"The picture shows {' and '.join(parts)}."] if parts else []


def _panel(
    row_name: str,
    heads: list[str],
    width: int,
    cells: list[tuple[int, int, str, int]],
    step: int = 1,
    modulus: int = BANKS,
) -> Panel:
    """`cells` are rows, columns, coordinates and offsets; colours are offset / step % modulus."""
    counts = Counter(offset for *_, offset in cells)
    drawn = tuple(
        Cell(row, column, (str(offset),), offset // step % modulus, counts[offset] > 1, f"({at}): offset {offset}")
        for row, column, at, offset in cells
    )
    return Panel("", row_name, "column", tuple(heads), tuple(str(place * step) for place in range(width)), drawn)
