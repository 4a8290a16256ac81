"""Cutting a layout into tiles and repeating one as a tile: CuTe's divide and product families.

A *tiler* is a layout or an int (n stands for n:1), applied to the whole layout as one linear index;
or a tuple of tilers, applied mode by mode, where None leaves a mode alone and missing ones at the
end do too. Source: NVIDIA CUTLASS, include/cute/layout.hpp.
"""

from __future__ import annotations

from typing import TypeAlias

from swzverify.errors import SwzError
from swzverify.layout.algebra import complement, composition, from_leaves, make_layout
from swzverify.layout.layout import Layout

Tiler: TypeAlias = "Layout | int | tuple[Tiler, ...] | None"


def logical_divide(layout: Layout, tiler: Tiler) -> Layout:
    """The layout as (tile, rest).

    `tiler` selects the first tile's indices; the second mode goes from tile to tile. With a tuple, each
    mode becomes such a pair. If a tile does not divide the size, the last tile reaches beyond it, as in
    CuTe.

    Raises:
        SwzError: SWZ208 if the tiler leaves indices out or composition is not defined, SWZ209 if there
            are too many tilers.

    >>> print(logical_divide(Layout(16, 3), 4))
    (4,4):(3,12)
    >>> print(logical_divide(Layout((8, 64), (64, 1)), (4, None)))
    ((4,2),64):((64,256),1)
    """
    if tiler is None:
        return layout
    if isinstance(tiler, tuple):
        pairs = [logical_divide(mode, part) for mode, part in _paired(layout, tiler)]
        return make_layout(*pairs, *layout.modes[len(tiler) :])
    tile = Layout(tiler) if isinstance(tiler, int) else tiler
    _check_no_gaps(tile)
    return composition(layout, make_layout(tile, complement(tile, layout.size)))


def zipped_divide(layout: Layout, tiler: Tiler) -> Layout:
    """The layout as two modes: all tile modes gathered in the first, all the rest in the second.

    >>> print(zipped_divide(Layout((8, 64), (64, 1)), (4, 16)))
    ((4,16),(2,4)):((64,1),(256,16))
    """
    if tiler is None:
        return make_layout(from_leaves([]), layout)
    if isinstance(tiler, tuple):
        halves = [zipped_divide(mode, part).modes for mode, part in _paired(layout, tiler)]
        tiles = make_layout(*(half[0] for half in halves))
        return make_layout(tiles, make_layout(*(half[1] for half in halves), *layout.modes[len(tiler) :]))
    return logical_divide(layout, tiler)


def tiled_divide(layout: Layout, tiler: Tiler) -> Layout:
    """The layout (tile, rest, rest, ...): `zipped_divide` with each rest as a mode of its own.

    >>> print(tiled_divide(Layout((8, 64), (64, 1)), (4, 16)))
    ((4,16),2,4):((64,1),256,16)
    """
    tile, rest = zipped_divide(layout, tiler).modes
    return make_layout(tile, *rest.modes)


def logical_product(block: Layout, tiler: Tiler) -> Layout:
    """The layout (block, repeats): one copy of `block` for every element of `tiler`, without overlap.

    With a tuple, each mode is repeated on its own.

    Raises:
        SwzError: SWZ208 if `block` overlaps itself, SWZ209 if there are too many tilers.

    >>> print(logical_product(Layout((2, 2), (4, 1)), 6))
    ((2,2),(2,3)):((4,1),(2,8))
    """
    if tiler is None:
        return block
    if isinstance(tiler, tuple):
        pairs = [logical_product(mode, part) for mode, part in _paired(block, tiler)]
        return make_layout(*pairs, *block.modes[len(tiler) :])
    repeats = Layout(tiler) if isinstance(tiler, int) else tiler
    room = complement(block, block.size * repeats.cosize)
    return make_layout(block, composition(room, repeats))


def blocked_product(block: Layout, tiler: Layout) -> Layout:
    """The `logical_product` mode by mode, with whole blocks.

    Mode i is (block's mode i, tiler's mode i).

    >>> print(blocked_product(Layout((2, 5), (5, 1)), Layout((3, 4))))
    ((2,3),(5,4)):((5,10),(1,30))
    """
    blocks, repeats = _ranked_product(block, tiler)
    return make_layout(*(make_layout(b, r) for b, r in zip(blocks, repeats, strict=True)))


def raked_product(block: Layout, tiler: Layout) -> Layout:
    """The `logical_product` mode by mode, with interleaved blocks.

    Mode i is (tiler's mode i, block's mode i).

    >>> print(raked_product(Layout((2, 5), (5, 1)), Layout((3, 4))))
    ((3,2),(4,5)):((10,5),(30,1))
    """
    blocks, repeats = _ranked_product(block, tiler)
    return make_layout(*(make_layout(r, b) for b, r in zip(blocks, repeats, strict=True)))


def _ranked_product(block: Layout, tiler: Layout) -> tuple[tuple[Layout, ...], tuple[Layout, ...]]:
    rank = max(block.rank, tiler.rank)
    padded = [make_layout(*part.modes, *[from_leaves([])] * (rank - part.rank)) for part in (block, tiler)]
    blocks, repeats = logical_product(padded[0], padded[1]).modes
    return blocks.modes, repeats.modes


def _paired(layout: Layout, tilers: tuple[Tiler, ...]) -> list[tuple[Layout, Tiler]]:
    if not tilers or len(tilers) > layout.rank:
        raise SwzError("SWZ209", f"the layout {layout} has {layout.rank} modes, but there are {len(tilers)} tilers")
    return list(zip(layout.modes, tilers, strict=False))


def _check_no_gaps(tile: Layout) -> None:
    reached = 1
    for stride, shape in sorted((stride, shape) for shape, stride in tile.leaves if shape != 1 and stride):
        if stride % reached:
            raise SwzError(
                "SWZ208",
                f"the tiler {tile} cannot divide a layout: the stride {stride} is no multiple of {reached}, so some "
                f"indices would belong to no tile",
            )
        reached = shape * stride
