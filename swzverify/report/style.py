"""How text is put on a terminal or into a pipe: width, colours, how much."""

from __future__ import annotations

from dataclasses import dataclass

MIN_WIDTH = 40
"""Columns below which nothing is squeezed further."""


@dataclass(frozen=True, slots=True)
class TextStyle:
    """How to write: columns of the terminal, ANSI colours, characters beyond ASCII, how much.

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
