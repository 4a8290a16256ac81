"""The comments of a source, line by line, at the columns that they have in the file."""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass

from swzverify.errors import SwzError
from swzverify.spec.sources.c_text import read_c
from swzverify.spec.sources.languages import Language

_SIGN = re.compile(r"//[/!]?|/\*[*!]?(?!/)|#+")
_DECORATION = re.compile(r"([ \t]*)\*(?=[ \t]|$)")


@dataclass(slots=True)
class CommentLine:
    """What a line of a file has of comments.

    `text` is the line with blanks for its code and its comment signs; `comment` is the number of
    the comment that the line is a part of, equal on all lines of one `/* */` (0: none; a `//` or
    `#` has a number of its own); `is_alone` tells that the line has this one comment and no code.
    """

    text: str = ""
    comment: int = 0
    is_block: bool = False
    is_alone: bool = False
    has_code: bool = False


@dataclass(frozen=True, slots=True)
class _Piece:
    """The part of a comment that lies on one line: offsets from 0 in that line."""

    line: int
    start: int
    end: int
    comment: int
    is_block: bool


def comment_lines(text: str, language: Language) -> list[CommentLine]:
    r"""One entry for each line of a text with plain line ends.

    Raises:
        SwzError: SWZ121 for Python that cannot be taken apart into tokens.

    >>> [(line.text, line.is_alone) for line in comment_lines("int a; // b\n/* c\n */", Language.C)]
    [('          b', False), ('   c', True), ('', True)]
    """
    lines = text.split("\n")
    found = [CommentLine(has_code=bool(line.strip())) for line in lines]
    left = list(lines)
    pieces = _in_c(text) if language is Language.C else _in_python(text)
    for piece in pieces:
        line, entry = lines[piece.line], found[piece.line]
        blank = " " * (piece.end - piece.start)
        left[piece.line] = left[piece.line][: piece.start] + blank + left[piece.line][piece.end :]
        entry.has_code = bool(left[piece.line].strip())
        entry.is_alone = entry.comment == 0 and not entry.has_code
        entry.comment, entry.is_block = piece.comment, piece.is_block
        entry.text = (entry.text.ljust(piece.start) + _without_signs(line, piece)).rstrip(" \t")
    return found


def _without_signs(line: str, piece: _Piece) -> str:
    """The comment's words on this line, blanks for what makes it a comment."""
    words = line[piece.start : piece.end]
    if words.endswith("*/") and piece.is_block:
        words = words[:-2] + "  "
    sign = _SIGN.match(words)
    if sign is not None and (piece.start > 0 or not piece.is_block or sign[0].startswith("/*")):
        return " " * sign.end() + words[sign.end() :]
    if piece.is_block:
        return _DECORATION.sub(lambda found: found[1] + " ", words, count=1)
    return words


def _in_c(text: str) -> Iterator[_Piece]:
    line, line_start = 0, 0
    for number, span in enumerate(read_c(text).comments, start=1):
        line += text.count("\n", line_start, span.start)
        line_start = text.rfind("\n", 0, span.start) + 1
        start = span.start - line_start
        for row in text[span.start : span.end].split("\n"):
            yield _Piece(line, start, start + len(row), number, span.is_block)
            start, line = 0, line + 1
        line -= 1
        line_start = text.rfind("\n", 0, span.end) + 1


def _in_python(text: str) -> Iterator[_Piece]:
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type == tokenize.COMMENT:
                yield _Piece(token.start[0] - 1, token.start[1], token.end[1], token.start[0], False)
    except (tokenize.TokenError, SyntaxError) as error:
        reason = error.args[0] if error.args else "not Python"
        raise SwzError(
            "SWZ121",
            f"the comments of this file cannot be separated from its code: {reason}",
            hint="a contract is read from a file that Python can read",
        ) from error
