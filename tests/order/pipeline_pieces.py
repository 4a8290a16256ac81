"""The pieces of random pipelines: lines, waits, and the one mistake that a kernel may have."""

from __future__ import annotations

import random
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass, field

from .random_kernels import Kernel

HEAD = """.version 8.6
.target sm_90a
.address_size 64
.visible .entry k(.param .u32 n, .param .u64 q)
{
.reg .pred %p<99>;
.reg .b32 %r<999>;
.reg .b64 %d<9>;
.shared .align 128 .b8 s[4096];
.shared .align 8 .b8 full[64];
.shared .align 8 .b8 empty[64];
ld.param.u32 %r1, [n];
ld.param.u64 %d1, [q];
mov.u32 %r0, %tid.x;
shr.u32 %r2, %r0, 5;
and.b32 %r3, %r0, 31;
mov.u32 %r4, s;
mov.u32 %r5, full;
mov.u32 %r6, empty;
setp.eq.u32 %p0, %r0, 0;
setp.eq.u32 %p1, %r3, 0;
"""
"""%r2 is the warp, %r3 the lane, %p1 says whether it is lane 0."""


@dataclass
class Pipeline:
    """Writes one kernel; `mistake` is the place among all possible mistakes of the one to make."""

    source: random.Random
    mistake: int = -1
    lines: list[str] = field(default_factory=list)
    chances: list[str] = field(default_factory=list)
    """What could go wrong so far."""
    registers: int = 20
    predicates: int = 10
    labels: int = 0

    def put(self, *lines: str) -> None:
        self.lines += lines

    def is_wrong(self, what: str) -> bool:
        """Whether this is the mistake of the kernel."""
        self.chances.append(what)
        return len(self.chances) - 1 == self.mistake

    def do(self, what: str, *lines: str) -> None:
        """Lines that order accesses, which may be left out."""
        if not self.is_wrong(f"without {what}"):
            self.put(*lines)

    def number(self, what: str, right: int, *wrong: int) -> int:
        """A number, or a wrong one."""
        for value in wrong:
            if self.is_wrong(f"{what} {value} for {right}"):
                return value
        return right

    def register(self, text: str) -> str:
        """A new register for `text`, which begins with the opcode."""
        self.registers += 1
        into, (opcode, _, operands) = f"%r{self.registers}", text.partition(" ")
        self.put(f"{opcode} {into}, {operands};")
        return into

    def test(self, text: str) -> str:
        """A new predicate for the comparison `text`."""
        self.predicates += 1
        into, (relation, _, operands) = f"%p{self.predicates}", text.partition(" ")
        self.put(f"setp.{relation} {into}, {operands};")
        return into

    def label(self) -> str:
        self.labels += 1
        return f"L{self.labels}"

    @contextmanager
    def loop(self, trips: str) -> Generator[tuple[str, str]]:
        """A loop of so many trips, around what is put meanwhile: the register that counts them, and its end."""
        count, head, end = self.register("mov.u32 0"), self.label(), self.label()
        self.put(f"{head}:")
        self.put(f"@{self.test(f'ge.u32 {count}, {trips}')} bra {end};")
        yield count, end
        self.put(f"add.u32 {count}, {count}, 1;", f"bra {head};", f"{end}:")

    def next_stage(self, stage: str, phase: str, stages: int) -> None:
        """Count the stage, and turn its phase behind the last one."""
        self.put(f"add.u32 {stage}, {stage}, 1;")
        last = self.test(f"eq.u32 {stage}, {stages}")
        self.put(f"selp.u32 {stage}, 0, {stage}, {last};")
        flip = self.register(f"selp.u32 1, 0, {last}")
        self.put(f"xor.b32 {phase}, {phase}, {flip};")

    def wait(self, place: str, parity: str) -> None:
        """A loop that waits for a phase."""
        head = self.label()
        self.predicates += 1
        answer = f"%p{self.predicates}"
        ask = self.source.choice(("try_wait", "try_wait", "test_wait"))
        self.put(f"{head}:", f"mbarrier.{ask}.parity.shared::cta.b64 {answer}, [{place}], {parity};")
        self.put(f"@!{answer} bra {head};")


def tail(pipeline: Pipeline) -> None:
    """A loop in which all threads exchange words."""
    own = pipeline.register("mad.lo.u32 %r0, 4, %r4")
    count, head = pipeline.register("mov.u32 0"), pipeline.label()
    pipeline.put(f"{head}:", f"st.shared.u32 [{own}], {count};")
    pipeline.do("the barrier behind the write of the tail", "bar.sync 0;")
    other = pipeline.register(f"xor.b32 {own}, {pipeline.source.choice((4, 128))}")
    pipeline.put(f"ld.shared.u32 %r9, [{other}];")
    pipeline.do("the barrier behind the read of the tail", "bar.sync 0;")
    pipeline.put(f"add.u32 {count}, {count}, 1;")
    pipeline.put(f"@{pipeline.test(f'lt.u32 {count}, 2')} bra {head};")


Drawn = tuple[Pipeline, set[str], tuple[int, int, int]]
"""A kernel, what is in it, and its block."""


def with_mistake(seed: int, drawn: Callable[[int, int], Drawn], is_wrong: Callable[[float], bool]) -> Kernel:
    """The random kernel of a seed, right or with one mistake: `drawn` gets the mistake's place, or -1 for none."""
    right, constructs, block = drawn(seed, -1)
    choose = random.Random(f"mistake {seed}")
    if right.chances and is_wrong(choose.random()):
        mistake = choose.randrange(len(right.chances))
        constructs = {*constructs, f"wrong: {right.chances[mistake]}"}
        right, _, _ = drawn(seed, mistake)
    return Kernel(seed, HEAD + "\n".join(right.lines) + "\nret;\n}\n", block, frozenset(constructs))
