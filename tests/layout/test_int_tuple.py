"""Nested tuples: their measures, the index <-> coordinate maps, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from swzverify.errors import SwzError
from swzverify.layout.int_tuple import (
    check_index,
    check_int,
    check_int_tuple,
    compact_strides,
    congruent,
    crd2idx,
    depth,
    flatten,
    idx2crd,
    product,
    rank,
    unflatten,
)

SHAPES = st.recursive(st.integers(1, 5), lambda part: st.lists(part, min_size=1, max_size=3).map(tuple), max_leaves=5)


@pytest.mark.parametrize(
    ("value", "leaves", "size", "modes", "levels"),
    [
        pytest.param(5, (5,), 5, 1, 0, id="int"),
        pytest.param((5,), (5,), 5, 1, 1, id="tuple-of-one"),
        pytest.param((2, 3), (2, 3), 6, 2, 1, id="flat"),
        pytest.param(((2, 3), 4), (2, 3, 4), 24, 2, 2, id="nested"),
        pytest.param((((2,), 3), (4, (5,))), (2, 3, 4, 5), 120, 2, 3, id="deep"),
    ],
)
def test_measures(value, leaves, size, modes, levels):
    assert (flatten(value), product(value), rank(value), depth(value)) == (leaves, size, modes, levels)
    assert unflatten(leaves, value) == value


@pytest.mark.parametrize(
    ("first", "second", "same"),
    [
        (1, 2, True),
        ((1, 2), (3, 4), True),
        (((1, 2), 3), ((4, 5), 6), True),
        (1, (1,), False),
        ((1, 2), (1, 2, 3), False),
        (((1, 2), 3), (4, (5, 6)), False),
    ],
)
def test_congruent(first, second, same):
    assert congruent(first, second) is same
    assert congruent(second, first) is same


@given(SHAPES)
@settings(deadline=None, max_examples=60)
def test_index_and_coordinate_are_inverse(shape):
    seen = [idx2crd(index, shape) for index in range(product(shape))]
    assert [crd2idx(coord, shape) for coord in seen] == list(range(product(shape)))
    extents = flatten(shape)
    assert all(0 <= digit < top for coord in seen for digit, top in zip(flatten(coord), extents, strict=True))


@given(SHAPES)
@settings(deadline=None, max_examples=60)
def test_compact_strides_count_from_zero(shape):
    strides = flatten(compact_strides(shape))
    assert congruent(shape, compact_strides(shape))
    assert strides[0] == 1
    assert [stride * extent for stride, extent in zip(strides, flatten(shape), strict=True)][:-1] == list(strides[1:])


def test_the_last_leaf_takes_the_quotient():
    assert idx2crd(1000, (8, (4, 2))) == (0, (1, 31))
    assert crd2idx((0, (1, 31)), (8, (4, 2))) == 1000


def test_arrays_go_through():
    index = np.arange(100)
    coord = idx2crd(index, (3, (4, 5)))
    assert [idx2crd(int(i), (3, (4, 5))) for i in index] == [
        (int(a), (int(b), int(c))) for a, b, c in zip(coord[0], coord[1][0], coord[1][1], strict=True)
    ]
    assert (crd2idx(coord, (3, (4, 5))) == index).all()


@pytest.mark.parametrize(
    ("value", "minimum", "code"),
    [
        pytest.param(True, 0, "SWZ202", id="bool"),
        pytest.param((8, False), 0, "SWZ202", id="bool-inside"),
        pytest.param(1.0, 0, "SWZ202", id="float"),
        pytest.param("8", 0, "SWZ202", id="text"),
        pytest.param(None, 0, "SWZ202", id="none"),
        pytest.param([8, 4], 0, "SWZ202", id="list"),
        pytest.param(np.float64(8), 0, "SWZ202", id="numpy-float"),
        pytest.param(np.bool_(True), 0, "SWZ202", id="numpy-bool"),
        pytest.param(np.array([8]), 0, "SWZ202", id="numpy-array"),
        pytest.param(np.int8(-8), 0, "SWZ201", id="numpy-negative"),
        pytest.param((8, -1), 0, "SWZ201", id="negative"),
        pytest.param((8, 0), 1, "SWZ203", id="zero"),
        pytest.param((), 0, "SWZ203", id="empty"),
        pytest.param((8, ()), 0, "SWZ203", id="empty-inside"),
        pytest.param((1,) * 257, 0, "SWZ206", id="too-many"),
        pytest.param(2**62, 0, "SWZ206", id="too-large"),
    ],
)
def test_refused_tuples(value, minimum, code):
    with pytest.raises(SwzError) as caught:
        check_int_tuple(value, "shape", minimum)
    assert caught.value.code == code


def test_refused_depth():
    value = 1
    for _ in range(17):
        value = (value,)
    with pytest.raises(SwzError, match="SWZ206"):
        check_int_tuple(value, "shape", 1)
    assert check_int_tuple(value[0], "shape", 1) == value[0]


@pytest.mark.parametrize(("value", "code"), [((1,), "SWZ202"), (True, "SWZ202"), (-1, "SWZ201"), (0, "SWZ203")])
def test_refused_ints(value, code):
    with pytest.raises(SwzError) as caught:
        check_int(value, "rows", 1)
    assert caught.value.code == code


@pytest.mark.parametrize(
    ("value", "code"),
    [
        pytest.param(True, "SWZ202", id="bool"),
        pytest.param(1.5, "SWZ202", id="float"),
        pytest.param(np.arange(3, dtype=np.uint8), "SWZ202", id="narrow-array-would-wrap"),
        pytest.param(np.arange(3, dtype=np.int32), "SWZ202", id="int32-array"),
        pytest.param(np.arange(3.0), "SWZ202", id="float-array"),
        pytest.param(-1, "SWZ306", id="negative"),
        pytest.param(np.arange(-1, 3), "SWZ306", id="negative-in-array"),
    ],
)
def test_refused_indices(value, code):
    with pytest.raises(SwzError) as caught:
        check_index(value)
    assert caught.value.code == code


@pytest.mark.parametrize("value", [0, 5, np.int64(5), np.arange(3), np.zeros(0, dtype=np.int64)])
def test_accepted_indices(value):
    check_index(value)


@pytest.mark.parametrize("coord", [(1, 2, 3), (1,), ((1, 2), (1, 1)), (1, (1, 2, 3))])
def test_coordinates_that_do_not_fit(coord):
    with pytest.raises(SwzError, match="SWZ205"):
        crd2idx(coord, (8, (4, 2)))
