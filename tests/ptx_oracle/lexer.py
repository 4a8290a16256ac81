"""Cuts PTX text into tokens that know their lines, and gives a cursor over them."""

from __future__ import annotations

import re
from typing import NamedTuple

from .errors import ParseError

TOKEN = re.compile(
    r"""(?P<blank>\s+|//[^\n]*|/\*.*?\*/)
      | (?P<string>"[^"\n]*")
      | (?P<number>0[fF][0-9a-fA-F]{8}(?!\w)|0[dD][0-9a-fA-F]{16}(?!\w)|0[xX][0-9a-fA-F]+U?|0[bB][01]+U?
           |\d+\.\d*(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+|\d+U?)
      | (?P<word>[A-Za-z_$%][\w$]*(?:(?:\.|::)[\w$]+)*)
      | (?P<directive>\.[A-Za-z_]\w*(?:::\w+)*)
      | (?P<mark>[-+*/(){}\[\],;:@!|<>=~&^?])""",
    re.VERBOSE | re.DOTALL,
)
LINE_DIRECTIVES = frozenset({".loc", ".file", ".version", ".target", ".address_size"})
"""Directives that end with their line and not with a semicolon."""


class Token(NamedTuple):
    """One token: what it is, its text, its line (from 1)."""

    kind: str
    text: str
    line: int


def tokens(text: str) -> list[Token]:
    """Give all tokens of a PTX file.

    Comments and directives that fill a line (.loc, .file) are left out.
    """
    found: list[Token] = []
    at, line, skip_line = 0, 1, 0
    while at < len(text):
        match = TOKEN.match(text, at)
        if match is None:
            if text[at] == "\0":
                break
            raise ParseError(f"cannot read {text[at : at + 20]!r}", line)
        kind, piece = str(match.lastgroup), match.group()
        if kind == "directive" and piece in LINE_DIRECTIVES:
            skip_line = line
        elif kind != "blank" and line != skip_line:
            found.append(Token(kind, piece, line))
        line += piece.count("\n")
        at = match.end()
    return found


class Cursor:
    """A place in the list of tokens."""

    def __init__(self, found: list[Token]) -> None:
        self.tokens = found
        self.at = 0

    @property
    def line(self) -> int:
        """The line of the next token (of the last one at the end)."""
        return self.tokens[min(self.at, len(self.tokens) - 1)].line if self.tokens else 1

    def peek(self, ahead: int = 0) -> str:
        """The text of a coming token; empty past the end."""
        place = self.at + ahead
        return self.tokens[place].text if place < len(self.tokens) else ""

    def kind(self, ahead: int = 0) -> str:
        """The kind of a coming token; empty past the end."""
        place = self.at + ahead
        return self.tokens[place].kind if place < len(self.tokens) else ""

    def take(self) -> str:
        """Give the next token and step over it."""
        if self.at >= len(self.tokens):
            raise ParseError("the text ends too early", self.line)
        self.at += 1
        return self.tokens[self.at - 1].text

    def accept(self, text: str) -> bool:
        """Step over the next token if it is this one."""
        if self.peek() == text:
            self.at += 1
            return True
        return False

    def expect(self, text: str) -> None:
        """Step over the next token, which must be this one."""
        if not self.accept(text):
            raise ParseError(f"expected {text!r}, found {self.peek()!r}", self.line)

    def skip_past(self, text: str) -> None:
        """Step over everything up to a token, and over the token."""
        while self.take() != text:
            pass

    def skip_braces(self) -> None:
        """Step over a block in braces, which begins at or after the cursor."""
        self.skip_past("{")
        depth = 1
        while depth:
            mark = self.take()
            depth += (mark == "{") - (mark == "}")


def number(text: str) -> tuple[int | float, int]:
    """Give the value of a number token, and its width if it spells out the bits of a float."""
    lower = text.lower().rstrip("u")
    if lower.startswith("0f") and len(lower) == 10:
        return int(lower[2:], 16), 32
    if lower.startswith("0d") and len(lower) == 18:
        return int(lower[2:], 16), 64
    if lower.startswith("0x"):
        return int(lower, 16), 0
    if lower.startswith("0b"):
        return int(lower, 2), 0
    if any(mark in lower for mark in ".e"):
        return float(lower), 0
    if len(lower) > 1 and lower.startswith("0"):
        return int(lower, 8), 0
    return int(lower), 0
