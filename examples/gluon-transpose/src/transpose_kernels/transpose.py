"""A Gluon kernel that transposes fp32 matrices: a tile goes into shared memory by rows and leaves it by columns."""

from __future__ import annotations

import triton
from triton.experimental import gluon
from triton.experimental.gluon import language as gl

BLOCK = 32
WARPS = 4
VEC = 1
PER_PHASE = 1
MAX_PHASE = 32

# The claims hold for the numbers above: pytest proves them again when one changes.
#
# swz:begin
# swzverify: 1
# title: fp32 transpose through a swizzled tile
# source: triton.experimental.gluon, SwizzledSharedLayout
# target: sm_90
# from_source: [BLOCK, WARPS, VEC, PER_PHASE, MAX_PHASE]
# tiles:
#   tile: {element: f32, layout: "(BLOCK,BLOCK):(BLOCK,1)", swizzle: "Swizzle<5,0,5>"}
# maps:
#   gluon:  # SwizzledSharedLayout(VEC, PER_PHASE, MAX_PHASE, order=[1, 0]), in bytes
#     over: {r: BLOCK, c: BLOCK}
#     value: [base + 4*(r*BLOCK + (c/VEC ^ r/PER_PHASE%MAX_PHASE)*VEC + c%VEC)]
# claims:
#   - equivalent: [tile, gluon]
# swz:end


@gluon.jit
def transpose_kernel(
    source, target, rows, columns, BLOCK: gl.constexpr, WARPS: gl.constexpr, VEC: gl.constexpr,
    PER_PHASE: gl.constexpr, MAX_PHASE: gl.constexpr,
):  # fmt: skip
    """One tile: rows and columns are those of the source, multiples of BLOCK."""
    registers: gl.constexpr = gl.BlockedLayout([1, 1], [1, 32], [WARPS, 1], [1, 0])
    shared: gl.constexpr = gl.SwizzledSharedLayout(VEC, PER_PHASE, MAX_PHASE, order=[1, 0])
    tile = gl.allocate_shared_memory(gl.float32, [BLOCK, BLOCK], shared)
    r = gl.arange(0, BLOCK, gl.SliceLayout(1, registers))[:, None]
    c = gl.arange(0, BLOCK, gl.SliceLayout(0, registers))[None, :]
    first_row, first_column = gl.program_id(0) * BLOCK, gl.program_id(1) * BLOCK

    # A warp stores a row, and loads a column.
    #
    # swz:begin
    # accesses:
    #   store:
    #     tile: tile
    #     instruction: st.shared.b32
    #     threads: 32*WARPS
    #     for: {i: BLOCK/WARPS}
    #     coord: [i*WARPS + warp, lane]
    #   load:
    #     tile: tile
    #     instruction: ld.shared.b32
    #     threads: 32*WARPS
    #     for: {i: BLOCK/WARPS}
    #     coord: [lane, i*WARPS + warp]
    # claims:
    #   - bijective: tile
    #   - covers: {access: store, tile: tile}
    #   - covers: {access: load, tile: tile}
    #   - conflict_free: store
    #   - conflict_free: load
    # swz:end
    tile.store(gl.load(source + (first_row + r) * columns + first_column + c))
    gl.thread_barrier()
    gl.store(target + (first_column + r) * rows + first_row + c, tile.permute((1, 0)).load(registers))


def transpose(source, target):
    """Write the transpose of a contiguous fp32 matrix on the GPU; both extents are multiples of BLOCK."""
    rows, columns = source.shape
    grid = (triton.cdiv(rows, BLOCK), triton.cdiv(columns, BLOCK))
    transpose_kernel[grid](source, target, rows, columns, BLOCK, WARPS, VEC, PER_PHASE, MAX_PHASE, num_warps=WARPS)
