"""Blocks of rich as text, in a style."""

from __future__ import annotations

import io
from collections.abc import Iterable

from rich.cells import cell_len, set_cell_size
from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.text import Text

from swzverify.report.escape import log_lines
from swzverify.report.style import TextStyle


def rendered(blocks: Iterable[RenderableType], style: TextStyle) -> str:
    r"""The blocks as text, each on its own lines; markup is not read, and no line ends in blanks.

    >>> rendered(["[red]x[/red]"], TextStyle())
    '[red]x[/red]\n'
    """
    stream = io.StringIO()
    console = Console(
        file=stream,
        width=style.columns,
        height=100,
        color_system="standard" if style.colour else None,
        force_terminal=style.colour,
        no_color=not style.colour,
        markup=False,
        emoji=False,
        highlight=False,
        legacy_windows=False,
    )
    for block in blocks:
        line = None if style.colour else _one_line(block, style.columns)
        if line is None:
            console.print(block, crop=False)
        else:
            stream.write(f"{line}\n")
    return log_lines("".join(f"{line.rstrip()}\n" for line in stream.getvalue().split("\n")[:-1]))


def _one_line(block: RenderableType, columns: int) -> str | None:
    """What rich makes of a text that needs no folding and no colour; None for anything else.

    Most of a report is such lines, and rich takes a quarter of a millisecond for each.
    """
    indent = 0
    if isinstance(block, Padding) and not (block.top or block.right or block.bottom):
        block, indent = block.renderable, block.left
    if not isinstance(block, Text) or any(sign in block.plain for sign in "\n\t"):
        return None
    return " " * indent + block.plain if indent + block.cell_len <= columns else None


def indented(block: RenderableType, columns: int) -> Padding:
    """The block moved right."""
    return Padding(block, (0, 0, 0, columns))


def padded(text: str, width: int) -> str:
    """The text with blanks behind it up to a width; a wider one as it is."""
    return text if cell_len(text) >= width else set_cell_size(text, width)
