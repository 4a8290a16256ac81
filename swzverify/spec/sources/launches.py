"""The blocks of launches that stand in a CUDA source file: `kernel<<<grid, dim3(32, ROWS)>>>`.

The source is read as text. It is not compiled: a macro may launch another kernel than its text says,
a function may write a variable unseen, and other files may launch the same kernels. What is found is
a hint for an assumption that every verdict states, never a fact.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Final

from swzverify.compiled.kernel.special import BlockShape
from swzverify.compiled.scan.launch import LaunchedBlock, block_shape
from swzverify.errors import SwzError
from swzverify.ir.c_eval import evaluate
from swzverify.ir.c_parse import parse
from swzverify.spec.sources.c_text import read_c
from swzverify.spec.sources.constants import constant
from swzverify.spec.sources.languages import Language

ConstantOf = Callable[[str], int | None]
"""The value of a constant outside functions, by its name; None for what is none."""

_NAME: Final = re.compile(r"[A-Za-z_]\w*\Z", re.ASCII)
_DIM3: Final = re.compile(r"\s*dim3\s*[({](.*)[)}]\s*", re.ASCII | re.DOTALL)
_HEADER: Final = re.compile(r'^[ \t]*#[ \t]*include[ \t]*"([^"\n]+)"', re.MULTILINE)
_WORDS: Final = r"(?:(?:static|const|constexpr|unsigned|signed|int|long|short|size_t|u?int\d\d_t|auto|dim3)\s+)+"
_NO_TYPES: Final = frozenset(
    {"return", "else", "case", "goto", "throw", "new", "delete", "co_return", "typename"}
    | {"define", "undef", "ifdef", "ifndef", "defined"}
)
_WRITES: Final = r"\s*(?:=(?!=)|[-+*/%&|^]=|<<=|>>=|\+\+|--|\.\s*[xyz]\s*(?:[-+*/%&|^]|<<|>>)?=(?!=))"
_READERS: Final = frozenset(("dim3", "printf", "fprintf", "min", "max", "sizeof", "if", "while", "for", "return"))
"""What leaves a variable between round brackets as it is."""
_MOST_LETTERS: Final = 2000
"""Letters of a kernel's template arguments, of what stands between `<<<` and `>>>`, and of a call's arguments."""
_DEEPEST: Final = 8
"""Variables that are defined by one another."""
_SOURCES: Final = (".cu", ".cuh", ".h", ".hpp", ".cpp")
_MOST_HEADERS: Final = 20
_MOST_DECLARED: Final = 200
"""Places of a file that may declare a name."""


def blocks_of_files(paths: tuple[str, ...]) -> dict[str, LaunchedBlock]:
    """The blocks of the launches in several CUDA source files, as `blocks_of_source`; other files are skipped.

    The constants of a file are its own, else those of the headers that it names in quotes, else of the other files.
    """
    found: dict[str, LaunchedBlock | None] = {}
    files = {path: texts for path in dict.fromkeys(paths) if (texts := _texts_of(path))}
    for path, (source, *headers) in files.items():
        if "<<<" not in source:
            continue
        others = (text for of in files.values() for text in of)

        def value(name: str, texts: tuple[str, ...] = (source, *headers, *others)) -> int | None:
            return _first_or_only(name, texts)

        for name, each in _launches(source, value).items():
            block = None if each is None else replace(each, file=path)
            first = found.setdefault(name, block)
            if first is not None and (block is None or first.extents != block.extents):
                found[name] = None
    return {name: each for name, each in found.items() if each is not None}


@cache
def _texts_of(path: str) -> tuple[str, ...]:
    """A CUDA source file and the headers that it and these name in quotes; empty for another file."""
    if not path.lower().endswith(_SOURCES):
        return ()
    texts: dict[Path, str] = {}
    pending = [Path(path)]
    while pending and len(texts) <= _MOST_HEADERS:
        at = pending.pop(0)
        try:
            texts[at] = at.read_text(encoding="utf-8", errors="replace").replace("\r\n", "\n")
        except OSError:
            if not texts:
                return ()
            continue
        headers = [at.parent / each for each in _HEADER.findall(texts[at])]
        pending += [each for each in headers if each not in texts and each not in pending]
    return tuple(texts.values())


def _first_or_only(name: str, texts: tuple[str, ...]) -> int | None:
    """The value of a constant in the first text, else the only value that the others give it."""
    own = _constant(texts[0], name)
    found = {each for text in dict.fromkeys(texts[1:]) if (each := _constant(text, name)) is not None}
    return own if own is not None else found.pop() if len(found) == 1 else None


@cache
def _constant(text: str, name: str) -> int | None:
    try:
        return constant(text, Language.C, name).value if name in text else None
    except SwzError:
        return None


def blocks_of_source(source: str, constant_of: ConstantOf | None = None) -> dict[str, LaunchedBlock]:
    """The block of each kernel, by its name without namespace and template arguments.

    An extent is an integer expression of numbers, of the file's constants and macros, and of variables of the
    function that are set where they are declared and nowhere else. A kernel is left out if a launch has
    something else, or if launches differ.

    >>> text = "const int W = 32; void f() { dim3 b(W, 4 * 2); ns::k<float><<<n / 2, b>>>(p); g<<<1, n>>>(); }"
    >>> blocks_of_source(text)
    {'k': LaunchedBlock(extents=(32, 8, 1), line=1, file='')}
    """
    found = _launches(source, constant_of or (lambda name: _constant(source, name)))
    return {name: each for name, each in found.items() if each is not None}


def _launches(source: str, constant_of: ConstantOf) -> dict[str, LaunchedBlock | None]:
    """Each kernel that is launched, with its block; None where launches differ or one is no numbers."""
    text = read_c(source).code
    found: dict[str, LaunchedBlock | None] = {}
    for begin in re.finditer("<<<", text):
        name = _launched(text, begin.start())
        if name is None:
            continue
        extents = _Values(text, begin.start(), constant_of).block(_second(text, begin.end()))
        line = source.count("\n", 0, begin.start()) + 1
        first = found.setdefault(name, LaunchedBlock(extents, line) if extents else None)
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
    parts = _parts(text[begin:end]) if end >= 0 else []
    return parts[1] if len(parts) > 1 else ""


def _parts(text: str) -> list[str]:
    """The text between commas outside brackets; nothing where brackets do not balance."""
    depth, parts, begin = 0, list[str](), 0
    for at, letter in enumerate(text):
        depth += (letter in "([{") - (letter in ")]}")
        if depth < 0:
            return []
        if depth == 0 and letter == ",":
            parts.append(text[begin:at])
            begin = at + 1
    return [] if depth else [*parts, text[begin:]]


@dataclass(frozen=True, slots=True)
class _Values:
    """What the names at a launch stand for."""

    code: str
    at: int
    constant_of: ConstantOf
    depth: int = 0

    def block(self, text: str) -> BlockShape | None:
        """The three extents of a block; None if they are no numbers or no block."""
        extents = self._extents(text.strip())
        return block_shape(extents)

    def _extents(self, text: str) -> tuple[int, ...]:
        if made := _DIM3.fullmatch(text):
            values = [self._value(each) for each in _parts(made[1])]
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
        declared = self._declared(name)
        return self.constant_of(name) if declared is None else declared[0]._value(declared[1])

    def _declared(self, name: str) -> tuple[_Values, str] | None:
        """The value that a variable is declared with, and where its names have theirs; None for no variable.

        The value is empty where there is none, or where something may write the variable.
        """
        form = rf"\b({_WORDS})?(\w+)?(?:(?<=\w)\s+|(?<=\s)|\s*&\s*){name}\s*(=(?!=)|[({{,;)>[])"
        named = list(re.finditer(form, self.code[: self.at], re.ASCII))
        if len(named) > _MOST_DECLARED:
            return self, ""
        seen = [
            each
            for each in named
            if (each[1] or each[2]) and each[2] not in _NO_TYPES and _is_visible(self.code, each.end() - 1, self.at)
        ]
        if not seen:
            return None
        found, begin = seen[-1], seen[-1].end()
        inner = replace(self, at=found.start(), depth=self.depth + 1)
        if found[1] is None or found[2] or found[3] in ",;)>[" or self.depth == _DEEPEST:
            return inner, ""
        if found[3] == "=":
            end = self.code.find(";", begin)
            value = (_parts(self.code[begin:end]) or [""])[0]
        else:
            end = _closing(self.code, begin - 1)
            value = f"dim3({self.code[begin:end]})" if "dim3" in found[1] else self.code[begin:end]
        is_written = "const" not in found[1] and _may_write(name, self.code, end, _scope_end(self.code, end))
        return inner, "" if is_written else value


def _is_visible(code: str, declared: int, at: int) -> bool:
    """Whether a name that is declared at an offset is seen at a later one: the block around it, or its function's."""
    begin = declared
    if (head := _head_end(code, declared)) is not None:
        begin = code.find("{", head) + 1
        if not begin or ";" in code[head:begin] or begin > at:
            return False
    return _scope_end(code, begin) >= at


def _head_end(code: str, at: int) -> int | None:
    """Where the round brackets end, or the list of a template, that an offset is in; None if it is in none."""
    depth = 0
    for place in range(at, min(at + _MOST_LETTERS, len(code))):
        if code[place] in ";{}" and depth == 0:
            break
        depth += (code[place] == "(") - (code[place] == ")")
        if depth < 0:
            return place
    begin = max(0, at - _MOST_LETTERS)
    is_template = re.search(r"\btemplate\s*<[^;{}()]*\Z", code[begin : at + 1], re.ASCII)
    return at if is_template else None


def _closing(code: str, opening: int) -> int:
    """The bracket that closes the one at an offset; the end of the code if none does."""
    depth = 0
    for at in range(opening, len(code)):
        depth += (code[at] in "([{") - (code[at] in ")]}")
        if depth == 0:
            return at
    return len(code)


def _scope_end(code: str, begin: int) -> int:
    """Where the innermost block around an offset ends."""
    depth = 0
    for at in range(begin, len(code)):
        depth += (code[at] == "{") - (code[at] == "}")
        if depth < 0:
            return at
    return len(code)


def _may_write(name: str, code: str, begin: int, end: int) -> bool:
    """Whether anything in a stretch of code assigns a variable, takes its address, or gives it to a function."""
    scope = code[begin:end]
    if re.search(rf"\b{name}\b{_WRITES}|(?:\+\+|--|&)\s*{name}\b|>>\s*{name}\b(?!\s*[-+*/,)])", scope, re.ASCII):
        return True
    return any(called not in _READERS for called in _calls_with(name, scope))


def _calls_with(name: str, scope: str) -> Iterator[str]:
    """The functions that get a variable itself as an argument."""
    for found in re.finditer(rf"[(,]\s*{name}\s*(?=[,)])", scope, re.ASCII):
        depth = 0
        for at in range(found.start(), max(-1, found.start() - _MOST_LETTERS), -1):
            depth += (scope[at] == ")") - (scope[at] == "(")
            if scope.startswith("<<<", at) and depth == 0:
                break
            if depth < 0:
                called = _NAME.search(scope[:at].rstrip())
                # `dim3 block(8, n), grid(m, n)` makes each of values.
                made = re.search(r"\bdim3\s+([^;{}]*)\Z", scope[:at], re.ASCII)
                is_dim3 = made is not None and made[1].count("(") == made[1].count(")")
                yield "dim3" if is_dim3 or called is None else called[0]
                break
