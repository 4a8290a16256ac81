"""A layout under a swizzle: the element form, the byte-address form, and when the two agree."""

from __future__ import annotations

import numpy as np
import pytest

from swzverify.errors import SwzError
from swzverify.layout import ComposedLayout, Layout, PointerLayout, Swizzle

ROW_MAJOR = Layout((8, 64), (64, 1))
CASES = [
    pytest.param(Swizzle(3, 3, 3), 0, ROW_MAJOR, id="sw128-f16"),
    pytest.param(Swizzle(2, 3, 3), 0, Layout((16, 32), (32, 1)), id="sw64-f16"),
    pytest.param(Swizzle(3, 3, 3), 40, ROW_MAJOR, id="with-offset"),
    pytest.param(Swizzle(2, 0, -3), 0, Layout((4, 4), (8, 1)), id="negative-shift"),
    pytest.param(Swizzle(0, 4, 3), 7, Layout((4, 4), (8, 1)), id="identity"),
    pytest.param(Swizzle(3, 3, 3), 0, Layout(((8, 2), (8, 4)), ((64, 512), (1, 8))), id="nested"),
]


@pytest.mark.parametrize(("swizzle", "offset", "layout"), CASES)
def test_composed_is_the_composition(swizzle, offset, layout):
    composed = ComposedLayout(swizzle, offset, layout)
    expected = [swizzle(offset + layout(index)) for index in range(layout.size)]
    assert [composed(index) for index in range(composed.size)] == expected
    assert composed(np.arange(composed.size)).tolist() == expected
    rows, columns = layout.extents
    assert [composed(i, j) for j in range(columns) for i in range(rows)] == expected
    assert composed.cosize == 1 + max(expected)
    assert composed.cute_cosize == layout.cosize
    assert composed.cosize <= composed.cosize_bound
    assert (composed.shape, composed.extents, composed.size, composed.rank, composed.depth) == (
        layout.shape,
        layout.extents,
        layout.size,
        layout.rank,
        layout.depth,
    )


def test_the_swizzle_can_exceed_the_cosize_of_cute():
    composed = ComposedLayout(Swizzle(1, 0, 1), 0, Layout(3))
    assert [composed(i) for i in range(3)] == [0, 1, 3]
    assert (composed.cosize, composed.cute_cosize) == (4, 3)


def test_cosize_is_refused_when_it_is_not_cheap():
    large = ComposedLayout(Swizzle(3, 3, 3), 0, Layout((1024, 1024)))
    with pytest.raises(SwzError, match="SWZ213"):
        _ = large.cosize
    assert large.cosize_bound == 1024 * 1024
    assert ComposedLayout(Swizzle(0, 3, 3), 5, Layout((1024, 1024))).cosize == 1024 * 1024 + 5


@pytest.mark.parametrize("offset", [-1, True, (1, 2), 1.5])
def test_refused_offsets(offset):
    with pytest.raises(SwzError):
        ComposedLayout(Swizzle(3, 3, 3), offset, ROW_MAJOR)


@pytest.mark.parametrize(
    ("bits", "code"), [(4, "SWZ212"), (12, "SWZ212"), (0, "SWZ203"), (-8, "SWZ201"), (True, "SWZ202")]
)
def test_refused_elements(bits, code):
    with pytest.raises(SwzError) as caught:
        PointerLayout(Swizzle(3, 4, 3), bits, ROW_MAJOR)
    assert caught.value.code == code


@pytest.mark.parametrize("element_bits", [8, 16, 32, 64])
@pytest.mark.parametrize("base_bytes", [0, 16, 128, 1024, 1152])
def test_pointer_is_the_swizzled_address(element_bits, base_bytes):
    pointer = PointerLayout(Swizzle(3, 4, 3), element_bits, ROW_MAJOR)
    index = np.arange(pointer.size)
    expected = [pointer.swizzle(base_bytes + ROW_MAJOR(int(i)) * element_bits // 8) for i in index]
    assert pointer(index, base_bytes=base_bytes).tolist() == expected
    assert [pointer(int(i), base_bytes=base_bytes) for i in index] == expected
    assert pointer(3, index // 8, base_bytes=base_bytes).tolist() == [
        pointer(3, int(i), base_bytes=base_bytes) for i in index // 8
    ]
    assert (pointer.extents, pointer.size, pointer.rank, pointer.depth) == ((8, 64), 512, 2, 1)
    assert pointer.shape == ROW_MAJOR.shape


@pytest.mark.parametrize("element_bits", [8, 16, 32, 64, 128])
def test_forms_agree_exactly_at_multiples_of_the_span(element_bits):
    columns = 1024 // element_bits
    pointer = PointerLayout(Swizzle(3, 4, 3), element_bits, Layout((16, columns), (columns, 1)))
    offsets = pointer.on_offsets()
    index = np.arange(pointer.size)
    for base_bytes in range(0, 4 * pointer.swizzle.span, 128):
        same = pointer(index, base_bytes=base_bytes) == base_bytes + offsets(index) * pointer.element_bytes
        assert same.all() == (base_bytes % pointer.swizzle.span == 0)


@pytest.mark.parametrize(
    ("swizzle", "bits", "code"),
    [(Swizzle(3, 4, 3), 24, "SWZ212"), (Swizzle(3, 1, 3), 32, "SWZ211")],
)
def test_no_offset_form(swizzle, bits, code):
    with pytest.raises(SwzError) as caught:
        PointerLayout(swizzle, bits, ROW_MAJOR).on_offsets()
    assert caught.value.code == code


def test_refused_base():
    with pytest.raises(SwzError, match="SWZ306"):
        PointerLayout(Swizzle(3, 4, 3), 16, ROW_MAJOR)(0, base_bytes=-16)
