"""Random kernels that copy tiles into shared memory and multiply them with wgmma, and what an interpreter sees there.

Each element of a matrix is its own number, so shared memory says where each element comes from. The rule by
which wgmma reads is that of `tests/oracle/operands.py`. The interpreter has no tensor maps: what a tensor copy brings,
threads copy there, with an XOR of the address. Nothing here is shared with the package.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tests.oracle.operands import WIDTHS, Operand
from tests.ptx_oracle import Buffer, run_kernel

CODES = {"none": 0, "128B": 1, "64B": 2, "32B": 3}
NAMES = {0: "none", 32: "32B", 64: "64B", 128: "128B"}
TRIPS = 3
"""Trips of the main loop in a launch."""


@dataclass(frozen=True)
class Side:
    """One operand: how threads write its tile, and what its descriptor says.

    Attributes:
        rows: Rows of M or columns of N.
        mn: Whether rows lie side by side.
        mode: The swizzle mode of the descriptor.
        mask: The XOR of the writer: 0, 1, 3 or 7.
        lbo: The leading byte offset.
        sbo: The stride byte offset.
        step: Bytes from one step along K to the next one.
        base_offset: The base offset.
        shift: Bytes by which the start is too far.
        stored: Whether threads load and store, instead of `cp.async`.
        box: The swizzle mode of the tensor map by which tensor copies fill it; empty if threads do.
        advance: Columns of K from one stage to the next one, if it is not what a stage has.
        late: Stages by which the main loop is behind the prologue.
        wider: Whether lines in global memory are twice as far from each other in the main loop as before it.
    """

    rows: int
    mn: bool
    mode: str
    mask: int
    lbo: int
    sbo: int
    step: int
    base_offset: int = 0
    shift: int = 0
    stored: bool = False
    box: str = ""
    advance: int = 0
    late: int = 0
    wider: bool = False


@dataclass(frozen=True)
class Program:
    """A kernel: `columns` of K for each of `stages`; the tiles are aligned, and lie behind `pad` bytes."""

    a: Side
    b: Side
    columns: int
    stages: int
    align: int = 1024
    pad: int = 0

    @property
    def stage_bytes(self) -> int:
        return self.tile_bytes(self.a) + self.tile_bytes(self.b)

    def tile_bytes(self, side: Side) -> int:
        return -(-side.rows * self.columns * 2 // 1024) * 1024

    @property
    def bytes(self) -> int:
        return self.stages * self.stage_bytes + 1024

    @property
    def steps(self) -> int:
        return self.columns // 16

    def lines(self, side: Side) -> int:
        """The lines of a tile in global memory."""
        return self.columns if side.mn else side.rows

    def box_of(self, side: Side) -> tuple[int, int]:
        """The bytes of a line of a box, and how many lines it has."""
        return WIDTHS[side.box] or 16, self.lines(side)

    @property
    def maps(self) -> tuple[str, ...]:
        """The boxes of the tensor maps, as the command takes them."""
        sides = {"amap": self.a, "bmap": self.b}
        boxes = {name: (side, *self.box_of(side)) for name, side in sides.items() if side.box}
        return tuple(f"{name}={inner // 2}x{lines}xf16,{side.box}" for name, (side, inner, lines) in boxes.items())

    def line_bytes(self, side: Side) -> int:
        """The bytes of one line of a tile in global memory."""
        return 2 * (side.rows if side.mn else self.columns)


def right(draw: random.Random) -> Program:
    """A kernel without a mistake."""
    width = draw.choice([0, 32, 64, 128])
    columns = width // 2 or draw.choice([16, 32])
    sides: list[Side] = []
    for rows in (64, draw.choice([8, 16, 32, 64])):
        mn = draw.random() < 0.4 and (width == 0 or rows * 2 in (32, 64, 128))
        own = width if not mn or width == 0 else rows * 2
        stored = draw.random() < 0.3
        if own:
            mask, sbo, lbo = own // 16 - 1, 8 * own, draw.choice([0, 16])
            sides.append(Side(rows, mn, NAMES[own], mask, lbo, sbo, 16 * own if mn else 32, stored=stored))
        elif mn:
            sides.append(Side(rows, mn, "none", 0, 128, columns * 16, 256, stored=stored))
        else:
            sides.append(Side(rows, mn, "none", 0, rows * 16, 128, 2 * rows * 16, stored=stored))
    return Program(sides[0], sides[1], columns, draw.choice([1, 2, 3]))


def by_tensor_copies(program: Program, draw: random.Random) -> Program:
    """The same kernel with tensor copies in the place of copies by threads, for A, for B or for both."""
    of_both = [replace(side, box=side.mode, stored=False) for side in (program.a, program.b)]
    a, b = draw.choice([(of_both[0], of_both[1]), (of_both[0], program.b), (program.a, of_both[1])])
    return replace(program, a=a, b=b)


MISTAKES = (
    "none",
    "mode",
    "sbo",
    "lbo",
    "base offset",
    "mask",
    "step",
    "both steps",
    "shift",
    "swapped",
    "advance",
    "late",
    "both late",
    "wider",
    "map",
)


def planted(program: Program, mistake: str, draw: random.Random) -> Program:
    """The kernel with a mistake, which may change nothing."""
    name = draw.choice(["a", "b"])
    side: Side = getattr(program, name)
    match mistake:
        case "mode":
            side = replace(side, mode=draw.choice([each for each in CODES if each != side.mode]))
        case "sbo":
            side = replace(side, sbo=side.sbo // 2 if draw.random() < 0.5 else side.sbo * 2)
        case "lbo":
            side = replace(side, lbo=side.lbo + 128)
        case "base offset":
            side = replace(side, base_offset=draw.randrange(1, 8))
        case "map":
            others = [
                mode for mode in CODES if mode != side.box and program.line_bytes(side) % (WIDTHS[mode] or 16) == 0
            ]
            side = replace(side, box=draw.choice(others or [side.box])) if side.box else side
        case "mask":
            side = replace(side, mask=draw.choice([each for each in (0, 1, 3, 7) if each != side.mask]))
        case "step":
            side = replace(side, step=side.step + draw.choice([-16, 16]))
        case "both steps":
            return replace(
                program, a=replace(program.a, step=program.a.step // 2), b=replace(side, step=side.step // 2)
            )
        case "shift":
            side = replace(side, shift=draw.choice([16, 32, 128]))
        case "swapped":
            side = replace(side, lbo=side.sbo, sbo=side.lbo)
        case "advance":
            side = replace(side, advance=draw.choice([program.columns // 2, 2 * program.columns]))
        case "late":
            side = replace(side, late=1)
        case "both late":
            return replace(program, a=replace(program.a, late=1), b=replace(program.b, late=1))
        case "wider":
            side = replace(side, wider=True)
        case _:
            pass
    return replace(program, a=side) if name == "a" else replace(program, b=side)


def text(program: Program, *, is_dump: bool = False) -> str:
    """The PTX; with `is_dump` it writes shared memory and descriptors to the buffer `out` instead of multiplying."""
    n = program.b.rows
    sums = ", ".join(f"%f{at}" for at in range(n // 2))
    maps = "" if is_dump else ", .param .align 64 .b8 amap[128], .param .align 64 .b8 bmap[128]"
    head = f"""
.version 8.3
.target sm_90a
.address_size 64
{f".shared .align 1024 .b8 pad[{program.pad}];" if program.pad else ""}
.shared .align {program.align} .b8 tile[{program.bytes}];
.shared .align 8 .b64 full;
.entry k(
.param .u64 a, .param .u64 b, .param .u32 lda, .param .u32 ldb, .param .u32 n, .param .u64 out{maps}
) .reqntid 128
{{
.reg .pred %p<6>; .reg .b32 %r<60>; .reg .f32 %f<40>; .reg .b64 %rd<60>;
ld.param.u64 %rd1, [a]; ld.param.u64 %rd2, [b]; ld.param.u32 %r1, [lda]; ld.param.u32 %r2, [ldb];
ld.param.u32 %r3, [n]; ld.param.u64 %rd9, [out];
mov.u32 %r4, tile; mov.u32 %r5, %tid.x; mov.u32 %r6, 0; mov.u32 %r8, 0;
"""
    body: list[str] = [head]
    ahead = program.stages - 1
    for stage in range(ahead):
        body.append(f"mov.u32 %r9, {stage * program.stage_bytes}; mov.u32 %r10, {stage};")
        body += fill(program, is_loop=False, is_dump=is_dump)
    body.append(f"mov.u32 %r7, {ahead * program.stage_bytes};")
    body.append("L:")
    body.append(f"mov.u32 %r9, %r7; add.u32 %r10, %r6, {ahead};")
    if program.stages == 1:
        body += fill(program, is_loop=True, is_dump=is_dump)
    body.append("cp.async.commit_group; cp.async.wait_group 0; bar.sync 0; fence.proxy.async.shared::cta;")
    for step in range(program.steps):
        body += multiply(program, step, sums, is_dump=is_dump)
    body.append("bar.sync 0;")
    if program.stages > 1:
        body += fill(program, is_loop=True, is_dump=is_dump)
    last = (program.stages - 1) * program.stage_bytes
    for place in ("%r7", "%r8"):
        body.append(f"setp.eq.u32 %p1, {place}, {last}; add.u32 {place}, {place}, {program.stage_bytes};")
        body.append(f"selp.b32 {place}, 0, {place}, %p1;")
    body.append("add.u32 %r6, %r6, 1; setp.lt.u32 %p2, %r6, %r3; @%p2 bra L;\nret;\n}")
    return "\n".join(body)


def fill(program: Program, *, is_loop: bool, is_dump: bool, roles: str = "ab") -> Iterator[str]:
    """Copies the tiles of the stage at %r9, of the columns of K with the number %r10."""
    sides = {"a": (program.a, "%rd1", "%r1"), "b": (program.b, "%rd2", "%r2")}
    for side, pointer, pitch in map(sides.__getitem__, roles):
        columns, stage = side.advance or program.columns, "%r10"
        if side.late and is_loop and program.stages > 1:
            stage = "%r19"
            yield f"sub.u32 {stage}, %r10, {side.late};"
        begin = 0 if side is program.a else program.tile_bytes(program.a)
        line_step = pitch
        if side.wider and is_loop and program.stages > 1 and not side.box:
            line_step = "%r18"
            yield f"shl.b32 %r18, {pitch}, 1;"
        if side.box and not is_dump:
            yield from tensor_copies(program, side, begin, f"mul.lo.u32 %r17, {stage}, {columns};")
            continue
        chunks = program.line_bytes(side) // 16
        count = chunks * (program.columns if side.mn else side.rows)
        for first in range(0, count, 128):
            yield f"add.u32 %r11, %r5, {first}; shr.u32 %r12, %r11, {chunks.bit_length() - 1};"
            yield f"and.b32 %r13, %r11, {chunks - 1}; and.b32 %r14, %r12, 7; shr.u32 %r15, %r12, 3;"
            if side.box:
                yield from place_of_box(program, side, begin)
            else:
                row, group, chunk = places(side)
                yield f"mul.lo.u32 %r14, %r14, {row}; mad.lo.u32 %r14, %r15, {group}, %r14;"
                yield f"mad.lo.u32 %r14, %r13, {chunk}, %r14; shr.u32 %r16, %r14, 7; and.b32 %r16, %r16, {side.mask};"
                yield "shl.b32 %r16, %r16, 4; xor.b32 %r14, %r14, %r16;"
                yield f"add.u32 %r14, %r14, %r9; add.u32 %r14, %r14, {begin}; add.u32 %r14, %r14, %r4;"
            if side.mn:
                yield f"mad.lo.u32 %r17, {stage}, {columns}, %r12; mul.lo.u32 %r17, %r17, {line_step};"
            else:
                yield f"mul.lo.u32 %r17, %r12, {line_step}; mad.lo.u32 %r17, {stage}, {columns}, %r17;"
            yield f"mad.wide.u32 %rd3, %r17, 2, {pointer}; mul.wide.u32 %rd4, %r13, 16; add.s64 %rd3, %rd3, %rd4;"
            guard = f"setp.lt.u32 %p3, %r11, {count};" if count < 128 else ""
            at = "@%p3 " if guard else ""
            yield guard
            if side.stored:
                yield f"{at}ld.global.v4.u32 {{%r20, %r21, %r22, %r23}}, [%rd3];"
                yield f"{at}st.shared.v4.u32 [%r14], {{%r20, %r21, %r22, %r23}};"
            else:
                yield f"{at}cp.async.cg.shared.global [%r14], [%rd3], 16;"


def tensor_copies(program: Program, side: Side, begin: int, along_k: str) -> Iterator[str]:
    """One thread copies the boxes of a tile, one behind the other; `along_k` puts the first column of K into %r17."""
    inner, lines = program.box_of(side)
    name = "amap" if side is program.a else "bmap"
    yield f"{along_k} mov.b64 %rd3, {name}; cvta.param.u64 %rd3, %rd3; mov.u32 %r16, full; setp.eq.u32 %p3, %r5, 0;"
    for at in range(program.line_bytes(side) // inner):
        first = at * inner // 2
        yield f"add.u32 %r14, %r9, {begin + at * inner * lines}; add.u32 %r14, %r14, %r4; add.u32 %r18, %r17, {first};"
        where = f"{{{first}, %r17}}" if side.mn else "{%r18, 0}"
        opcode = "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes"
        yield f"@%p3 {opcode} [%r14], [%rd3, {where}], [%r16];"


def place_of_box(program: Program, side: Side, begin: int) -> Iterator[str]:
    """Puts into %r14 where a tensor copy brings chunk %r13 of line %r12: the swizzle is an XOR of the address."""
    inner, lines = program.box_of(side)
    chunks = inner // 16
    yield f"div.u32 %r14, %r13, {chunks}; rem.u32 %r16, %r13, {chunks}; mul.lo.u32 %r14, %r14, {inner * lines};"
    yield f"mad.lo.u32 %r14, %r12, {inner}, %r14; mad.lo.u32 %r14, %r16, 16, %r14;"
    yield f"add.u32 %r14, %r14, %r9; add.u32 %r14, %r14, {begin}; add.u32 %r14, %r14, %r4;"
    yield f"shr.u32 %r16, %r14, 7; and.b32 %r16, %r16, {chunks - 1};"
    yield "shl.b32 %r16, %r16, 4; xor.b32 %r14, %r14, %r16;"


def places(side: Side) -> tuple[int, int, int]:
    """Where threads write: bytes from line to line, from eight lines to the next ones, and from chunk to chunk."""
    if side.mask or side.mode != "none":
        width = 16 * (side.mask + 1) if side.mask else WIDTHS[side.mode]
        return width, 8 * width, 16
    return (16, 128, side.rows * 16) if not side.mn else (16, 128, side.sbo)


def multiply(
    program: Program, step: int, sums: str, *, is_dump: bool, stages: tuple[str, str] = ("%r8", "%r8"), scale: str = "1"
) -> Iterator[str]:
    """One step along K of the stages of A and B, or what shared memory holds and the two descriptors."""
    for side, register, stage in ((program.a, 5, stages[0]), (program.b, 6, stages[1])):
        begin = (0 if side is program.a else program.tile_bytes(program.a)) + step * side.step + side.shift
        bits = CODES[side.mode] << 62 | side.base_offset << 49 | side.sbo >> 4 << 32 | side.lbo >> 4 << 16
        yield f"add.u32 %r30, %r4, {stage}; add.u32 %r30, %r30, {begin}; and.b32 %r30, %r30, 0x3ffff;"
        yield f"shr.u32 %r30, %r30, 4; cvt.u64.u32 %rd{register}, %r30; or.b64 %rd{register}, %rd{register}, {bits};"
    if not is_dump:
        flags = f"{int(program.a.mn)}, {int(program.b.mn)}"
        opcode = f"wgmma.mma_async.sync.aligned.m64n{program.b.rows}k16.f32.f16.f16"
        yield f"{opcode} {{{sums}}}, %rd5, %rd6, {scale}, 1, 1, {flags};"
        return
    size = program.bytes + 16
    yield f"mad.lo.u32 %r31, %r6, {program.steps}, {step}; mul.wide.u32 %rd7, %r31, {size}; add.s64 %rd7, %rd7, %rd9;"
    yield "st.global.v2.u64 [%rd7], {%rd5, %rd6};"
    for first in range(0, program.bytes, 2048):
        yield f"mad.lo.u32 %r32, %r5, 16, {first}; cvt.u64.u32 %rd8, %r32; add.s64 %rd8, %rd8, %rd7;"
        yield f"setp.lt.u32 %p4, %r32, {program.bytes}; add.u32 %r33, %r32, %r4;"
        yield "@%p4 ld.shared.v4.u32 {%r20, %r21, %r22, %r23}, [%r33];"
        yield "@%p4 st.global.v4.u32 [%rd8+16], {%r20, %r21, %r22, %r23};"


@dataclass(frozen=True)
class Seen:
    """What one instruction reads of each operand, as numbers of elements; -1 where nothing was written."""

    trip: int
    step: int
    a: Any
    b: Any

    def is_affine(self, side: str) -> bool:
        """Whether the elements are those of an affine map, and none is missing."""
        own = getattr(self, side)
        rows, columns = np.arange(own.shape[0])[:, None], np.arange(own.shape[1])[None, :]
        expected = own[0, 0] + rows * (own[1, 0] - own[0, 0]) + columns * (own[0, 1] - own[0, 0])
        return bool((own >= 0).all() and (own == expected).all())


def pitch_of(program: Program, side: Side) -> int:
    """Elements from line to line of a matrix in global memory."""
    return (
        side.rows + 8 if side.mn else (side.advance or program.columns) * (TRIPS + program.stages) + program.columns + 8
    )


def see(program: Program) -> list[Seen]:
    """Run the kernel, and read back what each instruction multiplies."""
    matrices = [np.arange(1, 1 << 16, dtype=np.uint16) for _ in range(2)]
    size = program.bytes + 16
    launch = run_kernel(
        text(program, is_dump=True),
        "k",
        (128,),
        params=[
            *(Buffer(1 << 17, content=each) for each in matrices),
            *(pitch_of(program, side) for side in (program.a, program.b)),
            TRIPS,
            Buffer(size * TRIPS * program.steps),
        ],
    )
    assert not launch.partial, launch.error
    raw = launch.buffers[5].tobytes()
    found: list[Seen] = []
    nothing: Any = None
    for at in range(TRIPS * program.steps):
        part = raw[at * size : (at + 1) * size]
        memory = np.frombuffer(part[16:], np.uint16)
        read: list[Any] = []
        for role, side, bits in zip("AB", (program.a, program.b), np.frombuffer(part[:16], np.uint64), strict=True):
            width = {0: 0, 1: 128, 2: 64, 3: 32}[int(bits) >> 62]
            lbo, sbo = ((int(bits) >> low & 0x3FFF) << 4 for low in (16, 32))
            base_offset, start = int(bits) >> 49 & 7, (int(bits) & 0x3FFF) << 4
            shape = (side.rows, 16, 2, side.mn, width)
            rule = Operand(role, *shape, lbo, sbo, base_offset, base=nothing, tile=nothing, k_first=True, runs=())
            begin = (int(np.frombuffer(part[:8], np.uint64)[0]) & 0x3FFF) << 4
            begin -= program.a.shift + at % program.steps * program.a.step + stage_of(program, at) * program.stage_bytes
            cells = [[(rule.read_at(start, r, k) - begin) // 2 for k in range(16)] for r in range(side.rows)]
            places_ = np.array(cells)
            inside = (places_ >= 0) & (places_ < len(memory))
            read.append(np.where(inside, memory[np.where(inside, places_, 0)].astype(np.int64) - 1, -1))
        found.append(Seen(at // program.steps, at % program.steps, *read))
    return found


def stage_of(program: Program, at: int) -> int:
    """The stage of an instruction."""
    return at // program.steps % program.stages


def column(side: Side, element: int, pitch: int) -> int:
    """The column of K of an element of a matrix."""
    return element // pitch if side.mn else element % pitch
