"""Reads YAML: libyaml's events, by PyYAML, become the tree, each value with its place in the text.

The caps on depth, nodes and lengths are inside the loop, so that libyaml stops at the first event
that is too much. What specs do not have (anchors, aliases, merge keys, tags, directives, second
documents) is refused where it stands, and the reading goes on to the next mistake. `yaml_faults`
says what libyaml's own errors mean.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from importlib import import_module
from typing import NoReturn, Protocol, cast

import yaml

from swzverify.spec import yaml_faults as faults
from swzverify.spec.problems import Problems
from swzverify.spec.tree import MAX_DEPTH, MAX_NODES, Mapping, Node, Place, Scalar, Sequence, place_of

MAX_KEY_CHARACTERS = 100
MAX_SCALAR_CHARACTERS = 64 * 1024
LEAST_LIBYAML = (0, 2, 5)
"""Older ones read some texts otherwise, and a spec means the same everywhere."""

_DIRECTIVE = re.compile(r"^%", re.MULTILINE)
_GAP = re.compile(r"[ \t\n]*+(?:#[^\n]*+[ \t\n]*+)*")
_TO_TAB = re.compile(r"(?:[^\t#]++|#[^\n]*+)*\t")
_USUAL_KEY = re.compile(r"[A-Za-z0-9_.-]{1,100}")
_NOT_ASCII = re.compile(r"[^\x00-\x7f]")
_ONE_SPEC = "one file holds one spec"


class _Event(Protocol):
    """What is read of PyYAML's events; each kind has a part of it."""

    start_mark: faults.Mark
    end_mark: faults.Mark
    anchor: str | None
    tag: str | None
    value: str
    style: str
    flow_style: bool
    explicit: bool


class _Parse(Protocol):
    """PyYAML's `parse`, which has no types of its own."""

    def __call__(self, stream: str, Loader: type[yaml.CSafeLoader]) -> Iterator[_Event]: ...  # noqa: N803 - PyYAML's


class _Enough(Exception):  # noqa: N818 - no error by itself: what is wrong has been noted
    """The rest of the text is not worth reading."""


def read_yaml(text: str, problems: Problems) -> Node | None:
    """The tree of a text's one YAML document; None without one, or with the reason in `problems`.

    The reasons are SWZ101, SWZ102, SWZ107, SWZ108, SWZ111 and SWZ112. A key that is a list or a
    mapping is noted as SWZ105 and left out.

    >>> read_yaml("a: [1, {b: c}]", Problems("x")).entries[0][0].text
    'a'
    """
    missing = _missing()
    if missing:
        hint = "install PyYAML's wheel: python -m pip install --force-reinstall --only-binary pyyaml pyyaml"
        problems.add("SWZ101", f"cannot be read here: {missing}", None, hint)
        return None
    composer = _Composer(text, problems)
    try:
        composer.read()
    except yaml.MarkedYAMLError as error:
        faults.note_fault(cast("faults.Fault", error), text, problems)
    except yaml.YAMLError as error:
        problems.add("SWZ102", f"this is not YAML: {error}", Place(1, 1))
    except _Enough:
        pass
    else:
        return None if composer.refused else composer.root
    return None


def _missing() -> str:
    """What the reader lacks on this machine.

    PyYAML's own parser in Python accepts other texts, and takes a hundred times as long.
    """
    if not yaml.__with_libyaml__:
        return "PyYAML was installed without libyaml"
    found: tuple[int, ...] = import_module("yaml._yaml").get_version()
    if found >= LEAST_LIBYAML:
        return ""
    old, least = (".".join(map(str, version)) for version in (found, LEAST_LIBYAML))
    return f"PyYAML was built with libyaml {old}, older than {least}"


class _Composer:
    """Folds events into nodes, without recursion: no depth of nesting can exhaust the stack."""

    def __init__(self, text: str, problems: Problems) -> None:
        self.text = text
        self.problems = problems
        self.root: Node | None = None
        self.refused = False
        self.open: list[tuple[_Event, list[Node]]] = []  # in a mapping, keys and values take turns
        self.nodes = 0
        self.has_tabs = "\t" in text
        self.at = 0  # where the last event ended

    def read(self) -> None:
        """Go through all events."""
        directive = _DIRECTIVE.search(self.text)
        if directive is not None:
            hint = "leave out the line that begins with %"
            self.stop("SWZ108", "YAML directives are not allowed", self.place(directive.start()), hint)
        take: dict[type[object], Callable[[_Event], None]] = {
            yaml.ScalarEvent: self.scalar,
            yaml.MappingStartEvent: self.begin,
            yaml.SequenceStartEvent: self.begin,
            yaml.MappingEndEvent: self.end,
            yaml.SequenceEndEvent: self.end,
            yaml.AliasEvent: self.alias,
            yaml.DocumentStartEvent: self.begin_document,
            yaml.DocumentEndEvent: self.end_document,
        }
        parse = cast("_Parse", yaml.parse)  # pyright: ignore[reportUnknownMemberType]
        for event in parse(self.text, Loader=yaml.CSafeLoader):
            if self.has_tabs:
                self.check_tabs(event)
            if type(event) in take:
                take[type(event)](event)

    def place(self, index: int, length: int = 1) -> Place:
        """The place of a character."""
        return faults.index_place(self.text, index, length)

    def refuse(self, code: str, message: str, place: Place, hint: str) -> None:
        """Note what specs do not have: no tree comes of this text, but more mistakes may."""
        self.problems.add(code, message, place, hint)
        self.refused = True

    def stop(self, code: str, message: str, place: Place, hint: str = "") -> NoReturn:
        """Note what ends the reading."""
        self.problems.add(code, message, place, hint)
        raise _Enough

    def check_tabs(self, event: _Event) -> None:
        """Refuse tabs between values, save inside brackets, and in plain values.

        libyaml takes many of them for blanks, and others not: nobody sees which they are.
        """
        start, end = event.start_mark.index, event.end_mark.index
        if getattr(event, "anchor", None) or getattr(event, "tag", None):
            self.at = end  # refused already, and what is between it and its value counts as its own
            return
        style = getattr(event, "style", None)
        found = -1 if self.in_flow() else self.tab_of_gap(self.at, start)
        if found < 0 and style == "":
            found = self.text.find("\t", start, end)
        elif found < 0 and style is not None and style in "|>":
            found = self.tab_of_gap(start, self.text.find("\n", start))
        if found >= 0:
            self.stop("SWZ102", faults.TAB, self.place(found), faults.NO_TABS)
        self.at = max(self.at, end)

    def tab_of_gap(self, start: int, end: int) -> int:
        """Where the first tab stands that is not in a comment, or -1."""
        found = _TO_TAB.match(self.text, start, end)
        return -1 if found is None else found.end() - 1

    def in_flow(self) -> bool:
        """Whether the innermost open collection has brackets."""
        return bool(self.open) and self.open[-1][0].flow_style

    def begin_document(self, event: _Event) -> None:
        """A document begins, which only one may."""
        if self.root is not None:
            self.stop("SWZ108", "a second document begins here", self.place(event.start_mark.index, 3), _ONE_SPEC)

    def end_document(self, event: _Event) -> None:
        """The document ends; nothing but comments may stand behind its `...`."""
        rest = _GAP.match(self.text, event.end_mark.index) if event.explicit else None
        if rest is not None and rest.end() < len(self.text):
            self.stop("SWZ108", "a second document begins here", self.place(rest.end()), _ONE_SPEC)

    def count(self, event: _Event) -> None:
        """Count a node that begins, and refuse its anchor and tag, or the alias that it is."""
        self.nodes += 1
        if self.nodes > MAX_NODES:
            self.stop("SWZ107", f"more than {MAX_NODES} values and keys", self.place(event.start_mark.index))
        if event.anchor is None and event.tag is None:
            return
        self.refused = True
        index = event.start_mark.index
        for written in (event.anchor, getattr(event, "tag", None)):
            gap = None if written is None else _GAP.match(self.text, index)
            index = index if gap is None else faults.refuse_marked(self.text, gap.end(), self.problems)

    def put(self, node: Node) -> None:
        """Give a node to the collection that it stands in."""
        if not self.open:
            self.root = node
            return
        parent, children = self.open[-1]
        if isinstance(parent, yaml.MappingStartEvent) and len(children) % 2 == 0:
            self.check_key(node)
        children.append(node)

    def begin(self, event: _Event) -> None:
        """A list or mapping begins."""
        self.count(event)
        self.open.append((event, []))
        if len(self.open) > MAX_DEPTH:
            self.stop("SWZ107", f"nested deeper than {MAX_DEPTH} levels", self.place(event.start_mark.index))

    def end(self, _event: _Event) -> None:
        """A list or mapping ends."""
        begin, children = self.open.pop()
        line, column = begin.start_mark.line + 1, begin.start_mark.column + 1
        if isinstance(begin, yaml.MappingStartEvent):
            pairs = zip(children[::2], children[1::2], strict=True)
            entries = tuple([(key, value) for key, value in pairs if isinstance(key, Scalar)])
            self.put(Mapping(entries, line, column, begin.flow_style))
        else:
            self.put(Sequence(tuple(children), line, column, begin.flow_style))

    def alias(self, event: _Event) -> None:
        """Read on behind an alias, with a text in its place."""
        self.count(event)
        self.put(Scalar("*", True, event.start_mark.line + 1, event.start_mark.column + 1))

    def scalar(self, event: _Event) -> None:
        """A key or a value."""
        self.count(event)
        start, end, value = event.start_mark, event.end_mark, event.value
        line, column, plain = start.line + 1, start.column + 1, event.style == ""
        if len(value) > MAX_SCALAR_CHARACTERS:
            message = f"a text of {len(value)} characters: at most {MAX_SCALAR_CHARACTERS}"
            self.stop("SWZ107", message, Place(line, column))
        length = end.index - start.index if start.line == end.line else 0
        is_exact = length > 0 and (plain or self.text[start.index + 1 : end.index - 1] == value)
        text_column = (column if plain else column + 1) if is_exact else 0
        self.put(Scalar(value, plain, line, column, length, text_column, self.in_flow()))

    def check_key(self, key: Node) -> None:
        """Refuse merge keys, and keys that cannot be what they look like."""
        if not isinstance(key, Scalar):
            self.problems.add("SWZ105", "a key must be a word, not a list or a mapping", key)
        elif not _USUAL_KEY.fullmatch(key.text):
            place, other = place_of(key), _NOT_ASCII.search(key.text)
            if key.text == "<<" and key.plain:
                self.refuse("SWZ108", "merge key '<<' is not allowed", place, "write the keys out")
            elif len(key.text) > MAX_KEY_CHARACTERS:
                message = f"a key of {len(key.text)} characters: at most {MAX_KEY_CHARACTERS}"
                self.refuse("SWZ107", message, place, "a name or key is short")
            elif other is not None:
                place = Place(key.line, key.text_column + other.start()) if key.text_column else place
                hint = "letters of other alphabets can look like a to z; write keys and names in ASCII"
                self.refuse("SWZ112", f"a key holds U+{ord(other[0]):04X}, which is not ASCII", place, hint)
