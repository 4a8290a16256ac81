"""Links between the pages, and from them to files, hold on GitHub as they stand; the site's build
checks its own.
"""

from __future__ import annotations

import pytest

from tests.docs.blocks import ROOT, anchors_of, links_of, pages


def every_page() -> list[str]:
    errors = sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "docs" / "errors").glob("*.md"))
    return [*pages(), *errors]


@pytest.mark.parametrize("page", every_page())
def test_links_lead_somewhere(page: str) -> None:
    here = ROOT / page
    for link in links_of(here.read_text("utf-8")):
        if link.startswith("https://"):
            continue
        path, _, anchor = link.partition("#")
        target = (here.parent / path).resolve() if path else here
        assert target.is_relative_to(ROOT), f"{page}: {link} leaves the repository"
        assert target.exists(), f"{page}: {link} leads nowhere"
        if anchor:
            assert anchor in anchors_of(target.read_text("utf-8")), f"{page}: {link} has no such heading"
