"""The tree of a spec file: scalars, mappings and sequences, each with its place in the text.

`yaml_tree` gives this form. It is YAML before any typing: a plain `32:1` is the text `32:1`, and
what a plain scalar stands for is decided here alone (`value_of`), by YAML 1.2's core schema with
two exceptions: a leading zero is refused, and octal, binary, infinite and not-a-number forms stay
text.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TypeAlias

MAX_DEPTH = 50
MAX_NODES = 20_000


@dataclass(frozen=True, slots=True)
class Place:
    """A stretch of one line: line and column count from 1, length in characters."""

    line: int
    column: int
    length: int = 1


@dataclass(frozen=True, slots=True)
class Scalar:
    """A scalar as it is written.

    Attributes:
        text: The text.
        plain: Whether it has no quotes.
        line: The line, from 1.
        column: The column, from 1.
        length: The number of characters in the file, quotes included; 0 if it spans several lines.
        text_column: The column of the text's first character if the text is on one line exactly as it
            is, else 0.
        in_flow: Whether it is inside brackets.
    """

    text: str
    plain: bool
    line: int
    column: int
    length: int = 0
    text_column: int = 0
    in_flow: bool = False


@dataclass(frozen=True, slots=True)
class Mapping:
    """Keys and values in the order of the file; a key that is given twice is still there twice."""

    entries: tuple[tuple[Scalar, Node], ...]
    line: int
    column: int
    in_flow: bool = False


@dataclass(frozen=True, slots=True)
class Sequence:
    """The items in order."""

    items: tuple[Node, ...]
    line: int
    column: int
    in_flow: bool = False


Node: TypeAlias = Scalar | Mapping | Sequence
Data: TypeAlias = "str | int | float | bool | list[Data] | dict[str, Data] | None"

_INTEGER = re.compile(r"[-+]?[0-9]+|0x[0-9a-fA-F]+")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_WORDS: dict[str, bool | None] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
_LONGEST_INTEGER = 24
"""Characters; Python refuses integers of thousands of digits, and no field takes over 32 bits."""


def place_of(node: Node | Place) -> Place:
    """Where a node begins, with the length of a scalar on one line; a place stays as it is.

    >>> place_of(Scalar("f16", True, 3, 12, length=3))
    Place(line=3, column=12, length=3)
    """
    if isinstance(node, Place):
        return node
    return Place(node.line, node.column, max(1, node.length) if isinstance(node, Scalar) else 1)


def has_leading_zero(scalar: Scalar) -> bool:
    """Whether the scalar is an integer such as `010`, which C reads as octal.

    >>> has_leading_zero(Scalar("010", True, 1, 1)), has_leading_zero(Scalar("0", True, 1, 1))
    (True, False)
    """
    digits = scalar.text.lstrip("+-")
    return scalar.plain and len(digits) > 1 and digits[0] == "0" and digits.isascii() and digits.isdigit()


def value_of(scalar: Scalar) -> str | int | float | bool | None:
    """What a scalar stands for: a plain integer, float, bool or null, and otherwise its text.

    >>> [value_of(Scalar(text, True, 1, 1)) for text in ("0x10", "32:1", "1.5", "~", "yes", "010")]
    [16, '32:1', 1.5, None, 'yes', '010']
    """
    text = scalar.text
    if not scalar.plain:
        return text
    if text in _WORDS:
        return _WORDS[text]
    if text[0] not in "-+.0123456789":
        return text
    if _INTEGER.fullmatch(text):
        fits = len(text) <= _LONGEST_INTEGER and not has_leading_zero(scalar)
        return int(text, 16 if text.startswith("0x") else 10) if fits else text
    if _FLOAT.fullmatch(text):
        return float(text)
    return text


def get(node: Node, *path: str | int) -> Node:
    """The node at a path of keys and indices; as far along the path as the tree goes.

    >>> tree = Mapping(((Scalar("a", True, 1, 1), Sequence((Scalar("x", True, 1, 5),), 1, 4)),), 1, 1)
    >>> get(tree, "a", 0).column, get(tree, "a", 7).column
    (5, 4)
    """
    for step in path:
        child = _child(node, step)
        if child is None:
            break
        node = child
    return node


def key_of(mapping: Node, name: str) -> Scalar | None:
    """The key node of a name in a mapping, or None.

    >>> key_of(Mapping(((Scalar("a", True, 4, 3), Scalar("1", True, 4, 6)),), 4, 3), "a").line
    4
    """
    if isinstance(mapping, Mapping):
        for key, _ in mapping.entries:
            if key.text == name:
                return key
    return None


def _child(node: Node, step: str | int) -> Node | None:
    match node:
        case Mapping(entries=entries):
            return next((value for key, value in entries if key.text == str(step)), None)
        case Sequence(items=items):
            return items[step] if isinstance(step, int) and 0 <= step < len(items) else None
        case Scalar():
            return None
