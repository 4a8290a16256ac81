"""Small kernels, one for each form of an opcode, whose answers an H200 gave (see `test_chip.py`).

Each case is the body of a kernel in which every lane has three 64-bit numbers, also as parts of
them: %da %db %dc (b64), %ra %rb %rc (b32, the low halves), %ha %hb %hc (b16, the low quarters), and
%pa %pb %pc (the lowest bits). The result is left in %d0, %r0, %h0 or %p0; `result_of` says in which
one.
"""

from __future__ import annotations

import re

from .convert import bounds

HEADER = ".version 8.3\n.target sm_90\n.address_size 64\n"
GLOBALS = """
.global .align 8 .b8 space[64];
.const .align 4 .u32 table[8] = {3, 1, 4, 1, 5, 9, 2, 6};
.func (.param .b32 back) twice(.param .b32 given)
{ .reg .b32 %r<3>; ld.param.u32 %r1, [given]; add.u32 %r2, %r1, %r1; st.param.b32 [back], %r2; ret; }
.func (.param .b32 back) collatz(.param .b32 given, .param .b32 deep)
{ .reg .b32 %r<9>; .reg .pred %p<3>; .param .b32 one; .param .b32 two; .param .b32 got;
  ld.param.u32 %r1, [given]; ld.param.u32 %r2, [deep];
  setp.gt.u32 %p1, %r2, 5; @%p1 bra DONE;
  and.b32 %r3, %r1, 1; setp.ne.u32 %p2, %r3, 0;
  mad.lo.u32 %r4, %r1, 3, 1; shr.u32 %r5, %r1, 1; selp.b32 %r6, %r4, %r5, %p2; add.u32 %r7, %r2, 1;
  st.param.b32 [one], %r6; st.param.b32 [two], %r7; call (got), collatz, (one, two); ld.param.u32 %r8, [got];
  add.u32 %r8, %r8, %r1; st.param.b32 [back], %r8; ret;
DONE: st.param.b32 [back], %r1; ret; }
"""
START = """
.visible .entry {name}(.param .u64 {name}_in, .param .u64 {name}_out)
{{
  .reg .pred %p<9>, %pa, %pb, %pc;
  .reg .b16 %h<9>, %ha, %hb, %hc;
  .reg .b32 %r<20>, %ra, %rb, %rc;
  .reg .f32 %f<9>, %fa, %fb, %fc;
  .reg .f64 %e<9>, %ea, %eb, %ec;
  .reg .b64 %d<20>, %da, %db, %dc, %in, %out;
  .shared .align 16 .b8 pool[4096];
  .local .align 16 .b8 own[64];
  ld.param.u64 %in, [{name}_in]; ld.param.u64 %out, [{name}_out];
  mov.u32 %r19, %tid.x; mul.wide.u32 %d19, %r19, 24; add.u64 %in, %in, %d19;
  mul.wide.u32 %d19, %r19, 8; add.u64 %out, %out, %d19;
  ld.global.b64 %da, [%in]; ld.global.b64 %db, [%in+8]; ld.global.b64 %dc, [%in+16];
  cvt.u32.u64 %ra, %da; cvt.u32.u64 %rb, %db; cvt.u32.u64 %rc, %dc;
  cvt.u16.u64 %ha, %da; cvt.u16.u64 %hb, %db; cvt.u16.u64 %hc, %dc;
  mov.b32 %fa, %ra; mov.b32 %fb, %rb; mov.b32 %fc, %rc;
  mov.b64 %ea, %da; mov.b64 %eb, %db; mov.b64 %ec, %dc;
  and.b32 %r18, %ra, 1; setp.ne.u32 %pa, %r18, 0; and.b32 %r18, %rb, 1; setp.ne.u32 %pb, %r18, 0;
  and.b32 %r18, %rc, 1; setp.ne.u32 %pc, %r18, 0;
"""
ENDS = {
    "d": "st.global.b64 [%out], %d0;",
    "r": "cvt.u64.u32 %d1, %r0; st.global.b64 [%out], %d1;",
    "h": "cvt.u64.u16 %d1, %h0; st.global.b64 [%out], %d1;",
    "p": "selp.b64 %d1, 1, 0, %p0; st.global.b64 [%out], %d1;",
}
FLOAT_INPUT = "and.b32 %ra, %ra, 0xC1FFFFFF; or.b32 %ra, %ra, 0x38000000; mov.b32 %fa, %ra;"
INTEGERS = ("u16", "s16", "u32", "s32", "u64", "s64")
LETTER = {"16": "h", "32": "r", "64": "d"}


def letters(kind: str) -> str:
    """The letter of the registers of a type."""
    return LETTER[re.sub(r"\D", "", kind)]


def _binary(names: tuple[str, ...], kinds: tuple[str, ...]) -> list[str]:
    return [f"{n}.{k} %{letters(k)}0, %{letters(k)}a, %{letters(k)}b;" for n in names for k in kinds]


def integer_cases() -> list[str]:
    """Arithmetic of whole numbers."""
    found = _binary(("add", "sub", "min", "max", "mul.lo", "mul.hi"), INTEGERS)
    for name in ("div", "rem"):  # by odd numbers, as nothing is said of division by zero
        found += [
            f"or.b{k[1:]} %{letters(k)}b, %{letters(k)}b, 1; {c}" for k in INTEGERS for c in _binary((name,), (k,))
        ]
    for kind, wide in (("u16", "r"), ("s16", "r"), ("u32", "d"), ("s32", "d")):
        a = letters(kind)
        found.append(f"mul.wide.{kind} %{wide}0, %{a}a, %{a}b;")
        found.append(f"mad.wide.{kind} %{wide}0, %{a}a, %{a}b, %{wide}c;")
    for kind in INTEGERS:
        a = letters(kind)
        found += [f"mad.{part}.{kind} %{a}0, %{a}a, %{a}b, %{a}c;" for part in ("lo", "hi")]
        found.append(f"sad.{kind} %{a}0, %{a}a, %{a}b, %{a}c;")
    for kind in ("s16", "s32", "s64"):
        found += [f"{name}.{kind} %{letters(kind)}0, %{letters(kind)}a;" for name in ("abs", "neg")]
    for kind in ("u32", "s32"):
        found += [f"mul24.{part}.{kind} %r0, %ra, %rb;" for part in ("lo", "hi")]
        found.append(f"mad24.lo.{kind} %r0, %ra, %rb, %rc;")
    found += [
        "add.sat.s32 %r0, %ra, %rb;",
        "sub.sat.s32 %r0, %ra, %rb;",
        "mad.hi.sat.s32 %r0, %ra, %rb, %rc;",
        "add.cc.u32 %r1, %ra, %rb; addc.u32 %r2, %rc, %ra; mov.b64 %d0, {%r1, %r2};",
        "sub.cc.u32 %r1, %ra, %rb; subc.u32 %r2, %rc, %ra; mov.b64 %d0, {%r1, %r2};",
        "add.cc.u64 %d1, %da, %db; addc.cc.u64 %d2, %dc, %da; addc.u64 %d0, %d1, %d2;",
        "mad.lo.cc.u32 %r1, %ra, %rb, %rc; madc.hi.u32 %r2, %ra, %rb, %rc; mov.b64 %d0, {%r1, %r2};",
        "mad.hi.cc.s32 %r1, %ra, %rb, %rc; addc.u32 %r2, %rb, 0; mov.b64 %d0, {%r1, %r2};",
        "dp4a.u32.u32 %r0, %ra, %rb, %rc;",
        "dp4a.s32.u32 %r0, %ra, %rb, %rc;",
        "dp4a.s32.s32 %r0, %ra, %rb, %rc;",
        "dp2a.lo.s32.u32 %r0, %ra, %rb, %rc;",
        "dp2a.hi.u32.s32 %r0, %ra, %rb, %rc;",
        *(f"{n}.{k} %r0, %ra, %rb;" for n in ("add", "min", "max") for k in ("u16x2", "s16x2")),
        "max.relu.s32 %r0, %ra, %rb;",
    ]
    return found


def bit_cases() -> list[str]:
    """Bits: logic, shifts, fields, permutes, counts."""
    found = _binary(("and", "or", "xor"), ("b16", "b32", "b64"))
    found += [f"{n}.pred %p0, %pa, %pb;" for n in ("and", "or", "xor")]
    found += [f"{n}.b{w} %{LETTER[w]}0, %{LETTER[w]}a;" for n in ("not", "cnot") for w in ("16", "32", "64")]
    for kind in ("b16", "b32", "b64"):
        found.append(f"and.b32 %r1, %rb, 127; shl.{kind} %{letters(kind)}0, %{letters(kind)}a, %r1;")
    for kind in INTEGERS:
        found.append(f"and.b32 %r1, %rb, 127; shr.{kind} %{letters(kind)}0, %{letters(kind)}a, %r1;")
        found.append(f"shr.{kind} %{letters(kind)}0, %{letters(kind)}a, %rb;")
    for mode in ("clamp", "wrap"):
        found += [f"and.b32 %r1, %rc, 63; shf.{way}.{mode}.b32 %r0, %ra, %rb, %r1;" for way in ("l", "r")]
        found.append(f"and.b32 %r1, %ra, 63; and.b32 %r2, %rb, 63; bmsk.{mode}.b32 %r0, %r1, %r2;")
        found += [f"and.b32 %r1, %rb, 63; szext.{mode}.{kind} %r0, %ra, %r1;" for kind in ("u32", "s32")]
    for kind in ("u32", "s32", "u64", "s64"):
        a = letters(kind)
        for limit in (63, 255):
            found.append(f"and.b32 %r1, %rb, {limit}; and.b32 %r2, %rc, {limit}; bfe.{kind} %{a}0, %{a}a, %r1, %r2;")
        found.append(f"bfind.{kind} %r0, %{a}a;")
        found.append(f"bfind.shiftamt.{kind} %r0, %{a}a;")
    for kind in ("b32", "b64"):
        a = letters(kind)
        for limit in (63, 255):
            bounds = f"and.b32 %r1, %rc, {limit}; shr.u32 %r2, %rc, 8; and.b32 %r2, %r2, {limit};"
            found.append(f"{bounds} bfi.{kind} %{a}0, %{a}a, %{a}b, %r1, %r2;")
        found += [f"{name}.{kind} %r0, %{a}a;" for name in ("popc", "clz")]
        found.append(f"brev.{kind} %{a}0, %{a}a;")
    found += [f"prmt.b32{mode} %r0, %ra, %rb, %rc;" for mode in ("", ".f4e", ".b4e", ".rc8", ".ecl", ".ecr", ".rc16")]
    found += [f"lop3.b32 %r0, %ra, %rb, %rc, {code:#x};" for code in (0x96, 0xE8, 0xCA, 0x01, 0xF8, 0x1B)]
    found += [f"lop3.{way}.b32 _|%p0, %ra, %rb, %rc, 0x40, %pb;" for way in ("or", "and")]
    found.append("and.b32 %r1, %rb, 31; shr.u32 %r2, %rc, 27; sub.s32 %r2, %r2, 16; fns.b32 %r0, %ra, %r1, %r2;")
    return found


def clips(into: str, source: str) -> bool:
    """Whether the assembler takes .sat: where some number of the source does not fit."""
    (low, top), (least, most) = bounds(into), bounds(source)
    return least < low or most > top


def convert_cases() -> list[str]:
    """Conversions, comparisons and choices."""
    kinds = ("u8", "s8", *INTEGERS)
    width = {kind: "16" if kind[1:] == "8" else kind[1:] for kind in kinds}
    found = []
    for into in kinds:
        for source in kinds:
            if into != source:
                found.append(f"cvt.{into}.{source} %{LETTER[width[into]]}0, %{LETTER[width[source]]}a;")
            if clips(into, source):
                found.append(f"cvt.sat.{into}.{source} %{LETTER[width[into]]}0, %{LETTER[width[source]]}a;")
    found.append("cvt.s32.s8 %r0, %ra;")
    found.append("cvt.u64.u8 %d0, %ra;")
    for kind in ("u32", "s32", "u64", "s64", "u16", "s16"):
        a = letters(kind)
        found += [f"setp.{name}.{kind} %p0, %{a}a, %{a}b;" for name in ("eq", "ne", "lt", "le", "gt", "ge")]
    found += [f"setp.{name}.u32 %p0, %ra, %rb;" for name in ("lo", "ls", "hi", "hs")]
    found += [f"setp.lt.{way}.s32 %p0|%p1, %ra, %rb, %pc;" for way in ("and", "or", "xor")]
    found += ["setp.lt.and.s32 %p1|%p0, %ra, %rb, !%pc;", "setp.eq.b16 %p0, %ha, %hb;"]
    found += ["set.lt.u32.s32 %r0, %ra, %rb;", "set.ge.f32.u32 %f0, %ra, %rb; mov.b32 %r0, %f0;"]
    found += ["selp.b32 %r0, %ra, %rb, %pc;", "selp.b64 %d0, %da, %db, %pc;", "selp.u16 %h0, %ha, %hb, %pc;"]
    found += ["slct.b32.s32 %r0, %ra, %rb, %rc;", "slct.u64.s32 %d0, %da, %db, %rc;"]
    found += [f"cvt.pack.sat.{kind}.s32 %r0, %ra, %rb;" for kind in ("u16", "s16")]
    found += [f"cvt.pack.sat.{kind}.s32.b32 %r0, %ra, %rb, %rc;" for kind in ("u8", "s8")]
    found += ["mov.b64 %d0, {%ra, %rb};", "mov.b64 {%r1, %r0}, %da;", "mov.b32 {%h1, %h0}, %ra;"]
    found += ["mov.b32 %r0, {%hb, %ha};", "mov.b64 %d0, {%ha, %hb, %hc, %ha};", "mov.b64 {_, %r0}, %da;"]
    found += ["@%pa mov.b32 %ra, 5; mov.b32 %r0, %ra;", "@!%pa add.u32 %ra, %ra, %rb; mov.b32 %r0, %ra;"]
    return found


def float_cases() -> list[str]:
    """Floating point whose result is exact, or nearly so."""
    found = []
    plain = FLOAT_INPUT + FLOAT_INPUT.replace("ra", "rb").replace("fa", "fb")
    plain += FLOAT_INPUT.replace("ra", "rc").replace("fa", "fc")
    for name in ("add.f32", "sub.f32", "mul.f32", "min.f32", "max.f32", "div.rn.f32", "add.rz.f32", "mul.rm.f32"):
        found.append(f"{plain} {name} %f0, %fa, %fb; mov.b32 %r0, %f0;")
        found.append(f"{name} %f0, %fa, %fb; mov.b32 %r0, %f0;")
    found += [f"{plain} fma.{mode}.f32 %f0, %fa, %fb, %fc; mov.b32 %r0, %f0;" for mode in ("rn", "rz", "rm", "rp")]
    found += [f"{plain} {name}.f32 %f0, %fa; mov.b32 %r0, %f0;" for name in ("abs", "neg", "rcp.rn", "rcp.rz")]
    found.append(f"{plain} sqrt.rn.f32 %f0, %fa; mov.b32 %r0, %f0;")
    found += [f"{plain} abs.f32 %fa, %fa; sqrt.{mode}.f32 %f0, %fa; mov.b32 %r0, %f0;" for mode in ("rn", "rz", "rp")]
    found += [f"{plain} add.sat.f32 %f0, %fa, %fb; mov.b32 %r0, %f0;", "copysign.f32 %f0, %fa, %fb; mov.b32 %r0, %f0;"]
    for kind, a in (("f32", "f"), ("f64", "e")):
        for name in ("eq", "ne", "lt", "le", "gt", "ge", "equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan"):
            found.append(f"setp.{name}.{kind} %p0, %{a}a, %{a}b;")
        for name in ("finite", "infinite", "number", "notanumber", "normal", "subnormal"):
            found.append(f"testp.{name}.{kind} %p0, %{a}a;")
    for name in ("add", "sub", "mul", "div.rn", "min", "max"):
        found.append(f"{name}.f64 %e0, %ea, %eb; mov.b64 %d0, %e0;")
    for into in ("u8", "s8", *INTEGERS):
        register = LETTER["16" if into[1:] == "8" else into[1:]]
        for mode in ("rni", "rzi", "rmi", "rpi"):
            found.append(f"cvt.{mode}.{into}.f32 %{register}0, %fa;")
        found.append(f"{plain} cvt.rzi.{into}.f32 %{register}0, %fa;")
        found.append(f"cvt.rzi.{into}.f64 %{register}0, %ea;")
    for source in INTEGERS:
        a = letters(source)
        for mode in ("rn", "rz", "rm", "rp"):
            found.append(f"cvt.{mode}.f32.{source} %f0, %{a}a; mov.b32 %r0, %f0;")
        found.append(f"cvt.rn.f64.{source} %e0, %{a}a; mov.b64 %d0, %e0;")
        found.append(f"cvt.rn.f16.{source} %h0, %{a}a;")
    for mode in ("rn", "rz", "rm", "rp"):
        found.append(f"cvt.{mode}.f32.f64 %f0, %ea; mov.b32 %r0, %f0;")
        found.append(
            f"{plain} cvt.f64.f32 %e1, %fa; mul.f64 %e1, %e1, %e1; cvt.{mode}.f32.f64 %f0, %e1; mov.b32 %r0, %f0;"
        )
    found += [f"{plain} cvt.{mode}.f16.f32 %h0, %fa;" for mode in ("rn", "rz")]
    found += [f"{plain} cvt.rn.bf16.f32 %h0, %fa;", f"{plain} cvt.rna.tf32.f32 %r0, %fa;"]
    found += [f"{plain} cvt.rn.{kind}.f32 %r0, %fa, %fb;" for kind in ("f16x2", "bf16x2")]
    found += ["cvt.f32.f16 %f0, %ha; mov.b32 %r0, %f0;", "cvt.f32.bf16 %f0, %ha; mov.b32 %r0, %f0;"]
    found += [f"{plain} cvt.{mode}.f32.f32 %f0, %fa; mov.b32 %r0, %f0;" for mode in ("rni", "rzi", "rmi", "rpi", "sat")]
    halves = "and.b32 %ra, %ra, 0xBBFFBBFF; and.b32 %rb, %rb, 0xBBFFBBFF; and.b32 %rc, %rc, 0xBBFFBBFF;"
    halves += "cvt.u16.u32 %ha, %ra; cvt.u16.u32 %hb, %rb; cvt.u16.u32 %hc, %rc;"
    for name in ("add", "sub", "mul", "min", "max"):
        found.append(f"{halves} {name}.f16 %h0, %ha, %hb;")
        found.append(f"{halves} {name}.f16x2 %r0, %ra, %rb;")
    found += [f"{halves} fma.rn.f16 %h0, %ha, %hb, %hc;", f"{halves} fma.rn.f16x2 %r0, %ra, %rb, %rc;"]
    found += [f"{halves} fma.rn.bf16x2 %r0, %ra, %rb, %rc;", f"{halves} neg.f16x2 %r0, %ra;"]
    found += [f"{halves} setp.lt.f16x2 %p0|%p1, %ra, %rb;", f"{halves} setp.gt.f16 %p0, %ha, %hb;"]
    found += [f"{plain} {name} %f0, %fa, %fb; mov.b32 %r0, %f0;" for name in ("min.NaN.f32", "max.xorsign.abs.f32")]
    found += ["max.NaN.f32 %f0, %fa, %fb; mov.b32 %r0, %f0;", "copysign.f64 %e0, %ea, %eb; mov.b64 %d0, %e0;"]
    found += [f"{plain} fma.rn.sat.f32 %f0, %fa, %fb, %fc; mov.b32 %r0, %f0;"]
    found += [f"{plain} cvt.rn.relu.f16.f32 %h0, %fa;", f"{plain} cvt.rz.bf16.f32 %h0, %fa;"]
    found += [f"{halves} {name}.bf16x2 %r0, %ra, %rb;" for name in ("add", "sub", "mul")]
    found += [f"{halves} fma.rn.relu.f16 %h0, %ha, %hb, %hc;", f"{halves} abs.bf16 %h0, %ha;"]
    found += [f"{halves} cvt.rni.f16.f16 %h0, %ha;", f"{halves} cvt.rzi.s32.f16 %r0, %ha;"]
    found += ["fma.rn.f64 %e0, %ea, %eb, %ec; mov.b64 %d0, %e0;", "sqrt.rn.f64 %e0, %ea; mov.b64 %d0, %e0;"]
    found += ["rcp.rn.f64 %e0, %ea; mov.b64 %d0, %e0;", "neg.f64 %e0, %ea; mov.b64 %d0, %e0;"]
    found += [f"{halves} set.lt.f16x2.f16x2 %r0, %ra, %rb;", f"{halves} max.bf16x2 %r0, %ra, %rb;"]
    return found


def rough_cases() -> list[str]:
    """Approximate functions: compared to a relative error of 1e-5 and not bit by bit."""
    start = FLOAT_INPUT
    names = ("rcp", "sqrt", "rsqrt", "sin", "cos", "lg2", "ex2", "tanh")
    low = "and.b32 %ra, %ra, 0x3FFFFFFF; mov.b32 %fa, %ra;"
    return [f"{start} {low} {name}.approx.f32 %f0, %fa; mov.b32 %r0, %f0;" for name in names]
