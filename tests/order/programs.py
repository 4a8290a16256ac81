"""Random small kernels with barriers, loops and choices, and what each of their threads does.

The interpreter knows a dozen instructions, and none of the package's analyses but the basic blocks and
loops. Threads do not read what others write, so each runs by itself.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field

from swzverify.compiled.kernel.whole import Kernel

_MASK = (1 << 32) - 1
_MOST_STEPS = 4000


NESTED = """mov.u32 %r11, 2;
mov.u32 %r12, 4;
mov.u32 %r13, 0;
mov.u32 %r20, 0;
L:
mov.u32 %r21, 0;
M:
and.b32 %r30, %r13, 255;
shl.b32 %r30, %r30, 2;
add.u32 %r31, %r30, %r3;
st.shared.u32 [%r31], %r1;
bar.sync 0;
xor.b32 %r11, %r11, %r12;
add.u32 %r12, %r12, %r11;
add.u32 %r21, %r21, 1;
setp.le.u32 %p1, %r21, %r7;
@%p1 bra M;
mov.u32 %r13, %r11;
add.u32 %r20, %r20, 1;
setp.le.u32 %p2, %r20, 3;
@%p2 bra L;"""
"""A register that has what an inner loop has come to, read in the next run of that loop."""


class Writer:
    """Writes a body: `u` registers are one value for all threads, `v` registers are not."""

    def __init__(self, rng: random.Random) -> None:
        self._rng, self._labels, self.lines = rng, 0, list[str]()

    def body(self) -> str:
        """A whole body."""
        self.lines += [f"mov.u32 %r{each}, {self._rng.randrange(4)};" for each in (11, 12, 13)]
        self.lines += ["mov.u32 %r14, %r1;", "add.u32 %r15, %r1, 5;", "mov.u32 %r16, 3;"]
        self._some(3, 4, is_together=True, is_uniform=True)
        return "\n".join(self.lines)

    def _some(self, depth: int, count: int, *, is_together: bool, is_uniform: bool) -> None:
        for _ in range(self._rng.randint(1, count)):
            self._one(depth, is_together=is_together, is_uniform=is_uniform)

    def _one(self, depth: int, *, is_together: bool, is_uniform: bool) -> None:
        """One statement; barriers stand where all threads come, and `u` registers change there alone."""
        rng = self._rng
        kind = rng.choice(["set", "set", "access", "access", "barrier", "loop", "if"])
        own, shared = rng.choice((14, 15, 16)), rng.choice((11, 12, 13))
        if kind == "barrier" and is_together:
            self.lines.append("bar.sync 0;")
        elif kind == "access":
            source = rng.choice((11, 12, 13, 14, 15, 16))
            self.lines += [f"and.b32 %r30, %r{source}, 255;", "shl.b32 %r30, %r30, 2;", "add.u32 %r31, %r30, %r3;"]
            self.lines.append("st.shared.u32 [%r31], %r1;")
        elif kind in ("loop", "if") and depth:
            self._nested(kind, depth - 1, own, shared, is_together=is_together, is_uniform=is_uniform)
        elif is_uniform and rng.random() < 0.5:
            other = rng.choice(("%r11", "%r12", "%r13", "1", "2", "64"))
            self.lines.append(f"{rng.choice(('add.u32', 'xor.b32'))} %r{shared}, %r{shared}, {other};")
        else:
            other = rng.choice(("%r11", "%r14", "%r15", "%r16", "1", "32", "64"))
            what = rng.choice((f"add.u32 %r{own}, %r{own}, {other};", f"xor.b32 %r{own}, %r{own}, 64;"))
            self.lines.append(what if rng.random() < 0.8 else f"mov.u32 %r{own}, %r{rng.choice((11, 14, 15, 16))};")

    def _nested(self, kind: str, depth: int, own: int, shared: int, *, is_together: bool, is_uniform: bool) -> None:
        rng, label = self._rng, self._labels
        self._labels += 1
        is_shared = is_together and rng.random() < 0.75
        inside = {"is_together": is_together and is_shared, "is_uniform": is_uniform and is_shared}
        if kind == "if":
            value = f"%r{shared}" if is_shared else f"%r{own}"
            self.lines += [f"and.b32 %r32, {value}, 1;", "setp.ne.u32 %p1, %r32, 0;", f"@%p1 bra A{label};"]
            self._some(depth, 2, **inside)
            if rng.random() < 0.5:
                self.lines += [f"bra B{label};", f"A{label}:"]
                self._some(depth, 2, **inside)
                self.lines.append(f"B{label}:")
            else:
                self.lines.append(f"A{label}:")
            return
        counter, bound = 20 + depth, rng.choice((7, shared)) if is_shared else rng.choice((1, own))
        self.lines += [f"mov.u32 %r{counter}, 0;", f"and.b32 %r{counter + 4}, %r{bound}, 3;"]
        self.lines.append(f"A{label}:")
        self._some(depth, 3, **inside)
        self.lines += [f"add.u32 %r{counter}, %r{counter}, 1;", f"setp.le.u32 %p2, %r{counter}, %r{counter + 4};"]
        self.lines.append(f"@%p2 bra A{label};")


@dataclass
class Event:
    """An access that a thread makes: the instruction, the barriers before, the trips around, the address."""

    index: int
    interval: int
    trips: dict[int, int]
    address: int


@dataclass
class Run:
    """What one thread does.

    Attributes:
        events: Its accesses.
        begins: The instruction of each barrier that it passed, -1 for the entry.
        begin_trips: The trips around each of these.
        registers: Each register at the header of a loop, by the header and the trips around it.
        last: The last trip of a loop, by the header and the trips outside.
    """

    events: list[Event] = field(default_factory=list[Event])
    begins: list[int] = field(default_factory=lambda: [-1])
    begin_trips: list[dict[int, int]] = field(default_factory=lambda: [{}])
    registers: dict[tuple[int, tuple[int, ...]], dict[str, int]] = field(
        default_factory=dict[tuple[int, tuple[int, ...]], dict[str, int]]
    )
    last: dict[tuple[int, tuple[int, ...]], int] = field(default_factory=dict[tuple[int, tuple[int, ...]], int])


def run(kernel: Kernel, thread: int, n: int, array: int) -> Run | None:
    """What a thread does, `s` being at `array`; None if it makes too many steps."""
    found, flow = Run(), kernel.flow
    registers: dict[str, int] = {}
    trips: dict[int, int] = {}
    block, before = 0, -1
    for _ in range(_MOST_STEPS):
        if block == flow.exit:
            return found
        loop = flow.loop_at.get(block)
        if loop is not None:
            trips[block] = trips[block] + 1 if before in loop.blocks else 0
            around = tuple(trips[each.header] for each in flow.around(block))
            found.registers[block, around] = dict(registers)
            found.last[block, around[:-1]] = trips[block]
        before, block = block, _block(kernel, block, registers, trips, found, {"tid": thread, "n": n, "s": array})
    return None


def _block(
    kernel: Kernel, block: int, registers: dict[str, int], trips: dict[int, int], found: Run, given: dict[str, int]
) -> int:
    """Runs a block; the next one."""
    flow = kernel.flow
    here = {loop.header: trips[loop.header] for loop in flow.around(block)}

    def value(text: str) -> int:
        if text.startswith("%tid"):
            return given["tid"]
        return registers.get(text, 0) if text.startswith("%") else given[text] if text in given else int(text)

    operations: dict[str, Callable[[int, int], int]] = {
        "add.u32": lambda a, b: a + b,
        "and.b32": lambda a, b: a & b,
        "xor.b32": lambda a, b: a ^ b,
        "shl.b32": lambda a, b: a << b,
    }
    for index in range(flow.blocks[block].start, flow.blocks[block].stop):
        each = kernel.function.instructions[index]
        parts = [part.strip() for part in each.text.split(",")]
        opcode = each.opcode
        if opcode in operations:
            registers[parts[0]] = operations[opcode](value(parts[1]), value(parts[2])) & _MASK
        elif opcode == "mov.u32":
            registers[parts[0]] = value(parts[1])
        elif opcode.startswith("ld.param"):
            registers[parts[0]] = given.get(parts[1].strip("[] "), 0)
        elif opcode == "setp.ne.u32":
            registers[parts[0]] = int(value(parts[1]) != value(parts[2]))
        elif opcode == "setp.le.u32":
            registers[parts[0]] = int(value(parts[1]) <= value(parts[2]))
        elif opcode == "bar.sync":
            found.begins.append(index)
            found.begin_trips.append(here)
        elif opcode.startswith("st.shared"):
            found.events.append(Event(index, len(found.begins) - 1, here, value(parts[0].strip("[] "))))
        elif opcode == "bra":
            if each.guard is None or registers[each.guard.register.name]:
                return next(way.target for way in flow.blocks[block].ways if way.guard is not False)
        elif opcode == "ret":
            return flow.exit
        else:
            raise AssertionError(opcode)
    return next(way.target for way in flow.blocks[block].ways if way.guard is not True)
