"""What `swzverify scan` and `assert_scan_race_free` make of the verdicts on races, which stand here by hand."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from swzverify.apps.run import scan_jobs as scan
from swzverify.compiled.order.verdict import BarrierFinding, KernelRaces, Pair, Participant, RaceVerdict, Witness
from swzverify.compiled.ptx import Function, Module
from swzverify.compiled.scan import Given
from swzverify.errors import SwzError
from swzverify.testing import assert_scan_free, assert_scan_race_free
from tests.kernel.texts import HEAD
from tests.scan.test_command import run
from tests.scan.texts import strided, text_of

SIDE = Participant(7, "ld.shared.u32", "k.cu:7")
PAIR = Pair(SIDE, replace(SIDE, line=9), RaceVerdict.RACE, "no barrier orders the accesses")
WITNESS = Witness((1, 2), ((), ()), 8, "s", ())
BARRIER = BarrierFinding(8, "bar.sync", "", RaceVerdict.DIVERGENT, "not all threads reach it")
FOUND = {
    "free": KernelRaces(RaceVerdict.FREE, "all pairs are free", free_pairs=3),
    "race": KernelRaces(RaceVerdict.RACE, "no barrier", (replace(PAIR, witness=WITNESS),)),
    "depends": KernelRaces(RaceVerdict.DEPENDS, "n", (replace(PAIR, verdict=RaceVerdict.DEPENDS),)),
    "benign": KernelRaces(RaceVerdict.BENIGN, "one value", (replace(PAIR, verdict=RaceVerdict.BENIGN),)),
    "divergent": KernelRaces(RaceVerdict.DIVERGENT, "not all", (), 3, (BARRIER,)),
    "unknown": KernelRaces(
        RaceVerdict.UNKNOWN, "open", (replace(PAIR, verdict=RaceVerdict.UNKNOWN, reason="why not"),)
    ),
}


class Fake:
    """A judge of races that has one answer, and keeps what it was asked."""

    def __init__(self, name: str) -> None:
        self.found, self.asked = FOUND[name], list[tuple[Any, ...]]()

    def __call__(self, _: Module, function: Function, given: Given, **words: Any) -> KernelRaces:
        self.asked.append((function.name, given, words))
        return replace(self.found, is_lockstep=words["lockstep"])


@pytest.fixture
def ptx(tmp_path: Path) -> str:
    path = tmp_path / "k.ptx"
    path.write_text(text_of(".loc 1 7 3\n" + strided(4)) + '\n.file 1 "k.cu"\n', encoding="utf-8")
    return str(path)


def judged(monkeypatch: pytest.MonkeyPatch, name: str) -> Fake:
    fake = Fake(name)
    monkeypatch.setattr(scan, "races_of", fake)
    return fake


@pytest.mark.parametrize(
    ("name", "failing"),
    [
        ("free", set[str]()),
        ("race", {"race"}),
        ("depends", {"race"}),
        ("divergent", {"race"}),
        ("benign", {"race-benign"}),
        ("unknown", set[str]()),
    ],
)
def test_what_fails(ptx: str, monkeypatch: pytest.MonkeyPatch, name: str, failing: set[str]) -> None:
    judged(monkeypatch, name)
    for word in ("conflict", "race", "race-benign", "unknown"):
        assert run(ptx, "--block", "64", "--fail-on", word).exit_code == int(word in failing), word
    assert run(ptx, "--block", "64").exit_code == 0


def test_a_known_race_does_not_fail_again(ptx: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    judged(monkeypatch, "race")
    known = str(tmp_path / "known.json")
    run(ptx, "--block", "64", "--write-baseline", known)
    told = run(ptx, "--block", "64", "--baseline", known)
    assert told.exit_code == 0
    assert "  race, known" in told.stdout
    fake = judged(monkeypatch, "race")
    fake.found = replace(fake.found, pairs=(*fake.found.pairs, replace(PAIR, first=replace(SIDE, opcode="st.shared"))))
    assert run(ptx, "--block", "64", "--baseline", known).exit_code == 1
    judged(monkeypatch, "divergent")
    assert run(ptx, "--block", "64", "--baseline", known).exit_code == 1


def test_what_is_given_reaches_the_judge(ptx: str, monkeypatch: pytest.MonkeyPatch) -> None:
    fake = judged(monkeypatch, "free")
    words = ("--block", "32,2", "--param", "n=3", "--assume", "n > 2", "--grid", "4", "--target", "sm_80")
    told = run(ptx, *words, "--lockstep", "-j", "1")
    assert "  races with lanes in lockstep: free (3 pairs)" in told.stdout
    ((name, given, asked),) = fake.asked
    assert name == "k"
    assert (given.parameters, given.assumptions, given.grid) == (("n=3",), ("n > 2",), (4, 1, 1))
    assert asked == {"lockstep": True, "block": (32, 2, 1), "target": "sm_80", "smem": None}


def test_a_block_that_is_assumed_stands_with_the_verdict(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    judged(monkeypatch, "free")
    path = tmp_path / "k.ptx"
    path.write_text(text_of(strided(4)).replace(".param .u64 q)", ".param .u64 q) .maxntid 96"), encoding="utf-8")
    (found,) = json.loads(run(str(path), "--format", "json").stdout)["kernels"]
    assert found["races"]["assumptions"] == ["blocks of 96,1,1 threads, from .maxntid"]
    lines = run(str(path)).stdout.splitlines()
    assert sum("from .maxntid" in line for line in lines) == 1


def test_functions_have_no_races_of_their_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake = judged(monkeypatch, "free")
    path = tmp_path / "f.ptx"
    path.write_text(text_of(strided(4)).replace(".visible .entry", ".visible .func").replace(".entry", ".func"))
    assert json.loads(run(str(path), "--block", "64", "--format", "json").stdout)["kernels"] == []
    assert fake.asked == []


def test_kernels_without_an_access_are_nothing_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "none.ptx"
    path.write_text(text_of(""), encoding="utf-8")
    judged(monkeypatch, "free")
    assert run(str(path), "--block", "64").exit_code == 5
    judged(monkeypatch, "divergent")
    told = run(str(path), "--block", "64", "--fail-on", "race")
    assert told.exit_code == 1
    assert "  barrier that not all threads reach" in told.stdout


def test_processes_bring_races_back(tmp_path: Path) -> None:
    kernels = "".join(
        HEAD.split("\n", 1)[1].replace("entry k(", f"entry k{number}(") + strided(4) + "\nret; }\n" for number in (1, 2)
    )
    path = tmp_path / "two.ptx"
    path.write_text(text_of(strided(4)) + kernels, encoding="utf-8")
    alone, several = (run(str(path), "--block", "64", "--format", "json", "-j", jobs).stdout for jobs in "12")
    assert alone == several
    assert [each["kernel"] for each in json.loads(alone)["kernels"]] == ["k", "k1", "k2"]


# ---- in pytest


@pytest.mark.parametrize(
    ("name", "words", "lines"),
    [
        ("race", {}, ["kernel k: race", "  race", "    threads 1 and 2 touch byte 8 of s"]),
        ("depends", {}, ["kernel k: depends", "  race for some parameters"]),
        ("divergent", {}, ["kernel k: divergent-barrier", "  barrier that not all threads reach"]),
        ("benign", {}, ["kernel k: race-benign", "  race with one value"]),
        ("unknown", {}, ["kernel k: unknown", "  unknown: open", "    why not"]),
        ("race", {"allow_benign": True, "allow_unknown": True}, ["kernel k: race"]),
    ],
)
def test_the_assertion_fails(
    ptx: str, monkeypatch: pytest.MonkeyPatch, name: str, words: dict[str, bool], lines: list[str]
) -> None:
    judged(monkeypatch, name)
    with pytest.raises(AssertionError) as failure:
        assert_scan_race_free(ptx, block=64, **words)  # type: ignore[arg-type]
    told = str(failure.value).splitlines()
    assert told[0] == "1 of 1 kernels is not free of races in shared memory"
    assert set(lines) <= set(told)


@pytest.mark.parametrize(
    ("name", "words"), [("free", {}), ("benign", {"allow_benign": True}), ("unknown", {"allow_unknown": True})]
)
def test_the_assertion_holds(ptx: str, monkeypatch: pytest.MonkeyPatch, name: str, words: dict[str, bool]) -> None:
    judged(monkeypatch, name)
    assert assert_scan_race_free(ptx, block=64, **words) == {"k": FOUND[name]}  # type: ignore[arg-type]


def test_the_assertion_gives_what_it_is_given(ptx: str, monkeypatch: pytest.MonkeyPatch) -> None:
    fake = judged(monkeypatch, "free")
    assert_scan_race_free(
        ptx, kernel="k", block=(8, 8), grid=2, target="sm_80", parameters={"n": 3}, assume=["n > 2"], lockstep=True
    )
    ((_, given, asked),) = fake.asked
    assert (given.parameters, given.assumptions, given.grid) == (("n=3",), ("n > 2",), (2, 1, 1))
    assert asked == {"lockstep": True, "block": (8, 8, 1), "target": "sm_80", "smem": None}


def test_each_assertion_asks_for_its_own(ptx: str, monkeypatch: pytest.MonkeyPatch) -> None:
    fake = judged(monkeypatch, "race")
    assert_scan_free(ptx, block=64)
    assert fake.asked == []
    judged(monkeypatch, "free")
    monkeypatch.setattr(scan, "scan_function", None)
    assert_scan_race_free(ptx, block=64)


def test_the_assertion_needs_a_kernel_and_a_text_that_it_reads(monkeypatch: pytest.MonkeyPatch) -> None:
    judged(monkeypatch, "free")
    with pytest.raises(AssertionError, match="no kernel found: nothing was shown"):
        assert_scan_race_free(text_of("").split(".visible .entry")[0].split(".entry")[0])
    broken = text_of(strided(4)) + "\n.shared .b8 x[;\n"
    with pytest.raises(AssertionError, match="cannot be read"):
        assert_scan_race_free(broken, block=64)
    with pytest.raises(SwzError, match="SWZ803"):
        assert_scan_race_free(text_of(""), block=0)
