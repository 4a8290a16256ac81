"""`swizzle`: the tile's own layout under every Swizzle<B,M,S>, or none."""

from __future__ import annotations

from swzverify.layout.swizzle_range import swizzle_fields
from swzverify.search.cures.tiles import swizzle_reach
from swzverify.search.synth.frame import Frame
from swzverify.search.synth.pricing import Fields
from swzverify.search.synth.problem import Problem
from swzverify.subjects import Tile

NONE = (0, 0, 0)
"""No swizzle, which every family of swizzles has as its first member."""


def frames(problem: Problem) -> list[Frame]:
    """One frame: B >= 0, |S| >= B, M at least a vector, M + B + |S| within the tile's own bits."""
    tiles = tuple(variant.bare() for variant in problem.variants)
    return [Frame(tiles, every_swizzle(problem, tiles), problem.on)]


def every_swizzle(problem: Problem, tiles: tuple[Tile, ...]) -> Fields:
    """No swizzle, and every swizzle that keeps the narrowest vectors whole.

    The swizzles stay within the bits of the offsets, or of the addresses inside a stage.
    """
    least = problem.base_for(problem.narrowest_bits)
    if least is None:
        return Fields.of([NONE])
    reach = max(swizzle_reach(tile, problem.on) for tile in tiles)
    return Fields.of([NONE, *swizzle_fields(reach, least, backwards=True)])
