"""`B,S`: every swizzle of a tile's offsets or addresses, a table per M."""

from __future__ import annotations

from collections.abc import Sequence

from swzverify.errors import SwzError
from swzverify.layout import Swizzle
from swzverify.search.cures.tiles import swizzle_reach
from swzverify.search.parameter_maps.price import Price, Sweep, Table, check_size, price, vector_of
from swzverify.subjects import Access, OffsetMap, Tile
from swzverify.subjects.tile import SwizzleOn


def sweep_swizzles(tile: Tile, accesses: Sequence[Access], *, base: int | None = None) -> Sweep:
    """B down, S across, for each M, or for one: B = 0 is no swizzle, and S goes from B on.

    M starts where the vectors of the accesses stay whole, and M + B + S ends with the bits that the
    tile has: what reads higher bits reads zeros.

    Raises:
        SwzError: SWZ583 for a tile whose map is an expression, an M that tears vectors or has no
            swizzle, or too much to price.
    """
    if isinstance(tile.layout, OffsetMap):
        raise SwzError(
            "SWZ583",
            f"tile {tile.name} is an expression, so that a swizzle has nothing to act on",
            hint="give the tile a layout",
        )
    on: SwizzleOn = tile.swizzle_on
    reach, least = swizzle_reach(tile, on), _least(tile, accesses, on)
    bases = range(least, reach - 1)
    if base is not None:
        if base not in bases:
            raise SwzError(
                "SWZ583",
                f"tile {tile.name} has no swizzle with M = {base} to draw",
                hint=f"M from {least} on keeps vectors whole, and {reach} bits leave room up to {reach - 2}",
            )
        bases = range(base, base + 1)
    if not bases:
        raise SwzError(
            "SWZ583",
            f"tile {tile.name} has {reach} bits of offset, and vectors take {least} of them: no swizzle fits",
            hint="a larger tile, or narrower instructions",
        )
    check_size(accesses, sum(len(_fields(reach - each)) for each in bases))
    tables = [_table(tile, access, on, reach, each) for access in accesses for each in bases]
    acts = "element offsets" if on == "offset" else "byte addresses"
    words = (
        f"Each cell is Swizzle<B,M,S> on {acts}; the row B = 0 is no swizzle.",
        f"M begins at {least}, below which a swizzle tears vectors apart." if least else "",
    )
    return Sweep(tile, "swizzle", tuple(filter(None, words)), tuple(tables))


def _least(tile: Tile, accesses: Sequence[Access], on: SwizzleOn) -> int:
    """The smallest M that keeps the vectors of all accesses whole."""
    vector = vector_of(accesses, tile)
    if on == "address":
        vector = max(vector * tile.element_bits // 8, -(-tile.element_bits // 8))
    return (vector - 1).bit_length()


def _fields(bits: int) -> list[tuple[int, int]]:
    """B and S that fit into so many bits above M; no swizzle first."""
    return [(0, 0), *((b, s) for b in range(1, bits // 2 + 1) for s in range(b, bits - b + 1))]


def _table(tile: Tile, access: Access, on: SwizzleOn, reach: int, base: int) -> Table:
    fields = _fields(reach - base)
    shifts = range(1, max(s for _, s in fields) + 1)
    prices: list[Price] = []
    for bits, shift in fields:
        name = f"Swizzle<{bits},{base},{shift}>" if bits else "no swizzle"
        swizzled = tile.relaid(tile.layout, Swizzle(bits, base, shift), on)
        prices.append(price(access, swizzled, bits, max(shift - 1, 0), name))
    heads = tuple(f"B={bits}" for bits in range(max(b for b, _ in fields) + 1))
    now = str(tile.swizzle) if tile.swizzle is not None else "no swizzle"
    across = tuple(f"S={shift}" for shift in shifts)
    return Table(access, f"M = {base}", "B", "S", heads, across, tuple(prices), now)
