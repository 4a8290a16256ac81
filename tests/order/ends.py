"""Kernels that end their barrier objects with `mbarrier.inval`, right ones and the same with one mistake each."""

from __future__ import annotations

from typing import Final

from tests.order.rings import COPIED, EXPECTED, FILLED, FREED, LOAD, STORE, WAIT_EMPTY, WAIT_FULL, Ring, ring, wait

_OBJECT: Final = ".shared .align 16 .b8 b[16];\nmov.u32 %r10, b;\nsetp.eq.u32 %p1, %r1, 0;\nsetp.eq.u32 %p2, %r1, 32;\n"
_INIT: Final = "@%p1 mbarrier.init.shared::cta.b64 [%r10], {};\n"
_ARRIVE: Final = "mbarrier.arrive.shared::cta.b64 _, [%r10];\n"
_END: Final = "{} mbarrier.inval.shared::cta.b64 [%r10];\n"
_BAR: Final = "bar.sync 0;\n"
_WAIT: Final = wait("W", "%r10", "0")
_AGAIN: Final = wait("V", "%r10", "0")
_USED: Final = (
    f"{_OBJECT}{_INIT.format(64)}{_BAR}st.shared.u32 [%r4], %r1;\n{_ARRIVE}{{}}{_WAIT}ld.shared.u32 %r30, [%r6];\n"
)
"""All threads arrive at an object and wait for it."""
_ENDED: Final = _USED.format("") + _BAR + _END.format("@%p1")
_ASKED: Final = (
    "mbarrier.test_wait.parity.shared::cta.b64 %p4, [%r10], 1;\n@%p4 bra END;\nld.shared.u32 %r30, [%r4];\nEND:"
)
_ONE_WAITS: Final = (
    f"{_OBJECT}{_INIT.format(32)}{_BAR}setp.lt.u32 %p3, %r1, 32;\n@%p3 bra FIRST;\nst.shared.u32 [%r4], %r1;\n"
    f"{_ARRIVE}bra END;\nFIRST:\n@!%p1 bra END;\n{{}}ld.shared.u32 %r30, [%r3+128];\n{_END.format('')}END:"
)
"""Warp 1 arrives, and thread 0 alone waits and ends the object."""
_COPY: Final = (
    f"{_OBJECT}{_INIT.format(1)}{_BAR}@%p1 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r10], 256;\n"
    "@%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r3], [%rd1], 256, [%r10];\n"
)
_UNUSED: Final = f"{_OBJECT}{_INIT.format(64)}{{}}{{}} mbarrier.init.shared::cta.b64 [%r10], 64;\n"
_TURNS: Final = (
    f"{_OBJECT}mov.u32 %r20, 0;\nL:\n{_INIT.format(64)}{{}}add.u32 %r20, %r20, 1;\n"
    "setp.lt.u32 %p3, %r20, %r7;\n@%p3 bra L;\n"
)
_READ_FIRST: Final = "ld.shared.u32 %r30, [%r3];"
_READ: Final = f"{_WAIT}ld.shared.u32 %r30, [%r4];\n"
_RING: Final = ring(WAIT_EMPTY + STORE + FILLED, WAIT_FULL + LOAD + FREED) + "\n"
_COPIES: Final = (
    ring(
        WAIT_EMPTY + EXPECTED + COPIED,
        WAIT_FULL + LOAD + FREED,
        full=1,
        leader="setp.ne.u32 %p5, %r1, 0;\n@%p5 bra END;\n",
    )
    + "\n"
)
_ALL_END: Final = "".join(
    f"@!%p1 mbarrier.inval.shared::cta.b64 [{each}];\n" for each in ("%r10", "%r10+8", "%r11", "%r11+8")
)

_ELECTED: Final = "elect.sync %r20|%p5, {};\n"
_FIRST_WARP: Final = "setp.lt.u32 %p6, %r1, 32;\nand.pred %p1, %p6, %p5;\n"
_LEAD: Final = _ELECTED.format("-1") + _FIRST_WARP
_BOTH: Final = "@%p5 st.shared.u32 [%r3], %r1;\nsetp.eq.u32 %p7, %r1, 0;\n@%p7 st.shared.u32 [%r3], 5;"
_LED: Final = _ENDED.replace("setp.eq.u32 %p1, %r1, 0;\n", "{}")
"""One lane of the first warp is elected to make the object, and to end it."""

ELECTIONS: Final = {
    "makes and ends": Ring(_LED.format(_LEAD), True, 64),
    "in each warp": Ring(_LED.format(_ELECTED.format("-1") + "mov.pred %p1, %p5;\n"), False, 64),
    "by a mask of half a warp": Ring(_LED.format(_ELECTED.format("65535") + _FIRST_WARP), False, 64),
    "stores, read behind a barrier": Ring(_LEAD + "@%p1 st.shared.u32 [%r3], %r1;\n" + _BAR + _READ_FIRST, True, 64),
    "stores, read without a barrier": Ring(_LEAD + "@%p1 st.shared.u32 [%r3], %r1;\n" + _READ_FIRST, False, 64),
    "of each warp stores": Ring(_ELECTED.format("-1") + "@%p5 st.shared.u32 [%r3], %r1;", False, 64),
    "is the number of the lane": Ring(
        _ELECTED.format("-1") + "shl.b32 %r20, %r20, 2;\nadd.u32 %r20, %r20, %r3;\n@%p5 st.shared.u32 [%r20], %r1;",
        False,
        64,
    ),
    "by a mask in a parameter": Ring(
        _ELECTED.format("%r7") + _BOTH,
        False,
        32,
    ),
    "and the first lane are one": Ring(
        _ELECTED.format("-1") + _BOTH,
        True,
        32,
    ),
    "among lanes of which the first has returned": Ring(
        "setp.eq.u32 %p6, %r1, 0;\n@%p6 ret;\n" + _ELECTED.format("-1") + "@%p5 st.shared.u32 [%r3], %r1;", False, 32
    ),
    "among the upper lanes": Ring(
        "setp.lt.u32 %p6, %r1, 16;\nsetp.eq.u32 %p7, %r1, 5;\n@%p7 st.shared.u32 [%r3], %r1;\n@%p6 bra END;\n"
        + _ELECTED.format("-1")
        + "@%p5 st.shared.u32 [%r3], %r1;\nEND:",
        False,
        32,
    ),
    "in a block of part of a warp": Ring(_LEAD + "@%p1 st.shared.u32 [%r3], %r1;", False, 48),
}
"""What a lane does that `elect.sync` has elected."""

ENDS: Final = {
    "ended": Ring(_ENDED, True, 64),
    "no barrier": Ring(_USED.format("") + _END.format("@%p1"), False, 64),
    "before the wait": Ring(_USED.format(_END.format("@%p1")), False, 64),
    "if a parameter is 0": Ring(
        _USED.format("") + f"setp.eq.u32 %p3, %r7, 0;\nand.pred %p3, %p3, %p1;\n{_BAR}" + _END.format("@%p3"), True, 64
    ),
    "twice": Ring(_ENDED + _END.format("@%p1"), False, 64),
    "by two threads": Ring(_ENDED + _BAR + _END.format("@%p2"), False, 64),
    "an arrival behind it": Ring(_ENDED + _BAR + _ARRIVE, False, 64),
    "a wait behind it": Ring(_ENDED + _BAR + _AGAIN, False, 64),
    "a question behind it": Ring(_ENDED + _BAR + _ASKED, False, 64),
    "made again behind it, which is not proved": Ring(
        _ENDED + _INIT.format(64) + _BAR + _ARRIVE + _AGAIN + "ld.shared.u32 %r30, [%r6];", False, 64
    ),
    "made and ended twice, and not used": Ring(_UNUSED.format(_END.format("@%p1"), "@%p1"), True, 64),
    "made twice, and not used": Ring(_UNUSED.format("", "@%p1"), False, 64),
    "made by one thread and ended by another one": Ring(_UNUSED.format(_END.format("@%p2"), "@%p1"), False, 64),
    "made again by another thread": Ring(_UNUSED.format(_END.format("@%p1"), "@%p2"), False, 64),
    "made again in a loop": Ring(_TURNS.format(_END.format("@%p1")), True, 64),
    "made again in a loop without an end": Ring(_TURNS.format(""), False, 64),
    "made again too late": Ring(_ENDED + _BAR + _INIT.format(64) + _ARRIVE + _AGAIN, False, 64),
    "a store there behind a barrier, which is not proved": Ring(
        _ENDED + _BAR + "@%p2 st.shared.u32 [%r10], %r1;", False, 64
    ),
    "a store there beside it": Ring(_ENDED + "@%p2 st.shared.u32 [%r10], %r1;", False, 64),
    "by the thread that waits": Ring(_ONE_WAITS.format(_WAIT), True, 64),
    "by a thread that does not wait": Ring(_ONE_WAITS.format(""), False, 64),
    "copy": Ring(_COPY + _READ + _BAR + _END.format("@%p1"), True, 64),
    "copy in flight": Ring(_COPY + _END.format("@%p1"), False, 64),
    "copy in flight, behind a barrier": Ring(_COPY + _BAR + _END.format("@%p2"), False, 64),
    "copy that others wait for": Ring(_COPY + _READ + _END.format("@%p2"), False, 64),
    "ring": Ring(_RING + _BAR + _ALL_END, True),
    "ring, no barrier": Ring(_RING + _ALL_END, False),
    "ring, the last arrivals behind it": Ring(_RING + _BAR + _ALL_END + _BAR + FREED, False),
    "ring of copies, which is not proved": Ring(_COPIES + _BAR + _ALL_END, False),
    "ring of copies, no barrier": Ring(_COPIES + _ALL_END, False),
}
