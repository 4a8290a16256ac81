"""Errors that a person can act on: a stable code, what was wrong with which value, the next step.

This module imports nothing of the package. `core/error_codes.py` lists all codes by groups; docs/errors/
explains each.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice


class SwzError(Exception):
    """One mistake in the user's input: a stable code, a sentence, and what to do about it.

    `hint` is what to do. `text` and `span` (start, end; in characters) mark the offending part of a
    notation or expression.

    >>> error = SwzError("SWZ301", "unknown name 'tidd'", hint="did you mean 'tid'?", text="tidd/8", span=(0, 4))
    >>> print(error)
    SWZ301: unknown name 'tidd'
      tidd/8
      ^^^^
      did you mean 'tid'?
    """

    def __init__(
        self,
        code: str,
        message: str,
        *,
        hint: str = "",
        text: str | None = None,
        span: tuple[int, int] | None = None,
    ) -> None:
        super().__init__(code, message, hint, text, span)
        self.code = code
        self.message = message
        self.hint = hint
        self.text = text
        self.span = span

    def __reduce__(self) -> tuple[object, ...]:
        """The error as another process gets it.

        >>> import pickle
        >>> pickle.loads(pickle.dumps(SwzError("SWZ305", "a divisor of 0", hint="k + 1"))).hint
        'k + 1'
        """
        return _again, (self.code, self.message, self.hint, self.text, self.span)

    def __str__(self) -> str:
        lines = [f"{self.code}: {self.message}"]
        if self.text is not None and self.span is not None and "\n" not in self.text:
            start, end = self.span
            lines += [f"  {self.text}", "  " + " " * start + "^" * max(1, end - start)]
        if self.hint:
            lines += [f"  {row}" for row in self.hint.split("\n")]
        return "\n".join(graphic(row) for line in lines for row in line.split("\n"))


def _again(code: str, message: str, hint: str, text: str | None, span: tuple[int, int] | None) -> SwzError:
    return SwzError(code, message, hint=hint, text=text, span=span)


def graphic(row: str) -> str:
    r"""A line with U+FFFD for each character that is invisible or acts on a terminal; columns stay.

    >>> graphic("a\x1b[31m") == "a\ufffd[31m"
    True
    """
    if row.isprintable():
        return row
    return "".join(char if char.isprintable() else "\ufffd" for char in row)


_LINE_WIDTH = 110
"""Columns of a source line that are shown; a longer one is cut around the caret."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One mistake in a file.

    Attributes:
        code: The error code.
        message: What is wrong.
        hint: What to do about it.
        file: The path of the file.
        line: The line, from 1; 0 for the file as a whole.
        column: The column, from 1; 0 for the file as a whole.
        source_line: The text of the line.
        caret_length: The number of characters that are marked.

    >>> print(Problem("SWZ104", "unknown key 'tle'", "did you mean 'tile'?", "a.yaml", 3, 5, "    tle: A", 3))
    a.yaml:3:5: SWZ104 unknown key 'tle'
        tle: A
        ^^^
      did you mean 'tile'?
    """

    code: str
    message: str
    hint: str = ""
    file: str = ""
    line: int = 0
    column: int = 0
    source_line: str = ""
    caret_length: int = 0

    @property
    def place(self) -> str:
        """The file, and the line and column where they are known."""
        return f"{self.file}:{self.line}:{self.column}" if self.line else self.file

    def __str__(self) -> str:
        """The place and message, the source line with a caret, and the hint."""
        rows = [f"{self.place}: {self.code} {self.message}"]
        if self.line and self.source_line.strip():
            shown, start = window(self.source_line.replace("\t", " "), self.column - 1)
            length = max(1, min(self.caret_length, len(shown) - start))
            rows += [shown, " " * start + "^" * length]
        if self.hint:
            rows += [f"  {row}" for row in self.hint.splitlines()]
        return "\n".join(map(graphic, rows))


def window(line: str, start: int) -> tuple[str, int]:
    """The part of a long line around column `start` (from 0), and where that column is in it.

    >>> window("tile: A", 6)
    ('tile: A', 6)
    """
    if len(line) <= _LINE_WIDTH:
        return line, start
    first = max(0, min(start - _LINE_WIDTH // 3, len(line) - _LINE_WIDTH))
    return line[first : first + _LINE_WIDTH], start - first


class InternalError(Exception):
    """A fault of swzverify, never of the input, such as engines that disagree."""


_LONGEST_NAME = 64
_MOST_NAMES = 50
_SHORT_NAME = 4
"""Bounds on the search for a near name, which takes long for many names and long ones."""


def nearest(name: str, known: Iterable[str]) -> str:
    """A "did you mean" sentence for a mistyped name, or the empty string when nothing is near.

    A near name has the same numbers, since these carry the meaning: `.x5` is no misspelt `.x4`. Of
    up to four letters the first one agrees: `bid` is no misspelt `tid`. Names longer than 64
    characters and more than 50 names of a similar length are not looked through. Names that are
    equally near are all named, three at most.

    >>> nearest("ldmatix.x4", ["ldmatrix.x4", "ldmatrix.x2"])
    "did you mean 'ldmatrix.x4'?"
    >>> nearest("ldmatrix.x5", ["ldmatrix.x4", "ldmatrix.x2"])
    ''
    """
    from difflib import get_close_matches  # noqa: PLC0415 - only mistakes need it

    if len(name) > _LONGEST_NAME:
        return ""
    known = (each for each in known if _may_be_misspelt(name, each))
    # Lengths further apart keep the ratio below the cutoff, twice the shorter one being less than
    # 0.6 of their sum.
    similar = (each for each in known if len(each) <= _LONGEST_NAME and _are_alike(len(each), len(name)))
    close = get_close_matches(name, list(islice(similar, _MOST_NAMES)), n=3, cutoff=0.6)
    best = [each for each in close if _ratio(name, each) == _ratio(name, close[0])]
    return f"did you mean {' or '.join(map(repr, best))}?" if best else ""


def _ratio(name: str, known: str) -> float:
    """How alike two names are, as `get_close_matches` counts."""
    from difflib import SequenceMatcher  # noqa: PLC0415 - see `nearest`

    return SequenceMatcher(None, known, name).ratio()


_NUMBER = re.compile("[0-9]+")


def _may_be_misspelt(name: str, known: str) -> bool:
    """Whether two names can mean the same, as far as numbers and first letters tell."""
    if len(name) <= _SHORT_NAME and name[:1].lower() != known[:1].lower():
        return False
    return _NUMBER.findall(name) == _NUMBER.findall(known)


def _are_alike(one: int, other: int) -> bool:
    """Whether two names of these lengths can be near."""
    return 7 * min(one, other) >= 3 * max(one, other)


class SpecError(Exception):
    """A spec file that cannot be used; `problems` are all its mistakes in the file's order."""

    def __init__(self, problems: tuple[Problem, ...], left_out: int = 0) -> None:
        """`left_out` is how many more there were than are kept."""
        super().__init__(problems, left_out)
        self.problems = problems
        self.left_out = left_out

    def __str__(self) -> str:
        """Every problem, one below the other."""
        parts = [str(problem) for problem in self.problems]
        if self.left_out:
            parts.append(f"... and {self.left_out} more")
        return "\n".join(parts)
