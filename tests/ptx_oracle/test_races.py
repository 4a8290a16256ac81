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

from . import Buffer, clocks, knowledge, mbarriers, strong, touches
from .pipeline_cases import CASES as PIPELINES
from .race_cases import CASES, FIRST, Case
from .races import Races, races_of

FOLDER = Path(os.environ.get("SWZVERIFY_RACE_TRUTH", ""))
MISSING = not os.environ.get("SWZVERIFY_RACE_TRUTH") or not (FOLDER / "truth.json").exists()
needs_truth = pytest.mark.skipif(MISSING, reason="SWZVERIFY_RACE_TRUTH names no folder with truth.json")


def judged(case: Case) -> Races:
    found = races_of(case.text, "k", (64,), params=[1, Buffer(1024, "iota")])
    assert not found.result.error or found.verdict in ("deadlock", "divergent-barrier"), found.result.error
    return found


@pytest.mark.parametrize("case", [*CASES, *PIPELINES], ids=lambda case: case.name)
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


def test_two_numbers_never_complete() -> None:
    body = ("@%p2 bra A;", "bar.sync 14;", "bra B;", "A: bar.sync 15;", "B:")
    found = races_of(Case("", body, "divergent-barrier").text, "k", (64,), params=[1, Buffer(1024, "iota")])
    assert found.verdict == "divergent-barrier"
    assert "all lanes wait" in found.result.error


TENSOR = "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%r3], [%d1, {%r1, %r1}], [%r3];"


def test_what_is_not_modelled_is_told() -> None:
    found = judged(Case("", (TENSOR,), "unknown"))
    assert found.verdict == "unknown"
    assert "tensor" in found.left_out[0]


# Each planted mistake is found by a small kernel.


def shown_by(*names: str) -> bool:
    """Whether each of these kernels gets a wrong verdict."""
    cases = [case for case in (*CASES, *PIPELINES) if case.name in names]
    assert len(cases) == len(names)
    return all(judged(case).verdict != case.verdict for case in cases)


def test_lockstep_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every instruction of a warp orders its lanes."""
    settle = clocks.Clocks.settle

    def together(self: clocks.Clocks) -> None:
        pending = self._pending
        settle(self)
        if pending is not None:
            for warp in {lane // 32 for lane in pending.lanes}:
                here = [lane for lane in pending.lanes if lane // 32 == warp]
                self.knowledge.learn(here, self.knowledge.tell(here))

    monkeypatch.setattr(clocks.Clocks, "settle", together)
    assert shown_by("lanes_of_a_warp_have_no_order")


def test_copies_that_are_done_at_once_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    settle = clocks.Clocks.settle

    def done(self: clocks.Clocks) -> None:
        pending = self._pending
        settle(self)
        if pending is not None:
            self.wait_copies(pending.lanes, None)

    monkeypatch.setattr(clocks.Clocks, "settle", done)
    assert shown_by("copy_before_its_wait", "copy_waited_for_behind_the_barrier", "copy_of_the_last_group")


def test_a_group_too_many_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    wait = clocks.Clocks.wait_copies
    monkeypatch.setattr(
        clocks.Clocks, "wait_copies", lambda self, lanes, n, **kind: wait(self, lanes, n and n - 1, **kind)
    )
    assert shown_by("copy_of_the_last_group")


def test_places_that_part_warps_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clocks, "_is_syncthreads", clocks._is_aligned)
    assert shown_by("two_places_of_one_number", "two_places_of_one_count")


def test_places_that_part_nobody_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clocks, "_is_aligned", lambda _: False)
    assert shown_by("two_places_of_number_0", "two_places_in_one_warp", "two_places_in_one_warp_with_a_count")


def test_atomics_that_order_with_everything_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(touches, "group_of", lambda touch: touch.kind)
    assert shown_by("atomics_of_two_sizes")
    monkeypatch.setattr(touches, "group_of", lambda touch: "R" if touch.kind == "A" else touch.kind)
    assert shown_by("atomic_and_plain", "atomics_of_two_sizes")


def wait_told(monkeypatch: pytest.MonkeyPatch, told: object) -> None:
    """Let a wait that answers true learn something else."""
    acquire = clocks.Clocks.acquire
    monkeypatch.setattr(clocks.Clocks, "acquire", lambda self, lane, _told: acquire(self, lane, told))


def test_a_wait_that_acquires_nothing_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    wait_told(monkeypatch, None)
    assert shown_by("mbarrier_of_all", "bulk_load", "copies_that_arrive", "elected_arrival")


def test_an_arrival_that_acquires_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if each arrival were a wait."""
    release = clocks.Clocks.release
    seen: list[Any] = []

    def both(self: clocks.Clocks, lane: int) -> Any:
        told = release(self, lane)
        seen.append(told)
        for each in seen:
            if each.clock.shape == told.clock.shape:
                self.knowledge.learn([lane], each)
        return told.joined(self.knowledge.all_of([lane]))

    monkeypatch.setattr(clocks.Clocks, "release", both)
    judged(next(case for case in PIPELINES if case.name == "elected_arrival"))  # whose arrivals the next kernel hears
    assert shown_by("elected_arrival_without_a_warp_barrier")


def test_copies_of_a_phase_that_are_forgotten_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    hear = mbarriers.Mbarrier.hear
    monkeypatch.setattr(mbarriers.Mbarrier, "hear", lambda self, told: hear(self, told._replace(copies=0)))
    assert shown_by("bulk_load", "copies_that_arrive")


def test_bytes_that_do_not_count_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    def ends(self: mbarriers.Mbarrier) -> bool:
        self.bytes = 0
        return END(self)

    monkeypatch.setattr(mbarriers.Mbarrier, "ends", ends)
    assert shown_by("more_bytes_than_copied")


END = mbarriers.Mbarrier.ends


def test_ends_of_objects_that_are_ignored_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    touch = clocks.Clocks.touch_object

    def ignoring(self: clocks.Clocks, line: int, lane: int, start: int, *, copy: int = -1, how: str = "") -> None:
        if how != "inval":
            touch(self, line, lane, start, copy=copy, how=how)

    monkeypatch.setattr(clocks.Clocks, "touch_object", ignoring)
    assert shown_by("inval_without_a_barrier", "inval_of_a_copy_in_flight", "inval_twice")


def test_fences_that_do_nothing_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(knowledge.Knowledge, "fence_proxies", lambda _self, _lanes: None)
    assert shown_by("bulk_store", "bulk_load_behind_fenced_writes")


def test_proxies_that_are_one_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(touches.Touch, "is_fenced", False)
    assert shown_by("bulk_store_without_a_fence", "fence_before_the_write", "bulk_load_behind_writes")


def test_strong_writes_that_release_anyway_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    access = strong.Strong.access

    def releasing(self: strong.Strong, lane: int, place: tuple[int, int], how: str, **kind: bool) -> None:
        access(self, lane, place, "acq_rel" if how == "relaxed" else how, **kind)

    monkeypatch.setattr(strong.Strong, "access", releasing)
    assert shown_by("relaxed_flag", "flag_that_is_not_acquired")


def test_an_arrival_that_is_a_barrier_of_all_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Threads that arrive learn what those who wait know."""
    opened = clocks.Clocks.opened

    def both(self: clocks.Clocks, key: object, waiting: Any, *, whole: bool, loose: bool) -> None:
        told = self._arrived[key].joined(self.knowledge.all_of(list(range(self.lanes))))
        self._arrived[key] = told
        opened(self, key, waiting, whole=whole, loose=loose)

    monkeypatch.setattr(clocks.Clocks, "opened", both)
    assert shown_by("arrival_orders_one_way")


# The folder of real kernels.

BY_CHANCE = {"mbar_phase_hang"}
"""They race in some orders of execution."""


@cache
def truth() -> dict[str, Any]:
    return (
        {} if MISSING else {each["kernel"]: each for each in json.loads((FOLDER / "truth.json").read_text())["kernels"]}
    )


def launched(
    kernel: dict[str, Any], one: dict[str, Any], without: int | None = None, shuffle: int | None = None
) -> Races:
    """The races of a launch; `without` takes a line out."""
    lines = (FOLDER / "ptx" / f"{kernel['file']}.ptx").read_text().split("\n")
    if without is not None:
        lines[without - 1] = ""
    given = [
        Buffer(arg["value"], "u32") if arg["type"] == "pointer" else one["set"].get(arg["name"], arg["value"])
        for arg in kernel["args"]
    ]
    return races_of(
        "\n".join(lines), kernel["kernel"], one["block"], one["grid"], kernel["smem"], given, shuffle=shuffle
    )


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
        if kernel["kernel"] in BY_CHANCE:
            others = [launched(kernel, one, shuffle=seed) for seed in range(6)]
            seen |= {pair for each in others for pair in each.lines()}
            found = next(each for each in others if each.pairs)
        assert (one["id"], found.verdict) == (one["id"], one["verdict"])
        seen |= found.lines()
    assert seen == pairs_of(kernel)


@needs_truth
def test_mutants_of_the_folder() -> None:
    """Race-free kernels without one of their barriers or waits: all race, at the known lines."""
    for mutant in json.loads((FOLDER / "mutants.json").read_text())["mutants"]:
        kernel = truth()[mutant["kernel"]]
        found = launched(kernel, {"set": {}, "block": mutant["block"], "grid": kernel["grid"]}, mutant["line"])
        known = {tuple(sorted(line for line, _ in pair)) for pair in mutant["pairs"]}
        assert (mutant["kernel"], mutant["line"], found.verdict) == (mutant["kernel"], mutant["line"], "race")
        assert found.lines() == known
