"""What is wrong with a PTX text: the codes, the errors, and the limits for a stranger's file."""

from __future__ import annotations

from typing import Final

from swzverify.compiled.ptx.syntax import BLANKS, compiled
from swzverify.errors import Problem, SwzError, graphic

MAX_BYTES: Final = 32 * 1024 * 1024
"""Bytes of a file, and characters of a text."""
MAX_STATEMENTS: Final = 1_500_000
"""Instructions, directives, labels and blocks of a module, together."""
MAX_NAMES: Final = 300_000
"""Variables, registers and ranges of registers that a module declares."""
MAX_BRACES: Final = 4_000_000
"""Braces of all bodies, those of vectors among them."""
MAX_FUNCTIONS: Final = 50_000
"""Functions of a module, declarations included."""
MAX_COMMENTS: Final = 2_000_000
"""Comments and strings of a text, by the signs that begin them."""
MAX_OPERANDS: Final = 100_000
"""Characters of one instruction's operands."""
MAX_SCOPES: Final = 64
"""Nested braces inside a function."""
MAX_NESTING: Final = 16
"""Nested brackets and signs inside an operand."""
MAX_INLINED: Final = 32
"""Nested calls that a location keeps."""
MAX_PROBLEMS: Final = 20
"""Unreadable statements outside of functions after which reading stops."""
MAX_DATA_CHARACTERS: Final = 4 * 1024 * 1024
"""Characters of an initialiser, or of `.debug_str`, up to which its bytes are kept."""

_EXCERPT: Final = 60
_BLANKS: Final = compiled(r"\s+")


class PtxError(SwzError):
    """A PTX text that cannot be read.

    `name` is the file's name, and `line` (from 1) the place; it is 0 if no line is known.

    >>> raise PtxError("SWZ532", "found 'x'", line=3, name="k.ptx")
    Traceback (most recent call last):
        ...
    swzverify.compiled.ptx.problems.PtxError: SWZ532: k.ptx, line 3: found 'x'
    """

    def __init__(self, code: str, message: str, *, hint: str = "", line: int, name: str) -> None:
        place = f"{shown(name)}, line {line}" if line else shown(name)
        super().__init__(code, f"{place}: {message}", hint=hint)
        self.line = line


def raised(problem: Problem, name: str) -> PtxError:
    """A problem of a PTX text as an error to raise; `name` is that of the file.

    >>> raised(Problem("SWZ532", "found 'x', expected ';'", line=3), "k.ptx").line
    3
    """
    return PtxError(problem.code, problem.message, hint=problem.hint, line=problem.line, name=name)


class UnreadableError(Exception):
    """A piece of text that cannot be read: what was found and expected.

    `code` is the error code for the message. The caller knows the line.
    """

    def __init__(self, message: str, code: str = "SWZ532") -> None:
        super().__init__(message)
        self.code = code


class LimitError(Exception):
    """More of something than a module may have; the caller knows the line."""


def shown(text: str) -> str:
    r"""The start of a text on one line, to quote it in a message.

    It has at most 60 characters, and blanks become one blank.

    >>> shown("mov.u32\n\t%r1"), len(shown("x" * 1000))
    ('mov.u32 %r1', 60)
    """
    flat = _BLANKS.sub(" ", text[: 4 * _EXCERPT]).strip(BLANKS)
    return graphic(flat if len(flat) <= _EXCERPT else flat[: _EXCERPT - 3] + "...")


def excerpt(text: str, start: int, end: int | None = None) -> str:
    """The begin of what stands at a place of the text, up to a semicolon, to quote it in a message.

    >>> excerpt("a; .foo 3; .bar", 3)
    '.foo 3;'
    """
    piece = text[start : start + 4 * _EXCERPT if end is None else min(end, start + 4 * _EXCERPT)]
    semicolon = piece.find(";", 1)
    return shown(piece[: semicolon + 1] if semicolon > 0 else piece)


class Counter:
    """How much of one thing a module has left before its limit; `what` names it.

    >>> counter = Counter(2, "statements")
    >>> counter.take()
    >>> counter.take(2)
    Traceback (most recent call last):
        ...
    swzverify.compiled.ptx.problems.LimitError: found more than 2 statements
    """

    __slots__ = ("left", "limit", "what")

    def __init__(self, limit: int, what: str) -> None:
        self.left = self.limit = limit
        self.what = what

    def take(self, count: int = 1) -> None:
        """Count so many more; a `LimitError` past the limit."""
        self.left -= count
        if self.left < 0:
            raise LimitError(f"found more than {self.limit} {self.what}")
