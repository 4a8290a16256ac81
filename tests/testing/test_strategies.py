"""The strategies: all that they draw is legal and within its bounds, and they find and shrink
planted bugs.
"""

from __future__ import annotations

import random
import subprocess
import sys

import pytest
from hypothesis import HealthCheck, find, given, settings

from swzverify.errors import SwzError
from swzverify.layout import ComposedLayout, Layout, Swizzle
from swzverify.testing import assert_bijective, assert_contiguous, strategies

QUICK = settings(max_examples=60, deadline=None)
SLOW = settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@QUICK
@given(strategies.swizzles(max_bits=2, max_base=3, max_shift=4))
def test_swizzles_are_legal_and_within_bounds(swizzle):
    assert swizzle.is_legal
    assert swizzle.bits <= 2
    assert swizzle.base <= 3
    assert abs(swizzle.shift) <= 4
    assert all(swizzle(swizzle(value)) == value for value in range(64))


@QUICK
@given(strategies.swizzles(negative_shifts=False))
def test_shifts_can_be_kept_positive(swizzle):
    assert swizzle.shift >= 0


@QUICK
@given(strategies.layouts(kind="any", max_modes=2, max_leaves=3, max_extent=16, max_size=128, max_gap=2))
def test_layouts_are_within_bounds(layout):
    assert isinstance(layout, Layout)
    assert 1 <= layout.rank <= 2
    assert len(layout.leaves) <= 6
    assert layout.size <= 128
    assert all(extent <= 16 and stride <= 32 for extent, stride in layout.leaves)


@QUICK
@given(strategies.layouts(kind="compact", max_size=512))
def test_compact_layouts_are_bijections(layout):
    assert sorted(layout.offsets()) == list(range(layout.size))


@QUICK
@given(strategies.layouts(kind="injective", max_size=512))
def test_injective_layouts_are_injective(layout):
    assert len(set(layout.offsets())) == layout.size


@QUICK
@given(strategies.layouts(powers_of_two=True))
def test_extents_can_be_powers_of_two(layout):
    assert all(extent.bit_count() == 1 for extent, _ in layout.leaves)


@SLOW
@given(strategies.composed_layouts())
def test_swizzled_compact_layouts_are_proved_injective(composed):
    assert isinstance(composed, ComposedLayout)
    assert len({composed(index) for index in range(composed.size)}) == composed.size


@SLOW
@given(strategies.tiles(strategies.layouts(kind="compact", powers_of_two=True, max_size=256)))
def test_tiles_are_tiles(tile):
    assert tile.element_bits in {8, 16, 32, 64}
    assert 1 <= tile.stages <= 3
    assert tile.size <= 256
    assert tile.position((0,) * len(tile.extents), stage=0, base=0) >= 0


@SLOW
@given(strategies.layouts(kind="compact", max_size=256))
def test_the_prover_agrees_with_the_strategy(layout):
    assert_bijective(layout, element_bits=16)


def smallest(strategy, condition):
    return find(strategy, condition, random=random.Random(1), settings=settings(max_examples=2000, database=None))


def test_all_kinds_are_drawn():
    drawn = strategies.layouts(kind="any")
    assert smallest(drawn, lambda layout: len(set(layout.offsets())) < layout.size).size == 2
    assert smallest(drawn, lambda layout: layout.rank == 3).rank == 3
    assert smallest(drawn, lambda layout: layout.depth == 2).depth == 2
    assert smallest(strategies.layouts(kind="injective"), lambda layout: layout.cosize > layout.size).size == 2
    assert smallest(strategies.swizzles(), lambda swizzle: swizzle.bits == 3 and swizzle.shift < 0).base == 0


def test_they_shrink_to_what_is_simplest():
    assert smallest(strategies.swizzles(), lambda _: True) == Swizzle(0, 0, 0)
    assert str(smallest(strategies.layouts(kind="compact"), lambda _: True)) == "(1):(1)"
    assert str(smallest(strategies.composed_layouts(), lambda c: c.size > 4)) == "Swizzle<0,0,0> o 0 o (8):(1)"


def planted(swizzle, offset):
    """A swizzle by somebody who has forgotten that the shift can be negative."""
    mask = ((1 << swizzle.bits) - 1) << (swizzle.base + max(0, swizzle.shift))
    return offset ^ ((offset & mask) >> abs(swizzle.shift))


def test_a_planted_bug_is_found_and_made_small():
    found = smallest(
        strategies.swizzles(), lambda swizzle: any(planted(swizzle, x) != swizzle(x) for x in range(1 << 12))
    )
    assert (found.bits, found.base, found.shift) == (1, 0, -1)


def test_a_false_belief_about_vectors_is_refuted():
    """That a swizzle never tears vectors of 8 apart holds for a base of 3 and more only."""

    def is_torn(composed):
        try:
            assert_contiguous(composed, elements=8, element_bits=16)
        except AssertionError as error:
            return str(error).startswith("refuted")
        return False

    rows = strategies.layouts(kind="compact", powers_of_two=True, max_modes=1, max_leaves=1)
    found = smallest(strategies.composed_layouts(rows, strategies.swizzles(negative_shifts=False)), is_torn)
    assert found.swizzle.bits > 0
    assert found.swizzle.base < 3


@pytest.mark.parametrize(
    ("strategy", "bounds"),
    [
        ("swizzles", {"max_bits": -1}),
        ("swizzles", {"max_bits": 4, "max_shift": 3}),
        ("swizzles", {"max_base": 60}),
        ("layouts", {"kind": "odd"}),
        ("layouts", {"max_modes": 0}),
        ("layouts", {"max_size": 0}),
        ("layouts", {"max_extent": 2.0}),
        ("layouts", {"max_gap": True}),
        ("layouts", {"max_modes": 17, "max_leaves": 4}),
    ],
)
def test_bounds_that_allow_nothing_are_refused_at_once(strategy, bounds):
    with pytest.raises(SwzError) as failure:
        getattr(strategies, strategy)(**bounds)
    assert failure.value.code == "SWZ105"


def test_without_hypothesis_the_import_says_how_to_install_it():
    code = (
        "import sys; sys.modules['hypothesis'] = None\n"
        "import swzverify.testing\n"
        "try:\n    import swzverify.testing.strategies\n"
        "except ModuleNotFoundError as error:\n    print(error.name, error)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("hypothesis SWZ807: swzverify.testing.strategies needs hypothesis")
    assert "pip install" in done.stdout


def test_assertions_do_not_import_hypothesis_or_pytest():
    code = (
        "import sys; import swzverify.testing; swzverify.testing.assert_bijective\n"
        "print([name for name in ('hypothesis', 'pytest', '_pytest') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
