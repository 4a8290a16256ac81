"""What a picture says, in no format: panels of cells, with words around them."""

from __future__ import annotations

from dataclasses import dataclass, field

from swzverify.core.shown import Drawn
from swzverify.explain.pictures.scale import Scale


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell of a panel.

    Attributes:
        row: The row.
        column: The column.
        lines: Short texts, the most important first.
        value: The value on the picture's scale.
        marked: Whether it has a mark. The mark never shows by colour alone; the picture says what it
            means.
        tip: The text for a reader whose pointer is over the cell.
        lanes: The lanes that touch the cell, so that a page can follow one of them.
    """

    row: int
    column: int
    lines: tuple[str, ...]
    value: int | None = None
    marked: bool = False
    tip: str = ""
    lanes: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Panel:
    """A grid of cells. Places without a cell are empty."""

    title: str
    row_name: str
    column_name: str
    row_heads: tuple[str, ...]
    column_heads: tuple[str, ...]
    cells: tuple[Cell, ...]

    @property
    def lines(self) -> int:
        """The most lines that a cell has; 1 at least."""
        return max((len(cell.lines) for cell in self.cells), default=1) or 1

    @property
    def characters(self) -> int:
        """The most characters of a line of a cell; 1 at least."""
        return max((len(line) for cell in self.cells for line in cell.lines), default=1) or 1


@dataclass(frozen=True, slots=True)
class Picture(Drawn):
    """A title, sentences about it, and panels, drawn side by side where there is room.

    `marks` says what a marked cell is, `scale` what the colours mean. Texts may have names from a
    spec: a renderer escapes each of them for its format.
    """

    title: str
    captions: tuple[str, ...]
    panels: tuple[Panel, ...] = field(repr=False)
    scale: Scale | None = None
    marks: str = ""

    @property
    def has_marks(self) -> bool:
        """Whether some cell is marked."""
        return any(cell.marked for panel in self.panels for cell in panel.cells)

    @property
    def values(self) -> range:
        """The values of the scale that a legend lists: all up to 32, else none."""
        if self.scale is None or self.scale.most - self.scale.least >= 32:
            return range(0)
        return range(self.scale.least, self.scale.most + 1)
