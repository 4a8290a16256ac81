"""Integer constants of C, C++ and CUDA: `constexpr`, `const` and macros, found by their text.

Nothing is compiled, and headers are not read: what the preprocessor could change (a definition
under `#if`, a macro that is undefined again, a word of a definition that is a macro) is refused,
never guessed.

Source: ISO/IEC 14882:2020, 5.11 (keywords), 9.2 (specifiers), 9.4 (initialisers), 13.9.4 (explicit
specialisation).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from swzverify.errors import SwzError
from swzverify.spec.sources.c_heads import Head, is_template, read_head, without_brackets, without_template
from swzverify.spec.sources.c_spelling import refuse_odd_spelling
from swzverify.spec.sources.c_text import CText, Lines, Literal, read_c
from swzverify.spec.sources.c_types import TYPES, declared_at, names_in, range_of
from swzverify.spec.sources.definitions import NOT_CONSTANT, UNNAMED, Definition
from swzverify.spec.sources.preprocessor import Preprocessed, Word, popped_macros, preprocess

_TOKEN = re.compile(r"[A-Za-z_$][\w$]*|[{}();:?]")
_NAME = re.compile(r"[A-Za-z_$][\w$]*")
_SPECIFIERS = ("constexpr", "const", "static", "inline", "__device__", "__host__", r"\[\[\s*maybe_unused\s*\]\]")
_RUN = rf"(?:(?:{'|'.join(_SPECIFIERS)})(?![\w$])\s*)"
_HEAD = re.compile(rf"\s*({_RUN}*)({'|'.join(f'(?:{each})' for each in TYPES)})(?![\w$:])\s*({_RUN}*)([A-Za-z_]\w*)\s*")
_VALUE = re.compile(r"=(?!=)\s*(.*)", re.DOTALL)
_NEXT = re.compile(r"\s*([A-Za-z_]\w*)\s*=(?!=)\s*(.*)", re.DOTALL)
_LOOSE = re.compile(r".*?[\w>\]*&]\s*\b([A-Za-z_]\w*)\s*(?:\[[^]]*\]\s*)*(?:=(?!=)|$)", re.DOTALL)
_EXPLICIT_MEMBER = re.compile(r"\btemplate\s*<\s*>[^;{}=(]{0,400}::\s*([A-Za-z_]\w*)\s*[={;(]")
_REQUIRES = re.compile(r"(?:\brequires|&&|\|\||!)\s*\brequires\s*$")
_BLANKS = re.compile(r"\s*")
_LABELS = ("public", "private", "protected", "default")
_LONGEST_STATEMENT = 4000
"""Characters; a longer one is a table, and what is found nowhere is an error."""
_DEEPEST = 100
"""Scopes in one another that are told apart."""
_NAME_OTHERWISE = "give the macro another name"
_UNBALANCED = "stands in a file whose braces do not balance by themselves, so that its scope is unclear"

_KEYWORD_TEXT = (
    "alignas alignof and and_eq asm auto bitand bitor bool break case catch char char8_t char16_t char32_t class "
    "compl concept const consteval constexpr constinit const_cast continue co_await co_return co_yield decltype "
    "default delete do double dynamic_cast else enum explicit export extern false float for friend goto if inline int "
    "long mutable namespace new noexcept not not_eq nullptr operator or or_eq private protected public register "
    "reinterpret_cast requires return short signed sizeof static static_assert static_cast struct switch template "
    "this thread_local throw true try typedef typeid typename union unsigned using virtual void volatile wchar_t "
    "while xor xor_eq"
)
_KEYWORDS = frozenset(_KEYWORD_TEXT.split())
_RAW_PREFIXES = frozenset(("R", "LR", "uR", "UR", "u8R"))
_MAY_BE_EMPTY = frozenset(("__device__", "__host__"))
"""Words that hosts without CUDA define away."""


@dataclass(slots=True)
class _Scope:
    """What an open brace stands for, and where.

    A brace inside a statement (a value's, a lambda's) has in `resume` where that statement began
    and its open brackets.
    """

    head: Head
    place: int
    resume: tuple[int, int] | None = None
    path: tuple[str, ...] = ()
    """The names of this scope and of those around it."""


@dataclass(slots=True)
class _Walk:
    """The state between two tokens: open scopes, the statement's begin, its open round brackets."""

    scopes: list[_Scope] = field(default_factory=list[_Scope])
    opened: Counter[tuple[str, ...]] = field(default_factory=Counter[tuple[str, ...]])
    """How often a class or a function of that full name was opened."""
    special: set[tuple[str, ...]] = field(default_factory=set[tuple[str, ...]])
    """The full names of specialisations; an inline namespace may hold their template."""
    namespaces: set[tuple[str, ...]] = field(default_factory=set[tuple[str, ...]])
    start: int = 0
    parens: int = 0
    places: int = 0

    @property
    def path(self) -> tuple[str, ...]:
        """The names of all open scopes."""
        return self.scopes[-1].path if self.scopes else ()

    @property
    def place(self) -> int:
        """The number of the innermost scope."""
        return self.scopes[-1].place if self.scopes else 0


def c_definitions(text: str) -> list[Definition]:
    r"""Every definition in a text that looks like an integer's, in order; line ends are plain.

    Raises:
        SwzError: SWZ123 for a file that means one thing to this reader and may mean another to a
            compiler.

    >>> [(each.full_name, each.body) for each in c_definitions("struct A { static constexpr int BK = 2 * 32; };\n")]
    [('A::BK', '2 * 32')]
    """
    taken_apart = read_c(text)
    refuse_odd_spelling(text, taken_apart)
    source = preprocess(taken_apart, popped_macros(text, taken_apart))
    _refuse_keyword_macros(source, taken_apart)
    reading = _Reading(source, Lines(source.code))
    reading.read()
    judged = [reading.judged(each) for each in reading.found]
    return sorted([*source.macros, *judged], key=lambda each: each.order)


def _refuse_keyword_macros(source: Preprocessed, taken_apart: CText) -> None:
    """SWZ123 where a keyword is a macro: no statement of the file then says what it seems to."""
    has_raw = any(kind is Literal.RAW for _, _, kind in taken_apart.literals)
    forbidden = _KEYWORDS | _RAW_PREFIXES if has_raw else _KEYWORDS
    for name, word in source.words.items():
        if name in forbidden:
            what = "the keyword" if name in _KEYWORDS else "a raw string's prefix"
            message = (
                f"it makes {what} '{name}' a macro at line {word.line}, so that its statements are not what they seem"
            )
            raise SwzError(NOT_CONSTANT, message, hint=_NAME_OTHERWISE)


def _is_value(head: str) -> bool:
    """Whether a brace after this continues the statement: `int a[] = {`, `int b{`, `f = [] {`."""
    if not head.strip():
        return False
    plain = without_brackets(without_template(head))
    if _REQUIRES.search(plain):
        return True
    return ("=" in plain and "operator" not in plain) or bool(_HEAD.fullmatch(head))


@dataclass(slots=True)
class _Reading:
    """The definitions in a source's statements, and what is known of the file once read."""

    source: Preprocessed
    lines: Lines
    found: list[Definition] = field(default_factory=list[Definition])
    walk: _Walk = field(default_factory=_Walk)
    unbalanced: str = ""
    respecified: set[str] = field(default_factory=set[str])
    """Members that `template <>` gives another value."""
    declared: dict[str, int | None] = field(default_factory=dict[str, int | None])
    """Whether the file itself declares the name of a type, and where."""
    scopes: dict[tuple[str, ...], tuple[str, str]] = field(default_factory=dict[tuple[str, ...], tuple[str, str]])
    """What is wrong with a scope, and what to do about it."""

    def read(self) -> None:
        """Go through the code once."""
        code, walk = self.source.code, self.walk
        self.respecified = {found[1] for found in _EXPLICIT_MEMBER.finditer(code)}
        balances = self.source.balances
        self._begin(0)
        for token in _TOKEN.finditer(code):
            at = token.start()
            match token[0]:
                case "{":
                    self._open(at)
                case "}":
                    balances &= bool(walk.scopes)
                    resume = walk.scopes.pop().resume if walk.scopes else None
                    self._begin(at + 1)
                    walk.start, walk.parens = resume or (walk.start, 0)
                case ";" if walk.parens <= 0:
                    self.found += self._statement(at)
                    self._begin(at + 1)
                case "(" | ")":
                    walk.parens += 1 if token[0] == "(" else -1
                case ":" if at - walk.start < _LONGEST_STATEMENT and code[walk.start : at].strip() in _LABELS:
                    self._begin(at + 1)
                case _:
                    pass
        opening = self.source.opening_macro()
        if opening:
            self.unbalanced = (
                f"stands in a file whose macro '{opening}' opens or closes brackets, so that its scope is hidden"
            )
        elif not balances or walk.scopes:
            self.unbalanced = _UNBALANCED

    def _begin(self, at: int) -> None:
        """Begin a statement at the next character that is no blank, comment or directive."""
        blanks = _BLANKS.match(self.source.code, at)
        self.walk.start, self.walk.parens = at if blanks is None else blanks.end(), 0

    def _open(self, at: int) -> None:
        """Take in an opening brace."""
        code, walk = self.source.code, self.walk
        start = max(walk.start, at - _LONGEST_STATEMENT)
        head = code[start:at]
        walk.places += 1
        if walk.parens > 0 or _is_value(head):
            opened, resume = Head((UNNAMED,)), (walk.start, walk.parens)
        else:
            opened, resume = self._named(head, start), None
        path = (*walk.path, *opened.names) if len(walk.path) < _DEEPEST else (UNNAMED,)
        walk.scopes.append(_Scope(opened, walk.places, resume, path))
        self._begin(at + 1)
        self._count(opened, path)

    def _named(self, head: str, start: int) -> Head:
        """What a brace opens; without a name where the preprocessor may choose among several."""
        plain = without_template(head).lstrip()
        first, behind = start + len(head) - len(plain), plain.find("(")
        end = start + len(head) if behind < 0 else first + behind
        if any(not each.is_pragma for each in self.source.directives_in(first, end)):
            return Head((UNNAMED,))
        return read_head(head)

    def _count(self, opened: Head, path: tuple[str, ...]) -> None:
        """Note that a class, function or namespace of that full name is there."""
        if opened.counts:
            self.walk.opened[path] += 1
        if opened.is_special:
            self.walk.special.add(path)
        if opened.is_namespace:
            self.walk.namespaces.add(path)

    def _statement(self, end: int) -> Iterator[Definition]:
        """The definitions in a statement: `specifiers type name = value, name = value`."""
        walk = self.walk
        if end - walk.start > _LONGEST_STATEMENT:
            return
        text = self.source.code[walk.start : end]
        head = _HEAD.match(text)
        if head is None or text[head.end() :][:1] not in ("=", "{"):
            if is_template(text):
                self._count_declared(text)
            yield from self._refused(text)
            return
        refusal, hint = self._why_not(text, head, end)
        bodies = _bodies(head[4], text[head.end() :])
        if bodies is None:
            bodies, refusal = [(head[4], "", 0)], refusal or "has no value that can be read"
        for name, body, behind in bodies:
            offset = walk.start + head.end() + behind
            yield self._definition(name, body, offset, head[2], (refusal, hint))

    def _definition(self, name: str, body: str, offset: int, kind: str, why_not: tuple[str, str]) -> Definition:
        """The definition of one name by a statement of the innermost scope."""
        refusal, hint = why_not
        held = range_of(kind)
        each = Definition(
            name,
            self.walk.path,
            self.walk.place,
            self.lines.of(offset),
            offset,
            None if refusal else " ".join(body.split()),
            refusal,
            is_unsigned=held.is_unsigned,
            is_wide=None if kind.strip() == "auto" else held.is_wide,
            least=held.least,
            most=held.most,
            hint=hint,
        )
        return each if each.body is None else self._unless_macro(each)

    def _unless_macro(self, each: Definition) -> Definition:
        """The definition, refused where its name is a macro somewhere in the file."""
        word = self.source.words.get(each.name)
        if word is None:
            return each
        return replace(each, body=None, refusal=f"is a macro too (line {word.line})", hint=_NAME_OTHERWISE)

    def _count_declared(self, text: str) -> None:
        """A specialisation that is declared here and defined elsewhere is one more of its name."""
        declared = read_head(text)
        if declared.counts and declared.is_special:
            self._count(declared, (*self.walk.path, *declared.names))

    def _why_not(self, text: str, head: re.Match[str], end: int) -> tuple[str, str]:
        """Why a variable is no constant, and what to do about it; two empty texts where it is one."""
        walk, source = self.walk, self.source
        specifiers = (head[1] + " " + head[3]).split()
        inside = source.directives_in(walk.start, end)
        words = _NAME.findall(text[: head.start(4)])
        macro = next((name for name in words if _changes(name, source.words.get(name))), "")
        alias = next((name for name in names_in(head[2]) if self._is_declared(name)), "")
        if source.is_conditional(walk.start + head.start(4)):
            return "is defined under a condition of the preprocessor", ""
        if inside:
            line = self.lines.of(inside[0].offset)
            return f"has a directive of the preprocessor inside it, at line {line}", "write the definition in one piece"
        if macro:
            line = source.words[macro].line
            return f"is declared with '{macro}', which is a macro here (line {line})", "write out what it stands for"
        if alias:
            return f"is declared with '{alias}', {self._where_declared(alias)}", "write the type with keywords"
        if "constexpr" in specifiers:
            return "", ""
        if "const" not in specifiers:
            return "is a variable, neither constexpr nor const", ""
        if walk.scopes and walk.scopes[-1].head.is_class and "static" not in specifiers:
            return "is a member that a constructor may set: it is neither static nor constexpr", ""
        return "", ""

    def _is_declared(self, name: str) -> bool:
        """Whether any part of this file declares the name of a type."""
        if name not in self.declared:
            self.declared[name] = declared_at(self.source.code, name)
        return self.declared[name] is not None or any(name in path[1:] for path in self.walk.namespaces)

    def _where_declared(self, name: str) -> str:
        at = self.declared[name]
        where = "" if at is None else f" (line {self.lines.of(at)})"
        return f"which this file declares itself{where}"

    def _refused(self, text: str) -> Iterator[Definition]:
        """A definition of another form, kept so that its name is not called unknown."""
        plain = without_template(text)
        loose = _LOOSE.match(plain)
        if loose is None or ("=" not in plain and not re.search(r"\b(?:constexpr|const)\b", plain)):
            return
        offset = self.walk.start + len(text) - len(plain) + loose.start(1)
        refusal = "is a template" if plain != text else "is not declared as a plain integer with a value"
        yield Definition(loose[1], self.walk.path, self.walk.place, self.lines.of(offset), offset, None, refusal)

    def judged(self, each: Definition) -> Definition:
        """The definition, refused for an unclear scope: braces, overloads, specialisations."""
        if each.body is None:
            return each
        if self.unbalanced:
            return replace(each, body=None, refusal=self.unbalanced, hint="write every bracket out, in every branch")
        if each.scope not in self.scopes:
            self.scopes[each.scope] = self._why_no_scope(each.scope)
        refusal, hint = self.scopes[each.scope]
        if refusal:
            return replace(each, body=None, refusal=refusal, hint=hint)
        if each.scope and each.name in self.respecified:
            return replace(each, body=None, refusal="is a member that `template <>` gives a value of its own")
        return each

    def _why_no_scope(self, scope: tuple[str, ...]) -> tuple[str, str]:
        """Why a scope is not the one of its name, and what to do; two empty texts where it is."""
        walk = self.walk
        for end in range(1, len(scope) + 1):
            path = scope[:end]
            shown, word = "::".join(path), self.source.words.get(path[-1])
            if walk.opened[path] > 1 or any(path[start:] in walk.special for start in range(1, end)):
                return f"stands in one of several definitions of '{shown}'", ""
            if word is not None:
                return f"stands in '{shown}', which is a macro too (line {word.line})", _NAME_OTHERWISE
        return "", ""


def _changes(name: str, word: Word | None) -> bool:
    """Whether a word of a definition is a macro that may stand for something."""
    return word is not None and not (word.is_empty and name in _MAY_BE_EMPTY)


def _bodies(name: str, rest: str) -> list[tuple[str, str, int]] | None:
    """The names of one statement with the texts of their values and where these begin in `rest`.

    None where one has neither `= value` nor `{value}`.
    """
    if rest.startswith("{"):
        plain = rest.strip()
        return [(name, plain[1:-1], 0)] if plain.endswith("}") and plain.count("{") == 1 else None
    bodies: list[tuple[str, str, int]] = []
    for start, piece in _pieces(rest):
        found = _NEXT.fullmatch(piece) if bodies else _VALUE.fullmatch(piece.strip())
        if found is None or "{" in piece:
            return None
        bodies.append((found[1], found[2], start + found.start(1)) if bodies else (name, found[1], start))
    return bodies


def _pieces(text: str) -> list[tuple[int, str]]:
    """The text between commas that no round bracket encloses, each with its offset."""
    pieces: list[tuple[int, str]] = []
    depth = start = 0
    for index, char in enumerate(text):
        depth += (char == "(") - (char == ")")
        if char == "," and depth == 0:
            pieces.append((start, text[start:index]))
            start = index + 1
    return [*pieces, (start, text[start:])]
