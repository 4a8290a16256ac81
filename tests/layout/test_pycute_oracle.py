"""Against NVIDIA's pycute, from the wheel `nvidia-cutlass` (the package `pycute` on PyPI is an
unrelated one).

An oracle for layouts and their algebra only: its Swizzle(0,4,0)(5) recurses for ever, and its
ComposedLayout's cosize is wrong under a swizzle. Offsets are compared, not spellings: the two may
write the same function differently.
"""

from __future__ import annotations

import itertools

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from swzverify.errors import SwzError
from swzverify.layout import (
    Layout,
    coalesce,
    complement,
    composition,
    crd2idx,
    filter,
    idx2crd,
    left_inverse,
    logical_divide,
    logical_product,
    right_inverse,
    tiled_divide,
    zipped_divide,
)
from tests.layout.drawn import layouts_of

pycute = pytest.importorskip("pycute", reason="NVIDIA's pycute is missing: CONTRIBUTING.md says how to install it")
if not hasattr(pycute, "composition"):
    pytest.skip("the unrelated package pycute from PyPI is installed", allow_module_level=True)

LEAF = st.tuples(st.sampled_from([1, 2, 3, 4, 6, 8]), st.sampled_from([0, 1, 2, 3, 4, 6, 8, 12, 16, 24, 64]))
LAYOUTS = layouts_of(LEAF)


def theirs(layout):
    return pycute.Layout(layout.shape, layout.stride)


def offsets(layout, size):
    return [layout(index) for index in range(size)]


def their_offsets(layout):
    return offsets(layout, layout.size())


def both(ours, oracle):
    """Both results; None for the one that refuses, which pycute does by a failed assertion or a
    division by 0.
    """
    try:
        mine = ours()
    except SwzError:
        mine = None
    try:
        other = oracle()
    except (AssertionError, ZeroDivisionError):
        other = None
    return mine, other


@given(LAYOUTS)
@settings(deadline=None, max_examples=150)
def test_layouts(layout):
    oracle = theirs(layout)
    assert (layout.size, layout.cosize, layout.rank) == (oracle.size(), oracle.cosize(), len(oracle))
    # Beyond the size too: the last leaf takes the quotient unbounded in both.
    assert offsets(layout, 2 * layout.size) == offsets(oracle, 2 * layout.size)
    for coord in itertools.islice(itertools.product(*(range(extent + 1) for extent in layout.extents)), 200):
        assert layout(*coord) == oracle(*coord)


@given(LAYOUTS)
@settings(deadline=None, max_examples=60)
def test_compact_layouts_and_coordinates(layout):
    shape = layout.shape
    assert Layout(shape).stride == pycute.Layout(shape).stride
    for index in range(layout.size):
        assert idx2crd(index, shape) == pycute.idx2crd(index, shape)
        assert crd2idx(idx2crd(index, shape), shape) == index


@pytest.mark.parametrize(("ours", "oracle"), [(coalesce, "coalesce"), (filter, "filter")])
@given(LAYOUTS)
@settings(deadline=None, max_examples=150)
def test_coalesce_and_filter(ours, oracle, layout):
    mine, other = ours(layout), getattr(pycute, oracle)(theirs(layout))
    assert offsets(mine, mine.size) == their_offsets(other)
    assert len(mine.leaves) == len(pycute.flatten(other.shape))


def test_composition_on_small_layouts():
    """Wherever pycute's result obeys the law ours does too, and where it does not, ours refuses."""
    counts = {"same": 0, "both refuse": 0, "pycute wrong": 0, "pycute refuses": 0}
    outer_shapes, outer_strides = itertools.product([2, 3, 4], repeat=2), [(1, 2), (1, 4), (5, 1), (3, 0)]
    outer_layouts = [Layout(shape, stride) for shape in outer_shapes for stride in outer_strides]
    inner_shapes, inner_strides = (list(itertools.product(values, repeat=2)) for values in ([1, 2, 3, 4], [0, 1, 2, 4]))
    inner_layouts = [Layout(shape, stride) for shape in inner_shapes for stride in inner_strides]
    for outer, inner in itertools.product(outer_layouts, inner_layouts):
        law = [outer(inner(index)) for index in range(inner.size)]
        mine, other = both(
            lambda outer=outer, inner=inner: composition(outer, inner),
            lambda outer=outer, inner=inner: pycute.composition(theirs(outer), theirs(inner)),
        )
        lawful = other is not None and other.size() == inner.size and their_offsets(other) == law
        if mine is not None:
            assert offsets(mine, mine.size) == law
            counts["same" if lawful else "pycute refuses"] += 1
        else:
            assert not lawful
            counts["both refuse" if other is None else "pycute wrong"] += 1
    assert counts["same"] > len(outer_layouts) * len(inner_layouts) // 2
    assert counts["both refuse"] > 0
    assert counts["pycute wrong"] > 0


@given(LAYOUTS, st.integers(1, 300))
@settings(deadline=None, max_examples=200)
def test_complement(layout, cotarget):
    mine, other = both(lambda: complement(layout, cotarget), lambda: pycute.complement(theirs(layout), cotarget))
    assume(mine is not None)
    assert other is not None
    assert offsets(mine, mine.size) == their_offsets(other)


@given(LAYOUTS)
@settings(deadline=None, max_examples=200)
def test_right_inverse(layout):
    mine, other = right_inverse(layout), pycute.right_inverse(theirs(layout))
    assert mine.size >= other.size()  # pycute stops at a leaf of stride 0, CuTe's C++ goes on
    if mine.size == other.size():
        assert [layout(i) for i in offsets(mine, mine.size)] == [layout(i) for i in their_offsets(other)]
    strides = [stride for _, stride in layout.leaves]
    if all(strides) and len(set(strides)) == len(strides):
        assert offsets(mine, other.size()) == their_offsets(other)


@given(st.permutations([2, 3, 4, 2]), st.permutations(range(4)), st.sampled_from([1, 2, 3]))
@settings(deadline=None, max_examples=60)
def test_left_inverse_of_injective_layouts(extents, order, gap):
    strides, reached = [0] * 4, gap
    for leaf in order:
        strides[leaf] = reached
        reached *= extents[leaf]
    layout = Layout(tuple(extents), tuple(strides))
    mine, other = left_inverse(layout), pycute.left_inverse(theirs(layout))
    for index in range(layout.size):
        assert mine(layout(index)) == other(layout(index)) == index


TILES = st.sampled_from([Layout(1), Layout(2), Layout(4), Layout(4, 2), Layout((2, 2), (1, 4)), Layout((2, 2), (4, 1))])
WHOLES = st.sampled_from(
    [Layout(16), Layout(16, 3), Layout((8, 8), (8, 1)), Layout((4, 8), (1, 5)), Layout(((2, 4), 8), ((1, 16), 2))]
)


@given(WHOLES, TILES)
@settings(deadline=None, max_examples=60)
def test_logical_divide(whole, tile):
    mine, other = logical_divide(whole, tile), pycute.logical_divide(theirs(whole), theirs(tile))
    assert offsets(mine, mine.size) == their_offsets(other)
    assert mine.extents == tuple(pycute.product(mode) for mode in other.shape)


@pytest.mark.parametrize("tile", [(2, 4), (4, 16), (8, 8), (1, 64)])
@pytest.mark.parametrize("name", ["logical_divide", "zipped_divide", "tiled_divide"])
def test_divides_by_mode(name, tile):
    ours = {"logical_divide": logical_divide, "zipped_divide": zipped_divide, "tiled_divide": tiled_divide}[name]
    whole = Layout((8, 64), (64, 1))
    mine, other = ours(whole, tile), getattr(pycute, name)(theirs(whole), tile)
    assert (mine.shape, mine.stride) == (other.shape, other.stride)


@pytest.mark.parametrize("block", [Layout(4), Layout((2, 2), (2, 1)), Layout((2, 5), (5, 1)), Layout(4, 2)])
@pytest.mark.parametrize("grid", [Layout(6), Layout((2, 4)), Layout((2, 4), (4, 1))])
def test_logical_product(block, grid):
    mine, other = logical_product(block, grid), pycute.logical_product(theirs(block), theirs(grid))
    assert offsets(mine, mine.size) == their_offsets(other)
