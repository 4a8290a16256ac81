"""Contracts beside the code: comment blocks between the lines `swz:begin` and `swz:end`.

In C and C++ a block is a run of `//` comments, or a part of one `/* */` comment (a `*` that
decorates its lines does not count); in Python it is a run of `#` comments. Each marker is alone on
its line. A comment that begins with what is nearly a marker is an error, since a contract that
nobody reads would look like one that holds.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from swzverify.errors import SwzError
from swzverify.spec.sources.comments import CommentLine, comment_lines
from swzverify.spec.sources.languages import Language

BEGIN = "swz:begin"
END = "swz:end"

_WORD = r"swz(?:verify)?"
_MEANT = r"(?:begin|start|end|stop)\w{0,3}"
_NEARLY = re.compile(rf"[\W_]*({_WORD}[\W_]*[^\w\s][\W_]*{_MEANT}|{_WORD}[\s_]*{_MEANT}(?=[\W_]*$))", re.IGNORECASE)
"""A comment that begins with a marker or nearly so; without a sign inside it must stand alone."""
_MAY_HOLD = re.compile(rb"swz(?:verify)?[^A-Za-z0-9\n]{0,12}(?:begin|start|end|stop)", re.IGNORECASE)
_SIGN = {Language.C: "//", Language.PYTHON: "#"}


@dataclass(frozen=True, slots=True)
class Block:
    """The text of one contract: `lines`, of which the first is line `first` (from 1) of the file.

    Blanks stand where the comment signs were, so that columns are those of the file.
    """

    first: int
    lines: tuple[str, ...]


class BlockError(SwzError):
    """A marker that begins or ends no block.

    `line` and `column` (from 1) are its place, `length` is its number of characters, and `hint` says what
    to do.
    """

    def __init__(self, message: str, hint: str, line: int, column: int, length: int) -> None:
        super().__init__("SWZ121", message, hint=hint)
        self.line = line
        self.column = column
        self.length = length


def may_hold_blocks(data: bytes) -> bool:
    """Whether a source's bytes hold anything like a marker: a quick look before it is read.

    Zero bytes are passed over, so that a source in UTF-16 is not.

    >>> may_hold_blocks(b"// swz:begin"), may_hold_blocks(b"swizzle = begin")
    (True, False)
    """
    return _MAY_HOLD.search(data.replace(b"\0", b"")) is not None


def blocks(text: str, language: Language) -> list[Block]:
    r"""The contracts of a file's text (with plain line ends), in its order.

    Raises:
        BlockError: A marker begins or ends no block; it is the first one.
        SwzError: SWZ121 for Python without sense.

    >>> found = blocks("int x;\n// swz:begin\n// swzverify: 1\n// swz:end\n", Language.C)
    >>> found[0].first, found[0].lines
    (3, ('   swzverify: 1',))
    """
    lines = comment_lines(text, language)
    found: list[Block] = []
    index = 0
    while index < len(lines):
        if not _is_marker(lines[index], BEGIN):
            _refuse_near_marker(lines, index, language)
            index += 1
            continue
        end = _end_of(lines, index, language)
        found.append(Block(index + 2, tuple(line.text for line in lines[index + 1 : end])))
        index = end + 1
    return found


def _is_marker(line: CommentLine, marker: str) -> bool:
    return line.is_alone and line.text.strip(" \t") == marker


def _end_of(lines: Sequence[CommentLine], begin: int, language: Language) -> int:
    """The index of the line that ends the block beginning there."""
    first = lines[begin]
    for at in range(begin + 1, len(lines)):
        line = lines[at]
        belongs = line.comment == first.comment if first.is_block else line.comment != 0 and not line.is_block
        if first.is_block and not belongs:
            raise _fault(lines, begin, f"the comment ends before `{END}`", "end the block inside the comment")
        if belongs and _is_marker(line, END):
            return at
        if belongs and line.is_alone:
            _refuse_near_marker(lines, at, language)
        elif line.comment or line.has_code:
            hint = f"every line of the block is a `{_SIGN[language]}` comment, and `{END}` ends it"
            raise _fault(lines, begin, f"line {at + 1} of this block is more than its comment", hint)
    raise _fault(lines, begin, f"this block has no `{END}`", f"end it with a comment that holds `{END}` alone")


def _refuse_near_marker(lines: Sequence[CommentLine], at: int, language: Language) -> None:
    """Refuse a comment that begins with a misplaced marker, or with what is nearly a marker."""
    near = _NEARLY.match(lines[at].text)
    if near is None:
        return
    word = near[1].strip()
    example = f"{_SIGN[language]} {BEGIN}"
    if word == END:
        message, hint = f"`{END}` ends no block", f"a block begins with `{BEGIN}`, alone in its comment"
    elif word == BEGIN:
        message = f"`{BEGIN}` is not alone on its line, or another block is open"
        hint = f"write it on a line of its own: {example}"
    else:
        meant = BEGIN if re.search("begin|start", word, re.IGNORECASE) else END
        message, hint = f"`{word}` is no marker", f"write `{meant}`, or begin the comment otherwise"
    raise BlockError(message, hint, at + 1, near.start(1) + 1, len(word))


def _fault(lines: Sequence[CommentLine], at: int, message: str, hint: str) -> BlockError:
    return BlockError(message, hint, at + 1, lines[at].text.index(BEGIN) + 1, len(BEGIN))
