"""Loops that carry a stride: a conflict of the first trip is one, and only where it is made."""

from __future__ import annotations

import pytest

from swzverify.compiled.kernel import LoopLeaf
from swzverify.compiled.scan.verdict import Decision
from tests.kernel.texts import last as last_access
from tests.scan.texts import last

pytestmark = pytest.mark.usefixtures("without_trials")

ACCESS = "mad.lo.u32 %r20, %r1, %r5, %r3; ld.shared.u32 %r30, [%r20];"


def loop(begin: str, access: str = ACCESS) -> Decision:
    """A loop whose %r5 doubles below a parameter, with an access in it."""
    body = f"{begin} LOOP: {access} shl.b32 %r5, %r5, 1; setp.lt.u32 %p1, %r5, %r2; @%p1 bra LOOP;"
    return last(body).decision


def nested(begin: str, inner: str = "shr.u32 %r6, %r5, 1;") -> Decision:
    """A loop in a loop, which begins with what the outer one carries."""
    access = f"{inner} INNER: mad.lo.u32 %r20, %r1, %r6, %r3; ld.shared.u32 %r30, [%r20];"
    access += "shr.u32 %r6, %r6, 1; setp.gt.u32 %p2, %r6, 3; @%p2 bra INNER;"
    return loop(begin, access)


def test_the_first_trip_conflicts() -> None:
    # From 8 on until 2^31 and 0: the values are few, so that all of them are known.
    assert loop("mov.u32 %r5, 8;").verdict == "conflict"


def test_the_first_trip_of_a_loop_in_a_loop() -> None:
    found = nested("mov.u32 %r5, 16;")
    assert (found.verdict, found.ways, found.at_least) == ("conflict", 2, True)


def test_a_first_trip_without_conflict_says_nothing() -> None:
    assert nested("mov.u32 %r5, 8;").verdict == "unknown"


def test_a_first_value_that_is_no_number_says_nothing() -> None:
    assert nested("mov.u32 %r5, 16;", "shr.u32 %r6, %r2, 1;").verdict == "unknown"


def test_behind_a_loop_nothing_is_known_of_its_first_trip() -> None:
    """The first loop halves 32 until 4 is left; the second one multiplies it by 9: always free."""
    body = "mov.u32 %r5, 32; ONE: shr.u32 %r5, %r5, 1; setp.gt.u32 %p1, %r5, 4; @%p1 bra ONE; mov.u32 %r6, %r5;"
    body += "TWO: mad.lo.u32 %r20, %r1, %r6, %r3; ld.shared.u32 %r30, [%r20]; mul.lo.u32 %r6, %r6, 9;"
    body += "setp.lt.u32 %p2, %r6, %r2; @%p2 bra TWO;"
    assert last(body).decision.verdict == "unknown"
    assert {leaf.first for leaf in last_access(body).leaves if isinstance(leaf, LoopLeaf)} == {None}


def test_an_access_that_the_first_trip_does_not_make_says_nothing() -> None:
    guard = "shr.u32 %r6, %r5, 1; INNER: mad.lo.u32 %r20, %r1, %r6, %r3; setp.ne.u32 %p3, %r6, 8;"
    guard += "@%p3 ld.shared.u32 %r30, [%r20]; shr.u32 %r6, %r6, 1; setp.gt.u32 %p2, %r6, 3; @%p2 bra INNER;"
    assert loop("mov.u32 %r5, 16;", guard).verdict == "unknown"


def test_what_a_loop_carries_belongs_to_one_trip() -> None:
    """A stride doubles while the lanes that come are halved: 64 lanes never meet the wide strides."""
    body = "mov.u32 %r5, 4; mov.u32 %r6, 64; LOOP: mad.lo.u32 %r20, %r1, %r5, %r3; setp.lt.u32 %p3, %r1, %r6;"
    body += "@%p3 ld.shared.u32 %r30, [%r20]; shl.b32 %r5, %r5, 1; shr.u32 %r6, %r6, 1;"
    found = last(f"{body} setp.ne.u32 %p1, %r6, 0; @%p1 bra LOOP;").decision
    # 32 lanes come at a stride of 8 bytes, 16 at 16, 8 at 32, 4 at 64, 2 at 128.
    assert (found.verdict, found.ways) == ("conflict", 2)


HALVED = (
    "mov.u32 %r5, 1; mov.u32 %r6, 64; LOOP: mul.lo.u32 %r7, %r5, %r6; mad.lo.u32 %r20, %r1, %r7, %r3;"
    " ld.shared.u32 %r30, [%r20]; shl.b32 %r5, %r5, 1; shr.u32 %r6, %r6, 1; setp.ne.u32 %p1, %r6, 0; @%p1 bra LOOP;"
)
"""A stride of 64 bytes in all 7 trips, as the product of a register that doubles and one that halves."""
SKEWED = (
    "mov.u32 %r5, {begin}; mov.u32 %r6, {other}; LOOP: add.u32 %r7, %r5, %r6; mad.lo.u32 %r20, %r1, %r7, %r3;"
    " ld.shared.u32 %r30, [%r20]; xor.b32 %r5, %r5, 12; xor.b32 %r6, %r6, 12; add.u32 %r9, %r9, 1;"
    " setp.lt.u32 %p1, %r9, %r2; @%p1 bra LOOP;"
)
"""A stride that is the sum of two registers, each of which goes to and fro."""


def test_a_product_of_two_registers_of_a_loop_is_exact() -> None:
    found = last(HALVED).decision
    assert (found.verdict, found.ways) == ("conflict", 16)


def test_two_registers_that_go_to_and_fro_together_do_not_conflict() -> None:
    # 0 + 12 and 12 + 0: rows of 3 words. Of two trips they would be 0 and 24.
    assert last(SKEWED.format(begin=0, other=12)).decision.verdict == "free"
    assert last(SKEWED.format(begin=0, other=0)).decision.verdict != "free"


BEFORE = (
    "and.b32 %r6, %r2, 1; or.b32 %r6, %r6, 2; mov.u32 %r5, {start}; LOOP: shr.u32 %r6, %r6, 1;"
    " xor.b32 %r5, %r5, {flip}; setp.ne.u32 %p1, %r6, 0; @%p1 bra LOOP; "
)
"""A loop of two trips, whatever the parameter is: at its end %r5 has the value from its start."""
LOADED = (
    "ld.param.u64 %d1, [q]; mul.wide.u32 %d2, %r1, 4; add.u64 %d1, %d1, %d2; ld.global.u32 %r10, [%d1];"
    " and.b32 %r10, %r10, 3; mul.lo.u32 %r10, %r10, %r5; and.b32 %r11, %r1, 28; add.u32 %r10, %r10, %r11;"
    " add.u32 %r20, %r3, %r10; ld.shared.u32 %r30, [%r20];"
)
"""Data choose one of four words at a distance of %r5."""


def test_a_value_of_a_loop_before_need_not_be_its_last() -> None:
    # After one trip, lanes would be 8 bytes apart.
    assert last(BEFORE.format(start=4, flip=12) + ACCESS).decision.verdict == "unknown"
    assert last(BEFORE.format(start=4, flip=0) + ACCESS).decision.verdict == "free"


def test_every_value_of_a_loop_before_conflicts() -> None:
    found = last(BEFORE.format(start=8, flip=24) + ACCESS).decision
    assert (found.verdict, found.ways, found.at_least) == ("conflict", 2, True)


def test_data_do_not_choose_a_value_of_a_loop_before() -> None:
    # After one trip, data would choose between words of one bank.
    assert last(BEFORE.format(start=0, flip=128) + LOADED).decision.verdict == "unknown"
    assert last("mov.u32 %r5, 128; " + LOADED).decision.verdict == "conflict"


def test_data_do_not_choose_a_vote() -> None:
    vote = "setp.ge.u32 %p1, %r2, 0; vote.sync.any.pred %p2, %p1, -1; selp.u32 %r5, 0, 128, %p2; "
    assert last(vote + LOADED).decision.verdict == "unknown"
