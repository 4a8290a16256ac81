"""Makes text from a spec safe to print: nothing in it moves the cursor, changes colours or reorders a line."""

from __future__ import annotations

import unicodedata

_UNSAFE = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
_SHORT = {"\n": "\\n", "\r": "\\r", "\t": "\\t", "\x1b": "\\x1b"}


def _escaped(character: str) -> str:
    if character in _SHORT:
        return _SHORT[character]
    code = ord(character)
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def visible(text: str) -> str:
    r"""One line of text in which every control, format or unassigned character is spelled as an escape.

    Bidirectional marks, lone surrogates and line separators are among them; letters of any script stay as they are.

    >>> visible("A\x1b[31m\u202e")
    'A\\x1b[31m\\u202e'
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(_escaped(char) if unicodedata.category(char) in _UNSAFE else char for char in text)


def prose(text: str) -> str:
    r"""A sentence on one line: runs of white space become one space, the rest is as in `visible`.

    >>> prose("one bank,\n   32 rows\n")
    'one bank, 32 rows'
    """
    return visible(" ".join(text.split()))


def visible_lines(text: str) -> list[str]:
    r"""The lines of a longer text, each made visible; only the line feed counts as a line's end.

    >>> visible_lines("a\nb\rc")
    ['a', 'b\\rc']
    """
    return [visible(line) for line in text.rstrip("\n").split("\n")]
