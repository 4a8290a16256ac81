"""Padded arrays against C's own address arithmetic."""

from __future__ import annotations

import itertools

import pytest

from swzverify.errors import SwzError
from swzverify.layout import padded_layout


@pytest.mark.parametrize("pad", [0, 1, 8])
@pytest.mark.parametrize("shape", [(5,), (3, 4), (2, 3, 4)], ids=str)
@pytest.mark.parametrize("order", ["row", "col"])
def test_every_coordinate(shape, order, pad):
    layout, allocation = padded_layout(shape, order, pad)
    fastest_last = shape if order == "row" else shape[::-1]
    expected, used = {}, -1
    for coord in itertools.product(*(range(extent) for extent in fastest_last)):
        # Walk through memory element by element, and skip the pad at each end of a run.
        used += 1 + (pad if coord[-1] == 0 and used >= 0 else 0)
        expected[coord if order == "row" else coord[::-1]] = used
    assert {coord: layout(*coord) for coord in expected} == expected
    assert allocation == used + 1 + pad
    assert layout.extents == shape


def test_defaults():
    layout, allocation = padded_layout((32, 32))
    assert (str(layout), allocation) == ("(32,32):(32,1)", 1024)


@pytest.mark.parametrize(
    ("shape", "order", "pad", "code"),
    [
        pytest.param((8, (4, 2)), "row", 0, "SWZ214", id="nested"),
        pytest.param(8, "row", 0, "SWZ214", id="int"),
        pytest.param((8, 4), "rows", 0, "SWZ214", id="order"),
        pytest.param((8, 4), "row", -1, "SWZ201", id="negative-pad"),
        pytest.param((8, 4), "row", True, "SWZ202", id="bool-pad"),
        pytest.param((8, 4), "row", (1,), "SWZ202", id="tuple-pad"),
        pytest.param((8, 0), "row", 1, "SWZ203", id="empty"),
        pytest.param([8, 4], "row", 1, "SWZ202", id="list"),
    ],
)
def test_refused(shape, order, pad, code):
    with pytest.raises(SwzError) as caught:
        padded_layout(shape, order, pad)
    assert caught.value.code == code
