"""What stands at a place of a spec's text: the path of keys, in a tree or in lines that are half typed."""

from __future__ import annotations

import re
from collections.abc import Sequence as Items
from dataclasses import dataclass
from typing import TypeAlias

from swzverify.spec.tree import Mapping, Node, Scalar, Sequence

Path: TypeAlias = "tuple[str | int, ...]"
_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]*")
_SIGNS = re.compile(r"^(\s*)(//[/!]?|#+|/\*[*!]?|\*(?!/))")
_KEY = re.compile(r"\s*([A-Za-z_][A-Za-z0-9_.-]*)\s*:(?=\s|$)")


@dataclass(frozen=True, slots=True)
class Found:
    """The keys above a place; `is_key` if a key stands there, the last one of the path."""

    path: Path
    is_key: bool


def found_at(node: Node, line: int, column: int, path: Path = ()) -> Found | None:
    """What stands at a place; None where nothing does.

    >>> from swzverify.spec.problems import Problems
    >>> from swzverify.spec.source import read_tree
    >>> tree = read_tree("tiles: {A: {element: f16}}", Problems("a.yaml"))
    >>> found_at(tree, 1, 22).path, found_at(tree, 1, 9).is_key
    (('tiles', 'A', 'element'), True)
    """
    match node:
        case Scalar():
            return Found(path, False) if _covers(node, line, column) else None
        case Sequence(items=items):
            found = (found_at(item, line, column, (*path, index)) for index, item in enumerate(items))
            return next((each for each in found if each is not None), None)
        case Mapping(entries=entries):
            for key, value in entries:
                if _covers(key, line, column):
                    return Found((*path, key.text), True)
                found = found_at(value, line, column, (*path, key.text))
                if found is not None:
                    return found
            return None


def _covers(scalar: Scalar, line: int, column: int) -> bool:
    return scalar.line == line and scalar.column <= column <= scalar.column + max(1, scalar.length)


def word_at(line: str, column: int) -> str:
    """The name that a column stands in.

    >>> word_at("layout: (BM,BK):(BK,1)", 14), word_at("a: 1", 4)
    ('BK', '')
    """
    found = (each for each in _WORD.finditer(line) if each.start() < column <= each.end() + 1)
    return next((each[0] for each in found), "")


def without_signs(line: str) -> str:
    """A line of a comment with blanks for its sign.

    >>> without_signs("  // tiles:")
    '     tiles:'
    """
    return _SIGNS.sub(lambda each: " " * len(each[0]), line, count=1)


@dataclass(frozen=True, slots=True)
class Typed:
    """What is typed at a place: the keys above it, the word so far, and whether a value or a key comes."""

    path: Path
    word: str
    is_value: bool


def typed_at(lines: Items[str], line: int, column: int) -> Typed:
    """What is typed, by indentation and open brackets: the text need be no YAML.

    >>> typed_at(["claims:", "  - conflict_free: re"], 2, 22)
    Typed(path=('claims', 0, 'conflict_free'), word='re', is_value=True)
    >>> typed_at(["tiles:", "  A: {element: f16, sw"], 2, 23)
    Typed(path=('tiles', 'A'), word='sw', is_value=False)
    """
    text = lines[line - 1][: column - 1]
    indent, own, rest = _dashes(text)
    steps, word, is_value = _in_line(rest)
    path = [*own, *steps]
    limit = indent if not own else len(text) - len(text.lstrip())
    may_be_equal = bool(own)
    for above in reversed(lines[: line - 1]):
        if limit == 0 and not may_be_equal:
            break
        bare = above.strip()
        if not bare or bare.startswith("#"):
            continue
        content, dashes, rest = _dashes(above)
        start = len(above) - len(above.lstrip())
        key = _KEY.match(rest)
        if dashes and content == limit and start < limit:  # an entry of the item that begins there
            path, limit, may_be_equal = [*dashes, *path], start, True
        elif (content < limit or (may_be_equal and content == limit and not dashes)) and key is not None:
            path = [*dashes, key[1], *path]
            limit, may_be_equal = start, bool(dashes)
    return Typed(tuple(path), word, is_value)


def _dashes(text: str) -> tuple[int, list[str | int], str]:
    """Where the content of a line begins, a step for each dash before it, and the content."""
    at = len(text) - len(text.lstrip())
    found = list[str | int]()
    while text[at : at + 2] == "- " or text[at:] == "-":
        found.append(0)
        at += 1
        at += len(text[at:]) - len(text[at:].lstrip())
    return at, found, text[at:]


def _in_line(text: str) -> tuple[list[str | int], str, bool]:
    """The keys that are open at the end of a piece of a line, the word there, and whether it is a value."""
    stack: list[list[str | int]] = [[]]
    word, is_value, in_list, quote = "", False, [False], ""
    for at, sign in enumerate(text):
        if quote:
            quote, word = ("", word) if sign == quote else (quote, word + sign)
        elif sign in "\"'" and not word:
            quote = sign
        elif sign in "{[":
            stack.append([0] if sign == "[" else [])
            in_list.append(sign == "[")
            word, is_value = "", sign == "["
        elif sign in "}]" and len(stack) > 1:
            stack.pop()
            in_list.pop()
            word, is_value = "", True
        elif sign == "," and len(stack) > 1:
            stack[-1] = [0] if in_list[-1] else []
            word, is_value = "", in_list[-1]
        elif sign == ":" and text[at + 1 : at + 2] in ("", " ") and not is_value:
            stack[-1] = [word.strip()]
            word, is_value = "", True
        else:
            word += sign
    return [step for level in stack for step in level], word.strip(), is_value
