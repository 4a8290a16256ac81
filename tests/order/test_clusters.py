"""The barrier of a cluster, arrivals at objects of a cluster, and copies of several threads to one object."""

# pyright: reportPrivateUsage=false

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from swzverify.compiled.kernel import clusters as alone
from swzverify.compiled.kernel import whole
from swzverify.compiled.order import barriers, boxes, events, interleaved, objects, projections
from swzverify.compiled.order.verdict import KernelRaces
from swzverify.compiled.scan import races as scan
from tests.order.clusters import CLUSTERS, ENDED
from tests.order.conftest import HEAD, races, races_in
from tests.ptx_oracle import Buffer
from tests.ptx_oracle.races import races_of as launched

_LAST_COPY = "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r3], [%rd1], 32, [%r12];"
Patch = Callable[[pytest.MonkeyPatch], None]


def text_of(name: str) -> str:
    """The PTX of a kernel."""
    head = HEAD.replace(".param .u64 in) {", f".param .u64 in) {CLUSTERS[name].directive} {{")
    return f"{head.replace('.reg .f32', '.reg .b16 %h<2>; .reg .f32')}{CLUSTERS[name].body}\nret;\n}}\n"


def found(name: str) -> KernelRaces:
    """The verdict on a kernel."""
    return races_in(text_of(name))


@pytest.mark.parametrize("name", CLUSTERS)
def test_free_only_if_right(name: str) -> None:
    said = found(name).verdict.value
    assert (said == "free") is (CLUSTERS[name].verdict == "free")
    assert said not in ("race", "race-benign") or CLUSTERS[name].verdict == "race"


def test_an_object_that_ends_does_not_show_that_copies_have_landed(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = f"{HEAD}{ENDED}".splitlines()
    both = lines.index("ld.shared.u32 %r30, [%r3];") + 1, lines.index(_LAST_COPY) + 1
    run = launched(f"{HEAD}{ENDED}\nret;\n}}\n", "k", (96,), params=[Buffer(8), 3, Buffer(64)], shuffle=1)
    assert both in run.lines()
    monkeypatch.setattr(scan.Runs, "confirmed", lambda _, found, *__: found)
    assert both in {(each.first.line, each.second.line) for each in races(ENDED, 96).pairs}


def test_a_thread_that_has_stopped_is_at_its_accesses(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a kernel with many pairs, places at which two threads never are together say so first."""
    monkeypatch.setattr(scan, "_MOST_QUESTIONS", -1)
    assert found("two copiers, a word of one of them in a branch").verdict.value == "depends"
    assert found("two copiers").verdict.value == "free"


@pytest.mark.parametrize("name", [name for name, each in CLUSTERS.items() if "copiers" in name])
def test_places_of_threads_free_no_race(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """As in long kernels, the places at which two threads can be are looked at first."""
    monkeypatch.setattr("swzverify.compiled.scan.races._MOST_QUESTIONS", 0)
    assert found(name).verdict.value != "free" or CLUSTERS[name].verdict == "free"


@pytest.mark.parametrize("name", [name for name, each in CLUSTERS.items() if each.verdict != "open"])
def test_runs_say_so_too(name: str) -> None:
    """The oracle runs the kernels in some orders; it copies the bytes of boxes by plain copies."""
    text = text_of(name).replace("bulk.tensor.1d.shared", "bulk.shared")
    text = text.replace("[%rd1, {%r1}], [%r3];", "[%rd1], [%r3], 128;").replace("bulk.tensor.1d.global", "bulk.global")
    text = text.replace("[%rd1, {%r1}]", "[%rd1], 128").replace("[%rd2, {%r1}], [%r3];", "[%rd2], [%r3], 128;")
    runs = [
        launched(text, "k", (64,), params=[Buffer(8), 3, Buffer(1024)], shuffle=order, steps=3000)
        for order in (None, 1, 2)
    ]
    assert not [each for run in runs for each in run.divergences]
    wrong = {run.verdict for run in runs} - {"free"}
    assert (not wrong) is (CLUSTERS[name].verdict == "free"), wrong


def test_what_is_assumed_is_said() -> None:
    of_rank = "an arrival at an object of the cluster"
    line = 1 + text_of(of_rank).splitlines().index("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r13];")
    words = f"each block is the only one of its cluster, as line {line} may reach other blocks"
    assert words in found(of_rank).assumptions
    assert words not in found("of clusters of one block").assumptions
    assert "the box of the tensor map at line 27 has 128 bytes" in found("two copiers of boxes").assumptions


@pytest.mark.parametrize("name", ["multicast", "relaxed", "at the block of rank 1"])
def test_one_reason_says_what_is_not_known(name: str) -> None:
    words = {
        "multicast": "may write to other blocks of the cluster",
        "relaxed": "does not release what its thread did in shared memory before",
        "at the block of rank 1": "0 arrivals may come to the barrier object at b + 0, which is initialised with 64",
    }
    assert words[name] in found(name).reason


# ---- planted mistakes


def _relaxed_arrivals_release(patch: pytest.MonkeyPatch) -> None:
    for module in (barriers, events):
        patch.setattr(module, "releases", lambda *_: True)


def _a_wait_is_a_meeting(patch: pytest.MonkeyPatch) -> None:
    """Threads meet where they wait, whatever they do behind their arrival."""

    def wrong(_kernel: object, instruction: barriers.Instruction) -> int | None:
        return instruction.index if ".wait" in instruction.opcode else 0

    patch.setattr(barriers, "_meeting_at", wrong)


def _all_ranks_are_one_block(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(alone, "RANK_BITS", 32)


def _copies_release_their_thread(patch: pytest.MonkeyPatch) -> None:
    """Runs end a phase only when all copies are begun, and with them all that their threads did before."""
    right = interleaved.moments_of
    patch.setattr(projections, "moments_of", lambda *given, **named: right(*given, **{**named, "is_of_time": True}))


def _bytes_need_not_add_up(patch: pytest.MonkeyPatch) -> None:
    right = objects._portions

    def wrong(name: str, deeds: list[tuple[int, objects.Deed]], roles: list[objects.Role]) -> dict[int, int]:
        counts = {at: len(roles[at].threads) for at, deed in deeds if deed.act is objects.Act.COPY}
        whole_of = sum(counts.values()) * 128
        more = [
            (at, replace(deed, bytes=whole_of) if deed.bytes and deed.act is objects.Act.ARRIVE else deed)
            for at, deed in deeds
        ]
        return right(name, more, roles)

    patch.setattr(objects, "_portions", wrong)


def _maps_do_not_change(patch: pytest.MonkeyPatch) -> None:
    """Nothing is taken to change a map: the boxes of one address are one."""
    right = boxes._of_one_map

    def wrong(kernel: whole.Kernel, sizes: dict[int, int]) -> dict[int, int]:
        found = right(kernel, sizes)
        stores = [each for each in kernel.maps if each not in sizes]
        return found or dict.fromkeys(stores, next(iter(sizes.values())))

    patch.setattr(boxes, "_of_one_map", wrong)


MISTAKES: dict[str, tuple[Patch, str]] = {
    "relaxed": (_relaxed_arrivals_release, "relaxed"),
    "unfenced objects": (_relaxed_arrivals_release, "objects without their fence"),
    "meeting": (_a_wait_is_a_meeting, "a store between"),
    "meeting of copies": (_a_wait_is_a_meeting, "a wait for copies between"),
    "ranks": (_all_ranks_are_one_block, "at the block of rank 1"),
    "copies release": (_copies_release_their_thread, "two copiers, a word of one of them"),
    "changed maps": (_maps_do_not_change, "a box that is stored by a map that may have changed"),
    "bytes": (_bytes_need_not_add_up, "two copiers, bytes of one"),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_planted_mistakes(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """With a mistake of ours, some kernel that is not right is free."""
    patch, kernel = MISTAKES[name]
    patch(monkeypatch)
    assert found(kernel).verdict.value == "free"
