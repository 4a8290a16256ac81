"""What is wrong in a spec file: a code, a place, the source line with a caret, and the next step.

All problems of a file are collected and raised together as one `SpecError`.

| code | meaning |
|---|---|
| SWZ101 | the file cannot be read: missing, a directory, empty, not UTF-8 text |
| SWZ102 | YAML syntax |
| SWZ103 | a key is given twice |
| SWZ104 | unknown or missing key |
| SWZ105 | a value of the wrong type, or outside what is allowed |
| SWZ106 | unknown name of a tile, access, memory or map |
| SWZ107 | too big or too deep: file, nodes, numbers, cases |
| SWZ108 | a YAML feature that specs do not use: anchor, alias, merge key, tag, directive, several documents |
| SWZ109 | `swzverify:` names a version that this program does not read |
| SWZ110 | a tile does not fit into its memory, or a memory or tile into the target's shared memory |
| SWZ111 | a character that cannot be seen or that reorders a line |
| SWZ112 | a key that is not written in ASCII |
| SWZ121 | a marker in a kernel source that begins or ends no contract |
| SWZ122 | `from_source:` names a constant that the code does not define |
| SWZ123 | `from_source:` names what is no plain integer constant, or has several definitions |
| SWZ124 | `from_source:` names a file that may not or cannot be read |
| SWZ125 | a constant of the spec differs from the one in the code |

Codes SWZ2xx (layout), SWZ3xx (expression) and SWZ4xx (hardware) of a value in the file come through
unchanged.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from types import TracebackType

from swzverify.errors import Problem, SpecError, SwzError
from swzverify.spec.tree import Node, Place, Scalar, place_of

MAX_PROBLEMS = 100
"""A file with more mistakes than this is not a spec; the rest is counted, not listed."""
MAX_COUNTED = 200
"""After this many mistakes, nothing more is looked for."""
MAX_NOTED = 300
"""The same for notes: one mistake is noted in every case of the constants."""

_NUMBER = re.compile(r"-?[0-9]+")
_LONGEST_MESSAGE = 400
_LONGEST_HINT = 1000


class TooManyProblems(Exception):  # noqa: N818 - no error by itself: it ends the reading, the problems tell
    """So many mistakes were found that nothing more is looked for."""


class Noting:
    """A context that hands the block's `SwzError` on to be noted, and ends the block there."""

    def __init__(self, note: Callable[[SwzError], None]) -> None:
        """`note` is called with the error."""
        self.note = note

    def __enter__(self) -> None:
        """Nothing happens before the block."""

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> bool:
        """Swallow what was noted, and nothing else."""
        if not isinstance(error, SwzError):
            return False
        self.note(error)
        return True


class Problems:
    """Collects one file's mistakes while it is read; equal ones at one place count once."""

    def __init__(self, file: str, lines: list[str] | None = None) -> None:
        """Nothing is wrong yet with this file; `lines` is its text."""
        self.file = file
        self.lines: list[str] = lines or []
        self.case = ""
        self.cases = 1
        self._notes = 0
        self._found: dict[tuple[str, int, int, str], Problem] = {}
        self._closed: set[tuple[int, int]] = set()
        self._in_cases: dict[tuple[str, int, int, str], list[str]] = {}

    def __len__(self) -> int:
        """How many were found so far."""
        return len(self._found)

    def add(self, code: str, message: str, where: Node | Place | None, hint: str = "") -> None:
        """Note a mistake at a node or place of the file (None: the file as a whole).

        Raises:
            TooManyProblems: There are more than `MAX_COUNTED` mistakes or `MAX_NOTED` notes.
        """
        self._notes += 1
        if len(self._found) >= MAX_COUNTED or self._notes > MAX_NOTED:
            raise TooManyProblems
        place = None if where is None else place_of(where)
        if len(message) > _LONGEST_MESSAGE:
            message = message[:_LONGEST_MESSAGE] + "..."
        if len(hint) > _LONGEST_HINT:
            hint = hint[:_LONGEST_HINT] + "..."
        # Cases of the constants give one mistake other numbers, so they do not tell two mistakes
        # apart.
        key = (code, place.line if place else 0, place.column if place else 0, _NUMBER.sub("0", message))
        if self.case and self.case not in self._in_cases.setdefault(key, []):
            self._in_cases[key].append(self.case)
        if key in self._found or (place is not None and (place.line, place.column) in self._closed):
            return
        if place is None:
            self._found[key] = Problem(code, message, hint, self.file)
            return
        text = self.lines[place.line - 1] if 0 < place.line <= len(self.lines) else ""
        self._found[key] = Problem(code, message, hint, self.file, place.line, place.column, text, place.length)

    @property
    def found(self) -> tuple[Problem, ...]:
        """What was noted so far, in the order of noting."""
        return tuple(self._found.values())

    def close_places(self) -> None:
        """Take nothing more at places found so far: a value that cannot be read is one mistake."""
        self._closed |= {(problem.line, problem.column) for problem in self._found.values()}

    def add_error(self, error: SwzError, where: Node | Place) -> None:
        """Note a `SwzError`, with the caret under the wrong part where the value is on one line."""
        hint = error.hint
        place = place_of(where)
        if isinstance(where, Scalar):
            place = _part_of(error, where)
            if where.in_flow and where.plain and where.text.count("(") != where.text.count(")"):
                comma = "a comma ends an item inside [ ] and { }: put a value that holds one in quotes"
                hint = f"{hint}\n{comma}" if hint else comma
        if error.text is not None and not (isinstance(where, Scalar) and error.text in where.text):
            hint = f"in '{error.text}'" + (f"\n{hint}" if hint else "")
        self.add(error.code, error.message, place, hint)

    def at(self, where: Node | Place) -> Noting:
        """Note the `SwzError` of the `with` block at this place, and go on after the block."""
        return Noting(lambda error: self.add_error(error, where))

    def raise_any(self) -> None:
        """Raise what was found, if anything, in the order of the file."""
        if self._found:
            problems = [self._with_case(key, problem) for key, problem in self._found.items()]
            problems.sort(key=lambda found: (found.line, found.column))
            raise SpecError(tuple(problems[:MAX_PROBLEMS]), max(0, len(problems) - MAX_PROBLEMS))

    def _with_case(self, key: tuple[str, int, int, str], problem: Problem) -> Problem:
        """The problem with the case it is in, where not every case of the constants has it."""
        cases = self._in_cases.get(key, [])
        if not cases or len(cases) == self.cases:
            return problem
        note = f"in the case {cases[0]}" + (f" and {len(cases) - 1} more" if len(cases) > 1 else "")
        return replace(problem, hint=f"{problem.hint}\n{note}" if problem.hint else note)


def _part_of(error: SwzError, scalar: Scalar) -> Place:
    """The place of the part that the error's span marks; the whole value where that is unknown."""
    whole = place_of(scalar)
    if error.text is None or error.span is None or scalar.text_column == 0:
        return whole
    shift = 0 if error.text == scalar.text else scalar.text.find(error.text)
    if shift < 0:
        return whole
    start, end = error.span
    if start >= len(error.text):
        return Place(whole.line, scalar.text_column + shift + len(error.text), 1)
    return Place(whole.line, scalar.text_column + shift + start, max(1, end - start))
