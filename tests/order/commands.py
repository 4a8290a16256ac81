"""Kernels in which the second warp loads from shared memory what to do, right ones and with one mistake each.

The first warp stores a byte and meets the second one at `bar.sync 1`. The second warp loads the byte: 0 and 1 name two
works, and any other one ends it. Both meet behind the work.
"""

from __future__ import annotations

from typing import Final, NamedTuple


class Commanded(NamedTuple):
    """A kernel: its body behind the common head, and `free`, `race-benign`, `wrong`, or `open` if no run shows it."""

    body: str
    verdict: str


MEET: Final = "bar.sync 1;\n"
_HERE: Final = "and.b32 %r10, %r2, 127;\nadd.u32 %r10, %r10, %r3;\n"
"""The word of a lane, for both warps."""
_ZERO, _ONE = (f"st.shared.u32 [%r10{each}], %r1;\n" for each in ("", "+1024"))
"""Work 0 and work 1: each writes to a region of its own."""
SEE_ZERO, SEE_ONE = (f"ld.shared.u32 %r11, [%r10{each}];\n" for each in ("", "+1024"))
_FIRST: Final = "setp.eq.u32 %p4, %r1, 0;\n"
LOAD: Final = "ld.shared.u8 %r20, [%r12+4];\n"
_NAMED: Final = "bar.sync 2, 64;\n"
"""A barrier that has a count: it orders, and counts as no barrier of the whole block here."""


def tell(command: str | int, who: str = "@%p4 ") -> str:
    """The first thread stores a command."""
    return f"{who}st.shared.u8 [t+5], {command};\n"


def kernel(*rounds: str, load: str = MEET + LOAD, end: str = tell(7), more: str = "") -> str:
    """What the first warp does, a text for each round behind which both meet, and the loop of the second warp."""
    first = "".join(each + MEET for each in rounds) + end + MEET
    return (
        f"{_HERE}{_FIRST}shr.u32 %r13, %r1, 5;\nmov.u32 %r12, t;\nadd.u32 %r12, %r12, %r13;\n{more}"
        f"setp.ne.u32 %p5, %r13, 0;\n@%p5 bra WORKER;\n{first}bra OUT;\nWORKER:\n{load}"
        f"setp.gt.u32 %p6, %r20, 1;\n@%p6 bra OUT;\nsetp.eq.u32 %p7, %r20, 1;\n@%p7 bra ONE;\n{_ZERO}bra DONE;\n"
        f"ONE:\n{_ONE}DONE:\n{MEET}bra WORKER;\nOUT:\n"
    )


def told(command: int, work: str = "", who: str = "@%p4 ") -> str:
    """One round: a command, and what the first warp does meanwhile."""
    return tell(command, who) + MEET + work


_ELSEWHERE: Final = (
    "mov.u64 %rd2, t;\ncvta.shared.u64 %rd2, %rd2;\nadd.s64 %rd2, %rd2, 5;\n"
    "setp.gt.u32 %p3, %r7, 1;\nselp.b64 %rd3, %rd2, %rd1, %p3;\n"
)
"""A generic address: that of the command, or of global memory."""
_BOTH: Final = told(0, SEE_ONE), told(1, SEE_ZERO)

COMMANDS: Final = {
    "one round": Commanded(kernel(told(0, SEE_ONE)), "free"),
    "the work that it names": Commanded(kernel(told(0, SEE_ZERO)), "wrong"),
    "two rounds": Commanded(kernel(*_BOTH), "free"),
    "the works of two rounds exchanged": Commanded(kernel(told(1, SEE_ONE), told(0, SEE_ZERO)), "wrong"),
    "the second round repeats the first one": Commanded(kernel(told(0, SEE_ONE), told(0, SEE_ZERO)), "wrong"),
    "no command in the second round": Commanded(kernel(told(1, SEE_ZERO), MEET + SEE_ZERO), "free"),
    "no command in the second round, the other work": Commanded(kernel(told(1, SEE_ZERO), MEET + SEE_ONE), "wrong"),
    "by all lanes": Commanded(kernel(told(0, SEE_ONE, "")), "race-benign"),
    "a number for each lane": Commanded(kernel("st.shared.u8 [t+5], %r1;\n" + MEET + SEE_ONE, end=tell(7)), "wrong"),
    "two numbers one after the other": Commanded(kernel(tell(1) + told(0, SEE_ONE)), "free"),
    "two numbers in the other order": Commanded(kernel(tell(0) + told(1, SEE_ONE)), "wrong"),
    "a wider store": Commanded(kernel("@%p4 st.shared.u32 [t+4], 256;\n" + MEET + SEE_ZERO), "free"),
    "a wider store, the bytes exchanged": Commanded(
        kernel("@%p4 st.shared.u32 [t+4], 65536;\n" + MEET + SEE_ZERO), "wrong"
    ),
    "a store of two words": Commanded(kernel("@%p4 st.shared.v2.u32 [t], {1, 256};\n" + MEET + SEE_ZERO), "free"),
    "a store of two words, exchanged": Commanded(
        kernel("@%p4 st.shared.v2.u32 [t], {256, 1};\n" + MEET + SEE_ZERO), "wrong"
    ),
    "stored behind the barrier": Commanded(kernel(MEET + tell(0) + SEE_ONE), "wrong"),
    "stored behind the barrier, in order by another one": Commanded(
        kernel(
            tell(0) + MEET + tell(1) + _NAMED + SEE_ONE,
            load=MEET + _NAMED + LOAD,
            end=tell(7) + MEET + _NAMED + "bra OUT;\n",
        ),
        "wrong",
    ),
    "stored if the launch says so": Commanded(
        kernel(tell(0) + told(1, SEE_ZERO, "@%p8 "), more="setp.gt.u32 %p3, %r7, 1;\nand.pred %p8, %p3, %p4;\n"),
        "wrong",
    ),
    "a number of the launch": Commanded(kernel("@%p4 st.shared.u8 [t+5], %r7;\n" + MEET + SEE_ONE), "wrong"),
    "a number of the launch, behind a command": Commanded(
        kernel(told(0, SEE_ONE), "@%p4 st.shared.u8 [t+5], %r7;\n" + MEET + SEE_ONE), "wrong"
    ),
    "a word of another thread over it": Commanded(
        kernel(told(0, SEE_ONE), "mov.u32 %r30, 1;\n@%p4 st.shared.u32 [%r12+2], %r30;\n" + MEET + SEE_ONE), "open"
    ),
    "two lanes in order": Commanded(
        kernel(
            "@%p1 st.shared.u8 [t+5], 1;\nbar.warp.sync -1;\n" + told(0, SEE_ZERO), more="setp.eq.u32 %p1, %r1, 1;\n"
        ),
        "wrong",
    ),
    "nobody stores": Commanded(kernel(told(1, SEE_ZERO, "@%p1 "), more="setp.lt.u32 %p1, %r1, 0;\n"), "open"),
    "the worker stores, too": Commanded(
        kernel(told(0, SEE_ONE)).replace(_ZERO, _ZERO + "st.shared.u8 [%r12+4], 7;\n"), "open"
    ),
    "the end comes first": Commanded(kernel(told(7, SEE_ONE)), "open"),
    "stored to shared memory if the launch says so": Commanded(
        kernel(told(0, SEE_ONE), f"st.u8 [%rd3], 1;\n{MEET}{SEE_ZERO}", more=_ELSEWHERE), "wrong"
    ),
    "loaded from shared memory if the launch says so": Commanded(
        kernel(told(1, SEE_ZERO), load=MEET + "ld.u8 %r20, [%rd3];\n", more=_ELSEWHERE), "wrong"
    ),
    "loaded before the barrier": Commanded(kernel(told(0, SEE_ONE), load=LOAD + MEET), "wrong"),
}
