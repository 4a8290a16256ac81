"""The algebra against the laws that define it, at every coordinate."""

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
    congruent,
    filter,
    left_inverse,
    make_layout,
    right_inverse,
)
from tests.layout.drawn import from_pairs, layouts_of

EXTENTS = st.sampled_from([1, 2, 3, 4, 6, 8])
STRIDES = st.sampled_from([0, 1, 2, 3, 4, 6, 8, 12, 16, 24, 48, 64])
LEAF = st.tuples(EXTENTS, STRIDES)
LAYOUTS = layouts_of(LEAF)


@st.composite
def injective_layouts(draw):
    """Leaves in any order whose strides leave room for each other, with or without padding in
    between.
    """
    leaves, reached = [], 1
    for _ in range(draw(st.integers(1, 4))):
        stride = reached * draw(st.sampled_from([1, 1, 2, 3]))
        extent = draw(st.sampled_from([1, 2, 3, 4]))
        leaves.append((extent, stride))
        reached = stride * extent
    return from_pairs(draw(st.permutations(leaves)))


def offsets(layout):
    return [layout(index) for index in range(layout.size)]


def refusal(operation, *arguments):
    with pytest.raises(SwzError) as caught:
        operation(*arguments)
    return caught.value


def unless_undefined(operation, *arguments):
    """The result, or None where the operation says that it is not defined; any other error comes
    through.
    """
    try:
        return operation(*arguments)
    except SwzError as error:
        if error.code != "SWZ208":
            raise
        return None


@given(LAYOUTS)
@settings(deadline=None, max_examples=150)
def test_coalesce_keeps_the_offsets_with_fewest_leaves(layout):
    result = coalesce(layout)
    assert offsets(result) == offsets(layout)
    assert result.depth <= 1
    for (extent, stride), (_, following) in itertools.pairwise(result.leaves):
        assert extent * stride != following
    assert result.size == 1 or all(extent > 1 for extent, _ in result.leaves)
    assert coalesce(result) == result


@given(LAYOUTS)
@settings(deadline=None, max_examples=60)
def test_coalesce_by_mode_keeps_every_mode(layout):
    result = coalesce(layout, (1,) * layout.rank)
    assert result.extents == layout.extents
    assert [offsets(mode) for mode in result.modes] == [offsets(mode) for mode in layout.modes]


@given(LAYOUTS)
@settings(deadline=None, max_examples=100)
def test_filter_keeps_the_set_of_offsets(layout):
    result = filter(layout)
    assert set(offsets(result)) == set(offsets(layout))
    assert result.size == 1 or all(extent > 1 and stride > 0 for extent, stride in result.leaves)


def test_filter_by_mode():
    assert filter(Layout((2, 4, 8), (1, 0, 2)), (1, 1)) == Layout((2, 1, 8), (1, 0, 2))


@given(LAYOUTS, LAYOUTS)
@settings(deadline=None, max_examples=300)
def test_composition_law(outer, inner):
    result = unless_undefined(composition, outer, inner)
    assume(result is not None)
    assert result.extents == inner.extents
    assert offsets(result) == [outer(offset) for offset in offsets(inner)]


def small_layouts(extents, strides):
    for shape in itertools.product(extents, repeat=2):
        for stride in itertools.product(strides, repeat=2):
            yield Layout(shape, stride)


def test_composition_exhaustively_on_small_layouts():
    outer_layouts = list(small_layouts([2, 3, 4], [1, 3, 5]))
    inner_layouts = list(small_layouts([1, 2, 4], [0, 1, 2, 4]))
    tried = defined = 0
    for outer, inner in itertools.product(outer_layouts, inner_layouts):
        expected = [outer(offset) for offset in offsets(inner)]
        tried += 1
        result = unless_undefined(composition, outer, inner)
        if result is None:
            # Either the wanted map is no sum of one function a leaf of `inner`, or one leaf alone
            # does not divide.
            assert not affine_in_leaves(inner, expected) or not single_leaves_divide(outer, inner)
            continue
        defined += 1
        assert offsets(result) == expected
    assert tried == 81 * 144
    assert defined > tried // 2


def affine_in_leaves(inner, expected):
    """Whether the wanted offsets are separable: the sum of one function a leaf."""
    table = {}
    (first, second) = (extent for extent, _ in inner.leaves)
    for index, value in enumerate(expected):
        table[index % first, index // first] = value
    return all(table[i, j] == table[i, 0] + table[0, j] - table[0, 0] for i in range(first) for j in range(second))


def single_leaves_divide(outer, inner):
    """Whether every leaf of `inner` alone composes."""
    return all(unless_undefined(composition, outer, Layout(*leaf)) is not None for leaf in inner.leaves)


@pytest.mark.parametrize(
    ("outer", "inner", "result"),
    [
        pytest.param(Layout((6, 2), (8, 2)), Layout((4, 3), (3, 1)), "((2,2),3):((24,2),8)", id="cutlass-docs"),
        pytest.param(Layout(20, 2), Layout((5, 4), (4, 1)), "(5,4):(8,2)", id="one-leaf"),
        pytest.param(Layout((10, 2), (16, 4)), Layout((5, 4), (1, 5)), "(5,(2,2)):(16,(80,4))", id="split"),
        pytest.param(Layout((4, 8), (1, 9)), Layout(3, 1), "3:1", id="fits-without-dividing"),
        pytest.param(Layout((5, 2), (1, 7)), Layout(2, 3), "2:3", id="last-index-just-fits"),
        pytest.param(Layout(8, 1), Layout(64, 2), "64:2", id="beyond-the-size"),
        pytest.param(Layout((4, 1), (1, 100)), Layout(2, 4), "2:100", id="last-leaf-of-extent-1"),
        pytest.param(Layout((8, 8), (8, 1)), Layout((4, 4), (0, 0)), "(4,4):(0,0)", id="broadcast"),
    ],
)
def test_composition_examples(outer, inner, result):
    assert str(composition(outer, inner)) == result


@pytest.mark.parametrize(
    ("outer", "inner", "words"),
    [
        pytest.param(Layout((4, 6), (1, 7)), Layout(4, 3), "do not divide", id="stride"),
        pytest.param(Layout((4, 6), (1, 7)), Layout(6, 1), "do not divide", id="extent"),
        pytest.param(Layout((8, 8), (8, 1)), Layout(8, 9), "do not divide", id="diagonal"),
        pytest.param(Layout((4, 2), (1, 100)), Layout((4, 2), (1, 2)), "carry", id="overlapping-modes"),
    ],
)
def test_composition_refused(outer, inner, words):
    error = refusal(composition, outer, inner)
    assert error.code == "SWZ208"
    assert words in error.message


@given(injective_layouts(), st.integers(1, 300))
@settings(deadline=None, max_examples=150)
def test_complement_fills_every_gap(layout, cotarget):
    rest = complement(layout, cotarget)
    sums = [a + b for a in offsets(layout) for b in offsets(rest)]
    assert len(set(sums)) == len(sums)
    assert sorted(sums) == list(range(len(sums)))  # every stride is a multiple of what lies below it
    assert len(sums) >= cotarget
    assert offsets(rest) == sorted(offsets(rest))


@given(LAYOUTS, st.integers(1, 200))
@settings(deadline=None, max_examples=150)
def test_complement_is_ordered_and_disjoint(layout, cotarget):
    rest = unless_undefined(complement, layout, cotarget)
    assume(rest is not None)
    values = offsets(filter(layout))
    sums = [a + b for a in values for b in offsets(rest)]
    assert len(set(sums)) == len(sums)
    assert all(a < b for a, b in itertools.pairwise(offsets(rest)))


def test_complement_refuses_overlap():
    assert refusal(complement, Layout((4, 4), (1, 2))).code == "SWZ208"
    assert refusal(complement, Layout(4), 0).code == "SWZ203"


@given(LAYOUTS)
@settings(deadline=None, max_examples=150)
def test_right_inverse_law(layout):
    inverse = right_inverse(layout)
    assert [layout(index) for index in offsets(inverse)] == list(range(inverse.size))


@given(st.permutations([2, 3, 4, 1, 2]), st.permutations(range(5)))
@settings(deadline=None, max_examples=60)
def test_right_inverse_of_a_bijection_is_the_inverse(extents, order):
    strides, reached = [0] * 5, 1
    for leaf in order:
        strides[leaf] = reached
        reached *= extents[leaf]
    layout = Layout(tuple(extents), tuple(strides))
    inverse = right_inverse(layout)
    assert inverse.size == layout.size
    assert [inverse(offset) for offset in offsets(layout)] == list(range(layout.size))


def test_right_inverse_skips_broadcast_leaves():
    assert right_inverse(Layout((2, 4), (0, 1))) == Layout(4, 2)


@given(injective_layouts())
@settings(deadline=None, max_examples=150)
def test_left_inverse_law(layout):
    inverse = left_inverse(layout)
    assert [inverse(offset) for offset in offsets(layout)] == list(range(layout.size))


@given(LAYOUTS)
@settings(deadline=None, max_examples=150)
def test_left_inverse_is_a_quasi_inverse_or_refused(layout):
    inverse = unless_undefined(left_inverse, layout)
    assume(inverse is not None)
    for offset in offsets(layout):
        assert layout(inverse(offset)) == offset


def test_left_inverse_refuses_overlap_and_uneven_strides():
    assert refusal(left_inverse, Layout((4, 4), (1, 2))).code == "SWZ208"
    assert refusal(left_inverse, Layout((2, 2), (2, 5))).code == "SWZ208"
    assert left_inverse(Layout((2, 2, 3), (1, 2, 5)))(11) == 1 + 4 * 2


def test_too_many_modes_asked_for():
    assert refusal(coalesce, Layout((2, 2)), (1, 1, 1)).code == "SWZ209"


def test_make_layout_nests():
    made = make_layout(Layout(8, 64), Layout((4, 2)))
    assert made == Layout((8, (4, 2)), (64, (1, 4)))
    assert congruent(made.shape, made.stride)
