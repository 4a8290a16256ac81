"""`swzverify scan --check` and `--check-run` as people run them, with the recorded run on an H200."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.profiler.fake_ncu import ncu
from tests.profiler.recorded import DATA, MIXED, ROWS, cubin, with_counts, with_source_names
from tests.scan.test_command import run

WRONG = with_counts(0xB10, ROWS, {"L1 Wavefronts Shared": "24"})


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[str, ...]:
    """The scan of the recorded kernels; nvdisasm is a stand-in that prints the recorded listing."""
    ncu(monkeypatch, tmp_path)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "k.ptx").write_text((DATA / "checked.ptx").read_text(), encoding="utf-8")
    (tmp_path / "k.cubin").write_bytes(cubin())
    return "k.ptx", "--cubin", "k.cubin", "--block", "32,8", "--kernel", ROWS, "--no-suggest"


def export(text: str) -> str:
    Path("counters.csv").write_text(text, encoding="utf-8")
    return "counters.csv"


def document(*words: str, code: int = 0) -> Any:
    result = run(*words, "--format", "json")
    assert result.exit_code == code, result.output
    return json.loads(result.stdout)


def test_the_text(files: tuple[str, ...]) -> None:
    result = run(*files, "--check", export(with_source_names()), "--verbose")
    assert result.exit_code == 0
    lines = result.stdout.splitlines()
    assert "    counters: agrees" in lines
    assert "      0x1570 LDS R15, [R4]: 256 wavefronts of 8 executed, ideal 8, at most 256" in lines
    assert "counters: 8 agree, 0 disagree, 2 not seen, 0 open" in lines
    assert any("does not say the block" in line for line in lines)


def test_the_verdicts_are_as_they_were(files: tuple[str, ...]) -> None:
    without = document(*files)["accesses"]
    for code, text in ((0, with_source_names()), (1, WRONG)):
        found = document(*files, "--check", export(text), code=code)["accesses"]
        assert [{**each, "measured": None} for each in found] == without
        assert all(each["measured"]["status"] for each in found)


def test_json(files: tuple[str, ...]) -> None:
    found = document(*files, "--check", export(with_source_names()))
    assert (found["check"]["agrees"], found["check"]["disagrees"], found["check"]["issues"]) == (8, 0, [])
    assert found["check"]["launches"] == {ROWS: 1}
    (measured,) = [each["measured"] for each in found["accesses"] if each["line"] == 184]
    assert measured["instructions"] == [
        {
            "sass": "LDS R5, [R4+-0x40]",
            "offset_bytes": 0x1520,
            "executed": 8,
            "lanes": 256,
            "wavefronts": 256,
            "ideal": 8,
            "at_most": 256,
        }
    ]


def test_a_planted_count_is_an_issue_in_every_format(files: tuple[str, ...]) -> None:
    words = (*files, "--check", export(WRONG))
    (issue,) = document(*words, code=1)["check"]["issues"]
    for part in (
        "line 111",
        ROWS,
        "st.shared.f32",
        "0x0b10 STS [R4], R11: 24 wavefronts of 8 executed, ideal 8, at most 8",
        "swzverify scan k.ptx --kernel",
        "--block 32,8 --cubin k.cubin --check counters.csv",
        "more wavefronts were counted than the verdict allows",
        "sm_90",
        "z3-solver",
    ):
        assert part in issue
    for form in ("text", "markdown", "github", "sarif", "junit", "jsonl"):
        result = run(*words, "--format", form)
        assert result.exit_code == 1
        assert "24 wavefronts of 8 executed" in result.stdout, form
    quiet = run(*words, "--quiet").stdout
    assert "line 111" in quiet
    assert "### scan:" in quiet


def test_a_planted_count_does_not_fail_in_silence_with_a_baseline(files: tuple[str, ...]) -> None:
    assert run(*files, "--write-baseline", "known.yaml").exit_code == 0
    assert run(*files, "--baseline", "known.yaml").exit_code == 0
    assert run(*files, "--baseline", "known.yaml", "--check", export(WRONG)).exit_code == 1


def test_markdown_has_a_row_for_each_access(files: tuple[str, ...]) -> None:
    text = run(*files, "--check", export(with_source_names()), "--format", "markdown").stdout
    assert "### Counters" in text
    assert text.count("| agrees |") == 8


def test_columns_that_lack_are_said(files: tuple[str, ...]) -> None:
    text = with_source_names().replace("L1 Wavefronts Shared Ideal", "Other")
    found = document(*files, "--check", export(text))
    assert any("'L1 Wavefronts Shared Ideal'" in note for note in found["check"]["notes"])
    assert found["check"]["agrees"] == 8


def test_check_run(files: tuple[str, ...]) -> None:
    found = document(*files, "--check-run", "./app 1")
    assert found["check"]["devices"] == ["NVIDIA H200"]
    assert found["check"]["agrees"] == 8
    assert not any("block" in note for note in found["check"]["notes"])
    assert "--kernel-name " + ROWS in Path("log.txt").read_text()


@pytest.mark.nightly
def test_launches_of_another_block_are_not_compared(files: tuple[str, ...]) -> None:
    words = [word if word != "32,8" else "16,16" for word in files]
    found = document(*words, "--check-run", "./app 1")
    assert found["check"]["agrees"] == 0
    (note,) = [note for note in found["check"]["notes"] if "not compared" in note]
    assert "launched with blocks of 32,8,1, judged for 16,16,1" in note


def test_counters_of_other_code_are_refused(files: tuple[str, ...]) -> None:
    page = export(with_source_names().replace("LDS R5, [R4+-0x40]", "LDS.64 R6, [R4+-0x40]"))
    result = run(*files, "--check", page)
    assert result.exit_code == 2
    assert "SWZ545" in result.stderr
    assert "not those of the machine code" in result.stderr


@pytest.mark.nightly
def test_without_machine_code(files: tuple[str, ...]) -> None:
    result = run(files[0], "--block", "32,8", "--check", export(with_source_names()))
    assert result.exit_code == 2
    assert "SWZ545: counters need machine code: no machine code was given" in result.stderr


def test_a_bad_export_is_refused_before_the_scan(files: tuple[str, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("swzverify.apps.run.scan.scan_texts", None)
    result = run(*files, "--check", export("nothing"))
    assert result.exit_code == 2
    assert "SWZ544" in result.stderr


def test_hostile_names_stay_text(files: tuple[str, ...]) -> None:
    other = '"Kernel Name","\x1b[31m::error::x"\n"Address","Source","Instructions Executed","L1 Wavefronts Shared"\n'
    page = export(with_source_names() + other + '"0x0","LDS R1, [R2]","1","1"\n')
    for form in ("text", "github", "markdown", "json"):
        result = run(*files, "--check", page, "--format", form)
        assert result.exit_code == 0
        assert "\x1b" not in result.stdout
        assert not any(line.lstrip().startswith("::error::x") for line in result.stdout.splitlines())


def test_the_other_kernel(files: tuple[str, ...]) -> None:
    words = [{"32,8": "64", ROWS: MIXED}.get(word, word) for word in files]
    found = document(*words, "--check", export(with_source_names()))
    status = {each["line"]: each["measured"]["status"] for each in found["accesses"]}
    assert (status[443], status[564], status[571], status[579]) == ("agrees", "agrees", "open", "not seen")
