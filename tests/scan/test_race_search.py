"""Races and hangs that runs find where the analysis of paths leaves a kernel unknown."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path

import pytest

from swzverify.compiled.order.verdict import KernelRaces, Pair, Participant, RaceVerdict, Witness
from swzverify.compiled.ptx import read_module
from swzverify.compiled.scan.given import Given, facts_of
from swzverify.compiled.scan.race_replay import TWO_VALUES, Runs
from swzverify.compiled.scan.race_search import BOXES, NO_FENCE, NO_ORDER
from swzverify.compiled.scan.races import races_of
from swzverify.compiled.trial import objects
from tests.trial.test_clocks import FIRST, HEAD
from tests.trial.test_pipelines import ARRIVE, ASK, MINE, OTHERS, STORE, objects_of, two, wait

FOLDER = Path(os.environ.get("SWZVERIFY_RACE_TRUTH", ""))
MISSING = not os.environ.get("SWZVERIFY_RACE_TRUTH") or not (FOLDER / "truth.json").exists()
NOTHING = KernelRaces(RaceVerdict.UNKNOWN, "nothing is known")
BY_NUMBER = "setp.eq.u32 %p3, %r6, 64;\n@!%p3 bra N;\n"


def races(body: str, *parameters: str) -> KernelRaces:
    module = read_module(f"{HEAD}{body}\nret;\n}}\n", "k.ptx")
    return races_of(module, module.functions[0], Given(parameters), block=(64, 1, 1))


def searched(body: str, *, lockstep: bool = False) -> KernelRaces:
    module = read_module(f"{HEAD}{body}\nret;\n}}\n", "k.ptx")
    function = module.functions[0]
    found = replace(NOTHING, is_lockstep=lockstep)
    return Runs(module, function, (64, 1, 1), facts_of(function, Given()), is_lockstep=lockstep).searched(found)


EARLY = objects_of(16) + two(f"{MINE}\n{ARRIVE}", wait(0) + OTHERS)
STUCK = objects_of(33) + two(f"{MINE}\n{ARRIVE}", wait(0) + OTHERS)


def test_a_run_names_the_race() -> None:
    found = races(EARLY, "n=3")
    assert (found.verdict, found.reason) == (RaceVerdict.RACE, NO_ORDER)
    pair = found.pairs[0]
    assert pair.witness is not None
    assert pair.witness.is_replayed
    one, other = pair.witness.threads
    assert other == one + 32
    assert (pair.witness.array, pair.witness.byte, pair.witness.parameters) == ("s", 4 * one, ())
    lines = f"{HEAD}{EARLY}".splitlines()
    assert [lines[side.line - 1] for side in (pair.first, pair.second)] == [MINE, OTHERS]
    assert [side.opcode for side in (pair.first, pair.second)] == ["st.shared.u32", "ld.shared.u32"]


def test_a_race_depends_on_parameters_that_nobody_gave() -> None:
    body = f"{BY_NUMBER}{EARLY}N:\n"
    found = races(body)
    assert found.verdict is RaceVerdict.DEPENDS
    assert found.pairs[0].condition == "n+0:4 = 64"
    assert found.pairs[0].witness is not None
    assert found.pairs[0].witness.parameters == (("n+0:4", 64),)
    assert races(body, "n=64").verdict is RaceVerdict.RACE
    assert races(body, "n=65").verdict is RaceVerdict.FREE


def test_a_missing_fence_is_named() -> None:
    body = f"{MINE}\nbar.sync 0;\nsetp.ne.u32 %p3, %r1, 0;\n@%p3 ret;\n{STORE}"
    found = races(body, "n=3")
    assert (found.verdict, found.reason) == (RaceVerdict.RACE, NO_FENCE)
    assert races(body.replace("bar.sync", "fence.proxy.async;\nbar.sync"), "n=3").verdict is RaceVerdict.FREE


def test_a_run_that_shows_nothing_proves_nothing() -> None:
    good = objects_of(32) + two(f"{MINE}\n{ARRIVE}", wait(0) + OTHERS)
    found = searched(good)
    assert found.verdict is RaceVerdict.UNKNOWN
    assert not any(each.witness for each in found.pairs)


def test_threads_that_wait_for_ever() -> None:
    found = races(STUCK, "n=3")
    assert found.verdict is RaceVerdict.DEADLOCK
    (barrier,) = [each for each in found.barriers if each.verdict is RaceVerdict.DEADLOCK]
    assert f"{HEAD}{STUCK}".splitlines()[barrier.line - 1] == ASK.format(2048, 0)
    assert barrier.reason == "thread 32 waits here for ever"
    found = races(f"{BY_NUMBER}{STUCK}N:\n")
    assert (found.verdict, found.reason) == (RaceVerdict.DEPENDS, "thread 32 waits here for ever if n+0:4 = 64")


INIT, INVAL = "mbarrier.init.shared.b64 [s+2048], 1;", "mbarrier.inval.shared.b64 [s+2048];"
ONE = "setp.ne.u32 %p3, %r1, 0;\n@%p3 bra N;\n"
GO = "mbarrier.arrive.shared.b64 _, [s+2048];"


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (GO, objects.NOT_MADE),
        ("mbarrier.arrive.expect_tx.shared.b64 _, [s+2048], 16;", objects.NOT_MADE),
        (ASK.format(2048, 0), objects.NOT_MADE),
        (INVAL, objects.NOT_MADE),
        (f"{INIT}\n{INVAL}\n{GO}", objects.HAS_ENDED),
        (f"{INIT}\n{INVAL}\n{ASK.format(2048, 0)}", objects.HAS_ENDED),
        (f"{INIT}\n{INVAL}\n{INVAL}", objects.HAS_ENDED),
        (f"{INIT}\n{GO}\n{INIT}", objects.IN_USE),
        (f"{INIT}\nmbarrier.arrive.shared.b64 _, [s+2048], 2;", objects.TOO_OFTEN),
    ],
)
def test_a_misused_object(body: str, reason: str) -> None:
    found = races(f"{ONE}{body}\nN:\n", "n=3")
    assert (found.verdict, found.reason) == (RaceVerdict.DIVERGENT, reason.format(0))
    (barrier,) = [each for each in found.barriers if each.is_misuse]
    assert f"{HEAD}{ONE}{body}".splitlines()[barrier.line - 1] == body.splitlines()[-1]


def test_a_misuse_may_depend_on_parameters_and_on_data() -> None:
    found = races(f"{BY_NUMBER}{ONE}{GO}\nN:\n")
    assert (found.verdict, found.reason) == (RaceVerdict.DEPENDS, f"{objects.NOT_MADE.format(0)} if n+0:4 = 64")
    of_data = f"ld.global.u32 %r9, [%rd1];\nsetp.lt.u32 %p3, %r9, 100;\n@%p3 bra N;\n{ONE}{GO}\nN:\n"
    assert races(of_data, "n=3").verdict is RaceVerdict.UNKNOWN


@pytest.mark.parametrize(
    ("body", "sure"), [(f"{ONE}{GO}\n", RaceVerdict.DIVERGENT), (STUCK, RaceVerdict.DEADLOCK)], ids=["misused", "hung"]
)
def test_what_a_null_pointer_prevents_is_not_sure(body: str, sure: RaceVerdict) -> None:
    """A pointer may be null where a part of the kernel is not wanted; where it is read, it is not."""
    without = "setp.eq.u64 %p3, %rd1, 0;\n@%p3 bra Z;\n"
    assert races(f"{without}{body}N:\nZ:\n", "n=3").verdict is RaceVerdict.UNKNOWN
    read = "ld.global.u32 %r9, [%rd1];\n"
    assert races(f"{read}{without}{body}N:\nZ:\n", "n=3").verdict is sure


def test_objects_that_are_used_right_are_no_finding() -> None:
    """A phase may go on with one arrival each, and memory may be an object again behind `inval`."""
    for body in (f"{INIT}\n{GO}\n{GO}\n{INVAL}", f"{INIT}\n{INVAL}\n{INIT}\n{GO}"):
        assert not any(each.is_misuse for each in searched(f"{ONE}{body}\nN:\n").barriers)


def test_a_race_comes_before_what_it_leads_to() -> None:
    """Another warp may arrive before the object is initialised: the race of both is the finding."""
    body = f"setp.ne.u32 %p3, %r1, 0;\n@!%p3 {INIT}\nsetp.ne.u32 %p3, %r1, 32;\n@!%p3 {GO}"
    assert races(body, "n=3").verdict is RaceVerdict.RACE


def test_a_hang_for_some_data_is_not_sure() -> None:
    """Threads wait for ever if the first word of the buffer is above 100."""
    body = f"ld.global.u32 %r9, [%rd1];\nsetp.lt.u32 %p3, %r9, 100;\n@%p3 bra N;\n{STUCK}N:\n"
    assert races(body, "n=3").verdict is RaceVerdict.UNKNOWN


def test_a_wait_for_other_blocks_is_no_hang() -> None:
    body = "L:\nld.acquire.gpu.global.u32 %r9, [%rd1+64];\nsetp.ne.u32 %p3, %r9, 77;\n@%p3 bra L;\n"
    found = searched(body)
    assert (found.verdict, found.barriers) == (RaceVerdict.UNKNOWN, ())


def test_one_value_and_lockstep_are_no_race_of_a_run() -> None:
    assert searched("st.shared.u32 [s], %r6;").verdict is RaceVerdict.UNKNOWN
    neighbours = f"{MINE}\nld.shared.u32 %r7, [%r5];"
    assert searched(neighbours).verdict is RaceVerdict.DEPENDS
    assert searched(neighbours, lockstep=True).verdict is RaceVerdict.UNKNOWN
    # Lanes of one instruction are not ordered by lockstep.
    assert searched("setp.lt.u32 %p3, %r1, 32;\n@%p3 st.shared.u32 [s], %r1;", lockstep=True).pairs


def test_a_proof_that_a_run_contradicts_is_unknown() -> None:
    """A pair that is proved to write one value, though each thread writes its number: a mistake of the proof."""
    module = read_module(f"{HEAD}st.shared.u32 [s], %r1;\nret;\n}}\n", "k.ptx")
    function = module.functions[0]
    side = Participant(FIRST, "st.shared.u32")
    witness = Witness((0, 1), ((), ()), 0, "s", ())
    pair = Pair(side, side, RaceVerdict.BENIGN, "all threads write one value", witness=witness)
    proved = KernelRaces(RaceVerdict.BENIGN, "one value", (pair,))
    runs = Runs(module, function, (64, 1, 1), facts_of(function, Given(("n=3",))))
    pairs, has_boxes = runs._run(proved.pairs, [0], 2_000)
    assert [(each.verdict, each.reason) for each in pairs] == [(RaceVerdict.UNKNOWN, TWO_VALUES)]
    assert not has_boxes
    # A kernel with such a pair is not harmless: the run's own search shows the race, if not of each launch.
    assert runs.confirmed(proved).verdict is RaceVerdict.DEPENDS


TENSOR = "cp.async.bulk.tensor.1d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
BOX_LOAD = f"{TENSOR} [s+3072], [%rd1, {{%r7}}], [s+2048];"


def test_a_benign_race_behind_a_box_rests_on_its_bytes() -> None:
    """The copy of a box ends a run, unless what it brings is assumed."""
    body = f"mov.u32 %r7, 0;\n{objects_of(1)}setp.ne.u32 %p3, %r1, 0;\n@%p3 bra N;\n"
    body += f"mbarrier.arrive.expect_tx.shared.b64 _, [s+2048], 1024;\n{BOX_LOAD}\nN:\n{wait(0)}"
    found = races(f"{body}st.shared.u32 [s+1536], %r7;", "n=3")
    assert (found.verdict, found.pairs[0].reason) == (RaceVerdict.BENIGN, "all threads write one value")
    assert BOXES in found.assumptions
    assert BOXES not in races("mov.u32 %r7, 0;\nst.shared.u32 [s+1536], %r7;", "n=3").assumptions


def test_values_that_nobody_knows_may_be_one() -> None:
    body = "mov.u32 %r7, %clock;\nst.shared.u32 [s], %r7;"
    assert searched(body).verdict is RaceVerdict.UNKNOWN
    assert searched(f"{body}\nld.shared.u32 %r8, [s];").pairs
    assert searched(f"{body}\nst.shared.u32 [s], %r7;").verdict is RaceVerdict.UNKNOWN
    assert searched(f"{body}\natom.shared.add.u32 %r8, [s], %r7;").pairs


def test_lines_are_those_of_the_text() -> None:
    found = searched(f"{MINE}\nld.shared.u32 %r7, [%r5];")
    assert [side.line for side in (found.pairs[0].first, found.pairs[0].second)] == [FIRST, FIRST + 1]


@pytest.mark.skipif(MISSING, reason="SWZVERIFY_RACE_TRUTH names no folder with truth.json")
def test_no_run_shows_a_race_of_a_free_kernel() -> None:
    for kernel in json.loads((FOLDER / "truth.json").read_text(encoding="utf-8"))["kernels"]:
        module = read_module((FOLDER / "ptx" / f"{kernel['file']}.ptx").read_text(encoding="utf-8"), kernel["file"])
        (function,) = [each for each in module.functions if each.name == kernel["kernel"]]
        x, y, z = kernel["block"]
        found = Runs(module, function, (x, y, z), facts_of(function, Given()), kernel["smem"]).searched(NOTHING)
        if kernel["verdict"] == "free":
            assert found == NOTHING, kernel["kernel"]
        elif kernel["verdict"] == "race":
            assert found.verdict in (RaceVerdict.RACE, RaceVerdict.DEPENDS), kernel["kernel"]
