"""docs/pytest.md: all of it is run, and what it lists is all there is."""

from __future__ import annotations

import re
from inspect import signature

from swzverify import testing
from swzverify.testing import strategies
from tests.docs.blocks import ROOT, blocks_of, pages

NAME = "docs/pytest.md"
TEXT = (ROOT / NAME).read_text("utf-8")


def test_all_of_the_page_is_run():
    """By tests/docs/test_pages.py, which runs every page that `pages` has."""
    assert NAME in pages()
    assert not [block for block in blocks_of(TEXT) if block.mark("not run here") is not None]


def test_every_assertion_and_strategy_is_listed():
    assert set(re.findall(r"^\| `(assert_\w+)\(", TEXT, re.MULTILINE)) == set(testing.__all__)
    assert all(f"`{name}()`" in TEXT for name in strategies.__all__)


def test_every_argument_is_told():
    for name in testing.__all__:
        for argument in signature(getattr(testing, name)).parameters.values():
            if argument.kind is argument.KEYWORD_ONLY and argument.name != "mode":
                assert re.search(rf"`{argument.name}`|\b{argument.name}=", TEXT), argument.name
