"""A picture as tables: numbers on colours, which a screen reader reads and a pointer follows.

A report has many pictures; as a table one takes a quarter of the bytes that SVG takes.
"""

from __future__ import annotations

import re

from swzverify.explain.pictures import Cell, Panel, Picture
from swzverify.explain.pictures.table import cell_classes, cell_text, figure, panel_table
from swzverify.report.escape import html_text

_EMPTY = "<td></td>"


def picture_figure(picture: Picture) -> str:
    """The picture, its words above it; marked cells have a star, and a sentence says what it means."""
    words = [picture.title, *picture.captions]
    if picture.has_marks:
        words.append(f"* {picture.marks}.")
    if picture.scale is not None and picture.scale.name == "lane":
        words.append("Numbers in cells are lanes.")
    return figure(words, [_panel(panel, picture) for panel in picture.panels], html_text)


def _panel(panel: Panel, picture: Picture) -> str:
    """A panel; empty cells that lie side by side are one."""
    table = panel_table(panel, lambda cell: _cell(cell, picture), panel.title or picture.title, escape=html_text)
    return re.sub(f"(?:{_EMPTY}){{2,}}", lambda run: f'<td colspan="{len(run[0]) // len(_EMPTY)}"></td>', table)


def _cell(cell: Cell, picture: Picture) -> str:
    classes = cell_classes(cell, picture.scale)
    attributes = f' class="{" ".join(classes)}"' if classes else ""
    if cell.lanes:
        attributes += f' data-lanes="{" ".join(map(str, cell.lanes))}"'
    if cell.tip:
        attributes += f' title="{html_text(cell.tip)}"'
    return f"<td{attributes}>{cell_text(cell, escape=html_text)}</td>"
