"""`swizzle`: the tile's own layout under every Swizzle<B,M,S>, or none."""

from __future__ import annotations

from swzverify.layout import Layout
from swzverify.layout.swizzle_range import swizzle_fields
from swzverify.subjects import Tile
from swzverify.subjects.tile import SwizzleOn
from swzverify.synth.frame import Frame
from swzverify.synth.pricing import Fields
from swzverify.synth.problem import Problem

NONE = (0, 0, 0)
"""No swizzle, which every family of swizzles has as its first member."""


def frames(problem: Problem) -> list[Frame]:
    """One frame: B >= 0, |S| >= B, M at least a vector, M + B + |S| within the tile's own bits."""
    tiles = tuple(variant.bare() for variant in problem.variants)
    return [Frame(tiles, every_swizzle(problem, tiles), problem.on)]


def every_swizzle(problem: Problem, tiles: tuple[Tile, ...]) -> Fields:
    """None, and every swizzle of the bits that offsets, or addresses inside a stage, have, as far as
    it keeps the narrowest vectors whole.
    """
    least = problem.base_for(problem.narrowest_bits)
    if least is None:
        return Fields.of([NONE])
    return Fields.of([NONE, *swizzle_fields(max(_reach(tile, problem.on) for tile in tiles), least, backwards=True)])


def _reach(tile: Tile, on: SwizzleOn) -> int:
    """The bits of the largest offset, or of the largest byte address from the start of a stage."""
    if on == "address":
        return (tile.allocation_bytes - 1).bit_length()
    assert isinstance(tile.layout, Layout)  # noqa: S101 - an expression has no swizzle
    return (tile.layout.cosize - 1).bit_length()
