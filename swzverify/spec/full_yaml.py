"""Any YAML 1.2 text to the tree, by ruamel.yaml's events, with every refused feature named at its place.

`quick_yaml` reads ordinary specs faster; what it does not know comes here, so that only this module says what is wrong.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Protocol, cast

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError

from swzverify.spec.problems import Problems
from swzverify.spec.tree import MAX_DEPTH, MAX_NODES, Mapping, Node, Place, Scalar, Sequence

_DIRECTIVE = re.compile(r"^%", re.MULTILINE)
_RUAMEL_FAULTS = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    LookupError,
    NotImplementedError,
    TypeError,
    ValueError,
)
"""What ruamel.yaml's own code runs into on some broken texts, in place of a `YAMLError`."""
_NO_ANCHORS = "specs have no anchors, aliases or merge keys; write the value out"


class _Mark(Protocol):
    line: int
    column: int
    index: int


class _Event(Protocol):
    """What is read of ruamel's events, which have no types of their own."""

    start_mark: _Mark
    end_mark: _Mark
    anchor: str | None
    tag: str | None
    value: str
    style: str | None
    flow_style: bool


class _Reader(Protocol):
    def parse(self, stream: str) -> Iterator[_Event]: ...


class _SyntaxFault(Protocol):
    """What is read of ruamel's `MarkedYAMLError`."""

    context: str | None
    context_mark: _Mark | None
    problem: str | None
    problem_mark: _Mark | None


class _Open:
    """A collection whose end has not come yet."""

    def __init__(self, event: _Event, *, is_mapping: bool) -> None:
        self.is_mapping = is_mapping
        self.line = event.start_mark.line + 1
        self.column = event.start_mark.column + 1
        self.in_flow = bool(event.flow_style)
        self.children: list[Node] = []


def read_full(text: str, problems: Problems) -> Node | None:
    """The tree of one YAML document, or None with the reason in `problems` (SWZ102, SWZ107, SWZ108).

    >>> read_full("a: [1, {b: c}]", Problems("x")).entries[0][0].text
    'a'
    """
    directive = _DIRECTIVE.search(text)
    if directive:
        place = _place_of_index(text, directive.start())
        problems.add("SWZ108", "YAML directives are not allowed", place, "leave out the line that begins with %")
        return None
    reader = cast("_Reader", YAML(typ="safe", pure=True))
    try:
        return _build(reader.parse(text), text, problems)
    except MarkedYAMLError as error:
        _note_syntax(cast("_SyntaxFault", error), problems)
    except YAMLError as error:
        problems.add("SWZ102", _unprintable(error), _place_of_index(text, getattr(error, "position", 0)))
    except _RUAMEL_FAULTS as error:
        problems.add("SWZ102", f"this is not YAML: {error or type(error).__name__}", Place(1, 1))
    return None


def _build(events: Iterator[_Event], text: str, problems: Problems) -> Node | None:
    """Fold the events into nodes without recursion, so that no depth of nesting can exhaust the stack."""
    stack: list[_Open] = []
    root: Node | None = None
    nodes = 0
    for event in events:
        node: Node
        match type(event).__name__:
            case "MappingStartEvent" | "SequenceStartEvent" as name:
                _refuse_features(event, text, problems)
                stack.append(_Open(event, is_mapping=name == "MappingStartEvent"))
                if len(stack) > MAX_DEPTH:
                    problems.add("SWZ107", f"nested deeper than {MAX_DEPTH} levels", _start(event))
                    return None
                continue
            case "MappingEndEvent" | "SequenceEndEvent":
                node = _close(stack.pop(), problems)
            case "ScalarEvent":
                _refuse_features(event, text, problems)
                node = _scalar(event, text, in_flow=bool(stack) and stack[-1].in_flow)
            case "AliasEvent":
                place = _start(event, len(event.anchor or "") + 1)
                problems.add("SWZ108", f"alias '*{event.anchor}' is not allowed", place, _NO_ANCHORS)
                node = Scalar(f"*{event.anchor}", True, place.line, place.column, place.length, in_flow=True)
            case "DocumentStartEvent":
                if root is not None:
                    problems.add("SWZ108", "a second document begins here", _start(event, 3), "one file holds one spec")
                    return None
                continue
            case _:
                continue
        nodes += 1
        if nodes > MAX_NODES:
            problems.add("SWZ107", f"more than {MAX_NODES} values and keys", _start(event))
            return None
        if stack:
            stack[-1].children.append(node)
        else:
            root = node
    return root


def _close(opened: _Open, problems: Problems) -> Node:
    if not opened.is_mapping:
        return Sequence(tuple(opened.children), opened.line, opened.column, opened.in_flow)
    entries: list[tuple[Scalar, Node]] = []
    for key, value in zip(opened.children[::2], opened.children[1::2], strict=True):
        if isinstance(key, Scalar):
            entries.append((key, value))
        else:
            problems.add("SWZ105", "a key must be a word, not a list or a mapping", key)
    return Mapping(tuple(entries), opened.line, opened.column, opened.in_flow)


def _scalar(event: _Event, text: str, *, in_flow: bool) -> Scalar:
    start, end = event.start_mark, event.end_mark
    plain = event.style is None
    length = end.index - start.index if start.line == end.line else 0
    written = text[start.index : end.index]
    column = start.column + 1
    if length and written == event.value:
        text_column = column
    elif length and written[1:-1] == event.value and not plain:
        text_column = column + 1
    else:
        text_column = 0
    return Scalar(event.value, plain, start.line + 1, column, length, text_column, in_flow)


def _refuse_features(event: _Event, text: str, problems: Problems) -> None:
    if event.anchor is not None:
        hint = _NO_ANCHORS
        if text[event.start_mark.index] == "&":
            hint += " (an expression that begins with & goes in quotes)"
        problems.add("SWZ108", f"anchor '&{event.anchor}' is not allowed", _start(event, len(event.anchor) + 1), hint)
    if event.tag is not None:
        hint = "specs have no tags; an expression that begins with ! goes in quotes or parentheses"
        problems.add("SWZ108", f"tag '{event.tag}' is not allowed", _start(event), hint)


def _start(event: _Event, length: int = 1) -> Place:
    return Place(event.start_mark.line + 1, event.start_mark.column + 1, length)


def _note_syntax(error: _SyntaxFault, problems: Problems) -> None:
    message = (error.problem or error.context or "not YAML").replace("'<scalar>'", "a value")
    mark = error.problem_mark or error.context_mark
    place = Place(mark.line + 1, mark.column + 1) if mark is not None else None
    hint = ""
    if "mapping values are not allowed" in message:
        message = "a ': ' inside a value is not allowed"
        hint = "put a value that holds ': ' (such as c ? a : b) in quotes"
    elif "'\\t'" in message or "\\t" in message:
        message = "a tab where YAML wants spaces"
        hint = "indent with spaces"
    elif "cannot start any token" in message:
        hint = "put a value that begins with this character in quotes"
    elif error.context:
        hint = error.context
        context = error.context_mark
        if context is not None and error.problem_mark is not None:
            hint += f" that begins at line {context.line + 1}, column {context.column + 1}"
    problems.add("SWZ102", message, place, hint)


def _unprintable(error: YAMLError) -> str:
    character = getattr(error, "character", None)
    return f"character U+{character:04X} is not allowed in YAML" if isinstance(character, int) else str(error)


def _place_of_index(text: str, index: int) -> Place:
    before = text[:index]
    return Place(before.count("\n") + 1, index - (before.rfind("\n") + 1) + 1)
