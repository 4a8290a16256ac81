"""The numbers of a parameter map, and the pricing of its cells."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from swzverify.errors import SwzError
from swzverify.search.costs import cost
from swzverify.search.costs.access_costs import lanes_to_price, refuse_what_has_no_end
from swzverify.subjects import Access, Tile

MAX_LANES = 1 << 27
"""Lanes of all cells; some twenty seconds."""
MAX_CELLS = 1 << 11


@dataclass(frozen=True, slots=True)
class Price:
    """A cell of a table: the worst wavefronts of a warp instruction and its bank conflicts.

    If the cell has no price, `why` says the reason.
    """

    row: int
    column: int
    name: str
    wavefronts: int = 0
    bank_conflicts: int = 0
    why: str = ""


@dataclass(frozen=True, slots=True)
class Table:
    """The prices of one access over two parameters.

    Attributes:
        access: The access that is priced.
        fixed: The names and values of the other parameters.
        row_name: The parameter of the rows.
        column_name: The parameter of the columns.
        row_heads: The heads of the rows.
        column_heads: The heads of the columns.
        prices: The cells.
        now: The name of the tile's own cell.
    """

    access: Access
    fixed: str
    row_name: str
    column_name: str
    row_heads: tuple[str, ...]
    column_heads: tuple[str, ...]
    prices: tuple[Price, ...]
    now: str = ""


@dataclass(frozen=True, slots=True)
class Sweep:
    """All tables of a tile; `what` is the parameter that they vary, `words` say what a cell is."""

    tile: Tile
    what: str
    words: tuple[str, ...]
    tables: tuple[Table, ...]

    def best(self, access: Access) -> tuple[int, tuple[str, ...]]:
        """The fewest wavefronts of an access, and the cells that have them.

        Raises:
            SwzError: SWZ583 if no cell has a price.
        """
        prices = [price for table in self.tables if table.access is access for price in table.prices if not price.why]
        if not prices:
            raise SwzError("SWZ583", f"access {access.name} has no price under any {self.what}")
        least = min(price.wavefronts for price in prices)
        return least, tuple(price.name for price in prices if price.wavefronts == least)


def check_size(accesses: Sequence[Access], cells: int) -> None:
    """Refuse more cells or lanes than are priced.

    Raises:
        SwzError: SWZ583 if there are more cells or lanes than are priced, SWZ206 if the list has no
            end.
    """
    for access in accesses:
        refuse_what_has_no_end(access)
    lanes = cells * sum(map(lanes_to_price, accesses))
    if cells > MAX_CELLS or lanes > MAX_LANES:
        raise SwzError(
            "SWZ583",
            f"{cells} cells with {lanes} lanes to price; at most {MAX_CELLS} cells and {MAX_LANES} lanes are priced",
            hint="fewer accesses (--access), fewer iterations, or a smaller tile of the same rows",
        )


def price(access: Access, tile: Tile, row: int, column: int, name: str) -> Price:
    """What an access costs on a tile in place of its own."""
    try:
        found = cost(replace(access, tile=tile))
    except SwzError as error:
        return Price(row, column, name, why=error.message)
    return Price(row, column, name, found.wavefronts, found.bank_conflicts)


def vector_of(accesses: Sequence[Access], tile: Tile) -> int:
    """The elements of the widest access, 1 at least."""
    return max(1, *(8 * access.instruction.width_bytes // tile.element_bits for access in accesses))
