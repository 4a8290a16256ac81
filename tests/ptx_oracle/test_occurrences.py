"""Which values threads share: small kernels, and what is easily taken for shared."""

from __future__ import annotations

import pytest

from . import Buffer
from .launch import Launch
from .occurrences import Recorder
from .race_cases import HEAD


def recorded(*lines: str, block: int = 64) -> Recorder:
    text = HEAD + "\n".join(lines) + "\nret;\n}\n"
    going = Launch(text, "k")
    going.recorder = Recorder()
    result = going.run(((1,), (block,)), 0, {0: 3, 1: Buffer(1024, "iota")})
    assert not result.error, result.error
    return going.recorder


def unshared(*lines: str, within_warps: bool = False) -> set[str]:
    """The registers from %r20 on that two threads do not share."""
    found = {each.place.register for each in recorded(*lines).differing(within_warps=within_warps)}
    return {name for name in found if name.startswith("%r") and int(name[2:]) >= 20}


LOOP = ("mov.u32 %r20, 0;", "L:", "add.u32 %r20, %r20, 1;", "setp.lt.u32 %p5, %r20, {};", "@%p5 bra L;")


def loop(trips: str) -> list[str]:
    return [line.format(trips) for line in LOOP]


@pytest.mark.parametrize(
    ("lines", "of_block", "of_warp"),
    [
        (["add.u32 %r20, %r2, 1;"], set(), set()),
        (["add.u32 %r20, %r1, 1;"], {"%r20"}, {"%r20"}),
        (["shr.u32 %r20, %r1, 5;"], {"%r20"}, set()),
        (["shfl.sync.idx.b32 %r20, %r1, 0, 31, -1;"], {"%r20"}, set()),
        (["vote.sync.ballot.b32 %r20, %p1, -1;"], {"%r20"}, set()),
        (["mov.u32 %r20, %laneid;"], {"%r20"}, {"%r20"}),
        (loop("4"), set(), set()),
        # Threads that are in the loop are in the same trip; what they carry out of it is not the same.
        ([*loop("%r8"), "mov.u32 %r21, %r20;"], {"%r21"}, {"%r21"}),
        # Two arms give one register two values.
        (["mov.u32 %r20, 1;", "@%p2 bra A;", "mov.u32 %r20, 2;", "A:", "mov.u32 %r21, %r20;"], {"%r21"}, set()),
        # A load of a word that each thread finds, and one of a word that is one for all.
        (
            ["st.shared.u32 [%r4], %r1;", "bar.sync 0;", "ld.shared.u32 %r20, [%r3];", "ld.shared.u32 %r21, [%r4];"],
            {"%r21"},
            {"%r21"},
        ),
        (["atom.shared.add.u32 %r20, [%r3], 1;"], {"%r20"}, {"%r20"}),
    ],
)
def test_small_kernels(lines: list[str], of_block: set[str], of_warp: set[str]) -> None:
    assert unshared(*lines) == of_block
    assert unshared(*lines, within_warps=True) == of_warp


def test_trips_of_nested_loops() -> None:
    """Of two loops that turn twice in all, each warp has its own; the barrier inside does not relate them."""
    lines = [
        *("shr.u32 %r21, %r1, 5; add.u32 %r22, %r21, 1; sub.u32 %r23, 2, %r21; mov.u32 %r24, 0;", "O:"),
        *("mov.u32 %r25, 0;", "I:", "bar.sync 0;", "mad.lo.u32 %r26, %r24, 2, %r25;"),
        *("add.u32 %r25, %r25, 1; setp.lt.u32 %p5, %r25, %r23;", "@%p5 bra I;"),
        *("add.u32 %r24, %r24, 1; setp.lt.u32 %p6, %r24, %r22;", "@%p6 bra O;"),
    ]
    found = recorded(*lines)
    places = [place for place in found.values if place.register == "%r26"]
    # Behind the second barrier one warp is in the outer loop's second trip, and the other one in the inner loop's.
    assert {tuple(trip for _, trip in place.trips) for place in places if place.instance == 2} == {(0, 1), (1, 0)}
    assert not any(each.place.register == "%r26" for each in found.differing())


def test_a_difference_names_threads_and_values() -> None:
    [found] = [each for each in recorded("shr.u32 %r20, %r1, 5;").differing() if each.place.register == "%r20"]
    assert found.threads == (0, 32)
    assert found.values == (0, 1)
    assert found.place.trips == ()
    assert found.place.instance == 0
