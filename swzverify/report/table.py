"""The table of a counterexample on a terminal: which lanes collide, those first when it is long."""

from __future__ import annotations

from dataclasses import dataclass

from rich.table import Table
from rich.text import Text

from swzverify.claims.verdict import Counterexample, Row
from swzverify.core.words import counted
from swzverify.report.escape import visible
from swzverify.report.words import cell

ROW_LIMIT = 16
"""Rows shown of a longer table."""

_GROUP_COLOURS = ("red", "yellow", "cyan", "magenta", "green", "blue")


@dataclass(frozen=True, slots=True)
class Cut:
    """The rows to show, how many are left out, and how many of those are marked."""

    shown: tuple[Row, ...]
    hidden: int
    hidden_marked: int


def cut_rows(rows: tuple[Row, ...], limit: int | None) -> Cut:
    """All rows in order when they fit; else the marked ones by group, or the first ones.

    >>> rows = tuple(Row((lane,), "A" if lane in (3, 30) else "") for lane in range(32))
    >>> cut = cut_rows(rows, 16)
    >>> [row.cells[0] for row in cut.shown], cut.hidden, cut.hidden_marked
    ([3, 30], 30, 0)
    """
    if limit is None or len(rows) <= limit:
        return Cut(rows, 0, 0)
    groups: dict[str, list[Row]] = {}
    for row in rows:
        if row.marked:
            groups.setdefault(row.mark, []).append(row)
    marked = [row for group in groups.values() for row in group]
    shown = (marked or list(rows))[:limit]
    return Cut(tuple(shown), len(rows) - len(shown), max(0, len(marked) - len(shown)))


def lanes_table(counterexample: Counterexample, limit: int | None) -> Table:
    """The table; a colour for each group of colliding rows, addresses in decimal and hexadecimal."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    cut = cut_rows(counterexample.rows, limit)
    table.add_column("", justify="left", no_wrap=True)
    for column in header(counterexample.columns):
        table.add_column(Text(visible(column)), justify="right", overflow="fold")
    colours = _colours(counterexample.rows)
    for row in cut.shown:
        style = f"bold {colours[row.mark]}" if row.marked else "dim" if colours else ""
        table.add_row(Text(visible(row.mark)), *map(Text, cells(counterexample.columns, row)), style=style)
    return table


def remainder(counterexample: Counterexample, limit: int | None) -> str:
    """What the table leaves out, in words; empty when it shows everything.

    >>> rows = tuple(Row((lane,), "A" if lane < 8 else "") for lane in range(32))
    >>> remainder(Counterexample({}, "", ("lane",), rows), 16)
    '24 more lanes'
    """
    cut = cut_rows(counterexample.rows, limit)
    if not cut.hidden:
        return ""
    noun = "lane" if "lane" in counterexample.columns else "row"
    also = f", {cut.hidden_marked} of them marked" if cut.hidden_marked else ""
    return f"{counted(cut.hidden, f'more {noun}')}{also}"


def _colours(rows: tuple[Row, ...]) -> dict[str, str]:
    marks = dict.fromkeys(row.mark for row in rows if row.marked)
    return {mark: _GROUP_COLOURS[index % len(_GROUP_COLOURS)] for index, mark in enumerate(marks)}


def header(columns: tuple[str, ...]) -> list[str]:
    """The names above `cells`.

    >>> header(("lane", "address"))
    ['lane', 'address', 'hex']
    """
    return [name for column in columns for name in ((column, "hex") if column == "address" else (column,))]


def cells(columns: tuple[str, ...], row: Row) -> list[str]:
    """A row's cells as text; an address stands in decimal and hexadecimal.

    >>> cells(("lane", "address"), Row((3, 1040)))
    ['3', '1040', '0x410']
    """
    texts: list[str] = []
    for column, value in zip(columns, row.cells, strict=True):
        texts.append(cell(value))
        if column == "address":
            texts.append(hex(value) if isinstance(value, int) else "")
    return texts
