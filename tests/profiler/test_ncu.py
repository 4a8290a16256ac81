"""Running ncu, with a stand-in for it: what it is asked for, and how it fails."""

from __future__ import annotations

from pathlib import Path

import pytest

from swzverify.compiled.profiler import Launch, profile
from swzverify.compiled.profiler.ncu import launches
from swzverify.errors import SwzError
from tests.binaries.fakes import only_tool
from tests.profiler.fake_ncu import ncu
from tests.profiler.recorded import DATA, MIXED, PADDED, ROWS


def test_what_ncu_is_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = ncu(monkeypatch, tmp_path)
    export, found = profile("./app --size 'a b; rm x'", "mixed")
    assert [each.kernel for each in export.profiles] == [ROWS, PADDED, MIXED, MIXED]
    assert found[0] == Launch(ROWS, (32, 8, 1), "NVIDIA H200")
    run, source, raw = log.read_text().splitlines()
    assert "--section SourceCounters --clock-control none" in run
    assert "--kernel-name-base mangled --kernel-name mixed" in run
    assert run.endswith("./app --size a b; rm x")  # one word: no shell splits it
    assert "--page source --print-source sass --csv --print-kernel-base mangled" in source
    assert "--page raw" in raw


@pytest.mark.parametrize(
    ("run", "words"),
    [
        ("echo '==ERROR== ERR_NVGPUCTRPERM: no rights'; exit 1", "could not profile './app': ERR_NVGPUCTRPERM"),
        ("echo 'no such file' >&2; exit 9", "no such file"),
        ("exit 3", "it ended with code 3"),
        ("exit 0", "it ended with code 0"),
        ("printf '==ERROR== \\033[31mred'; exit 1", "\ufffd[31mred"),
    ],
)
def test_a_command_that_cannot_be_profiled(
    run: str, words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ncu(monkeypatch, tmp_path, run)
    with pytest.raises(SwzError) as caught:
        profile("./app")
    assert caught.value.code == "SWZ546"
    assert words in caught.value.message
    assert ("administrators" in caught.value.hint) == ("NVGPUCTRPERM" in run)


@pytest.mark.parametrize("command", ["", "  ", "'open"])
def test_commands_that_are_none(command: str) -> None:
    with pytest.raises(SwzError, match="SWZ546"):
        profile(command)


def test_without_ncu(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    only_tool(monkeypatch, tmp_path)
    with pytest.raises(SwzError, match="SWZ542: ncu is not found") as caught:
        profile("./app")
    assert "--check FILE.csv" in caught.value.hint


def test_launches_of_the_recorded_page() -> None:
    found = launches((DATA / "raw.csv").read_text())
    assert [each.block for each in found] == [(32, 8, 1), (32, 8, 1), (64, 1, 1), (64, 1, 1)]


@pytest.mark.parametrize("text", ["", "x", '"ID"\n', '"Kernel Name","Block Size"\n"k"\n"k","32"\n', "\0\0"])
def test_raw_pages_that_say_nothing(text: str) -> None:
    assert launches(text) == ()
