"""`Layout` against the definition in docs/semantics.md: digits first leaf fastest, the last one
unbounded.
"""

from __future__ import annotations

import itertools
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from swzverify.errors import SwzError
from swzverify.layout import Layout, flatten, parse_layout

TREES = st.recursive(
    st.tuples(st.integers(1, 5), st.integers(0, 40)),
    lambda part: st.lists(part, min_size=1, max_size=3).map(lambda parts: ["tree", *parts]),
    max_leaves=5,
)


def build(tree):
    """(shape, stride) from a drawn tree; lists mark tuples."""
    if isinstance(tree, tuple):
        return tree
    parts = [build(part) for part in tree[1:]]
    return tuple(part[0] for part in parts), tuple(part[1] for part in parts)


LAYOUTS = TREES.map(lambda tree: Layout(*build(tree)))


def digit_coordinates(layout):
    """Every tuple of leaf digits, first leaf fastest."""
    ranges = [range(extent) for extent in reversed(flatten(layout.shape))]
    return [digits[::-1] for digits in itertools.product(*ranges)]


def offset_of_digits(layout, digits):
    return sum(digit * stride for digit, stride in zip(digits, flatten(layout.stride), strict=True))


@given(LAYOUTS)
@settings(deadline=None, max_examples=150)
def test_every_linear_index(layout):
    expected = [offset_of_digits(layout, digits) for digits in digit_coordinates(layout)]
    assert [layout(index) for index in range(layout.size)] == expected
    assert layout(np.arange(layout.size)).tolist() == expected
    assert layout.offsets() == expected
    assert layout.size == len(expected)
    assert layout.cosize == max(expected) + 1


@given(LAYOUTS)
@settings(deadline=None, max_examples=100)
def test_every_coordinate_of_modes(layout):
    values = {}
    for index, coord in enumerate(itertools.product(*(range(extent) for extent in reversed(layout.extents)))):
        values[coord[::-1]] = layout(index)
    for coord, value in values.items():
        assert layout(*coord) == value
    columns = np.array(list(values)).T
    assert layout(*columns).tolist() == list(values.values())
    assert sum(mode(c) for mode, c in zip(layout.modes, coord, strict=True)) == value


@given(LAYOUTS)
@settings(deadline=None, max_examples=100)
def test_texts_evaluate_back(layout):
    assert eval(repr(layout)) == layout  # noqa: S307
    assert parse_layout(str(layout)) == layout
    assert pickle.loads(pickle.dumps(layout)) == layout  # noqa: S301
    assert hash(eval(repr(layout))) == hash(layout)  # noqa: S307


@pytest.mark.parametrize(
    ("layout", "coord", "offset"),
    [
        pytest.param(Layout(8, 3), (5,), 15, id="int-shape"),
        pytest.param(Layout((8,), (3,)), (5,), 15, id="rank-1-tuple"),
        pytest.param(Layout((8, 64), (64, 1)), (1, 2), 66, id="row-major"),
        pytest.param(Layout((8, 64), (64, 1)), (17,), 66, id="row-major-linear"),
        pytest.param(Layout((8, 64), (64, 1)), ((1, 2),), 66, id="coordinate-as-tuple"),
        pytest.param(Layout(((2, 4),), ((1, 10),)), ((1, 3),), 31, id="nested-rank-1"),
        pytest.param(Layout(((2, 4), 8), ((1, 16), 2)), ((1, 3), 7), 63, id="nested-mode"),
        pytest.param(Layout(((2, 4), 8), ((1, 16), 2)), (7, 7), 63, id="int-for-nested-mode"),
        pytest.param(Layout(((2, 4), 8), ((1, 16), 2)), (9, 0), 65, id="quotient-of-the-mode-unbounded"),
        pytest.param(Layout((8, 64), (64, 1)), (9, 70), 646, id="outside-the-shape"),
        pytest.param(Layout((8, 64), (64, 1)), (512,), 64, id="linear-index-outside"),
        pytest.param(Layout((4, 1), (1, 100)), (4,), 100, id="last-leaf-of-extent-1"),
        pytest.param(Layout((2, (3, (2, 2))), (1, (2, (6, 100)))), (1, (2, 3)), 111, id="partly-nested-coordinate"),
    ],
)
def test_offsets(layout, coord, offset):
    assert layout(*coord) == offset


def test_arrays_mix_with_ints():
    layout = Layout(((2, 4), 8), ((1, 16), 2))
    columns = np.arange(8)
    assert layout(3, columns).tolist() == [layout(3, int(c)) for c in columns]
    rows = np.arange(8)[:, None]
    grid = layout(rows, columns[None, :])
    assert grid.shape == (8, 8)
    assert grid[5, 6] == layout(5, 6)


def test_properties():
    layout = Layout(((2, 4), 8, 1), ((1, 16), 2, 0))
    assert layout.extents == (8, 8, 1)
    assert layout.leaves == ((2, 1), (4, 16), (8, 2), (1, 0))
    assert (layout.size, layout.cosize, layout.rank, layout.depth) == (64, 64, 3, 2)
    assert str(layout) == "((2,4),8,1):((1,16),2,0)"
    assert layout.modes == (Layout((2, 4), (1, 16)), Layout(8, 2), Layout(1, 0))
    assert Layout(8).leaves == ((8, 1),)
    assert len({layout, Layout(((2, 4), 8, 1), ((1, 16), 2, 0)), Layout(8)}) == 2


def test_default_stride_is_compact_column_major():
    assert Layout((8, (4, 2))) == Layout((8, (4, 2)), (1, (8, 32)))
    assert [Layout((8, (4, 2)))(i) for i in range(64)] == list(range(64))


def test_frozen():
    layout = Layout(8)
    with pytest.raises(AttributeError):
        layout.shape = 9


@pytest.mark.parametrize(
    ("shape", "stride", "code"),
    [
        pytest.param((8, 0), (1, 8), "SWZ203", id="zero-extent"),
        pytest.param((8, -2), (1, 8), "SWZ201", id="negative-extent"),
        pytest.param((8, 2), (1, -8), "SWZ201", id="negative-stride"),
        pytest.param((8, True), (1, 8), "SWZ202", id="bool"),
        pytest.param((8, 2), (1, 8.0), "SWZ202", id="float-stride"),
        pytest.param([8, 2], None, "SWZ202", id="list"),
        pytest.param((8, 2), (1,), "SWZ204", id="shorter-stride"),
        pytest.param((8, (2, 2)), (1, 8), "SWZ204", id="flatter-stride"),
        pytest.param(8, (1,), "SWZ204", id="int-and-tuple"),
        pytest.param((2**40, 2**40), None, "SWZ206", id="too-large"),
        pytest.param((2**32, 2), (2**40, 1), "SWZ206", id="reaches-too-far"),
    ],
)
def test_refused(shape, stride, code):
    with pytest.raises(SwzError) as caught:
        Layout(shape, stride)
    assert caught.value.code == code


@pytest.mark.parametrize(
    ("coord", "code"),
    [
        pytest.param((), "SWZ205", id="none"),
        pytest.param((1, 2, 3), "SWZ205", id="too-many"),
        pytest.param(((1, 2, 3),), "SWZ205", id="tuple-too-long"),
        pytest.param(((1, 2), 3), "SWZ205", id="tuple-for-an-int-mode"),
        pytest.param((1, -2), "SWZ306", id="negative"),
        pytest.param((1, True), "SWZ202", id="bool"),
        pytest.param((np.arange(4, dtype=np.uint8), 0), "SWZ202", id="narrow-array"),
    ],
)
def test_refused_coordinates(coord, code):
    with pytest.raises(SwzError) as caught:
        Layout((8, 64), (64, 1))(*coord)
    assert caught.value.code == code
