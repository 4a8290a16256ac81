"""What the C preprocessor may do to a source: its macros, and the stretches that it may leave out.

Source: ISO/IEC 14882:2020, 15 (preprocessing directives).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from swzverify.sources.c_text import line_of
from swzverify.sources.definitions import Definition

_DIRECTIVE = re.compile(r"[ \t\v]*#[ \t\v]*([a-z]*)([^\n]*)")
_MACRO = re.compile(r"[ \t\v]+([A-Za-z_]\w*)(\(?)(.*)", re.DOTALL)
_CLOSED = re.compile(r"[A-Za-z_]\w*|[0-9][\w']*")
_OPENING = ("if", "ifdef", "ifndef")


@dataclass(frozen=True, slots=True)
class Directive:
    """A line that begins with `#`: its word, what follows, its offset, and how many conditions it lies under."""

    word: str
    rest: str
    offset: int
    depth: int


@dataclass(frozen=True, slots=True)
class Preprocessed:
    """The code with blanks for directives, and the offsets (from, to) of stretches under a condition."""

    code: str
    macros: tuple[Definition, ...]
    conditional: tuple[tuple[int, int], ...]

    def is_conditional(self, offset: int) -> bool:
        """Whether the code there may be left out."""
        return any(start <= offset < end for start, end in self.conditional)


def preprocess(code: str) -> Preprocessed:
    r"""Take the directives out of `CText.code`.

    >>> preprocess("#define BK 64\nint x;\n").macros[0].body
    '64'
    """
    directives = list(_directives(code))
    guard = _include_guard(code, directives)
    outer = 1 if guard else 0
    undefined = {each.rest.split()[0] for each in directives if each.word == "undef" and each.rest.split()}
    macros = [
        macro
        for each in directives
        if each.word == "define" and each not in guard
        for macro in _macro(each, line_of(code, each.offset), each.depth > outer, undefined)
    ]
    plain = "\n".join(re.sub(r"[^\v]", " ", line) if _DIRECTIVE.match(line) else line for line in code.split("\n"))
    return Preprocessed(plain, tuple(macros), tuple(_stretches(directives, len(code), outer)))


def _directives(code: str) -> Iterator[Directive]:
    at = depth = 0
    for line in code.split("\n"):
        found = _DIRECTIVE.match(line)
        if found is not None:
            word = found[1]
            depth -= word == "endif"
            yield Directive(word, found[2], at, depth)
            depth += word in _OPENING
        at += len(line) + 1


def _include_guard(code: str, directives: list[Directive]) -> list[Directive]:
    """The three lines of an include guard that is around all of the code; none where there is none."""
    if len(directives) < 3:
        return []
    first, second, last = directives[0], directives[1], directives[-1]
    names = (first.rest.strip(), second.rest.strip())
    if (first.word, second.word, last.word) != ("ifndef", "define", "endif") or names[0] != names[1]:
        return []
    inner = directives[1:-1]
    if last.depth != 0 or any(each.depth == 0 or (each.depth == 1 and each.word.startswith("el")) for each in inner):
        return []
    after = code.find("\n", last.offset)
    if code[: first.offset].strip() or (after >= 0 and code[after:].strip()):
        return []
    return [first, second, last]


def _stretches(directives: list[Directive], end: int, outer: int) -> Iterator[tuple[int, int]]:
    """Every branch of every condition but the include guard: between one of its directives and the next."""
    opened: list[int] = []
    for each in directives:
        if each.word in _OPENING and each.depth >= outer:
            opened.append(each.offset)
        elif opened and each.word in ("elif", "else", "endif", "elifdef", "elifndef"):
            yield opened.pop(), each.offset
            if each.word != "endif":
                opened.append(each.offset)
    yield from ((start, end) for start in opened)


def _macro(directive: Directive, line: int, is_conditional: bool, undefined: set[str]) -> Iterator[Definition]:
    macro = _MACRO.match(directive.rest)
    if macro is None:
        return
    name, takes_arguments, body = macro[1], bool(macro[2]), macro[3].strip(" \t\v")
    refusal = ""
    if takes_arguments:
        refusal = "is a macro with arguments"
    elif is_conditional:
        refusal = "is defined under a condition of the preprocessor"
    elif name in undefined:
        refusal = "is undefined again by #undef"
    elif not body:
        refusal = "is a macro without a value"
    elif not (_CLOSED.fullmatch(body) or _is_parenthesised(body)):
        refusal = "is a macro without parentheses, which means something else inside an expression"
    plain = None if refusal else body.replace("\v", " ")
    yield Definition(name, (), 0, line, directive.offset, plain, refusal, is_macro=True)


def _is_parenthesised(body: str) -> bool:
    depth = 0
    for index, char in enumerate(body):
        depth += (char == "(") - (char == ")")
        if depth == 0:
            return index == len(body) - 1 and index > 0
    return False
