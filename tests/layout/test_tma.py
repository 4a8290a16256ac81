"""TMA modes: pitch, swizzle, allocation, and what is refused; the measured placement is in
test_tma_measured.py.
"""

from __future__ import annotations

import pytest

from swzverify.errors import SwzError
from swzverify.layout import (
    Layout,
    Swizzle,
    TmaMode,
    check_tma_base,
    parse_tma_mode,
    tma_allocation_bytes,
    tma_layout,
    tma_pitch_bytes,
)


@pytest.mark.parametrize(
    ("mode", "span", "swizzle"),
    [
        (TmaMode.NONE, None, None),
        (TmaMode.B32, 32, Swizzle(1, 4, 3)),
        (TmaMode.B64, 64, Swizzle(2, 4, 3)),
        (TmaMode.B128, 128, Swizzle(3, 4, 3)),
    ],
)
def test_modes(mode, span, swizzle):
    assert (mode.span_bytes, mode.swizzle) == (span, swizzle)
    assert parse_tma_mode(str(mode)) is mode


@pytest.mark.parametrize(
    ("mode", "box", "layout", "allocation"),
    [
        (TmaMode.B128, (64, 64, 16), Layout((64, 64), (64, 1)), 8192),
        (TmaMode.B128, (64, 32, 16), Layout((64, 32), (64, 1)), 8192),
        (TmaMode.B64, (64, 32, 16), Layout((64, 32), (32, 1)), 4096),
        (TmaMode.B32, (8, 4, 32), Layout((8, 4), (8, 1)), 256),
        (TmaMode.B128, (8, 128, 8), Layout((8, 128), (128, 1)), 1024),
        (TmaMode.NONE, (8, 64, 16), Layout((8, 64), (64, 1)), 1024),
        (TmaMode.NONE, (8, 200, 16), Layout((8, 200), (200, 1)), 3200),
        (TmaMode.NONE, (8, 32, 4), Layout((8, 32), (32, 1)), 128),
    ],
)
def test_layouts(mode, box, layout, allocation):
    rows, inner, bits = box
    assert tma_layout(mode, rows, inner, bits) == layout
    assert tma_allocation_bytes(mode, rows, inner, bits) == allocation
    assert tma_pitch_bytes(mode, inner, bits) * rows == allocation


@pytest.mark.parametrize(
    ("mode", "rows", "inner", "bits", "code"),
    [
        pytest.param(TmaMode.B128, 8, 4, 16, "SWZ220", id="8-bytes"),
        pytest.param(TmaMode.NONE, 8, 9, 16, "SWZ220", id="18-bytes"),
        pytest.param(TmaMode.NONE, 8, 33, 4, "SWZ220", id="half-a-byte-too-much"),
        pytest.param(TmaMode.B128, 8, 72, 16, "SWZ221", id="wider-than-128"),
        pytest.param(TmaMode.B64, 8, 64, 16, "SWZ221", id="wider-than-64"),
        pytest.param(TmaMode.B32, 8, 32, 16, "SWZ221", id="wider-than-32"),
        pytest.param(TmaMode.B128, 8, 32, 4, "SWZ224", id="sub-byte"),
        pytest.param(TmaMode.B128, 8, 32, 24, "SWZ224", id="3-bytes-do-not-divide-128"),
        pytest.param(TmaMode.B128, 0, 64, 16, "SWZ203", id="no-rows"),
        pytest.param(TmaMode.B128, 8, 0, 16, "SWZ203", id="no-columns"),
        pytest.param(TmaMode.B128, 8, 64, -16, "SWZ201", id="negative-bits"),
        pytest.param(TmaMode.B128, True, 64, 16, "SWZ202", id="bool"),
    ],
)
def test_refused_boxes(mode, rows, inner, bits, code):
    for function in (tma_layout, tma_allocation_bytes):
        with pytest.raises(SwzError) as caught:
            function(mode, rows, inner, bits)
        assert caught.value.code == code


@pytest.mark.parametrize(("base", "accepted"), [(0, True), (128, True), (64, False), (16, False), (192, False)])
def test_bases(base, accepted):
    if accepted:
        check_tma_base(base)
        return
    with pytest.raises(SwzError, match="SWZ222"):
        check_tma_base(base)


@pytest.mark.parametrize(
    ("rows", "inner", "accepted"), [(256, 64, True), (257, 64, False), (8, 256, True), (8, 272, False)]
)
def test_a_box_has_at_most_256_elements_in_a_dimension(rows, inner, accepted):
    if accepted:
        assert tma_layout(TmaMode.NONE, rows, inner, 8).extents == (rows, inner)
        return
    with pytest.raises(SwzError, match="SWZ225"):
        tma_layout(TmaMode.NONE, rows, inner, 8)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("128b", "did you mean '128B'"),
        ("12B", "one of none, 32B, 64B, 128B"),
        ("swizzle", "one of none, 32B, 64B, 128B"),
        ("128B_ATOM_32B", "refuses it"),
    ],
)
def test_unknown_modes(name, words):
    with pytest.raises(SwzError, match="SWZ223") as caught:
        parse_tma_mode(name)
    assert words in str(caught.value)
