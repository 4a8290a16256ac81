"""The part of YAML that specs are written in, read in a tenth of ruamel's time.

Block mappings and sequences, flow ones on one line or several, plain scalars (continued on further lines too), quoted
ones without escapes, `|` and `>` blocks of even indentation, comments. `read_quick` returns None for everything else,
wrong text included: `full_yaml` then reads the file anew and says what is wrong. Where this module does return a tree
it is the very tree of `full_yaml`, places included; the tests hold the two against each other.
"""

from __future__ import annotations

import re
from contextlib import suppress

from swzverify.spec.tree import MAX_DEPTH, MAX_NODES, Mapping, Node, Scalar, Sequence

_KEY = re.compile(r"([A-Za-z_<][A-Za-z0-9_.<-]*):(?= |$)")
_UNKNOWN = re.compile(r"[^\n -~\u00a0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd]|^(?:---|\.\.\.|%)", re.MULTILINE)
_FIRST = r"(?:[A-Za-z0-9_(.~/\\$^;<=)+]|-(?=[A-Za-z0-9_(.~]))"
_PLAIN = re.compile(rf"{_FIRST}(?:[^:# ]|:(?=[^ ])| ++(?=[^ #])|(?<=[^ ])#)*")
_MORE = re.compile(r"(?:[^:# ]|:(?=[^ ])| ++(?=[^ #])|(?<=[^ ])#)+")
_FLOW_PLAIN = re.compile(rf"{_FIRST}(?:[^:#,?\[\]{{}} ]|:(?=[^ ,\[\]{{}}])| ++(?=[^ #,:?\[\]{{}}])|(?<=[^ ])#)*")
_SINGLE = re.compile(r"'([^']*)'(?!')")
_DOUBLE = re.compile(r'"([^"\\]*)"')
_REST = re.compile(r" *(?: #.*)?")


class _UnknownTextError(Exception):
    """The text holds something that only the full reader knows (or can complain about)."""


def read_quick(text: str) -> Node | None:
    r"""The tree of a text in the part of YAML that this module knows, else None.

    >>> read_quick("a: [1, {b: c}]\n").entries[0][0].text
    'a'
    >>> read_quick("a: &anchor 1\n") is None
    True
    """
    return _read(text)[0]


def quick_stop(text: str) -> int:
    r"""The line at which `read_quick` gives a text up, from 1.

    >>> quick_stop("a: 1\nb: 'x\\n'\nc: \\\"\nd: &e f\n")
    4
    """
    return _read(text)[1]


def _read(text: str) -> tuple[Node | None, int]:
    """The tree, and the line where the reading ended."""
    unknown = _UNKNOWN.search(text)
    if unknown:
        return None, text.count("\n", 0, unknown.start()) + 1
    reader = _Reader(text)
    root: Node | None = None
    with suppress(_UnknownTextError):
        indent = reader.next_line()
        if indent >= 0:
            root = reader.block(indent, 1)
            if reader.next_line() >= 0:
                root = None
    return root, min(reader.line + 1, len(reader.lines))


def _past_spaces(line: str, column: int) -> int:
    """The first column from `column` on that is not a space; the line's length where there is none."""
    while column < len(line) and line[column] == " ":
        column += 1
    return column


class _Reader:
    """A cursor over the lines: `line` is the index of the current one, `column` the place in it (both from 0)."""

    def __init__(self, text: str) -> None:
        self.lines = text.split("\n")
        self.line = 0
        self.column = 0
        self.nodes = 0

    # -- lines

    def next_line(self) -> int:
        """Go to the first character of the next line that has one, from here; its indentation, or -1 at the end."""
        while self.line < len(self.lines):
            line = self.lines[self.line]
            column = _past_spaces(line, self.column)
            if column < len(line) and line[column] != "#":
                self.column = column
                return column
            self.line += 1
            self.column = 0
        return -1

    def end_line(self) -> None:
        """Nothing but spaces and a comment may follow on this line; go to the next."""
        if not _REST.fullmatch(self.lines[self.line], self.column):
            raise _UnknownTextError
        self.line += 1
        self.column = 0

    def count(self, depth: int) -> None:
        self.nodes += 1
        if self.nodes > MAX_NODES or depth > MAX_DEPTH:
            raise _UnknownTextError

    # -- block style

    def block(self, indent: int, depth: int) -> Node:
        """The block node that begins at the cursor, whose entries are indented by `indent`."""
        self.count(depth)
        line = self.lines[self.line]
        if line.startswith("- ", self.column) or line[self.column :] == "-":
            return self.block_sequence(indent, depth)
        if _KEY.match(line, self.column):
            return self.block_mapping(indent, depth)
        raise _UnknownTextError

    def block_sequence(self, indent: int, depth: int) -> Sequence:
        start = self.line + 1, self.column + 1
        items: list[Node] = []
        while True:
            self.column += 1
            items.append(self.item(indent, depth))
            if self.next_line() != indent or not self.lines[self.line].startswith("- ", self.column):
                break
        self.check_dedent(indent)
        return Sequence(tuple(items), *start)

    def block_mapping(self, indent: int, depth: int) -> Mapping:
        start = self.line + 1, self.column + 1
        entries: list[tuple[Scalar, Node]] = []
        while True:
            match = _KEY.match(self.lines[self.line], self.column)
            if match is None:
                raise _UnknownTextError
            self.count(depth)
            name = match[1]
            key = Scalar(name, True, self.line + 1, self.column + 1, len(name), self.column + 1)
            self.column = match.end()
            entries.append((key, self.value(indent, depth)))
            if self.next_line() != indent:
                break
        self.check_dedent(indent)
        return Mapping(tuple(entries), *start)

    def check_dedent(self, indent: int) -> None:
        """After a block the next line stands further left; the caller checks that a block waits for it there."""
        if self.next_line() > indent:
            raise _UnknownTextError

    def item(self, indent: int, depth: int) -> Node:
        """What follows a dash: a mapping or sequence that begins on the same line, or a value."""
        line = self.lines[self.line]
        column = _past_spaces(line, self.column)
        if column < len(line) and (_KEY.match(line, column) or line.startswith("- ", column)):
            self.column = column
            return self.block(column, depth + 1)
        return self.value(indent, depth, after_dash=True)

    def value(self, indent: int, depth: int, *, after_dash: bool = False) -> Node:
        """What follows a key's colon (or a dash) of a block that is indented by `indent`."""
        line = self.lines[self.line]
        column = _past_spaces(line, self.column)
        if column == len(line) or line[column] == "#":
            return self.value_below(indent, depth, after_dash=after_dash)
        self.column = column
        match line[column]:
            case "[" | "{":
                node = self.flow(indent, depth + 1)
                self.end_line()
            case "'" | '"':
                self.count(depth)
                node = self.quoted(in_flow=False)
                self.end_line()
            case "|" | ">":
                self.count(depth)
                node = self.block_scalar(indent)
            case _:
                self.count(depth)
                node = self.plain(indent)
        return node

    def value_below(self, indent: int, depth: int, *, after_dash: bool) -> Node:
        """The value that begins on a later line. An empty one is left to the full reader."""
        self.end_line()
        below = self.next_line()
        same = below == indent and not after_dash and self.lines[self.line].startswith("- ", self.column)
        if below <= indent and not same:
            raise _UnknownTextError
        return self.block(below, depth + 1)

    def plain(self, indent: int) -> Scalar:
        """A plain scalar, continued on the lines below that are indented by more than `indent`."""
        line = self.lines[self.line]
        match = _PLAIN.match(line, self.column)
        if match is None:
            raise _UnknownTextError
        start = self.line + 1, self.column + 1
        parts = [match[0]]
        self.column = match.end()
        while True:
            had_comment = self.column < len(line.rstrip(" "))
            self.end_line()
            below = self.lines[self.line] if self.line < len(self.lines) else ""
            text = below.lstrip(" ")
            if not text or text[0] == "#" or len(below) - len(text) <= indent:
                break
            more = _MORE.match(below, len(below) - len(text))
            if more is None or had_comment:
                raise _UnknownTextError
            parts.append(more[0])
            self.column = more.end()
            line = below
        if self.next_line() > indent:
            raise _UnknownTextError
        if len(parts) > 1:
            return Scalar(" ".join(parts), True, *start)
        return Scalar(parts[0], True, *start, len(parts[0]), start[1])

    def block_scalar(self, indent: int) -> Scalar:
        """A `|` or `>` text whose lines are all indented alike, and that holds no empty line but at its end."""
        header = self.lines[self.line][self.column :].rstrip(" ")
        if header not in ("|", ">", "|-", ">-"):
            raise _UnknownTextError
        start = self.line + 1, self.column + 1
        self.line += 1
        self.column = 0
        parts: list[str] = []
        own = -1
        while self.line < len(self.lines):
            line = self.lines[self.line]
            text = line.lstrip(" ")
            depth = len(line) - len(text)
            if line and not text:
                raise _UnknownTextError
            if not text or (depth <= indent if own < 0 else depth < own):
                break
            own = depth if own < 0 else own
            if depth > own:
                raise _UnknownTextError
            parts.append(line[own:])
            self.line += 1
        last = self.line == len(self.lines)
        if not parts or last or self.next_line() > indent:
            raise _UnknownTextError
        joined = ("\n" if header[0] == "|" else " ").join(parts)
        return Scalar(joined if header.endswith("-") else joined + "\n", False, *start)

    # -- flow style

    def quoted(self, *, in_flow: bool) -> Scalar:
        """A quoted scalar on one line without escapes."""
        line = self.lines[self.line]
        match = (_SINGLE if line[self.column] == "'" else _DOUBLE).match(line, self.column)
        if match is None:
            raise _UnknownTextError
        start = self.column + 1
        self.column = match.end()
        return Scalar(match[1], False, self.line + 1, start, len(match[0]), start + 1, in_flow)

    def flow_next(self, indent: int) -> str:
        """Skip spaces, comments and line ends inside a flow collection; the next character."""
        first = self.line
        if self.column < len(self.lines[self.line]) and self.lines[self.line][self.column] == "#":
            raise _UnknownTextError
        if self.next_line() < 0 or (self.line != first and self.column <= indent):
            raise _UnknownTextError
        return self.lines[self.line][self.column]

    def flow(self, indent: int, depth: int) -> Node:
        """The flow node at the cursor."""
        self.count(depth)
        match self.lines[self.line][self.column]:
            case "[":
                return self.flow_sequence(indent, depth)
            case "{":
                return self.flow_mapping(indent, depth)
            case "'" | '"':
                return self.quoted(in_flow=True)
            case _:
                line = self.lines[self.line]
                match = _FLOW_PLAIN.match(line, self.column)
                if match is None:
                    raise _UnknownTextError
                start = self.column + 1
                self.column = match.end()
                text = match[0]
                return Scalar(text, True, self.line + 1, start, len(text), start, True)

    def flow_sequence(self, indent: int, depth: int) -> Sequence:
        start = self.line + 1, self.column + 1
        items: list[Node] = []
        self.column += 1
        if self.flow_next(indent) == "]":
            self.column += 1
            return Sequence((), *start, True)
        while True:
            items.append(self.flow(indent, depth + 1))
            if not self.flow_more(indent, "]"):
                return Sequence(tuple(items), *start, True)

    def flow_mapping(self, indent: int, depth: int) -> Mapping:
        start = self.line + 1, self.column + 1
        entries: list[tuple[Scalar, Node]] = []
        self.column += 1
        if self.flow_next(indent) == "}":
            self.column += 1
            return Mapping((), *start, True)
        while True:
            match = _KEY.match(self.lines[self.line], self.column)
            if match is None:
                raise _UnknownTextError
            self.count(depth)
            name = match[1]
            key = Scalar(name, True, self.line + 1, self.column + 1, len(name), self.column + 1, True)
            self.column = match.end()
            self.flow_next(indent)
            entries.append((key, self.flow(indent, depth + 1)))
            if not self.flow_more(indent, "}"):
                return Mapping(tuple(entries), *start, True)

    def flow_more(self, indent: int, close: str) -> bool:
        """After an item: a comma and another item follow (True), or the closing bracket (False)."""
        line = self.line
        character = self.flow_next(indent)
        if character == close:
            self.column += 1
            return False
        if character != "," or self.line != line:
            raise _UnknownTextError
        self.column += 1
        if self.flow_next(indent) in ",]}":
            raise _UnknownTextError
        return True
