"""Races of single launches: small kernels, and all of the folder that SWZVERIFY_RACE_TRUTH names.

That folder has truth.json and mutants.json with launches, verdicts and racing pairs, and ptx/.
"""

from __future__ import annotations

import json
import os
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from . import Buffer, clocks
from .race_cases import CASES, FIRST, Case
from .races import Races, races_of

FOLDER = Path(os.environ.get("SWZVERIFY_RACE_TRUTH", ""))
MISSING = not os.environ.get("SWZVERIFY_RACE_TRUTH") or not (FOLDER / "truth.json").exists()
needs_truth = pytest.mark.skipif(MISSING, reason="SWZVERIFY_RACE_TRUTH names no folder with truth.json")
LATER = {"elect", "flag", "mbar_pipe", "tma_pipe"}
"""Files with mbarriers, bulk copies and flags, which are not modelled."""


def judged(case: Case) -> Races:
    found = races_of(case.text, "k", (64,), params=[1, Buffer(1024, "iota")])
    assert not found.result.error, found.result.error
    return found


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_small_kernels(case: Case) -> None:
    found = judged(case)
    assert (found.verdict, found.lines()) == (case.verdict, {(FIRST + a, FIRST + b) for a, b in case.pairs})


def named(name: str) -> Case:
    return next(case for case in CASES if case.name == name)


def test_a_race_has_threads_and_a_byte() -> None:
    [race] = judged(named("lanes_of_a_warp_have_no_order")).pairs
    first, second = race.threads
    assert first ^ 1 == second
    assert race.byte // 4 in race.threads
    assert race.kinds == ("W", "R")
    assert race.copies == (False, False)
    [race] = judged(named("copy_before_its_wait")).pairs
    assert race.threads[0] == race.threads[1]
    assert race.copies == (True, False)


def test_what_rests_on_returned_threads_is_told() -> None:
    found = judged(named("early_return_after_a_touch"))
    assert [race.lines for race in found.of_returned] == [(FIRST, FIRST + 3)]
    assert judged(named("early_return")).of_returned == []


def test_what_a_race_decides_is_told() -> None:
    read = ("st.shared.u32 [%r4], %r1;", "ld.shared.u32 %r9, [%r5];", "add.u32 %r9, %r9, 1;")
    decides = (*read, "setp.gt.u32 %p6, %r9, 5;", "@%p6 bra A;", "A: ")
    assert judged(Case("", decides, "race")).decided_by_races == [FIRST + 4]
    moves = (*read, "add.u32 %r10, %r3, %r9; and.b32 %r10, %r10, -4;", "ld.shared.u32 %r11, [%r10];")
    assert judged(Case("", moves, "race")).decided_by_races == [FIRST + 4]
    assert judged(Case("", (*read, "st.global.u32 [%d1], %r9;"), "race")).decided_by_races == []
    later = (*read, "st.shared.u32 [%r4], %r9;", "ld.shared.u32 %r11, [%r4];", "setp.gt.u32 %p6, %r11, 5;")
    assert judged(Case("", (*later, "@%p6 bra A;", "A: "), "race")).decided_by_races == [FIRST + 6]


def test_what_is_not_modelled_is_told() -> None:
    found = judged(Case("", ("mbarrier.init.shared.b64 [%r3], 64;",), "unknown"))
    assert found.verdict == "unknown"
    assert "mbarrier.init" in found.left_out[0]


def test_order_that_is_not_modelled_is_told() -> None:
    """It makes no race, and what is free without it is free."""
    lock = ("atom.shared.cas.b32 %r9, [%r3], 0, 1;", "membar.cta;")
    for lines in (("st.release.cta.shared.u32 [%r4], %r1;",), lock):
        alone, races = judged(Case("", lines, "free")), judged(Case("", (*lines, "st.shared.u32 [%r3+4], %r1;"), ""))
        assert alone.verdict == "free"
        assert races.verdict == "unknown"
        assert len(races.order_left_out) == 1


# Each planted mistake is found by a small kernel.


def caught() -> list[str]:
    return [case.name for case in CASES if judged(case).verdict != case.verdict]


def test_lockstep_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every instruction of a warp orders its lanes."""
    settle = clocks.Clocks.settle

    def together(self: clocks.Clocks) -> None:
        pending = self._pending
        settle(self)
        if pending is not None:
            for warp in {lane // 32 for lane in pending.lanes}:
                here = [lane for lane in pending.lanes if lane // 32 == warp]
                self._learn(here, self.clock[here].max(0))
                self.clock[here, here] += 1

    monkeypatch.setattr(clocks.Clocks, "settle", together)
    assert "lanes_of_a_warp_have_no_order" in caught()


def test_copies_that_are_done_at_once_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    settle = clocks.Clocks.settle

    def done(self: clocks.Clocks) -> None:
        pending = self._pending
        settle(self)
        if pending is not None:
            self.wait_copies(pending.lanes, None)

    monkeypatch.setattr(clocks.Clocks, "settle", done)
    assert {"copy_before_its_wait", "copy_waited_for_behind_the_barrier", "copy_of_the_last_group"} <= {*caught()}


def test_a_group_too_many_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    wait = clocks.Clocks.wait_copies
    monkeypatch.setattr(clocks.Clocks, "wait_copies", lambda self, lanes, n: wait(self, lanes, n and n - 1))
    assert caught() == ["copy_of_the_last_group"]


def test_atomics_that_order_with_everything_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clocks, "_both_atomic", lambda old, new: "A" in (old.kind, new.kind))
    assert caught() == ["atomic_and_plain", "atomics_of_two_sizes"]


# The folder of real kernels.


@cache
def truth() -> dict[str, Any]:
    return (
        {} if MISSING else {each["kernel"]: each for each in json.loads((FOLDER / "truth.json").read_text())["kernels"]}
    )


def launched(kernel: dict[str, Any], one: dict[str, Any], without: int | None = None) -> Races:
    """The races of a launch; `without` takes a line out."""
    lines = (FOLDER / "ptx" / f"{kernel['file']}.ptx").read_text().split("\n")
    if without is not None:
        lines[without - 1] = ""
    given = [
        Buffer(arg["value"], "u32") if arg["type"] == "pointer" else one["set"].get(arg["name"], arg["value"])
        for arg in kernel["args"]
    ]
    return races_of("\n".join(lines), kernel["kernel"], one["block"], one["grid"], kernel["smem"], given)


def pairs_of(kernel: dict[str, Any]) -> set[tuple[int, int]]:
    found = [sorted(line for line, _ in pair["ptx"]) for pair in kernel["racing_pairs"]]
    return {(first, second) for first, second in found}


@needs_truth
@pytest.mark.parametrize("name", sorted(truth()))
def test_kernels_of_the_folder(name: str) -> None:
    kernel = truth()[name]
    seen: set[tuple[int, int]] = set()
    for one in kernel["launches"]:
        found = launched(kernel, one)
        if kernel["file"] in LATER:
            assert found.verdict == "unknown"
            return
        assert (one["id"], found.verdict) == (one["id"], one["verdict"])
        seen |= found.lines()
    assert seen == pairs_of(kernel)


@needs_truth
def test_mutants_of_the_folder() -> None:
    """Race-free kernels without one of their barriers or waits: all race, at the known lines."""
    for mutant in json.loads((FOLDER / "mutants.json").read_text())["mutants"]:
        kernel = truth()[mutant["kernel"]]
        if kernel["file"] not in LATER:
            found = launched(kernel, {"set": {}, "block": mutant["block"], "grid": kernel["grid"]}, mutant["line"])
            known = {tuple(sorted(line for line, _ in pair)) for pair in mutant["pairs"]}
            assert (mutant["kernel"], mutant["line"], found.verdict) == (mutant["kernel"], mutant["line"], "race")
            assert found.lines() == known
