"""Kernels with `tcgen05.mma`: the elected lane of one warp copies tiles of A and B by TMA, and multiplies them.

All changes of a right kernel are fields of `Tensor`. Written from docs/semantics.md, section 9.
"""

from __future__ import annotations

from dataclasses import dataclass, field

COPY = "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
MODES = {"none": 0, "128B": 2, "64B": 4, "32B": 6}
MAPS = ("amap=64x128xbf16,128B", "bmap=64x64xbf16,128B")
ELECT = "elect.sync %r40|%p2, -1; @!%p2 bra DONE;"


def shape(m: int = 128, n: int = 64, types: tuple[int, int] = (1, 1), majors: tuple[int, int] = (0, 0)) -> int:
    """An instruction descriptor with sums of f32."""
    return 1 << 4 | types[0] << 7 | types[1] << 10 | majors[0] << 15 | majors[1] << 16 | n // 8 << 17 | m // 16 << 24


def high(lbo: int = 16, sbo: int = 1024, mode: int = MODES["128B"], base_offset: int = 0, version: int = 1) -> int:
    """The bits of a descriptor but for the start address."""
    return lbo >> 4 << 16 | sbo >> 4 << 32 | version << 46 | base_offset << 49 | mode << 61


@dataclass(frozen=True)
class Tensor:
    """A kernel whose loop copies 64 columns of K in each trip, and multiplies them in four steps.

    Attributes:
        shape: The instruction descriptor.
        a: The bits of A's descriptors but for the start address; those of B are `b`.
        steps: The bytes from step to step along K, for A and B.
        starts: Where A and B begin in the array.
        ks: The numbers of the trip by which the columns of A and B are counted.
        opcode: The opcode.
        kind_of_a: The operand A, if it is not a descriptor.
        rest: What follows the instruction descriptor; `%p5` is false in the first trip, `%p6` is true.
        first: The same in the first step.
        elect: How one lane of the warp is chosen.
        warps: The number that the warp has to be below.
        sums: The address of D.
        inside: What stands at the begin of a trip.
        size: The bytes of the array.
        announced: The bytes that the barrier object expects.
        before: What stands before the loop.
    """

    shape: int = shape()
    a: int = high()
    b: int = high()
    steps: tuple[int, int] = (32, 32)
    starts: tuple[int, int] = (0, 16384)
    ks: tuple[str, str] = ("%r10", "%r10")
    opcode: str = "tcgen05.mma.cta_group::1.kind::f16"
    kind_of_a: str = ""
    rest: str = "{%r19, %r19, %r19, %r19}, %p6"
    first: str = "{%r19, %r19, %r19, %r19}, %p5"
    elect: str = ELECT
    warps: int = 1
    sums: tuple[str, ...] = field(default=("[%r20]",) * 4)
    inside: str = ""
    size: int = 24576
    announced: int = 24576
    before: str = ""

    @property
    def text(self) -> str:
        """The kernel."""
        return f""".version 8.7
.target sm_100a
.address_size 64
.shared .align 1024 .b8 tile[{self.size}];
.shared .align 8 .b64 full[2];
.shared .align 4 .b32 place[1];
.entry k(.param .align 64 .b8 amap[128], .param .align 64 .b8 bmap[128], .param .u32 n) .reqntid 128
{{
.reg .pred %p<10>; .reg .b32 %r<80>; .reg .b64 %rd<20>;
ld.param.u32 %r1, [n]; mov.u32 %r4, tile; mov.u32 %r6, full; add.u32 %r36, %r6, 8; mov.u32 %r7, %tid.x;
mov.u32 %r8, place; mov.u32 %r19, 0; mov.u32 %r3, {self.shape}; setp.eq.u32 %p6, %r19, 0;
tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r8], 64;
ld.shared.u32 %r20, [%r8];
shr.u32 %r41, %r7, 5; setp.ge.u32 %p1, %r41, {self.warps}; @%p1 bra DONE; {self.elect}
mov.u32 %r11, %ctaid.x; mov.u32 %r12, %ctaid.y; shl.b32 %r11, %r11, 7; shl.b32 %r12, %r12, 6;
mov.b64 %rd1, amap; cvta.param.u64 %rd1, %rd1; mov.b64 %rd2, bmap; cvta.param.u64 %rd2, %rd2;
mov.u32 %r10, 0; mov.u32 %r9, 0; {self.before}
L: setp.ne.u32 %p5, %r10, 0; {self.inside}
mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r6], {self.announced};
shl.b32 %r16, {self.ks[0]}, 6; shl.b32 %r17, {self.ks[1]}, 6; add.u32 %r14, %r4, 16384;
{COPY} [%r4], [%rd1, {{%r16, %r11}}], [%r6];
{COPY} [%r14], [%rd2, {{%r17, %r12}}], [%r6];
W: mbarrier.try_wait.parity.shared::cta.b64 %p7, [%r6], %r9; @!%p7 bra W;
{"".join(map(self._product, range(4)))}
tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%r36];
V: mbarrier.try_wait.parity.shared::cta.b64 %p7, [%r36], %r9; @!%p7 bra V;
xor.b32 %r9, %r9, 1; add.u32 %r10, %r10, 1; setp.lt.u32 %p3, %r10, %r1; @%p3 bra L;
DONE: ret;
}}
"""

    def _product(self, step: int) -> str:
        lines = ""
        for number, (bits, start, by) in enumerate(zip((self.a, self.b), self.starts, self.steps, strict=True)):
            lines += (
                f"add.u32 %r30, %r4, {start + step * by}; and.b32 %r30, %r30, 0x3ffff; shr.u32 %r30, %r30, 4; "
                f"cvt.u64.u32 %rd{3 + number}, %r30; or.b64 %rd{3 + number}, %rd{3 + number}, {bits};\n"
            )
        rest = self.rest if step else self.first
        return f"{lines}{self.opcode} {self.sums[step]}, {self.kind_of_a or '%rd3'}, %rd4, %r3, {rest};\n"
