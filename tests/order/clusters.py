"""Kernels with the barrier of a cluster, arrivals at objects of a cluster, and copies of several threads to one object.

Right ones, and the same with one mistake each.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from tests.order.rings import wait


class Clustered(NamedTuple):
    """A kernel: its body behind the common head, its verdict, and the directive of its head."""

    body: str
    verdict: str
    directive: str = ""


_ARRIVE: Final = "barrier.cluster.arrive.aligned;\n"
_RELAXED: Final = "barrier.cluster.arrive.relaxed.aligned;\n"
_WAIT: Final = "barrier.cluster.wait.aligned;\n"
_STORE: Final = "st.shared.u32 [%r4], %r1;\n"
_LOAD: Final = "xor.b32 %r10, %r2, 128;\nadd.u32 %r11, %r10, %r3;\nld.shared.u32 %r30, [%r11];\n"
"""The word of a thread of the other warp."""
_OTHER: Final = "ld.shared.u32 %r31, [t];\n"
_COPY: Final = "cp.async.ca.shared.global [%r4], [%rd1], 4;\n"


def _loop(body: str) -> str:
    return f"mov.u32 %r20, 0;\nL:\n{body}add.u32 %r20, %r20, 1;\nsetp.lt.u32 %p1, %r20, %r7;\n@%p1 bra L;\n"


_OBJECT: Final = ".shared .align 8 .b8 b[16];\nmov.u32 %r12, b;\nsetp.eq.u32 %p1, %r1, 0;\n"
_MADE: Final = "@%p1 mbarrier.init.shared::cta.b64 [%r12], {};\n"
_FENCE: Final = "fence.mbarrier_init.release.cluster;\n"
_ARRIVED: Final = "mbarrier.arrive.shared::cta.b64 _, [%r12];\n"
_PASSED: Final = wait("W", "%r12", "0")
_REMOTE: Final = (
    "mapa.shared::cluster.u32 %r13, %r12, {};\nmbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r13];\n"
)
_RANK: Final = "mov.u32 %r14, %cluster_ctarank;\n"
_BLOCK: Final = "bar.sync 0;\n"
_REMOTELY: Final = _OBJECT + _MADE.format(64) + _BLOCK + _RANK + _STORE + _REMOTE.format("%r14") + _PASSED + _LOAD

_EXPECT: Final = "@%p1 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r12], {};\n"
_HALVES: Final = (
    "setp.eq.u32 %p2, %r1, 32;\nor.pred %p3, %p1, %p2;\nshl.b32 %r15, %r1, 2;\nadd.u32 %r16, %r3, %r15;\n"
    "@%p3 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r16], [%rd1], 128, [%r12];\n"
)
"""The first lane of each warp copies half of the words."""
_MULTICAST: Final = "mov.u16 %h1, 3;\n" + _HALVES.replace("bytes [", "bytes.multicast::cluster [").replace(
    "[%r12];", "[%r12], %h1;"
)
_COPIED: Final = _OBJECT + _MADE.format(1) + _BLOCK + _EXPECT.format(256) + "{}" + _HALVES + _PASSED + "{}"
_BOXES: Final = _COPIED.replace("bulk.shared", "bulk.tensor.1d.shared").replace("[%rd1], 128", "[%rd1, {{%r1}}]")
_STORED: Final = (
    _BLOCK + "@%p1 cp.async.bulk.tensor.1d.global.shared::cta.bulk_group [%rd1, {{%r1}}], [%r3];\n"
    "@%p1 cp.async.bulk.commit_group;\n{}" + _BLOCK + _STORE
)
"""The first box is stored, and then written."""
_READ: Final = "@%p1 cp.async.bulk.wait_group.read 0;\n"
_ROUNDS: Final = (
    _OBJECT
    + _MADE.format(1)
    + "mov.u32 %r20, 0;\nL:\n"
    + _BLOCK
    + _EXPECT.format(256)
    + "{}"
    + _HALVES
    + "and.b32 %r21, %r20, 1;\n"
    + wait("W", "%r12", "%r21")
    + "{}add.u32 %r20, %r20, 1;\nsetp.lt.u32 %p4, %r20, %r7;\n@%p4 bra L;\n"
)
"""A copy in each trip, which all threads wait for."""

_AHEAD: Final = (
    _OBJECT
    + _MADE.format(1)
    + _BLOCK
    + _EXPECT.format(256)
    + _BLOCK
    + _HALVES
    + "mov.u32 %r20, 0;\nL:\nand.b32 %r21, %r20, 1;\n"
    + wait("W", "%r12", "%r21")
    + "{}add.u32 %r20, %r20, 1;\nsetp.ge.u32 %p4, %r20, %r7;\n@%p4 bra OUT;\n"
    + _EXPECT.format(256)
    + _BLOCK
    + _HALVES
    + "bra L;\nOUT:\n"
)
"""A copy before the loop, and one in each trip for the next one."""
_BULK: Final = "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes {}, [%rd1], 32, {};\n"
_EXPECTED: Final = "mbarrier.arrive.expect_tx.shared::cta.b64 _, {}, {};\n"
ENDED: Final = (
    _OBJECT.replace("16", "24")
    + "".join(f"@%p1 mbarrier.init.shared::cta.b64 [%r12+{at}], 1;\n" for at in (0, 8, 16))
    + _BLOCK
    + "setp.eq.u32 %p2, %r1, 32;\nsetp.eq.u32 %p3, %r1, 64;\n@%p2 bra U;\n@%p3 bra T;\n@!%p1 bra END;\n"
    + _EXPECTED.format("[%r12+8]", 64)
    + _BULK.format("[%r3+1024]", "[%r12+8]")
    + wait("W1", "%r12+8", "0")
    + wait("W2", "%r12+16", "0")
    + "mbarrier.inval.shared::cta.b64 [%r12];\nld.shared.u32 %r30, [%r3];\nbra END;\nU:\n"
    + wait("W3", "%r12", "0")
    + wait("W4", "%r12", "1")
    + _BULK.format("[%r3+1056]", "[%r12+8]")
    + "bra END;\nT:\n"
    + _EXPECTED.format("[%r12]", 32)
    + _BULK.format("[%r3+512]", "[%r12]")
    + wait("W5", "%r12", "0")
    + _EXPECTED.format("[%r12]", 32)
    + _BULK.format("[%r3]", "[%r12]")
    + "mbarrier.arrive.shared::cta.b64 _, [%r12+16];\nEND:"
)
"""Thread 32 has waited for what thread 64 copies, and then copies itself: thread 0 only knows that both are there."""

CLUSTERS: Final = {
    "barrier": Clustered(_STORE + _ARRIVE + _WAIT + _LOAD, "free"),
    "release and acquire": Clustered(
        _STORE + _ARRIVE.replace("arrive", "arrive.release") + _WAIT.replace("wait", "wait.acquire") + _LOAD, "free"
    ),
    "in a loop": Clustered(_loop(_STORE + _ARRIVE + _WAIT + _LOAD + _ARRIVE + _WAIT), "free"),
    "in a loop, once": Clustered(_loop(_STORE + _ARRIVE + _WAIT + _LOAD), "race"),
    "a load of another array between": Clustered(_STORE + _ARRIVE + _OTHER + _WAIT + _LOAD, "free"),
    "a store between": Clustered(_ARRIVE + _STORE + _WAIT + _LOAD, "race"),
    "a load between": Clustered(_STORE + _ARRIVE + _LOAD + _WAIT, "race"),
    "a store between, and a barrier": Clustered(_ARRIVE + _STORE + _WAIT + _BLOCK + _LOAD, "free"),
    "no wait": Clustered(_STORE + _ARRIVE + _LOAD, "race"),
    "the wait of the phase before": Clustered(_ARRIVE + _OTHER + _WAIT + _STORE + _ARRIVE + _LOAD + _WAIT, "race"),
    "a wait without an arrival": Clustered(_WAIT + _ARRIVE + _WAIT + _STORE, "open"),
    "a wait too many": Clustered(_STORE + _ARRIVE + _WAIT + _WAIT + _LOAD, "open"),
    "a guard": Clustered(
        "setp.eq.u32 %p1, %r7, 0;\n" + _STORE + "".join(f"@%p1 {each}" for each in (_ARRIVE, _WAIT)) + _LOAD, "race"
    ),
    "two phases": Clustered(_STORE + _ARRIVE + _OTHER + _WAIT + _LOAD + _ARRIVE + _OTHER + _WAIT + _STORE, "free"),
    "relaxed": Clustered(_STORE + _RELAXED + _WAIT + _LOAD, "race"),
    "a wait for copies between": Clustered(_COPY + _ARRIVE + "cp.async.wait_all;\n" + _WAIT + _LOAD, "race"),
    "a wait for copies before": Clustered(_COPY + "cp.async.wait_all;\n" + _ARRIVE + _WAIT + _LOAD, "free"),
    "objects": Clustered(
        _OBJECT + _MADE.format(64) + _FENCE + _RELAXED + _WAIT + _STORE + _ARRIVED + _PASSED + _LOAD, "free"
    ),
    "objects, split": Clustered(
        _OBJECT
        + _MADE.format(64)
        + _FENCE
        + _RELAXED
        + "mov.u32 %r22, %clock;\n"
        + _WAIT
        + _STORE
        + _ARRIVED
        + _PASSED
        + _LOAD,
        "free",
    ),
    "objects without their fence": Clustered(
        _OBJECT + _MADE.format(64) + _RELAXED + _WAIT + _STORE + _ARRIVED + _PASSED + _LOAD, "race"
    ),
    "objects and words behind a relaxed arrival": Clustered(
        _OBJECT + _MADE.format(64) + _STORE + _FENCE + _RELAXED + _WAIT + _LOAD + _ARRIVED, "race"
    ),
    "objects, used between": Clustered(
        _OBJECT + _MADE.format(64) + _FENCE + _RELAXED + _ARRIVED + _WAIT + _STORE + _PASSED + _LOAD, "race"
    ),
    "an arrival at an object of the cluster": Clustered(_REMOTELY, "free"),
    "of clusters of one block": Clustered(_REMOTELY, "free", ".reqnctapercluster 1, 1, 1"),
    "of clusters of two blocks": Clustered(_REMOTELY, "free", ".reqnctapercluster 2, 1, 1"),
    "at the block of rank 1": Clustered(_REMOTELY.replace(_REMOTE.format("%r14"), _REMOTE.format(1)), "open"),
    "at the next block": Clustered(
        _REMOTELY.replace("%cluster_ctarank;\n", "%cluster_ctarank;\nadd.u32 %r14, %r14, 1;\n"), "open"
    ),
    "an arrival too few of the cluster": Clustered(_REMOTELY.replace("[%r12], 64", "[%r12], 65"), "open"),
    "a word of the other block": Clustered(
        _STORE + "cvt.u64.u32 %rd2, %r4;\ncvta.shared.u64 %rd2, %rd2;\nmapa.u64 %rd2, %rd2, 1;\nst.u32 [%rd2], %r1;\n",
        "open",
    ),
    "a load before it": Clustered(_REMOTELY.replace(_PASSED + _LOAD, _LOAD + _PASSED), "race"),
    "multicast": Clustered(_COPIED.replace(_HALVES, _MULTICAST).format(_BLOCK, _LOAD), "open"),
    "two copiers": Clustered(_COPIED.format(_BLOCK, _LOAD), "free"),
    "two copiers without a meeting": Clustered(_COPIED.format("", _LOAD), "free"),
    "two copiers, a load before": Clustered(
        (_LOAD + _COPIED).replace(_EXPECT.format(256), _EXPECT.format(256) + _LOAD).format("", ""), "race"
    ),
    "two copiers, not waited for": Clustered(_COPIED.replace(_PASSED, "").format(_BLOCK, _LOAD), "race"),
    "two copiers, bytes of one": Clustered(
        _COPIED.replace(_EXPECT.format(256), _EXPECT.format(128)).format(_BLOCK, _LOAD), "race"
    ),
    "two copiers, more bytes": Clustered(
        _COPIED.replace(_EXPECT.format(256), _EXPECT.format(512)).format(_BLOCK, _LOAD), "open"
    ),
    "two copiers, a word of one of them": Clustered(
        _COPIED.format(_BLOCK + "setp.eq.u32 %p5, %r1, 32;\n@%p5 st.shared.u32 [t], %r1;\n", _OTHER), "race"
    ),
    "two copiers, a word of one of them in a branch": Clustered(
        _COPIED.format(_BLOCK + "setp.ne.u32 %p5, %r1, 32;\n@%p5 bra S;\nst.shared.u32 [t], %r1;\nS:\n", _OTHER),
        "race",
    ),
    "two copiers, a word before a barrier at which others only arrive": Clustered(
        _COPIED.format(
            "setp.eq.u32 %p5, %r1, 32;\n@%p5 st.shared.u32 [t], %r1;\nshr.u32 %r18, %r1, 5;\n"
            "setp.eq.u32 %p6, %r18, 1;\n@%p6 bra M;\nbar.arrive 1, 64;\nbra N;\nM:\nbar.sync 1, 64;\nN:\n",
            _OTHER,
        ),
        "race",
    ),
    "two copiers, a word before they meet": Clustered(
        _COPIED.format("setp.eq.u32 %p5, %r1, 32;\n@%p5 st.shared.u32 [t], %r1;\n" + _BLOCK, _OTHER), "free"
    ),
    "two copiers of boxes": Clustered(_BOXES.format(_BLOCK, _LOAD), "free"),
    "two copiers of boxes, a load before": Clustered(
        _BOXES.replace(_EXPECT.format(256), _EXPECT.format(256) + _LOAD).format("", ""), "race"
    ),
    "a box that is stored": Clustered(_BOXES.format(_BLOCK, _LOAD) + _STORED.format(_READ), "free"),
    "a box that is stored, not waited for": Clustered(_BOXES.format(_BLOCK, _LOAD) + _STORED.format(""), "race"),
    "a box that is stored by another map": Clustered(
        _BOXES.format(_BLOCK, _LOAD) + "add.u64 %rd2, %rd1, 128;\n" + _STORED.format(_READ).replace("%rd1", "%rd2"),
        "free",
    ),
    "four boxes that are stored by the map of one": Clustered(
        _BOXES.format(_BLOCK, _LOAD) + _STORED.format(_READ).replace("cta.bulk_group", "cta.tile::scatter4.bulk_group"),
        "open",
    ),
    "a box that is stored by a map that may have changed": Clustered(
        _BOXES.format(_BLOCK, _LOAD)
        + "tensormap.replace.tile.global_address.global.b1024.b64 [%rd1], %rd2;\n"
        + _STORED.format(_READ),
        "open",
    ),
    "a box that is stored, and written without a fence": Clustered(
        _BOXES.format(_BLOCK, _LOAD) + _BLOCK + _STORE + _STORED.format(_READ), "race"
    ),
    "a box that is stored, and written with a fence": Clustered(
        _BOXES.format(_BLOCK, _LOAD) + _BLOCK + _STORE + "fence.proxy.async;\n" + _STORED.format(_READ), "free"
    ),
    "two copiers in rounds": Clustered(_ROUNDS.format(_BLOCK, _LOAD), "free"),
    "two copiers, and again in rounds": Clustered(_AHEAD.format(_LOAD + _BLOCK), "free"),
    "two copiers, and again in rounds, one meeting": Clustered(_AHEAD.format(_LOAD), "free"),
    "two copiers, and again in rounds, before all have read": Clustered(
        _AHEAD.format(_LOAD).replace(_BLOCK + _HALVES + "bra", _HALVES + "bra"), "race"
    ),
    "two copiers, and again in rounds, half of the bytes": Clustered(
        _AHEAD.format(_LOAD + _BLOCK).replace(_EXPECT.format(256), _EXPECT.format(128)), "race"
    ),
    "two copiers in rounds, one meeting": Clustered(_ROUNDS.format("", _LOAD), "free"),
    "two copiers in rounds, a load behind": Clustered(
        _ROUNDS.format("", _LOAD.replace("%r30, [%r11]", "%r30, [%r11]")) + _LOAD, "free"
    ),
    "two copiers in rounds, no meeting": Clustered(
        _ROUNDS.replace("L:\n" + _BLOCK, "L:\n").format("", _LOAD).replace("mov.u32 %r20", _BLOCK + "mov.u32 %r20"),
        "race",
    ),
}
"""`open` is a kernel of which too little is known, or that hangs."""
