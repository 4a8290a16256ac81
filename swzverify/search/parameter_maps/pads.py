"""`pad`: every pad behind the rows of a tile that is shorter than the period of the banks."""

from __future__ import annotations

from collections.abc import Sequence
from math import gcd

from swzverify.errors import SwzError
from swzverify.hardware import BANK_PERIOD_BYTES
from swzverify.layout import Layout
from swzverify.search.cures.pads import row_strides, stretched
from swzverify.search.cures.tiles import with_layout
from swzverify.search.parameter_maps.price import Price, Sweep, Table, check_size, price, vector_of
from swzverify.subjects import Access, OffsetMap, Tile

_ACROSS = 16
"""Pads per line of the table."""


def sweep_pads(tile: Tile, accesses: Sequence[Access]) -> Sweep:
    """The pads in lines of 16, a table for each stride at which a pad may stand.

    A pad of a whole period of 128 bytes puts all rows where no pad puts them. Only pads that keep the
    vectors of the accesses aligned are priced.

    Raises:
        SwzError: SWZ583 for a tile whose map is an expression, that has no rows, or with too much to
            price.
    """
    if isinstance(tile.layout, OffsetMap):
        raise SwzError(
            "SWZ583", f"tile {tile.name} is an expression, which has no rows to pad", hint="give the tile a layout"
        )
    period = 8 * BANK_PERIOD_BYTES
    vector = vector_of(accesses, tile)
    rows = [row for row in row_strides(tile.layout) if row % vector == 0]
    pads = range(0, period // gcd(period, tile.element_bits), vector)
    if not rows:
        raise SwzError(
            "SWZ583",
            f"tile {tile.name} has no row of {tile.layout} behind which a pad keeps vectors whole",
            hint="`--sweep B,S` shows what swizzles do",
        )
    check_size(accesses, len(rows) * len(pads))
    tables = tuple(_table(tile, tile.layout, access, row, pads) for access in accesses for row in rows)
    words = [f"Each cell is a pad of so many elements behind each row, from 0 to {pads[-1]}."]
    if vector > 1:
        words.append(f"Pads are multiples of {vector} elements, so that vectors stay aligned.")
    if tile.swizzle is not None:
        words.append(f"{tile.swizzle} acts on the padded map.")
    return Sweep(tile, "pad", tuple(words), tables)


def _table(tile: Tile, layout: Layout, access: Access, row: int, pads: range) -> Table:
    prices: list[Price] = []
    for index, pad in enumerate(pads):
        padded = Layout(layout.shape, stretched(layout.stride, row, row + pad))
        name = f"pad {pad}, {padded}" if pad else "no pad"
        prices.append(price(access, with_layout(tile, padded), *divmod(index, _ACROSS), name))
    step = pads.step
    lines = -(-len(pads) // _ACROSS)
    heads = tuple(str(line * _ACROSS * step) for line in range(lines))
    across = tuple(f"+{column * step}" for column in range(min(_ACROSS, len(pads))))
    return Table(access, f"behind every {row} elements", "pad", "pad", heads, across, tuple(prices), "no pad")
