"""Kernels in which `wgmma` reads tiles that tensor copies, bulk copies or stores bring, right ones and wrong ones."""

from __future__ import annotations

from typing import Final, NamedTuple

HEAD: Final = """.version 8.6
.target sm_90a
.address_size 64
.visible .entry k(.param .u32 n, .param .u64 q)
{
.reg .pred %p<9>;
.reg .b32 %r<40>;
.reg .f32 %f<9>;
.reg .b64 %d<20>;
.shared .align 128 .b8 t[512];
.shared .align 8 .b8 full[16];
.shared .align 8 .b8 empty[16];
ld.param.u32 %r1, [n];
ld.param.u64 %d1, [q];
mov.u32 %r0, %tid.x;
mov.u32 %r4, t;
mov.u32 %r5, full;
mov.u32 %r6, empty;
mov.u32 %r9, 0;
mov.u32 %r2, 0;
mov.u32 %r7, 0;
mov.u32 %r8, 0;
setp.eq.u32 %p0, %r0, 0;
setp.eq.u32 %p5, %r0, 128;
"""
TILE: Final = 256
FIELDS: Final = 128 // 16 << 16 | 256 // 16 << 32
PRODUCT: Final = (
    "shr.u32 %r10, %r20, 4;\ncvt.u64.u32 %d2, %r10;\n"
    f"or.b64 %d2, %d2, {FIELDS};\nwgmma.fence.sync.aligned;\n"
    "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f1, %f2, %f3, %f4}, {%r9, %r9, %r9, %r9}, %d2, 1, 1, 1, 0;\n"
    "wgmma.commit_group.sync.aligned;\n"
)
"""Reads 256 bytes from `%r20` on."""
WAITED: Final = "wgmma.wait_group.sync.aligned 0;\n"
BOX: Final = (
    "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%r20], [%d1, {%r2, %r2}], [%r21];\n"
)
AGAIN: Final = "add.u32 %r2, %r2, 1;\nsetp.lt.u32 %p1, %r2, %r1;\n@%p1 bra LOOP;\n"
STAGE: Final = (
    "shl.b32 %r20, %r7, 8;\nadd.u32 %r20, %r20, %r4;\nshl.b32 %r22, %r7, 3;\nadd.u32 %r21, %r5, %r22;\n"
    "add.u32 %r22, %r6, %r22;\n"
)
"""The tile, `full` and `empty` of the stage `%r7`."""
STEP: Final = (
    "add.u32 %r7, %r7, 1;\nsetp.eq.u32 %p2, %r7, 2;\nselp.u32 %r7, 0, %r7, %p2;\nselp.u32 %r23, 1, 0, %p2;\n"
    "xor.b32 %r8, %r8, %r23;\n"
)


def wait(name: str, place: str, parity: str) -> str:
    """A loop that waits for a phase with a parity."""
    return f"{name}:\nmbarrier.try_wait.parity.shared::cta.b64 %p4, [{place}], {parity};\n@!%p4 bra {name};\n"


def alone(*, copy: str = BOX, expect: int = TILE, last: str = WAITED, state: str = "%d3", place: str = "%r4") -> str:
    """One warpgroup, whose thread 0 copies a tile that all multiply. They wait with the state of their arrival."""
    return (
        f"{HEAD.replace('t[512]', 't[256]')}@%p0 mbarrier.init.shared::cta.b64 [%r5], 128;\n"
        "bar.sync 0;\nmov.u32 %r21, %r5;\nLOOP:\n"
        "mov.u32 %r20, %r4;\n@%p0 bra COPY;\nmbarrier.arrive.shared::cta.b64 %d3, [%r5];\nbra WAIT;\nCOPY:\n"
        f"{copy}mbarrier.arrive.expect_tx.shared::cta.b64 %d3, [%r5], {expect};\nWAIT:\n"
        f"mbarrier.try_wait.shared::cta.b64 %p4, [%r5], {state};\n@!%p4 bra WAIT;\n"
        f"mov.u32 %r20, {place};\n{PRODUCT}{last}{AGAIN}ret;\n}}\n"
    )


def ring(
    *,
    fill: str = "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r21], 256;\n" + BOX,
    empty: str = wait("WE", "%r22", "%r24"),
    full: str = wait("WF", "%r21", "%r8"),
    use: str = PRODUCT + WAITED,
    freed: str = "@%p0 mbarrier.arrive.shared::cta.b64 _, [%r22];\n",
    counts: tuple[int, int] = (1, 1),
    lanes: str = "setp.ne.u32 %p3, %r0, 128;\n@%p3 bra END;\n",
) -> str:
    """Warp 4 fills two tiles that the warpgroup before it multiplies; its thread 0 gives them back."""
    inits = "".join(
        f"@%p0 mbarrier.init.shared::cta.b64 [{place}+{8 * stage}], {count};\n"
        for place, count in zip(("%r5", "%r6"), counts, strict=True)
        for stage in (0, 1)
    )
    return (
        f"{HEAD}{inits}bar.sync 0;\nsetp.lt.u32 %p3, %r0, 128;\n@%p3 bra LOOP;\n{lanes}FILL:\n{STAGE}"
        f"xor.b32 %r24, %r8, 1;\n{empty}{fill}{STEP}{AGAIN.replace('LOOP', 'FILL')}bra END;\n"
        f"LOOP:\n{STAGE}xor.b32 %r24, %r8, 1;\n{full}{use}{freed}{STEP}{AGAIN}END:\nret;\n}}\n"
    )


_FULL: Final = wait("WF", "%r21", "%r8")
_STORED: Final = (
    "and.b32 %r25, %r0, 31;\nshl.b32 %r25, %r25, 3;\nadd.u32 %r25, %r25, %r20;\n"
    "st.shared.v2.u32 [%r25], {%r2, %r2};\n{}mbarrier.arrive.shared::cta.b64 _, [%r21];\n"
)
FENCE: Final = "fence.proxy.async.shared::cta;\n"


def stored(fence: str = FENCE, behind: str = "", use: str = PRODUCT + WAITED, full: str = _FULL) -> str:
    """The same ring, filled by the stores of all lanes of warp 4."""
    return ring(fill=_STORED.replace("{}", fence) + behind, counts=(32, 1), lanes="", use=use, full=full)


def kept(
    wait_: str = "@%p0 cp.async.bulk.wait_group.read 0;\n", fence: str = FENCE, behind: str = "bar.sync 0;\n"
) -> str:
    """A tile that all threads write and a bulk copy stores, trip after trip."""
    return (
        f"{HEAD}shl.b32 %r20, %r0, 2;\nadd.u32 %r20, %r20, %r4;\nLOOP:\n{wait_}bar.sync 0;\n"
        f"st.shared.u32 [%r20], %r2;\n{fence}{behind}"
        "@%p0 cp.async.bulk.global.shared::cta.bulk_group [%d1], [%r4], 512;\n"
        f"@%p0 cp.async.bulk.commit_group;\n{AGAIN}@%p0 cp.async.bulk.wait_group.read 0;\nret;\n}}\n"
    )


def boxed(
    fence: str = "bar.sync 0;\n@%p0 " + FENCE,
    written: str = "%r20",
    size: int = 512,
    at: str = "%d1",
    object_at: int = -1,
) -> str:
    """The same with a box of a tensor map, whose bytes nobody announces; perhaps with an object behind it.

    What all threads write is read by the copy, or lies at `written`.
    """
    text = kept(fence="", behind=fence).replace("t[512]", f"t[{size}]").replace("[%r20], %r2", f"[{written}], %r2")
    text = text.replace("group [%d1], [%r4], 512;", f"group [{at}, {{%r2}}], [%r4];")
    text = text.replace("cp.async.bulk.global", "cp.async.bulk.tensor.1d.global")
    if object_at >= 0:
        made = f"@%p0 mbarrier.init.shared::cta.b64 [%r4+{object_at}], 128;\nbar.sync 0;\n"
        waited = wait("WB", f"%r4+{object_at}", "0")
        text = text.replace(
            "LOOP:\n", f"{made}mbarrier.arrive.shared::cta.b64 _, [%r4+{object_at}];\n{waited}LOOP:\n", 1
        )
    return text


def own(behind: str = "bar.sync 0;\n", fence: str = FENCE, last: str = "bar.sync 0;\n") -> str:
    """A tile that all threads of a warpgroup write and multiply, trip after trip."""
    return (
        f"{HEAD}shl.b32 %r25, %r0, 1;\nadd.u32 %r25, %r25, %r4;\nmov.u32 %r20, %r4;\nmov.u16 %h1, 1;\nLOOP:\n"
        f"st.shared.u16 [%r25], %h1;\n{fence}{behind}{PRODUCT}{WAITED}{last}{AGAIN}ret;\n}}\n"
    ).replace(".reg .f32", ".reg .b16 %h<2>;\n.reg .f32")


def matrices(fence: str) -> str:
    """A warp stores a matrix, whose rows lanes 0 to 7 name, and a bulk copy stores it, trip after trip."""
    return (
        f"{HEAD}shl.b32 %r20, %r0, 4;\nadd.u32 %r20, %r20, %r4;\nsetp.lt.u32 %p6, %r0, 8;\nLOOP:\nbar.sync 0;\n"
        f"stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r20], {{%r2}};\n{fence}bar.sync 0;\n"
        "@%p0 cp.async.bulk.global.shared::cta.bulk_group [%d1], [%r4], 128;\n@%p0 cp.async.bulk.commit_group;\n"
        f"@%p0 cp.async.bulk.wait_group.read 0;\n{AGAIN}ret;\n}}\n"
    )


def reused(end: str) -> str:
    """A warpgroup multiplies a tile, and warp 4 writes it when a copy of thread 0 to another place is complete."""
    return (
        f"{HEAD.replace('t[512]', 't[1024]')}@%p0 mbarrier.init.shared::cta.b64 [%r5], 1;\nbar.sync 0;\n"
        f"setp.ge.u32 %p6, %r0, 128;\n@%p6 bra OTHER;\nmov.u32 %r20, %r4;\n{PRODUCT}@%p0 bra LEAD;\n{WAITED}bra END;\n"
        f"LEAD:\n{end}"
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r26], [%d1], 128, [%r5];\nbra END;\n"
        f"OTHER:\n{wait('W0', '%r5', '0')}and.b32 %r27, %r0, 31;\nshl.b32 %r27, %r27, 2;\nadd.u32 %r27, %r27, %r4;\n"
        "st.shared.u32 [%r27], %r2;\nEND:\nret;\n}\n"
    )


def copied(
    *,
    wait_: str = "cp.async.wait_group 1;\nbar.sync 0;\n",
    fence: str = FENCE,
    done: str = WAITED,
    freed: str = "bar.sync 0;\n",
    ahead: int = 2,
) -> str:
    """All threads of a warpgroup copy by `cp.async` into the two stages that they multiply, as Triton has it."""
    copy = (
        "and.b32 %r26, %r26, 1;\nshl.b32 %r26, %r26, 8;\nadd.u32 %r26, %r26, %r25;\n@%p7 cp.async.ca.shared.global "
        "[%r26], [%d1], 4;\ncp.async.commit_group;\n"
    )
    return (
        f"{HEAD}setp.lt.u32 %p7, %r0, 64;\nshl.b32 %r25, %r0, 2;\nadd.u32 %r25, %r25, %r4;\n"
        f"mov.u32 %r26, 0;\n{copy}mov.u32 %r26, 1;\n{copy}LOOP:\n{wait_}{fence}"
        f"and.b32 %r20, %r2, 1;\nshl.b32 %r20, %r20, 8;\nadd.u32 %r20, %r20, %r4;\n{PRODUCT}{done}{freed}"
        f"add.u32 %r26, %r2, {ahead};\n{copy}{AGAIN}ret;\n}}\n"
    )


class Tiles(NamedTuple):
    """A kernel, and whether it is free; the threads of its block."""

    text: str
    is_free: bool
    threads: int = 160


_LATE: Final = PRODUCT + "wgmma.wait_group.sync.aligned 1;\n"
_NEXT: Final = BOX.replace("[%r20]", "[%r26]")
_OTHER: Final = "add.u32 %r26, %r20, 256;\n"
_FREED: Final = "@{} mbarrier.arrive.shared::cta.b64 _, [%r22];\n"
_BY_WARP: Final = (
    "shr.u32 %r30, %r0, 5;\nadd.u32 %r30, %r30, 1;\nmul.lo.u32 %r31, %r1, %r30;\ndiv.u32 %r31, %r31, %r30;\n"
    "and.b32 %r31, %r31, 1;\nshl.b32 %r31, %r31, 8;\nadd.u32 %r20, %r4, %r31;\n"
)
"""A tile by a parameter: each warp divides by a number what it has multiplied by it."""
_CHOSEN: Final = "setp.gt.u32 %p7, %r1, 3;\nselp.u32 %r30, 8, 0, %p7;\nadd.u32 %r5, %r5, %r30;\nmov.u32 %r6, empty;"

_HALF: Final = "st.shared.v2.u32 [%r20], {%r2, %r2};\n"
_HALF_EXPECTED: Final = "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r21], 128;\n"
_HALF_COPIED: Final = (
    "add.u32 %r26, %r20, 128;\n"
    "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r26], [%d1], 128, [%r21];\n"
)
_ELSEWHERE: Final = "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r5], 128;\nadd.u32 %r26, %r4, 512;\n"

TILES: Final = {
    "alone": Tiles(alone(), True, 128),
    "alone, no wait for the product": Tiles(alone(last=""), False, 128),
    "alone, one group too late": Tiles(alone(last="wgmma.wait_group.sync.aligned 1;\n"), False, 128),
    "alone, other bytes are expected": Tiles(alone(expect=512), False, 128),
    "alone, the state is an old one": Tiles(alone(state="%d4"), False, 128),
    "alone, the others arrive in the first trip alone": Tiles(
        alone().replace("mbarrier.arrive.shared::cta", "setp.eq.u32 %p6, %r2, 0;\n@%p6 mbarrier.arrive.shared::cta"),
        False,
        128,
    ),
    "alone, the answer is not read": Tiles(alone().replace("@!%p4 bra WAIT;\n", ""), False, 128),
    "ring": Tiles(ring(), True),
    "ring, no wait for the product": Tiles(ring(use=PRODUCT), False),
    "ring, one group too late": Tiles(ring(use=_LATE), False),
    "ring, given back before the wait": Tiles(
        ring(use=PRODUCT, freed="@%p0 mbarrier.arrive.shared::cta.b64 _, [%r22];\n" + WAITED), False
    ),
    "ring, no wait for full": Tiles(ring(full=""), False),
    "ring, no wait for empty": Tiles(ring(empty=""), False),
    "ring, parity of full": Tiles(ring(full=wait("WF", "%r21", "%r24")), False),
    "ring, parity of empty, which hangs": Tiles(ring(empty=wait("WE", "%r22", "%r8")), True),
    "ring, a tile further": Tiles(
        ring(fill="mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r21], 256;\n" + _OTHER + _NEXT), False
    ),
    "ring, half of the bytes": Tiles(
        ring(fill="mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r21], 128;\n" + BOX), False
    ),
    "ring, one warp waits for full": Tiles(
        ring(full=f"setp.ge.u32 %p6, %r0, 32;\n@%p6 bra PAST;\n{_FULL}PAST:\n"), False
    ),
    "ring, one lane of each warp waits for full": Tiles(
        ring(
            full=f"and.b32 %r30, %r0, 31;\nsetp.ne.u32 %p6, %r30, 0;\n@%p6 bra PAST;\n{_FULL}PAST:\nbar.warp.sync -1;\n"
        ),
        True,
    ),
    "ring, the last warp gives back": Tiles(ring(freed="setp.eq.u32 %p6, %r0, 96;\n" + _FREED.format("%p6")), True),
    "ring, warps name a tile in their own words": Tiles(
        ring(use=_BY_WARP + PRODUCT, freed="setp.eq.u32 %p6, %r0, 96;\n" + _FREED.format("%p6")), False
    ),
    "ring, each thread names its own bytes": Tiles(ring(use="add.u32 %r20, %r20, %r0;\n" + PRODUCT + WAITED), False),
    "ring, an object by a parameter": Tiles(ring().replace("mov.u32 %r6, empty;", _CHOSEN), False),
    "kept, only the lanes with addresses fence": Tiles(matrices("@%p6 " + FENCE), False, 32),
    "kept, all lanes fence": Tiles(matrices(FENCE), True, 32),
    "own": Tiles(own(), True, 128),
    "own, no barrier before the product": Tiles(own(""), False, 128),
    "own, no barrier behind the product": Tiles(own(last=""), True, 128),
    "own, no fence": Tiles(own(fence=""), False, 128),
    "own, fence behind the barrier": Tiles(own("bar.sync 0;\n" + FENCE, ""), True, 128),
    "own, one warp fences behind the barrier": Tiles(
        own("bar.sync 0;\nsetp.lt.u32 %p6, %r0, 32;\n@%p6 " + FENCE, ""), False, 128
    ),
    "own, one lane of each warp fences behind the barrier": Tiles(
        own("bar.sync 0;\nand.b32 %r30, %r0, 31;\nsetp.eq.u32 %p6, %r30, 0;\n@%p6 " + FENCE, ""), False, 128
    ),
    "own, only the warp that writes fences behind the barrier": Tiles(
        own(f"bar.sync 0;\nsetp.lt.u32 %p6, %r0, 32;\n@%p6 {FENCE}", "")
        .replace("shl.b32 %r25, %r0, 1", "setp.lt.u32 %p6, %r0, 32;\nshl.b32 %r25, %r0, 1")
        .replace("st.shared.u16", "@%p6 st.shared.u16"),
        False,
        128,
    ),
    "own, fence behind a barrier of each warp": Tiles(own("bar.warp.sync -1;\n" + FENCE, ""), False, 128),
    "own, fence before the write": Tiles(
        own("bar.sync 0;\n", "").replace("st.shared.u16", FENCE + "st.shared.u16"), False, 128
    ),
    "own, fence behind the product": Tiles(own("bar.sync 0;\n", "").replace(WAITED, FENCE + WAITED), False, 128),
    "own, a fence before the first trip": Tiles(
        own("bar.sync 0;\n", "").replace("LOOP:", FENCE + "LOOP:", 1), False, 128
    ),
    "own, a barrier of each warp": Tiles(own("bar.warp.sync -1;\n"), False, 128),
    "ring, a warp gives back for its lanes alone": Tiles(ring(counts=(1, 2)), False),
    "stored": Tiles(stored(), True),
    "stored, no fence": Tiles(stored(""), False),
    "stored, fence behind the arrival": Tiles(stored("", FENCE), False),
    "stored, fence of global memory": Tiles(stored("fence.proxy.async.global;\n"), False),
    "stored, who multiplies fences": Tiles(stored("", use=FENCE + PRODUCT + WAITED), True),
    "stored, one warp that multiplies fences": Tiles(
        stored("", use=f"setp.lt.u32 %p6, %r0, 32;\n@%p6 {FENCE}{PRODUCT}{WAITED}"), False
    ),
    "stored, who multiplies fences before the wait": Tiles(stored("", full=FENCE + _FULL), False),
    "stored, who multiplies fences behind it": Tiles(stored("", use=PRODUCT + FENCE + WAITED), False),
    "stored, one lane fences": Tiles(stored("@%p5 " + FENCE), False),
    "half stored, half copied": Tiles(ring(fill=_HALF + FENCE + _HALF_EXPECTED + _HALF_COPIED), True),
    "half stored, half copied, fence behind the arrival": Tiles(
        ring(fill=_HALF + _HALF_EXPECTED + FENCE + _HALF_COPIED), False
    ),
    "copied": Tiles(copied(), True, 128),
    "copied, no wait for the copies": Tiles(copied(wait_="bar.sync 0;\n"), False, 128),
    "copied, a group too late": Tiles(copied(wait_="cp.async.wait_group 2;\nbar.sync 0;\n"), False, 128),
    "copied, no barrier": Tiles(copied(wait_="cp.async.wait_group 1;\n"), False, 128),
    "copied, the wait is behind the barrier": Tiles(copied(wait_="bar.sync 0;\ncp.async.wait_group 1;\n"), False, 128),
    "copied, no fence": Tiles(copied(fence=""), False, 128),
    "copied, the fence is before the barrier": Tiles(
        copied(wait_="cp.async.wait_group 1;\n" + FENCE + "bar.sync 0;\n", fence=""), True, 128
    ),
    "copied, the fence is before the wait": Tiles(
        copied(wait_=FENCE + "cp.async.wait_group 1;\nbar.sync 0;\n", fence=""), False, 128
    ),
    "copied, the fence is of another warp": Tiles(copied(fence="setp.lt.u32 %p6, %r0, 32;\n@%p6 " + FENCE), False, 128),
    "copied, no barrier behind the product": Tiles(copied(freed=""), True, 128),
    "copied, no wait for the product": Tiles(copied(done=""), False, 128),
    "copied, a product too late": Tiles(copied(done="wgmma.wait_group.sync.aligned 1;\n"), False, 128),
    "copied, into the stage that is read next": Tiles(copied(ahead=1), False, 128),
    "reused": Tiles(reused(WAITED + _ELSEWHERE), True),
    "reused, the wait for the product is behind the arrival": Tiles(reused(_ELSEWHERE + WAITED), False),
    "kept": Tiles(kept(), True, 128),
    "kept, one thread fences": Tiles(kept(fence="@%p0 " + FENCE), False, 128),
    "kept, the thread that copies fences": Tiles(kept(fence="", behind="bar.sync 0;\n@%p0 " + FENCE), True, 128),
    "kept, all fence behind the barrier": Tiles(kept(fence="", behind="bar.sync 0;\n" + FENCE), True, 128),
    "kept, another thread fences behind the barrier": Tiles(
        kept(fence="", behind="bar.sync 0;\nsetp.eq.u32 %p6, %r0, 1;\n@%p6 " + FENCE), False, 128
    ),
    "kept, the thread that copies fences before another barrier": Tiles(
        kept(fence="@%p0 " + FENCE, behind="bar.sync 0;\nbar.sync 0;\n"), False, 128
    ),
    "kept, the thread that copies fences without a barrier": Tiles(kept(fence="", behind="@%p0 " + FENCE), False, 128),
    "boxed": Tiles(boxed(), True, 128),
    "boxed, no fence": Tiles(boxed("bar.sync 0;\n"), False, 128),
    "boxed, no barrier": Tiles(boxed("@%p0 " + FENCE), False, 128),
    "boxed, another map in each trip": Tiles(
        boxed(at="%d2").replace("LOOP:\n", "mov.u64 %d2, %d1;\nLOOP:\nadd.u64 %d2, %d2, 128;\n", 1), False, 128
    ),
    "boxed, an object behind it": Tiles(boxed(size=2048, object_at=512), True, 128),
    "boxed, a write behind the object": Tiles(boxed(FENCE, "%r20+1024", 2048, object_at=512), True, 128),
    "boxed, an object that leaves room for no box": Tiles(boxed(FENCE, "%r20+1024", 2048, object_at=8), False, 128),
    "boxed, an object behind the smallest box": Tiles(boxed(FENCE, "%r20+1024", 2048, object_at=16), True, 128),
    "boxed, a write before the object": Tiles(boxed(FENCE, "%r20", 2048, object_at=1024), False, 128),
    "boxed, a write at the end of the array": Tiles(boxed(FENCE, "%r20+1024", 2048), False, 128),
    "kept, no wait": Tiles(kept(""), False, 128),
    "kept, no fence": Tiles(kept(fence=""), False, 128),
    "kept, no barrier": Tiles(kept(behind=""), False, 128),
    "kept, one group too late": Tiles(kept("@%p0 cp.async.bulk.wait_group.read 1;\n"), False, 128),
}
