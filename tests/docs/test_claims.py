"""Each claim has a page of one form: what, why, an example that is proved, a counterexample,
limits, source.
"""

from __future__ import annotations

import re

import pytest

from swzverify.claims import KINDS
from tests.docs.blocks import ROOT, blocks_of, links_of

FOLDER = ROOT / "docs" / "claims"
HEADINGS = ["Why", "An example that is proved", "A counterexample", "Limits", "Source"]


def test_there_is_a_page_for_each_claim_and_no_other() -> None:
    assert {path.stem for path in FOLDER.glob("*.md")} == {"index", *KINDS}
    links = [link for link in links_of((FOLDER / "index.md").read_text("utf-8")) if "/" not in link]
    assert links == [f"{kind}.md" for kind in KINDS]


@pytest.mark.parametrize("kind", KINDS)
def test_a_page_has_every_part(kind: str) -> None:
    page = (FOLDER / f"{kind}.md").read_text("utf-8")
    assert page.startswith(f"# {kind}\n")
    assert re.findall("^## (.*)$", page, re.MULTILINE) == HEADINGS
    assert any(link.startswith("../semantics.md#5") for link in links_of(page))
    good, proved, bad, refuted = blocks_of(page)
    for spec in (good, bad):
        assert spec.language == "yaml"
        assert f"- {kind}: " in spec.text.partition("claims:")[2]
        assert "expect:" not in spec.text
    assert f"✓ proved  {kind}" in proved.text
    assert ", 0 unexpected in" in proved.text
    assert f"✗ refuted  {kind}" in refuted.text
    assert refuted.text.endswith("$ echo $?\n1\n")
