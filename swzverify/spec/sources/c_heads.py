"""What a brace of C++ opens, by the text before it: a namespace, a class, a function, or neither.

Every step takes time in proportion to the text.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from swzverify.spec.sources.definitions import UNNAMED

_NAME = re.compile(r"[A-Za-z_]\w*")
_QUALIFIED = re.compile(r"[A-Za-z_]\w*(?:\s*::\s*[A-Za-z_]\w*)*")
_CLASS = re.compile(r"\b(?:struct|class|union)\b(.*)", re.DOTALL)
_ATTRIBUTE = re.compile(
    r"\b(?:__launch_bounds__|__cluster_dims__|__maxnreg__|__align__|__attribute__|__declspec|alignas|decltype|noexcept"
    r"|requires)\s*(?=\()"
)
_TEMPLATE = re.compile(r"\s*template\s*<")
_EXPLICIT = re.compile(r"\s*template\s*<\s*>")
_ARGUMENTS = "\x01"
"""Stands for template arguments behind a name: a specialisation, or a part of one, has them."""
_CONTROL = ("if", "constexpr", "for", "while", "switch", "catch", "do", "else", "try", "return")


@dataclass(frozen=True, slots=True)
class Head:
    """What stands before a brace or a semicolon.

    `names` are those that it adds to a scope. `counts` tells a class or function, of which there
    should be one of a name; `is_special` one that is a template's specialisation, in whatever scope
    the template is.
    """

    names: tuple[str, ...]
    is_class: bool = False
    counts: bool = False
    is_special: bool = False
    is_namespace: bool = False


def is_template(text: str) -> bool:
    """Whether it begins with `template <`."""
    return _TEMPLATE.match(text) is not None


def without_template(text: str) -> str:
    """The text behind `template <...>`, whose own brackets are counted but not understood.

    >>> without_template("template <int N, bool B = (N > 2)> struct S")
    ' struct S'
    """
    while _TEMPLATE.match(text):
        depth = end = 0
        for found in re.finditer(r"[<>()]", text):
            depth += {"<": 1, ">": -1, "(": 1000, ")": -1000}[found[0]] if depth < 1000 or found[0] in "()" else 0
            if depth == 0:
                end = found.end()
                break
        if not end:
            return text
        text = text[end:]
    return text


def without_brackets(text: str) -> str:
    """The text with a blank for every pair of round brackets and what it holds.

    >>> without_brackets("void f(int a = (3)) const")
    'void f  const'
    """
    return _replaced(text, _pairs(text, "(", ")"), " ")


def read_head(text: str) -> Head:
    """What a brace behind this text opens.

    >>> read_head("template <> struct n::S<2> : B<3> ").names, read_head("template <int N> void S<N>::f(int a) ").names
    (('n', 'S'), ('S', 'f'))
    """
    if not text.strip():
        return Head((UNNAMED,))
    plain = _without_attributes(without_template(text))
    words = _NAME.findall(plain)
    if "namespace" in words:
        behind = words[words.index("namespace") + 1 :]
        return Head(tuple(word for word in behind if word != "inline"), is_namespace=True)
    if words == ["extern"]:
        return Head(())
    plain, is_explicit = _without_arguments(plain), _EXPLICIT.match(text) is not None
    of_class = _CLASS.search(plain)
    if of_class is not None and "(" not in plain:
        return _class_head(re.split(r"(?<!:):(?!:)", of_class[1], maxsplit=1)[0], is_explicit)
    name = _function_name(plain.replace(_ARGUMENTS, ""))
    if not name or name in _CONTROL or "enum" in words:
        return Head((UNNAMED,))
    return Head(_parts(name), counts=True, is_special=is_explicit)


def _class_head(text: str, is_explicit: bool) -> Head:
    """The head of a class from the text between its keyword and its bases."""
    plain = re.sub(rf"{_ARGUMENTS}\s*::", "::", text)
    named = [found for found in _QUALIFIED.finditer(plain) if found[0] != "final"]
    if not named:
        return Head((UNNAMED,), is_class=True)
    has_arguments = plain[named[-1].end() :].lstrip().startswith(_ARGUMENTS)
    return Head(_parts(named[-1][0]), is_class=True, counts=True, is_special=is_explicit or has_arguments)


def _function_name(text: str) -> str:
    """The first name with a bracket behind it; '' where there is none."""
    for found in _QUALIFIED.finditer(text):
        if text[found.end() : found.end() + 80].lstrip().startswith("("):
            return found[0]
    return ""


def _without_attributes(text: str) -> str:
    """The text without attributes and other words that have brackets and are no function's name."""
    ends = dict(_pairs(text, "(", ")", inner=True))
    found = [(each.start(), ends[each.end()]) for each in _ATTRIBUTE.finditer(text) if each.end() in ends]
    return _replaced(text, found, " ")


def _without_arguments(text: str) -> str:
    """The text with a sign for every `<...>`, which hold template arguments in a head."""
    plain = text.replace("->", "  ").replace("operator<", "operator ")
    return _replaced(plain, _pairs(plain, "<", ">", stops=";{}"), _ARGUMENTS)


def _pairs(text: str, opening: str, closing: str, *, stops: str = "", inner: bool = False) -> list[tuple[int, int]]:
    """The first and last offsets of brackets that match; only outermost pairs without `inner`."""
    opened: list[int] = []
    pairs: list[tuple[int, int]] = []
    if opening not in text:
        return pairs
    for found in re.finditer(f"[{re.escape(opening + closing + stops)}]", text):
        if found[0] == opening:
            opened.append(found.start())
        elif found[0] == closing and opened:
            start = opened.pop()
            while not inner and pairs and pairs[-1][0] > start:
                pairs.pop()
            pairs.append((start, found.start()))
        elif found[0] in stops:
            opened.clear()
    return pairs


def _replaced(text: str, spans: list[tuple[int, int]], sign: str) -> str:
    """The text with a sign in place of every span; of nested spans the first counts."""
    parts: list[str] = []
    at = 0
    for start, end in spans:
        if start >= at:
            parts += [text[at:start], sign]
            at = end + 1
    return "".join((*parts, text[at:]))


def _parts(name: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in name.split("::"))
