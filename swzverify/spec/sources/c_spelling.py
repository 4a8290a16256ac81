"""Spellings of C that compilers read differently: a source that has one is refused, never guessed.

What stands before the first of them is comment, literal or code for every compiler, so that the
first one is found for sure, whatever it does to the rest.

Source: ISO/IEC 14882:2014, 2.2 and 2.4 (line splices, trigraphs, the latter gone in :2017); ISO/IEC
14882:2020, 5.2 (phases of translation), 5.5 (alternative tokens), 5.8 (header names); GCC 14, The C
Preprocessor, 1.2 (blanks behind a backslash).
"""

from __future__ import annotations

import bisect
import re
from collections.abc import Iterator
from dataclasses import dataclass

from swzverify.errors import SwzError
from swzverify.spec.sources.c_text import CText, Literal
from swzverify.spec.sources.definitions import NOT_CONSTANT

_SPLICE = r"\\[ \t\v\f]*\n"
_DIGRAPHS = {"<%": "{", "%>": "}", "<:": "[", ":>": "]", "%:": "#"}
_CODE, _LINE, _BLOCK = "code", "a `//` comment", "a `/* */` comment"
_Place = str | Literal
_EVERYWHERE = frozenset((_CODE, _LINE, _BLOCK, Literal.STRING, Literal.CHARACTER))
"""But for raw strings, in which all of this stands for itself."""


@dataclass(frozen=True, slots=True)
class _Rule:
    """A pattern, where it matters, and its refusal: what it is, why it is unclear, what to do."""

    pattern: re.Pattern[str]
    places: frozenset[_Place]
    what: str
    why: str
    hint: str


def _rule(pattern: str, places: frozenset[_Place], what: str, why: str, hint: str) -> _Rule:
    return _Rule(re.compile(pattern, re.MULTILINE), places, what, why, hint)


_ON_ONE_LINE = "write it on one line"
_WORD, _SIGN = r"[\w$.'\"\\]", r"[#%:<>&|^=+\-*/!?.~\\]"
_RULES = (
    _rule(
        r"\?\?/", _EVERYWHERE, "the trigraph `??/`", "a backslash to some compilers only",
        "write the question marks apart, or end the line otherwise",
    ),
    _rule(
        r"\?\?[=()'<!>-]", frozenset((_CODE, Literal.CHARACTER)), "the trigraph `{found}`",
        "another character to some compilers only", "write the character that is meant",
    ),
    _rule(
        r"\\[ \t\v\f]+$", _EVERYWHERE - {_BLOCK}, "blanks between a backslash and the line's end",
        "which join the lines for some compilers only", "remove the blanks, or the backslash",
    ),
    _rule(
        rf"/(?:{_SPLICE})+[/*]|\*(?:{_SPLICE})+/", _EVERYWHERE, "a comment's sign split by a line's end",
        "which hardly any reader takes for one", _ON_ONE_LINE,
    ),
    _rule(
        rf"(?<={_WORD})(?!(?<=\")(?:{_SPLICE})+\")(?:{_SPLICE})+(?={_WORD})|(?<={_SIGN})(?:{_SPLICE})+(?={_SIGN})",
        frozenset((_CODE,)), "a word or sign split by a line's end", "which is one to a compiler", _ON_ONE_LINE,
    ),
    _rule(
        r"\\\\$", frozenset((Literal.STRING, Literal.CHARACTER)), "two backslashes at the end of a literal's line",
        "and the second one joins the lines", "write the literal on one line",
    ),
    _rule(
        r"<%|%>|%:|:>|<:(?!:(?![:>]))", frozenset((_CODE,)), "the digraph `{found}`", "another sign to a compiler",
        "write `{plain}`",
    ),
    _rule(
        r"\\[uUN](?=[\w{])", frozenset((_CODE,)), "a character by its number (`{found}`)",
        "which is a part of a name to a compiler", "write names in ASCII",
    ),
    _rule(
        r"[^\t-\r -~]+", frozenset((_CODE,)), "the character {shown}",
        "which only some compilers allow in names", "write names in ASCII",
    ),
    _rule(
        r"^[ \t]*#[ \t]*(?:include(?:_next)?|import|embed)[ \t]*(?:<[^>\n]*(?:/[/*]|['\"\\])|\"[^\"\n]*\\\")",
        frozenset((_CODE,)), "a header's name with a comment's or literal's sign in it",
        "which compilers read in ways of their own", "name the header plainly",
    ),
)  # fmt: skip


def refuse_odd_spelling(text: str, source: CText) -> None:
    r"""Raise SWZ123 for the first odd spelling; `source` is the text taken apart.

    >>> from swzverify.spec.sources.c_text import read_c
    >>> refuse_odd_spelling("??=define BK 64\n", read_c("??=define BK 64\n"))
    Traceback (most recent call last):
    swzverify.errors.SwzError: SWZ123: it has the trigraph `??=` at line 1, another character to some compilers only
      write the character that is meant
    """
    places = _Places(source)
    first = min(_found(text, places), key=lambda each: each[0].start(), default=None)
    if first is None:
        return
    found, rule = first
    shown = next((f"{char!a}" for char in found[0] if not _are_letters(char)), "")
    words = {"found": found[0], "plain": _DIGRAPHS.get(found[0], ""), "shown": shown}
    line = text.count("\n", 0, found.start()) + 1
    message = f"it has {rule.what.format(**words)} at line {line}, {rule.why}"
    raise SwzError(NOT_CONSTANT, message, hint=rule.hint.format(**words))


def _found(text: str, places: _Places) -> Iterator[tuple[re.Match[str], _Rule]]:
    """The first place of every rule."""
    for rule in _RULES:
        for found in rule.pattern.finditer(text):
            if places.of(found.start()) in rule.places and not _are_letters(found[0]):
                yield found, rule
                break


def _are_letters(found: str) -> bool:
    """Whether it is letters or digits beyond ASCII, which are parts of names for everybody."""
    return not found.isascii() and found.isalnum()


class _Places:
    """What is comment and what is literal, by offsets."""

    def __init__(self, source: CText) -> None:
        spans = [(each.start, each.end, _BLOCK if each.is_block else _LINE) for each in source.comments]
        self._spans: list[tuple[int, int, _Place]] = sorted((*spans, *source.literals), key=lambda each: each[0])
        self._starts = [start for start, _, _ in self._spans]

    def of(self, offset: int) -> _Place:
        """Which kind of text an offset lies in: code, a comment, a string."""
        index = bisect.bisect_right(self._starts, offset) - 1
        if index >= 0 and offset < self._spans[index][1]:
            return self._spans[index][2]
        return _CODE
