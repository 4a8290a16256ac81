"""Values that lanes get from other lanes: a shuffle of what coordinates say is known for each lane if
all lanes of the warp take part, and elsewhere nothing is said. An interpreter runs the kernels.
"""

from __future__ import annotations

import random
from typing import Any

import pytest

from swzverify.compiled.kernel import accesses, evaluate, lanes, warps
from swzverify.compiled.kernel.arithmetic import add, bit_and, sub
from swzverify.compiled.kernel.special import BlockShape
from swzverify.compiled.ptx import read_module
from swzverify.ir.expr import const
from tests.kernel.test_programs import compared
from tests.kernel.texts import last, own
from tests.kernel.traps import STORE, text_of
from tests.nightly import found_at, share

SHAPES = ((32, 1, 1), (64, 1, 1), (16, 4, 1), (8, 2, 4), (64, 2, 1), (24, 4, 1), (3, 32, 1), (1, 64, 1))
"""Blocks of whole warps."""
IN_PARTS = ((48, 1, 1), (8, 5, 1), (20, 1, 1))
BEGINS = (
    "mov.u32 %r6, %r0;",
    "mad.lo.u32 %r6, %r1, 64, %r0;",
    "mov.u32 %r6, %laneid; mad.lo.u32 %r6, %r6, 3, %r1;",
    "mad.lo.u32 %r6, %r0, %r0, %r2;",
    "mad.lo.u32 %r6, %r1, 5, %r0; shr.u32 %r6, %r6, 1;",
)
STEPS = ("0", "1", "2", "5", "16", "31", "33", "%r2", "%r0", "%r12")
CONTROLS = ("31", "31", "0", "0x1c03", "0x181f", "0x1000", "0x0f1f", "0x101c", "7", "%r2")
AROUND = (
    "{0}",
    "{0}",
    "{0}",
    "setp.gt.u32 %p1, %r2, 3; @%p1 bra E{n}; {0} E{n}:",
    "setp.gt.u32 %p1, %r0, 9; @%p1 bra E{n}; {0} E{n}:",
    "setp.gt.u32 %p1, %r0, 9; @%p1 bra E{n}; add.u32 %r6, %r6, 7; {0} E{n}:",
    "setp.gt.u32 %p1, %r2, 3; @%p1 bra E{n}; add.u32 %r6, %r6, 7; {0} E{n}:",
    "shr.u32 %r14, %r0, 5; setp.eq.u32 %p1, %r14, 0; @%p1 bra E{n}; {0} E{n}:",
    "setp.gt.u32 %p1, %r0, 13; @%p1 exit; {0}",
    "setp.eq.u32 %p1, %r2, 6; @%p1 exit; {0}",
    "setp.gt.u32 %p1, %r0, 9; @%p1 {0}",
    "mov.u32 %r4, 0; L{n}: {0} add.u32 %r4, %r4, 1; setp.lt.u32 %p1, %r4, %r0; @%p1 bra L{n};",
    "mov.u32 %r4, 0; L{n}: {0} add.u32 %r4, %r4, 1; setp.lt.u32 %p1, %r4, %r2; @%p1 bra L{n};",
    "mov.u32 %r4, %r0; L{n}: {0} add.u32 %r4, %r4, 9; setp.lt.u32 %p1, %r4, 70; @%p1 bra L{n};",
)
"""Where a shuffle stands."""


def body(seed: int) -> str:
    """A store to a place that some shuffles make."""
    source = random.Random(seed)
    lines = [source.choice(BEGINS), "shr.u32 %r12, %r0, 2; xor.b32 %r12, %r12, %r1; mov.u32 %r13, %r6;"]
    for number in range(source.choice((1, 1, 2, 3))):
        mode = source.choice(("up", "down", "bfly", "idx"))
        control = source.choice(("0", *CONTROLS[2:])) if mode == "up" else source.choice(CONTROLS)
        target = source.choice(("%r13", "%r13", "%r13|%p3"))
        shuffle = (
            f"shfl.sync.{mode}.b32 {target}, {source.choice(('%r6', '%r13'))}, {source.choice(STEPS)}, {control}, -1;"
        )
        lines.append(source.choice(AROUND).format(shuffle, n=number))
        lines.append("@%p3 add.u32 %r13, %r13, 100;" if "|" in target else "")
        lines.append(source.choice(("", "add.u32 %r13, %r13, %r6;", "xor.b32 %r13, %r13, 9;")))
    lines.append(STORE.format("%r13"))
    return "\n".join(lines)


def held(start: int, shapes: tuple[BlockShape, ...] = SHAPES, most: int = 10) -> int:
    """How many stores of some kernels have an address that coordinates and the parameter decide; all
    executions that are decided have to be explained.
    """
    known = 0
    for seed in range(start, start + most):
        text, shape = text_of(body(seed)), shapes[seed % len(shapes)]
        tally = compared(text, shape, 1 + seed % 7, seed)
        assert tally.wrong == (), (seed, tally.wrong)
        module = read_module(text, "k.ptx")
        kernel = module.function("k")
        assert kernel is not None
        known += own(accesses(module, kernel, shape)[-1]) == []
    return known


@pytest.mark.parametrize("start", share(range(0, 60, 10), 3))
def test_every_execution_is_explained(start: int) -> None:
    assert held(start) > 2


def test_blocks_with_a_warp_in_part_say_nothing() -> None:
    # A lane that the block does not have may be the one that is asked.
    assert own(last("shfl.sync.bfly.b32 %r4, %r1, 1, 31, -1; " + AT, (64, 1, 1))) == []
    for shape in IN_PARTS:
        assert own(last("shfl.sync.bfly.b32 %r4, %r1, 1, 31, -1; " + AT, shape)) == ["opaque"]
        held(0, (shape,))


@pytest.mark.nightly
@pytest.mark.parametrize("start", range(60, 2000, 10))
def test_every_execution_of_many_kernels_is_explained(start: int) -> None:
    held(start)


AT = "mad.lo.u32 %r50, %r4, 4, %r3; st.shared.u32 [%r50], %r9;"


@pytest.mark.parametrize(
    "text",
    [
        "shfl.sync.bfly.b32 %r4, %r1, 1, 31, 0xffff;",
        "shfl.sync.bfly.b32 %r4, %r1, 1, 31, %r2;",
        "shfl.sync.bfly.b32 %r4, %r1, 1, %r2, -1;",
        "ld.global.u32 %r5, [%d1]; shfl.sync.bfly.b32 %r4, %r5, 1, 31, -1;",
        "ld.global.u32 %r5, [%d1]; shfl.sync.down.b32 %r4, %r1, %r5, 31, -1;",
        "setp.lt.u32 %p1, %r1, 40; @%p1 bra OUT; shfl.sync.bfly.b32 %r4, %r1, 1, 31, -1; OUT:",
        "setp.lt.u32 %p1, %r1, 40; @%p1 exit; shfl.sync.bfly.b32 %r4, %r1, 1, 31, -1;",
        "setp.lt.u32 %p1, %r1, 40; @%p1 shfl.sync.bfly.b32 %r4, %r1, 1, 31, -1;",
        "mov.u32 %r5, 0; L: shfl.sync.bfly.b32 %r4, %r1, 1, 31, -1; add.u32 %r5, %r5, 1; setp.lt.u32 %p1, %r5, %r1;"
        " @%p1 bra L;",
        # A loop before it, which lanes leave with other numbers, decides who executes it.
        "mov.u32 %r5, 0; L: add.u32 %r5, %r5, 1; setp.lt.u32 %p1, %r5, %r1; @%p1 bra L; setp.lt.u32 %p1, %r5, 40;"
        " @%p1 bra OUT; shfl.sync.bfly.b32 %r4, %r1, 1, 31, -1; OUT:",
        # The loop ends by what the shuffle gives.
        "mov.u32 %r5, 0; L: shfl.sync.bfly.b32 %r4, %r1, 1, 31, -1; add.u32 %r5, %r5, %r4; setp.lt.u32 %p1, %r5, 90;"
        " @%p1 bra L;",
        "setp.lt.u32 %p1, %r1, 40; @%p1 bra IN; setp.lt.u32 %p2, %r2, 40; @%p2 bra OUT;"
        " IN: shfl.sync.bfly.b32 %r4, %r1, 1, 31, -1; OUT:",
        "setp.lt.u32 %p1, %r1, 40; @%p1 bra L; bra OUT; L: shfl.sync.bfly.b32 %r4, %r1, 1, 31, -1;"
        " mad.lo.u32 %r50, %r4, 4, %r3; st.shared.u32 [%r50], %r9; M: bra M; OUT:",
    ],
)
def test_these_say_nothing(text: str) -> None:
    assert "opaque" in own(last(text + AT))


@pytest.mark.parametrize(
    "text",
    [
        "setp.lt.u32 %p1, %r2, 40; @%p1 bra OUT; shfl.sync.bfly.b32 %r4, %r1, 1, 31, -1; OUT:",
        "setp.lt.u32 %p1, %r2, 40; @%p1 exit; shfl.sync.bfly.b32 %r4, %r1, 1, 31, -1;",
        "setp.lt.u32 %p1, %r1, 32; @%p1 exit; shfl.sync.bfly.b32 %r4, %r1, 1, 31, -1;",
        # All lanes make three trips, or as many as a parameter says.
        "mov.u32 %r5, 0; L: shfl.sync.bfly.b32 %r4, %r1, 1, 31, -1; add.u32 %r5, %r5, 1; setp.lt.u32 %p1, %r5, 3;"
        " @%p1 bra L;",
        "mov.u32 %r5, %r2; L: shfl.sync.bfly.b32 %r4, %r1, 1, 31, -1; sub.u32 %r5, %r5, 1; setp.gt.u32 %p1, %r5, 3;"
        " @%p1 bra L;",
        # The lanes meet again before the shuffle, on one side of a choice that warps make.
        "setp.lt.u32 %p1, %r1, 32; @%p1 bra OUT; setp.lt.u32 %p1, %r1, 40; @%p1 bra M; mov.u32 %r5, 1;"
        " M: shfl.sync.bfly.b32 %r4, %r1, 1, 31, -1; OUT:",
    ],
)
def test_whole_warps_exchange_what_is_known(text: str) -> None:
    # The register is written nowhere else: a warp that passes by has what the kernel begins with.
    assert own(last("mov.u32 %r4, 0;" + text + AT)) == []


LOADED = (
    "mov.u32 %r4, 0; L: {0} ld.global.u32 %r5, [%d1]; setp.lt.u32 %p1, %r5, 9; @%p1 bra L;"
    " setp.gt.u32 %p1, %r5, 99; @%p1 bra L;"
)
"""A loop whose lanes may begin a trip before others, as memory decides: it is not known that they make it together."""


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("shr.u32 %r7, %r1, 5; shfl.sync.idx.b32 %r4, %r7, 0, 31, -1;", []),
        ("shfl.sync.idx.b32 %r4, %r2, 7, 31, -1;", []),
        ("shfl.sync.idx.b32 %r4, %r1, 0, 31, -1;", ["opaque"]),
        ("shr.u32 %r7, %r1, 4; shfl.sync.idx.b32 %r4, %r7, 0, 31, -1;", ["opaque"]),
        ("shr.u32 %r7, %r1, 5; shfl.sync.idx.b32 %r4, %r7, 0, 31, 1;", ["opaque"]),
        ("shr.u32 %r7, %r1, 5; shfl.sync.idx.b32 %r4, %r7, %r5, 31, -1;", ["opaque"]),
    ],
)
def test_what_all_lanes_of_a_warp_have_is_what_one_of_them_has(text: str, kinds: list[str]) -> None:
    found = last("mov.u32 %r5, 0;" + LOADED.format(text + AT), (64, 1, 1))
    assert own(found) == kinds


LESS_32_BY_32 = (
    "add.s32 %r6, %r1, -32; shr.s32 %r7, %r6, 31; shr.u32 %r7, %r7, 27; add.s32 %r6, %r6, %r7; shr.s32 %r6, %r6, 5;"
)
"""`(threadIdx.x - 32) / 32`, which rounds to 0: it is one number in all warps but the first."""


@pytest.mark.parametrize(("least", "kinds"), [(0, ["opaque"]), (16, ["opaque"]), (32, []), (40, ["opaque"]), (64, [])])
def test_only_the_warps_count_that_come_there(least: int, kinds: list[str]) -> None:
    text = f"setp.lt.u32 %p2, %r1, {least}; @%p2 bra OUT;" + LESS_32_BY_32
    found = last(text + LOADED.format("shfl.sync.idx.b32 %r4, %r6, 0, 31, -1;" + AT) + "OUT:", (128, 1, 1))
    assert own(found) == kinds


# ---- planted mistakes


def found_by_some(seeds: range, shapes: tuple[BlockShape, ...] = SHAPES) -> None:
    with pytest.raises(AssertionError):
        held(seeds.start, shapes, len(seeds))


@found_at(13, 100)
def test_steps_that_go_round(monkeypatch: pytest.MonkeyPatch, seeds: range) -> None:
    """A lane whose step leads out of range gets the value of a lane at the other end."""
    original = evaluate.source_lane

    def source_lane(mode: str, lane: Any, step: Any, control: int) -> Any:
        place, is_in = original(mode, lane, step, control)
        away = {"up": sub(lane, step), "down": add(lane, step)}.get(mode, place)
        return bit_and(away, const(31, 32)), is_in

    monkeypatch.setattr(evaluate, "source_lane", source_lane)
    found_by_some(seeds)


@found_at(19, 100)
def test_segments_that_do_not_count(monkeypatch: pytest.MonkeyPatch, seeds: range) -> None:
    original = evaluate.source_lane
    monkeypatch.setattr(
        evaluate, "source_lane", lambda mode, lane, step, control: original(mode, lane, step, control & 31)
    )
    found_by_some(seeds)


@found_at(7, 100)
def test_a_warp_in_part_taken_for_a_whole_one(monkeypatch: pytest.MonkeyPatch, seeds: range) -> None:
    monkeypatch.setattr(lanes.Threads, "are_whole_warps", True)
    found_by_some(seeds, IN_PARTS)


@found_at(7, 100)
def test_a_row_taken_for_a_warp(monkeypatch: pytest.MonkeyPatch, seeds: range) -> None:
    monkeypatch.setattr(lanes.Threads, "number", lambda self, leaves: leaves.lane("tid.x", self._block[0]))
    found_by_some(seeds)


@found_at(50, 100)
def test_lanes_that_went_another_way(monkeypatch: pytest.MonkeyPatch, seeds: range) -> None:
    monkeypatch.setattr(warps, "_is_one", lambda *_: True)
    found_by_some(seeds)


@found_at(21, 100)
def test_what_lanes_have_taken_for_what_one_has(monkeypatch: pytest.MonkeyPatch, seeds: range) -> None:
    monkeypatch.setattr(evaluate, "is_one_in_warp", lambda *_: True)
    found_by_some(seeds)


def test_loops_before_taken_for_loops_around(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lanes that leave an earlier loop at other trips do not reach a shuffle together."""
    right = warps._is_one  # pyright: ignore[reportPrivateUsage]

    def wrong(slices: Any, value: Any, _: Any, met: Any) -> bool:
        return right(slices, value, {loop.header for loop in slices.flow.loops}, met)

    text = (
        "mov.u32 %r5, 0; L: add.u32 %r5, %r5, 1; setp.lt.u32 %p1, %r5, %r1; @%p1 bra L; setp.lt.u32 %p1, %r5, 40;"
        " @%p1 bra OUT; shfl.sync.bfly.b32 %r4, %r1, 1, 31, -1; OUT:"
    )
    monkeypatch.setattr(warps, "_is_one", wrong)
    assert "opaque" not in own(last("mov.u32 %r4, 0;" + text + AT))
