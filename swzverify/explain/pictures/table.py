"""A panel as an HTML table, which a screen reader reads; a page says how it writes a cell."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from swzverify.core.shown import html_text
from swzverify.explain.pictures.picture import Cell, Panel, Scale

Escape = Callable[[str], str]
"""Makes a text harmless in HTML, between tags and in attributes."""


def panel_table(
    panel: Panel, cell_html: Callable[[Cell], str], caption: str, *, is_grid: bool = False, escape: Escape = html_text
) -> str:
    """The heads of rows and columns, and a `<td>` for each place: `cell_html` of its cell, or an empty one.

    A grid gets the keyboard's focus cell by cell, by a script of the page; another table gets it as a whole.

    >>> panel = Panel("", "row", "column", ("0",), ("0", "1"), (Cell(0, 1, ("<b>",), marked=True),))
    >>> panel_table(panel, lambda cell: f"<td>{cell_text(cell)}</td>", "").splitlines()[3]
    '<tr><th scope="row">0</th><td></td><td>&lt;b&gt;*</td></tr>'
    """
    rows: list[list[str]] = [["<td></td>"] * len(panel.column_heads) for _ in panel.row_heads]
    for cell in panel.cells:
        rows[cell.row][cell.column] = cell_html(cell)
    above = "".join(f'<th scope="col">{escape(head)}</th>' for head in panel.column_heads)
    body = "".join(
        f'<tr><th scope="row">{escape(head)}</th>{"".join(row)}</tr>\n'
        for head, row in zip(panel.row_heads, rows, strict=True)
    )
    corner = escape(f"{panel.row_name} \\ {panel.column_name}")
    scrolled = "" if is_grid else ' role="group" aria-label="picture" tabindex="0"'
    role = f' role="grid" aria-label="{escape(caption or "the tile")}"' if is_grid else ""
    named = f"<caption>{escape(caption)}</caption>" if caption else ""
    return (
        f'<div class="scroll"{scrolled}><table class="panel"{role}>{named}\n<thead><tr><th scope="col">{corner}</th>'
        f"{above}</tr></thead>\n<tbody>\n{body}</tbody></table></div>\n"
    )


def cell_text(cell: Cell, between: str = " ", escape: Escape = html_text) -> str:
    """The lines of a cell; a marked one has a star."""
    return between.join(map(escape, cell.lines)) + "*" * cell.marked


def cell_classes(cell: Cell, scale: Scale | None) -> list[str]:
    """The classes of a cell: `s` and its shade, `x` where it is marked."""
    shade = [] if cell.value is None or scale is None else [f"s{scale.shade(cell.value)}"]
    return [*shade, *(["x"] if cell.marked else [])]


def figure(sentences: Iterable[str], tables: Iterable[str], escape: Escape = html_text) -> str:
    """Panels below the sentences about them."""
    told = " ".join(each if each.endswith(".") else f"{each}." for each in sentences)
    return f"<figure><figcaption>{escape(told)}</figcaption>\n{''.join(tables)}</figure>\n"
