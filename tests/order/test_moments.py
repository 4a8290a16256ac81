"""Addresses of two threads that read the same coordinate, or the trips of the same loop, which are not the same."""

from __future__ import annotations

import pytest

from tests.order.conftest import races_in

_NEIGHBOURS = """
.version 8.3
.target sm_90
.address_size 64
.visible .entry k(.param .u64 src, .param .u64 dst)
{
.reg .pred %p<9>; .reg .b32 %r<30>; .reg .b64 %d<9>;
.shared .align 16 .b8 buf[2048];
.shared .align 8 .b8 bar[8];
ld.param.u64 %d1, [src];
mov.u32 %r1, %tid.x; mov.u32 %r2, buf; mov.u32 %r3, bar;
setp.eq.u32 %p1, %r1, 64; setp.lt.u32 %p3, %r1, 64;
shl.b32 %r4, %r1, 4; add.u32 %r5, %r2, %r4;
@!%p1 bra A;
mbarrier.init.shared.b64 [%r3], 1;
A:
bar.sync 0;
@!%p1 bra B;
mbarrier.arrive.expect_tx.shared.b64 %d4, [%r3], 1024;
B:
bar.sync 0;
@!%p3 bra W;
cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r5], [%d1], 16, [%r3];
st.shared.u32 [%r5+OFFSET], %r1;
W:
mbarrier.try_wait.parity.shared.b64 %p2, [%r3], 0;
@!%p2 bra W;
ret;
}
"""
"""Each thread copies 16 bytes, and stores a word near them."""
_TRIPS = """
.version 8.3
.target sm_90
.address_size 64
.visible .entry k(.param .u64 src, .param .u64 dst)
{
.reg .pred %p<9>; .reg .b32 %r<30>; .reg .b64 %d<9>;
.shared .align 16 .b8 buf[4096];
.shared .align 8 .b8 bar[8];
ld.param.u64 %d1, [src];
mov.u32 %r1, %tid.x; mov.u32 %r2, buf; mov.u32 %r3, bar;
setp.eq.u32 %p1, %r1, 0; setp.lt.u32 %p3, %r1, 32;
@!%p1 bra A;
mbarrier.init.shared.b64 [%r3], 1;
A:
bar.sync 0;
mov.u32 %r5, %r2; mov.u32 %r10, 0; setp.eq.u32 %p4, %r1, 32;
L:
@!%p1 bra B;
mbarrier.arrive.expect_tx.shared.b64 %d4, [%r3], 16;
cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r5], [%d1], 16, [%r3];
B:
@!%p4 bra W;
st.shared.u32 [%r5+16], %r1;
W:
and.b32 %r11, %r10, 1;
V:
mbarrier.try_wait.parity.shared.b64 %p2, [%r3], %r11;
@!%p2 bra V;
bar.sync 0;
add.u32 %r5, %r5, 16; add.u32 %r10, %r10, 1; setp.lt.u32 %p5, %r10, 64;
@%p5 bra L;
ret;
}
"""
"""One thread copies 16 bytes in each trip, and another one stores a word near them."""


def _verdict(text: str, threads: int) -> str:
    return races_in(text, (threads, 1, 1)).verdict.value


@pytest.mark.parametrize(("offset", "verdict"), [(16, "race"), (0, "race"), (1024, "free")])
def test_a_coordinate_of_two_threads(offset: int, verdict: str) -> None:
    """The word of a thread is the first one that its neighbour copies."""
    assert _verdict(_NEIGHBOURS.replace("OFFSET", str(offset)), 96) == verdict


def test_trips_of_two_threads() -> None:
    """The word of a trip is the first one that the next trip copies, without a fence of the proxies."""
    assert _verdict(_TRIPS, 64) == "race"
