"""Random kernels that copy tiles into shared memory, load fragments and multiply them with mma.sync, and what an
interpreter sees in the registers.

Each element of a matrix is its own number, so a register says where its parts come from. The fragments are those of
docs/semantics.md, section 9. Nothing here is shared with the package.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from tests.ptx_oracle import Buffer, run_kernel

TRIPS = 3
"""Trips of the main loop in a launch."""
OPCODES = {
    "m16n8k16.f16": (16, 16, 2, "f32.f16.f16.f32"),
    "m16n8k16.bf16": (16, 16, 2, "f32.bf16.bf16.f32"),
    "m16n8k8.f16": (16, 8, 2, "f32.f16.f16.f32"),
    "m16n8k8.tf32": (16, 8, 4, "f32.tf32.tf32.f32"),
    "m16n8k4.tf32": (16, 4, 4, "f32.tf32.tf32.f32"),
    "m16n8k32.s8": (16, 32, 1, "s32.s8.s8.s32"),
    "m16n8k32.e4m3": (16, 32, 1, "f32.e4m3.e4m3.f32"),
    "m16n8k16.u8": (16, 16, 1, "s32.u8.u8.s32"),
    "m8n8k16.s8": (8, 16, 1, "s32.s8.s8.s32"),
}
"""The rows of A, the columns of K, the bytes of an element, and the types in PTX."""


@dataclass(frozen=True)
class Side:
    """One operand: how threads write its tile, and how lanes load it.

    Attributes:
        load: `ldmatrix`, `ld` (a word for each register) or `wide` (two registers at once, with K in another order).
        mn: Whether rows lie side by side, so that `ldmatrix.trans` loads them.
        trans: Whether the load is `.trans`.
        mask: The XOR of the writer, on chunks of 16 bytes.
        read_mask: The XOR of the loads.
        pad: Bytes behind each line.
        stored: Whether threads load and store, instead of `cp.async`.
        swapped: Whether the first and the last register change places in the product.
        shift: Rows by which loads are too far.
        step: Chunks by which each step along K is too far.
        advance: Columns of K from one stage to the next one, if it is not what a stage has.
        late: Stages by which the main loop is behind the prologue.
        once: Whether it is filled before the main loop alone.
        behind: Stages by which loads behind the main loop are too far.
        ring: Stages by which all loads are too far.
    """

    load: str = "ldmatrix"
    mn: bool = False
    trans: bool = False
    mask: int = 0
    read_mask: int = 0
    pad: int = 0
    stored: bool = False
    swapped: bool = False
    shift: int = 0
    step: int = 0
    advance: int = 0
    late: int = 0
    once: bool = False
    behind: int = 0
    ring: int = 0


@dataclass(frozen=True)
class Program:
    """A kernel: `warps` along M, `tiles` of 8 columns of N, and `steps` along K in each of `stages`.

    Attributes:
        opcode: The shape and the type.
        ahead: Whether the registers of the first step are loaded in the trip before.
        held: The operands of which they are, in the case of `ahead`.
        stale: Operands whose registers are loaded in the trip before, but from the stage of that trip.
        prologue: Whether stages are filled ahead; else a stage is filled in the trip that reads it.
        turn: By how many stages B goes on from trip to trip, if the stage is the number of the trip, modulo.
        modulo: Whether the stage is the number of the trip, modulo.
        tail: Whether the last stages are multiplied behind the main loop: `rem` if the stage there is the remainder of
            the number of the trip, `shift` if it is the same by a shift and a mask, `carried` if it goes on as in the
            loop; empty if there is no such tail.
        parted: Whether a barrier stands between the copies of A and those of B.
        still: Which copies do not go on along K: `all`, or those of the main `loop`; empty if all go on.
    """

    a: Side
    b: Side
    opcode: str = "m16n8k16.f16"
    warps: int = 2
    tiles: int = 2
    steps: int = 2
    stages: int = 2
    ahead: bool = False
    modulo: bool = False
    held: str = "ab"
    stale: str = ""
    prologue: bool = True
    turn: int = 1
    tail: str = ""
    parted: bool = False
    still: str = ""

    @cached_property
    def shape(self) -> tuple[int, int, int]:
        """The rows of A, the columns of K and the bytes of an element."""
        return OPCODES[self.opcode][:3]

    @property
    def threads(self) -> int:
        return 32 * self.warps

    @property
    def columns(self) -> int:
        """Columns of K of a stage."""
        return self.steps * self.shape[1]

    def is_a(self, side: Side) -> bool:
        return side is self.a

    def rows(self, side: Side) -> int:
        """Rows of a tile."""
        return self.warps * self.shape[0] if self.is_a(side) else self.tiles * 8

    def lines(self, side: Side) -> tuple[int, int, int]:
        """The lines of a tile, the chunks of 16 bytes in each, and the bytes from line to line."""
        lines, length = (self.columns, self.rows(side)) if side.mn else (self.rows(side), self.columns)
        chunks = length * self.shape[2] // 16
        return lines, chunks, chunks * 16 + side.pad

    def tile_bytes(self, side: Side) -> int:
        lines, _, pitch = self.lines(side)
        return -(-lines * pitch // 1024) * 1024

    @property
    def stage_bytes(self) -> int:
        return self.tile_bytes(self.a) + self.tile_bytes(self.b)

    def registers(self, side: Side) -> int:
        rows, columns, size = self.shape
        return (rows if self.is_a(side) else 8) * columns * size // 128

    @property
    def ahead_of(self) -> int:
        """Stages that are filled before the main loop."""
        return self.stages - 1 if self.prologue else 0

    @property
    def bodies(self) -> int:
        """How often the text has the products of a trip: in the main loop, and for each trip behind it."""
        return 1 + (self.ahead_of if self.tail else 0)

    @property
    def products(self) -> int:
        """Products in a trip."""
        return self.steps * self.tiles

    def pitch(self, side: Side) -> int:
        """Elements from line to line of a matrix in global memory."""
        if side.mn:
            return self.rows(side) + 16
        return max(self.columns, side.advance) * (TRIPS + self.stages + 1) + 16


def right(draw: random.Random) -> Program:
    """A kernel without a mistake."""
    opcode = draw.choice(list(OPCODES))
    _, columns, size, _ = OPCODES[opcode]
    steps, tiles = draw.choice([1, 2, 4]) if columns * size == 32 else draw.choice([2, 4]), draw.choice([1, 2])
    is_wide = draw.random() < 0.25 and columns * size == 32
    sides: list[Side] = []
    for role in "AB":
        mn = size == 2 and role == "B" and draw.random() < 0.4
        tiles = 2 if mn else tiles
        chunks = steps * columns * size // 16 if not mn else tiles * 8 * size // 16
        mask, pad = (chunks - 1, 0) if draw.random() < 0.7 else (0, draw.choice([0, 16]))
        mask = min(mask, draw.choice([1, 3, 7])) if chunks > 1 else 0
        load = "ldmatrix" if mn else "wide" if is_wide else draw.choice(["ldmatrix", "ldmatrix", "ld"])
        sides.append(Side(load, mn, mn, mask, mask, pad, draw.random() < 0.3))
    if is_wide and sides[1].mn:
        sides[0] = replace(sides[0], load="ld")
    stages = draw.choice([1, 2, 3])
    ahead = stages > 1 and draw.random() < 0.4
    more = draw.choice([1, 2]), tiles, steps, stages, ahead, draw.random() < 0.4
    program = Program(sides[0], sides[1], opcode, *more, draw.choice(["ab", "ab", "a", "b"]))
    if stages > 1 and draw.random() < 0.5:
        tails = ["rem", "shift", "carried"] if stages == 2 else ["rem", "carried"]
        # Registers that are loaded in the trip before are related behind the loop if the number of the trip decides.
        tail = draw.choice(tails)
        program = replace(program, tail=tail, modulo=tail != "carried" or program.modulo)
    return replace(program, parted=draw.random() < 0.3)


MISTAKES = (
    "none",
    "mask",
    "read mask",
    "trans",
    "swapped",
    "order",
    "shift",
    "step",
    "both steps",
    "advance",
    "late",
    "pad",
    "stale",
    "once",
    "behind",
    "still",
)


def planted(program: Program, mistake: str, draw: random.Random) -> Program:
    """The kernel with a mistake, which may change nothing."""
    name = draw.choice(["a", "b"])
    side: Side = getattr(program, name)
    others = [each for each in (0, 1, 3, 7) if each != side.mask]
    match mistake:
        case "mask":
            side = replace(side, mask=draw.choice([each for each in others if each < program.lines(side)[1]] or [0]))
        case "read mask":
            own = [each for each in others if each < program.lines(side)[1]] or [0]
            side = replace(side, read_mask=draw.choice(own))
        case "trans":
            side = replace(side, trans=side.load == "ldmatrix" and not side.trans)
        case "swapped":
            side = replace(side, swapped=True)
        case "order":
            is_whole = program.shape[1] * program.shape[2] == 32 and not side.mn
            side = replace(side, load="wide" if side.load != "wide" else "ld") if is_whole else side
        case "shift":
            side = replace(side, shift=draw.choice([1, 8]))
        case "step":
            side = replace(side, step=1)
        case "both steps":
            return replace(program, a=replace(program.a, step=1), b=replace(program.b, step=1))
        case "advance":
            side = replace(side, advance=draw.choice([program.columns // 2, 2 * program.columns]))
        case "late":
            side = replace(side, late=1)
        case "once":
            side = replace(side, once=True)
        case "behind":
            side = replace(side, behind=1)
        case "still":
            return replace(program, still=draw.choice(["all", "loop"]))
        case "stale":
            return replace(program, stale=draw.choice(["a", "b"]))
        case "pad":
            side = replace(side, pad=side.pad + 16)
        case _:
            pass
    return replace(program, a=side) if name == "a" else replace(program, b=side)


class Writer:
    """The text of a kernel; each value has a register of its own."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.count = 0

    def new(self) -> str:
        self.count += 1
        return f"%v{self.count}"

    def op(self, text: str, *operands: object) -> str:
        """An instruction with a new register for its result."""
        made = self.new()
        self.lines.append(f"{text} {', '.join(map(str, (made, *operands)))};")
        return made


def text(program: Program, *, is_dump: bool = False) -> str:
    """The PTX; with `is_dump` it writes registers to the buffer `out` instead of multiplying."""
    out = Writer()
    out.lines += ["mov.u32 %thread, %tid.x; mov.u32 %base, tile; mov.u32 %trip, 0; mov.u32 %stage, 0;"]
    ahead = program.ahead_of
    for stage in range(max(ahead, int(program.a.once or program.b.once))):
        fill(out, program, str(stage * program.stage_bytes), str(stage), is_loop=False)
    out.lines += [f"mov.u32 %next, {ahead * program.stage_bytes};"]
    carried = [[f"%c{role}{at}" for at in range(40)] for role in "ab"]
    held: list[list[list[str]]] = []
    if program.ahead:
        out.lines += ["cp.async.wait_all; bar.sync 0;"]
        held = step_of(out, program, 0)
        move(out, carried, held)
    out.lines.append(f"sub.u32 %last, %n, {ahead if program.tail else 0};")
    if program.tail:
        out.lines.append(f"setp.lt.s32 %p4, %n, {ahead + 1}; @%p4 bra T;")
    out.lines += ["L:"]
    if program.modulo:
        stage_of(out, program, "%stage", "%trip")
        stage_of(out, program, "%next", out.op("add.u32", "%trip", ahead))
    after = out.op("add.u32", "%trip", ahead)
    if not ahead:
        fill(out, program, "%next", after, is_loop=True)
    if not program.ahead:
        out.lines += ["cp.async.wait_all; bar.sync 0;"]
    multiply(out, program, carried, held, is_dump=is_dump)
    out.lines += ["bar.sync 0;"]
    early = step_of(out, program, 0, program.stale) if program.ahead else []
    if ahead:
        fill(out, program, "%next", after, is_loop=True)
    turn(out, program, "%next")
    turn(out, program, "%stage")
    out.lines.append("add.u32 %trip, %trip, 1;")
    if program.ahead:
        if program.modulo:
            stage_of(out, program, "%stage", "%trip")
        out.lines.append("cp.async.wait_all; bar.sync 0;")
        late = step_of(out, program, 0, "".join({*"ab"} - {*program.stale}))
        move(out, carried, [one or other for one, other in zip(early, late, strict=True)])
    again = "ne" if program.tail else "lt"
    out.lines.append(f"setp.{again}.u32 %p2, %trip, %last; @%p2 bra L;")
    if program.tail:
        out.lines.append("T:")
        for left in range(ahead, 0, -1):
            behind(out, program, carried, held, left, is_dump=is_dump)
    out.lines.append("ret;\n}")
    return whole(out, program)


def whole(out: Writer, program: Program) -> str:
    """The module with a kernel."""
    size = program.stages * program.stage_bytes + 2048
    head = f"""
.version 8.4
.target sm_89
.address_size 64
.shared .align 1024 .b8 tile[{size}];
.entry k(.param .u64 a, .param .u64 b, .param .u32 lda, .param .u32 ldb, .param .u32 n, .param .u64 out)
.reqntid {program.threads}
{{
.reg .pred %p<6>; .reg .b32 %v<{out.count + 1}>; .reg .b32 %ca<40>; .reg .b32 %cb<40>; .reg .b64 %w<9>;
.reg .b32 %thread, %base, %trip, %last, %stage, %next, %lda, %ldb, %n; .reg .b32 %s<{4 * program.tiles}>;
ld.param.u64 %w1, [a]; ld.param.u64 %w2, [b]; ld.param.u32 %lda, [lda]; ld.param.u32 %ldb, [ldb];
ld.param.u32 %n, [n]; ld.param.u64 %w5, [out];
"""
    return head + "\n".join(out.lines)


def unrolled(program: Program, pairs: Sequence[tuple[int, int]], first: Sequence[int]) -> str:
    """A kernel of which each trip multiplies A of one stage with B of another one, for each of `pairs`.

    A barrier stands behind the copies of each stage. In a trip, these are of the columns of K of the stages `first`.
    """
    out = Writer()
    out.lines += ["mov.u32 %thread, %tid.x; mov.u32 %base, tile; mov.u32 %trip, 0;"]
    for stage in range(program.stages):
        fill(out, program, str(stage * program.stage_bytes), str(stage), is_loop=False)
        out.lines.append("bar.sync 0;")
    out.lines.append("L: cp.async.wait_all; bar.sync 0;")
    for of_a, of_b in pairs:
        a = loads(out, program, program.a, 0, 0, str(of_a * program.stage_bytes))
        b = loads(out, program, program.b, 0, 0, str(of_b * program.stage_bytes))
        product(out, program, [[a], [b]], 0, 0, is_dump=False)
    out.lines.append("bar.sync 0;")
    last = out.op("mul.lo.u32", "%trip", program.stages)
    for stage, own in enumerate(first):
        begin = out.op("add.u32", last, program.stages + own)
        fill(out, program, str(stage * program.stage_bytes), begin, is_loop=True)
        out.lines.append("bar.sync 0;")
    out.lines.append("add.u32 %trip, %trip, 1; setp.lt.u32 %p2, %trip, %n; @%p2 bra L; ret;\n}")
    return whole(out, program)


def multiply(
    out: Writer, program: Program, carried: list[list[str]], held: list[list[list[str]]], *, is_dump: bool
) -> None:
    """The loads and products of a trip."""
    for step in range(program.steps):
        is_held = program.ahead and step == 0
        loaded = step_of(out, program, step, "" if is_held and program.held == "ab" else "ab")
        if is_held:
            kept = back(carried, held)
            loaded = [kept[at] if role in program.held else loaded[at] for at, role in enumerate("ab")]
        for tile in range(program.tiles):
            product(out, program, loaded, step, tile, is_dump=is_dump)


def behind(
    out: Writer, program: Program, carried: list[list[str]], held: list[list[list[str]]], left: int, *, is_dump: bool
) -> None:
    """A trip behind the main loop, so many from the end; no copies follow."""
    out.lines.append(f"sub.u32 %trip, %n, {left};")
    if program.tail != "carried":
        stage_of(out, program, "%stage", "%trip", is_shift=program.tail == "shift")
    if not program.ahead:
        out.lines.append("cp.async.wait_all; bar.sync 0;")
    shifted = replace(program, a=behind_of(program.a), b=behind_of(program.b))
    multiply(out, shifted, carried, held, is_dump=is_dump)
    turn(out, program, "%stage")
    if program.ahead and left > 1:
        if program.tail != "carried":
            stage_of(out, program, "%stage", out.op("sub.u32", "%n", left - 1), is_shift=program.tail == "shift")
        move(out, carried, step_of(out, shifted, 0))


def behind_of(side: Side) -> Side:
    """A side whose loads are as many stages too far as those behind the main loop."""
    return replace(side, ring=side.behind)


def stage_of(out: Writer, program: Program, name: str, trip: str, *, is_shift: bool = False) -> None:
    """The place of the stage of a trip, which is a remainder."""
    if is_shift:
        sign = out.op("shr.u32", trip, 31)
        even = out.op("and.b32", out.op("add.u32", trip, sign), -2)
        rest = out.op("sub.u32", trip, even)
    else:
        rest = out.op("rem.s32" if program.tail else "rem.u32", trip, program.stages)
    out.lines.append(f"mul.lo.u32 {name}, {rest}, {program.stage_bytes};")


def turn(out: Writer, program: Program, place: str) -> None:
    """Go on to the next stage of the ring."""
    last = (program.stages - 1) * program.stage_bytes
    out.lines.append(f"setp.eq.u32 %p1, {place}, {last}; add.u32 {place}, {place}, {program.stage_bytes};")
    out.lines.append(f"selp.b32 {place}, 0, {place}, %p1;")


def move(out: Writer, carried: list[list[str]], held: list[list[list[str]]]) -> None:
    """Keep registers for the next trip."""
    for names, tiles in zip(carried, held, strict=True):
        flat = [each for tile in tiles for each in tile]
        out.lines += [f"mov.b32 {name}, {each};" for name, each in zip(names, flat, strict=False)]


def back(carried: list[list[str]], held: list[list[list[str]]]) -> list[list[list[str]]]:
    """The kept registers, as they were loaded."""
    found: list[list[list[str]]] = []
    for names, tiles in zip(carried, held, strict=True):
        left = iter(names)
        found.append([[next(left) for _ in tile] for tile in tiles])
    return found


def xor(out: Writer, program: Program, side: Side, line: str, chunk: str, mask: int) -> str:
    """The byte of a chunk of a line."""
    _, chunks, pitch = program.lines(side)
    by = max(0, 3 - (chunks.bit_length() - 1))
    key = out.op("and.b32", out.op("shr.u32", line, by), mask)
    return out.op("mad.lo.u32", line, pitch, out.op("shl.b32", out.op("xor.b32", chunk, key), 4))


def fill(out: Writer, program: Program, where: str, stage: str, *, is_loop: bool, roles: str = "ab") -> None:
    """Copies the tiles of a stage at `where`, of the columns of K with a number."""
    size = program.shape[2]
    sides = {"a": (program.a, "%w1", "%lda"), "b": (program.b, "%w2", "%ldb")}
    for side, pointer, pitch in map(sides.__getitem__, roles):
        if program.parted and side is program.b:
            out.lines.append("bar.sync 0;")
        if side.once and is_loop:
            continue
        columns = side.advance or program.columns
        own = "0" if program.still == "all" or (program.still == "loop" and is_loop) else stage
        if side.late and is_loop and program.stages > 1:
            own = out.op("sub.u32", stage, side.late)
        lines, chunks, _ = program.lines(side)
        begin = 0 if program.is_a(side) else program.tile_bytes(program.a)
        count = lines * chunks
        for first in range(0, count, program.threads):
            at = out.op("add.u32", "%thread", first)
            line, chunk = out.op("shr.u32", at, chunks.bit_length() - 1), out.op("and.b32", at, chunks - 1)
            byte = xor(out, program, side, line, chunk, side.mask)
            byte = out.op("add.u32", out.op("add.u32", out.op("add.u32", byte, where), begin), "%base")
            if side.mn:
                element = out.op("mul.lo.u32", out.op("mad.lo.u32", own, columns, line), pitch)
            else:
                element = out.op("mad.lo.u32", own, columns, out.op("mul.lo.u32", line, pitch))
            out.lines.append(f"mad.wide.u32 %w3, {element}, {size}, {pointer}; mul.wide.u32 %w4, {chunk}, 16;")
            out.lines.append("add.s64 %w3, %w3, %w4;")
            at_p = ""
            if first + program.threads > count:
                out.lines.append(f"setp.lt.u32 %p3, {at}, {count};")
                at_p = "@%p3 "
            if side.stored:
                words = [out.new() for _ in range(4)]
                out.lines.append(f"{at_p}ld.global.v4.u32 {{{', '.join(words)}}}, [%w3];")
                out.lines.append(f"{at_p}st.shared.v4.u32 [{byte}], {{{', '.join(words)}}};")
            else:
                out.lines.append(f"{at_p}cp.async.cg.shared.global [{byte}], [%w3], 16;")


def step_of(out: Writer, program: Program, step: int, roles: str = "ab") -> list[list[list[str]]]:
    """The registers of A, and those of each tile of B, of one step along K; none of other operands."""
    tiles = {"a": [(program.a, 0)], "b": [(program.b, tile) for tile in range(program.tiles)]}
    found: list[list[list[str]]] = []
    for role in "ab":
        stage = "%stage"
        if role == "b" and program.turn != 1:
            rest = out.op("rem.u32", out.op("mul.lo.u32", "%trip", program.turn), program.stages)
            stage = out.op("mul.lo.u32", rest, program.stage_bytes)
        found.append([loads(out, program, each, step, at, stage) for each, at in tiles[role] if role in roles])
    return found


def loads(out: Writer, program: Program, side: Side, step: int, tile: int, stage: str) -> list[str]:
    """The registers of a fragment."""
    rows, columns, size = program.shape
    each, halves = columns * size // 16, rows // 8 if program.is_a(side) else 1
    count = program.registers(side)
    begin = 0 if program.is_a(side) else program.tile_bytes(program.a)
    for _ in range(side.ring):
        own = out.op("add.u32", stage, program.stage_bytes)
        is_last = program.stages * program.stage_bytes
        out.lines.append(f"setp.eq.u32 %p1, {own}, {is_last}; selp.b32 {own}, 0, {own}, %p1;")
        stage = own
    base = out.op("add.u32", out.op("add.u32", "%base", stage), begin)
    lane = out.op("and.b32", "%thread", 31)
    warp = out.op("shr.u32", "%thread", 5)
    first = out.op("mul.lo.u32", warp, rows) if program.is_a(side) else out.op("add.u32", lane, f"{8 * tile}")
    if not program.is_a(side):
        first = out.op("sub.u32", first, lane)
    first = out.op("add.u32", first, side.shift)
    chunk = step * (each + side.step)

    def place(row: str, chunk: str) -> str:
        byte = xor(out, program, side, row, chunk, side.read_mask)
        return out.op("add.u32", byte, base)

    found = [out.new() for _ in range(count)]
    if side.load == "ldmatrix":
        own = out.op("and.b32", lane, 8 * count - 1)
        matrix, row = out.op("shr.u32", own, 3), out.op("and.b32", own, 7)
        if side.mn:
            line = out.op("mad.lo.u32", matrix, 8, row)
            where = place(out.op("add.u32", line, step * (columns + 8 * side.step)), out.op("shr.u32", first, 3))
        else:
            half = out.op("and.b32", matrix, halves - 1)
            line = out.op("add.u32", out.op("mad.lo.u32", half, 8, row), first)
            along = out.op("shr.u32", matrix, halves.bit_length() - 1)
            where = place(line, out.op("add.u32", along, chunk))
        words, trans = ", ".join(found), ".trans" if side.trans else ""
        out.lines.append(f"ldmatrix.sync.aligned.m8n8.x{count}{trans}.shared.b16 {{{words}}}, [{where}];")
    elif side.load == "ld":
        quad = out.op("shl.b32", out.op("and.b32", lane, 3), 2)
        for register, made in enumerate(found):
            row = out.op("add.u32", out.op("shr.u32", lane, 2), register % halves * 8)
            where = place(out.op("add.u32", row, first), out.op("add.u32", quad, 0) and str(chunk + register // halves))
            out.lines.append(f"ld.shared.b32 {made}, [{out.op('add.u32', where, quad)}];")
    else:
        inside = out.op("shl.b32", out.op("and.b32", lane, 1), 3)
        along = out.op("shr.u32", out.op("and.b32", lane, 2), 1)
        for half in range(halves):
            row = out.op("add.u32", out.op("shr.u32", lane, 2), half * 8)
            where = place(out.op("add.u32", row, first), out.op("add.u32", along, chunk))
            pair = f"{found[half]}, {found[half + halves]}"
            out.lines.append(f"ld.shared.v2.b32 {{{pair}}}, [{out.op('add.u32', where, inside)}];")
    if side.swapped:
        found[0], found[-1] = found[-1], found[0]
    return found


def product(
    out: Writer, program: Program, loaded: list[list[list[str]]], step: int, tile: int, *, is_dump: bool
) -> None:
    """A product, or what its registers hold."""
    a, b = loaded[0][0], loaded[1][tile]
    if not is_dump:
        count = 4 if program.shape[0] == 16 else 2
        sums = ", ".join(f"%s{4 * tile + at}" for at in range(count))
        shape, types = program.opcode.split(".")[0], OPCODES[program.opcode][3]
        head = f"mma.sync.aligned.{shape}.row.col.{types}"
        out.lines.append(f"{head} {{{sums}}}, {{{', '.join(a)}}}, {{{', '.join(b)}}}, {{{sums}}};")
        return
    at = out.op("mad.lo.u32", "%trip", program.products, step * program.tiles + tile)
    at = out.op("mad.lo.u32", at, program.threads, "%thread")
    out.lines.append(f"mul.wide.u32 %w6, {at}, {4 * (len(a) + len(b))}; add.s64 %w6, %w6, %w5;")
    out.lines += [f"st.global.b32 [%w6+{4 * place}], {each};" for place, each in enumerate((*a, *b))]


@dataclass(frozen=True)
class Seen:
    """What one warp multiplies in one product: the numbers of the elements of A and B."""

    trip: int
    product: int
    warp: int
    a: Any
    b: Any


def see(program: Program, trips: int = TRIPS) -> list[Seen]:
    """Run the kernel with so many trips, those behind the main loop among them, and read what each warp multiplies."""
    rows, columns, size = program.shape
    counts = [program.registers(side) for side in (program.a, program.b)]
    shape = (trips, program.products, program.threads, sum(counts))
    numbers = np.arange(1 << 16)
    planes: list[Any] = []
    for plane in range(1 if size > 1 else 2):
        of_plane = numbers >> 8 * plane
        content = (of_plane & 255).astype(np.uint8) if size == 1 else numbers.astype({2: np.uint16, 4: np.uint32}[size])
        launch = run_kernel(
            text(program, is_dump=True),
            "k",
            (program.threads,),
            params=[
                *(Buffer(content.nbytes, content=content) for _ in range(2)),
                *(program.pitch(side) for side in (program.a, program.b)),
                trips,
                Buffer(int(np.prod(shape)) * 4),
            ],
        )
        assert not launch.partial, launch.error
        raw = np.frombuffer(launch.buffers[5].tobytes(), {1: np.uint8, 2: np.uint16, 4: np.uint32}[size])
        planes.append(raw.astype(np.int64) << 8 * plane)
    held = sum(planes).reshape(trips, program.products, program.warps, 32, sum(counts), 4 // size)
    found: list[Seen] = []
    for trip, at, warp in np.ndindex(trips, program.products, program.warps):
        own = held[trip, at, warp]
        a = unpacked(own[:, : counts[0]], rows, columns, size)
        found.append(Seen(trip, at, warp, a, unpacked(own[:, counts[0] :], 8, columns, size)))
    return found


def unpacked(held: Any, rows: int, columns: int, size: int) -> Any:
    """The elements that registers hold, by row and place along K."""
    found = np.full((rows, columns), -1, np.int64)
    halves = rows // 8
    for lane, register, part in np.ndindex(*held.shape):
        row = lane // 4 + register % halves * 8
        found[row, (register // halves * 4 + lane % 4) * (4 // size) + part] = held[lane, register, part]
    return found


def places(program: Program, name: str, own: Any) -> tuple[Any, Any]:
    """The row and the column of K of each element of an operand."""
    side: Side = getattr(program, name)
    pitch = program.pitch(side)
    return (own % pitch, own // pitch) if side.mn else (own // pitch, own % pitch)


def order_of(program: Program, name: str, own: Any) -> tuple[int, ...] | None:
    """The columns of K behind the first one, if rows follow each other and all have the same columns; else None."""
    row, column = places(program, name, own)
    step = row[1, 0] - row[0, 0]
    is_right = (row == row[0, 0] + step * np.arange(len(own))[:, None]).all() and (column == column[:1]).all()
    order = tuple((column[0] - column[0, 0]).tolist())
    return order if is_right and len(set(order)) == len(order) else None


def agree(program: Program, one: Seen, other: Seen) -> bool:
    """Whether A and B of a product are as far along K from those of another one."""
    moved = [
        int(places(program, name, getattr(one, name))[1][0, 0] - places(program, name, getattr(other, name))[1][0, 0])
        for name in "ab"
    ]
    return moved[0] == moved[1]


@lru_cache(maxsize=8)
def launches(program: Program) -> list[list[Seen]]:
    """What warps multiply where the main loop is entered, and where it is not if a tail is behind it."""
    if not program.tail:
        return [see(program)]
    return [see(program, TRIPS + program.ahead_of), see(program, program.ahead_of)]


def body_of(program: Program, trip: int, trips: int) -> int:
    """Which of the bodies in the text a trip is: 0 for the main loop."""
    return max(0, trip - (trips - program.ahead_of) + 1) if program.tail else 0


def judged(program: Program) -> Iterator[tuple[Seen, int, str, bool]]:
    """For each warp, product and trip, and each operand: its body, and whether it is as the claim says.

    A and B are as far along K from each other as in the first product of the first trip.
    """
    for seen in launches(program):
        first = {each.warp: each for each in seen if each.product == 0 and each.trip == 0}
        trips = 1 + max(each.trip for each in seen)
        for each in seen:
            orders = {name: order_of(program, name, getattr(each, name)) for name in "ab"}
            is_right = orders["a"] == orders["b"] and agree(program, each, first[each.warp])
            for name, order in orders.items():
                yield each, body_of(program, each.trip, trips), name, is_right and order is not None


def stays(program: Program) -> bool:
    """Whether each product of the main loop has the same elements in all trips."""
    found: dict[tuple[int, int], set[bytes]] = {}
    seen = launches(program)[0]
    trips = 1 + max(each.trip for each in seen)
    for each in seen:
        if body_of(program, each.trip, trips) == 0:
            found.setdefault((each.product, each.warp), set()).add(each.a.tobytes() + each.b.tobytes())
    return all(len(each) == 1 for each in found.values())


def go_on(program: Program) -> dict[tuple[int, int], bool]:
    """For each body and product, whether A and B go on along K alike from the first trip on, in every warp."""
    first = {(each.product, each.warp): each for each in launches(program)[0] if each.trip == 0}
    found: dict[tuple[int, int], bool] = {}
    for seen in launches(program):
        trips = 1 + max(each.trip for each in seen)
        for each in seen:
            key = body_of(program, each.trip, trips), each.product
            found[key] = found.get(key, True) and agree(program, each, first[each.product, each.warp])
    return found
