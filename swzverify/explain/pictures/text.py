"""Pictures as text: plain, or with a colour behind each cell where a terminal has 256 colours or all.

Panels stand side by side where they fit. A panel that is wider than the terminal continues below
with its next columns. A marked cell has a `*`. Control characters of names are replaced.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Literal

from swzverify.errors import graphic
from swzverify.explain.pictures.picture import (
    DARK_INK,
    SHADES,
    XTERM,
    Cell,
    Panel,
    Picture,
    Scale,
    ink,
    ink_on,
    xterm_colour,
)

Depth = Literal["plain", "256", "truecolor"]
MARK = "*"
_RESET = "\x1b[0m"
_MIN_WIDTH = 40
_GAP = 4
_COLOURS = re.compile(r"\x1b\[[0-9;]*m")


@dataclass(frozen=True, slots=True)
class TextLook:
    """How to write: columns of the terminal, and its colours."""

    width: int = 120
    depth: Depth = "plain"


def render_text(picture: Picture, look: TextLook | None = None) -> str:
    r"""The picture as lines of text.

    >>> from swzverify.explain.pictures import Cell, Panel
    >>> panel = Panel("", "row", "column", ("0",), ("0", "1"), (Cell(0, 0, ("a",)), Cell(0, 1, ("b",), marked=True)))
    >>> print(render_text(Picture("T", (), (panel,), marks="odd")))
    T
    <BLANKLINE>
    row\column  0  1
             0  a  b*
    * odd
    <BLANKLINE>
    """
    look = look or TextLook()
    width = max(look.width, _MIN_WIDTH)
    lines = [*_folded(picture.title, width), *(line for each in picture.captions for line in _folded(each, width))]
    blocks = [[*_folded(panel.title, width), *_panel(panel, picture, look, width)] for panel in picture.panels]
    for block in _side_by_side(blocks, width):
        lines += ["", *block]
    if picture.has_marks:
        lines += _folded(f"{MARK} {picture.marks}", width)
    if look.depth != "plain" and picture.scale is not None and picture.values:
        lines += _legend(picture.scale, picture.values, look, width)
    return "".join(f"{line.rstrip()}\n" for line in lines)


def _folded(text: str, width: int) -> list[str]:
    shown = graphic(" ".join(text.split()))
    return textwrap.wrap(shown, width, subsequent_indent="  ", break_on_hyphens=False) if shown else []


def _side_by_side(blocks: Sequence[list[str]], width: int) -> list[list[str]]:
    """The blocks; neighbours that fit beside each other become one block."""
    found: list[list[str]] = []
    for block in blocks:
        wide = _wide(found[-1]) + _GAP if found else 0
        if found and wide + _wide(block) <= width:
            rows = zip_longest(found[-1], block, fillvalue="")
            found[-1] = [f"{left}{' ' * (wide - _columns(left))}{right}" if right else left for left, right in rows]
        else:
            found.append(block)
    return found


def _wide(block: Sequence[str]) -> int:
    return max(map(_columns, block), default=0)


def _columns(line: str) -> int:
    """The columns that a line takes; escapes of colours take none."""
    return len(_COLOURS.sub("", line))


def _panel(panel: Panel, picture: Picture, look: TextLook, width: int) -> list[str]:
    heads, above_heads = ([graphic(head) for head in each] for each in (panel.row_heads, panel.column_heads))
    corner = graphic(f"{panel.row_name}\\{panel.column_name}")
    left = max(len(corner), *map(len, heads)) if heads else len(corner)
    sizes = _column_sizes(panel, above_heads)
    places = {(cell.row, cell.column): cell for cell in panel.cells}
    found: list[str] = []
    for columns in _parts(sizes, width - left - 1):
        if columns.start and not any((row, column) in places for row in range(len(heads)) for column in columns):
            continue
        above = "".join(sizes[column].head(above_heads[column]) for column in columns)
        found += [""] * (columns.start > 0) + [f"{corner.rjust(left)} {above}"]
        for row, head in enumerate(heads):
            for line in range(panel.lines):
                cells = ((places.get((row, column)), sizes[column]) for column in columns)
                shown = "".join(_cell(cell, line, size, picture.scale, look) for cell, size in cells)
                found.append(f"{(head if line == 0 else '').rjust(left)} {shown}")
    return found


@dataclass(frozen=True, slots=True)
class _Size:
    """The width of a column, and whether its last place is for marks."""

    wide: int
    marked: bool

    def head(self, text: str) -> str:
        """The head of the column, above the cells' texts."""
        return text.rjust(self.wide - self.marked) + " " * self.marked


def _column_sizes(panel: Panel, heads: Sequence[str]) -> list[_Size]:
    """Columns with cells are alike; an empty column takes the room of its head alone."""
    used = {cell.column for cell in panel.cells}
    marked = any(cell.marked for cell in panel.cells)
    wide = max(panel.characters, *(len(heads[column]) for column in used)) + marked + 1 if used else 2
    return [_Size(wide, marked) if column in used else _Size(len(head) + 1, False) for column, head in enumerate(heads)]


def _parts(sizes: Sequence[_Size], width: int) -> Iterator[range]:
    """The columns that fit beside each other, one at least."""
    first, taken = 0, 0
    for column, size in enumerate(sizes):
        if column > first and taken + size.wide > width:
            yield range(first, column)
            first, taken = column, 0
        taken += size.wide
    if sizes:
        yield range(first, len(sizes))


def _cell(cell: Cell | None, line: int, size: _Size, scale: Scale | None, look: TextLook) -> str:
    wide, marked = size.wide, size.marked
    if cell is None:
        return " " * wide
    text = graphic(cell.lines[line]) if line < len(cell.lines) else ""
    sign = (MARK if cell.marked and line == 0 else " ") if marked else ""
    shown = text.rjust(wide - marked) + sign
    if look.depth == "plain" or scale is None or cell.value is None:
        return shown
    return f"{ground(scale.shade(cell.value), look.depth)}{shown}{_RESET}"


def ground(shade: int, depth: Depth) -> str:
    r"""The escape that sets the colours of a shade.

    >>> ground(31, "truecolor")
    '\x1b[38;2;0;0;0;48;2;254;232;56m'
    """
    if depth == "256":
        front = 16 if ink_on(xterm_colour(XTERM[shade])) == DARK_INK else 231
        return f"\x1b[38;5;{front};48;5;{XTERM[shade]}m"
    front, behind = (";".join(map(str, bytes.fromhex(each[1:]))) for each in (ink(shade), SHADES[shade]))
    return f"\x1b[38;2;{front};48;2;{behind}m"


def _legend(scale: Scale, values: range, look: TextLook, width: int) -> list[str]:
    wide = max(len(str(value)) for value in values) + 1
    across = max(1, (width - len(scale.name) - 1) // wide)
    found: list[str] = []
    for first in range(0, len(values), across):
        part = values[first : first + across]
        shown = "".join(f"{ground(scale.shade(each), look.depth)}{str(each).rjust(wide)}{_RESET}" for each in part)
        found.append(f"{scale.name if first == 0 else '':<{len(scale.name)}} {shown}")
    return found
