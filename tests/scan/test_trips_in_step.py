"""Accesses in loops that lanes leave at different trips: while they stay they make their trips together."""

from __future__ import annotations

import pytest

from tests.scan.test_claims import bounds
from tests.scan.texts import verdict

READ = "mul.lo.u32 %r20, %r5, 128; add.u32 %r20, %r20, %r3; ld.shared.u32 %r30, [%r20];"
"""Word 32 * %r5: lanes in different trips conflict."""
LOAD = "mul.wide.u32 %d2, %r1, 4; add.u64 %d2, %d1, %d2; ld.global.u32 %r10, [%d2];"
"""A number of each lane in %r10."""
LEFT = f"mov.u32 %r5, 0; L: {{0}} {LOAD} add.u32 %r5, %r5, 1; setp.lt.u32 %p1, %r10, 9; @%p1 bra L; {{1}}"
OUTER = f"mov.u32 %r6, 0; O: {LEFT.format(READ, '{0}')} add.u32 %r6, %r6, 1; setp.lt.u32 %p2, %r6, %r2; @%p2 bra O;"
EARLY = f"mov.u32 %r5, 0; L: {READ} {LOAD} add.u32 %r5, %r5, 1; setp.gt.u32 %p1, %r10, 99; @%p1 bra L;"


@pytest.mark.parametrize("body", [LEFT.format(READ, ""), OUTER.format(""), OUTER.format("bar.sync 0;")])
def test_lanes_that_stay_are_in_one_trip(body: str) -> None:
    assert verdict(body) == ("free", 1)


@pytest.mark.parametrize(
    "body",
    [
        LEFT.format("", READ),
        f"{EARLY} setp.lt.u32 %p1, %r10, 9; @%p1 bra L;",
        OUTER.format("setp.lt.u32 %p2, %r10, 50; @%p2 bra O;")
        .replace("mov.u32 %r5, 0;", "", 1)
        .replace("O:", "mov.u32 %r5, 0; O:"),
    ],
    ids=["behind the loop", "trips that begin early", "a register that goes on"],
)
def test_other_lanes_may_be_in_different_trips(body: str) -> None:
    assert verdict(body)[0] == "unknown"


def up_to(most: int, bound: str = "min.s32 %r9, %r2, {}") -> str:
    """A loop of 4 KiB words with at most so many trips, which lanes leave earlier."""
    read = "mad.lo.u32 %r20, %r5, 4, %r4; ld.shared.u32 %r30, [%r20];"
    test = f"{LOAD} setp.lt.u32 %p2, %r10, 9; setp.lt.and.s32 %p1, %r5, %r9, %p2; @%p1 bra L;"
    return f"mov.u32 %r4, z; {bound.format(most)}; mov.u32 %r5, 0; L: {read} add.u32 %r5, %r5, 1; {test}"


ARRAY = ".shared .align 4 .b8 z[1024];\n"


@pytest.mark.parametrize(("most", "is_proved"), [(255, True), (256, True), (257, False), (2000, False)])
def test_the_smaller_of_a_number_and_a_parameter_bounds_trips(most: int, is_proved: bool) -> None:
    assert (bounds(up_to(most), ARRAY).verdict == "proved") is is_proved


def test_the_larger_one_does_not() -> None:
    assert bounds(up_to(256, "max.s32 %r9, %r2, {}"), ARRAY).verdict != "proved"


@pytest.mark.parametrize(("most", "is_proved"), [(254, True), (255, True), (256, False)])
def test_the_trip_of_the_number_itself_may_be_the_last_one(most: int, is_proved: bool) -> None:
    body = up_to(most).replace("add.u32 %r5, %r5, 1; ", "").replace("@%p1 bra L;", "add.u32 %r5, %r5, 1; @%p1 bra L;")
    assert (bounds(body, ARRAY).verdict == "proved") is is_proved
