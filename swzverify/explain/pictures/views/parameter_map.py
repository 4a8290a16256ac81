"""A parameter map as a picture: a heatmap with the number in every cell."""

from __future__ import annotations

from swzverify.core.words import counted
from swzverify.explain.pictures import Cell, Panel, Picture, Scale
from swzverify.explain.pictures.words import access_words, map_words
from swzverify.search.parameter_maps.price import Price, Sweep, Table

MARKS = "the fewest wavefronts of the access"
_NAMED = 6


def sweep_picture(sweep: Sweep) -> Picture:
    """The tables as panels; the cheapest cells of each access are marked."""
    accesses = list(dict.fromkeys(table.access for table in sweep.tables))
    best = {access: sweep.best(access) for access in accesses}
    most = max(price.wavefronts for table in sweep.tables for price in table.prices)
    return Picture(
        f"{sweep.tile.name}: worst-case wavefronts by {sweep.what}",
        (
            f"The tile is {map_words(sweep.tile)}, {counted(sweep.tile.element_bits, 'bit')} per element.",
            *sweep.words,
            *(_best_words(access_words(access), *best[access]) for access in accesses),
        ),
        tuple(_panel(table, best[table.access][0], len(accesses) > 1) for table in sweep.tables),
        Scale("wavefronts", 1, most, logarithmic=True),
        MARKS,
    )


def _best_words(access: str, least: int, names: tuple[str, ...]) -> str:
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return f"{access}: the fewest are {counted(least, 'wavefront')}, by {'; '.join(names[:_NAMED])}{more}."


def _panel(table: Table, least: int, several: bool) -> Panel:
    title = f"{table.access.name}, {table.fixed}" if several else table.fixed
    cells = tuple(_cell(price, least, price.name == table.now) for price in table.prices)
    return Panel(title, table.row_name, table.column_name, table.row_heads, table.column_heads, cells)


def _cell(price: Price, least: int, is_now: bool) -> Cell:
    if price.why:
        return Cell(price.row, price.column, ("x",), tip=f"{price.name}: {price.why}")
    told = f"{price.name}: {counted(price.wavefronts, 'wavefront')}, {counted(price.bank_conflicts, 'bank conflict')}"
    now = "; the tile has it now" if is_now else ""
    cheapest = price.wavefronts == least
    return Cell(price.row, price.column, (str(price.wavefronts),), price.wavefronts, cheapest, told + now)
