"""The branches of `#if` that sources take if nothing outside of them defines a macro.

What is found supports assumptions only: a compiler may be told of further macros.

Source: ISO/IEC 14882:2020, 15.2 (conditional inclusion).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from swzverify.errors import SwzError
from swzverify.ir.c_eval import evaluate
from swzverify.ir.c_parse import parse
from swzverify.spec.sources.c_text import read_c
from swzverify.spec.sources.preprocessor import Directive, directives

_OPENING: Final = ("if", "ifdef", "ifndef")
_NEXT: Final = ("elif", "else")
_COMPILER: Final = frozenset({"__CUDACC__", "__NVCC__", "__cplusplus"})
"""What nvcc defines for every source."""
_UNKNOWN: Final = re.compile(
    r"_|CUDA|CUB|THRUST|WIN|M_|(?:linux|unix|NDEBUG|EOF|NULL|true|false|and|or|not)\b|\w+_(?:MAX|MIN)\b", re.ASCII
)
"""What begins a name that the compiler, its headers or a usual build may define; and words that are no names."""
_DEFINED: Final = re.compile(r"\bdefined[ \t\v]*(?:\([ \t\v]*(\w+)[ \t\v]*\)|(\w+))", re.ASCII)
_NAME: Final = re.compile(r"[A-Za-z_]\w*", re.ASCII)

Defined = dict[str, list[tuple[int, Directive]]]
"""Where macros are defined or undefined, with the number of the text; -1 outside of all."""


@dataclass(frozen=True, slots=True)
class _Group:
    """The directives of one condition, from `#if` to `#endif`."""

    text: int
    branches: tuple[Directive, ...]

    @property
    def begin(self) -> int:
        return self.branches[0].offset

    @property
    def end(self) -> int:
        return self.branches[-1].offset


def with_branches_taken(texts: Sequence[str], given: Collection[str] = ()) -> list[str]:
    r"""Sources that belong together, with blanks for the branches that they do not take, and for these conditions.

    A condition that reads a macro whose value is not clear stays as it is, with all its branches: so does one
    that reads a macro `given` by something else, as the compiler's arguments.

    >>> with_branches_taken(["#ifdef N\n#define B N\n#else\n#define B 16\n#endif\n"])
    ['        \n           \n     \n#define B 16\n      \n']
    """
    if not any("#" in text and "if" in text for text in texts):
        return list(texts)
    codes = [read_c(text).code for text in texts]
    found = [list(directives(code)) for code in codes]
    defined: Defined = {name: [(-1, Directive("define", name, 0, 0))] for name in given}
    for number, each in ((number, each) for number, every in enumerate(found) for each in every):
        if each.word in ("define", "undef") and (name := _NAME.search(each.rest)):
            defined.setdefault(name[0], []).append((number, each))
    return [_taken(number, text, codes[number], found[number], defined) for number, text in enumerate(texts)]


def macros_of(arguments: Sequence[str]) -> frozenset[str]:
    """The macros that a compiler's arguments define.

    >>> sorted(macros_of(["-O3", "-DN=64", "-D", "M", "--define-macro=L"]))
    ['L', 'M', 'N']
    """
    return frozenset(re.findall(r"(?:-D|--define-macro)[ =]?\s*(\w+)", " ".join(arguments), re.ASCII))


def _taken(number: int, text: str, code: str, every: Sequence[Directive], defined: Defined) -> str:
    parts = list(text)
    for group in _groups(number, every):
        kept = _branch(group, defined)
        if kept is None:
            continue
        ends = [each.offset for each in group.branches[1:]]
        for at, (branch, end) in enumerate(zip(group.branches, ends, strict=False)):
            begin = branch.offset
            _blank(parts, begin, _line_end(code, begin) if at == kept else end)
        _blank(parts, group.end, _line_end(code, group.end))
    return "".join(parts)


def _groups(number: int, every: Sequence[Directive]) -> Iterator[_Group]:
    """The conditions of a text that end."""
    stack: list[list[Directive]] = []
    for each in every:
        if each.word in _OPENING:
            stack.append([each])
        elif stack and (each.word.startswith("el") or each.word == "endif"):
            stack[-1].append(each)
            if each.word == "endif":
                yield _Group(number, tuple(stack.pop()))


def _branch(group: _Group, defined: Defined) -> int | None:
    """The branch that is taken, the number of all if none is; None where that is not clear."""
    branches = group.branches[:-1]
    if any(each.word not in (*_OPENING, *_NEXT) for each in branches):
        return None
    for at, each in enumerate(branches):
        holds = True if each.word == "else" else _holds(each, group, defined)
        if holds is None or holds:
            return None if holds is None else at
    return len(branches)


def _holds(condition: Directive, group: _Group, defined: Defined) -> bool | None:
    rest = condition.rest.replace("\v", " ").strip()
    if condition.word in ("ifdef", "ifndef"):
        name = _NAME.match(rest)
        is_defined = None if name is None else _is_defined(name[0], group, defined)
        return None if is_defined is None else is_defined == (condition.word == "ifdef")
    text = rest
    for found in _DEFINED.finditer(rest):
        is_defined = _is_defined(found[1] or found[2], group, defined)
        if is_defined is None:
            return None
        text = text.replace(found[0], str(int(is_defined)))
    try:
        tree = parse(text)
        # A name that is no macro is 0.
        are_none = all(_is_defined(name, group, defined) is False for name in tree.names)
        value = evaluate(tree, dict.fromkeys(tree.names, 0)) if are_none else None
    except SwzError:
        return None
    return None if value is None else value != 0


def _is_defined(name: str, group: _Group, defined: Defined) -> bool | None:
    """Whether a name is a macro where a condition stands; None where that is not clear."""
    places = defined.get(name, [])
    if not places:
        return True if name in _COMPILER else None if _UNKNOWN.match(name) else False
    inside = [number == group.text and group.begin < each.offset < group.end for number, each in places]
    if all(inside) and all(each.word == "define" for _, each in places):
        return False
    is_before = any(number == group.text and each.offset < group.begin and each.depth == 0 for number, each in places)
    return True if is_before and all(each.word == "define" for _, each in places) else None


def _line_end(code: str, offset: int) -> int:
    end = code.find("\n", offset)
    return len(code) if end < 0 else end


def _blank(parts: list[str], begin: int, end: int) -> None:
    parts[begin:end] = [each if each == "\n" else " " for each in parts[begin:end]]
