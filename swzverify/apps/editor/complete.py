"""What may be typed at a place: keys and words of the schema, and names of the spec."""

from __future__ import annotations

from dataclasses import dataclass

from swzverify.apps.editor.document import Analysis
from swzverify.apps.editor.places import Path, typed_at, without_signs
from swzverify.apps.editor.schemas import keys_at, values_at
from swzverify.claims import KINDS
from swzverify.spec.sources.languages import language_of
from swzverify.spec.tree import Mapping, get

_SUBJECTS = ("tiles", "accesses", "maps", "operands", "phases", "listings")
_STEPS = ("barrier", "syncwarp", "commit", "wait_all")
_OF_LANES = ("lane", "warp", "tid", "tid_x", "tid_y", "tid_z")
_NAMED_BY = {"tile": "tiles", "access": "accesses", "map": "maps", "in": "memories", "operand": "operands"}
_EXPRESSIONS = frozenset({"coord", "address", "offset", "stage", "start", "at", "layout", "value", "shape", "bytes"})


@dataclass(frozen=True, slots=True)
class Completion:
    """A word that may be typed, with what it means; keys get a colon."""

    word: str
    detail: str = ""
    is_key: bool = False


def completions_at(text: str, path: str, line: int, column: int, known: Analysis | None) -> list[Completion]:
    """What may stand at a place of a text; names are those of the last text that was YAML."""
    lines = text.split("\n")
    if language_of(path) is not None:
        lines = [without_signs(each) for each in lines]
    typed = typed_at(lines, line, column)
    keys = [] if typed.is_value else [Completion(key, told, is_key=True) for key, told in keys_at(typed.path).items()]
    values = _values(typed.path, None if known is None else known.tree) if typed.is_value or not keys else []
    word = typed.word.split(" ")[-1]
    return [each for each in (*keys, *values) if each.word.startswith(word) or not word]


def _values(path: Path, tree: Mapping | None) -> list[Completion]:
    named = [Completion(name, f"of `{section}`") for section in _sections(path) for name in _names(tree, section)]
    keys = {step for step in path if isinstance(step, str)}
    words = [Completion(word, "a step") for word in _STEPS] if keys & {"steps", "before", "after"} else []
    if keys & _EXPRESSIONS:
        words += [Completion(name, "a constant") for name in _names(tree, "constants")]
        words += [Completion(name, "a name of `let`") for name in _names(tree, "let")]
        words += [Completion(name, "of a thread") for name in _OF_LANES if path[:1] == ("accesses",)]
    return [*named, *words, *(Completion(value) for value in values_at(path, samples=not named))]


def _sections(path: Path) -> tuple[str, ...]:
    """The sections whose names may stand at a path."""
    last = next((step for step in reversed(path) if isinstance(step, str)), "")
    if path[:1] == ("claims",):
        return (_NAMED_BY[last],) if last in _NAMED_BY else _SUBJECTS if last in KINDS or last in _SUBJECTS else ()
    if path[:1] == ("phases",) and last in ("steps", "before", "after", "access"):
        return ("accesses",)
    return (_NAMED_BY[last],) if last in _NAMED_BY else ()


def _names(tree: Mapping | None, section: str) -> list[str]:
    found = None if tree is None else get(tree, section)
    return [key.text for key, _ in found.entries] if isinstance(found, Mapping) and found is not tree else []
