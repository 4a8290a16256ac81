"""Runs with a clock for each thread: the unordered pairs of kernels whose races are known.

Straight programs of stores, loads, copies and barriers have an oracle of their own here: all threads run
every line, so two accesses are ordered if the right barrier stands between their lines.
"""
# pyright: reportPrivateUsage=false

from __future__ import annotations

import json
import os
import random
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from swzverify.compiled.kernel.arguments import Arguments, Field
from swzverify.compiled.kernel.calls import inlined
from swzverify.compiled.order.verdict import Witness
from swzverify.compiled.ptx import Function, Module, read_module
from swzverify.compiled.scan.given import Given
from swzverify.compiled.scan.races import races_of
from swzverify.compiled.trial import history, touches
from swzverify.compiled.trial.clocks import Launches, Outcome, Replay, Shown, replay
from swzverify.compiled.trial.launch import Data, Launcher, Plan

FOLDER = Path(os.environ.get("SWZVERIFY_RACE_TRUTH", ""))
MISSING = not os.environ.get("SWZVERIFY_RACE_TRUTH") or not (FOLDER / "truth.json").exists()
needs_truth = pytest.mark.skipif(MISSING, reason="SWZVERIFY_RACE_TRUTH names no folder with truth.json")
HEAD = """.version 8.3
.target sm_90
.address_size 64
.entry k(.param .u64 in, .param .u32 n)
{
.reg .b32 %r<16>;
.reg .b64 %rd<4>;
.reg .pred %p<4>;
.shared .align 16 .b8 s[4096];
mov.u32 %r1, %tid.x;
mov.u32 %r2, s;
shl.b32 %r3, %r1, 2;
add.u32 %r4, %r2, %r3;
xor.b32 %r5, %r3, 4;
add.u32 %r5, %r2, %r5;
ld.param.u32 %r6, [n];
ld.param.u64 %rd1, [in];
cvta.to.global.u64 %rd1, %rd1;
cvt.u64.u32 %rd2, %r3;
add.u64 %rd2, %rd1, %rd2;
"""
FIRST = HEAD.count("\n") + 1
"""The line of a body's first instruction. %r4 is the thread's word, %r5 its neighbour's, %rd2 its word in memory."""


def run(body: str, threads: int = 64, n: int = 3, *, is_late: bool = False) -> Replay:
    module = read_module(f"{HEAD}{body}\nret;\n}}\n", "k.ptx")
    whole = inlined(module, module.functions[0]).function
    launch = Launcher(whole, (threads, 1, 1), 0).launch(Plan((n,), (Data.ANY,)), 0)
    assert launch is not None
    return replay(module, whole, launch, is_late=is_late)


def pairs(found: Replay) -> set[tuple[int, int]]:
    """The lines of the pairs, counted from the body's first instruction."""
    return {(each.lines[0] - FIRST, each.lines[1] - FIRST) for each in found.races}


COPY = "cp.async.ca.shared.global [%r4], [%rd2], 4;\n"
CASES: dict[str, tuple[str, set[tuple[int, int]], set[int]]] = {
    "no barrier": ("st.shared.u32 [%r4], %r1;\nld.shared.u32 %r7, [%r5];", {(0, 1)}, set()),
    "a barrier": ("st.shared.u32 [%r4], %r1;\nbar.sync 0;\nld.shared.u32 %r7, [%r5];", set(), set()),
    "a barrier of the warp": ("st.shared.u32 [%r4], %r1;\nbar.warp.sync -1;\nld.shared.u32 %r7, [%r5];", set(), set()),
    "a lane that returns before a barrier of its warp": (
        "st.shared.u32 [%r4], %r1;\nsetp.eq.u32 %p1, %r1, 31;\n@%p1 ret;\nbar.warp.sync -1;\nld.shared.u32 %r7, [%r5];",
        set(),
        set(),
    ),
    "a barrier of half the warp": (
        "st.shared.u32 [%r4], %r1;\nand.b32 %r8, %r1, 31;\nsetp.lt.u32 %p1, %r8, 16;\n@%p1 bar.warp.sync 0xffff;\n"
        "ld.shared.u32 %r7, [%r5];",
        {(0, 4)},
        set(),
    ),
    "a barrier of the warp between warps": (
        "st.shared.u32 [%r4], %r1;\nbar.warp.sync -1;\nxor.b32 %r8, %r3, 128;\nadd.u32 %r8, %r2, %r8;\n"
        "ld.shared.u32 %r7, [%r8];",
        {(0, 4)},
        set(),
    ),
    "two arms": (
        "and.b32 %r8, %r1, 1;\nsetp.eq.u32 %p1, %r8, 0;\n@%p1 bra A;\nst.shared.u32 [%r5], %r1;\nbra B;\n"
        "A:\nst.shared.u32 [%r4], %r1;\nB:",
        {(3, 6)},
        set(),
    ),
    "one word, own values": ("st.shared.u32 [s], %r1;", {(0, 0)}, set()),
    "atomics": ("atom.shared.add.u32 %r7, [s], 1;\nred.shared.add.u32 [s], 2;", set(), set()),
    "atomics of two widths": ("atom.shared.add.u32 %r7, [s], 1;\natom.shared.add.u64 %rd3, [s], 1;", {(0, 1)}, set()),
    "an atomic and a load": ("atom.shared.add.u32 %r7, [s], 1;\nld.shared.u32 %r7, [s];", {(0, 1)}, set()),
    "wide accesses share bytes": (
        "shl.b32 %r8, %r1, 3;\nadd.u32 %r8, %r2, %r8;\nst.shared.v2.u32 [%r8], {%r1, %r1};\nld.shared.u8 %r7, [%r8+9];",
        {(2, 3)},
        set(),
    ),
    "matrices are read by the lanes that give their rows": (
        "shl.b32 %r8, %r1, 4;\nand.b32 %r8, %r8, 1008;\nadd.u32 %r8, %r2, %r8;\n"
        "setp.gt.u32 %p1, %r1, 47;\n@%p1 st.shared.u32 [%r8], %r1;\nxor.b32 %r8, %r8, 16;\n"
        "ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%r10, %r11}, [%r8];\n"
        "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r10, %r11, %r12, %r13}, [%r8];",
        {(4, 7)},
        set(),
    ),
    "a copy, read too early": (COPY + "ld.shared.u32 %r7, [%r4];", {(0, 1)}, set()),
    "a copy, read after its wait": (
        COPY + "cp.async.commit_group;\ncp.async.wait_group 0;\nld.shared.u32 %r7, [%r4];",
        set(),
        set(),
    ),
    "a copy, read by the neighbour after its wait": (
        COPY + "cp.async.wait_all;\nld.shared.u32 %r7, [%r5];",
        {(0, 2)},
        set(),
    ),
    "a copy, read by the neighbour after wait and barrier": (
        COPY + "cp.async.wait_all;\nbar.sync 0;\nld.shared.u32 %r7, [%r5];",
        set(),
        set(),
    ),
    "a copy, with the barrier before its wait": (
        COPY + "bar.sync 0;\ncp.async.wait_all;\nld.shared.u32 %r7, [%r5];",
        {(0, 3)},
        set(),
    ),
    "a group that is still in flight": (
        COPY + "cp.async.commit_group;\ncp.async.wait_group 1;\nbar.sync 0;\nld.shared.u32 %r7, [%r5];",
        {(0, 4)},
        set(),
    ),
    "a copy that no group has": (
        COPY + "cp.async.wait_group 0;\nbar.sync 0;\nld.shared.u32 %r7, [%r5];",
        {(0, 3)},
        set(),
    ),
    "two copies of one thread": (COPY + COPY, {(0, 1)}, set()),
    "a store before the copy": ("st.shared.u32 [%r4], %r1;\n" + COPY, set(), set()),
    "a loop without a barrier at its end": (
        "mov.u32 %r9, 0;\nL:\nst.shared.u32 [%r4], %r9;\nbar.sync 0;\nld.shared.u32 %r7, [%r5];\n"
        "add.u32 %r9, %r9, 1;\nsetp.lt.u32 %p1, %r9, %r6;\n@%p1 bra L;",
        {(2, 4)},
        set(),
    ),
    "threads that return": (
        "setp.gt.u32 %p1, %r1, 39;\n@%p1 ret;\nst.shared.u32 [%r4], %r1;\nbar.sync 0;\nld.shared.u32 %r7, [%r5];",
        set(),
        set(),
    ),
    "threads that store, then return": (
        "setp.gt.u32 %p1, %r1, 39;\nst.shared.u32 [%r4], %r1;\n@%p1 ret;\nbar.sync 0;\nld.shared.u32 %r7, [%r5];",
        set(),
        set(),
    ),
    "threads that pass the barrier by": (
        "st.shared.u32 [%r4], %r1;\nsetp.gt.u32 %p1, %r1, 39;\n@%p1 bra A;\nbar.sync 0;\nA:\nld.shared.u32 %r7, [%r5];",
        # 39 and 40 are no neighbours: the threads that pass by race among themselves.
        {(0, 5)},
        {3},
    ),
    "threads that access, then return": (
        "setp.gt.u32 %p1, %r1, 39;\n@!%p1 bra A;\nst.shared.u32 [%r4], %r1;\nret;\nA:\nbar.sync 0;",
        set(),
        {5},
    ),
    "lanes at two barriers": (
        "setp.gt.u32 %p1, %r1, 39;\n@%p1 bra A;\nbar.sync 0;\nbra B;\nA:\nbar.sync 0;\nB:\nst.shared.u32 [%r4], %r1;",
        set(),
        {2, 5},
    ),
    "warps at two barriers": (
        "setp.gt.u32 %p1, %r1, 31;\n@%p1 bra A;\nbar.sync 0;\nbra B;\nA:\nbar.sync 0;\nB:\nst.shared.u32 [%r4], %r1;",
        set(),
        {2, 5},
    ),
    "warps at two places of a barrier with a number": (
        "setp.gt.u32 %p1, %r1, 31;\n@%p1 bra A;\nbar.sync 15;\nbra B;\nA:\nbar.sync 15;\nB:\nst.shared.u32 [%r4], %r1;",
        set(),
        set(),
    ),
    "warps at two places of a barrier with a count": (
        "setp.gt.u32 %p1, %r1, 31;\n@%p1 bra A;\nbar.sync 0, 64;\nbra B;\nA:\nbar.sync 0, 64;\nB:\n"
        "st.shared.u32 [%r4], %r1;",
        set(),
        set(),
    ),
    "lanes at two places of a barrier with a number": (
        "setp.gt.u32 %p1, %r1, 39;\n@%p1 bra A;\nbar.sync 15;\nbra B;\nA:\nbar.sync 15;\nB:\nst.shared.u32 [%r4], %r1;",
        set(),
        {2, 5},
    ),
    "lanes at two barriers that allow it": (
        "setp.gt.u32 %p1, %r1, 39;\n@%p1 bra A;\nbarrier.sync 0;\nbra B;\nA:\nbarrier.sync 0;\nB:\n"
        "st.shared.u32 [%r4], %r1;",
        set(),
        set(),
    ),
    "a lane that does not come to the barrier of its warp": (
        "setp.eq.u32 %p1, %r1, 3;\n@%p1 bra A;\nbar.warp.sync -1;\nA:\nbar.sync 0;",
        set(),
        {2, 4},
    ),
    "barriers with two numbers": (
        "setp.gt.u32 %p1, %r1, 31;\n@%p1 bra A;\nbar.sync 0;\nbra B;\nA:\nbar.sync 1;\nB:\nst.shared.u32 [%r4], %r1;",
        set(),
        {2, 5},
    ),
    "a guard at a barrier": (
        "setp.gt.u32 %p1, %r1, 39;\nst.shared.u32 [%r4], %r1;\n@%p1 bar.sync 0;\nld.shared.u32 %r7, [%r5];",
        {(1, 3)},
        {2},
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_pairs_and_barriers(name: str) -> None:
    body, wanted, barriers = CASES[name]
    found = run(body)
    assert pairs(found) == wanted
    assert {line - FIRST for line in found.missed} == barriers
    is_stuck = name in ("barriers with two numbers", "a lane that does not come to the barrier of its warp")
    assert bool(found.ended) == is_stuck
    for each in found.races:
        assert each.threads[0] != each.threads[1] or "copy" in name or "copies" in name
        assert each.one_value is (name == "two copies of one thread")


def test_writes_of_one_value_are_told() -> None:
    assert [each.one_value for each in run("st.shared.u32 [s], %r6;").races] == [True]
    assert [each.one_value for each in run("st.shared.u32 [s], %r6;\nst.shared.u32 [s], %r6;").races] == [True] * 3
    # The low bytes differ, the high ones are 0 in all threads: the pair with two values is told.
    assert [each.one_value for each in run("st.shared.u32 [s], %r1;").races] == [False]
    assert [each.one_value for each in run("st.shared.u32 [s], %r6;\nld.shared.u32 %r7, [s];").races] == [True, False]
    # A value that is not known is no value that all threads write.
    assert [each.one_value for each in run("mov.u32 %r7, %clock;\nst.shared.u32 [s], %r7;").races] == [False]


def test_races_before_the_end_are_told() -> None:
    assert pairs(run("st.shared.u32 [s], %r1;\nst.async.shared::cluster.b32 [%r4], %r1, [%r4];")) == {(0, 0)}


def test_a_wait_without_an_arrival_ends_a_run() -> None:
    assert "have not arrived" in run("barrier.cluster.wait;").ended


# ---- straight programs


@dataclass(frozen=True)
class Line:
    """A line of a straight program: what it does, to the word of thread `tid ^ mask`, by threads below `below`."""

    what: str
    mask: int = 0
    below: int = 64

    @property
    def text(self) -> str:
        guard = "" if self.below == 64 else f"setp.lt.u32 %p1, %r1, {self.below}; @%p1 "
        place = f"xor.b32 %r8, %r1, {self.mask}; mad.lo.u32 %r8, %r8, 4, %r2; "
        match self.what:
            case "store":
                return f"{place}{guard}st.shared.u32 [%r8], %r1;"
            case "load":
                return f"{place}{guard}ld.shared.u32 %r7, [%r8];"
            case "add":
                return f"{place}{guard}red.shared.add.u32 [%r8], 1;"
            case "copy":
                return f"{place}{guard}cp.async.ca.shared.global [%r8], [%rd2], 4;"
            case "commit":
                return f"{guard}cp.async.commit_group;"
            case _:
                return f"{self.what};"


BLOCK, WARP = "bar.sync 0", "bar.warp.sync -1"
WAIT_ALL, WAIT_NONE, WAIT_ONE = "cp.async.wait_all", "cp.async.wait_group 0", "cp.async.wait_group 1"
KINDS = ("store", "load", "add", "copy", "copy", "commit", BLOCK, WARP, WAIT_ALL, WAIT_NONE, WAIT_ONE)


def straight(seed: int) -> list[Line]:
    draw = random.Random(seed)
    return [
        Line(draw.choice(KINDS), draw.choice((0, 0, 1, 16, 32)), draw.choice((64, 64, 64, 20, 40)))
        for _ in range(draw.randrange(4, 11))
    ]


def end_of(program: Sequence[Line], at: int, thread: int) -> int | None:
    """The line at which an access ends: for a copy that of its thread's wait; None if it is never waited for."""
    if program[at].what != "copy":
        return at
    group: int | None = None
    commits = 0
    for place in range(at + 1, len(program)):
        line = program[place]
        if line.what == "cp.async.wait_all":
            return place
        if line.what == "commit" and thread < line.below:
            if group is None:
                group = commits
            commits += 1
        is_wait = line.what.startswith("cp.async.wait_group")
        if is_wait and group is not None and commits - group > int(line.what[-1]):
            return place
    return None


def is_before(program: Sequence[Line], one: tuple[int, int], other: tuple[int, int]) -> bool:
    """Whether an access, as line and thread, is ordered before another one."""
    end = end_of(program, *one)
    if end is None or end > other[0] or (end == other[0] and one != other):
        return False
    between = {program[at].what for at in range(end + 1, other[0])}
    if one[1] == other[1]:
        return end < other[0]
    return BLOCK in between or (WARP in between and one[1] // 32 == other[1] // 32)


def known_pairs(program: Sequence[Line]) -> set[tuple[int, int]]:
    touches = [
        (at, thread, thread ^ line.mask)
        for at, line in enumerate(program)
        if line.what in ("store", "load", "add", "copy")
        for thread in range(line.below)
    ]
    found: set[tuple[int, int]] = set()
    for place, (at, thread, word) in enumerate(touches):
        for after, other, its_word in touches[place + 1 :]:
            whats = {program[at].what, program[after].what}
            if word != its_word or whats <= {"load"} or whats <= {"add"} or (at, after) in found:
                continue
            if thread == other and "copy" not in whats:
                continue
            if not is_before(program, (at, thread), (after, other)) and not is_before(
                program, (after, other), (at, thread)
            ):
                found.add((at, after))
    return found


GUARDED = [Line("copy"), Line("commit", below=20), Line("cp.async.wait_group 0"), Line(BLOCK), Line("load", 1)]


def held(seeds: range) -> None:
    for program in [GUARDED, *map(straight, seeds)]:
        found = run("\n".join(line.text for line in program))
        assert not found.ended
        assert not found.missed
        assert pairs(found) == known_pairs(program), [line.text for line in program]


def test_straight_programs() -> None:
    held(range(60))


def knows_nothing(self: Any, threads: Any) -> None:
    pass


def waits_for_one_more(self: Any, active: Any, left: int, *rest: Any) -> None:
    WAITS(self, active, max(0, left - 1), *rest)


def copies_end_at_once(self: Any, line: int, effect: Any, *rest: Any) -> Any:
    return ACCESS(self, line, touches.Effect.WRITE if effect is touches.Effect.COPY else effect, *rest)


def everyone_commits(self: Any, _: Any, effect: Any = touches.Effect.COPY) -> None:
    self._committed[effect] += 1


def lockstep(a: Any, b: Any, tables: Any) -> Any:
    return BEFORE(a, b, tables) | ((a.thread // 32 == b.thread // 32) & (a.end < b.time))


def copies_land_at_barriers(self: Any) -> None:
    for each in self._accesses:
        each.ends[:] = np.minimum(each.ends, self.time)
    BARRIER(self)


WAITS, ACCESS, BARRIER = history.History.wait_for_copies, history.History.access, history.History.block_barrier
BEFORE = touches._before
PLANTED: dict[str, tuple[Any, str, Callable[..., Any]]] = {
    "a barrier of a warp orders nothing": (history.History, "warp_barrier", knows_nothing),
    "wait_group waits for one group more": (history.History, "wait_for_copies", waits_for_one_more),
    "a copy is a store": (history.History, "access", copies_end_at_once),
    "a guarded commit counts for all threads": (history.History, "commit", everyone_commits),
    "lanes of a warp run in lockstep": (touches, "_before", lockstep),
    "a barrier of the block ends copies": (history.History, "block_barrier", copies_land_at_barriers),
}


@pytest.mark.parametrize("name", PLANTED)
def test_a_mistake_is_noticed(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(*PLANTED[name])
    with pytest.raises(AssertionError):
        held(range(60))


def test_many_accesses_of_one_byte_have_the_same_pairs(monkeypatch: pytest.MonkeyPatch) -> None:
    bodies = ["st.shared.u32 [s], %r1;\nld.shared.u32 %r7, [s];\nbar.warp.sync -1;\nld.shared.u32 %r7, [s];"]
    bodies += ["ld.shared.u32 %r7, [s];\n" * 9 + "bar.sync 0;\nst.shared.u32 [s], %r6;"]
    whole = [pairs(run(body, 96)) for body in bodies]
    monkeypatch.setattr(touches, "MANY", 1 << 12)
    assert [pairs(run(body, 96)) for body in bodies] == whole
    assert whole == [{(0, 0), (0, 1), (0, 3)}, {(10, 10)}]


# ---- witnesses


def kernel_of(body: str) -> tuple[Module, Function]:
    module = read_module(f"{HEAD}{body}\nret;\n}}\n", "k.ptx")
    return module, module.functions[0]


def races_shown(launches: Launches, asked: Sequence[Shown]) -> list[bool]:
    return [each is Outcome.RACE for each in launches.replayed(asked)]


STRIDE = "mul.lo.u32 %r8, %r3, %r6;\nand.b32 %r8, %r8, 4095;\nadd.u32 %r8, %r2, %r8;\nst.shared.u32 [%r8], %r1;"


@pytest.mark.parametrize(
    ("n", "threads", "lines", "shown"),
    [
        (("n", 0), (3, 40), (3, 3), True),
        (("n+0:4", 0), (3, 40), (3, 3), True),
        (("n", 32), (3, 35), (3, 3), True),
        (("n", 32), (3, 36), (3, 3), False),
        (("n", 1), (3, 35), (3, 3), False),
        (("n", 0), (3, 40), (3, 2), False),
    ],
)
def test_a_witness_is_replayed(
    n: tuple[str, int], threads: tuple[int, int], lines: tuple[int, int], shown: bool
) -> None:
    module, function = kernel_of(STRIDE)
    witness = Witness(threads, ((), ()), 0, "s", (n,))
    at = (FIRST + lines[0], FIRST + lines[1])
    assert races_shown(Launches(module, function, (64, 1, 1)), [(witness, at)]) == [shown]


@pytest.mark.parametrize("many", [256, 1])
def test_witnesses_of_one_launch_are_replayed_together(many: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each has the answer that it has alone, also where a byte has more accesses than are compared."""
    module, function = kernel_of(STRIDE)
    line, launches = FIRST + 3, Launches(module, function, (64, 1, 1))
    asked = [
        (Witness(threads, ((), ()), 0, "s", (("n", number),)), (line, line))
        for number in (0, 1, 32)
        for threads in ((3, 40), (3, 35), (4, 36), (0, 1))
    ]
    alone = [shown for each in asked for shown in races_shown(launches, [each])]
    monkeypatch.setattr(history, "MANY", many)
    monkeypatch.setattr(touches, "MANY", many)
    assert races_shown(launches, asked) == alone
    assert alone == [True] * 4 + [False] * 5 + [True] * 2 + [False]


def test_the_threads_of_a_witness_stand_at_their_lines() -> None:
    body = (
        "setp.eq.u32 %p1, %r1, 1;\n@%p1 st.shared.u32 [s], %r1;\nsetp.eq.u32 %p2, %r1, 2;\n@%p2 ld.shared.u32 %r7, [s];"
    )
    module, function = kernel_of(body)
    for threads, lines, shown in [((1, 2), (1, 3), True), ((2, 1), (1, 3), False), ((2, 1), (3, 1), True)]:
        witness = Witness(threads, ((), ()), 0, "s", ())
        at = (FIRST + lines[0], FIRST + lines[1])
        assert races_shown(Launches(module, function, (64, 1, 1)), [(witness, at)]) == [shown]


def test_lanes_in_lockstep_are_unordered_within_an_instruction_alone() -> None:
    """Lane n writes word n + t in trip t: two lanes write one word in two trips, and never in one."""
    body = "mov.u32 %r9, 0;\nL:\nadd.u32 %r10, %r1, %r9;\nshl.b32 %r10, %r10, 2;\nadd.u32 %r10, %r10, %r2;\n"
    body += "st.shared.u32 [%r10], %r1;\nadd.u32 %r9, %r9, 1;\nsetp.lt.u32 %p2, %r9, 2;\n@%p2 bra L;\n"
    body += "st.shared.u32 [s+1024], %r1;"
    module, function = kernel_of(body)
    moving, still = FIRST + 5, FIRST + 9
    for line, threads, lockstep, shown in [
        (moving, (0, 1), False, True),
        (moving, (0, 1), True, False),
        (moving, (31, 32), True, True),
        (still, (0, 1), True, True),
    ]:
        witness = Witness(threads, ((), ()), 0, "s", ())
        assert races_shown(Launches(module, function, (64, 1, 1), lockstep=lockstep), [(witness, (line, line))]) == [
            shown
        ]


def test_a_store_of_one_value_shows_no_race() -> None:
    for value, outcome in [("%r1", Outcome.RACE), ("%r6", Outcome.ONE_VALUE), ("%r7", Outcome.ONE_VALUE)]:
        module, function = kernel_of(f"mov.u32 %r7, %clock;\nst.shared.u32 [s], {value};")
        witness = Witness((3, 40), ((), ()), 0, "s", ())
        asked = (witness, (FIRST + 1, FIRST + 1))
        assert Launches(module, function, (64, 1, 1)).replayed([asked]) == [outcome]


def test_a_witness_names_the_place_in_the_grid() -> None:
    body = "mov.u32 %r8, %ctaid.x;\nmov.u32 %r9, %nctaid.x;\nadd.u32 %r8, %r8, %r9;\nsetp.eq.u32 %p1, %r8, 11;\n"
    body += "@%p1 st.shared.u32 [s], %r1;"
    module, function = kernel_of(body)
    for values, shown in [
        ((("ctaid.x", 5), ("nctaid.x", 6)), True),
        ((("%ctaid.x", 4), ("%nctaid.x", 6)), False),
        ((), False),
    ]:
        witness = Witness((0, 1), ((), ()), 0, "s", values)
        assert races_shown(Launches(module, function, (64, 1, 1)), [(witness, (FIRST + 4, FIRST + 4))]) == [shown]


def test_a_run_ends_when_it_has_shown_a_witness() -> None:
    """The loop has more trips than a run has steps for; the fourth trip has the race."""
    body = "mov.u32 %r9, 0;\nL:\nsetp.eq.u32 %p1, %r9, 3;\n@%p1 st.shared.u32 [s], %r1;\nbar.sync 0;\n"
    body += "add.u32 %r9, %r9, 1;\nsetp.lt.u32 %p2, %r9, %r6;\n@%p2 bra L;"
    module, function = kernel_of(body)
    witness = Witness((3, 40), ((), ()), 0, "s", (("n+0:4", 1 << 30),))
    at = FIRST + 3
    start = time.process_time()
    assert races_shown(Launches(module, function, (64, 1, 1)), [(witness, (at, at))]) == [True]
    shown = time.process_time() - start
    other = replace(witness, threads=(3, 3))
    assert races_shown(Launches(module, function, (64, 1, 1)), [(other, (at, at))]) == [False]
    assert time.process_time() - start > 3 * shown


def test_what_is_given_comes_before_a_witness() -> None:
    module, function = kernel_of(STRIDE)
    witness = Witness((3, 40), ((), ()), 0, "s", (("n", 0),))
    given = Arguments({"n": (Field(0, 4, 1),)})
    assert Launches(module, function, (64, 1, 1), given).replayed([(witness, (FIRST + 3, FIRST + 3))]) == [False]


# ---- kernels with their truth


def launch_of(
    kernel: dict[str, Any], launch: dict[str, Any], text: str, place: int = 0, *, is_late: bool = False
) -> Replay:
    module = read_module(text, kernel["file"])
    name = kernel["kernel"]
    (function,) = [each for each in module.functions if each.name == name or f"{len(name)}{name}" in each.name]
    whole = inlined(module, function).function
    known = {
        whole.parameters[at].name: (Field(0, 4, launch["set"].get(each["name"], each["value"])),)
        for at, each in enumerate(kernel["args"])
        if each["type"] == "int"
    }
    x, y, z = launch["grid"]
    arguments = Arguments(known, grid=(x, y, z))
    x, y, z = launch["block"]
    made = Launcher(whole, (x, y, z), kernel["smem"], arguments).launch(Plan((4,), (Data.ANY,), (place, 0, 0)), 0)
    assert made is not None
    return replay(module, whole, made, is_late=is_late)


def said(found: Replay) -> str:
    if found.missed:
        return "divergent-barrier"
    if found.races:
        return "race-benign" if all(each.one_value for each in found.races) else "race"
    return "unknown" if found.ended else "free"


def truth(name: str) -> Any:
    return json.loads((FOLDER / name).read_text(encoding="utf-8"))


def text_of(kernel: dict[str, Any]) -> str:
    return (FOLDER / "ptx" / f"{kernel['file']}.ptx").read_text(encoding="utf-8")


@needs_truth
def test_kernels_with_their_truth() -> None:
    for kernel in truth("truth.json")["kernels"]:
        for launch in kernel["launches"]:
            found = launch_of(kernel, launch, text_of(kernel))
            if found.hangs:
                # In this order of its warps, no thread comes to the accesses that race in others.
                assert "deadlock" in kernel["accept"]
                continue
            assert not found.ended, kernel["kernel"]
            assert said(found) in {launch["verdict"], *kernel["accept"]}, (kernel["kernel"], launch["id"])
            seen = {
                tuple(sorted(line for line, _ in each["ptx"]))
                for each in kernel["racing_pairs"]
                if each["launch"] == launch["id"]
            }
            assert seen <= {each.lines for each in found.races}, kernel["kernel"]


@needs_truth
@pytest.mark.nightly
def test_mutants_race() -> None:
    kernels = {each["kernel"]: each for each in truth("truth.json")["kernels"]}
    for mutant in truth("mutants.json")["mutants"]:
        kernel = kernels[mutant["kernel"]]
        lines = text_of(kernel).splitlines()
        assert mutant["dropped"] in lines[mutant["line"] - 1]
        lines[mutant["line"] - 1] = ""
        # The barrier of div_uniform_good is one of odd blocks.
        place = 1 if kernel["kernel"] == "div_uniform_good" else 0
        found = launch_of(kernel, kernel["launches"][0], "\n".join(lines), place)
        wanted = {tuple(sorted(line for line, _ in each)) for each in mutant["pairs"]}
        assert {each.lines for each in found.races} == wanted, mutant


def test_a_barrier_that_threads_miss_names_the_values_of_the_run() -> None:
    body = "setp.ge.u32 %p1, %r1, %r6;\n@%p1 bra L;\nbar.sync 0;\nL:\nst.shared.u32 [s], %r1;"
    module, function = kernel_of(body)
    (missed,) = Launches(module, function, (64, 1, 1)).missed_barriers().items()
    assert missed == (FIRST + 2, (("n+0:4", 4),))
    (barrier,) = races_of(module, function, Given(), block=(64, 1, 1)).barriers
    assert barrier.reason.endswith(f"they take different paths at line {FIRST + 1}, in a run with n+0:4 = 4")
