"""The pictures of the pages are what their scripts draw now, and every page has those that it should."""

from __future__ import annotations

import re
import runpy
from collections.abc import Callable
from functools import cache

import pytest
from markdown_it import MarkdownIt

from swzverify.claims import KINDS
from tests.docs.blocks import ROOT, pages

FOLDER = ROOT / "docs" / "pictures"
SCRIPTS = sorted(FOLDER.glob("draw*.py"))


@cache
def drawn() -> dict[str, Callable[[], str]]:
    """What each picture is drawn by."""
    found: dict[str, Callable[[], str]] = {}
    for script in SCRIPTS:
        made = runpy.run_path(str(script))["PICTURES"]
        assert not set(made) & set(found)
        found |= made
    return found


def pictures_of(page: str) -> list[tuple[str, str]]:
    """The pictures of a page: where each is, and what it is called for those who do not see it."""
    tokens = MarkdownIt("commonmark").enable("table").parse((ROOT / page).read_text("utf-8"))
    children = [child for token in tokens for child in token.children or []]
    return [(str(each.attrs["src"]), each.content) for each in children if each.type == "image"]


@pytest.mark.parametrize("name", sorted(path.name for path in FOLDER.glob("*.svg")))
def test_a_picture_is_what_is_drawn_now(name: str) -> None:
    assert drawn()[name]() == (FOLDER / name).read_text("utf-8"), f"python docs/pictures/draw*.py writes {name} again"


def test_every_picture_that_is_drawn_is_on_a_page() -> None:
    shown = {src.rpartition("/")[2] for page in pages() for src, _ in pictures_of(page)}
    assert set(drawn()) == {path.name for path in FOLDER.glob("*.svg")}
    assert set(drawn()) <= shown


@pytest.mark.parametrize("kind", KINDS)
def test_the_page_of_a_claim_has_one_picture(kind: str) -> None:
    ((src, _),) = pictures_of(f"docs/claims/{kind}.md")
    assert src.startswith("../pictures/")


def test_the_readme_has_one_picture_and_each_lesson_of_the_tutorial_one_at_least() -> None:
    assert len(pictures_of("README.md")) == 1
    for page in ("transpose", "gemm", "next"):
        assert pictures_of(f"docs/tutorial/{page}.md")


@pytest.mark.parametrize("page", pages())
def test_each_picture_has_words_for_those_who_do_not_see_it(page: str) -> None:
    for src, alt in pictures_of(page):
        assert len(alt) >= 12, f"{page}: {src} is called {alt!r}"
        assert not re.search(r"\.(svg|png)|^(picture|image|figure)\b", alt, re.IGNORECASE)
