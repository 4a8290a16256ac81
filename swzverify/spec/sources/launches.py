"""The blocks of launches that stand in a CUDA source file: `kernel<<<grid, dim3(32, ROWS)>>>`.

The source is read as text. It is not compiled: a macro may launch another kernel than its text says,
a function may write a variable unseen, and other files may launch the same kernels. What is found is
a hint for an assumption that every verdict states, never a fact.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Final

from swzverify.compiled.kernel.special import BlockShape
from swzverify.compiled.scan.launch import LaunchedBlock, block_shape
from swzverify.errors import SwzError
from swzverify.ir.c_eval import evaluate
from swzverify.ir.c_parse import parse
from swzverify.spec.sources.c_text import read_c
from swzverify.spec.sources.constants import constant
from swzverify.spec.sources.languages import Language
from swzverify.spec.sources.scopes import declaration_at, parts_of, value_of

ConstantOf = Callable[[str], int | None]
"""The value of a constant outside functions, by its name; None for what is none."""

_NAME: Final = re.compile(r"[A-Za-z_]\w*\Z", re.ASCII)
_DIM3: Final = re.compile(r"\s*dim3\s*[({](.*)[)}]\s*", re.ASCII | re.DOTALL)
_OTHER: Final = re.compile(r"\b(?:cuda|cu|hip)Launch\w*\s*\([^;]{0,400}", re.ASCII)
"""A launch by a function, which may state another block."""
_MOST_LETTERS: Final = 2000
"""Letters of a kernel's template arguments, and of what stands between `<<<` and `>>>`."""
_DEEPEST: Final = 8
"""Variables that are defined by one another."""
_MOST_LAUNCHES: Final = 2000
"""Of a file; the kernels of further ones have no block."""


def constant_in(texts: tuple[str, ...], name: str) -> int | None:
    """The value of a constant in the first text, else the only value that the others give it."""
    own = _constant(texts[0], name)
    found = {each for text in dict.fromkeys(texts[1:]) if (each := _constant(text, name)) is not None}
    return own if own is not None else found.pop() if len(found) == 1 else None


@lru_cache(maxsize=4096)
def _constant(text: str, name: str) -> int | None:
    try:
        return constant(text, Language.C, name).value if name in text else None
    except SwzError:
        return None


def launched_blocks(source: str, constant_of: ConstantOf) -> dict[str, LaunchedBlock | None]:
    """The block of each kernel that is launched, by its name without namespace and template arguments.

    An extent is an integer expression of numbers, of the file's constants and macros, and of variables of the
    function that are set where they are declared and nowhere else. The block is None if a launch has something
    else, or if launches differ.

    >>> text = "const int W = 32; void f() { dim3 b(W, 4 * 2); ns::k<float><<<n / 2, b>>>(p); g<<<1, n>>>(); }"
    >>> launched_blocks(text, lambda name: constant_in((text,), name))
    {'k': LaunchedBlock(extents=(32, 8, 1), line=1, file=''), 'g': None}
    """
    text = read_c(source).code
    found: dict[str, LaunchedBlock | None] = {}
    others = {name for call in _OTHER.findall(text) for name in re.findall(r"\w+", call)}
    for number, begin in enumerate(re.finditer("<<<", text)):
        name = _launched(text, begin.start())
        if name is None:
            continue
        values = _Values(text, begin.start(), constant_of)
        extents = values.block(_second(text, begin.end())) if number < _MOST_LAUNCHES else None
        line = source.count("\n", 0, begin.start()) + 1
        first = found.setdefault(name, LaunchedBlock(extents, line) if extents and name not in others else None)
        if first is not None and first.extents != extents:
            found[name] = None
    return found


def _launched(text: str, end: int) -> str | None:
    """The kernel's name before `<<<`."""
    before = text[max(0, end - _MOST_LETTERS) : end].rstrip()
    if before.endswith(">"):
        depth = inner = 0
        for at in range(len(before) - 1, -1, -1):
            # What stands in parentheses may compare.
            inner += (before[at] == ")") - (before[at] == "(")
            depth += 0 if inner else (before[at] == ">") - (before[at] == "<")
            if not depth:
                before = before[:at].rstrip()
                break
    name = _NAME.search(before)
    return None if name is None else name[0]


def _second(text: str, begin: int) -> str:
    """The second of the values from an offset to `>>>`; empty if there is none."""
    end = text.find(">>>", begin, begin + _MOST_LETTERS)
    parts = parts_of(text[begin:end]) if end >= 0 else []
    return parts[1] if len(parts) > 1 else ""


@dataclass(frozen=True, slots=True)
class _Values:
    """What the names at a launch stand for."""

    code: str
    at: int
    constant_of: ConstantOf
    depth: int = 0
    known: dict[tuple[str, int, int], int | None] = field(default_factory=dict[tuple[str, int, int], int | None])
    """The values of names at places that were looked up already."""

    def block(self, text: str) -> BlockShape | None:
        """The three extents of a block; None if they are no numbers or no block."""
        extents = self._extents(text.strip())
        return block_shape(extents)

    def _extents(self, text: str) -> tuple[int, ...]:
        if made := _DIM3.fullmatch(text):
            values = [self._value(each) for each in parts_of(made[1])]
            return tuple(each for each in values if each is not None) if None not in values else ()
        if (value := self._value(text)) is not None:
            return (value,)
        declared = self._declared(text) if _NAME.match(text) else None
        return () if declared is None else declared[0]._extents(declared[1])

    def _value(self, text: str) -> int | None:
        """The value of an expression."""
        if not text.strip():
            return None
        try:
            tree = parse(text)
            names = {name: self._named(name) for name in tree.names}
            known = {name: each for name, each in names.items() if each is not None}
            return evaluate(tree, known) if len(known) == len(names) else None
        except SwzError:
            return None

    def _named(self, name: str) -> int | None:
        key = name, self.at, self.depth
        if key not in self.known:
            declared = self._declared(name)
            self.known[key] = self.constant_of(name) if declared is None else declared[0]._value(declared[1])
        return self.known[key]

    def _declared(self, name: str) -> tuple[_Values, str] | None:
        """The value that a variable is declared with, and where its names have theirs; None for no variable.

        The value is empty where there is none, or where something may write the variable.
        """
        found = declaration_at(self.code, name, self.at)
        if found is None:
            return None
        inner = replace(self, at=found.start, depth=self.depth + 1)
        return inner, "" if self.depth == _DEEPEST else value_of(self.code, name, found)
