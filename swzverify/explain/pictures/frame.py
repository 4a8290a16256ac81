"""Where everything of a picture goes, for renderers that draw: sizes in pixels.

Panels stand side by side as far as they fit into a width, and words go above them.
"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass

from swzverify.errors import graphic
from swzverify.explain.pictures.picture import Panel, Picture

LETTER = 6.1
"""The width of a character of a cell, 10 pixels high."""
LINE = 12
HEAD_LINE = 14
CAPTION_LINE = 17
CAPTION_LETTER = 6.6
TITLE_LETTER = 8.6
MARGIN = 10
GAP = 28
LEAST_WIDTH = 640
MOST_WIDTH = 1100
"""Pixels within which panels stand side by side; a single panel may be wider."""


@dataclass(frozen=True, slots=True)
class PanelFrame:
    """The place of a panel in a picture.

    Attributes:
        panel: The panel.
        left: The left edge of the panel.
        top: The upper edge of the panel.
        cells_left: The left edge of its cells.
        cells_top: The upper edge of its cells.
        cell_width: The width of a cell.
        cell_height: The height of a cell.
    """

    panel: Panel
    left: float
    top: float
    cells_left: float
    cells_top: float
    cell_width: float
    cell_height: float

    @property
    def right(self) -> float:
        """Its right end."""
        titled = self.left + len(self.panel.title) * CAPTION_LETTER
        return max(titled, self.cells_left + len(self.panel.column_heads) * self.cell_width)

    @property
    def bottom(self) -> float:
        """Its lower end."""
        return self.cells_top + len(self.panel.row_heads) * self.cell_height


@dataclass(frozen=True, slots=True)
class Frame:
    """Every place of a picture; `captions` are lines that fit."""

    width: float
    height: float
    captions: tuple[str, ...]
    captions_top: float
    panels: tuple[PanelFrame, ...]
    legend_top: float


def frame(picture: Picture, *, titled: bool = True) -> Frame:
    """Lay a picture out; `titled` is false where something else shows its title and captions."""
    rows = _rows([_at(panel, 0, 0) for panel in picture.panels])
    widths = [sum(each.right + GAP for each in row) - GAP for row in rows]
    title = len(picture.title) * TITLE_LETTER if titled else 0
    inside = max(LEAST_WIDTH, title, *widths)
    captions = _captions(picture, inside) if titled else ()
    top = MARGIN + (22 if titled else 0)
    panels: list[PanelFrame] = []
    y = top + len(captions) * CAPTION_LINE + 6.0
    for row in rows:
        x = float(MARGIN)
        for each in row:
            panels.append(_at(each.panel, x, y))
            x = panels[-1].right + GAP
        y = max((each.bottom for each in panels), default=y) + GAP / 2
    legend = y - GAP / 2 + 14
    height = legend + (34 if picture.values else 0) + (18 if picture.has_marks else 0) + 4
    return Frame(inside + 2 * MARGIN, height, captions, top, tuple(panels), legend)


def _rows(sizes: Sequence[PanelFrame]) -> list[list[PanelFrame]]:
    """Which panels stand side by side: as many as fit."""
    rows: list[list[PanelFrame]] = []
    wide = 0.0
    for each in sizes:
        if rows and wide + GAP + each.right <= MOST_WIDTH:
            rows[-1].append(each)
            wide += GAP + each.right
        else:
            rows.append([each])
            wide = each.right
    return rows


def _captions(picture: Picture, width: float) -> tuple[str, ...]:
    letters = int(width / CAPTION_LETTER)
    lines: list[str] = []
    for caption in picture.captions:
        lines += textwrap.wrap(graphic(" ".join(caption.split())), letters, break_on_hyphens=False)
    return tuple(lines)


def _at(panel: Panel, left: float, top: float) -> PanelFrame:
    heads = max((len(head) for head in panel.column_heads), default=1)
    width = max(20.0, round(max(panel.characters, heads) * LETTER + 7))
    height = max(18.0, panel.lines * LINE + 6)
    names = max(len(panel.row_name), max(map(len, panel.row_heads), default=1)) * LETTER + 8
    return PanelFrame(panel, left, top, left + names, top + (16 if panel.title else 0) + 2 * HEAD_LINE, width, height)
