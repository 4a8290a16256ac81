"""Random structured programs: as PTX, and as a tree that one lane after the other can evaluate.

The tree knows nothing of warps, so it says what divergent code must compute, whatever lanes run
together.
"""

from __future__ import annotations

import contextlib
import random
from typing import Any

REGISTERS = 6
TRACES = 48
Statement = tuple[Any, ...]
WORD = 0xFFFFFFFF
HEAD = """.version 8.3
.target sm_90
.address_size 64
.visible .entry program(.param .u64 given, .param .u64 result, .param .u64 trace)
{
  .reg .pred %p<999>; .reg .b32 %r<999>; .reg .b64 %d<9>;
  ld.param.u64 %d1, [given]; ld.param.u64 %d2, [result]; ld.param.u64 %d3, [trace];
  mov.u32 %r900, %tid.x; mul.wide.u32 %d4, %r900, 24; add.u64 %d1, %d1, %d4; add.u64 %d2, %d2, %d4;
  mul.wide.u32 %d4, %r900, 192; add.u64 %d3, %d3, %d4; mov.u32 %r901, 0;
"""
END = "".join(f"  st.global.u32 [%d2+{4 * at}], %r{at};\n" for at in range(REGISTERS))


def draw(source: random.Random, depth: int, loops: int) -> list[Statement]:
    """Draw some statements."""
    found: list[Statement] = []
    for _ in range(source.randint(1, 4)):
        kind = source.random()
        register = source.randrange(REGISTERS)
        if depth == 0 or kind < 0.35:
            operation = source.choice(("add", "xor", "mul", "shr", "min"))
            found.append(("op", operation, register, source.randrange(REGISTERS), source.randrange(1, 999)))
        elif kind < 0.6:
            other = draw(source, depth - 1, loops) if source.random() < 0.5 else []
            found.append(("if", register, source.randrange(5), draw(source, depth - 1, loops), other))
        elif kind < 0.75 and loops < 2:
            found.append(("loop", register, source.randrange(2, 6), draw(source, depth - 1, loops + 1)))
        elif kind < 0.83 and loops:
            found.append(("break", register, source.randrange(5)))
        elif kind < 0.87:
            found.append(("exit", register, source.randrange(2, 6)))
        else:
            found.append(("trace",))
    return found


class LeaveError(Exception):
    """A lane leaves a loop or the kernel."""


class BreakError(LeaveError):
    """A lane leaves a loop."""


def evaluate(program: list[Statement], state: list[int]) -> list[int]:
    """Run one lane; give its registers at its end."""
    state = list(state)
    with contextlib.suppress(LeaveError):
        _run(program, state)
    return state


def _run(program: list[Statement], state: list[int]) -> None:
    for statement in program:
        if statement[0] == "op":
            _, name, into, source, literal = statement
            state[into] = {
                "add": lambda a, b: a + b,
                "xor": lambda a, b: a ^ b,
                "mul": lambda a, b: a * (2 * b + 1),
                "shr": lambda a, b: a >> (b % 9),
                "min": min,
            }[name](state[source], literal) & WORD
        elif statement[0] == "if":
            _run(statement[3] if state[statement[1]] >> statement[2] & 1 else statement[4], state)
        elif statement[0] == "loop":
            for _ in range(state[statement[1]] % statement[2]):
                try:
                    _run(statement[3], state)
                except BreakError:
                    break
        elif statement[0] == "break" and state[statement[1]] >> statement[2] & 1:
            raise BreakError
        elif statement[0] == "exit" and state[statement[1]] % (1 << statement[2]) == 1:
            raise LeaveError


class Writer:
    """Writes a program as PTX."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.used = 100

    def fresh(self) -> int:
        """A number for a register, a predicate or a label."""
        self.used += 1
        return self.used

    def write(self, program: list[Statement], end: str) -> None:
        """Write statements; `end` is the label after the innermost loop."""
        for statement in program:
            getattr(self, f"_{statement[0]}")(*statement[1:], end)

    def _say(self, line: str) -> None:
        self.lines.append(f"  {line}")

    def _op(self, name: str, into: int, source: int, literal: int, _end: str) -> None:
        literal = {"mul": 2 * literal + 1, "shr": literal % 9}.get(name, literal)
        word = {"add": "add.u32", "xor": "xor.b32", "mul": "mul.lo.u32", "shr": "shr.u32", "min": "min.u32"}[name]
        self._say(f"{word} %r{into}, %r{source}, {literal};")

    def _bit(self, register: int, place: int) -> int:
        new = self.fresh()
        self._say(f"shr.u32 %r{new}, %r{register}, {place}; and.b32 %r{new}, %r{new}, 1;")
        self._say(f"setp.ne.u32 %p{new}, %r{new}, 0;")
        return new

    def _if(self, register: int, place: int, then: list[Statement], other: list[Statement], end: str) -> None:
        new = self._bit(register, place)
        self._say(f"@!%p{new} bra ELSE{new};")
        self.write(then, end)
        if other:
            self._say(f"bra.uni JOIN{new};")
        self.lines.append(f"ELSE{new}:")
        if other:
            self.write(other, end)
            self.lines.append(f"JOIN{new}:")

    def _loop(self, register: int, limit: int, body: list[Statement], _end: str) -> None:
        new = self.fresh()
        self._say(f"rem.u32 %r{new}, %r{register}, {limit};")
        self.lines.append(f"LOOP{new}:")
        self._say(f"setp.eq.u32 %p{new}, %r{new}, 0;")
        self._say(f"@%p{new} bra DONE{new};")
        self.write(body, f"DONE{new}")
        self._say(f"sub.u32 %r{new}, %r{new}, 1;")
        self._say(f"bra.uni LOOP{new};")
        self.lines.append(f"DONE{new}:")

    def _break(self, register: int, place: int, end: str) -> None:
        self._say(f"@%p{self._bit(register, place)} bra {end};")

    def _exit(self, register: int, bits: int, _end: str) -> None:
        new = self.fresh()
        self._say(f"and.b32 %r{new}, %r{register}, {(1 << bits) - 1}; setp.eq.u32 %p{new}, %r{new}, 1;")
        if bits % 2:
            self._say(f"@%p{new} bra FINISH;")
            return
        self._say(f"@!%p{new} bra STAY{new};")
        self.lines += [*END.splitlines(), "  exit;", f"STAY{new}:"]

    def _trace(self, _end: str) -> None:
        new = self.fresh()
        self._say(f"activemask.b32 %r{new}; min.u32 %r901, %r901, {TRACES - 1};")
        self._say("mul.wide.u32 %d5, %r901, 4; add.u64 %d5, %d5, %d3; add.u32 %r901, %r901, 1;")
        self._say(f"st.global.u32 [%d5], %r{new};")


def text_of(program: list[Statement]) -> str:
    """The program as a PTX file with one kernel."""
    writer = Writer()
    writer.write(program, "FINISH")
    loads = "".join(f"  ld.global.u32 %r{at}, [%d1+{4 * at}];\n" for at in range(REGISTERS))
    return HEAD + loads + "\n".join(writer.lines) + "\nFINISH:\n" + END + "  ret;\n}\n"
