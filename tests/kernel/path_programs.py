"""Random kernels whose accesses stand behind several paths.

They have disjunctions, early returns, jumps into shared tails, `switch`, loops that are left in
their middle, and guards on values that are not computed. Their conditions read the thread, the
block, and one parameter against small numbers or the thread: some launches show all that they do.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field

NUMBERS = (*range(9), 17, 64, 1000)
"""Values of the parameter that bring about nearly every case."""
MORE_NUMBERS = (*range(1001, 1008), *range(9, 80))
"""Values of the parameter to try where a case was not seen."""
GRID = 3
SHAPE = (64, 1, 1)
HEAD = """.version 8.3
.target sm_90
.address_size 64
.shared .align 128 .b8 pool[32768];
.visible .entry k(.param .u32 n, .param .u64 source)
{
.reg .pred %p<2000>;
.reg .b32 %r<9999>;
.reg .b64 %d<99>;
.reg .f32 %f<99>;
ld.param.u32 %r2, [n];
ld.param.u64 %d1, [source];
cvta.to.global.u64 %d2, %d1;
mov.u32 %r0, %tid.x;
mov.u32 %r1, %ctaid.x;
and.b32 %r3, %r0, 7;
shr.u32 %r4, %r0, 3;
and.b32 %r5, %r0, 31;
and.b32 %r6, %r2, 15;
mul.wide.u32 %d3, %r0, 16;
add.u64 %d4, %d2, %d3;
mov.u32 %r9, pool;
cvt.rn.f32.u32 %f1, %r0;
"""
OWN = ("%r0", "%r3", "%r3", "%r4", "%r5")
"""The thread's number, its column and row in rows of eight, its lane."""
SHARED = ("%r2", "%r2", "%r1")
"""The parameter and the block."""


@dataclass
class Writer:
    """Writes one kernel."""

    source: random.Random
    lines: list[str] = field(default_factory=list)
    used: int = 100
    labels: int = 0
    loops: list[str] = field(default_factory=list)
    tails: list[str] = field(default_factory=list)

    def put(self, text: str) -> None:
        self.lines.append(text)

    def fresh(self) -> str:
        self.used += 1
        return f"%r{self.used}"

    def predicate(self) -> str:
        self.used += 1
        return f"%p{self.used}"

    def label(self) -> str:
        self.labels += 1
        return f"L{self.labels}"

    def condition(self) -> str:
        """A predicate; sometimes its opposite."""
        name, draw = self.predicate(), self.source.random()
        relation = self.source.choice(("eq.u32", "ne.u32", "lt.u32", "ge.u32"))
        number = self.source.randrange(9)
        if draw < 0.4:
            shared = self.source.choice(SHARED)
            self.put(f"setp.{relation} {name}, {shared}, {number % GRID if shared == '%r1' else number};")
        elif draw < 0.75:
            self.put(f"setp.{relation} {name}, {self.source.choice(OWN)}, {number};")
        elif draw < 0.85:
            self.put(f"setp.{relation} {name}, {self.source.choice(OWN)}, %r2;")
        else:
            self.opaque(name, number)
        return f"{self.source.choice(('', '!'))}{name}"

    def opaque(self, name: str, number: int) -> None:
        """A condition on a value that is not computed."""
        value = self.fresh()
        match self.source.randrange(4):
            case 0:
                self.put(f"elect.sync {value}|{name}, -1;")
            case 1:
                self.put(f"atom.global.add.u32 {value}, [%d2], 1;")
                self.put(f"setp.eq.u32 {name}, {value}, {number};")
            case 2:
                self.put(f"setp.lt.f32 {name}, %f1, 0f{0x3F800000 + (number << 22):08X};")
            case _:
                self.put(f"atom.shared.exch.b32 {value}, [%r9+32000], 1;")
                self.put(f"setp.eq.u32 {name}, {value}, 0;")

    def access(self) -> None:
        """An access whose lanes lie apart by a number."""
        guard = f"@{self.condition()} " if self.source.random() < 0.25 else ""
        place, draw = self.fresh(), self.source.random()
        begin = 128 * self.source.randrange(8)
        if draw < 0.35:
            pitch, mask = self.source.choice((128, 128, 144, 256)), self.source.choice((0, 3, 7))
            chunk = self.fresh()
            self.put(f"and.b32 {chunk}, %r4, {mask};")
            self.put(f"xor.b32 {chunk}, {chunk}, %r3;")
            self.put(f"shl.b32 {chunk}, {chunk}, 4;")
            self.put(f"mad.lo.u32 {place}, %r4, {pitch}, {chunk};")
            self.put(f"add.u32 {place}, {place}, %r9;")
            self.put(f"{guard}cp.async.cg.shared.global [{place}+{begin}], [%d4], 16;")
            return
        stride = self.source.choice((4, 4, 8, 12, 64, 128))
        if draw < 0.45:
            self.atomic(guard, place, begin)
            return
        if self.source.random() < 0.15:
            # The block's place counts: each block of the launch has a stride of its own.
            self.put(f"mad.lo.u32 {place}, %r1, {stride}, {stride};")
            self.put(f"mad.lo.u32 {place}, %r0, {place}, %r9;")
        else:
            self.put(f"mad.lo.u32 {place}, %r0, {stride}, %r9;")
        if draw < 0.8:
            self.put(f"{guard}st.shared.u32 [{place}+{begin}], %r0;")
        else:
            self.put(f"{guard}ld.shared.u16 %r{self.used + 500}, [{place}+{begin + self.source.choice((0, 2))}];")

    def atomic(self, guard: str, place: str, begin: int) -> None:
        """An atomic on a word of each lane, of some lanes, or of all."""
        shift, scale = self.source.choice((0, 0, 0, 1, 2, 5)), self.source.choice((4, 4, 8))
        self.put(f"shr.u32 {place}, %r0, {shift};")
        self.put(f"mad.lo.u32 {place}, {place}, {scale}, %r9;")
        operation = self.source.choice(("add.u32", "add.u32", "add.s32", "min.u32", "max.s32", "or.b32", "exch.b32"))
        value = self.source.choice(("1", "1", "-1", "0x1", "2", "%r0"))
        if self.source.random() < 0.5 and operation != "exch.b32":
            self.put(f"{guard}red.shared.{operation} [{place}+{begin}], {value};")
            return
        result = self.fresh()
        self.put(f"{guard}atom.shared.{operation} {result}, [{place}+{begin}], {value};")
        if self.source.random() < 0.5:
            self.put(f"st.global.u32 [%d4], {result};")

    def disjunction(self, depth: int) -> None:
        """`if (p || q) body`, or with a third condition."""
        then, end = self.label(), self.label()
        for _ in range(self.source.choice((1, 1, 2))):
            self.put(f"@{self.condition()} bra {then};")
        self.put(f"@{self.condition()} bra {end};")
        self.put(f"{then}:")
        self.body(depth - 1)
        self.put(f"{end}:")

    def returns(self) -> None:
        """`if (p) { if (q) return; } else { if (r) return; }`."""
        over, end = self.label(), self.label()
        leave = self.source.choice(("ret", "exit"))
        self.put(f"@{self.condition()} bra {over};")
        self.put(f"@{self.condition()} {leave};")
        self.put(f"bra {end};")
        self.put(f"{over}:")
        if self.source.random() < 0.7:
            self.put(f"@{self.condition()} {leave};")
        self.put(f"{end}:")

    def branch(self, depth: int) -> None:
        over, end = self.label(), self.label()
        self.put(f"@{self.condition()} bra {over};")
        self.body(depth - 1)
        if self.source.random() < 0.5:
            self.put(f"bra {end};")
        self.put(f"{over}:")
        if self.source.random() < 0.5:
            self.body(depth - 1)
        self.put(f"{end}:")

    def switch(self, depth: int) -> None:
        """Three arms, some of which fall through to the next one or return."""
        names, targets, end, index = [self.label() for _ in range(3)], self.label(), self.label(), self.fresh()
        self.put(f"and.b32 {index}, {self.source.choice((*OWN, *SHARED))}, 3;")
        self.put(f"{targets}: .branchtargets {names[0]}, {names[1]}, {names[2]}, {names[1]};")
        self.put(f"brx.idx {index}, {targets};")
        for name in names:
            self.put(f"{name}:")
            if self.source.random() < 0.7:
                self.body(depth - 1)
            draw = self.source.random()
            if draw < 0.15:
                self.put("ret;")
            elif draw < 0.7:
                self.put(f"bra {end};")
        self.put(f"{end}:")

    def tail(self, depth: int) -> None:
        """Code that jumps from two places lead to, past other code."""
        name = self.label()
        self.put(f"@{self.condition()} bra {name};")
        self.body(depth - 1)
        if self.source.random() < 0.7:
            self.put(f"@{self.condition()} bra {name};")
            self.body(depth - 1)
        if self.source.random() < 0.3:
            self.put("ret;")
        self.put(f"{name}:")
        self.access()

    def loop(self, depth: int) -> None:
        """A loop with a counter or a register that doubles; it may be left before its last trip."""
        count, head, end, test = self.fresh(), self.label(), self.label(), self.predicate()
        doubles = self.source.random() < 0.4
        limit = self.source.choice(("2", "3", "4", "6", "%r2" if doubles else "%r6", "%r3"))
        self.put(f"mov.u32 {count}, {int(doubles)};")
        self.put(f"{head}:")
        if self.source.random() < 0.6:
            place = self.fresh()
            factor = self.source.choice((4, 4, 8))
            self.put(f"mul.lo.u32 {place}, %r0, {count};")
            self.put(f"and.b32 {place}, {place}, 4095;")
            if self.source.random() < 0.3:
                self.put(f"add.u32 {place}, {place}, {count};")
                self.put(f"add.u32 {place}, {place}, %r9;")
                self.put(f"st.shared.u8 [{place}], %r0;")
            else:
                self.put(f"mad.lo.u32 {place}, {place}, {factor}, %r9;")
                self.put(f"st.shared.u32 [{place}], %r0;")
        if self.source.random() < 0.5:
            self.put(f"@{self.condition()} bra {end};")
        self.loops.append(end)
        inner = self.predicate()
        if self.source.random() < 0.4:
            over = self.label()
            relation = self.source.choice(("ne", "lt", "gt"))
            self.put(f"setp.{relation}.u32 {inner}, {count}, {self.source.randrange(6)};")
            self.put(f"@{inner} bra {over};")
            self.body(depth - 1)
            self.put(f"{over}:")
        else:
            self.body(depth - 1)
        self.loops.pop()
        self.put(f"add.u32 {count}, {count}, {count if doubles else 1};")
        self.put(f"setp.lt.u32 {test}, {count}, {limit};")
        self.put(f"@{test} bra {head};")
        self.put(f"{end}:")

    def body(self, depth: int) -> None:
        for _ in range(self.source.randint(1, 2)):
            draw = self.source.random()
            if depth <= 0 or draw < 0.35:
                self.access()
            elif draw < 0.5:
                self.disjunction(depth)
            elif draw < 0.6:
                self.returns()
            elif draw < 0.7:
                self.branch(depth)
            elif draw < 0.78:
                self.switch(depth)
            elif draw < 0.86:
                self.tail(depth)
            elif draw < 0.9 and self.loops:
                self.put(f"@{self.condition()} bra {self.source.choice(self.loops)};")
            else:
                self.loop(depth)


def program(seed: int, depth: int = 2) -> str:
    """A random kernel `k` of a parameter `n` and a buffer."""
    writer = Writer(random.Random(seed))
    writer.body(depth)
    writer.body(depth)
    writer.access()
    return HEAD + "\n".join(writer.lines) + "\nret;\n}\n"
