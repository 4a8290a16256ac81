"""Small kernels whose lanes part, or whose loops carry values, in ways that are easily mistaken.

Each is run by the interpreter with `n` = 3 in blocks of 16 by 4 threads.
"""

from __future__ import annotations

HEAD = """.version 8.3
.target sm_90
.address_size 64
.visible .entry k(.param .u32 n, .param .u64 wide)
{
.reg .pred %p<20>;
.reg .b32 %r<60>;
.reg .b64 %d<20>;
.shared .align 16 .b8 pool[32768];
ld.param.u32 %r2, [n];
mov.u32 %r0, %tid.x;
mov.u32 %r1, %tid.y;
mov.u32 %r4, 0;
mov.u32 %r5, 0;
"""
STORE = "and.b32 %r50, {0}, 4095;\nshl.b32 %r50, %r50, 2;\nmov.u32 %r51, pool;\nadd.u32 %r50, %r50, %r51;\n"
STORE += "st.shared.u32 [%r50+1024], %r0;"
COUNT = "add.u32 %r4, %r4, 1;\nsetp.lt.u32 %p1, %r4, {0};\n@%p1 bra L;"
BODIES: dict[str, str] = {
    "trips by lane": "L:\n" + COUNT.format("%r0") + STORE.format("%r4"),
    "trips by row": "L:\n" + COUNT.format("%r1") + STORE.format("%r4"),
    "trips by parameter": "L:\n" + COUNT.format("%r2") + STORE.format("%r4"),
    "a load in trips by lane": "L:\nst.shared.u32 [pool], %r4;\nld.volatile.shared.u32 %r6, [pool];\n"
    + COUNT.format("%r0")
    + STORE.format("%r6"),
    "a break of some lanes": "L:\nsetp.eq.u32 %p2, %r0, 5;\n@%p2 bra E;\n" + COUNT.format("%r2") + "E:\n"
    "" + STORE.format("%r4"),
    "a shared break that some lanes come to": "L:\nsetp.eq.u32 %p2, %r0, 5;\n@%p2 bra S;\nsetp.eq.u32 %p3, %r4, 1;\n"
    "@%p3 bra E;\nS:\n" + COUNT.format("%r2") + "E:\n" + STORE.format("%r4"),
    "lanes that go on early": "L:\nadd.u32 %r4, %r4, 1;\nxor.b32 %r6, %r4, %r0;\nand.b32 %r6, %r6, 1;\n"
    "setp.eq.u32 %p2, %r6, 0;\n@%p2 bra L;\nsetp.lt.u32 %p1, %r4, %r2;\n@%p1 bra L;\n" + STORE.format("%r4"),
    "a load at an address of each lane": "shl.b32 %r6, %r0, 2;\nmov.u32 %r7, pool;\nadd.u32 %r6, %r6, %r7;\n"
    "st.shared.u32 [%r6], %r0;\nld.shared.u32 %r8, [%r6];\n" + STORE.format("%r8"),
    "a value that each trip makes of a lane": "L:\nmad.lo.u32 %r5, %r5, 2, %r0;\n"
    "" + COUNT.format("%r2") + STORE.format("%r5"),
    "a step that steps": "L:\nadd.u32 %r5, %r5, %r4;\nmad.lo.u32 %r6, %r4, 64, %r5;\n"
    "" + STORE.format("%r6") + "\n" + COUNT.format("%r2"),
    "two loops": "L1:\nadd.u32 %r5, %r5, 1;\nsetp.ne.u32 %p2, %r5, 5;\n@%p2 bra L1;\nL:\n"
    + COUNT.format("%r2").replace("setp.lt", "setp.ne")
    + "mad.lo.u32 %r6, %r5, 64, %r4;\n"
    + STORE.format("%r6"),
    "places that change": "mov.u32 %r5, 7;\nmov.u32 %r8, 0;\nL2:\nmad.lo.u32 %r6, %r4, 64, %r5;\n"
    + STORE.format("%r6")
    + "\nmov.u32 %r7, %r4;\nmov.u32 %r4, %r5;\nmov.u32 %r5, %r7;\nadd.u32 %r8, %r8, 1;\n"
    "setp.lt.u32 %p1, %r8, %r2;\n@%p1 bra L2;",
    "a comparison without sign": "sub.u32 %r6, %r0, 4;\nsetp.lt.u32 %p1, %r6, 4;\nselp.u32 %r7, 9, 11, %p1;\n"
    "" + STORE.format("%r7"),
    "a load of what was stored": "st.shared.u32 [pool+8], 77;\nld.shared.u32 %r6, [pool+8];\n" + STORE.format("%r6"),
    "rows": STORE.format("%r1"),
    "lanes that left": "setp.gt.u32 %p1, %r0, %r2;\n@%p1 exit;\n" + STORE.format("%r0"),
    "nested loops": "L1:\nmov.u32 %r4, 0;\nL:\nmad.lo.u32 %r6, %r5, 64, %r4;\n" + STORE.format("%r6") + "\n"
    + COUNT.format("%r2") + "\nadd.u32 %r5, %r5, 2;\nsetp.lt.u32 %p2, %r5, 7;\n@%p2 bra L1;",
    "a mode": "setp.eq.u32 %p1, %r2, 3;\n@%p1 bra A;\nmov.u32 %r4, 3;\nbra E;\nA:\nmov.u32 %r4, 5;\nE:\n"
    "" + STORE.format("%r4"),
    "a load before lanes meet": "st.shared.u32 [pool], %r0;\nsetp.lt.u32 %p1, %r0, 7;\n@%p1 bra A;\n"
    "setp.eq.u32 %p2, %r0, 9;\n"
    "@%p2 bra E;\nbra M;\nA:\nsetp.eq.u32 %p3, %r0, 2;\n@%p3 bra E;\nM:\nld.shared.u32 %r4, [pool];\n"
    "" + STORE.format("%r4") + "\nE:\n",
}  # fmt: skip


def text_of(body: str) -> str:
    return HEAD + body.replace(";st", ";\nst").replace("bra L;and", "bra L;\nand") + "\nret;\n}\n"
