"""Small kernels about memory, lanes that exchange values, and control flow; see `cases`."""

from __future__ import annotations

FILL = "mul.wide.u32 %d3, %r19, 8; cvt.u32.u64 %r3, %d3; mov.u32 %r4, pool; add.u32 %r3, %r3, %r4;"
"""%r3 becomes the address of the lane's 8 bytes of the pool."""


def warp_cases() -> list[str]:
    """Lanes of a warp exchange values."""
    found = []
    for mode, controls in (("up", (0, 0x1000, 0x1800)), ("down", (31, 0x101F, 0x1807)), ("bfly", (31, 0x181F, 7))):
        for control in controls:
            found += [f"shfl.sync.{mode}.b32 %r0, %ra, {amount}, {control}, -1;" for amount in ("1", "5", "%rb")]
            found.append(f"shfl.sync.{mode}.b32 %r1|%p0, %ra, 3, {control}, -1;")
    for control in (31, 0x181F, 0x1807, 0x0F0F):
        found.append(f"shfl.sync.idx.b32 %r0, %ra, %rb, {control}, -1;")
        found.append(f"shfl.sync.idx.b32 %r1|%p0, %ra, %rb, {control}, -1;")
    found.append("shfl.sync.idx.b32 %r0, %ra, 3, %rc, -1;")
    found += ["vote.sync.ballot.b32 %r0, %pa, -1;", "vote.sync.any.pred %p0, %pa, -1;"]
    found += ["vote.sync.all.pred %p0, %pa, -1;", "or.pred %p1, %pa, !%pa; vote.sync.all.pred %p0, %p1, -1;"]
    found += ["vote.sync.uni.pred %p0, %pa, -1;", "and.pred %p1, %pa, !%pa; vote.sync.uni.pred %p0, %p1, -1;"]
    found += [
        "and.b32 %r1, %ra, 3; match.any.sync.b32 %r0, %r1, -1;",
        "and.b64 %d1, %da, 6; match.any.sync.b64 %r0, %d1, -1;",
    ]
    found += ["match.all.sync.b32 %r0|%p1, %ra, -1;", "mov.b32 %r1, 7; match.all.sync.b32 %r0|%p1, %r1, -1;"]
    found += [f"redux.sync.{name}.u32 %r0, %ra, -1;" for name in ("add", "min", "max")]
    found += [f"redux.sync.{name}.s32 %r0, %ra, -1;" for name in ("min", "max")]
    found += [f"redux.sync.{name}.b32 %r0, %ra, -1;" for name in ("and", "or", "xor")]
    found += ["elect.sync %r0|%p1, -1;", "elect.sync _|%p0, -1;", "activemask.b32 %r0;"]
    found += [f"mov.u32 %r0, %lanemask_{name};" for name in ("eq", "lt", "le", "gt", "ge")]
    found += ["mov.u32 %r0, %laneid;", "mov.u32 %r0, %ntid.x;", "mov.u32 %r0, %nctaid.y;", "mov.u32 %r0, %ctaid.z;"]
    half = "and.b32 %r1, %r19, 16; setp.eq.u32 %p1, %r1, 0; selp.b32 %r2, 0xffff, 0xffff0000, %p1; "
    found += [half + "vote.sync.ballot.b32 %r0, %pa, %r2;", half + "redux.sync.add.u32 %r0, %ra, %r2;"]
    found += [half + "vote.sync.any.pred %p0, %pa, %r2;", half + "redux.sync.xor.b32 %r0, %ra, %r2;"]
    found += [half + "and.b32 %r3, %ra, 1; match.any.sync.b32 %r0, %r3, %r2;", half + "elect.sync %r0|%p1, %r2;"]
    found += [half + "shfl.sync.idx.b32 %r0, %ra, 18, 0x100f, %r2;"]
    divided = "setp.lt.u32 %p1, %r19, 40; mov.u32 %r0, 0; @%p1 bra LOW; "
    found += [
        divided + "vote.sync.ballot.b32 %r0, %pa, 0xffffff00; bra.uni DONE; LOW: activemask.b32 %r0; DONE:",
        "and.b32 %r1, %r19, 31; setp.lt.u32 %p1, %r1, 12; mov.u32 %r0, 0; @!%p1 bra OUT; "
        "shfl.sync.bfly.b32 %r0, %ra, 1, 31, 0xfff; OUT:",
        "and.b32 %r1, %r19, 31; setp.lt.u32 %p1, %r1, 12; mov.u32 %r0, 0; @%p1 activemask.b32 %r0;",
        "and.b32 %r1, %r19, 31; setp.lt.u32 %p1, %r1, 12; mov.u32 %r0, 0; @%p1 redux.sync.add.u32 %r0, %ra, 0xfff;",
    ]
    return found


def memory_cases() -> list[str]:
    """Loads and stores, generic ones too, local and constant memory."""
    put = FILL + "st.shared.b64 [%r3], %da; bar.sync 0; xor.b32 %r5, %r3, 40; "
    found = [f"{put} ld.shared.{kind} %r0, [%r5+{at}];" for kind in ("u8", "s8", "u16", "s16") for at in (0, 2)]
    found += [f"{put} ld.shared.{kind} %d0, [%r5+1];" for kind in ("u8", "s8")]
    found += [f"{put} ld.shared.s32 %d0, [%r5+4];", f"{put} ld.shared.b64 %d0, [%r5];"]
    found += [f"{put} ld.shared.v2.u32 {{%r1, %r2}}, [%r5]; mov.b64 %d0, {{%r2, %r1}};"]
    found += [f"{put} ld.shared.v4.u8 {{%h1, %h2, %h3, %h4}}, [%r5]; mov.b64 %d0, {{%h4, %h3, %h2, %h1}};"]
    whole = "and.b32 %r5, %r5, -16; ld.shared.v4.b32 {%r1, %r2, %r6, %r7}, [%r5]; mov.b64 %d0, {%r7, %r2};"
    found += [put + whole, FILL + "st.shared.v2.b32 [%r3], {%rb, %ra}; ld.shared.b64 %d0, [%r3];"]
    parts = "st.shared.u8 [%r3+1], %ra; st.shared.b16 [%r3+4], %hb; ld.shared.b64 %d0, [%r3];"
    found += [f"{FILL} st.shared.b64 [%r3], %dc; {parts}"]
    generic = FILL + "cvt.u64.u32 %d4, %r3; cvta.shared.u64 %d5, %d4; "
    found += [f"{generic} st.b64 [%d5], %db; ld.shared.b64 %d0, [%r3];"]
    found += [f"{generic} st.shared.b64 [%r3], %db; bar.sync 0; ld.u32 %r0, [%d5+4];"]
    found += [f"{generic} isspacep.{space} %p0, %d5;" for space in ("shared", "global", "local")]
    found += [f"isspacep.{space} %p0, %in;" for space in ("shared", "global", "local")]
    found += [f"{generic} cvta.to.shared.u64 %d6, %d5; sub.u64 %d0, %d6, %d4;"]
    found += [f"{generic} selp.b64 %d6, %d5, %in, %pa; st.shared.b64 [%r3], %dc; ld.b64 %d0, [%d6];"]
    found += ["mov.u64 %d3, own; st.local.v2.b64 [%d3], {%da, %db}; ld.local.b64 %d0, [%d3+8];"]
    both = "add.u64 %d0, %d6, %d7;"
    place = "mov.u64 %d3, own; cvta.local.u64 %d4, %d3; and.b64 %d5, %da, 24; add.u64 %d4, %d4, %d5; st.b64 [%d4], %db;"
    found += [f"{place} st.local.b64 [own+32], %dc; ld.local.b64 %d6, [own+32]; ld.b64 %d7, [%d4]; {both}"]
    index = "and.b32 %r1, %ra, 7; shl.b32 %r1, %r1, 2; mov.u32 %r2, table; add.u32 %r1, %r1, %r2;"
    found += [f"{index} ld.const.u32 %r0, [%r1];"]
    found += [
        "and.b64 %d1, %da, 28; mov.u64 %d2, table; cvta.const.u64 %d2, %d2; add.u64 %d1, %d1, %d2;"
        + " ld.u32 %r0, [%d1];"
    ]
    found += ["mov.u64 %d0, own; mov.u64 %d1, own; sub.u64 %d0, %d0, %d1;"]
    found += ["st.global.u32 [%out], %ra; ld.global.u32 %r0, [%out];"]
    return found


CLEAR = f"{FILL} mov.u32 %r6, pool; st.shared.b64 [%r3], 0; bar.sync 0; and.b32 %r7, %rc, 12; add.u32 %r7, %r7, %r6; "
"""The pool holds zeros, and %r7 is the address of one of its first four words."""
ATOMICS = ("add.u32", "min.s32", "max.u32", "and.b32", "or.b32", "xor.b32", "inc.u32", "dec.u32")


def atomic_cases() -> list[str]:
    """Atomics on shared memory whose result does not depend on the order of the lanes."""
    found = [f"{CLEAR} red.shared.{name} [%r7], %ra; bar.sync 0; ld.shared.u32 %r0, [%r7];" for name in ATOMICS]
    found += [f"{CLEAR} atom.shared.add.u32 %r0, [%r3], %ra;"]
    found += [f"{CLEAR} atom.shared.exch.b32 %r1, [%r3], %ra; ld.shared.u32 %r0, [%r3];"]
    swap = "atom.shared.cas.b32 %r1, [%r3], 0, %ra; ld.shared.u32 %r0, [%r3];"
    found += [f"{CLEAR} setp.eq.u32 %p1, %r19, 5; @%p1 st.shared.u32 [%r6], 9; bar.sync 0; {swap}"]
    found += [f"{CLEAR} red.shared.add.u64 [%r6], %da; bar.sync 0; ld.shared.b64 %d0, [%r6];"]
    number = "cvt.rn.f32.s32 %f1, %r19; red.shared.add.f32 [%r6], %f1;"
    found += [f"{CLEAR} {number} bar.sync 0; ld.shared.u32 %r0, [%r6];"]
    generic = "cvt.u64.u32 %d4, %r7; cvta.shared.u64 %d4, %d4; red.add.u32 [%d4], %ra;"
    found += [f"{CLEAR} {generic} bar.sync 0; ld.shared.u32 %r0, [%r7];"]
    return found


def matrix_cases() -> list[str]:
    """ldmatrix and stmatrix, and the small copies."""
    rows = FILL + (
        "mov.u32 %r6, pool; mad.lo.u32 %r4, %r19, 24, %r6; st.shared.b64 [%r4], %da; st.shared.b64 [%r4+8], %db; "
        "st.shared.b64 [%r4+16], %dc; bar.sync 0; mul.lo.u32 %r5, %r19, 16; add.u32 %r5, %r5, %r6; "
    )
    four = "xor.b32 %r1, %r1, %r2; mov.b64 %d0, {%r7, %r8}; cvt.u64.u32 %d1, %r1; add.u64 %d0, %d0, %d1;"
    back = "bar.sync 0; ld.shared.b64 %d0, [%r5]; ld.shared.b64 %d1, [%r5+8]; mad.lo.u64 %d0, %d1, 3, %d0;"
    found = []
    for trans in ("", ".trans"):
        load = f"{rows} ldmatrix.sync.aligned.m8n8"
        found += [f"{load}.x1{trans}.shared.b16 {{%r0}}, [%r5];"]
        found += [f"{load}.x2{trans}.shared.b16 {{%r1, %r2}}, [%r5]; mov.b64 %d0, {{%r1, %r2}};"]
        found += [f"{load}.x4{trans}.shared.b16 {{%r1, %r2, %r7, %r8}}, [%r5]; {four}"]
        store = f"stmatrix.sync.aligned.m8n8.x4{trans}.shared.b16 [%r5], {{%ra, %rb, %rc, %r19}};"
        found += [f"{rows} {store} {back}"]
    wait = "cp.async.wait_all; bar.sync 0; ld.shared.b64 %d0, [%r3];"
    for form, size in (("ca", 4), ("ca", 8), ("ca", 16), ("cg", 16)):
        step = f"{CLEAR} mad.lo.u32 %r4, %r19, {size}, %r6; and.b64 %d4, %in, -16;"
        copy = f"cp.async.{form}.shared.global [%r4], [%d4], {size}"
        found += [f"{step} {copy}; {wait}", f"{step} and.b32 %r5, %ra, {size - 1}; {copy}, %r5; {wait}"]
    return found


LANE = "and.b32 %r1, %r19, 31; "
WITH_MASK = "activemask.b32 %r2; mov.b64 %d0, {%r0, %r2};"


def flow_cases() -> list[str]:
    """Branches, loops and tables; most record which lanes are together."""
    nested = (
        "mov.u32 %r0, 0; setp.lt.u32 %p1, %r1, 10; @%p1 bra A; add.u32 %r0, %r0, 1; setp.gt.u32 %p2, %r1, 20; "
        "@%p2 bra B; add.u32 %r0, %r0, 10; bra.uni C; B: add.u32 %r0, %r0, 100; "
        "C: bra.uni D; A: mul.lo.u32 %r0, %r1, 7; D:"
    )
    ragged = (
        "mov.u32 %r0, 0; mov.u32 %r2, 0; LOOP: setp.ge.u32 %p1, %r2, %r1; @%p1 bra END; activemask.b32 %r3; "
        "mad.lo.u32 %r0, %r0, 3, %r3; add.u32 %r2, %r2, 1; bra.uni LOOP; END: add.u32 %r0, %r0, %r2;"
    )
    inside = (
        "mov.u32 %r0, 0; mov.u32 %r2, 0; LOOP: add.u32 %r2, %r2, 1; and.b32 %r3, %ra, %r2; setp.eq.u32 %p2, %r3, 0; "
        "@%p2 bra NEXT; mad.lo.u32 %r0, %r0, 5, %r2; NEXT: activemask.b32 %r4; xor.b32 %r0, %r0, %r4; "
        "setp.lt.u32 %p1, %r2, 9; @%p1 bra LOOP;"
    )
    leaving = (
        "mov.u32 %r0, 0; mov.u32 %r2, 0; LOOP: add.u32 %r2, %r2, 1; setp.lt.u32 %p2, %r1, 16; @%p2 bra NEXT; "
        "setp.eq.u32 %p3, %r2, %r1; @%p3 bra OUT; add.u32 %r0, %r0, 16; NEXT: activemask.b32 %r4; "
        "xor.b32 %r0, %r0, %r4; setp.lt.u32 %p1, %r2, 20; @%p1 bra LOOP; OUT:"
    )
    table = (
        "and.b32 %r1, %ra, 3; TABLE: .branchtargets L0, L1, L2, L3; brx.idx %r1, TABLE; "
        "L0: add.u32 %r0, %ra, 1; bra.uni E; L1: mul.lo.u32 %r0, %ra, 3; bra.uni E; "
        "L2: not.b32 %r0, %ra; bra.uni E; L3: mov.u32 %r0, 77; E:"
    )
    early = (
        "mov.u32 %r0, 5; setp.lt.u32 %p1, %r1, 9; @%p1 bra A; setp.lt.u32 %p2, %r1, 13; mov.u64 %d0, 99; "
        "@%p2 st.global.b64 [%out], %d0; @%p2 exit; add.u32 %r0, %r0, 1; A:"
    )
    found = [f"{LANE} {nested} {WITH_MASK}", LANE + ragged, LANE + inside, f"{LANE} {leaving} {WITH_MASK}"]
    return [*found, f"{table} {WITH_MASK}", f"{LANE} {early} {WITH_MASK}"]


def call_cases() -> list[str]:
    """Calls: plain, guarded, and deep ones that lanes leave at different depths."""
    ask = "{ .param .b32 x; .param .b32 y; st.param.b32 [x], %ra;"
    deep = "{ .param .b32 x; .param .b32 z; .param .b32 y; st.param.b32 [x], %ra; st.param.b32 [z], 0;"
    return [
        f"{ask} call.uni (y), twice, (x); ld.param.b32 %r0, [y]; }}",
        f"mov.u32 %r0, 3; {ask} @%pa call (y), twice, (x); @!%pa bra N; ld.param.b32 %r0, [y]; N: }} {WITH_MASK}",
        f"{deep} call (y), collatz, (x, z); ld.param.b32 %r0, [y]; }}",
    ]


def waiting_cases() -> list[str]:
    """Lanes and warps that wait for each other: barriers, a lock, an mbarrier."""
    lock = (
        "mov.u32 %r2, pool; setp.eq.u32 %p1, %r19, 0; @%p1 st.shared.u32 [%r2], 0; @%p1 st.shared.u32 [%r2+4], 0; "
        "bar.sync 0; LOCK: atom.shared.cas.b32 %r3, [%r2], 0, 1; setp.ne.u32 %p2, %r3, 0; @%p2 bra LOCK; "
        "ld.volatile.shared.u32 %r4, [%r2+4]; add.u32 %r4, %r4, %r1; st.volatile.shared.u32 [%r2+4], %r4; membar.cta; "
        "atom.shared.exch.b32 %r3, [%r2], 0; bar.sync 0; ld.shared.u32 %r0, [%r2+4];"
    )
    halves = (
        "setp.lt.u32 %p1, %r19, 32; @!%p1 bra WAIT; bar.arrive 1, 64; mov.u32 %r0, 1; bra.uni E; WAIT: bar.sync 1, 64; "
        "mov.u32 %r0, 2; E: bar.sync 0;"
    )
    phases = (
        "mov.u32 %r2, pool; setp.eq.u32 %p1, %r19, 0; @%p1 mbarrier.init.shared.b64 [%r2], 64; bar.sync 0; "
        "mbarrier.arrive.shared.b64 %d1, [%r2]; W: mbarrier.try_wait.shared.b64 %p2, [%r2], %d1; @!%p2 bra W; "
        "V: mbarrier.try_wait.parity.shared.b64 %p2, [%r2], 0; @!%p2 bra V; "
        "mbarrier.test_wait.parity.shared.b64 %p0, [%r2], 1;"
    )
    ask = ["bar.red.popc.u32 %r0, 0, %pa;", "bar.red.and.pred %p0, 0, %pa;", "bar.red.or.pred %p0, 0, 64, !%pa;"]
    return [*ask, LANE + lock, halves, phases]


def lane_cases() -> list[str]:
    """All of these."""
    parts = (warp_cases, memory_cases, atomic_cases, matrix_cases, flow_cases, call_cases, waiting_cases)
    return [case for part in parts for case in part()]
