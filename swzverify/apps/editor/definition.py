"""Where a name of a spec is defined: in the spec, or in the code that it reads."""

from __future__ import annotations

from dataclasses import dataclass

from swzverify.apps.editor.document import Analysis
from swzverify.apps.editor.places import found_at, word_at
from swzverify.errors import SwzError
from swzverify.spec.load import read_checked
from swzverify.spec.problems import Problems, TooManyProblems
from swzverify.spec.sources.languages import language_of
from swzverify.spec.tree import Mapping, Scalar, get, key_of

_SECTIONS = ("tiles", "accesses", "maps", "memories", "operands", "phases", "listings", "constants", "let")


@dataclass(frozen=True, slots=True)
class Definition:
    """A place in a file; the column and the length are those of the name."""

    file: str
    line: int
    column: int = 1
    length: int = 1


def definitions_at(analysis: Analysis, line: int, column: int) -> list[Definition]:
    """The definitions of the name at a place: one for each section that has it."""
    tree = analysis.tree
    found = None if tree is None else found_at(tree, line, column)
    if tree is None or found is None or (found.is_key and len(found.path) == 1):
        return []
    word = word_at(analysis.text.split("\n")[line - 1], column)
    keys = [_key(tree, section, word) for section in _wanted(found.path)]
    own = [Definition(analysis.path, key.line, key.column, key.length) for key in keys if key is not None]
    return [*own, *_in_code(analysis, word)]


def _wanted(path: tuple[str | int, ...]) -> tuple[str, ...]:
    """The sections to look in: those that a key names, or all."""
    last = next((step for step in reversed(path) if isinstance(step, str)), "")
    by_key = {"tile": ("tiles",), "access": ("accesses",), "in": ("memories",), "map": ("maps",)}
    return by_key.get(last, _SECTIONS)


def _key(tree: Mapping, section: str, name: str) -> Scalar | None:
    entries = get(tree, section)
    return None if entries is tree else key_of(entries, name)


def _in_code(analysis: Analysis, word: str) -> list[Definition]:
    """Where the code defines a constant that the spec reads."""
    if analysis.tree is None or get(analysis.tree, "from_source") is analysis.tree:
        return []
    try:
        found = read_checked(analysis.text, analysis.path, Problems(analysis.path), language_of(analysis.path))
    except (SwzError, TooManyProblems):
        return []
    read = () if found is None or found.constants is None else found.constants.read
    return [Definition(each.file, each.line) for each in read if each.name == word]
