"""Kernels in which one thread fills a ring of stages by tensor copies, and a warp group multiplies what is in it.

Both go through tiles of the product in a persistent loop, and through k-tiles in a loop inside of it.
"""

STAGES = 3
MAPS = ("amap=64x64xbf16,128B", "bmap=64x8xbf16,128B")
DESCRIPTOR = 1 << 62 | 64 << 32
"""The 128B swizzle, and 1024 bytes from 8 rows to the next 8."""
_HEAD = """.version 8.3
.target sm_90a
.address_size 64
.shared .align ALIGN .b8 atile[24576];
.shared .align ALIGN .b8 btile[3072];
.shared .align 8 .b64 full[3];
.entry k(.param .align 64 .b8 amap[128], .param .align 64 .b8 bmap[128], .param .u32 n, .param .u32 m,
  .param .u32 width, .param .u64 out) .reqntid 256
{
.reg .pred %p<10>; .reg .b32 %r<80>; .reg .f32 %f<4>; .reg .b64 %rd<20>;
ld.param.u32 %r1, [n]; ld.param.u32 %r2, [m]; ld.param.u32 %r3, [width]; ld.param.u64 %rd9, [out];
mov.u32 %r4, atile; mov.u32 %r5, btile; mov.u32 %r6, full; mov.u32 %r7, %tid.x; mov.u32 %r8, %ctaid.x;
mov.u32 %r9, %nctaid.x; shr.u32 %r40, %r7, 7; setp.eq.u32 %p9, %r40, 0; and.b32 %r41, %r1, -2; and.b32 %r42, %r1, 1;
"""


def ring(*, is_unrolled: bool, align: int = 1024) -> str:
    """The kernel, with its loop over k-tiles unrolled twice or not."""
    loop = _unrolled if is_unrolled else _plain
    return "\n".join(
        (
            _HEAD.replace("ALIGN", str(align)),
            "@%p9 bra FILL;",
            _of_tiles(
                "USE", "mov.f32 %f0, 0f00000000; mov.f32 %f1, %f0; mov.f32 %f2, %f0; mov.f32 %f3, %f0;", loop(_use)
            ),
            "st.global.f32 [%rd9], %f0; bra DONE;",
            "FILL: setp.ne.u32 %p8, %r7, 0; @%p8 bra DONE;",
            _of_tiles("COPY", "shl.b32 %r23, %r21, 6; shl.b32 %r24, %r22, 3;", loop(_copy)),
            "DONE: ret;\n}",
        )
    )


def _of_tiles(name: str, begin: str, body: str) -> str:
    """The loop over tiles: by which one a block goes on, a division decides."""
    return f"""mov.u32 %r10, 0; mov.u32 %r20, %r8;
{name}: div.u32 %r21, %r20, %r3; setp.ge.u32 %p1, %r21, %r2; @%p1 bra {name}_END;
mul.lo.u32 %r22, %r21, %r3; sub.u32 %r22, %r20, %r22; {begin} mov.u32 %r11, 0;
{body.replace("LOOP", f"{name}_LOOP")}
add.u32 %r20, %r20, %r9; bra {name};
{name}_END:"""


def _plain(part: object) -> str:
    return f"LOOP: {_step(part, 0)} add.u32 %r11, %r11, 1; setp.lt.u32 %p2, %r11, %r1; @%p2 bra LOOP;"


def _unrolled(part: object) -> str:
    """Two steps in a trip, and one behind the loop if the number of k-tiles is odd."""
    return f"""setp.lt.u32 %p3, %r1, 2; @%p3 bra LOOP_TAIL; mov.u32 %r13, %r41;
LOOP: {_step(part, 0)} {_step(part, 1)} add.u32 %r11, %r11, 2;
add.u32 %r13, %r13, -2; setp.ne.u32 %p4, %r13, 0; @%p4 bra LOOP;
LOOP_TAIL: setp.eq.u32 %p5, %r42, 0; @%p5 bra LOOP_BEHIND; {_step(part, 2)}
LOOP_BEHIND:"""


def _step(part: object, number: int) -> str:
    """One k-tile, and the stage behind it."""
    if not callable(part):
        raise TypeError
    at = f"LOOP_WAIT{number}"
    return f"""setp.eq.u32 %p6, %r10, {STAGES}; selp.b32 %r10, 0, %r10, %p6;
{at}: mbarrier.try_wait.parity.shared::cta.b64 %p7, [%r6], 0; @!%p7 bra {at};
mad.lo.u32 %r14, %r10, 8192, %r4; mad.lo.u32 %r15, %r10, 1024, %r5; {part(number)}
add.u32 %r10, %r10, 1;"""


def _copy(number: int) -> str:
    k = 1 if number == 1 else 0
    copy = "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
    return f"""add.u32 %r16, %r11, {k}; shl.b32 %r16, %r16, 6;
mov.b64 %rd1, amap; cvta.param.u64 %rd1, %rd1; mov.b64 %rd2, bmap; cvta.param.u64 %rd2, %rd2;
{copy} [%r14], [%rd1, {{%r16, %r23}}], [%r6];
{copy} [%r15], [%rd2, {{%r16, %r24}}], [%r6];"""


def _use(number: int) -> str:
    lines = [f"// step {number}"]
    for step in range(4):
        for register, at in ((3, 14), (4, 15)):
            lines.append(
                f"add.u32 %r30, %r{at}, {32 * step}; shr.u32 %r30, %r30, 4; and.b32 %r30, %r30, 0x3fff; "
                f"cvt.u64.u32 %rd{register}, %r30; or.b64 %rd{register}, %rd{register}, {DESCRIPTOR};"
            )
        lines.append(
            "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%f0, %f1, %f2, %f3}, %rd3, %rd4, 1, 1, 1, 0, 0;"
        )
    return "\n".join(lines)
