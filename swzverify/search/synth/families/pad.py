"""`pad` and `pad+swizzle`: rows that begin farther apart, and swizzles of the padded offsets."""

from __future__ import annotations

from math import gcd

from swzverify.errors import SwzError
from swzverify.hardware import BANK_PERIOD_BYTES
from swzverify.layout import Layout
from swzverify.search.cures.pads import row_strides, stretched
from swzverify.search.synth.families.swizzle import NONE, every_swizzle
from swzverify.search.synth.frame import Frame
from swzverify.search.synth.pricing import Fields
from swzverify.search.synth.problem import Problem, Variant
from swzverify.subjects import Tile

PERIOD_BITS = 8 * BANK_PERIOD_BYTES


def frames(problem: Problem, *, swizzled: bool) -> list[Frame]:
    """A frame for each pad, the one that takes the fewest bytes first.

    A pad follows each row of the packed tile, at each of its strides, and is less than a bank period: a
    longer one puts every element into the bank of a shorter one. Every row begins at a multiple of a
    vector, and the tile has to fit into its room.

    Raises:
        SwzError: SWZ563 if no pad fits.
    """
    found: list[Frame] = []
    levels = min(len(_rows(problem, variant)) for variant in problem.variants)
    if not problem.narrowest_bits % problem.variants[0].tile.element_bits:
        for level in range(levels):
            found += _of_level(problem, level, swizzled=swizzled)
    if levels == 0:
        tiles = tuple(variant.placed(variant.packed) for variant in problem.variants)
        found.append(_frame(problem, tiles, [], 0, swizzled))
    if not found:
        tile = problem.variants[0].tile
        raise SwzError(
            "SWZ563",
            f"tile {tile.name}: no pad below {BANK_PERIOD_BYTES} bytes keeps vectors of "
            f"{problem.vector_bits // 8} bytes whole and fits into {problem.variants[0].room_bytes} bytes",
            hint="give the tile more room, or use narrower instructions",
        )
    found.sort(key=lambda each: (each.bytes, each.pad_elements))
    # No pad is one member, however many strides there are.
    first = [each for each in found if each.pad_elements == 0][:1]
    return first + [each for each in found if each.pad_elements]


def _rows(problem: Problem, variant: Variant) -> list[int]:
    """The strides of the packed tile behind which a pad tears no vector."""
    bits = variant.tile.element_bits
    return [row for row in row_strides(variant.packed) if row * bits >= problem.narrowest_bits]


def _of_level(problem: Problem, level: int, *, swizzled: bool) -> list[Frame]:
    found: list[Frame] = []
    rows = [_rows(problem, variant)[level] for variant in problem.variants]
    bits = problem.variants[0].tile.element_bits
    for pad in range(PERIOD_BITS // gcd(PERIOD_BITS, bits)):
        if any((row + pad) * bits % problem.narrowest_bits for row in rows):
            continue
        tiles = _padded(problem, rows, pad, padded=level == 0)
        if tiles is not None:
            found.append(_frame(problem, tiles, rows, pad, swizzled))
    return found


def _padded(problem: Problem, rows: list[int], pad: int, *, padded: bool) -> tuple[Tile, ...] | None:
    tiles: list[Tile] = []
    for variant, row in zip(problem.variants, rows, strict=True):
        packed = variant.packed
        layout = Layout(packed.shape, stretched(packed.stride, row, row + pad))
        try:
            tile = variant.placed(layout, padded=padded)
        except SwzError:
            return None
        if not fits(variant, tile):
            return None
        tiles.append(tile)
    return tuple(tiles)


def fits(variant: Variant, tile: Tile) -> bool:
    """Whether a layout keeps to the allocation, the pitch and the room that there is."""
    assert isinstance(tile.layout, Layout)  # noqa: S101 - a search changes layouts only
    return (
        tile.layout.cosize * tile.element_bits <= 8 * tile.allocation_bytes
        and tile.total_bytes <= variant.room_bytes
        and (tile.stages == 1 or tile.pitch_bytes >= tile.allocation_bytes)
    )


def _frame(problem: Problem, tiles: tuple[Tile, ...], rows: list[int], pad: int, swizzled: bool) -> Frame:
    fields = every_swizzle(problem, tiles) if swizzled else Fields.of([NONE])
    return Frame(tiles, fields, problem.on, tuple(rows), pad)
