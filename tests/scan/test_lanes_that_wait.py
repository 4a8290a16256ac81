"""Waits for barrier objects that all lanes of a warp leave in one trip: they test one object for one phase together."""

from __future__ import annotations

import pytest

from swzverify.compiled.ptx import read_module
from tests.scan.test_partings import ROW, around
from tests.scan.test_trips_in_step import LOAD
from tests.scan.texts import WHOLE, text_of, verdict
from tests.scan.whole import scan_module

PLACE, PARITY = "[%r3]", "%r2"
TARGET = ".target sm_90"


def wait(place: str = PLACE, phase: str = PARITY, *, kind: str = "try_wait.parity", end: str = "@!%p3 bra W;") -> str:
    return f"W: mbarrier.{kind}.shared.b64 %p3, {place}, {phase}; {end} "


PATIENT = (
    "mov.u32 %r5, 0; mov.u64 %d5, %globaltimer; bra.uni W; R: add.u32 %r5, %r5, 1;"
    + wait(end="@%p3 bra OUT;")
    + "setp.lt.u32 %p4, %r5, 16; @%p4 bra R; mov.u64 %d6, %globaltimer; sub.s64 %d7, %d6, %d5;"
    " setp.lt.s64 %p5, %d7, 40000; @%p5 bra W; cvt.u32.u64 %r6, %d7; nanosleep.u32 %r6; bra.uni W; OUT: "
)
"""As `cuda::barrier::wait` compiles."""
BY_LANE = "and.b32 %r10, %r1, 1; mad.lo.u32 %r11, %r1, 8, %r3; shr.u32 %r12, %r1, 5; mad.lo.u32 %r13, %r12, 8, %r3; "


@pytest.mark.parametrize(
    "body",
    [
        wait(),
        wait(kind="test_wait.parity"),
        wait(phase="%r2, 1000"),
        wait(phase="1"),
        wait(end="@%p3 bra W;"),
        BY_LANE + wait("[%r13]", "%r12"),
        PATIENT,
    ],
    ids=["parity", "test", "with a hint", "a number", "true leads back", "another one in each warp", "with pauses"],
)
def test_lanes_that_test_one_object_for_one_phase(body: str) -> None:
    assert verdict(body + ROW) == ("conflict", 32)


@pytest.mark.parametrize(
    "body",
    [
        BY_LANE + wait(phase="%r10"),
        BY_LANE + wait("[%r11]"),
        BY_LANE + wait(phase="%r2, %r10"),
        LOAD + wait(phase="%r10"),
        wait(end="atom.shared.add.u32 %r11, [%r3], 1; setp.lt.or.u32 %p3, %r11, 9, %p3; @!%p3 bra W;"),
        wait(end=f"{LOAD} setp.lt.or.u32 %p3, %r10, 9, %p3; @!%p3 bra W;"),
        f"mov.u32 %r5, %r1; {wait(end='add.u32 %r5, %r5, 1; setp.lt.or.u32 %p3, %r5, 99, %p3; @%p3 bra W;')}",
        f"setp.lt.u32 %p6, %r1, 16; @%p6 bra X; {wait()} X: ",
        f"{LOAD} setp.lt.u32 %p6, %r10, 9; @%p6 bra X; {wait()} X: ",
        wait(end=f"@%p3 bra X; {LOAD} setp.lt.u32 %p6, %r10, 9; @%p6 bra W; nanosleep.u32 20; bra W; X: "),
        "and.b32 %r11, %r1, 1; setp.eq.u32 %p6, %r11, 0; @%p6 bra X; atom.shared.add.u32 %r12, [%r3], 1; X: "
        + wait(end="setp.lt.or.u32 %p3, %r12, 9, %p3; @!%p3 bra W;"),
        f"{wait()} L: ld.volatile.shared.u32 %r11, [%r3]; {LOAD} setp.lt.u32 %p6, %r10, 9; @%p6 bra L; ",
        f"L: ld.volatile.shared.u32 %r11, [%r3]; {LOAD} setp.lt.u32 %p6, %r10, 9; @%p6 bra L; {wait()}",
    ],
    ids=[
        "parity of a lane",
        "object of a lane",
        "time of a lane",
        "parity that a lane loads",
        "an atomic decides, too",
        "data decide, too",
        "the lane decides, too",
        "some lanes of a warp wait",
        "lanes wait by data",
        "some lanes sleep",
        "an atomic of some lanes",
        "another loop behind it",
        "another loop before it",
    ],
)
def test_lanes_that_may_pass_one_after_the_other(body: str) -> None:
    assert verdict(body + ROW)[0] == "unknown"


def test_tests_behind_a_loop_that_parts_lanes_are_not_made_together() -> None:
    loop = f"L: ld.volatile.shared.u32 %r11, [%r3]; {LOAD} setp.lt.u32 %p6, %r10, 9; @%p6 bra L; "
    assert verdict(loop + wait() + "bar.sync 0;" + ROW) == ("conflict", 32)
    late = f"{wait()} bar.sync 0; selp.u32 %r11, 1, 2, %p3; "
    own = "mul.lo.u32 %r20, %r11, 4; mad.lo.u32 %r20, %r1, 128, %r20; ld.shared.u32 %r30, [%r20];"
    assert verdict(late + own)[0] == "conflict"
    assert verdict(loop + late + own)[0] == "unknown"


def test_trips_of_a_loop_around_are_made_together() -> None:
    assert around(wait()) == "free"
    assert around(BY_LANE + wait("[%r11]")) == "unknown"
    assert around(BY_LANE + wait("[%r11]"), "bar.sync 0;") == "free"


def test_a_conflict_in_a_trip() -> None:
    body = f"mov.u32 %r6, 0; O: {wait()} {ROW} add.u32 %r6, %r6, 1; setp.lt.u32 %p2, %r6, %r2; @%p2 bra O;"
    assert verdict(body) == ("conflict", 32)


AGAIN = "mbarrier.test_wait.parity.shared.b64 %p5, [%r3], 1; selp.u32 %r10, 32, 1, %p5;"


@pytest.mark.parametrize("of", [AGAIN, "mov.u32 %r10, %clock;", "mov.u32 %r10, %globaltimer_lo;"])
def test_no_launch_chooses_a_result_or_a_clock(of: str) -> None:
    read = f"{of} mul.lo.u32 %r20, %r10, %r1; mad.lo.u32 %r20, %r20, 4, %r3; ld.shared.u32 %r30, [%r20];"
    assert verdict(wait() + read)[0] == "unknown"
    guarded = f"{of} setp.eq.u32 %p4, %r10, 1; @%p4 bra T; bra U; T: {ROW} U:"
    assert verdict(wait() + guarded)[0] == "unknown"


def copy(waits: str, pitch: int, align: int = 128) -> str:
    """The verdict on a copy of 16 bytes by each lane, from rows of a warp to places this far apart."""
    body = (
        f"ld.param.u64 %d1, [q]; mov.u32 %r3, z; {waits} mul.lo.u32 %r20, %r1, {pitch}; add.u32 %r20, %r20, %r3;"
        " mul.wide.u32 %d3, %r1, 16; add.u64 %d3, %d1, %d3; cp.async.cg.shared.global [%r20], [%d3], 16;"
    )
    return verdict(body, outside=f".shared .align {align} .b8 z[8192];\n")[0]


def test_copies_of_sixteen_bytes() -> None:
    """Fewer lanes of an octet may cost more, so that they are not free."""
    apart = BY_LANE.replace("%r3", "%r4") + wait("[%r11]").replace("W", "V")
    assert [copy("", 16), copy(wait(), 16), copy(apart, 16)] == ["free", "free", "unknown"]
    assert [copy(wait(), 128), copy(apart, 128)] == ["conflict", "unknown"]


ARRIVE = "mbarrier.arrive.shared.b64 %d9, [%r3]; "
COUNTED = "mov.u32 %r11, {}; mbarrier.arrive.release.cta.shared::cta.b64 %d9, [%r3], %r11; "


def with_tokens(arrive: str = ARRIVE, *, phase: str = "%d9", target: str = "sm_90", behind: str = ROW) -> str:
    """The verdict on what comes behind a wait with the tokens of all threads."""
    text = text_of(arrive + wait(phase=phase, kind="test_wait") + behind, ".extern .func f;\n")
    found = scan_module(read_module(text.replace(TARGET, f".target {target}"), "k.ptx"), WHOLE)
    return found[-1].decision.verdict.value


@pytest.mark.parametrize(
    "arrive",
    [
        ARRIVE,
        COUNTED.format(1),
        "cp.async.mbarrier.arrive.shared.b64 [%r3]; " + ARRIVE,
        f"setp.lt.u32 %p8, %r1, 40; @%p8 bra A; mbarrier.arrive.shared.b64 %d10, [%r3]; A: {ARRIVE}",
        "mbarrier.arrive.shared.b64 %d8, [%r3]; mov.u64 %d9, %d8; ",
    ],
    ids=["all threads", "by one", "with copies", "some lanes before", "moved"],
)
def test_lanes_that_test_with_tokens_of_one_phase(arrive: str) -> None:
    assert with_tokens(arrive) == "conflict"
    assert with_tokens(arrive, target="sm_100a") == "conflict"
    assert with_tokens(arrive, target="sm_80") == "unknown"


@pytest.mark.parametrize(
    "arrive",
    [
        COUNTED.format(2),
        COUNTED.format("%r1"),
        "mbarrier.arrive.noComplete.shared.b64 %d9, [%r3], 1; ",
        "mbarrier.arrive_drop.shared.b64 %d9, [%r3]; ",
        "mbarrier.arrive.expect_tx.shared.b64 %d9, [%r3], 16; ",
        BY_LANE + ARRIVE.replace("[%r3]", "[%r11]"),
        f"{ARRIVE} setp.lt.u32 %p8, %r1, 40; @%p8 {ARRIVE}",
        f"{ARRIVE} setp.lt.u32 %p8, %r1, 40; @%p8 bra A; {ARRIVE} A: ",
        f"{LOAD} setp.lt.u32 %p8, %r10, 40; @%p8 bra A; {ARRIVE} bra B; A: {ARRIVE} B: ",
        "mov.u32 %r6, 0; T: " + ARRIVE + "add.u32 %r6, %r6, 1; setp.lt.u32 %p8, %r6, %r1; @%p8 bra T; ",
        ARRIVE + "mul.lo.u64 %d9, %d9, %d1; ",
        "mov.u64 %d9, %clock64; cvt.u64.u32 %d10, %r1; shl.b64 %d10, %d10, 60; xor.b64 %d9, %d9, %d10;",
        f"L: ld.volatile.shared.u32 %r11, [%r3]; {LOAD} setp.lt.u32 %p6, %r10, 9; @%p6 bra L; {ARRIVE}",
    ],
    ids=[
        "by two",
        "by numbers of lanes",
        "not complete",
        "dropped",
        "with bytes",
        "at objects of their own",
        "some lanes once more by a guard",
        "some lanes once more",
        "at two places by data",
        "as often as the lane says",
        "another number",
        "no token",
        "one after the other",
    ],
)
def test_lanes_whose_tokens_may_be_of_different_phases(arrive: str) -> None:
    assert with_tokens(arrive) == "unknown"


def test_what_else_tokens_hold_is_each_lanes_own() -> None:
    """They have the arrivals that the phase lacks, which each lane lowers."""
    read = "mbarrier.pending_count.b64 %r10, %d9; mad.lo.u32 %r20, %r10, 128, %r3; ld.shared.u32 %r30, [%r20];"
    assert with_tokens(behind=read) == "unknown"
    assert with_tokens(behind="cvt.u32.u64 %r10, %d9; " + read.partition(";")[2]) == "unknown"
