"""Looks through a text for the parts of YAML that specs do not have, before a YAML parser reads it.

A scanner of tokens in one pass, without recursion and without building anything: it knows where a value begins, so that
`&x` there is an anchor, and `tid & x` or `a *b` inside a value is not. Its rules are those of ruamel.yaml's scanner. At
what is no YAML it stops: so does the parser, which says what is wrong. Whatever should slip through all the same is
refused by `full_yaml`, from the parser's events; `quick_yaml` knows none of it in the first place.
"""

from __future__ import annotations

import re
from bisect import bisect_right

from swzverify.spec.guard_text import (
    BREAKS,
    DIRECTIVE,
    DOCUMENT,
    GAP,
    GAP_IN_FLOW,
    MARKED,
    NUMBER,
    PLAIN,
    PLAIN_IN_FLOW,
    QUOTED,
    SPACES,
    TAG,
    past_block_scalar,
)
from swzverify.spec.problems import MAX_PROBLEMS, Problems
from swzverify.spec.tree import MAX_DEPTH, MAX_NODES, Place

MAX_KEY_CHARACTERS = 100
_NO_ANCHORS = "specs have no anchors, aliases or merge keys; write the value out"
_NO_TAGS = "specs have no tags; an expression that begins with ! goes in quotes or parentheses"
_AND_QUOTES = " (an expression that begins with & goes in quotes)"

_BLANK = frozenset(" \t\n")
_NEVER_PLAIN = frozenset("-?:,[]{}#&*!|>'\"%@` \t\n")


def scan(text: str, problems: Problems) -> int:
    r"""The number of values and keys; `problems` gets what specs do not have: SWZ107, SWZ108 and SWZ112.

    >>> problems = Problems("a.yaml")
    >>> scan("a: &b [*b, !c d, e & f]\n", problems), len(problems)
    (5, 3)
    """
    scanner = _Scanner(text, problems)
    directive = DIRECTIVE.search(text)
    if directive is not None:
        hint = "leave out the line that begins with %"
        problems.add("SWZ108", "YAML directives are not allowed", scanner.place(directive.start()), hint)
        return 0
    most = len(problems) + MAX_PROBLEMS
    while not scanner.done and len(problems) < most:
        scanner.step()
    return scanner.nodes


class _Scanner:
    """A place in the text, and what decides how the next token is read: indentation, brackets, possible keys."""

    def __init__(self, text: str, problems: Problems) -> None:
        self.text = text
        self.problems = problems
        self.at = 0
        self.done = False
        self.line_starts = [0, *(found.end() for found in re.finditer("\n", text))]
        self.indents: list[int] = []
        self.brackets: list[str] = []
        self.key_allowed = True
        self.keys: dict[int, int] = {}  # where a key may have begun, by the number of open brackets
        self.nodes = 0
        self.begun = False
        self.ended = False
        self.after_colon = False

    # -- places

    def place(self, index: int, length: int = 1) -> Place:
        """Line and column of a character."""
        line = bisect_right(self.line_starts, index)
        return Place(line, index - self.line_starts[line - 1] + 1, length)

    def column(self, index: int) -> int:
        """The column of a character, from 0."""
        return index - self.line_starts[bisect_right(self.line_starts, index) - 1]

    def after(self, index: int) -> str:
        """The character at an index; a line end behind the text."""
        return self.text[index] if index < len(self.text) else "\n"

    # -- notes

    def refuse(self, code: str, message: str, place: Place, hint: str = "") -> None:
        """Note something at a place."""
        self.problems.add(code, message, place, hint)

    def stop(self) -> None:
        """Leave the rest to the reader, which stops here too and says why, or has nothing more to read."""
        self.done = True

    def count(self, index: int) -> None:
        """One value or key more."""
        self.nodes += 1
        if self.nodes > MAX_NODES:
            self.refuse("SWZ107", f"more than {MAX_NODES} values and keys", self.place(index))
            self.stop()

    def check_depth(self, index: int) -> None:
        """A collection begins."""
        self.count(index)
        if not self.done and len(self.indents) + len(self.brackets) > MAX_DEPTH:
            self.refuse("SWZ107", f"nested deeper than {MAX_DEPTH} levels", self.place(index))
            self.stop()

    # -- state

    def indent(self, index: int) -> None:
        """A block collection's entry begins: the first one opens the collection."""
        column = self.column(index)
        if not self.indents or self.indents[-1] < column:
            self.indents.append(column)
            self.check_depth(index)

    def dedent(self, column: int) -> None:
        """Close the block collections that are indented further."""
        while self.indents and self.indents[-1] > column:
            self.indents.pop()

    def may_be_key(self) -> None:
        """A value begins that may turn out to be a key."""
        if self.key_allowed:
            self.keys[len(self.brackets)] = self.at
        self.key_allowed = False

    def open_key(self) -> int | None:
        """Where the key began that a colon here would end; keys are on one line and have at most 1024 characters."""
        start = self.keys.pop(len(self.brackets), None)
        if start is None or self.at - start > 1024 or self.text.find("\n", start, self.at) >= 0:
            return None
        return start

    # -- tokens

    def step(self) -> None:
        """Go over one token."""
        gap = (GAP_IN_FLOW if self.brackets else GAP).match(self.text, self.at)
        if gap is not None and gap.end() > self.at:
            if not self.brackets and "\n" in gap[0]:
                self.key_allowed = True
            self.at = gap.end()
        if self.at >= len(self.text):
            self.stop()
            return
        column = self.column(self.at)
        if not self.brackets:
            self.dedent(column)
        if self.ended:
            self.refuse_document()
            return
        if column == 0 and self.at_document():
            return
        after_colon, self.after_colon = self.after_colon, False
        character = self.text[self.at]
        blank_follows = self.after(self.at + 1) in _BLANK
        match character:
            case "[" | "{":
                self.begin_flow(character)
            case "]" | "}" | ",":
                self.go_on_in_flow(character)
            case "-" if blank_follows:
                self.entry()
            case "?" if blank_follows or self.brackets:
                self.entry(is_key=True)
            case ":" if blank_follows or (self.brackets[-1:] == ["{"] and not after_colon):
                self.colon()
            case "&" | "*":
                self.marked(character)
            case "!":
                self.tag()
            case "|" | ">" if not self.brackets:
                self.block_scalar()
            case "'" | '"':
                self.quoted(character)
            case _:
                self.plain(character, blank_follows=blank_follows)
        self.begun = True

    def at_document(self) -> bool:
        """Whether a document's mark is here; only that of the first document is let through."""
        found = DOCUMENT.match(self.text, self.at)
        if found is None:
            return False
        if found[0] == "---":
            if self.begun:
                self.refuse_document(3)
                return True
            self.begun = True
        self.ended = found[0] == "..." and self.begun
        self.at = found.end()
        self.indents.clear()
        self.keys.clear()
        self.key_allowed = False
        return True

    def refuse_document(self, length: int = 1) -> None:
        """Something follows the first document."""
        place = self.place(self.at, length)
        self.refuse("SWZ108", "a second document begins here", place, "one file holds one spec")
        self.stop()

    def begin_flow(self, bracket: str) -> None:
        """A `[` or `{`."""
        self.may_be_key()
        self.brackets.append(bracket)
        self.check_depth(self.at)
        self.key_allowed = True
        self.at += 1

    def go_on_in_flow(self, character: str) -> None:
        """A comma or a closing bracket."""
        self.keys.pop(len(self.brackets), None)
        if character != "," and self.brackets:
            self.brackets.pop()
        self.key_allowed = character == ","
        self.at += 1

    def entry(self, *, is_key: bool = False) -> None:
        """A dash or an explicit key's question mark."""
        if not self.brackets:
            if not self.key_allowed:
                self.stop()
                return
            self.indent(self.at)
        self.keys.pop(len(self.brackets), None)
        self.key_allowed = not (is_key and self.brackets)
        self.at += 1

    def colon(self) -> None:
        """The colon between a key and its value."""
        start = self.open_key()
        if start is not None:
            self.check_key(start)
            if not self.brackets:
                self.indent(start)
            self.key_allowed = False
        elif self.brackets:
            self.key_allowed = False
        elif self.key_allowed:
            self.indent(self.at)
        else:
            self.stop()
        self.after_colon = True
        self.at += 1

    def check_key(self, start: int) -> None:
        """Refuse merge keys, and keys that cannot be what they look like."""
        key = self.text[start : self.at].rstrip()
        if key == "<<":
            self.refuse("SWZ108", "merge key '<<' is not allowed", self.place(start, 2), "write the keys out")
        elif key[0] in "[{":
            return
        elif len(key) > MAX_KEY_CHARACTERS:
            message = f"a key of {len(key)} characters: at most {MAX_KEY_CHARACTERS}"
            self.refuse("SWZ107", message, self.place(start), "a name or key is short")
        elif not key.isascii():
            other = next(index for index, character in enumerate(key) if not character.isascii())
            message = f"a key holds U+{ord(key[other]):04X}, which is not ASCII"
            hint = "letters of other alphabets can look like a to z; write keys and names in ASCII"
            self.refuse("SWZ112", message, self.place(start + other), hint)

    def marked(self, character: str) -> None:
        """An anchor or an alias."""
        found = MARKED.match(self.text, self.at)
        if found is None:
            self.stop()
            return
        self.may_be_key()
        kind = "alias" if character == "*" else "anchor"
        hint = _NO_ANCHORS if kind == "alias" else _NO_ANCHORS + _AND_QUOTES
        self.refuse("SWZ108", f"{kind} '{found[0]}' is not allowed", self.place(self.at, len(found[0])), hint)
        self.at = found.end()

    def tag(self) -> None:
        """A tag."""
        self.may_be_key()
        found = TAG.match(self.text, self.at)
        written = found[0] if found else "!"
        self.refuse("SWZ108", f"tag '{written}' is not allowed", self.place(self.at, len(written)), _NO_TAGS)
        self.at += len(written)

    def quoted(self, quote: str) -> None:
        """A text in quotes."""
        found = QUOTED[quote].match(self.text, self.at)
        if found is None:
            self.stop()
            return
        self.count(self.at)
        self.may_be_key()
        self.at = found.end()

    def plain(self, character: str, *, blank_follows: bool) -> None:
        """A plain scalar, over as many lines as it has."""
        if character in _NEVER_PLAIN and (blank_follows or character not in "-:?"):
            self.stop()
            return
        self.count(self.at)
        self.may_be_key()
        start = end = self.at
        least = self.indents[-1] + 1 if self.indents else 0
        chunk = PLAIN_IN_FLOW if self.brackets else PLAIN
        while self.after(self.at) != "#":
            found = chunk.match(self.text, self.at)
            if found is None:
                break
            self.key_allowed = False
            end = self.at = found.end()
            if not self.over_spaces() or (not self.brackets and self.column(self.at) < least):
                break
        if end == start:
            self.stop()
            return
        self.check_number(start, end)

    def over_spaces(self) -> bool:
        """Go over the blanks inside or behind a plain scalar; whether it may go on behind them."""
        start = self.at
        spaces = SPACES.match(self.text, start)
        self.at = spaces.end() if spaces else start
        if self.after(self.at) != "\n":
            return self.at > start
        self.key_allowed = True
        breaks = BREAKS.match(self.text, self.at)
        self.at = breaks.end() if breaks else self.at
        return not (self.column(self.at) == 0 and DOCUMENT.match(self.text, self.at))

    def check_number(self, start: int, end: int) -> None:
        """Refuse an integer of more digits than any number has."""
        found = NUMBER.match(self.text, start, end)
        if found is not None and found.end() == end:
            shown = f"{found[0][:20]}... ({len(found[0])} digits)"
            place = self.place(start, end - start)
            self.refuse("SWZ107", f"{shown} is too large", place, "integers lie in -2^31 .. 2^32 - 1")

    def block_scalar(self) -> None:
        """A `|` or `>` text."""
        end = past_block_scalar(self.text, self.at, self.indents[-1] + 1 if self.indents else 0)
        if end is None:
            self.stop()
            return
        self.count(self.at)
        self.key_allowed = True
        self.keys.pop(len(self.brackets), None)
        self.at = end
