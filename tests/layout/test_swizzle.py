"""`Swizzle` against a bit-by-bit definition, exhaustively on small parameters, and what makes one
illegal.
"""

from __future__ import annotations

import itertools
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from swzverify.errors import SwzError
from swzverify.layout import Swizzle, parse_swizzle

LEGAL = [
    Swizzle(bits, base, shift)
    for bits, base, shift in itertools.product(range(4), range(3), range(-4, 5))
    if abs(shift) >= bits
]
ILLEGAL = [
    (bits, base, shift)
    for bits, base, shift in itertools.product(range(1, 5), range(2), range(-3, 4))
    if abs(shift) < bits
]


def bit_by_bit(bits, base, shift, value):
    """Target bit i is XORed with the source bit |shift| above it (below it for a negative shift)."""
    result = value
    for i in range(bits):
        source = base + i + max(shift, 0)
        target = base + i - min(shift, 0)
        result ^= ((value >> source) & 1) << target
    return result


@pytest.mark.parametrize("swizzle", LEGAL, ids=str)
def test_legal_swizzles_on_two_periods(swizzle):
    domain = range(2 * swizzle.span)
    images = [swizzle(value) for value in domain]
    assert images == [bit_by_bit(swizzle.bits, swizzle.base, swizzle.shift, value) for value in domain]
    assert sorted(images) == list(domain)
    assert [swizzle(image) for image in images] == list(domain)
    assert all(image // swizzle.block == value // swizzle.block for value, image in enumerate(images))
    assert swizzle(np.arange(2 * swizzle.span)).tolist() == images
    assert images[swizzle.span :] == [image + swizzle.span for image in images[: swizzle.span]]
    assert swizzle.is_legal


@pytest.mark.parametrize(("bits", "base", "shift"), ILLEGAL)
def test_illegal_swizzles(bits, base, shift):
    with pytest.raises(SwzError) as caught:
        Swizzle(bits, base, shift)
    assert caught.value.code == "SWZ210"
    assert ("not one to one" if shift == 0 else "does not undo it") in caught.value.message
    research = Swizzle.unchecked(bits, base, shift)
    assert not research.is_legal
    domain = range(2 * research.span)
    images = [research(value) for value in domain]
    assert images == [bit_by_bit(bits, base, shift, value) for value in domain]
    # What the message says is so:
    assert (sorted(images) == list(domain)) is (shift != 0)
    assert [research(image) for image in images] != list(domain)


@pytest.mark.parametrize(
    ("bits", "base", "shift", "code"),
    [
        pytest.param(-1, 3, 3, "SWZ210", id="negative-B"),
        pytest.param(3, -1, 3, "SWZ210", id="negative-M"),
        pytest.param(True, 3, 3, "SWZ202", id="bool"),
        pytest.param(3, 3.0, 3, "SWZ202", id="float"),
        pytest.param(3, 3, "3", "SWZ202", id="text"),
        pytest.param(20, 30, 20, "SWZ206", id="beyond-int64"),
    ],
)
def test_meaningless_fields_are_refused_by_both_constructors(bits, base, shift, code):
    for make in (Swizzle, Swizzle.unchecked):
        with pytest.raises(SwzError) as caught:
            make(bits, base, shift)
        assert caught.value.code == code


@pytest.mark.parametrize(
    ("swizzle", "yyy", "zzz", "span"),
    [
        (Swizzle(3, 4, 3), 0x380, 0x70, 1024),
        (Swizzle(2, 4, 3), 0x180, 0x30, 512),
        (Swizzle(1, 4, 3), 0x080, 0x10, 256),
        (Swizzle(3, 3, 3), 0x1C0, 0x38, 512),
        (Swizzle(2, 3, -4), 0x018, 0x180, 512),
        (Swizzle(0, 4, 3), 0, 0, 128),
    ],
    ids=str,
)
def test_masks(swizzle, yyy, zzz, span):
    assert (swizzle.yyy_mask, swizzle.zzz_mask, swizzle.span) == (yyy, zzz, span)


def test_the_identity_has_zero_bits_and_any_shift():
    assert [Swizzle(0, 4, 0)(value) for value in range(64)] == list(range(64))
    assert Swizzle(0, 4, 0).block == 1


@given(st.sampled_from(LEGAL), st.integers(-4, 4), st.integers(0, 2**20))
@settings(deadline=None, max_examples=300)
def test_recast_counts_in_other_units(swizzle, log2_units, value):
    if swizzle.base < log2_units and swizzle.bits:
        with pytest.raises(SwzError, match="SWZ211"):
            swizzle.recast(log2_units)
        return
    recast = swizzle.recast(log2_units)
    if log2_units >= 0:
        low = value % 2**log2_units
        assert swizzle(value) == recast(value >> log2_units) * 2**log2_units + low
    else:
        units = 2**-log2_units
        assert recast(value) == swizzle(value // units) * units + value % units


def test_recast_keeps_an_illegal_one_illegal():
    assert Swizzle.unchecked(3, 4, 1).recast(1) == Swizzle.unchecked(3, 3, 1)


@pytest.mark.parametrize("swizzle", [Swizzle(3, 4, 3), Swizzle(2, 0, -2), Swizzle.unchecked(3, 4, 1)], ids=str)
def test_texts_and_copies(swizzle):
    assert eval(repr(swizzle)) == swizzle  # noqa: S307
    assert pickle.loads(pickle.dumps(swizzle)) == swizzle  # noqa: S301
    assert hash(eval(repr(swizzle))) == hash(swizzle)  # noqa: S307
    if swizzle.is_legal:
        assert parse_swizzle(str(swizzle)) == swizzle


@pytest.mark.parametrize(
    ("value", "code"), [(-1, "SWZ306"), (True, "SWZ202"), (np.arange(4, dtype=np.uint8), "SWZ202")]
)
def test_refused_values(value, code):
    with pytest.raises(SwzError) as caught:
        Swizzle(3, 3, 3)(value)
    assert caught.value.code == code
