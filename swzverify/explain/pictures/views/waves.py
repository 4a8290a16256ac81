"""The view of an order of thread blocks: in which wave each tile of the product is worked on."""

from __future__ import annotations

from collections.abc import Sequence

from swzverify.core.words import counted
from swzverify.explain.pictures.picture import Cell, Panel, Picture, Scale
from swzverify.search.costs import Locality

MAX_SIDE = 64
"""Rows and columns of tiles that are drawn of an order."""
TWICE = "several blocks have this tile"


def waves(orders: Sequence[Locality], words: Sequence[str] = ()) -> Picture:
    """A panel for each order: the tiles by row and column, each with the number of its first wave.

    Grids with more than `MAX_SIDE` rows or columns are cut, which the captions say. Domain: one
    order at least.
    """
    cut = any(max(order.row.max(), order.column.max()) >= MAX_SIDE for order in orders)
    last = max(len(order.waves) for order in orders) - 1
    drawn = f"The picture shows the first {MAX_SIDE} rows and columns of tiles."
    return Picture(
        f"Waves of {orders[0].size} blocks",
        (
            "A cell is a tile of the product; its number is the wave of its block, from 0.",
            *(order_words(order) for order in orders),
            *words,
            *([drawn] if cut else []),
        ),
        tuple(_panel(order) for order in orders),
        Scale("wave", 0, max(1, last)),
        TWICE,
    )


def order_words(order: Locality) -> str:
    """The tiles that an order of blocks needs in all, and in a wave.

    >>> import numpy as np
    >>> from swzverify.search.costs import Wave
    >>> none = np.zeros(0, dtype=np.int64)
    >>> order_words(Locality("rows", 4, 1, 4, (Wave(4, 0, 4, 1, 4, 4),), none, none, none))
    'rows: 1 wave, 4 blocks each; 5 tiles of A and B in all, at most 5 in a wave, at least 4 in any order.'
    """
    return (
        f"{order.name}: {counted(len(order.waves), 'wave')}, {order.size} blocks each; {order.needed} tiles of A and B "
        f"in all, at most {order.most} in a wave, at least {order.fewest} in any order."
    )


def _panel(order: Locality) -> Panel:
    shown = (order.row >= 0) & (order.row < MAX_SIDE) & (order.column >= 0) & (order.column < MAX_SIDE)
    found: dict[tuple[int, int], list[int]] = {}
    for row, column, wave in zip(
        order.row[shown].tolist(), order.column[shown].tolist(), order.wave_of[shown].tolist(), strict=True
    ):
        found.setdefault((row, column), []).append(wave)
    cells = tuple(_cell(row, column, held) for (row, column), held in sorted(found.items()))
    rows, columns = (1 + max((place[axis] for place in found), default=0) for axis in (0, 1))
    heads = tuple(map(str, range(rows))), tuple(map(str, range(columns)))
    return Panel(order.name, "row", "column", *heads, cells)


def _cell(row: int, column: int, held: Sequence[int]) -> Cell:
    where = ", ".join(map(str, dict.fromkeys(held)))
    tip = f"({row},{column}): wave{'s' * (len(set(held)) > 1)} {where}"
    return Cell(row, column, (str(held[0]),), held[0], len(held) > 1, tip)
