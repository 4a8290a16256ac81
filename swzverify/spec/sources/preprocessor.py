"""What the C preprocessor may do to a source: its macros, and the stretches that it may leave out.

Source: ISO/IEC 14882:2020, 15 (preprocessing directives); GCC 14, The C Preprocessor, 7
(`push_macro`, `pop_macro`).
"""

from __future__ import annotations

import bisect
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from swzverify.errors import SwzError
from swzverify.spec.sources.c_text import CText, Lines
from swzverify.spec.sources.definitions import NOT_CONSTANT, Definition

_DIRECTIVE = re.compile(r"[ \t\v]*#[ \t\v]*([a-z]*)([^\n]*)")
_WORD = re.compile(r"[A-Za-z_$][\w$]*")
_MACRO = re.compile(rf"[ \t\v]+({_WORD.pattern})(\(?)(.*)", re.DOTALL)
_CLOSED = re.compile(r"[A-Za-z_]\w*|[0-9][\w']*")
_OPENING = ("if", "ifdef", "ifndef")
_NEXT = ("elif", "else", "elifdef", "elifndef")
_SPLICES = r"(?:\\[ \t]*\n)*"
_POP = re.compile(rf"{_SPLICES.join('pop_macro')}\b(?:\s*\(\s*\\?\"({_WORD.pattern})\\?\")?")


@dataclass(frozen=True, slots=True)
class Directive:
    """A line that begins with `#`: its word, the rest, its offset, and its depth of conditions."""

    word: str
    rest: str
    offset: int
    depth: int

    @property
    def is_pragma(self) -> bool:
        """Whether it is an instruction to the compiler, which changes no text."""
        return self.word in ("pragma", "")


@dataclass(slots=True)
class Word:
    """A name that is a macro somewhere: where first, if always empty, if ever an open bracket."""

    line: int
    is_empty: bool = True
    opens: bool = False


@dataclass(frozen=True, slots=True)
class Preprocessed:
    """The code with blanks for directives.

    `words` are all names that are macros anywhere in it, `conditional` the offsets (from, to) of
    stretches under a condition, in order and apart; `balances` tells that every branch of a
    condition closes the braces that it opens.
    """

    code: str
    macros: tuple[Definition, ...]
    words: Mapping[str, Word]
    directives: tuple[Directive, ...]
    conditional: tuple[tuple[int, int], ...]
    balances: bool

    def is_conditional(self, offset: int) -> bool:
        """Whether the code there may be left out."""
        index = bisect.bisect_right(self.conditional, offset, key=lambda each: each[0]) - 1
        return index >= 0 and offset < self.conditional[index][1]

    def directives_in(self, start: int, end: int) -> Sequence[Directive]:
        """The directives between two offsets."""
        first = bisect.bisect_left(self.directives, start, key=lambda each: each.offset)
        return self.directives[first : bisect.bisect_left(self.directives, end, key=lambda each: each.offset)]

    def opening_macro(self) -> str:
        """A macro in use that opens or closes brackets on its own; '' where there is none."""
        opening = {name for name, word in self.words.items() if word.opens}
        if not opening:
            return ""
        bodies = (_WORD.sub("", each.rest, count=1) for each in self.directives if each.word == "define")
        used = (found[0] for text in (self.code, *bodies) for found in _WORD.finditer(text))
        return next((name for name in used if name in opening), "")


def preprocess(source: CText, popped: Mapping[str, int] | None = None) -> Preprocessed:
    r"""Take the directives out of `source.code`; `popped` has what `popped_macros` found.

    >>> from swzverify.spec.sources.c_text import read_c
    >>> preprocess(read_c("#define BK 64\nint x;\n")).macros[0].body
    '64'
    """
    code, lines, popped = source.code, Lines(source.code), popped or {}
    every = list(directives(code))
    guard = _include_guard(code, every)
    undefined = {found[0] for each in every if each.word == "undef" and (found := _WORD.search(each.rest))}
    changed = dict.fromkeys(undefined, "is undefined again by #undef")
    changed |= {name: f"is brought back by `pop_macro` at line {line}" for name, line in popped.items()}
    outer = 1 if guard else 0
    inner = [each for each in every if each not in guard]
    macros = [
        macro
        for each in inner
        if each.word == "define"
        for macro in _macro(each, lines.of(each.offset), each.depth > outer, changed)
    ]
    plain = "\n".join(re.sub(r"[^\v]", " ", line) if _DIRECTIVE.match(line) else line for line in code.split("\n"))
    return Preprocessed(
        plain,
        tuple(macros),
        _words(every, lines, popped),
        tuple(every),
        tuple(_stretches(inner, len(code))),
        _balances(plain, inner),
    )


def popped_macros(text: str, source: CText) -> dict[str, int]:
    r"""The macros that `pop_macro` brings back, with their lines; SWZ123 where it names none.

    >>> from swzverify.spec.sources.c_text import read_c
    >>> text = "#pragma pop_macro(\"BK\")\n"
    >>> popped_macros(text, read_c(text))
    {'BK': 1}
    """
    parts: list[str] = []
    at = 0
    for each in source.comments:
        parts += [text[at : each.start], re.sub(r"[^\n]", " ", text[each.start : each.end])]
        at = each.end
    found: dict[str, int] = {}
    plain = "".join((*parts, text[at:]))
    for each in _POP.finditer(plain):
        line = 1 + plain.count("\n", 0, each.start())
        if each[1] is None:
            message = f"it has a `pop_macro` at line {line} that names no macro"
            raise SwzError(NOT_CONSTANT, message, hint='write #pragma pop_macro("NAME"), or leave it out')
        found.setdefault(each[1], line)
    return found


def directives(code: str) -> Iterator[Directive]:
    """The directives of code without comments and literals, in order."""
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


def _stretches(directives: Iterable[Directive], end: int) -> Iterator[tuple[int, int]]:
    """From the first directive of every outermost condition to its last."""
    first: Directive | None = None
    for each in directives:
        if first is None and each.word in _OPENING:
            first = each
        elif first is not None and each.word == "endif" and each.depth <= first.depth:
            yield first.offset, each.offset
            first = None
    if first is not None:
        yield first.offset, end


def _balances(code: str, directives: Iterable[Directive]) -> bool:
    """Whether every branch of every condition closes each brace that it opens, and none before it."""
    steps = [(each.offset, each.word) for each in directives if each.word in (*_OPENING, *_NEXT, "endif")]
    if not steps:
        return True
    braces = [(found.start(), found[0]) for found in re.finditer(r"[{}]", code)]
    depth, bases = 0, [-len(braces)]
    for _, what in sorted((*steps, *braces)):
        depth += (what == "{") - (what == "}")
        if depth < bases[-1]:
            return False
        if what in _NEXT or what == "endif":
            if len(bases) > 1 and bases.pop() != depth:
                return False
            if what == "endif":
                continue
        if what in _OPENING or what in _NEXT:
            bases.append(depth)
    return all(base == depth for base in bases[1:])


def _words(directives: Iterable[Directive], lines: Lines, popped: Mapping[str, int]) -> dict[str, Word]:
    """Every name that some line makes a macro, under whatever condition."""
    words = {name: Word(line, is_empty=False) for name, line in popped.items()}
    for each in directives:
        macro = _MACRO.match(each.rest) if each.word == "define" else None
        if macro is None:
            continue
        word = words.setdefault(macro[1], Word(lines.of(each.offset)))
        word.is_empty &= not macro[2] and not macro[3].strip(" \t\v")
        word.opens |= not _closes(macro[2] + macro[3])
    return words


def _closes(text: str) -> bool:
    """Whether every brace and round bracket in it has its partner there."""
    for opening, closing in ("{}", "()"):
        depth = 0
        for char in text:
            depth += (char == opening) - (char == closing)
            if depth < 0:
                return False
        if depth:
            return False
    return True


def _macro(directive: Directive, line: int, is_conditional: bool, changed: Mapping[str, str]) -> Iterator[Definition]:
    macro = _MACRO.match(directive.rest)
    if macro is None:
        return
    name, takes_arguments, body = macro[1], bool(macro[2]), macro[3].strip(" \t\v")
    refusal = ""
    if takes_arguments:
        refusal = "is a macro with arguments"
    elif is_conditional:
        refusal = "is defined under a condition of the preprocessor"
    elif name in changed:
        refusal = changed[name]
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
