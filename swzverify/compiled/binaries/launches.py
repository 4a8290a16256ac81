"""The blocks of launches that stand in a CUDA source file in numbers: `kernel<<<grid, dim3(32, 8)>>>`.

The source is read as text. It is not compiled: a macro may launch another kernel than its text says,
and other files may launch the same kernels. What is found is a hint for an assumption, never a fact.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from swzverify.compiled.binaries.kinds import Kind, kind_of

_SKIPPED: Final = re.compile(
    r"//[^\n]*|/\*.*?(?:\*/|\Z)|\"(?:\\.|[^\"\\\n])*\"|(?<![0-9a-fA-F])'(?:\\.|[^'\\\n])*'", re.DOTALL
)
_NAME: Final = re.compile(r"[A-Za-z_]\w*\Z", re.ASCII)
_NUMBER: Final = r"\d{1,4}[uU]?(?:\s*\*\s*\d{1,4}[uU]?){0,3}"
_BLOCK: Final = re.compile(
    rf"\s*(?:dim3\s*[({{]\s*({_NUMBER}(?:\s*,\s*{_NUMBER}){{0,2}})\s*[)}}]|({_NUMBER}))\s*", re.ASCII
)
_MOST_LETTERS: Final = 2000
"""Letters of a kernel's template arguments, and of what stands between `<<<` and `>>>`."""


@dataclass(frozen=True, slots=True)
class LaunchedBlock:
    """The threads of a block that every launch of a kernel in a file states, and the first one's line."""

    extents: tuple[int, ...]
    line: int


def blocks_of_file(path: str) -> dict[str, LaunchedBlock]:
    """As `blocks_of_source`, of a CUDA source file; nothing of another file."""
    if kind_of(path)[0] is not Kind.SOURCE:
        return {}
    try:
        source = Path(path).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return {}
    return blocks_of_source(source)


def blocks_of_source(source: str) -> dict[str, LaunchedBlock]:
    """The block of each kernel, by its name without namespace and template arguments.

    A kernel is left out if a launch has something else than numbers, or if launches differ.

    >>> blocks_of_source("void f() { ns::k<float><<<n / 2, dim3(32, 4 * 2)>>>(p); g<<<1, n>>>(); }")
    {'k': LaunchedBlock(extents=(32, 8), line=1)}
    """
    text = _SKIPPED.sub(lambda found: " " + "\n" * found[0].count("\n"), source)
    found: dict[str, LaunchedBlock | None] = {}
    for begin in re.finditer("<<<", text):
        name = _launched(text, begin.start())
        if name is None:
            continue
        extents = _extents(text[begin.end() : begin.end() + _MOST_LETTERS])
        line = text.count("\n", 0, begin.start()) + 1
        first = found.setdefault(name, LaunchedBlock(extents, line) if extents else None)
        if first is not None and _whole(first.extents) != _whole(extents):
            found[name] = None
    return {name: each for name, each in found.items() if each is not None}


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


def _extents(text: str) -> tuple[int, ...]:
    """The second of the values up to `>>>` as numbers; empty if it is something else."""
    depth, parts, begin = 0, list[str](), 0
    for at, letter in enumerate(text):
        depth += (letter in "([{") - (letter in ")]}")
        is_end = text.startswith(">>>", at)
        if depth == 0 and (letter == "," or is_end):
            parts.append(text[begin:at])
            begin = at + 1
        if is_end or depth < 0:
            break
    found = _BLOCK.fullmatch(parts[1]) if len(parts) > 1 else None
    return tuple(map(_product, (found[1] or found[2]).split(","))) if found else ()


def _product(text: str) -> int:
    value = 1
    for each in text.split("*"):
        value *= int(each.strip().rstrip("uU"))
    return value


def _whole(extents: tuple[int, ...]) -> tuple[int, ...]:
    """The numbers with 1 for each that is left out; none for none."""
    return (*extents, 1, 1)[:3] if extents else ()
