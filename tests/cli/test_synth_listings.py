"""`swzverify synth` for listings: the families, what is told, and the exit codes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from swzverify.apps.cli import main
from swzverify.apps.commands.synth_listing import SEARCHES
from swzverify.apps.options.synth import OF_LISTINGS

ROWS = ["FFMA R4, R67, R73, R4;", "FFMA R5, R67, R72, R5;", "FFMA R6, R65, R73, R6;", "FFMA R7, R65, R72, R7;"]


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    listings = {"rows": {"target": "sm_52", "text": "\n".join(ROWS)}, "one": {"target": "sm_52", "text": ROWS[2]}}
    Path("a.swz.yaml").write_text(json.dumps({"swzverify": 1, "listings": listings}))
    return tmp_path


def synth(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["synth", "a.swz.yaml", *arguments])


def test_the_families_are_those_of_the_searches() -> None:
    assert tuple(SEARCHES) == OF_LISTINGS


@pytest.mark.usefixtures("file")
def test_marks_that_leave_a_conflict_end_with_1() -> None:
    result = synth("--family", "reuse", "--listing", "rows")
    assert result.exit_code == 1, result.output
    lines = result.output.splitlines()
    assert lines[0] == "a.swz.yaml: listing rows (sm_52), family reuse"
    assert lines[1] == "  answer   1 conflict; 10 registers from the banks, 2 marks"
    assert lines[2] == "  given    1 conflict; 12 registers from the banks, 0 marks"
    assert lines[4].startswith("  optimal  none has fewer conflicts: dynamic programming")
    assert lines[5].startswith("  proved   at most 1, by ")
    assert lines[6:] == [
        "FFMA R4, R67.reuse, R73, R4;",
        "FFMA R5, R67, R72, R5;",
        "FFMA R6, R65.reuse, R73, R6;",
        "FFMA R7, R65, R72, R7;",
    ]


@pytest.mark.usefixtures("file")
@pytest.mark.parametrize("family", ["order", "registers"])
def test_an_answer_without_conflicts_ends_with_0(family: str) -> None:
    result = synth("--family", family, "--listing", "rows", "--format", "json")
    assert result.exit_code == 0, result.output
    found = json.loads(result.output)
    assert found["schema"] == "swzverify.synth_listing/1"
    assert (found["answer"]["conflicts"], found["given"]["conflicts"], found["bound"]) == (0, 1, 0)
    assert found["optimal"] is True
    assert found["verdict"] == "proved"
    assert len(found["engines"]) > 1
    assert found["text"].count("\n") == len(ROWS)


def test_the_answer_goes_to_a_file(file: Path) -> None:
    assert synth("--family", "order", "--listing", "rows", "--output", "answer.txt").exit_code == 0
    assert (file / "answer.txt").read_text().startswith("a.swz.yaml: listing rows")


@pytest.mark.usefixtures("file")
def test_an_open_minimum_ends_with_3(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("swzverify.search.synth.code.numbers.MOST_NODES", 0)
    result = synth("--family", "registers", "--listing", "rows")
    assert result.exit_code == 3, result.output
    assert "  optimal  open: 0 conflicts at least" in result.output


@pytest.mark.usefixtures("file")
@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--family", "reuse"], "SWZ561: a.swz.yaml has 2 listings: which one?"),
        (["--family", "reuse", "--listing", "row"], "SWZ561: a.swz.yaml has no listing 'row'"),
        (["--listing", "rows"], "swizzle is no family of listings: reuse, order, registers"),
        (["--family", "order", "--listing", "rows", "--write"], "--family order goes with --listing"),
        (["--family", "order", "--listing", "rows", "--stages", "2"], "--family order goes with --listing"),
    ],
)
def test_what_does_not_go(arguments: list[str], says: str) -> None:
    result = synth(*arguments)
    assert result.exit_code == 2
    assert says in result.output
