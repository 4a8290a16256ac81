"""Integer constants of C, C++ and CUDA sources: `constexpr` and `const` integers, and macros, found by their text.

Nothing is compiled, and headers are not read: what the preprocessor could change (a definition under `#if`, a macro
that is undefined again) is refused, never guessed.

Source: ISO/IEC 14882:2020, 9.2 (specifiers), 9.4 (initialisers), 6.8.2 (integer types).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from swzverify.errors import SwzError
from swzverify.sources.c_text import line_of, read_c
from swzverify.sources.definitions import NOT_CONSTANT, UNNAMED, Definition
from swzverify.sources.preprocessor import Preprocessed, preprocess

_TOKEN = re.compile(r"[A-Za-z_$][\w$]*|[{}();:?]")
_SPECIFIERS = ("constexpr", "const", "static", "inline", "__device__", "__host__", r"\[\[\s*maybe_unused\s*\]\]")
_TYPES = (
    r"(?:std::)?u?int(?:8|16|32|64)_t",
    r"(?:std::)?(?:size_t|ptrdiff_t)",
    r"uint",
    r"(?:(?:unsigned|signed|long|short|int|char)\b\s*)+",
    r"auto",
)
_RUN = rf"(?:(?:{'|'.join(_SPECIFIERS)})(?![\w$])\s*)"
_HEAD = re.compile(
    rf"\s*({_RUN}*)({'|'.join(f'(?:{each})' for each in _TYPES)})(?![\w$:])\s*({_RUN}*)([A-Za-z_]\w*)\s*"
)
_VALUE = re.compile(r"=(?!=)\s*(.*)", re.DOTALL)
_NEXT = re.compile(r"\s*([A-Za-z_]\w*)\s*=(?!=)\s*(.*)", re.DOTALL)
_LOOSE = re.compile(r".*?[\w>\]*&]\s*\b([A-Za-z_]\w*)\s*(?:\[[^]]*\]\s*)*(?:=(?!=)|$)", re.DOTALL)
_QUALIFIED = r"(?:[A-Za-z_]\w*\s*::\s*)*[A-Za-z_]\w*"
_CLASS = re.compile(r"\b(?:struct|class|union)\b(.*)", re.DOTALL)
_FUNCTION = re.compile(rf"({_QUALIFIED})\s*\(")
_OTHERWISE_SPELT = re.compile(r"\?\?/|[/*]\\[ \t]*\n[ \t]*[/*]")
"""Trigraphs, and comment signs with a line end in them: what is a comment hangs on the compiler's version."""
_ATTRIBUTES = re.compile(
    r"\b(?:__launch_bounds__|__cluster_dims__|__maxnreg__|__align__|__attribute__|__declspec|alignas|decltype|noexcept"
    r"|requires)\s*\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)"
)
_BRACKETS = re.compile(r"\([^()]*\)")
_TEMPLATE = re.compile(r"\s*template\s*<")
_CONTROL = ("if", "constexpr", "for", "while", "switch", "catch", "do", "else", "try", "return")
_LONGEST_STATEMENT = 4000
"""Characters; a longer one is a table, and what is found nowhere is an error."""
_UNBALANCED = "stands in a file whose braces do not balance by themselves, so that its scope cannot be told"


@dataclass(slots=True)
class _Scope:
    """What an open brace stands for: the names it adds to a definition's scope, and whether it is a class.

    A brace inside a statement (a value's, a lambda's) has in `resume` where that statement began and its open brackets.
    """

    names: tuple[str, ...]
    place: int
    is_class: bool = False
    resume: tuple[int, int] | None = None
    counts: bool = False
    """Whether it is a class or a function, of which there should be one of a name."""


@dataclass(slots=True)
class _Walk:
    """The state between two tokens: open scopes, where the statement begins, round brackets open in it."""

    scopes: list[_Scope] = field(default_factory=list[_Scope])
    opened: Counter[tuple[str, ...]] = field(default_factory=Counter[tuple[str, ...]])
    """How often a class or a function of that full name was opened."""
    start: int = 0
    parens: int = 0
    places: int = 0


def c_definitions(text: str) -> list[Definition]:
    r"""Every definition of a source's text (plain line ends) that looks like an integer's, in its order.

    Errors: SWZ123 for a file whose comments hang on how it is compiled.

    >>> [(each.full_name, each.body) for each in c_definitions("struct A { static constexpr int BK = 2 * 32; };\n")]
    [('A::BK', '2 * 32')]
    """
    source = preprocess(read_c(text).code)
    odd = _OTHERWISE_SPELT.search(text)
    if odd is not None or "%:" in source.code:
        where = "" if odd is None else f" at line {text.count(chr(10), 0, odd.start()) + 1}"
        raise SwzError(NOT_CONSTANT, f"it spells comments or directives in a way that few read{where}", hint=_PLAINLY)
    found, opened, balances = _declared(source)
    judged = [_in_its_scope(each, opened, balances) for each in found]
    return sorted([*source.macros, *judged], key=lambda each: each.order)


_PLAINLY = "write `#`, `/*`, `//` and `\\` plainly"


def _in_its_scope(each: Definition, opened: Counter[tuple[str, ...]], balances: bool) -> Definition:
    """The definition, refused where its scope is not one: unbalanced braces, overloads, specialisations."""
    if each.body is None:
        return each
    if not balances:
        return replace(each, body=None, refusal=_UNBALANCED)
    again = next((each.scope[:end] for end in range(1, len(each.scope) + 1) if opened[each.scope[:end]] > 1), None)
    if again is None:
        return each
    return replace(each, body=None, refusal=f"stands in one of several definitions of '{'::'.join(again)}'")


def _declared(source: Preprocessed) -> tuple[list[Definition], Counter[tuple[str, ...]], bool]:
    """The definitions in statements; how often each class and function is opened; whether all braces have partners."""
    code, walk = source.code, _Walk()
    found: list[Definition] = []
    balances = all(_is_balanced(code[start:end]) for start, end in source.conditional)
    for token in _TOKEN.finditer(code):
        at = token.start()
        match token[0]:
            case "{":
                head = code[max(walk.start, at - _LONGEST_STATEMENT) : at]
                walk.places += 1
                inside = walk.parens > 0 or _is_value(head)
                resume = _Scope((UNNAMED,), walk.places, resume=(walk.start, walk.parens))
                opened = resume if inside else _opened(head, walk.places)
                walk.scopes.append(opened)
                walk.opened[_names(walk)] += opened.counts
                walk.start, walk.parens = at + 1, 0
            case "}":
                balances &= bool(walk.scopes)
                closed = walk.scopes.pop() if walk.scopes else _Scope((), 0)
                walk.start, walk.parens = closed.resume or (at + 1, 0)
            case ";" if walk.parens <= 0:
                found += _statement(source, walk, at)
                walk.start, walk.parens = at + 1, 0
            case "(" | ")":
                walk.parens += 1 if token[0] == "(" else -1
            case ":" if code[walk.start : at].strip() in ("public", "private", "protected", "default"):
                walk.start = at + 1
            case _:
                pass
    return found, walk.opened, balances and not walk.scopes


def _is_balanced(code: str) -> bool:
    depth = 0
    for char in code:
        depth += (char == "{") - (char == "}")
        if depth < 0:
            return False
    return depth == 0


def _is_value(head: str) -> bool:
    """Whether a brace behind this goes on with the statement: `int a[] = {`, `constexpr int b{`, `f = [] {`."""
    plain = _without_template(head)
    while (less := _BRACKETS.sub(" ", plain)) != plain:
        plain = less
    return ("=" in plain and "operator" not in plain) or bool(_HEAD.fullmatch(head))


def _without_template(head: str) -> str:
    """The text behind `template <...>`, whose own brackets are counted but not understood."""
    if not _TEMPLATE.match(head):
        return head
    depth = 0
    for found in re.finditer(r"[<>()]", head):
        depth += {"<": 1, ">": -1, "(": 1000, ")": -1000}[found[0]] if depth < 1000 or found[0] in "()" else 0
        if depth == 0:
            return _without_template(head[found.end() :])
    return head


def _opened(head: str, place: int) -> _Scope:
    """The scope of a brace, by the text before it."""
    plain = _ATTRIBUTES.sub(" ", _without_template(head))
    words = re.findall(r"[A-Za-z_]\w*", plain)
    if "namespace" in words:
        behind = words[words.index("namespace") + 1 :]
        return _Scope(tuple(word for word in behind if word != "inline"), place)
    if words == ["extern"]:
        return _Scope((), place)
    of_class = _CLASS.search(plain)
    if of_class is not None and "(" not in plain:
        named = [
            name for name in re.findall(_QUALIFIED, re.split(r"(?<!:):(?!:)|<", of_class[1])[0]) if name != "final"
        ]
        return _Scope(_parts(named[-1]) if named else (UNNAMED,), place, is_class=True, counts=bool(named))
    function = _FUNCTION.search(plain)
    if function is None or function[1] in _CONTROL or "enum" in words:
        return _Scope((UNNAMED,), place)
    return _Scope(_parts(function[1]), place, counts=True)


def _parts(name: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in name.split("::"))


def _statement(source: Preprocessed, walk: _Walk, end: int) -> Iterator[Definition]:
    """The definitions in the statement that ends there: `specifiers type name = value, name = value`."""
    if end - walk.start > _LONGEST_STATEMENT:
        return
    text = source.code[walk.start : end]
    head = _HEAD.match(text)
    if head is None or text[head.end() :][:1] not in ("=", "{"):
        yield from _refused(source, walk, text)
        return
    specifiers, kind = (head[1] + " " + head[3]).split(), head[2]
    refusal = _why_not(specifiers, walk)
    bodies = _bodies(head[4], text[head.end() :])
    if bodies is None:
        bodies, refusal = [(head[4], "", 0)], refusal or "has no value that can be read"
    if source.is_conditional(walk.start + head.start(4)):
        refusal = "is defined under a condition of the preprocessor"
    least, most, is_unsigned = _range(kind)
    for name, body, behind in bodies:
        offset = walk.start + head.end() + behind
        plain = None if refusal else " ".join(body.split())
        line = line_of(source.code, offset)
        yield Definition(
            name, _names(walk), _place(walk), line, offset, plain, refusal, False, is_unsigned, least, most
        )


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


def _why_not(specifiers: list[str], walk: _Walk) -> str:
    """Why a variable with these specifiers is no constant; '' where it is one."""
    if "constexpr" in specifiers:
        return ""
    if "const" not in specifiers:
        return "is a variable, neither constexpr nor const"
    if walk.scopes and walk.scopes[-1].is_class and "static" not in specifiers:
        return "is a member that a constructor may set: it is neither static nor constexpr"
    return ""


def _refused(source: Preprocessed, walk: _Walk, text: str) -> Iterator[Definition]:
    """A definition of another form, kept so that its name is not called unknown."""
    plain = _without_template(text)
    loose = _LOOSE.match(plain)
    if loose is None or ("=" not in plain and not re.search(r"\b(?:constexpr|const)\b", plain)):
        return
    offset = walk.start + len(text) - len(plain) + loose.start(1)
    refusal = "is a template" if plain != text else "is not declared as a plain integer with a value"
    yield Definition(loose[1], _names(walk), _place(walk), line_of(source.code, offset), offset, None, refusal)


def _names(walk: _Walk) -> tuple[str, ...]:
    return tuple(name for scope in walk.scopes for name in scope.names)


def _place(walk: _Walk) -> int:
    return walk.scopes[-1].place if walk.scopes else 0


def _range(kind: str) -> tuple[int, int, bool]:
    """The least and greatest value of a type that a spec's constant can have too, and whether it is unsigned."""
    words = kind.replace("std::", "").split()
    unsigned = "unsigned" in words or words[0].startswith("u") or words[0] == "size_t"
    bits = next((int(found[0]) for word in words if (found := re.search("8|16|32|64", word))), 32)
    bits = {"char": 8, "short": 16}.get(next((word for word in words if word in ("char", "short")), ""), bits)
    if words == ["char"]:
        return 0, 127, False  # signed on some machines, unsigned on others
    if unsigned:
        return 0, 2 ** min(bits, 32) - 1, True
    # `long` has 32 bits on some systems, and `auto` is what the value is: at most what an int holds
    return -(2 ** (min(bits, 32) - 1)), 2 ** (min(bits, 32) - 1) - 1, False
