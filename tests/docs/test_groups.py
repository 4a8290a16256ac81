"""The four groups of pages: the README, the first page of the site and its navigation have the same."""

from __future__ import annotations

import re
import runpy

import pytest

from tests.docs.blocks import ROOT, links_of

GROUPS: list[tuple[str, list[str]]] = runpy.run_path(str(ROOT / "docs" / "conf.py"))["navigation"]


def pages_below(markdown: str, heading: str) -> set[str]:
    """The pages that the text below a heading leads to, without notebooks and parts of the reference."""
    part = re.split(r"^#+ ", markdown.split(f"# {heading}\n", 1)[1], maxsplit=1, flags=re.MULTILINE)[0]
    links = (link.partition("#")[0].removeprefix("docs/").removesuffix(".md") for link in links_of(part))
    return {
        "reference/index" if link.startswith("reference/") else link for link in links if not link.endswith("ipynb")
    }


def test_there_are_four() -> None:
    assert [caption for caption, _ in GROUPS] == ["Start", "Use", "Reference", "Why trust it"]


@pytest.mark.parametrize("page", ["README.md", "docs/index.md"])
@pytest.mark.parametrize(("caption", "listed"), GROUPS)
def test_a_page_lists_the_group(page: str, caption: str, listed: list[str]) -> None:
    found = pages_below((ROOT / page).read_text("utf-8"), caption)
    assert set(listed) == found - {"SECURITY", "../CONTRIBUTING"} - set(_others(caption))


def _others(caption: str) -> list[str]:
    """Below the last group, the README names folders of the repository."""
    return ["examples/README", "specs/README", "CONTRIBUTING"] if caption == "Why trust it" else []


def test_every_page_has_one_group() -> None:
    named = [page for _, listed in GROUPS for page in listed]
    top = {path.stem for path in (ROOT / "docs").glob("*.md")} - {"index"}
    folders = {f"{path.parent.name}/index" for path in (ROOT / "docs").glob("*/index.md")}
    assert sorted(named) == sorted(top | folders)
