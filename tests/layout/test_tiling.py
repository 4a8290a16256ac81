"""Divides and products: what a tile and the rest must be, at every coordinate, and CuTe's own
examples.
"""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from swzverify.errors import SwzError
from swzverify.layout import (
    Layout,
    blocked_product,
    logical_divide,
    logical_product,
    raked_product,
    tiled_divide,
    zipped_divide,
)

TILES = st.sampled_from([Layout(1), Layout(2), Layout(4), Layout(4, 2), Layout((2, 2), (1, 4)), Layout((2, 2), (4, 1))])
WHOLES = st.sampled_from(
    [Layout(16), Layout(16, 3), Layout((8, 8), (8, 1)), Layout((4, 8), (1, 5)), Layout(((2, 4), 8), ((1, 16), 2))]
)


def offsets(layout):
    return [layout(index) for index in range(layout.size)]


@given(WHOLES, TILES)
@settings(deadline=None, max_examples=60)
def test_divide_law(whole, tile):
    result = logical_divide(whole, tile)
    inside, outside = result.modes
    assert inside.size == tile.size
    assert offsets(inside) == [whole(index) for index in offsets(tile)]
    assert sorted(offsets(result)) == sorted(offsets(whole))
    assert inside.size * outside.size == whole.size
    assert offsets(zipped_divide(whole, tile)) == offsets(result)


@pytest.mark.parametrize(
    ("layout", "tiler", "zipped", "tiled"),
    [
        pytest.param(
            Layout((9, (4, 8)), (59, (13, 1))),
            (Layout(3, 3), Layout((2, 4), (1, 8))),
            "((3,(2,4)),(3,(2,2))):((177,(13,2)),(59,(26,1)))",
            "((3,(2,4)),3,(2,2)):((177,(13,2)),59,(26,1))",
            id="cutlass-docs",
        ),
        pytest.param(
            Layout((8, 64), (64, 1)),
            (4, 16),
            "((4,16),(2,4)):((64,1),(256,16))",
            "((4,16),2,4):((64,1),256,16)",
            id="by-shape",
        ),
        pytest.param(
            Layout((8, 64), (64, 1)),
            (None, 16),
            "((1,16),((8),4)):((0,1),((64),16))",
            None,
            id="none-leaves-a-mode",
        ),
        pytest.param(
            Layout((8, 64, 3), (64, 1, 512)),
            (4, 16),
            "((4,16),(2,4,3)):((64,1),(256,16,512))",
            "((4,16),2,4,3):((64,1),256,16,512)",
            id="untouched-mode-goes-to-the-rest",
        ),
    ],
)
def test_divide_examples(layout, tiler, zipped, tiled):
    result = zipped_divide(layout, tiler)
    assert sorted(offsets(result)) == sorted(offsets(layout))
    if tiled is not None:
        assert str(result) == zipped
        assert str(tiled_divide(layout, tiler)) == tiled


def test_divide_by_mode_keeps_the_modes():
    result = logical_divide(Layout((8, 64), (64, 1)), (4, 16))
    assert str(result) == "((4,2),(16,4)):((64,256),(1,16))"
    assert offsets(result) == offsets(Layout((8, 64), (64, 1)))


def test_the_last_tile_may_reach_beyond():
    assert logical_divide(Layout(10), 4) == Layout((4, 3), (1, 4))


@pytest.mark.parametrize(
    ("operation", "layout", "tiler", "code"),
    [
        pytest.param(logical_divide, Layout(40), Layout((2, 2), (1, 5)), "SWZ208", id="tiles-leave-gaps"),
        pytest.param(logical_divide, Layout(40), Layout((2, 2), (1, 1)), "SWZ208", id="tile-overlaps"),
        pytest.param(logical_divide, Layout((6, 4), (1, 7)), Layout(4), "SWZ208", id="tile-tears-a-leaf"),
        pytest.param(logical_divide, Layout((6, 4)), (2, 2, 2), "SWZ209", id="too-many-tilers"),
        pytest.param(zipped_divide, Layout((6, 4)), (), "SWZ209", id="no-tiler"),
        pytest.param(logical_product, Layout((4, 4), (1, 2)), 2, "SWZ208", id="block-overlaps"),
        pytest.param(logical_product, Layout(4), (2, 2), "SWZ209", id="too-many-repeats"),
        pytest.param(logical_divide, Layout(16), -4, "SWZ201", id="negative-tile"),
        pytest.param(logical_divide, Layout(16), 0, "SWZ203", id="empty-tile"),
    ],
)
def test_refused(operation, layout, tiler, code):
    with pytest.raises(SwzError) as caught:
        operation(layout, tiler)
    assert caught.value.code == code


BLOCKS = st.sampled_from([Layout(4), Layout((2, 2), (2, 1)), Layout((2, 5), (5, 1)), Layout((2, 4), (1, 2))])
GRIDS = st.sampled_from([Layout(6), Layout((3, 4)), Layout((3, 4), (4, 1)), Layout((2, 2, 2))])


@given(BLOCKS, GRIDS)
@settings(deadline=None, max_examples=40)
def test_products_repeat_the_block_without_overlap(block, grid):
    product = logical_product(block, grid)
    first, repeats = product.modes
    assert offsets(first) == offsets(block)
    assert repeats.size == grid.size
    assert len(set(offsets(product))) == block.size * grid.size
    for made in (blocked_product(block, grid), raked_product(block, grid)):
        assert sorted(offsets(made)) == sorted(offsets(product))
        assert made.rank == max(block.rank, grid.rank)


@pytest.mark.parametrize(("make", "blocked"), [(blocked_product, True), (raked_product, False)])
def test_ranked_products_place_the_blocks(make, blocked):
    block, grid = Layout((2, 5), (5, 1)), Layout((3, 4))
    made = make(block, grid)
    for i in range(made.extents[0]):
        for j in range(made.extents[1]):
            inner = (i % 2, j % 5) if blocked else (i // 3, j // 4)
            outer = (i // 2, j // 5) if blocked else (i % 3, j % 4)
            assert made(i, j) == block(*inner) + math.prod((2, 5)) * grid(*outer)


def test_products_of_a_block_with_holes_fill_them_first():
    assert logical_product(Layout(4, 2), 2) == Layout((4, 2), (2, 1))
    assert logical_product(Layout(4, 2), 4) == Layout((4, (2, 2)), (2, (1, 8)))
    with pytest.raises(SwzError, match="SWZ208"):
        logical_product(Layout(4, 2), 3)


def test_product_by_mode():
    assert str(logical_product(Layout((2, 4), (1, 2)), (3, None))) == "((2,3),4):((1,2),2)"
