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
