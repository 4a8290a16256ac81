"""Kernels whose tensor copies write to several blocks of a cluster, and what each block then reads.

In each block of a cluster one thread copies parts of A and B, with numbers that tables have for the rank of the block:
to which blocks, to which rows of the tile, and from which rows and columns of the matrix. A warp group of each block
multiplies the tiles. What the tiles hold follows from the tables alone. Nothing here is shared with the package.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from math import prod

STAGES = 3
LINE = 128
"""The bytes of a row of a tile."""
DESCRIPTOR = 1 << 62 | 64 << 32
"""The 128B swizzle, and 1024 bytes from 8 rows to the next 8."""
PLAIN = "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
_NEXT = f"""add.u32 %r10, %r10, 1; setp.eq.u32 %p2, %r10, {STAGES}; selp.b32 %r10, 0, %r10, %p2;
add.u32 %r11, %r11, 1; // next"""
"""The next stage, and the next trip."""
_HEAD = """.version 8.3
.target sm_90a
.address_size 64
.shared .align 1024 .b8 atile[{a}];
.shared .align 1024 .b8 btile[{b}];
.shared .align 8 .b64 full[{stages}];
.entry k(.param .align 64 .b8 amap[128], .param .align 64 .b8 bmap[128], .param .u32 n, .param .u64 out)
  .reqntid 256{directive}
{{
.reg .pred %p<10>; .reg .b16 %h<4>; .reg .b32 %r<80>; .reg .f32 %f<8>; .reg .b64 %rd<20>;
ld.param.u32 %r1, [n]; ld.param.u64 %rd9, [out]; mov.u32 %r2, %cluster_ctarank; mov.u32 %r3, %clusterid.x;
mov.u32 %r4, atile; mov.u32 %r5, btile; mov.u32 %r6, full; mov.u32 %r7, %tid.x; mov.u32 %r8, %ctaid.x;
mov.u32 %r11, 0; mov.u32 %r10, 0; setp.ge.u32 %p9, %r7, 128; @%p9 bra USES; setp.ne.u32 %p8, %r7, 0; @%p8 bra DONE;
"""


@dataclass(frozen=True)
class Part:
    """What each block copies of one matrix, by its rank.

    Attributes:
        rows: The rows of a tile.
        box: The rows of a box.
        masks: The ranks to which it copies, as bits.
        places: The row of the tile at which its box begins.
        sources: The row of the matrix at which its box begins, behind that of the cluster or of the block.
        columns: The column of the matrix at which its first box begins.
        is_of_block: Whether the rows of the matrix are counted by `%ctaid.x`, and not by `%clusterid.x`.
    """

    rows: int
    box: int
    masks: tuple[int, ...]
    places: tuple[int, ...]
    sources: tuple[int, ...]
    columns: tuple[int, ...]
    is_of_block: bool = False


@dataclass(frozen=True)
class Program:
    """A kernel for clusters of some blocks along x and y."""

    cluster: tuple[int, int]
    a: Part
    b: Part

    @property
    def count(self) -> int:
        return prod(self.cluster)

    @property
    def maps(self) -> tuple[str, ...]:
        return tuple(f"{name}=64x{part.box}xbf16,128B" for name, part in (("amap", self.a), ("bmap", self.b)))


def right(cluster: tuple[int, int], *, is_of_block: bool = False) -> Program:
    """Blocks with one place along x have one tile of A, those with one place along y one tile of B.

    Each of them copies a part of the tile for all of them.
    """
    across, down = cluster
    ranks = [(rank % across, rank // across) for rank in range(across * down)]
    parts: list[Part] = []
    for rows, own, other, count in ((64, 0, 1, down), (8 * across, 1, 0, across)):
        box = rows // count
        alike = [sum(1 << at for at, each in enumerate(ranks) if each[own] == place[own]) for place in ranks]
        places = [place[other] * box for place in ranks]
        sources = [place[own] * rows + at for place, at in zip(ranks, places, strict=True)]
        if is_of_block:
            sources = [source - place[0] * rows for source, place in zip(sources, ranks, strict=True)]
        zeros = (0,) * len(ranks)
        parts.append(Part(rows, box, tuple(alike), tuple(places), tuple(sources), zeros, is_of_block))
    return Program(cluster, *parts)


def planted(program: Program, draw: random.Random) -> Program:
    """The kernel with another number in one of its tables, or with two that are exchanged."""
    name = draw.choice("ab")
    part: Part = getattr(program, name)
    table = draw.choice(["masks", "places", "sources", "columns"])
    numbers, at = list(getattr(part, table)), draw.randrange(program.count)
    if draw.random() < 0.4 and program.count > 1:
        other = draw.randrange(program.count)
        numbers[at], numbers[other] = numbers[other], numbers[at]
    elif table == "masks":
        numbers[at] = draw.randrange(1, 1 << program.count)
    elif table == "places":
        numbers[at] = draw.randrange(0, part.rows - part.box + 1, 8)
    elif table == "sources":
        numbers[at] = draw.choice(part.sources) + draw.choice([0, 1, 8, part.box])
    else:
        numbers[at] = draw.choice([8, 64])
    return replace(program, **{name: replace(part, **{table: tuple(numbers)})})


def text(program: Program, *, has_directive: bool = True, is_unrolled: bool = False, branch: str = "") -> str:
    """The PTX, with two steps in a trip of the loops if they are unrolled.

    With a `branch`, B is copied only where the rank is not below that number.
    """
    steps = range(2 if is_unrolled else 1)
    across, down = program.cluster
    directive = f" .reqnctapercluster {across}, {down}, 1" if has_directive else ""
    a, b = (STAGES * part.rows * LINE for part in (program.a, program.b))
    lines = [_HEAD.format(a=a, b=b, stages=STAGES, directive=directive)]
    for first, part in ((20, program.a), (30, program.b)):
        base, pitch = ("%r8" if part.is_of_block else "%r3"), part.rows * (1 if part.is_of_block else 64)
        lines += _table(f"%r{first}", [place * LINE for place in part.places])
        lines += _table(f"%r{first + 1}", part.sources)
        lines += _table(f"%r{first + 2}", part.columns)
        lines += _table(f"%r{first + 3}", part.masks)
        lines.append(f"mad.lo.u32 %r{first + 1}, {base}, {pitch}, %r{first + 1};")
    lines.append("cvt.u16.u32 %h0, %r23; cvt.u16.u32 %h1, %r33;")
    lines.append("COPY: // copies")
    for step in steps:
        lines += [_wait("COPY", step), *_copies(program, step, branch), _NEXT]
    lines.append("setp.lt.u32 %p3, %r11, %r1; @%p3 bra COPY;\nbra DONE;\nUSES: // products\nmov.f32 %f0, 0f00000000;")
    lines += [f"mov.f32 %f{at}, %f0;" for at in range(1, 8)]
    lines.append("USE:")
    for step in steps:
        lines += [_wait("USE", step), *_products(program), _NEXT]
    lines.append("setp.lt.u32 %p3, %r11, %r1; @%p3 bra USE;")
    lines.append("st.global.f32 [%rd9], %f0;\nDONE: ret;\n}")
    return "\n".join(lines)


def _table(register: str, numbers: Sequence[int]) -> Iterator[str]:
    """A number that the rank of the block decides."""
    yield f"mov.u32 {register}, {numbers[0]};"
    for rank, number in enumerate(numbers):
        if number != numbers[0]:
            yield f"setp.eq.u32 %p1, %r2, {rank}; selp.b32 {register}, {number}, {register}, %p1;"


def _wait(label: str, step: int) -> str:
    label = f"{label}_WAIT{step}"
    return f"mov.u32 %r70, 0;\n{label}: mbarrier.try_wait.parity.shared::cta.b64 %p7, [%r6], 0; @!%p7 bra {label};"


def _copies(program: Program, step: int, branch: str) -> Iterator[str]:
    for name, tile, first, mask, part in (("amap", 4, 20, 0, program.a), ("bmap", 5, 30, 1, program.b)):
        if branch and name == "bmap":
            yield f"setp.lt.u32 %p4, %r2, {branch}; @%p4 bra BEHIND{step};"
        yield (
            f"mad.lo.u32 %r40, %r10, {part.rows * LINE}, %r{tile}; add.u32 %r40, %r40, %r{first};"
            f"mad.lo.u32 %r41, %r11, 64, %r{first + 2}; mov.b64 %rd1, {name}; cvta.param.u64 %rd1, %rd1;"
            f"{PLAIN}.multicast::cluster [%r40], [%rd1, {{%r41, %r{first + 1}}}], [%r6], %h{mask}; // copy of {name}"
        )
    yield f"BEHIND{step}:"


def _products(program: Program) -> Iterator[str]:
    n = program.b.rows
    sums = ", ".join(f"%f{at}" for at in range(n // 2))
    for step in range(2):
        for register, tile, part in ((3, 4, program.a), (4, 5, program.b)):
            yield (
                f"mad.lo.u32 %r50, %r10, {part.rows * LINE}, %r{tile}; add.u32 %r50, %r50, {32 * step};"
                f"shr.u32 %r50, %r50, 4; and.b32 %r50, %r50, 0x3fff; cvt.u64.u32 %rd{register}, %r50;"
                f"or.b64 %rd{register}, %rd{register}, {DESCRIPTOR};"
            )
        yield f"wgmma.mma_async.sync.aligned.m64n{n}k16.f32.bf16.bf16 {{{sums}}}, %rd3, %rd4, 1, 1, 1, 0, 0;"


def holds(program: Program, name: str) -> bool:
    """Whether the tile of an operand holds an affine part of its matrix, in each block of a cluster."""
    part: Part = getattr(program, name)
    return all(_is_affine(_tile(program, part, rank)) for rank in range(program.count))


def _tile(program: Program, part: Part, rank: int) -> list[set[tuple[int, int]]]:
    """For each row of the tile of a block, the rows of the matrix that copies bring, each with its first column."""
    found: list[set[tuple[int, int]]] = [set() for _ in range(part.rows)]
    for maker in range(program.count):
        if part.masks[maker] >> rank & 1:
            first = part.sources[maker] + (maker % program.cluster[0] * part.rows if part.is_of_block else 0)
            for at in range(part.box):
                found[part.places[maker] + at].add((first + at, part.columns[maker]))
    return found


def _is_affine(tile: Sequence[set[tuple[int, int]]]) -> bool:
    if any(len(each) != 1 for each in tile):
        return False
    rows = [next(iter(each)) for each in tile]
    steps = {(two[0] - one[0], two[1] - one[1]) for one, two in pairwise(rows)}
    return len(steps) == 1
