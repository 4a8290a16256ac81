"""Every shipped spec names its schema where editors look for it."""

from __future__ import annotations

from pathlib import Path

import pytest

from swzverify.spec import load_spec

ROOT = Path(__file__).parents[2]
SCHEMA = ROOT / "docs" / "schemas" / "spec-1.schema.json"
SPECS = sorted((ROOT / "specs").rglob("*.swz.yaml"))
START = "# yaml-language-server: $schema="


@pytest.mark.parametrize("file", SPECS, ids=lambda path: path.relative_to(ROOT / "specs").as_posix())
def test_the_first_line_leads_to_the_schema(file):
    first = file.read_text(encoding="utf-8").split("\n", 1)[0]
    assert first.startswith(START)
    path = first.removeprefix(START)
    assert not Path(path).is_absolute()
    assert (file.parent / path).resolve() == SCHEMA.resolve()


def test_there_are_specs():
    assert len(SPECS) > 100


def test_lines_are_still_counted_from_the_top(tmp_path):
    file = tmp_path / "a.swz.yaml"
    file.write_text(
        f"{START}x.json\nswzverify: 1\ntiles: {{A: {{bits: 8, layout: '8:1'}}}}\nclaims:\n  - bijective: A\n"
    )
    assert [claim.line for claim in load_spec(file).claims] == [5]
