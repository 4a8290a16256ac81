"""A picture as tables: numbers on colours, which a screen reader reads and a pointer follows.

A report has many pictures; as a table one takes a quarter of the bytes that SVG takes.
"""

from __future__ import annotations

from swzverify.explain.pictures import Cell, Panel, Picture
from swzverify.report.escape import html_text


def figure(picture: Picture) -> str:
    """The picture, its words above it; marked cells have a star, and a sentence says what it means."""
    words = [picture.title, *picture.captions]
    if picture.has_marks:
        words.append(f"* {picture.marks}.")
    if picture.scale is not None and picture.scale.name == "lane":
        words.append("Numbers in cells are lanes.")
    told = " ".join(each if each.endswith(".") else f"{each}." for each in words)
    panels = "".join(_panel(panel, picture) for panel in picture.panels)
    return f"<figure><figcaption>{html_text(told)}</figcaption>\n{panels}</figure>\n"


def _panel(panel: Panel, picture: Picture) -> str:
    places = {(cell.row, cell.column): cell for cell in panel.cells}
    corner = html_text(f"{panel.row_name} \\ {panel.column_name}")
    above = "".join(f'<th scope="col">{html_text(head)}</th>' for head in panel.column_heads)
    rows = "".join(
        f'<tr><th scope="row">{html_text(head)}</th>{_cells(row, len(panel.column_heads), places, picture)}</tr>\n'
        for row, head in enumerate(panel.row_heads)
    )
    name = html_text(panel.title or picture.title)
    return (
        f'<div class="scroll" role="group" aria-label="picture" tabindex="0"><table class="panel">'
        f'<caption>{name}</caption>\n<thead><tr><th scope="col">{corner}</th>{above}</tr></thead>\n'
        f"<tbody>\n{rows}</tbody></table></div>\n"
    )


def _cells(row: int, columns: int, places: dict[tuple[int, int], Cell], picture: Picture) -> str:
    """The cells of a row; empty ones that lie side by side are one."""
    parts: list[str] = []
    empty = 0
    for column in range(columns + 1):
        cell = places.get((row, column))
        if cell is None and column < columns:
            empty += 1
            continue
        if empty:
            parts.append("<td></td>" if empty == 1 else f'<td colspan="{empty}"></td>')
            empty = 0
        if cell is not None:
            parts.append(_cell(cell, picture))
    return "".join(parts)


def _cell(cell: Cell, picture: Picture) -> str:
    shade = None if cell.value is None or picture.scale is None else picture.scale.shade(cell.value)
    classes = [*([] if shade is None else [f"s{shade}"]), *(["x"] if cell.marked else [])]
    attributes = f' class="{" ".join(classes)}"' if classes else ""
    if cell.lanes:
        attributes += f' data-lanes="{" ".join(map(str, cell.lanes))}"'
    if cell.tip:
        attributes += f' title="{html_text(cell.tip)}"'
    return f"<td{attributes}>{html_text(' '.join(cell.lines) + '*' * cell.marked)}</td>"
