"""The stretches of text that `guard_scan` goes over in one step: blanks, scalars, what follows a sign.

Every pattern is possessive, so that none can take more than linear time or pile up alternatives to go back to.
"""

from __future__ import annotations

import re

MAX_DIGITS = 24
"""Digits of a plain integer; far fewer are in range, and converting thousands of them takes quadratic time."""

GAP = re.compile(r" *+(?:#[^\n]*+)?(?:\n *+(?:#[^\n]*+)?)*")
GAP_IN_FLOW = re.compile(r"[ \t]*+(?:#[^\n]*+)?(?:\n[ \t]*+(?:#[^\n]*+)?)*")
PLAIN = re.compile(r"(?:[^ \t\n:]++|:(?![ \t\n]|\Z))+")
PLAIN_IN_FLOW = re.compile(r"(?:[^ \t\n:,\[\]{}]++|:(?![ \t\n]|\Z))+")
SPACES = re.compile(r" *+")
BREAKS = re.compile(r"[ \n]*+")
QUOTED = {"'": re.compile(r"'[^']*+(?:''[^']*+)*'(?!')"), '"': re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*"', re.DOTALL)}
_BLOCK_HEADER = re.compile(r"[|>](?:[-+]?([1-9])?|([1-9])[-+]) *+(?:#[^\n]*+)?(?:\n|\Z)")
DIRECTIVE = re.compile(r"^%", re.MULTILINE)
DOCUMENT = re.compile(r"(?:---|\.\.\.)(?=[ \t\n]|\Z)")
MARKED = re.compile(r"[&*]([^ \t\n,\[\]{}]++)")
TAG = re.compile(r"![^ \t\n]*+")
NUMBER = re.compile(rf"[-+]?(?:0x)?[0-9a-fA-F]{{{MAX_DIGITS + 1},}}")


def past_block_scalar(text: str, at: int, least: int) -> int | None:
    r"""Where the line begins that follows a `|` or `>` text; None where its header is wrong.

    `least` is the least indentation of its lines, in columns.

    >>> text = "a: |\n  x\n\n  y\nb: 1\n"
    >>> text[past_block_scalar(text, 3, 1) :]
    'b: 1\n'
    """
    header = _BLOCK_HEADER.match(text, at)
    if header is None:
        return None
    start, step = header.end(), header[1] or header[2]
    if step:
        return _past_lines(text, start, max(least, 1) + int(step) - 1)
    blanks = BREAKS.match(text, start)
    return _past_lines(text, start, max(least, *map(len, (blanks[0] if blanks else "").split("\n"))))


def _past_lines(text: str, at: int, indent: int) -> int:
    """Where the first line begins that is neither blank nor indented by so many columns."""
    while at < len(text):
        spaces = SPACES.match(text, at, min(at + indent, len(text)))
        start = spaces.end() if spaces else at
        is_blank = start < len(text) and text[start] == "\n"
        if not is_blank and (start - at < indent or (indent == 0 and DOCUMENT.match(text, start))):
            return at
        end = text.find("\n", start)
        at = len(text) if end < 0 else end + 1
    return at
