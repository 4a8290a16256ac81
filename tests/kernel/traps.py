"""Small kernels whose lanes part, or whose loops carry values, in ways that are easily mistaken.

Each is run by the interpreter with `n` = 3 in blocks of 16 by 4 threads.
"""

from __future__ import annotations

FUNCTIONS = """.version 8.3
.target sm_90
.address_size 64
.shared .align 16 .b8 pool[32768];
.func (.param .b32 r) mixed(.param .b32 a, .param .b32 b)
{
.reg .b32 %r<9>;
ld.param.b32 %r1, [a];
ld.param.b32 %r2, [b];
mad.lo.u32 %r1, %r1, 5, %r2;
st.param.b32 [r], %r1;
ret;
}
.func (.param .b32 r) early(.param .b32 a)
{
.reg .b32 %r<9>;
.reg .pred %p<9>;
ld.param.b32 %r1, [a];
st.param.b32 [r], 99;
setp.gt.u32 %p1, %r1, 7;
@%p1 ret;
st.param.b32 [r], %r1;
ret;
}
.func (.param .b32 r, .param .b32 s) two(.param .b32 a)
{
.reg .b32 %r<9>;
ld.param.b32 %r1, [a];
st.param.b32 [s], 2;
st.param.b32 [r], %r1;
ret;
}
.func (.param .b32 r) narrow(.param .b8 a)
{
.reg .b32 %r<9>;
ld.param.s8 %r0, [a];
st.param.b32 [r], %r0;
ret;
}
.func (.param .b32 r) counted(.param .b32 a)
{
.reg .b32 %r<9>;
.reg .pred %p<9>;
ld.param.b32 %r1, [a];
mov.u32 %r2, 0;
C:
add.u32 %r2, %r2, 1;
setp.lt.u32 %p1, %r2, %r1;
@%p1 bra C;
st.param.b32 [r], %r2;
ret;
}
.func (.reg .b32 r) plain(.reg .b32 a)
{
add.u32 r, a, 3;
ret;
}
.func (.param .align 8 .b8 r[8]) pair(.param .align 8 .b8 a[8])
{
.reg .b32 %r<9>;
ld.param.v2.b32 {%r1, %r2}, [a];
st.param.b32 [r+4], %r1;
st.param.b32 [r+0], %r2;
ret;
}
.func (.param .b32 r) late(.param .b32 a)
{
.reg .b32 %r<9>;
st.param.b32 [r], 5;
ld.param.b32 %r1, [a];
st.param.b32 [r], %r1;
ret;
}
.func (.param .b32 r) halves(.param .b64 a)
{
.reg .b32 %r<9>;
ld.param.b32 %r1, [a+0];
ld.param.b32 %r2, [a+4];
mad.lo.u32 %r1, %r1, 5, %r2;
st.param.b32 [r], %r1;
ret;
}
.func (.param .b32 r) onward(.param .b64 a)
{
call (r), halves, (a);
ret;
}
.func outer(.param .b32 a)
{
.reg .b32 %r<60>;
ld.param.b32 %r4, [a];
{
.param .b32 x;
.param .b32 y;
st.param.b32 [x], %r4;
call (y), early, (x);
ld.param.b32 %r5, [y];
}
mad.lo.u32 %r4, %r4, 64, %r5;
STORE
ret;
}
"""
HEAD = """.visible .entry k(.param .u32 n, .param .u64 wide)
{
.reg .pred %p<20>;
.reg .b32 %r<60>;
.reg .b64 %d<20>;
ld.param.u32 %r2, [n];
mov.u32 %r0, %tid.x;
mov.u32 %r1, %tid.y;
mov.u32 %r4, 0;
mov.u32 %r5, 0;
"""
STORE = "and.b32 %r50, {0}, 4095;\nshl.b32 %r50, %r50, 2;\nmov.u32 %r51, pool;\nadd.u32 %r50, %r50, %r51;\n"
STORE += "st.shared.u32 [%r50+1024], %r0;"
CALL = (
    "{{\n.param .b32 x;\n.param .b32 y;\n.param .b32 z;\nst.param.b32 [x], {1};\nst.param.b32 [z], {2};\n"
    "{3}call (y), {0};\n{3}ld.param.b32 %r4, [y];\n}}\n"
)
"""A call with its callee and arguments as text, what goes into x and z, and a guard; y goes into %r4."""
PAIR = (
    "{\n.param .align 8 .b8 x[8];\n.param .align 8 .b8 y[8];\nst.param.v2.b32 [x], {%r0, %r1};\ncall (y), pair, (x);\n"
    "ld.param.b32 %r6, [y];\nld.param.b32 %r7, [y+4];\n}\nmad.lo.u32 %r4, %r6, 64, %r7;\n"
)
COUNT = "add.u32 %r4, %r4, 1;\nsetp.lt.u32 %p1, %r4, {0};\n@%p1 bra L;"
NARROW = (
    "L:\n{0}shr.s32 %r10, %r6, 8;\nxor.b32 %r10, %r10, %r9;\n" + STORE.format("%r10") + "\n{1}\n" + COUNT.format("9")
)
"""9 trips that step %r6: all of its bits up to bit 19 count in the address, and those of %r9."""
FLIPPED = "mov.u32 %r51, pool;\nmad.lo.u32 %r6, {0}, 4, %r51;\nL:\nst.shared.u32 [%r6], %r0;\n{1}\n" + COUNT.format("5")
"""5 trips that store to the address %r6 of a lane, which each of them changes."""
BODIES: dict[str, str] = {
    "an address whose bits flip": FLIPPED.format("%r0", "xor.b32 %r6, %r6, 12;"),
    "an address that carries into bits that flip": FLIPPED.format("%r0", "xor.b32 %r6, %r6, 4;\nadd.u32 %r6, %r6, 4;"),
    "bits that flip by other ones": FLIPPED.format("%r0", "shl.b32 %r7, %r4, 2;\nxor.b32 %r6, %r6, %r7;"),
    "trips by lane": "L:\n" + COUNT.format("%r0") + STORE.format("%r4"),
    "trips by row": "L:\n" + COUNT.format("%r1") + STORE.format("%r4"),
    "trips by lane and parameter": "add.u32 %r6, %r0, %r2;\nL:\n" + COUNT.format("%r6") + STORE.format("%r4"),
    "trips by row and parameter": "add.u32 %r6, %r1, %r2;\nL:\n" + COUNT.format("%r6") + STORE.format("%r4"),
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
    "a trip that lanes begin early": "L:\n" + STORE.format("%r4") + "\nadd.u32 %r4, %r4, 1;\nxor.b32 %r6, %r4, %r0;\n"
    "and.b32 %r6, %r6, 1;\nsetp.eq.u32 %p2, %r6, 0;\n@%p2 bra L;\nsetp.lt.u32 %p1, %r4, %r2;\n@%p1 bra L;",
    "an access in a loop that lanes leave": "L:\n" + STORE.format("%r4") + "\n" + COUNT.format("%r0"),
    "lanes that run an inner loop anew": "O:\nadd.u32 %r5, %r5, 1;\nmov.u32 %r4, 0;\nL:\nadd.u32 %r4, %r4, 1;\n"
    "setp.eq.u32 %p2, %r4, 2;\nsetp.lt.and.u32 %p3, %r5, %r0, %p2;\n@%p3 bra O;\n" + STORE.format("%r4") + "\n"
    "setp.lt.u32 %p1, %r4, %r2;\n@%p1 bra L;",
    "a load at an address of each lane": "shl.b32 %r6, %r0, 2;\nmov.u32 %r7, pool;\nadd.u32 %r6, %r6, %r7;\n"
    "st.shared.u32 [%r6], %r0;\nbar.sync 0;\nld.shared.u32 %r8, [%r6];\n" + STORE.format("%r8"),
    "a value that each trip makes of a lane": "L:\nmad.lo.u32 %r5, %r5, 2, %r0;\n"
    "" + COUNT.format("%r2") + STORE.format("%r5"),
    "a step that steps": "L:\nadd.u32 %r5, %r5, %r4;\nmad.lo.u32 %r6, %r4, 64, %r5;\n"
    "" + STORE.format("%r6") + "\n" + COUNT.format("%r2"),
    "a counter of 16 bits": "mul.lo.u32 %r8, %r0, 4661;\ncvt.s32.s16 %r6, %r8;\nshl.b32 %r7, %r8, 16;\n"
    + NARROW.format("shr.s32 %r9, %r7, 14;\n", "mad.lo.u32 %r11, %r2, 4115, %r6;\ncvt.s32.s16 %r6, %r11;\n"
    "shl.b32 %r7, %r11, 16;"),
    "a counter of 16 bits without sign": "mul.lo.u32 %r8, %r0, 4661;\ncvt.u32.u16 %r6, %r8;\n"
    + NARROW.format("mov.u32 %r9, 5;\n", "add.u32 %r6, %r6, 12345;\ncvt.u32.u16 %r6, %r6;"),
    "a counter of 8 bits by a mask": "and.b32 %r6, %r1, 255;\n"
    + NARROW.format("shl.b32 %r9, %r6, 4;\n", "mad.lo.u32 %r6, %r2, 41, %r6;\nand.b32 %r6, %r6, 255;"),
    "a counter that is cut by shifts": "mov.u32 %r6, 0;\n"
    + NARROW.format("shl.b32 %r9, %r6, 2;\n", "add.u32 %r6, %r6, 30000;\nshl.b32 %r6, %r6, 16;\n"
    "shr.s32 %r6, %r6, 16;"),
    "a narrow counter that begins with more bits": "add.u32 %r6, %r0, 70000;\n"
    + NARROW.format("mov.u32 %r9, 5;\n", "add.u32 %r6, %r6, 12345;\ncvt.u32.u16 %r6, %r6;"),
    "a narrow step that steps": "cvt.s32.s16 %r6, %r0;\n"
    + NARROW.format("mov.u32 %r9, 5;\n", "mad.lo.u32 %r6, %r4, 4115, %r6;\ncvt.s32.s16 %r6, %r6;"),
    "a copy of a counter that begins elsewhere": "cvt.s32.s16 %r6, %r0;\nshl.b32 %r7, %r1, 16;\n"
    + NARROW.format("shr.s32 %r9, %r7, 14;\n", "add.u32 %r11, %r6, 12345;\ncvt.s32.s16 %r6, %r11;\n"
    "shl.b32 %r7, %r11, 16;"),
    "a register that is one trip behind": "cvt.s32.s16 %r6, %r0;\nmov.u32 %r7, %r6;\n"
    + NARROW.format("shl.b32 %r9, %r7, 2;\n", "mov.u32 %r7, %r6;\nadd.u32 %r6, %r6, 12345;\n"
    "cvt.s32.s16 %r6, %r6;"),
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
    "a call": CALL.format("mixed, (x, z)", "%r0", "%r1", "") + STORE.format("%r4"),
    "two calls": CALL.format("mixed, (x, z)", "%r0", "%r1", "") + "mov.u32 %r6, %r4;\n"
    + CALL.format("mixed, (x, z)", "%r1", "%r6", "") + STORE.format("%r4"),
    "a guarded call": "setp.gt.u32 %p1, %r0, 5;\n" + CALL.format("mixed, (x, z)", "%r0", "%r1", "@%p1 ")
    + STORE.format("%r4"),
    "a return of some lanes": CALL.format("early, (x)", "%r0", "%r1", "") + STORE.format("%r4"),
    "a byte with a sign": "sub.u32 %r6, %r0, 4;\n" + CALL.format("narrow, (x)", "%r6", "0", "").replace(
        ".b32 x;", ".b8 x;").replace("st.param.b32 [x]", "st.param.b8 [x]") + STORE.format("%r4"),
    "trips by lane in a function": CALL.format("counted, (x)", "%r0", "0", "") + STORE.format("%r4"),
    "a call by registers": "setp.gt.u32 %p1, %r0, 5;\n@%p1 call (%r4), plain, (%r0);\n" + STORE.format("%r4"),
    "a pair": PAIR + STORE.format("%r4"),
    "a variable for argument and result": "{\n.param .b32 x;\nst.param.b32 [x], %r0;\ncall (x), late, (x);\n"
    "ld.param.b32 %r4, [x];\n}\n" + STORE.format("%r4"),
    "a parameter that is passed on": "{\n.param .b64 x;\n.param .b32 y;\ncvt.u64.u32 %d1, %r0;\n"
    "st.param.b64 [x], %d1;\ncall (y), onward, (x);\nld.param.b32 %r4, [y];\n}\n" + STORE.format("%r4"),
    "a variable for two results": "{\n.param .b32 x;\n.param .b32 y;\nst.param.b32 [x], %r0;\ncall (y, y), two, (x);\n"
    "ld.param.b32 %r4, [y];\n}\n" + STORE.format("%r4"),
    "a call in a call": "{\n.param .b32 x;\nst.param.b32 [x], %r0;\ncall outer, (x);\n}",
    "a call in a loop": "L:\n" + CALL.format("mixed, (x, z)", "%r5", "%r0", "") + "add.u32 %r5, %r5, 1;\n"
    + STORE.format("%r4") + "\nsetp.lt.u32 %p1, %r5, %r2;\n@%p1 bra L;",
    "a load before lanes meet": "st.shared.u32 [pool], %r0;\nsetp.lt.u32 %p1, %r0, 7;\n@%p1 bra A;\n"
    "setp.eq.u32 %p2, %r0, 9;\n"
    "@%p2 bra E;\nbra M;\nA:\nsetp.eq.u32 %p3, %r0, 2;\n@%p3 bra E;\nM:\nld.shared.u32 %r4, [pool];\n"
    "" + STORE.format("%r4") + "\nE:\n",
}  # fmt: skip


def text_of(body: str) -> str:
    functions = FUNCTIONS.replace("STORE", STORE.format("%r4")).replace(";st", ";\nst")
    return functions + HEAD + body.replace(";st", ";\nst").replace("bra L;and", "bra L;\nand") + "\nret;\n}\n"
