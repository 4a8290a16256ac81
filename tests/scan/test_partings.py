"""Lanes that part in a loop with a load or atomic that others may answer need not run together behind it."""

from __future__ import annotations

import pytest

from tests.scan.test_trips_in_step import LOAD, READ
from tests.scan.texts import scanned, verdict

ROW = "mad.lo.u32 %r20, %r1, 128, %r3; ld.shared.u32 %r30, [%r20];"
YIELDING = [
    "ld.volatile.shared.u32 %r11, [%r3];",
    "ld.relaxed.gpu.global.u32 %r11, [%d1];",
    "ld.acquire.gpu.global.u32 %r11, [%d1];",
    "atom.shared.add.u32 %r11, [%r3], 1;",
    "atom.global.cas.b32 %r11, [%d1], 0, 1;",
    "red.shared.add.u32 [%r3], 1;",
    "mbarrier.test_wait.parity.shared.b64 %p3, [%r3], 0;",
    "mbarrier.arrive.shared.b64 _, [%r3];",
    "nanosleep.u32 20;",
]


def spin(instruction: str = YIELDING[0]) -> str:
    return f"mov.u32 %r5, 0; L: {instruction} {LOAD} add.u32 %r5, %r5, 1; setp.lt.u32 %p1, %r10, 9; @%p1 bra L; "


@pytest.mark.parametrize("instruction", YIELDING)
def test_no_conflict_is_sure_behind_such_a_loop(instruction: str) -> None:
    assert verdict(spin(instruction) + ROW, (32, 1, 1))[0] == "unknown"


@pytest.mark.parametrize(
    "instruction", ["ld.shared.u32 %r11, [%r3];", "st.volatile.shared.u32 [%r3], %r5;", "red.global.add.u32 [%d1], 1;"]
)
def test_behind_other_loops_it_is(instruction: str) -> None:
    assert verdict(spin(instruction) + ROW, (32, 1, 1)) == ("conflict", 32)


@pytest.mark.parametrize(
    "gathers",
    [
        "bar.sync 0;",
        "bar.warp.sync -1;",
        "shfl.sync.idx.b32 %r12, %r5, 0, 31, -1;",
        "vote.sync.ballot.b32 %r12, %p1, 0xffffffff;",
    ],
)
def test_instructions_that_gather_the_warp(gathers: str) -> None:
    assert verdict(spin() + gathers + ROW, (32, 1, 1)) == ("conflict", 32)


@pytest.mark.parametrize(
    "gathers", ["bar.warp.sync 65535;", "@%p1 bar.warp.sync -1;", "barrier.sync 0;", "bar.arrive 0, 64;"]
)
def test_instructions_that_do_not(gathers: str) -> None:
    assert verdict(spin() + gathers + ROW, (32, 1, 1))[0] == "unknown"


ALONE = [
    "nanosleep.u32 20;",
    "mbarrier.try_wait.parity.shared.b64 %p3, [%r3], 0, 50;",
    "bar.arrive 1, 64;",
    "barrier.sync 1, 64;",
    "call.uni f;",
    "call.uni g;",
]
OTHERS = (
    ".shared .align 16 .b8 z[16];\n.extern .func f;\n.func h { ret; }\n"
    ".func g { .reg .b32 %r<9>; ld.volatile.shared.u32 %r1, [z]; ret; }\n"
)
OWN = f"{LOAD} setp.lt.u32 %p1, %r10, 9; "


def behind_a_choice(instruction: str, end: str = "") -> tuple[str, int | None]:
    return verdict(f"{OWN} @%p1 bra X; {instruction} X: {end} {ROW}", (32, 1, 1), OTHERS)


@pytest.mark.parametrize("instruction", ALONE)
def test_instructions_that_part_lanes_in_no_loop(instruction: str) -> None:
    assert behind_a_choice(instruction)[0] == "unknown"
    assert behind_a_choice(instruction, "bar.warp.sync -1;") == ("conflict", 32)


@pytest.mark.parametrize(
    "instruction",
    [
        "ld.volatile.shared.u32 %r11, [%r3];",
        "atom.shared.add.u32 %r11, [%r3], 1;",
        "mbarrier.try_wait.parity.shared.b64 %p3, [%r3], 0;",
        "bar.warp.sync 65535;",
        "bar.sync 0;",
        "barrier.sync.aligned 1, 32;",
        "call.uni h;",
    ],
)
def test_instructions_that_do_not_part_lanes_there(instruction: str) -> None:
    assert behind_a_choice(instruction) == ("conflict", 32)


def test_a_guard_parts_lanes_too() -> None:
    guarded = f"{OWN} bar.warp.sync -1; @%p1 nanosleep.u32 20;"
    assert verdict(guarded + ROW, (32, 1, 1))[0] == "unknown"
    assert verdict(f"{guarded} bra X; X: bar.warp.sync -1; {ROW}", (32, 1, 1)) == ("conflict", 32)
    assert verdict(f"setp.lt.u32 %p1, %r2, 9; @%p1 nanosleep.u32 20; {ROW}", (32, 1, 1)) == ("conflict", 32)
    assert verdict(f"nanosleep.u32 20; {ROW}", (32, 1, 1)) == ("conflict", 32)


@pytest.mark.parametrize(("stored", "verdict_of"), [("%r1", "unknown"), ("", "conflict")])
def test_a_guard_may_be_what_a_lane_stored_itself(stored: str, verdict_of: str) -> None:
    """ptxas may put the register in place of the load: then lanes do not share the guard."""
    store = f"st.shared.u32 [%r3], {stored};" if stored else ""
    body = f"{store} ld.shared.u32 %r14, [%r3]; setp.lt.u32 %p1, %r14, 9; @%p1 nanosleep.u32 20; {ROW}"
    assert verdict(body)[0] == verdict_of


def test_a_choice_of_all_lanes_parts_none() -> None:
    body = f"setp.lt.u32 %p1, %r2, 9; @%p1 bra X; nanosleep.u32 20; X: {ROW}"
    assert verdict(body, (32, 1, 1)) == ("conflict", 32)


def around(inner: str, end: str = "") -> str:
    """The verdict on a load in a loop that all lanes leave together, by its own trips; another loop is in it."""
    own = READ.replace("%r5", "%r6")
    body = f"mov.u32 %r6, 0; O: {own} {inner} {end} add.u32 %r6, %r6, 1; setp.lt.u32 %p2, %r6, %r2; @%p2 bra O;"
    return scanned(body)[0].decision.verdict.value


def test_trips_of_a_loop_around_are_not_made_together() -> None:
    """Measured: lanes of different trips run together there."""
    assert around(spin()) == "unknown"
    assert around(spin(), "bar.sync 0;") == "free"
    assert around(spin("ld.shared.u32 %r11, [%r3];")) == "free"


def test_a_loop_by_itself_is_left_in_one_trip_or_another() -> None:
    assert verdict(spin(YIELDING[0] + READ)) == ("free", 1)


def test_a_loop_behind_another_one_may_be_entered_in_parts() -> None:
    later = (
        f"mov.u32 %r6, 0; P: {READ.replace('%r5', '%r6')} add.u32 %r6, %r6, 1; setp.lt.u32 %p2, %r6, %r2; @%p2 bra P;"
    )
    assert verdict(spin() + later)[0] == "unknown"
    assert verdict(spin() + "bar.sync 0;" + later) == ("free", 1)
