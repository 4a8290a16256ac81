"""Random kernels that read launch values: places of blocks, extents of grids, parameters in several
widths, results that the scan does not compute, and narrow accesses in loops.
"""

from __future__ import annotations

import random

from tests.scan.texts import text_of

PLACES = tuple(f"%{name}.{axis}" for name in ("ctaid", "nctaid") for axis in "xyz")
READS = (
    "ld.param.u16 {h}, [n]; cvt.u32.u16 {r}, {h};",
    "ld.param.u8 {r}, [n];",
    "ld.param.s8 {r}, [n+1];",
    "ld.param.u16 {h}, [n+2]; cvt.u32.u16 {r}, {h};",
    "ld.param.u32 {r}, [n];",
    "ld.param.v2.u16 {{%h8, {h}}}, [n]; cvt.u32.u16 {r}, {h};",
    "and.b32 {r}, %r2, 65535;",
    "shr.u32 {r}, %r2, 16;",
)
"""Ways to read a parameter: in parts, or as a part of the whole."""
NUMBERS = (0, 1, 2, 3, 4, 5, 65535, 70000)
RELATIONS = ("eq.u32", "ne.u32", "lt.u32", "ge.u32", "gt.u32", "lt.s32")
OF_FLOATS = ("lt", "ge", "gt", "le", "eq", "neu", "geu")


class _Lines:
    """Lines of a kernel, and the registers that they have used."""

    def __init__(self, seed: int) -> None:
        self.source = random.Random(seed)
        self.lines = [".reg .f32 %f<40>; .reg .pred %q<90>; .reg .b32 %v<90>;"]
        self.count = 0

    def put(self, text: str) -> None:
        self.lines.append(text)

    def fresh(self, kind: str) -> str:
        self.count += 1
        return f"%{kind}{self.count}"

    def value(self) -> str:
        """A number that a launch gives, or a sum of two."""
        into, kind = self.fresh("v"), self.source.random()
        if kind < 0.45:
            self.put(f"mov.u32 {into}, {self.source.choice(PLACES)};")
        elif kind < 0.9:
            self.put(self.source.choice(READS).format(r=into, h=f"%h{self.source.randrange(1, 7)}"))
        else:
            self.put(f"{self.source.choice(('add.u32', 'sub.u32'))} {into}, {self.value()}, {self.value()};")
        return into

    def whole(self) -> str:
        """A condition on numbers of the launch."""
        holds = self.fresh("q")
        other = self.value() if self.source.random() < 0.5 else str(self.source.choice(NUMBERS))
        self.put(f"setp.{self.source.choice(RELATIONS)} {holds}, {self.value()}, {other};")
        return holds

    def exclusive(self) -> str:
        """A condition of one lane or of another, by comparisons of floats of the launch."""
        real = f"%f{self.source.randrange(30)}"
        self.put(f"cvt.rn.f32.u32 {real}, {self.value()};")
        parts: list[str] = []
        for lane in (0, 1):
            compared, is_lane, both = self.fresh("q"), self.fresh("q"), self.fresh("q")
            limit = self.source.choice(("0f40000000", "0f40400000"))
            self.put(f"setp.{self.source.choice(OF_FLOATS)}.f32 {compared}, {real}, {limit};")
            self.put(f"setp.eq.u32 {is_lane}, %r1, {lane}; and.pred {both}, {compared}, {is_lane};")
            parts.append(both)
            if self.source.random() < 0.3:
                self.put(f"sqrt.rn.f32 {real}, {real};")
        found = self.fresh("q")
        self.put(f"{self.source.choice(('or.pred', 'or.pred', 'and.pred'))} {found}, {parts[0]}, {parts[1]};")
        return found

    def access(self, guard: str, stride: str) -> None:
        """An access at a stride, within the array."""
        wide = self.source.choice(("u32", "u32", "u16", "u8"))
        size = {"u32": 4, "u16": 2, "u8": 1}[wide]
        self.put(f"mul.lo.u32 %r20, %r1, {stride}; shl.b32 %r20, %r20, {size // 2};")
        if self.source.random() < 0.5:
            self.put(f"mad.lo.u32 %r20, {self.value()}, {size * self.source.choice((1, 1, 2, 32))}, %r20;")
        self.put("and.b32 %r20, %r20, 8188;" if size == 4 else f"and.b32 %r20, %r20, {8192 - size};")
        into = "%r30" if size == 4 else "%h7"
        self.put(f"add.u32 %r20, %r20, %r3; {guard}ld.shared.{wide} {into}, [%r20];")

    def loop(self) -> None:
        """Narrow accesses at a stride that loops halve and double, from a place that a parameter chooses."""
        name, size = self.fresh("L").lstrip("%"), self.source.choice((1, 2))
        kind = {1: "u8", 2: "u16"}[size]
        lanes = self.fresh("q")
        self.put(f"mul.lo.u32 %r12, %r2, {size}; and.b32 %r12, %r12, {8 - size}; add.u32 %r12, %r12, %r3;")
        first, count = self.source.choice((0, 0, 1)), self.source.choice((2, 2, 2, 3, 32))
        self.put(f"sub.u32 %r13, %r1, {first}; setp.lt.u32 {lanes}, %r13, {count}; and.b32 %r14, %r2, 1023;")
        self.put(f"mov.u32 %r5, {2 * self.source.choice((130, 130, 66, 128, 6, 4))};")
        self.put(f"{name}: shr.u32 %r7, %r5, 1;")
        self.put(f"{name}I: mul.lo.u32 %r11, %r7, %r1; and.b32 %r11, %r11, {4096 - size}; add.u32 %r20, %r11, %r12;")
        self.put(f"@{lanes} ld.shared.{kind} %h7, [%r20]; shr.u32 %r7, %r7, 1; setp.gt.u32 %p5, %r7, 1;")
        self.put(f"@%p5 bra {name}I; shl.b32 %r5, %r5, 1; setp.lt.u32 %p6, %r5, %r14; @%p6 bra {name};")


def program(seed: int) -> str:
    """A random kernel with the parameters `n` and `q`."""
    made = _Lines(seed)
    for _ in range(3):
        kind = made.source.random()
        if kind < 0.2:
            made.loop()
            continue
        guard = "" if kind < 0.4 else f"@{made.exclusive() if kind > 0.75 else made.whole()} "
        stride = str(made.source.choice((1, 1, 2, 32, 33)))
        if made.source.random() < 0.5:
            stride = made.value()
            made.put(f"and.b32 {stride}, {stride}, {made.source.choice((3, 7, 63))};")
        made.access(guard, stride)
    return text_of("\n".join(made.lines))
