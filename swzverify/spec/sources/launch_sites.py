"""Where a CUDA source launches kernels: `kernel<A, B><<<grid, block>>>`, also in the macros that it uses."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from typing import Final

from swzverify.spec.sources.scopes import parts_of, sets

_NAME: Final = re.compile(r"[A-Za-z_]\w*\Z", re.ASCII)
_WORD: Final = re.compile(r"\b[A-Za-z_]\w*", re.ASCII)
_MACRO: Final = re.compile(r"^[ \t\v]*#[ \t\v]*define[ \t\v]+(\w+)(?:\(([^()\n]*)\))?(.*)$", re.MULTILINE | re.ASCII)
_MOST_LETTERS: Final = 2000
"""Letters of a kernel's template arguments, of what stands between `<<<` and `>>>`, and of a macro's arguments."""
_MOST_USES: Final = 200
"""Of a macro with a launch; if there are more, its kernels have no block."""
_DEEPEST: Final = 4
"""Macros that use one another."""
_MOST_LAUNCHES: Final = 2000
"""Of a file; the kernels of further ones have no block."""


@dataclass(frozen=True, slots=True)
class LaunchSite:
    """A launch as it is written: a kernel's name without namespace, its template arguments, and its block.

    The names in these have the values that they have at the offset `at`. A launch in a macro has the text that
    a use of the macro makes of it.
    """

    kernel: str
    arguments: tuple[str, ...]
    block: str
    at: int


@dataclass(frozen=True, slots=True)
class _Macro:
    """A macro: its parameters, None if it takes none, and where its definition stands."""

    name: str
    parameters: tuple[str, ...] | None
    begin: int
    end: int


def launch_sites(code: str) -> list[LaunchSite]:
    """The launches in code without comments and literals, in order.

    >>> launch_sites("void f() { ns::k<float, 8><<<n / 2, dim3(32, 8)>>>(p); }")
    [LaunchSite(kernel='k', arguments=('float', '8'), block='dim3(32, 8)', at=26)]
    """
    return list(_sites(code))


def template_arguments(text: str) -> tuple[str, ...]:
    """The texts between commas that no brackets enclose, also none of `<` and `>`.

    >>> template_arguments("float, (N > 3), Pack<int, 4>")
    ('float', '(N > 3)', 'Pack<int, 4>')
    """
    angles = round_ = begin = 0
    parts = list[str]()
    for at, letter in enumerate(text):
        round_ += (letter in "([{") - (letter in ")]}")
        # What stands in other brackets may compare.
        angles += 0 if round_ else (letter == "<") - (letter == ">")
        if letter == "," and not round_ and not angles:
            parts.append(text[begin:at].strip())
            begin = at + 1
    return (*parts, last) if (last := text[begin:].strip()) or parts else ()


def _names(text: str | None) -> tuple[str, ...] | None:
    return None if text is None else tuple(each.strip() for each in text.split(","))


def _sites(code: str) -> Iterator[LaunchSite]:
    for number, found in enumerate(re.finditer("<<<", code)):
        written = _written(code, found.start(), found.end())
        if written is None:
            continue
        macro = _defined_around(code, found.start()) if number < _MOST_LAUNCHES else None
        # A macro that nothing uses here is used elsewhere.
        uses = [] if macro is None else list(islice(_uses(code, macro), _MOST_USES + 1))
        is_known = number < _MOST_LAUNCHES and len(uses) <= _MOST_USES
        is_known &= macro is None or len(_defined(code, macro.name)) == 1
        for bound, at in uses or [(dict[str, str](), found.start())]:
            kernel, arguments, block = (_replaced(each, bound) for each in written)
            # What the macro itself declares or writes has another value than where it is used.
            is_known &= macro is None or not any(
                sets(code, name, macro.begin, macro.end) for name in _WORD.findall(f"{arguments} {block}")
            )
            if _NAME.match(kernel):
                yield LaunchSite(kernel, template_arguments(arguments), block if is_known else "", at)


def _written(code: str, end: int, begin: int) -> tuple[str, str, str] | None:
    """The kernel's name, its template arguments and the block of the launch whose `<<<` is between two offsets."""
    before = code[max(0, end - _MOST_LETTERS) : end].rstrip()
    arguments = ""
    if before.endswith(">"):
        depth = inner = 0
        for at in range(len(before) - 1, -1, -1):
            # What stands in parentheses may compare.
            inner += (before[at] == ")") - (before[at] == "(")
            depth += 0 if inner else (before[at] == ">") - (before[at] == "<")
            if not depth:
                before, arguments = before[:at].rstrip(), before[at + 1 : -1]
                break
    name = re.search(r"(?:[A-Za-z_]\w*\s*##\s*)*[A-Za-z_]\w*(?:\s*##\s*\w+)*\Z", before, re.ASCII)
    if name is None:
        return None
    close = code.find(">>>", begin, begin + _MOST_LETTERS)
    parts = parts_of(code[begin:close]) if close >= 0 else []
    return name[0], arguments, parts[1].strip() if len(parts) > 1 else ""


def _uses(code: str, macro: _Macro, depth: int = 0) -> Iterator[tuple[dict[str, str], int]]:
    """What the parameters of a macro stand for at each of its uses, and where that is."""
    for begin, end in _places(code, macro.name) if depth < _DEEPEST else ():
        bound = None if macro.begin <= begin < macro.end else _bound(macro, code, end)
        if bound is None:
            continue
        outer = _defined_around(code, begin)
        if outer is None:
            yield bound, begin
            continue
        for further, at in _uses(code, outer, depth + 1):
            yield {name: _replaced(each, further) for name, each in bound.items()}, at


@lru_cache(maxsize=64)
def _defined(code: str, name: str) -> list[str]:
    """The directives that define or undefine a macro."""
    return re.findall(rf"^[ \t\v]*#[ \t\v]*(?:define|undef)[ \t\v]+{name}\b", code, re.MULTILINE | re.ASCII)


@lru_cache(maxsize=64)
def _places(code: str, name: str) -> list[tuple[int, int]]:
    """Where a word stands."""
    return [each.span() for each in re.finditer(rf"\b{name}\b", code, re.ASCII)]


def _bound(macro: _Macro, code: str, end: int) -> dict[str, str] | None:
    """The arguments of the use of a macro that ends at an offset; None where it is no use."""
    if macro.parameters is None:
        return {}
    opening = re.compile(r"[\s\v]*\(").match(code, end)
    if opening is None:
        return None
    depth, at = 1, opening.end()
    while depth and at < min(len(code), opening.end() + _MOST_LETTERS):
        depth += (code[at] == "(") - (code[at] == ")")
        at += 1
    given = [each.strip() for each in parts_of(code[opening.end() : at - 1])]
    return None if depth else dict(zip(macro.parameters, given, strict=False))


def _defined_around(code: str, at: int) -> _Macro | None:
    """The macro in whose definition an offset is."""
    line = code.rfind("\n", 0, at) + 1
    found = _MACRO.match(code, line)
    if found is None or found.end() < at:
        return None
    return _Macro(found[1], _names(found[2]), found.start(), found.end())


def _replaced(text: str, bound: Mapping[str, str]) -> str:
    """A text of a macro with what its parameters stand for."""
    made = re.sub(r"[A-Za-z_]\w*", lambda found: bound.get(found[0], found[0]), text, flags=re.ASCII)
    return re.sub(r"\s*##\s*", "", made)
