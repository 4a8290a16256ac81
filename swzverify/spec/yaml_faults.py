"""What is wrong with a text that libyaml cannot read, in words for its author.

libyaml's own messages name states of its parser. Here each becomes a mistake at a place, with what
is allowed there or the next step.
"""

from __future__ import annotations

import re
from typing import Protocol

from swzverify.spec.problems import Problems
from swzverify.spec.tree import Place

_NO_VALUE = "found character '{char}' that cannot start any token"
_QUOTE_IT = "put a value that begins with this character in quotes"
TAB = "a tab where YAML wants spaces"
NO_TABS = "indent with spaces"
_TEXTS = {
    "did not find expected ',' or ']'": "expected ',' or ']', but got {found} | {context}",
    "did not find expected ',' or '}'": "expected ',' or '}}', but got {found} | {context}",
    "did not find expected node content": f"expected a value, but got {{found}} | {_QUOTE_IT}",
    "did not find expected <document start>": "expected the end of the text, but got {found} | "
    "all keys of a mapping begin in the same column; the first ones here are further in",
    "did not find expected key": "expected a key, but got {found} | "
    "the mapping that begins at {begin} goes on with keys in the same column",
    "text behind a value": "expected the end of the line, but got {found} | "
    "a value ends here; put a text that goes on behind a bracket or quote in quotes as a whole",
    "did not find expected '-' indicator": "expected '- ', but got {found} | "
    "the list that begins at {begin} goes on with '- ' in the same column",
    "could not find expected ':'": "expected a ':' behind this key, on the same line | "
    "a key has at most 100 characters; a value that goes on over lines is further in than its key",
    "block sequence entries are not allowed in this context": "a list may not begin in the middle of a line | "
    "begin it on the next line; put a value that begins with '- ' in quotes",
    "mapping keys are not allowed in this context": "a '? ' is not allowed here | "
    "put a value that begins with '? ' in quotes",
    "mapping values are not allowed in this context": "a ': ' inside a value is not allowed | "
    "put a value that holds ': ' (such as c ? a : b) in quotes",
    "found character that cannot start any token": f"{_NO_VALUE} | {_QUOTE_IT}",
    "did not find expected alphabetic or numeric character": f"{_NO_VALUE} | {_QUOTE_IT}",
    "tab": f"{TAB} | {NO_TABS}",
    "found unexpected ':'": "a ':' before '{next}' is not allowed inside [ ] and {{ }} | "
    "a blank follows the ':' of a key; put a value that holds such a ':' in quotes",
    "did not find expected comment or line break": "expected the end of the line behind '|' or '>', but got {found} | "
    "their text begins on the next line; put a value that begins with '|' or '>' in quotes",
    "found an indentation indicator equal to 0": "expected an indentation of 1 to 9, but got 0 | {context}",
    "found unexpected document indicator": "a line of a text in quotes may not begin with {found} | {context}",
    "found unexpected end of stream": "expected a closing quote, but got the end of the text | {context}",
    "found unknown escape character": r"unknown escape '\{next}' | "
    r"write \\ for a backslash, or put the text in single quotes",
    "did not find expected hexdecimal number": "expected a hexadecimal digit, but got '{char}' | {context}",
}
"""Message and hint for each of libyaml's messages, and for two that are told apart here."""

_MARKED = re.compile(r"[&*][^ \t\n,\[\]{}]++|![^ \t\n]*+")
_KINDS = {"&": "anchor", "*": "alias", "!": "tag"}
_NO_ANCHORS = "specs have no anchors, aliases or merge keys; write the value out"
_MARKED_HINTS = {
    "&": _NO_ANCHORS + " (an expression that begins with & goes in quotes)",
    "*": _NO_ANCHORS,
    "!": "specs have no tags; an expression that begins with ! goes in quotes or parentheses",
}
_AT_CONTEXT = ("scanning an anchor", "scanning an alias", "scanning a tag", "parsing a tag", "scanning a simple key")
"""Contexts in which the place where libyaml begins tells more than the place where it stops."""
_SIGN = re.compile(r"(?:---|\.\.\.|[-?:])(?=\s)|[\[\]{},:&*!|>%@`]")
_SPACES = {"": "the end of the text", "\n": "the end of the line", "\t": "a tab", " ": "a blank"}
_NAMED = re.compile(r"(?<![^\s\[{,])[&*][\w-]+\Z")
"""An anchor or alias with nothing between it and what cannot be read."""


class Mark(Protocol):
    """A place of libyaml, counted from 0."""

    line: int
    column: int
    index: int


class Fault(Protocol):
    """What is read of PyYAML's `MarkedYAMLError`."""

    context: str | None
    context_mark: Mark | None
    problem: str
    problem_mark: Mark


def index_place(text: str, index: int, length: int = 1) -> Place:
    r"""The place of a character.

    >>> index_place("a: 1\nb: 2", 8)
    Place(line=2, column=4, length=1)
    """
    return Place(text.count("\n", 0, index) + 1, index - text.rfind("\n", 0, index), length)


def refuse_marked(text: str, index: int, problems: Problems) -> int:
    """Refuse the anchor, alias or tag that begins at an index; where it ends, or 0 without one.

    >>> refuse_marked("a: &b 1", 3, Problems("a.yaml"))
    5
    """
    found = _MARKED.match(text, index)
    if found is None:
        return 0
    written = found[0]
    message = f"{_KINDS[written[0]]} '{written}' is not allowed"
    problems.add("SWZ108", message, index_place(text, index, len(written)), _MARKED_HINTS[written[0]])
    return found.end()


def note_fault(fault: Fault, text: str, problems: Problems) -> None:
    """Note where libyaml stopped and why: SWZ102, or SWZ108 and SWZ111 for what those name.

    Nothing is noted on a line where something was refused already: what is wrong there mostly
    follows from that.
    """
    mark = fault.problem_mark
    if fault.context_mark is not None and (fault.context or "").endswith(_AT_CONTEXT):
        mark = fault.context_mark
    place, index = index_place(text, mark.index), mark.index
    if any(problem.line == place.line for problem in problems.found):
        return
    named = _NAMED.search(text, text.rfind("\n", 0, index) + 1, index)
    in_header = fault.context == "while scanning a block scalar"  # a sign there is no anchor, alias or tag
    if not in_header and refuse_marked(text, index if named is None else named.start(), problems):
        return
    if fault.problem == "found invalid Unicode character escape code":
        digits = text[index : index + (4 if text[index - 1] == "u" else 8)].upper()
        message = f"an escape spells character U+{digits}, which is not allowed in a spec"
        problems.add("SWZ111", message, Place(place.line, place.column - 2, len(digits) + 2), "it is no character")
    else:
        message, hint = _words(fault, text, index)
        problems.add("SWZ102", message, place, hint)


def _words(fault: Fault, text: str, index: int) -> tuple[str, str]:
    """Message and hint for what is no YAML at an index of the text."""
    kind, char = fault.problem, text[index : index + 1]
    if "tab character" in kind or (char == "\t" and "start any token" in kind):
        kind = "tab"
    before = text[text.rfind("\n", 0, index) + 1 : index]
    if kind == "did not find expected key" and before.strip(" ") and char != ":":
        kind = "text behind a value"
    begin = context = ""
    if fault.context is not None and fault.context_mark is not None:
        begin = f"line {fault.context_mark.line + 1}, column {fault.context_mark.column + 1}"
        context = f"{fault.context} that begins at {begin}"
    sign = _SIGN.match(text, index)
    found = f"'{sign[0]}'" if sign else _SPACES.get(char, "a value")
    words = {"found": found, "char": char, "next": text[index + 1 : index + 2], "begin": begin, "context": context}
    message, _, hint = _TEXTS.get(kind, "not YAML: {kind} | {context}").partition(" | ")
    return message.format(kind=kind, **words), hint.format(**words)
