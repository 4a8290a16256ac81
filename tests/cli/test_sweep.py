"""`swzverify sweep` as a command."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from swzverify.apps.cli import main
from tests.sweep.conftest import TEXT


@pytest.fixture
def spec(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The spec in the working folder."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.swz.yaml").write_text(TEXT, encoding="utf-8")
    return "a.swz.yaml"


def test_the_folder_has_the_name_of_the_spec(spec: str, tmp_path: Path) -> None:
    result = CliRunner().invoke(main, ["sweep", spec, "-j", "1"])
    assert result.exit_code == 0, result.output
    assert "a.swz.yaml: 48 cases, in a.sweep" in result.stdout
    assert {file.name for file in (tmp_path / "a.sweep").iterdir()} >= {"cases.parquet", "cases.csv", "sweep.json"}
    again = CliRunner().invoke(main, ["sweep", spec, "-j", "1"])
    assert (again.exit_code, again.stdout, again.stderr) == (0, result.stdout, "")


def test_json_and_a_heatmap(spec: str, tmp_path: Path) -> None:
    drawn = ["--heatmap", "P,B", "--picture", "map.svg"]
    result = CliRunner().invoke(main, ["sweep", spec, "-j", "1", "--format", "json", *drawn])
    assert "bank conflicts" in (tmp_path / "map.svg").read_text(encoding="utf-8")
    told = json.loads(result.stdout)
    assert told["schema"] == "swzverify.spec.sweep-summary/1"
    assert sum(told["statuses"].values()) == told["cases"] == 48
    assert sum(line["cases"] for line in told["axes"]["C"]) == 48
    assert sum(line["free"] for line in told["axes"]["B"]) == told["statuses"]["free"]
    assert told["best"]["status"] == "free"
    assert told["best"]["conflicts"] == 0
    cells = {
        (down, across): cell
        for down, row in zip(told["heatmap"]["rows"], told["heatmap"]["conflicts"], strict=True)
        for across, cell in zip(told["heatmap"]["columns"], row, strict=True)
    }
    assert set(cells) == {(b, p) for b in range(4) for p in (0, 8)}
    assert 0 in cells.values()
    assert max(cell for cell in cells.values() if cell is not None) > 0


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--heatmap", "P"], "two axes"),
        (["--heatmap", "P,P"], "two axes"),
        (["--heatmap", "P,Q"], "SWZ572"),
        (["--picture", "map.svg"], "--heatmap"),
        (["--scheduler", "tcp://127.0.0.1:9", "--slurm", "2"], "one of them"),
        (["--target", "sm_1"], "SWZ402"),
        (["-j", "0"], "-j"),
    ],
)
def test_refusals(spec: str, arguments: list[str], told: str) -> None:
    result = CliRunner().invoke(main, ["sweep", spec, *arguments])
    assert result.exit_code == 2
    assert told in result.output


def test_a_spec_that_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "b.yaml").write_text("swzverify: 1\nsweep: {over: {}}\n")
    result = CliRunner().invoke(main, ["sweep", "b.yaml"])
    assert result.exit_code == 2
    assert "SWZ105" in result.output
    missing = CliRunner().invoke(main, ["sweep", "c.yaml"])
    assert missing.exit_code == 2
    assert "SWZ101" in missing.output


def test_other_commands_take_the_spec_as_it_stands(spec: str) -> None:
    Path(spec).write_text(TEXT + "claims: standard\n", encoding="utf-8")
    assert CliRunner().invoke(main, ["prove", spec]).exit_code == 0
    Path(spec).write_text(TEXT.replace("P: [0, 8]", "Q: [0, 8]") + "claims: standard\n", encoding="utf-8")
    wrong = CliRunner().invoke(main, ["prove", spec])
    assert wrong.exit_code == 2
    assert "SWZ106" in wrong.output
