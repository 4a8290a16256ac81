"""Random kernels with one access that may be misaligned or leave its array, for the interpreter."""

from __future__ import annotations

import random
from dataclasses import dataclass

from tests.kernel.texts import TOP
from tests.ptx_oracle.spaces import SHARED_BASE

ACCESSES = {
    1: "ld.shared.u8 %h1, [%r20{0}];",
    2: "st.shared.u16 [%r20{0}], %h1;",
    4: "ld.shared.u32 %r30, [%r20{0}];",
    8: "st.shared.v2.u32 [%r20{0}], {{%r30,%r31}};",
    16: "ld.shared.v4.u32 {{%r30,%r31,%r32,%r33}}, [%r20{0}];",
}
STEPS = (1, 2, 4, 4, 8, 12, 16, 16, 32)


@dataclass(frozen=True)
class Drawn:
    """A kernel with its array: the bytes before it, its size and what PTX says of its begin."""

    text: str
    width: int
    size: int
    align: int
    before: int

    @property
    def begin(self) -> int:
        """Where the interpreter puts the array."""
        return -(-(SHARED_BASE + self.before) // self.align) * self.align


def drawn(seed: int) -> Drawn:
    """A kernel of two blocks of threads with a parameter n, behind some bytes of another array."""
    source = random.Random(seed)
    width = source.choice((1, 2, 4, 4, 8, 16))
    align = source.choice((1, 2, 4, 8, 16, 16))
    size = source.choice((64, 128, 200, 256, 512, 1000, 1024, 2048, 4096))
    before = source.choice((0, 1, 4, 8, 12, 16, 20, 24, 36))
    lines = ["mov.u32 %r4, %tid.y; mov.u32 %r7, %ctaid.x; mov.u32 %r8, pad; mov.u32 %r5, 0;"]
    lines.append("ld.param.u64 %d1, [q]; ld.global.u32 %r10, [%d1]; mov.u32 %r20, s;")
    in_loop = source.random() < 0.5
    lines += [_term(source, "%r1", source.choice(STEPS)) for _ in range(source.randint(1, 3))]
    others = [("%r4", 0.4), ("%r2", 0.2), ("%r7", 0.2), ("%r10", 0.2)]
    lines += [_term(source, each, source.choice(STEPS)) for each, share in others if source.random() < share]
    if source.random() < 0.2:
        lines.append(f"xor.b32 %r20, %r20, {source.choice((1, 4, 16, 32))};")
    guard = _guard(source)
    at = source.choice(("", "", "+4", "+16", "+-4", "+1", "+128"))
    access = ACCESSES[width].format(at)
    if in_loop:
        step = source.choice((4, 16, 64, 128, 256))
        body = f"add.u32 %r20, %r20, {step}; add.u32 %r5, %r5, {source.choice((1, 1, 2, 5))};"
        end = source.choice(("2", "5", "9", "%r2", "%r1"))
        relation = source.choice(("lt.u32", "lt.s32", "ne.u32"))
        leave = f"setp.{relation} %p1, %r5, {end}; @%p1 bra TOP;"
        if source.random() < 0.5:
            head = f"setp.ge.u32 %p1, %r5, {end}; @%p1 bra END;"
            lines += ["TOP:", head, guard, access, "OUT:", body, "bra TOP; END:"]
        else:
            cap = "setp.gt.u32 %p2, %r5, 12; @%p2 bra END;" if source.random() < 0.4 or relation == "ne.u32" else ""
            lines += ["TOP:", guard, access, "OUT:", body, cap, leave, "END:"]
    else:
        lines += [guard, access, "OUT:"]
    head = f".shared .align 1 .b8 pad[{max(1, before)}];\n.shared .align {align} .b8 s[{size}];\n"
    kernel = (
        ".entry k(.param .u32 n, .param .u64 q) { .reg .pred %p<20>; .reg .b16 %h<9>; .reg .b32 %r<60>;"
        " .reg .b64 %d<20>; mov.u32 %r1, %tid.x; ld.param.u32 %r2, [n];\n"
    )
    return Drawn(TOP + head + kernel + "\n".join(lines) + "\nret; }", width, size, align, max(1, before))


def _term(source: random.Random, register: str, factor: int) -> str:
    kind = source.random()
    value = "%r21"
    if kind < 0.25:
        make = f"and.b32 %r21, {register}, {source.choice((1, 3, 7, 15, 31))};"
    elif kind < 0.4:
        make = f"shr.u32 %r21, {register}, {source.choice((1, 2, 5))};"
    elif kind < 0.5:
        make = f"min.{source.choice('us')}32 %r21, {register}, {source.choice((3, 10, 40))};"
    elif kind < 0.55:
        make = f"sub.u32 %r21, 7, {register};"
    else:
        make, value = "", register
    return f"{make} mad.lo.u32 %r20, {value}, {factor}, %r20;"


def _guard(source: random.Random) -> str:
    kind = source.random()
    if kind < 0.4:
        return ""
    left = source.choice(("%r1", "%r1", "%r4", "%r2", "%r10"))
    right = source.choice(("5", "16", "40", "%r2", "%r1"))
    relation = source.choice(("lt.u32", "lt.s32", "ge.u32", "ge.s32", "eq.u32"))
    test = f"setp.{relation} %p3, {left}, {right};"
    if kind < 0.55:
        other = f"setp.eq.u32 %p4, %r1, {source.choice((0, 3, 33))}; @%p4 bra IN;"
        return f"{other} {test} @!%p3 bra OUT; IN:"
    return f"{test} @!%p3 bra OUT;"
