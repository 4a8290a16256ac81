"""Kernels of clusters of two blocks that reach the shared memory of each other, right ones and wrong ones."""

from __future__ import annotations

from typing import Final, NamedTuple

from tests.order.rings import wait


class Ranked(NamedTuple):
    """A kernel's body behind the common head, and its verdict: `open` if it is not free."""

    body: str
    verdict: str


_MEET: Final = "barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;\n"
_BLOCK: Final = "bar.sync 0;\n"
_RANKS: Final = "mov.u32 %r12, %cluster_ctarank;\nxor.b32 %r13, %r12, 1;\n"
_FAR: Final = _RANKS + "mapa.shared::cluster.u32 %r14, %r4, %r13;\n"
"""The place of the own word in the other block."""
_STORE: Final = "st.shared::cluster.u32 [%r14], %r1;\n"
_LOAD: Final = "ld.shared::cluster.u32 %r30, [%r14];\n"
_OWN: Final = "ld.shared.u32 %r31, [%r4];\n"
_WRITE: Final = "st.shared.u32 [%r4], %r1;\n"
_EXCHANGE: Final = _FAR + _MEET + _STORE + _MEET + _OWN

_NEXT_BLOCK: Final = (
    _RANKS
    + "setp.eq.u32 %p1, %r12, 0;\nadd.u32 %r13, %r12, 1;\n"
    + _MEET
    + "@%p1 mapa.shared::cluster.u32 %r14, %r4, %r13;\n@%p1 "
    + _STORE
    + "{}@!%p1 "
    + _OWN
)
"""Rank 0 stores in the block of the rank above its own: the distance is a number."""

_TRIPS: Final = (
    _FAR + _MEET + "mov.u32 %r20, 0;\nadd.u32 %r21, %r7, %r12;\nL:\n" + _STORE + _MEET + _OWN + _MEET
) + "add.u32 %r20, %r20, 1;\nsetp.lt.u32 %p3, %r20, %r21;\n@%p3 bra L;\n"

_OBJECTS: Final = (
    ".shared .align 8 .b8 full[8];\n.shared .align 8 .b8 empty[8];\nmov.u32 %r15, full;\nmov.u32 %r16, empty;\n"
    "setp.eq.u32 %p1, %r1, 0;\nand.b32 %r17, %r1, 31;\nshr.u32 %r18, %r1, 5;\nmov.u32 %r20, 0;\nmov.u32 %r21, 0;\n"
    "@%p1 mbarrier.init.shared::cta.b64 [%r15], 1;\n@%p1 mbarrier.init.shared::cta.b64 [%r16], {count};\n"
)
"""`%r20` is the trip, `%r21` the phase."""
_NEXT: Final = "add.u32 %r20, %r20, 1;\nxor.b32 %r21, %r21, 1;\nsetp.lt.u32 %p3, %r20, 4;\n@%p3 bra {head};\n"
_MULTICAST: Final = (
    "shl.b32 %r22, %r12, 7;\nadd.u32 %r22, %r22, %r3;\nmov.b16 %h1, {mask};\n"
    "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%r22], "
    "[%rd1], 128, [%r15], %h1;\n"
)
"""Each block copies its half of the tile to both."""
_FILL: Final = (
    "@!%p1 bra END;\nP:\nxor.b32 %r23, %r21, 1;\n"
    + wait("PW", "%r16", "%r23")
    + "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r15], {bytes};\n"
    + _MULTICAST
    + _NEXT.format(head="P")
    + "xor.b32 %r23, %r21, 1;\n"
    + wait("PT", "%r16", "%r23")
    + "bra END;\n"
)
_USE: Final = (
    "C:\nshl.b32 %r24, %r17, 3;\nadd.u32 %r24, %r24, %r3;\n"
    + wait("CW", "%r15", "%r21")
    + "ld.shared.u64 %rd3, [%r24];\nbar.warp.sync -1;\n"
    "setp.lt.u32 %p5, %r17, 2;\n@%p5 mapa.shared::cluster.u32 %r25, %r16, {rank};\n"
    "@%p5 mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r25];\n" + _NEXT.format(head="C") + "END:\n"
)
_RING: Final = _RANKS + _OBJECTS + "{meet}setp.ne.u32 %p2, %r18, 0;\n@%p2 bra C;\n" + _FILL + _USE


def _ring(*, count: int = 2, size: int = 256, mask: int = 3, rank: str = "%r17", meet: str = _MEET) -> str:
    """Producers copy halves of a tile to both blocks, and consumers give it back to both."""
    return _RING.format(count=count, bytes=size, mask=mask, rank=rank, meet=meet)


RANKS: Final = {
    "a store in the other block": Ranked(_EXCHANGE, "free"),
    "at once": Ranked(_EXCHANGE.replace(_MEET + _STORE, _STORE), "open"),
    "with the barrier of the block": Ranked(_FAR + _MEET + _STORE + _BLOCK + _OWN + _MEET, "open"),
    "without a barrier": Ranked(_FAR + _MEET + _STORE + _OWN + _MEET, "open"),
    "returned before": Ranked(_FAR + _MEET + _STORE, "open"),
    "a load in the other block": Ranked(_FAR + _WRITE + _MEET + _LOAD + _MEET, "free"),
    "a load in a block that may have returned": Ranked(_FAR + _WRITE + _MEET + _LOAD, "open"),
    "a load, and a store behind it": Ranked(_FAR + _WRITE + _MEET + _LOAD + _WRITE + _MEET, "open"),
    "a load, and a store behind a barrier": Ranked(_FAR + _WRITE + _MEET + _LOAD + _MEET + _WRITE, "free"),
    "both in the block of rank 0": Ranked(_EXCHANGE.replace("%r4, %r13", "%r4, 0"), "open"),
    "each in its own block": Ranked(_EXCHANGE.replace("%r4, %r13", "%r4, %r12").replace(_MEET, ""), "free"),
    "in a block that the cluster has not": Ranked(
        _EXCHANGE.replace("xor.b32 %r13, %r12, 1", "add.u32 %r13, %r12, 1"), "open"
    ),
    "by another value of the address": Ranked(
        _EXCHANGE.replace(_MEET + _STORE, "and.b32 %r14, %r14, 16777215;\n" + _MEET + _STORE), "open"
    ),
    "a store in the next block": Ranked(_NEXT_BLOCK.format(_MEET), "free"),
    "a store in the next block, at once": Ranked(_NEXT_BLOCK.format("") + _MEET, "open"),
    "a store in the next block, which may have returned": Ranked(_NEXT_BLOCK.format(""), "open"),
    "a trip more in the block of rank 1": Ranked(_TRIPS + _MEET, "open"),
    "one block returns": Ranked(
        _RANKS + "setp.eq.u32 %p1, %r12, 1;\n@%p1 bra END;\n" + _FAR[len(_RANKS) :] + _MEET + _LOAD + "END:\n", "open"
    ),
    "a copy to the other block": Ranked(
        _RANKS
        + _OBJECTS.format(count=1)
        + _MEET
        + "setp.ne.u32 %p2, %r12, 0;\n@%p2 bra C;\n@!%p1 bra END;\n"
        + "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r15], 128;\n"
        + _MULTICAST.format(mask=2)
        + "bra END;\nC:\n"
        + _OWN
        + "END:\n"
        + _MEET,
        "open",
    ),
    "an arrival at an address without its rank": Ranked(
        _RANKS
        + _OBJECTS.format(count=64)
        + _MEET
        + "and.b32 %r26, %r16, -16777217;\nmbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r26];\n"
        + _MEET,
        "open",
    ),
    "a ring": Ranked(_ring(), "free"),
    "a ring, one arrival is enough": Ranked(_ring(count=1), "open"),
    "a ring, three arrivals": Ranked(_ring(count=3), "open"),
    "a ring, all arrive at the own block": Ranked(_ring(rank="%r12"), "open"),
    "a ring, all arrive at the block of rank 0": Ranked(_ring(rank="0"), "open"),
    "a ring, copied to rank 0 alone, so that it hangs": Ranked(_ring(mask=1), "free"),
    "a ring, bytes of one copy": Ranked(_ring(size=128), "open"),
    "a ring, made behind a barrier of the block": Ranked(_ring(meet=_BLOCK), "open"),
}
