"""`tma`: the tile as a TMA box, in each swizzle mode of a tensor map."""

from __future__ import annotations

from swzverify.errors import SwzError
from swzverify.layout.tma import (
    BASE_ALIGN_BYTES,
    CHUNK_BYTES,
    FIRST_CAPABILITY,
    TmaMode,
    tma_allocation_bytes,
    tma_layout,
)
from swzverify.search.synth.families.pad import fits
from swzverify.search.synth.families.swizzle import NONE
from swzverify.search.synth.frame import Frame
from swzverify.search.synth.pricing import Fields
from swzverify.search.synth.problem import Problem, Variant
from swzverify.search.synth.starts import start_step
from swzverify.subjects import Tile


def frames(problem: Problem) -> list[Frame]:
    """A frame for each mode that the box goes with: none, 32B, 64B, 128B.

    Raises:
        SwzError: SWZ226 for a target without TMA, SWZ563 for a tile that no mode writes, with the
            reason of each.
    """
    access = problem.accesses[0]
    if access.target.capability < FIRST_CAPABILITY:
        raise SwzError(
            "SWZ226",
            f"{access.target.name} has no TMA: tensor copies came with sm_{FIRST_CAPABILITY}",
            hint="--family swizzle, pad or xor",
        )
    found: list[Frame] = []
    reasons: list[str] = []
    for mode in TmaMode:
        try:
            tiles = tuple(_box(problem, variant, mode) for variant in problem.variants)
        except SwzError as error:
            reasons.append(f"{mode}: {error.message}")
            continue
        swizzle = mode.swizzle
        triple = NONE if swizzle is None else (swizzle.bits, swizzle.base, swizzle.shift)
        on = "offset" if swizzle is None else "address"
        found.append(Frame(tiles, Fields.of([triple]), on, mode=mode))
    if not found:
        name = problem.variants[0].tile.name
        raise SwzError("SWZ563", f"no TMA mode writes tile {name}; {'; '.join(dict.fromkeys(reasons))}")
    found.sort(key=lambda each: each.bytes)
    return found


def _box(problem: Problem, variant: Variant, mode: TmaMode) -> Tile:
    """The tile in this mode.

    Raises:
        SwzError: SWZ563 if the mode does not fit; those of `tma_layout`.
    """
    tile = variant.tile
    leaves = variant.layout.leaves
    if len(leaves) != 2 or variant.layout.rank != 2 or leaves[1][1] != 1:
        raise SwzError("SWZ563", f"a box is (rows, row):(pitch, 1), not {variant.layout}")
    if mode is not TmaMode.NONE and problem.vector_bits > 8 * CHUNK_BYTES:
        raise SwzError("SWZ563", f"it moves chunks of {CHUNK_BYTES} bytes, and {problem.vector_bits // 8} are to stay")
    rows, inner = variant.layout.extents
    layout = tma_layout(mode, rows, inner, tile.element_bits)
    needed = tma_allocation_bytes(mode, rows, inner, tile.element_bits)
    allocation = tile.allocation_bytes if variant.form.bytes_given else needed
    pitch = tile.pitch_bytes if variant.form.pitch_given else None
    box = Tile(tile.name, tile.element_bits, layout, None, "offset", tile.base, tile.stages, allocation, pitch)
    if allocation < needed or not fits(variant, box):
        raise SwzError("SWZ563", f"it takes {needed} bytes for each of {tile.stages} stages, and there is less room")
    if start_step(box) % BASE_ALIGN_BYTES:
        raise SwzError("SWZ563", f"a box begins at a multiple of {BASE_ALIGN_BYTES} bytes, this tile does not always")
    return box
