"""How text is put on a terminal or into a pipe: width, colours, marks."""

from __future__ import annotations

import io
from collections.abc import Iterable
from dataclasses import dataclass

from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.text import Text

from swzverify.claims.verdict import Outcome
from swzverify.report.escape import log_lines
from swzverify.report.result import ClaimResult

MIN_WIDTH = 40
"""Columns below which nothing is squeezed further."""


@dataclass(frozen=True, slots=True)
class TextStyle:
    """How to write: columns of the terminal, ANSI colours or none, characters beyond ASCII or not,
    how much.

    `verbosity` -1 shows only what came out unexpectedly, 0 a line per claim as well, 1 every
    claim's details. `by_file` has a line per file instead of a line per claim, where there are
    several files.
    """

    width: int = 100
    colour: bool = False
    unicode: bool = True
    verbosity: int = 0
    by_file: bool = False

    @property
    def columns(self) -> int:
        """The width of the text in columns."""
        return max(MIN_WIDTH, self.width)

    @property
    def ellipsis(self) -> str:
        """The sign for what is left out."""
        return "\u2026" if self.unicode else "..."


def rendered(blocks: Iterable[RenderableType], style: TextStyle) -> str:
    """The blocks as text, each on lines of its own; no markup is read from them and no line ends in
    blanks.

    >>> rendered(["[red]x[/red]"], TextStyle())
    '[red]x[/red]\\n'
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


def mark(result: ClaimResult, style: TextStyle) -> str:
    """One character for the outcome of a claim: as expected, known to fail, wrong, undecided, a
    fault.
    """
    if result.ok:
        return "\u2713" if style.unicode else "+"
    if not result.failing:
        return "~"
    match result.verdict.outcome:
        case Outcome.UNKNOWN | Outcome.VACUOUS:
            return "?"
        case Outcome.ERROR:
            return "!"
        case Outcome.PROVED | Outcome.CHECKED | Outcome.REFUTED:
            return "\u2717" if style.unicode else "x"


def mark_colour(result: ClaimResult) -> str:
    """The colour of a claim's mark and verdict."""
    if result.ok:
        return "green"
    return (
        "yellow" if not result.failing or result.verdict.outcome in {Outcome.UNKNOWN, Outcome.VACUOUS} else "bold red"
    )
