"""No character that acts on a terminal gets through."""

from __future__ import annotations

import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from swzverify.report.escape import prose, visible, visible_lines

ANY_TEXT = st.text(st.characters())


@given(ANY_TEXT)
def test_only_graphic_characters_and_spaces_are_left(text):
    for shown in (visible(text), prose(text), *visible_lines(text)):
        assert not any(unicodedata.category(char)[0] == "C" or char in "\u2028\u2029" for char in shown)


@given(st.text(st.characters(categories=["L", "N", "P", "S", "M", "Zs"])))
def test_graphic_text_stays_as_it_is(text):
    assert visible(text) == text


def test_escapes_are_python_s():
    evil = "\x00\t\n\x7f\x9b\u200b\u202e\ufeff\U000e0001"
    assert visible(evil).encode().decode("unicode_escape") == evil
