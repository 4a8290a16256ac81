"""Reads the head of a function, and finds where its body ends.

Source: PTX ISA, Kernel and Function Directives; Performance-Tuning Directives.
"""

from __future__ import annotations

from collections import Counter as Counts
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

from swzverify.compiled.ptx.declaration import read_parameters
from swzverify.compiled.ptx.literals import integer
from swzverify.compiled.ptx.module import Function, Parameter, Tuning
from swzverify.compiled.ptx.problems import MAX_NESTING, MAX_SCOPES, Counter, UnreadableError, excerpt, shown
from swzverify.compiled.ptx.syntax import ATTRIBUTE, LINKAGE, NAME, PRAGMA, compiled
from swzverify.errors import Problem

_ATTRIBUTE: Final = rf"(?:\s*+\.attribute{ATTRIBUTE})?"
_HEAD: Final = compiled(
    rf"({LINKAGE})\.(entry|func)\b{_ATTRIBUTE}(?:\s*+\(([^()]*+)\))?\s*+({NAME})\s*+(?:\(([^()]*+)\)\s*+)?"
)
_NAMED: Final = compiled(rf"{LINKAGE}\.(entry|func)\b{_ATTRIBUTE}\s*+(?:\([^(){{}};]*+\))?\s*+({NAME})")
_TUNING: Final = compiled(rf"(?:{PRAGMA}|\.(\w++)\s*+(\w++(?:\s*+,\s*+\w++){{0,99}})?)\s*+")
_FUNCTION: Final = rf"{LINKAGE}\.(?:entry|func)\b"
_NEXT: Final = compiled(_FUNCTION)
_BRACE: Final = compiled(rf'[{{}}]|"[^"\n]*+"?+|{_FUNCTION}')
_SIGN: Final = compiled(rf'[{{}};]|"[^"\n]*+"?+|{_FUNCTION}')
_EXTENTS: Final = {"maxntid": "max_threads", "reqntid": "required_threads", "reqnctapercluster": "cluster"}
_MANY_PARAMETERS: Final = 100_000
_DEEPEST: Final = MAX_SCOPES + MAX_NESTING


@dataclass(slots=True)
class Found:
    """A function's head and, unless it is a declaration, the place of its body.

    The body is from `start`, after its first brace, to `end`; its first line is `line`.
    """

    function: Function
    start: int = 0
    end: int = 0
    line: int = 0


class Extent(NamedTuple):
    """The end of a body: it ends before `inside`, and the text goes on at `behind`.

    `problem` says what is wrong with its braces.
    """

    inside: int
    behind: int
    problem: UnreadableError | None


def read_head(text: str, position: int, line: int) -> tuple[Function, int]:
    """A function without its body, and the position where its text goes on.

    It goes on at `{`, or after the `;` of a declaration.

    Raises:
        UnreadableError: The text is no function; the error says what was found and expected.
    """
    found = _HEAD.match(text, position)
    if found is None:
        raise UnreadableError(f"found `{excerpt(text, position)}`, expected a function")
    linkage, kind, results, name, parameters = found.groups()
    tuning, end = _tuning(text, found.end())
    sign = text[end : end + 1]
    if sign not in {"{", ";"}:
        raise UnreadableError(f"found `{excerpt(text, end)}` behind the head of `{shown(name)}`, expected `{{`")
    function = Function(
        name,
        is_entry=kind == "entry",
        is_extern=".extern" in linkage,
        is_declaration=sign == ";",
        line=line,
        parameters=_parameters(parameters),
        results=_parameters(results),
        tuning=tuning,
    )
    return function, end + 1 if sign == ";" else end


def _parameters(text: str | None) -> tuple[Parameter, ...]:
    if text is None:
        return ()
    if text.count(",") > _MANY_PARAMETERS:
        raise UnreadableError(f"found more than {_MANY_PARAMETERS} parameters", "SWZ533")
    return read_parameters(text)


def _tuning(text: str, position: int) -> tuple[Tuning, int]:
    """The directives between parameters and body, and where they end."""
    given: dict[str, tuple[int, int, int]] = {}
    while found := _TUNING.match(text, position):
        position = found.end()
        word, values = found[1], found[2]
        if word not in _EXTENTS:
            continue
        key, numbers = _EXTENTS[word], [integer(each.strip()) for each in (values or "").split(",")]
        if key in given or len(numbers) > 3:
            raise UnreadableError(f"found `.{word}` twice or with {len(numbers)} numbers, expected at most 3")
        x, y, z = (*numbers, 1, 1)[:3]
        given[key] = (x, y, z)
    return Tuning(**given), position


def extent_of_body(text: str, start: int, braces: Counter) -> Extent:
    """The end of the body that starts at `start`, after its first brace.

    A body without an end stops before the next function.
    """
    depth = 1
    for found in _BRACE.finditer(text, start):
        sign = found[0][0]
        if sign == "}":
            depth -= 1
            if not depth:
                braces.take()
                return Extent(found.start(), found.end(), None)
        elif sign == "{":
            depth += 1
            braces.take()
            if depth > _DEEPEST:
                behind = _NEXT.search(text, found.end())
                end = behind.start() if behind else len(text)
                return Extent(end, end, UnreadableError(f"found braces nested deeper than {MAX_SCOPES}", "SWZ533"))
        elif sign == ".":
            error = UnreadableError(f"found `{shown(found[0])}` inside a function, expected `}}`")
            return Extent(found.start(), found.start(), error)
    return Extent(len(text), len(text), UnreadableError("found the end of the text inside a function, expected `}`"))


def broken(text: str, position: int, line: int, problem: Problem) -> tuple[Function, int] | None:
    """A function with an unreadable head but a known name, and the position after the head.

    The position is the start of its body or of the next statement. None if the name is not clear either.
    """
    found = _NAMED.match(text, position)
    if found is None:
        return None
    signs = _SIGN.finditer(text, found.end())
    end = next((each.start() for each in signs if each[0][0] != '"'), len(text))
    function = Function(
        found[2], found[1] == "entry", is_extern=False, is_declaration=False, line=line, problem=problem
    )
    return function, end + 1 if text[end : end + 1] in {";", "}"} else end


def kept(functions: list[Found]) -> list[Found]:
    """The functions, without declarations of those that the text also defines.

    Two definitions of one name are a problem of both functions.
    """
    definitions = Counts(each.function.name for each in functions if not each.function.is_declaration)
    declared: set[str] = set()
    found: list[Found] = []
    for each in functions:
        name = each.function.name
        if each.function.is_declaration:
            if name in definitions or name in declared:
                continue
            declared.add(name)
        elif definitions[name] > 1 and each.function.problem is None:
            problem = Problem("SWZ532", f"`{shown(name)}` is defined twice", line=each.function.line)
            each.function = replace(each.function, problem=problem)
        found.append(each)
    return found
