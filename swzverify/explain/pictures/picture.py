"""What a picture says, in no format: panels of cells, with words around them.

The colours of a picture: one scale from dark to bright.

It survives greyscale and colour blindness. The map is cividis: its lightness grows in even steps,
for the usual eye and for eyes that do not distinguish red from green. 32 of its 256 colours are
here, one per bank.

Source: Nuñez, Anderton, Renslow, "Optimizing colormaps with consideration for color vision
deficiency", PLoS ONE 13(7), 2018, e0199239; the values are those of Matplotlib, which has them in
the public domain.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import log2

from swzverify.core.shown import Drawn


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


SHADES = (
    "#00224e", "#00285b", "#002e6a", "#083370", "#1c396f", "#293f6e", "#33446d", "#3d4a6c",
    "#45506c", "#4d556c", "#555b6d", "#5c616e", "#646770", "#6b6d72", "#727274", "#787877",
    "#807f78", "#888578", "#908b78", "#979177", "#a09875", "#a89e73", "#b0a571", "#b9ab6d",
    "#c1b26a", "#cbb965", "#d3c05f", "#dcc859", "#e5cf52", "#efd748", "#f8df3c", "#fee838",
)  # fmt: skip
"""The colours, the darkest first."""
XTERM = (
    17, 17, 17, 18, 237, 238, 238, 239, 239, 240, 240, 241, 242, 242, 243, 243,
    244, 102, 245, 246, 246, 144, 144, 144, 179, 179, 179, 185, 185, 185, 220, 220,
)  # fmt: skip
"""The same in a terminal's 256 colours: none is darker than the one before."""
DARK_INK, LIGHT_INK = "#000000", "#ffffff"


@dataclass(frozen=True, slots=True)
class Scale:
    """What colours stand for: the values of `name`, from `least` to `most`.

    A `logarithmic` scale has equal steps for equal factors; its `least` is 1 or more. On a `scattered`
    scale of 32 values neighbours have colours that are easily told apart: values are names, not sizes.

    >>> Scale("bank", 0, 31).shade(31), Scale("wavefronts", 1, 32, logarithmic=True).shade(8)
    (31, 19)
    >>> [LANES_SCALE.shade(lane) for lane in range(9)]
    [0, 16, 8, 24, 4, 20, 12, 28, 2]
    """

    name: str
    least: int
    most: int
    logarithmic: bool = False
    scattered: bool = False

    def shade(self, value: int) -> int:
        """The place in `SHADES` of a value; values outside have the colour of the nearer end."""
        low, high, here = self.least, self.most, min(max(value, self.least), self.most)
        if high <= low:
            return 0
        if self.scattered:
            return int(f"{here - low:05b}"[::-1], 2)
        part = log2(here / low) / log2(high / low) if self.logarithmic else (here - low) / (high - low)
        return round(part * (len(SHADES) - 1))


BANKS_SCALE = Scale("bank", 0, 31)
LANES_SCALE = Scale("lane", 0, 31, scattered=True)


def xterm_colour(code: int) -> str:
    """What a terminal shows for one of its colours 16 to 255. Source: xterm, 256colres.h.

    >>> xterm_colour(220), xterm_colour(244)
    ('#ffd700', '#808080')
    """
    if code >= 232:
        return "#" + 3 * f"{8 + 10 * (code - 232):02x}"
    levels = (0, 95, 135, 175, 215, 255)
    red, rest = divmod(code - 16, 36)
    return "#" + "".join(f"{levels[place]:02x}" for place in (red, *divmod(rest, 6)))


def ink(shade: int) -> str:
    """Black or white, whichever is read better on a shade.

    >>> ink(0), ink(31)
    ('#ffffff', '#000000')
    """
    return ink_on(SHADES[shade])


def ink_on(colour: str) -> str:
    """Black or white, whichever is read better on a colour."""
    ground = luminance(colour)
    return DARK_INK if (ground + 0.05) / 0.05 > 1.05 / (ground + 0.05) else LIGHT_INK


def luminance(colour: str) -> float:
    """The relative luminance of a colour, 0 to 1. Source: WCAG 2.2, relative luminance.

    >>> luminance("#000000"), luminance("#ffffff")
    (0.0, 1.0)
    """
    parts = (int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5))
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
