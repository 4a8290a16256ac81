"""Kernels that show what goes wrong if a part of the analysis is missing: one name, body, block and verdict each."""

from __future__ import annotations

from typing import NamedTuple


class Trap(NamedTuple):
    """A kernel: its body behind the common head, the threads of its block, and its verdict."""

    body: str
    threads: int
    verdict: str


def counted(body: str, *, trips: str = "%r7") -> str:
    """A loop over `%r20` from 0 up to a bound, at least one trip."""
    return f"mov.u32 %r20, 0;\nL:\n{body}\nadd.u32 %r20, %r20, 1;\nsetp.lt.u32 %p1, %r20, {trips};\n@%p1 bra L;"


_STAGE = "{}\nshl.b32 %r22, %r21, 10;\nadd.u32 %r23, %r22, %r4;\nadd.u32 %r24, %r22, %r6;\n"
"""Addresses `%r23` and `%r24` of the own word and of the neighbour's one in stage `%r21`."""
_ONE_BARRIER = "st.shared.u32 [%r23], %r1;\nbar.sync 0;\nld.shared.u32 %r30, [%r24];"
_COPY = (
    "shl.b32 %r21, %r1, 4;\nadd.u32 %r22, %r3, %r21;\nxor.b32 %r23, %r21, 16;\nadd.u32 %r24, %r3, %r23;\n"
    "mul.wide.u32 %rd2, %r1, 16;\nadd.u64 %rd3, %rd1, %rd2;\ncp.async.cg.shared.global [%r22], [%rd3], 16;\n"
    "cp.async.commit_group;\n"
)
"""A copy of 16 bytes to `%r22`; `%r24` is the neighbour's place."""
_KEPT = ".local .align 4 .b8 l[4];\nmov.u32 %r10, t;\nst.local.u32 [l], %r10;\nld.local.u32 %r11, [l];\n"
"""`%r11` is the start of the array t, which nothing follows through local memory."""
_STORED = "setp.ne.u32 %p3, %r1, 0;\n@!%p3 st.shared.u32 [%r13], %r7;\nld.shared.u32 %r30, [t];"
_HALVES = (
    "st.shared.u32 [%r4], %r1;\nbar.sync 0;\nmov.u32 %r20, 32;\nL:\nsetp.ge.u32 %p2, %r1, %r20;\n@%p2 bra S;\n"
    "add.u32 %r21, %r1, %r20;\nshl.b32 %r22, %r21, 2;\nadd.u32 %r23, %r3, %r22;\nld.shared.u32 %r24, [%r23];\n"
    "ld.shared.u32 %r25, [%r4];\nadd.u32 %r26, %r24, %r25;\nst.shared.u32 [%r4], %r26;\nS:\nbar.sync 0;\n"
    "shr.u32 %r20, %r20, 1;\nsetp.ne.u32 %p1, %r20, 0;\n@%p1 bra L;"
)
_MULTIPLES = (
    "setp.eq.u32 %p2, %r7, 7;\nselp.u32 %r20, 1, 3, %p2;\nL:\nbar.sync 0;\nmul.lo.u32 %r21, %r20, %r1;\n"
    "and.b32 %r21, %r21, 63;\nshl.b32 %r22, %r21, 2;\nadd.u32 %r23, %r22, %r3;\nst.shared.u32 [%r23], %r1;\n"
    "mul.lo.u32 %r20, %r20, {};\nsetp.lt.u32 %p1, %r20, 16;\n@%p1 bra L;"
)
"""Each thread has a multiple of its number modulo 64: no two threads have one if the factor is odd."""

TRAPS = {
    "barrier": Trap("st.shared.u32 [%r4], %r1;\nbar.sync 0;\nld.shared.u32 %r30, [%r6];", 64, "free"),
    "no barrier": Trap("st.shared.u32 [%r4], %r1;\nld.shared.u32 %r30, [%r6];", 64, "race"),
    "two arms": Trap(
        "setp.eq.u32 %p1, %r1, 0;\n@%p1 bra A;\nld.shared.u32 %r30, [%r3];\nbra B;\nA:\nst.shared.u32 [%r3], %r7;\nB:",
        64,
        "race",
    ),
    "array carried in a register": Trap(
        "mov.u32 %r10, t;\nadd.u32 %r11, %r10, %r2;\nadd.u32 %r12, %r10, %r5;\nmov.u32 %r13, %r4;\n"
        + counted("st.shared.u32 [%r13], %r1;\nld.shared.u32 %r30, [%r12];\nmov.u32 %r13, %r11;\nbar.sync 0;"),
        64,
        "depends",
    ),
    "array or a pointer from local memory": Trap(
        f"{_KEPT}setp.eq.u32 %p2, %r7, 5;\nselp.u32 %r13, %r3, %r11, %p2;\n{_STORED}",
        64,
        "depends",
    ),
    "array, and then a pointer from local memory": Trap(
        f"{_KEPT}mov.u32 %r13, %r3;\n" + counted(f"{_STORED}\nmov.u32 %r13, %r11;", trips="2"),
        64,
        "depends",
    ),
    "value of a warp": Trap(
        "mul.wide.u32 %rd2, %r1, 4;\nadd.u64 %rd3, %rd1, %rd2;\nld.global.u32 %r10, [%rd3];\n"
        "shfl.sync.idx.b32 %r11, %r10, 0, 31, -1;\nadd.u32 %r12, %r1, %r11;\nand.b32 %r12, %r12, 1023;\n"
        "shl.b32 %r12, %r12, 2;\nadd.u32 %r13, %r3, %r12;\nst.shared.u32 [%r13], %r1;",
        64,
        "unknown",
    ),
    "flag in shared memory": Trap(
        "setp.ne.u32 %p1, %r1, 0;\n@%p1 bra A;\nmov.u32 %r10, t;\nst.shared.u32 [t], %r7;\nA:\nbar.sync 0;\n"
        "ld.shared.u32 %r11, [t];\nsetp.eq.u32 %p2, %r11, 0;\n@%p2 bra B;\nst.shared.u32 [%r4], %r1;\n"
        "bar.sync 0;\nld.shared.u32 %r30, [%r6];\nB:",
        64,
        "free",
    ),
    "values of a register": Trap(_HALVES, 64, "free"),
    "values of a register, no barrier": Trap(_HALVES.replace("S:\nbar.sync 0;", "S:"), 64, "race"),
    "values of a register, which turns to 0": Trap(
        "mov.u32 %r20, 1;\nL:\nmul.lo.u32 %r21, %r20, %r1;\nshl.b32 %r21, %r21, 1;\nsetp.ge.u32 %p2, %r21, 64;\n"
        "@%p2 bra S;\nshl.b32 %r22, %r21, 2;\nadd.u32 %r23, %r22, %r3;\nadd.u32 %r24, %r21, %r20;\n"
        "shl.b32 %r25, %r24, 2;\nadd.u32 %r26, %r25, %r3;\nld.shared.u32 %r27, [%r26];\nst.shared.u32 [%r23], %r27;\n"
        "S:\nbar.sync 0;\nshl.b32 %r20, %r20, 1;\nsetp.lt.u32 %p1, %r20, 64;\n@%p1 bra L;",
        64,
        "free",
    ),
    "odd multiples": Trap(_MULTIPLES.format(3), 64, "free"),
    "multiples that become even": Trap(_MULTIPLES.format(2), 64, "depends"),
    "bounds of another pair": Trap(
        "setp.lt.u32 %p1, %r7, 5;\nsetp.lt.u32 %p2, %r7, 32;\nsetp.lt.u32 %p3, %r1, %r7;\nand.pred %p4, %p1, %p3;\n"
        "and.pred %p5, %p2, %p3;\n@%p4 st.shared.u32 [%r4], %r1;\nld.shared.u32 %r30, [%r4+20];\nbar.sync 0;\n"
        "@%p5 st.shared.u32 [%r4], %r1;\nld.shared.u32 %r31, [%r4+20];",
        32,
        "depends",
    ),
    "few values of 64 bits": Trap(
        "cvt.u64.u32 %rd2, %r4;\nmov.u64 %rd3, 0;\n"
        + counted(
            "add.u64 %rd4, %rd2, %rd3;\nst.shared.u32 [%rd4+512], %r1;\nld.shared.u32 %r30, [%rd4+452];\n"
            "ld.global.u32 %r21, [%rd1];\nadd.u64 %rd1, %rd1, 4;\nsetp.eq.u32 %p2, %r21, 0;\n"
            "xor.b64 %rd5, %rd3, -64;\nselp.b64 %rd3, %rd3, %rd5, %p2;"
        ),
        15,
        "depends",
    ),
    "barrier in one arm": Trap(
        "setp.eq.u32 %p1, %r7, 0;\nmov.u32 %r10, %r4;\n@%p1 bra B;\nst.shared.u32 [%r4], %r1;\nbar.sync 0;\n"
        "mov.u32 %r10, %r6;\nB:\nld.shared.u32 %r30, [%r10];",
        64,
        "free",
    ),
    "next trip": Trap(
        counted(
            "and.b32 %r25, %r20, 7;\nshl.b32 %r21, %r25, 8;\nadd.u32 %r22, %r21, %r4;\nadd.u32 %r26, %r20, 1;\n"
            "and.b32 %r26, %r26, 7;\nshl.b32 %r26, %r26, 8;\nadd.u32 %r23, %r26, %r6;\n"
            "st.shared.u32 [%r22], %r1;\nbar.sync 0;\nld.shared.u32 %r30, [%r23];"
        ),
        64,
        "depends",
    ),
    "two stages": Trap(counted(_STAGE.format("and.b32 %r21, %r20, 1;") + _ONE_BARRIER), 64, "free"),
    "one stage": Trap(counted(_STAGE.format("mov.u32 %r21, 0;") + _ONE_BARRIER), 64, "depends"),
    "two stages, each for two trips": Trap(
        counted(_STAGE.format("shr.u32 %r19, %r20, 1;\nand.b32 %r21, %r19, 1;") + _ONE_BARRIER), 64, "depends"
    ),
    "three stages": Trap(counted(_STAGE.format("rem.u32 %r21, %r20, 3;") + _ONE_BARRIER), 64, "free"),
    "no barrier in a loop": Trap(
        counted(
            "add.u32 %r21, %r1, %r20;\nand.b32 %r21, %r21, 63;\nshl.b32 %r21, %r21, 2;\nadd.u32 %r22, %r21, %r3;\n"
            "st.shared.u32 [%r22], %r1;"
        ),
        64,
        "depends",
    ),
    "some miss the barrier": Trap(
        "st.shared.u32 [%r4], %r1;\nsetp.ge.u32 %p1, %r1, 48;\n@%p1 bra B;\nbar.sync 0;\n"
        "B:\nld.shared.u32 %r30, [%r6];",
        64,
        "divergent-barrier",
    ),
    "a warp skips the barrier before a loop": Trap(
        "setp.lt.u32 %p1, %r1, 32;\n@%p1 bra A;\nbar.sync 0;\nA:\nmov.u32 %r20, 0;\nL:\n"
        "st.shared.u32 [%r4], %r1;\nadd.u32 %r20, %r20, 1;\nsetp.lt.u32 %p2, %r20, 2;\n@%p2 bra L;",
        64,
        "divergent-barrier",
    ),
    "some return": Trap(
        "setp.ge.u32 %p1, %r1, 48;\n@%p1 bra R;\nst.shared.u32 [%r4], %r1;\nbar.sync 0;\n"
        "ld.shared.u32 %r30, [%r6];\nR:",
        64,
        "free",
    ),
    "barriers in other trips": Trap(
        counted(
            "setp.lt.u32 %p2, %r20, %r1;\n@%p2 bra C;\nshl.b32 %r21, %r20, 2;\nadd.u32 %r22, %r21, %r3;\n"
            "st.shared.u32 [%r22], %r1;\nbar.sync 0;\nC:",
            trips="1024",
        ),
        64,
        "unknown",
    ),
    "one warp": Trap("st.shared.u32 [%r4], %r1;\nld.shared.u32 %r30, [%r6];\nst.shared.u32 [%r4], %r30;", 32, "race"),
    "barrier of a warp": Trap("st.shared.u32 [%r4], %r1;\nbar.warp.sync -1;\nld.shared.u32 %r30, [%r6];", 64, "free"),
    "barrier of a warp for the block": Trap(
        "st.shared.u32 [%r4], %r1;\nbar.warp.sync -1;\nxor.b32 %r10, %r2, 128;\nadd.u32 %r11, %r10, %r3;\n"
        "ld.shared.u32 %r30, [%r11];",
        64,
        "race",
    ),
    "shuffle": Trap(
        "st.shared.u32 [%r4], %r1;\nshfl.sync.bfly.b32 %r10, %r1, 1, 31, -1;\nld.shared.u32 %r30, [%r6];", 32, "race"
    ),
    "copy": Trap(_COPY + "cp.async.wait_group 0;\nbar.sync 0;\nld.shared.u32 %r30, [%r24];", 64, "free"),
    "copy, one group left": Trap(
        _COPY + "cp.async.wait_group 1;\nbar.sync 0;\nld.shared.u32 %r30, [%r24];", 64, "race"
    ),
    "copy, barrier before the wait": Trap(
        _COPY + "bar.sync 0;\ncp.async.wait_group 0;\nld.shared.u32 %r30, [%r24];", 64, "race"
    ),
    "copy of the own thread": Trap(_COPY + "ld.shared.u32 %r30, [%r22];\ncp.async.wait_all;", 64, "race"),
    "named barrier": Trap("st.shared.u32 [%r4], %r1;\nbar.sync 1, 32;\nld.shared.u32 %r30, [%r6];", 64, "unknown"),
    "bulk copy": Trap(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [s], [%rd1], %r7, [t];", 64, "unknown"
    ),
    "value that nobody knows": Trap(
        "cvt.rn.f32.u32 %f1, %r1;\nsin.approx.f32 %f2, %f1;\nsetp.gt.f32 %p1, %f2, 0f00000000;\n"
        "@%p1 st.shared.u32 [%r3], %r1;",
        64,
        "unknown",
    ),
    "one value": Trap("st.shared.u32 [%r3], %r7;", 64, "race-benign"),
    "atomics": Trap("atom.shared.add.u32 %r30, [%r3], 1;", 64, "free"),
    "atomic and load": Trap("atom.shared.add.u32 %r30, [%r3], 1;\nld.shared.u32 %r31, [%r3];", 64, "race"),
    "offset beyond 32 bits": Trap(
        "setp.lt.s32 %p1, %r7, 64;\n@%p1 bra E;\nshl.b32 %r10, %r7, 2;\nadd.u32 %r11, %r10, %r4;\n"
        "st.shared.u32 [%r11], %r1;\nld.shared.u32 %r30, [%r6];\nE:",
        64,
        "free",
    ),
    "what a mask leaves of an address, and less": Trap(
        "add.u32 %r20, %r4, 64;\nand.b32 %r21, %r20, -8;\nst.shared.u32 [%r21+-8], %r1;", 64, "race"
    ),
    "own words of what a mask leaves of an address": Trap(
        "add.u32 %r20, %r4, 128;\nand.b32 %r21, %r20, -128;\nand.b32 %r22, %r1, 31;\nshl.b32 %r22, %r22, 2;\n"
        "add.u32 %r23, %r21, %r22;\nst.shared.u32 [%r23+-128], %r1;",
        64,
        "free",
    ),
    "offset below 0": Trap(
        "setp.ge.s32 %p1, %r7, 0;\n@%p1 bra E;\nshl.b32 %r10, %r7, 2;\nsub.u32 %r11, %r4, %r10;\n"
        "st.shared.u32 [%r11], %r1;\nld.shared.u32 %r30, [%r6];\nE:",
        64,
        "depends",
    ),
}
