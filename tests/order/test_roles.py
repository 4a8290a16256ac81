"""Threads have one role only if they agree on all that decides what they do to barriers."""

from __future__ import annotations

from typing import Final

import pytest

from tests.order.conftest import HEAD, races
from tests.order.rings import wait
from tests.ptx_oracle import Buffer
from tests.ptx_oracle.races import races_of as launched

_CARRIED: Final = (
    ".shared .align 8 .b8 b[64];\nmov.u32 %r10, b;\nsetp.eq.u32 %p1, %r1, 0;\n"
    "@%p1 mbarrier.init.shared::cta.b64 [%r10+8], {};\n@%p1 mbarrier.init.shared::cta.b64 [%r10+16], {};\n"
    "@%p1 mbarrier.init.shared::cta.b64 [%r10+40], {};\n@%p1 mbarrier.init.shared::cta.b64 [%r10+48], {};\n"
    "bar.sync 0;\nshr.u32 %r12, %r1, 5;\nand.b32 %r13, %r12, 1;\nadd.u32 %r13, %r13, 1;\n"
    "setp.eq.u32 %p2, %r12, 3;\n@%p2 bra READ;\nsetp.eq.u32 %p3, %r12, 0;\n@%p3 st.shared.u32 [%r4], %r1;\n"
    "@%p3 mbarrier.arrive.shared::cta.b64 _, [%r10+8], %r13;\n@%p3 bra END;\nmov.u32 %r20, %r13;\nmov.u32 %r21, 0;\n"
    "H:\nmad.lo.u32 %r22, %r20, 8, %r10;\nmbarrier.arrive.shared::cta.b64 _, [%r22];\n"
    "shr.u32 %r23, %r21, 1;\nand.b32 %r23, %r23, 1;\n"
    + wait("W", "%r22", "%r23")
    + "xor.b32 %r20, %r20, 4;\nadd.u32 %r21, %r21, 1;\nsetp.lt.u32 %p5, %r21, 2;\n@%p5 bra H;\nbra END;\nREAD:\n"
    + wait("V", "%r10+8", "0")
    + "ld.shared.u32 %r30, [%r4+-384];\nEND:"
)
"""Warp 0 arrives with the count of `%r13`, which is the first object of warps 1 and 2, and another one for each."""


@pytest.mark.parametrize(
    ("counts", "is_free"), [((64, 32, 32, 32), True), ((32, 64, 64, 64), False)], ids=["right", "one object for both"]
)
def test_what_a_loop_carries_tells_threads_apart(counts: tuple[int, ...], is_free: bool) -> None:
    body = _CARRIED.format(*counts)
    assert (races(body, 128).verdict.value == "free") is is_free
    runs = [
        launched(f"{HEAD}{body}\nret;\n}}\n", "k", (128,), (1,), params=[Buffer(8), 2, Buffer(8)], shuffle=order)
        for order in (None, 1, 2)
    ]
    assert any(run.pairs for run in runs) is not is_free
