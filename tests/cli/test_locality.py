"""`swzverify locality` as a command."""

from __future__ import annotations

import json
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest
from click.testing import CliRunner

from swzverify.apps.cli import main

TEXT = """\
swzverify: 1
constants: {G: [2, 4]}
maps:
  flat: {over: {pid: 64}, value: [pid]}
  rows: {over: {pid: 64}, value: [pid/8, pid%8], onto: [8, 8]}
  groups: {over: {pid: 64}, value: [pid/(8*G)*G + pid%G, pid%(8*G)/G], onto: [8, 8]}
  beyond: {over: {x: 8, y: 9}, value: [y, x], onto: [8, 8]}
claims:
  - permutation: rows
"""


@pytest.fixture
def spec(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The spec in the working folder."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.swz.yaml").write_text(TEXT, encoding="utf-8")
    return "a.swz.yaml"


def told(*arguments: str) -> str:
    result = CliRunner().invoke(main, ["locality", *arguments])
    assert result.exit_code == 0, result.output
    return result.output


def test_orders_are_compared(spec: str) -> None:
    text = told(spec, "--wave", "16", "--map", "rows", "--map", "groups", "--at", "G=4")
    assert re.search(r"^rows +4 +8 +32 +40 +32 +10 +0$", text, re.MULTILINE)
    assert re.search(r"^groups +4 +16 +16 +32 +32 +8 +0$", text, re.MULTILINE)
    assert re.search(r"^0 +2 \+ 8 +4 \+ 4$", text, re.MULTILINE)
    assert "G = 4" in text


def test_blocks_beyond_the_box_have_no_tile(spec: str) -> None:
    assert re.search(r"^beyond +5 .* 8$", told(spec, "--wave", "16", "--map", "beyond"), re.MULTILINE)


def test_without_names_all_maps_with_two_values(spec: str) -> None:
    found = json.loads(told(spec, "--format", "json", "--wave", "16"))
    assert found["schema"] == "swzverify.locality/1"
    assert [order["map"] for order in found["orders"]] == ["rows", "groups", "beyond"]
    first = found["orders"][0]
    assert first["waves"][0] == {"blocks": 16, "idle": 0, "tiles": 16, "a": 2, "b": 8, "at_least": 8}
    assert first["tiles_needed"] == sum(wave["a"] + wave["b"] for wave in first["waves"]) == 40
    assert found["orders"][2]["waves"][-1]["idle"] == 8


def test_the_picture_has_a_cell_per_tile(spec: str, tmp_path: Path) -> None:
    assert told(spec, "--map", "rows", "--wave", "16", "-o", "rows.svg") == ""
    root = ElementTree.parse(tmp_path / "rows.svg").getroot()  # noqa: S314 - our own text
    tips = [each.text for each in root.iter() if each.tag.endswith("title") and (each.text or "").startswith("(")]
    assert len(tips) == 64
    assert tips[63] == "(7,7): wave 3"
    drawn = told(spec, "--map", "rows", "--wave", "16", "--picture")
    assert re.search(r"^ +2  +1( +1){7}$", drawn, re.MULTILINE)


def test_a_tile_of_two_blocks_is_marked(tmp_path: Path) -> None:
    twice = "swzverify: 1\nmaps: {m: {over: {pid: 8}, value: [pid/4, pid%2]}}\nclaims: [{equivalent: [m, m]}]\n"
    (tmp_path / "b.swz.yaml").write_text(twice, encoding="utf-8")
    assert "several blocks have this tile" in told(str(tmp_path / "b.swz.yaml"), "--wave", "2", "--picture")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--map", "row"], "has no map 'row'"),
        (["--map", "flat"], "SWZ585"),
        (["--at", "H=4"], "--at H: no constant"),
        (["--at", "G=3"], "no case with G = 3"),
        (["--at", "G"], "such as GROUP=8"),
        (["--wave", "0"], "--wave"),
        (["--picture", "--format", "json"], "--picture draws as text"),
        (["-o", "a.swz.yaml"], "a.swz.yaml"),
    ],
)
def test_mistakes_are_told(spec: str, arguments: list[str], message: str) -> None:
    result = CliRunner().invoke(main, ["locality", spec, *arguments])
    assert result.exit_code == 2
    assert message in result.output
    assert "Traceback" not in result.output
