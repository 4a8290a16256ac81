"""Random kernels in PTX: straight lines, branches, loops, jumps, tables, calls, and shared
accesses.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field

REGISTERS = 7
WORDS = 8192
HEAD = """.version 8.3
.target sm_90
.address_size 64
.shared .align 16 .b8 pool[32768];
"""
KERNEL = """.visible .entry k(.param .u32 n, .param .u64 wide)
{
.reg .pred %p<999>;
.reg .b32 %r<9999>;
.reg .b64 %d<9999>;
ld.param.u32 %r2, [n];
ld.param.u64 %d0, [wide];
mov.u32 %r0, %tid.x;
mov.u32 %r1, %tid.y;
mov.u32 %r3, %ctaid.x;
mov.u32 %r4, %laneid;
mul.lo.u32 %r4, %r4, 0x9E3779B1;
mov.u32 %r5, -77;
mov.u32 %r6, %ntid.x;
mov.u32 %r99, pool;
"""
FUNCTION = """.func (.param .b32 result) {name}(.param .b32 one, .param .b64 two, .param .b8 three, .param .b32 place)
{{
.reg .pred %p<999>;
.reg .b32 %r<9999>;
.reg .b64 %d<9999>;
ld.param.b32 %r0, [one];
ld.param.b64 %d0, [two];
ld.param.{narrow} %r1, [three];
ld.param.b32 %r99, [place];
cvt.u32.u64 %r2, %d0;
mov.u32 %r3, %tid.x;
mov.u32 %r4, %r0;
mov.u32 %r5, %laneid;
mov.u32 %r6, 3;
st.param.b32 [result], %r1;
{body}
st.param.b32 [result], {value};
ret;
}}
"""
CALL = """{{
.param .b32 a; .param .b64 b; .param .b8 c; .param .b32 d; .param .b32 e;
st.param.b32 [a], {one};
st.param.b64 [b], {two};
st.param.b8 [c], {three};
st.param.b32 [d], %r99;
{guard}call (e), {name}, (a, b, c, d);
{guard}ld.param.b32 {into}, [e];
}}"""
MOST_CALLS = 4
BINARY = [
    "add.s32",
    "sub.s32",
    "mul.lo.s32",
    "xor.b32",
    "and.b32",
    "or.b32",
    "min.s32",
    "min.u32",
    "max.s32",
    "max.u32",
    "mul.hi.u32",
    "mul.hi.s32",
]


@dataclass
class Writer:
    """Writes one random kernel; `share` is how often a register is a uniform one at first."""

    source: random.Random
    lines: list[str] = field(default_factory=list)
    used: int = 100
    labels: int = 0
    loops: list[tuple[str, str]] = field(default_factory=list)
    functions: list[str] = field(default_factory=list)
    deep: int = 0

    def put(self, text: str) -> None:
        self.lines.append(text)

    def fresh(self) -> str:
        self.used += 1
        return f"%r{self.used}"

    def wide(self) -> str:
        self.used += 1
        return f"%d{self.used}"

    def label(self) -> str:
        self.labels += 1
        return f"L{self.labels}"

    def any(self) -> str:
        return f"%r{self.source.randrange(REGISTERS)}"

    def value(self) -> str:
        if self.source.random() < 0.3:
            return str(self.source.choice((0, 1, 2, 3, 4, 5, 8, 31, 32, 33, 64, 128, 255, 0x7FFFFFFF, -1, -3)))
        return self.any()

    def predicate(self) -> str:
        """A condition, rather often one that all lanes of a warp may share."""
        self.used += 1
        name = f"%p{self.used % 900}"
        left = self.any()
        if self.source.random() < 0.5:
            part = self.fresh()
            self.put(f"bfe.u32 {part}, {left}, {self.source.randrange(5)}, {self.source.randrange(1, 3)};")
            left = part
        relation = self.source.choice(("eq.s32", "ne.s32", "lt.s32", "ge.s32", "lt.u32", "gt.u32", "le.u32"))
        self.put(f"setp.{relation} {name}, {left}, {self.source.choice((self.any(), '1', '2', '3', '16'))};")
        return f"{self.source.choice(('', '!'))}{name}"

    def operation(self) -> None:
        kind, into = self.source.random(), self.any()
        if kind < 0.4:
            self.put(f"{self.source.choice(BINARY)} {into}, {self.any()}, {self.value()};")
        elif kind < 0.5:
            guard = self.predicate()
            self.put(f"@{guard} {self.source.choice(BINARY)} {into}, {self.any()}, {self.value()};")
        elif kind < 0.58:
            shift = self.source.choice(("shl.b32", "shr.u32", "shr.s32"))
            self.put(f"{shift} {into}, {self.any()}, {self.source.choice((1, 2, 3, 5, 31, 32, 40, self.any()))};")
        elif kind < 0.66:
            low, high = self.wide(), self.wide()
            self.put(f"mul.wide.{self.source.choice('us')}32 {low}, {self.any()}, {self.value()};")
            self.put(f"add.s64 {high}, {low}, {self.source.choice((low, '%d0', '-4', '4294967296'))};")
            self.put(f"shr.{self.source.choice('us')}64 {high}, {high}, {self.source.choice((0, 1, 16, 32))};")
            self.put(f"cvt.u32.u64 {into}, {high};")
        elif kind < 0.74:
            signed, narrow = self.source.choice("us"), self.source.choice((8, 16))
            self.put(f"cvt.{signed}32.{signed}{narrow} {into}, {self.any()};")
        elif kind < 0.82:
            guard = self.predicate().lstrip("!")
            self.put(f"selp.b32 {into}, {self.any()}, {self.value()}, {guard};")
        elif kind < 0.9:
            self.put(f"mad.lo.s32 {into}, {self.any()}, {self.value()}, {self.any()};")
        elif kind < 0.95:
            other, spare = self.any(), self.fresh()
            self.put(f"mov.u32 {spare}, {into};")
            self.put(f"mov.u32 {into}, {other};")
            self.put(f"mov.u32 {other}, {spare};")
        else:
            self.put(f"mov.u32 {into}, {self.source.choice(('%tid.x', '%tid.y', '%ctaid.x', '7', '%laneid'))};")

    def place(self, register: str, scale: int = 4) -> str:
        """An address in the pool to which all bits of a register count."""
        offset, part = self.fresh(), self.fresh()
        self.put(f"shr.u32 {part}, {register}, 13;")
        self.put(f"xor.b32 {offset}, {register}, {part};")
        self.put(f"shr.u32 {part}, {part}, 13;")
        self.put(f"xor.b32 {offset}, {offset}, {part};")
        self.put(f"and.b32 {offset}, {offset}, {WORDS - 1};")
        self.put(f"mad.lo.s32 {offset}, {offset}, {scale}, %r99;")
        return offset

    def access(self) -> None:
        kind = self.source.random()
        place = self.place(self.any())
        guard = f"@{self.predicate()} " if self.source.random() < 0.2 else ""
        if kind < 0.5:
            self.put(f"{guard}st.shared.u32 [{place}], {self.any()};")
        elif kind < 0.8:
            self.put(f"{guard}ld.shared.u32 {self.fresh()}, [{place}];")
        elif kind < 0.9:
            generic, wide = self.wide(), self.wide()
            self.put(f"cvt.u64.u32 {wide}, {place};")
            self.put(f"cvta.shared.u64 {generic}, {wide};")
            self.put(f"{guard}st.u32 [{generic}], {self.any()};")
        else:
            self.put(f"{guard}ld.shared.u32 {self.any()}, [{place}];")

    def moment(self) -> None:
        """A value that all lanes share which make it together, and that changes with time."""
        place = self.fresh()
        if self.source.random() < 0.35:
            self.put(f"activemask.b32 {self.any()};")
            return
        self.put(f"add.u32 {place}, %r99, {4 * self.source.randrange(4)};")
        self.put(f"ld.shared.u32 {self.any()}, [{place}];")
        self.put(f"st.shared.u32 [%r99+{4 * self.source.randrange(4)}], {self.any()};")

    def branch(self, depth: int) -> None:
        over, end = self.label(), self.label()
        self.put(f"@{self.predicate()} bra {over};")
        self.body(depth - 1)
        if self.source.random() < 0.5:
            self.put(f"bra {end};")
            self.put(f"{over}:")
            self.body(depth - 1)
            self.put(f"{end}:")
        else:
            self.put(f"{over}:")

    def table(self, depth: int) -> None:
        names = [self.label() for _ in range(3)]
        targets, end, index = self.label(), self.label(), self.fresh()
        self.put(f"and.b32 {index}, {self.any()}, 3;")
        self.put(f"{targets}: .branchtargets {names[0]}, {names[1]}, {names[2]}, {names[1]};")
        self.put(f"brx.idx {index}, {targets};")
        for name in names:
            self.put(f"{name}:")
            self.body(depth - 1)
            if self.source.random() < 0.7:
                self.put(f"bra {end};")
        self.put(f"{end}:")

    def loop(self, depth: int) -> None:
        """A loop of up to 4 trips, tested at its begin or at its end."""
        count, limit, head, end, again = self.fresh(), self.fresh(), self.label(), self.label(), self.label()
        is_first = self.source.random() < 0.5
        self.put(f"mov.u32 {count}, 0;")
        bound = self.source.choice((self.any(), "%r2", "%r3", "%r5"))
        self.put(f"and.b32 {limit}, {bound}, 3;")
        self.used += 1
        test = f"%p{self.used % 900}"
        self.put(f"{head}:")
        if is_first:
            again = head
            self.put(f"setp.ge.u32 {test}, {count}, {limit};")
            self.put(f"@{test} bra {end};")
            self.put(f"add.u32 {count}, {count}, 1;")
        stepped = self.any()
        if self.source.random() < 0.6:
            self.put(f"{self.source.choice(('add.s32', 'sub.s32', 'xor.b32'))} {stepped}, {stepped}, {self.value()};")
        self.loops.append((again, end))
        self.body(depth - 1)
        self.loops.pop()
        if is_first:
            self.put(f"bra {head};")
        else:
            self.put(f"{again}:")
            self.put(f"add.u32 {count}, {count}, 1;")
            self.put(f"setp.lt.u32 {test}, {count}, {limit};")
            self.put(f"@{test} bra {head};")
        self.put(f"{end}:")

    def call(self, depth: int) -> None:
        """A call of a function of its own, or of one that was written before."""
        if len(self.functions) >= MOST_CALLS or self.deep > 1:
            return self.operation()
        inner = Writer(self.source, functions=self.functions, deep=self.deep + 1)
        inner.access()
        inner.body(min(depth, 2) - 1)
        name = f"f{len(self.functions)}"
        narrow = self.source.choice(("u8", "s8"))
        body = "\n".join(inner.lines)
        self.functions.append(FUNCTION.format(name=name, narrow=narrow, body=body, value=inner.any()))
        for _ in range(self.source.choice((1, 1, 2))):
            guard = f"@{self.predicate()} " if self.source.random() < 0.3 else ""
            wide = self.wide()
            self.put(f"cvt.s64.s32 {wide}, {self.any()};")
            one, two = self.any(), self.source.choice((wide, "%d0"))
            text = CALL.format(one=one, two=two, three=self.any(), guard=guard, name=name, into=self.any())
            self.lines += text.split("\n")
        return None

    def jump(self) -> None:
        if self.source.random() < 0.06:
            self.put(f"@{self.predicate()} {self.source.choice(('exit', 'ret'))};")
        elif self.loops:
            again, end = self.source.choice(self.loops)
            self.put(f"@{self.predicate()} bra {self.source.choice((again, end))};")

    def body(self, depth: int) -> None:
        for _ in range(self.source.randint(1, 4)):
            kind = self.source.random()
            if kind < 0.04:
                self.call(depth)
            elif kind < 0.35 or (depth <= 0 and kind > 0.7):
                self.operation()
            elif kind < 0.55:
                self.access()
            elif kind < 0.64:
                self.moment()
            elif kind < 0.7:
                self.jump()
            elif kind < 0.82:
                self.branch(depth)
            elif kind < 0.87:
                self.table(depth)
            else:
                self.loop(depth)


def program(seed: int, depth: int = 3) -> str:
    """A random kernel `k` of parameters `n` and `wide`."""
    writer = Writer(random.Random(seed))
    for _ in range(3):
        for _ in range(4):
            writer.operation()
        writer.access()
        writer.body(depth)
    writer.access()
    return HEAD + "".join(writer.functions) + KERNEL + "\n".join(writer.lines) + "\nret;\n}\n"
