"""Where the stages of a tile begin, as far as banks and swizzles look at it."""

from __future__ import annotations

from math import gcd

from swzverify.claims.tile_points import base_values
from swzverify.errors import SwzError
from swzverify.subjects import Tile

MAX_STARTS = 1 << 18
ALWAYS_ZERO = 62
"""What stands for the number of low bits that are 0 where the only start is address 0."""


def start_step(tile: Tile) -> int:
    """A number of bytes of which every stage's start is a multiple, for every base of the tile.

    It is 0 if the only stage starts at address 0.

    >>> from swzverify.layout import Layout
    >>> start_step(Tile("A", 16, Layout((64, 64), (72, 1)), stages=2))
    1024
    """
    place = tile.origin
    apart = place.unit_bytes if place.count > 1 else 0
    return gcd(place.start_bytes, apart, tile.pitch_bytes if tile.stages > 1 else 0)


def free_bits(tile: Tile) -> int:
    """The largest n so that every stage begins at a multiple of 2^n bytes."""
    step = start_step(tile)
    return (step & -step).bit_length() - 1 if step else ALWAYS_ZERO


def starts(tile: Tile, period: int, *, every_stage: bool = True) -> list[int]:
    """The possible starts of a stage, in bytes modulo a power of two.

    They are over every base and every stage, or for stage 0 alone.

    Raises:
        SwzError: SWZ206 if there are more than 2^18.

    >>> from swzverify.layout import Layout
    >>> from swzverify.subjects import AlignedBase
    >>> starts(Tile("A", 16, Layout((8, 64), (64, 1)), base=AlignedBase(256)), 1024)
    [0, 256, 512, 768]
    """
    place = tile.origin
    count = base_values(place, period)
    if count * tile.stages > MAX_STARTS:
        raise SwzError(
            "SWZ206",
            f"tile {tile.name} can begin at {count} places that differ for a swizzle; at most {MAX_STARTS} are listed",
            hint="align the tile's base to more bytes, or choose a swizzle that looks at fewer bits",
        )
    bases = {(place.start_bytes + place.unit_bytes * i) % period for i in range(count)}
    stages = range(tile.stages if every_stage else 1)
    return sorted({(base + stage * tile.pitch_bytes) % period for base in bases for stage in stages})
