"""docs/diff.md: what it shows is run by tests/docs; here, that it names what there is."""

from __future__ import annotations

import re
from pathlib import Path

from swzverify.apps.diff.json import SCHEMA
from swzverify.apps.diff.points import MAX_POINTS
from swzverify.apps.diff.result import DiffCode, Status
from swzverify.apps.options.diff import Allow
from swzverify.apps.options.shared import PageFormat
from swzverify.apps.run.baseline import SCHEMA as BASELINE
from tests.docs.blocks import blocks_of
from tests.docs.session import Session

PAGE = Path(__file__).parents[2] / "docs" / "diff.md"
TEXT = PAGE.read_text("utf-8")


def test_its_snippets_run(tmp_path, monkeypatch):
    for name in ("GIT_DIR", "GIT_INDEX_FILE", "GIT_WORK_TREE"):
        monkeypatch.delenv(name, raising=False)
    Session("docs/diff.md", tmp_path).run(blocks_of(TEXT))


def test_it_names_every_status_code_and_choice():
    table = TEXT[TEXT.index("| status |") : TEXT.index("swzverify compares claims after it has built them")]
    assert all(status.value in table for status in Status)
    assert {int(code) for code in re.findall(r"^\| (\d) \|", TEXT, re.MULTILINE)} == {int(code) for code in DiffCode}
    assert all(f"--allow {choice}" in TEXT for choice in Allow)
    assert SCHEMA in TEXT
    assert BASELINE in TEXT
    assert all(f"--format {form.value}" in TEXT for form in PageFormat if form is not PageFormat.TEXT)
    assert MAX_POINTS == 1 << 20
    assert "2^20 points" in TEXT
