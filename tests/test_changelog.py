"""CHANGELOG.md and changelog.d/: plain and short, and in the form that towncrier reads."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
CONFIGURED = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["towncrier"]
FRAGMENTS = sorted(path for path in (ROOT / "changelog.d").iterdir() if path.name != "README.md")
WIDTH = 100


def test_an_entry_is_a_line_or_two() -> None:
    text = (ROOT / "CHANGELOG.md").read_text("utf-8")
    assert [line for line in text.splitlines() if len(line) > WIDTH] == []
    entries = re.split(r"^- ", text, flags=re.MULTILINE)[1:]
    assert len(entries) > 40
    assert [entry for entry in entries if entry.rstrip().count("\n") > 1 and "\n\n" not in entry.rstrip()] == []


def test_towncrier_finds_its_place() -> None:
    assert (ROOT / "CHANGELOG.md").read_text("utf-8").count("<!-- towncrier release notes start -->\n") == 1
    assert ROOT / CONFIGURED["filename"] == ROOT / "CHANGELOG.md"
    assert (ROOT / CONFIGURED["directory"]).is_dir()


@pytest.mark.parametrize("path", FRAGMENTS, ids=lambda path: path.name)
def test_a_fragment_has_a_kind_and_is_short(path: Path) -> None:
    kinds = {kind["directory"] for kind in CONFIGURED["type"]}
    form = re.fullmatch(r"\+[a-z0-9-]+\.([a-z]+)\.md", path.name)
    assert form, "its name is +NAME.KIND.md; changelog.d/README.md says more"
    assert form[1] in kinds, f"one of {', '.join(sorted(kinds))}"
    lines = path.read_text("utf-8").splitlines()
    assert 1 <= len(lines) <= 2
    assert [line for line in lines if len(line) > WIDTH] == []
    assert lines[-1].endswith((".", ")."))
    for link in re.findall(r"\]\(([^)#]+)", "\n".join(lines)):
        assert (ROOT / link).exists(), link
