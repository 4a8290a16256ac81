"""Against tensor-layouts (PyPI, MIT), a second implementation of the algebra.

Its `bank_conflicts` knows no phases of wide accesses and is not used here.
"""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from swzverify.errors import SwzError
from swzverify.layout import (
    ComposedLayout,
    Layout,
    Swizzle,
    blocked_product,
    coalesce,
    complement,
    composition,
    left_inverse,
    raked_product,
    right_inverse,
    tiled_divide,
    zipped_divide,
)
from tests.layout.drawn import layouts_of

oracle = pytest.importorskip("tensor_layouts")

LEAF = st.tuples(st.sampled_from([1, 2, 3, 4, 8]), st.sampled_from([0, 1, 2, 3, 4, 6, 8, 16, 24, 64]))
LAYOUTS = layouts_of(LEAF)


def theirs(layout):
    return oracle.Layout(layout.shape, layout.stride)


def offsets(layout, size):
    return [layout(index) for index in range(size)]


def same_offsets(mine, other):
    return oracle.size(other) == mine.size and offsets(mine, mine.size) == offsets(other, mine.size)


@given(LAYOUTS)
@settings(deadline=None, max_examples=100)
def test_layouts(layout):
    assert same_offsets(layout, theirs(layout))
    assert layout.cosize == oracle.cosize(theirs(layout))
    assert same_offsets(coalesce(layout), oracle.coalesce(theirs(layout)))


@given(LAYOUTS, LAYOUTS)
@settings(deadline=None, max_examples=200, suppress_health_check=[HealthCheck.filter_too_much])
def test_composition(outer, inner):
    try:
        mine = composition(outer, inner)
    except SwzError:
        mine = None
    assume(mine is not None)
    try:
        other = oracle.compose(theirs(outer), theirs(inner))
    except oracle.LayoutError:
        other = None
    assume(other is not None)
    # Inside the size of `outer` the results agree; beyond it a last extent of 1 is dropped there
    # and kept here.
    assume(inner.cosize <= outer.size)
    assert same_offsets(mine, other)


@given(LAYOUTS)
@settings(deadline=None, max_examples=100)
def test_right_inverse(layout):
    mine, other = right_inverse(layout), oracle.right_inverse(theirs(layout))
    assert [layout(mine(index)) for index in range(mine.size)] == list(range(mine.size))
    assert [layout(index) for index in offsets(other, oracle.size(other))] == list(range(oracle.size(other)))
    # Of leaves that overlap different ones may be taken, as we (and CuTe) join leaves before and
    # the oracle does not.
    if len({layout(index) for index in range(layout.size)}) == layout.size:
        assert mine.size == oracle.size(other)


@given(st.permutations([2, 3, 4, 2]), st.permutations(range(4)), st.sampled_from([1, 2, 3]))
@settings(deadline=None, max_examples=60)
def test_inverses_and_complement_of_injective_layouts(extents, order, gap):
    strides, reached = [0] * 4, gap
    for leaf in order:
        strides[leaf] = reached
        reached *= extents[leaf]
    layout = Layout(tuple(extents), tuple(strides))
    mine, other = left_inverse(layout), oracle.left_inverse(theirs(layout))
    for index in range(layout.size):
        assert mine(layout(index)) == other(layout(index)) == index
    assert same_offsets(complement(layout, 300), oracle.complement(theirs(layout), 300))


@pytest.mark.parametrize("tile", [(2, 4), (4, 16), (8, 8), (1, 64)])
def test_divides_by_mode(tile):
    whole = Layout((8, 64), (64, 1))
    assert same_offsets(zipped_divide(whole, tile), oracle.zipped_divide(theirs(whole), tile))
    assert same_offsets(tiled_divide(whole, tile), oracle.tiled_divide(theirs(whole), tile))


@pytest.mark.parametrize("block", [Layout((2, 2), (2, 1)), Layout((2, 5), (5, 1)), Layout((4, 2))])
@pytest.mark.parametrize("grid", [Layout((3, 4)), Layout((3, 4), (4, 1)), Layout((2, 2))])
def test_ranked_products(block, grid):
    for ours, other in ((blocked_product, oracle.blocked_product), (raked_product, oracle.raked_product)):
        mine, made = ours(block, grid), other(theirs(block), theirs(grid))
        assert (mine.shape, mine.stride) == (made.shape, made.stride)


@pytest.mark.parametrize("fields", [(3, 3, 3), (3, 4, 3), (2, 4, 3), (1, 4, 3), (0, 4, 3), (2, 0, 4)])
def test_swizzles(fields):
    layout = Layout((16, 64), (64, 1))
    mine = ComposedLayout(Swizzle(*fields), 0, layout)
    other = oracle.compose(oracle.Swizzle(*fields), theirs(layout))
    assert offsets(mine, mine.size) == [other(index) for index in range(mine.size)]
