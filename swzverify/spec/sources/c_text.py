"""Which part of a C, C++ or CUDA source is code, and which is comment: one pass that knows strings.

Source: ISO/IEC 14882:2020, 5.2 (phases of translation), 5.4 (tokens), 5.13.5 (string literals).
"""

from __future__ import annotations

import bisect
import re
from dataclasses import dataclass
from enum import Enum, auto

_PART = re.compile(
    r"""
    (?P<line>//(?:[^\\\n]|\\[ \t]*\n|\\)*)
  | (?P<block>/\*(?:[^*]|\*(?!/))*(?:\*/|\Z))
  | (?P<raw>(?:u8|[uUL])?R"(?P<mark>[^ ()\\\t\n]{0,16})\(.*?(?:\)(?P=mark)"|\Z))
  | (?P<string>(?:u8|[uUL])?"(?:[^"\\\n]|\\[\s\S])*(?:"|(?=\n)|\Z))
  | (?P<character>(?:u8|[uUL])?'(?:[^'\\\n]|\\[\s\S])*(?:'|(?=\n)|\Z))
  | (?P<word>[A-Za-z_$][A-Za-z0-9_$]*)
  | (?P<number>\.?[0-9](?:'[0-9A-Za-z_]|[eEpP][+-]|[0-9A-Za-z_.])*)
    """,
    re.VERBOSE | re.DOTALL,
)
"""Words and numbers are read whole: neither the R of a name nor the ' of 1'000 begins a literal."""

_SPLICE = re.compile(r"\\[ \t]*\n")


@dataclass(frozen=True, slots=True)
class Span:
    """A comment: where it begins, the offset behind its end, and whether it is `/* */`."""

    start: int
    end: int
    is_block: bool


class Literal(Enum):
    """What kind of literal quotes enclose."""

    STRING = auto()
    CHARACTER = auto()
    RAW = auto()


@dataclass(frozen=True, slots=True)
class CText:
    """The text of a source taken apart.

    `code` is as long as the text, with blanks for comments and for what quotes hold. A line end
    inside a comment or behind a backslash is a vertical tab there: the lines of `code` are C's
    logical ones; `line_of` tells the file's. `literals` has each literal's kind with the offsets of
    its first character and of the one behind it.
    """

    code: str
    comments: tuple[Span, ...]
    literals: tuple[tuple[int, int, Literal], ...] = ()


def read_c(text: str) -> CText:
    r"""Take a source with plain line ends apart.

    >>> read_c("int a; // b\n").code
    'int a;     \n'
    """
    parts: list[str] = []
    comments: list[Span] = []
    literals: list[tuple[int, int, Literal]] = []
    at = 0
    for found in _PART.finditer(text):
        parts.append(_plain(text[at : found.start()]))
        at = found.end()
        match found.lastgroup:
            case "line" | "block":
                comments.append(Span(found.start(), found.end(), found.lastgroup == "block"))
                parts.append(_blank(found[0]))
            case "raw" | "mark" | "string":
                kind = Literal.STRING if found.lastgroup == "string" else Literal.RAW
                literals.append((*found.span(), kind))
                parts.append(_quoted(found[0], '"'))
            case "character":
                literals.append((*found.span(), Literal.CHARACTER))
                parts.append(_quoted(found[0], "'"))
            case _:
                parts.append(found[0])
    parts.append(_plain(text[at:]))
    return CText("".join(parts), tuple(comments), tuple(literals))


class Lines:
    r"""The lines of `CText.code`, which are those of the file.

    >>> Lines("a\v\nb").of(3)
    3
    """

    def __init__(self, code: str) -> None:
        self._ends = [found.start() for found in re.finditer(r"[\n\v]", code)]

    def of(self, offset: int) -> int:
        """The line, from 1, of an offset."""
        return 1 + bisect.bisect_left(self._ends, offset)


def _plain(code: str) -> str:
    """Code outside comments and literals; a vertical tab is always a line end taken away."""
    return _SPLICE.sub(lambda found: " " * (len(found[0]) - 1) + "\v", code.replace("\v", " ").replace("\f", " "))


def _quoted(literal: str, quote: str) -> str:
    """A literal with blanks for what it holds; one without an end has one quote only."""
    if len(literal) > 1 and literal.endswith(quote):
        return quote + _blank(literal[1:-1]) + quote
    return quote + _blank(literal[1:])


def _blank(text: str) -> str:
    r"""As many blanks, with the line ends in it as `\v`."""
    return re.sub(r"[^\n]", " ", text).replace("\n", "\v")
