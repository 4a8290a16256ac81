"""What stands for a layout: pycute's and the CuTe DSL's, what only looks like one, and the trap in
`S<..>`.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import SimpleNamespace

import numpy as np
import pytest

from swzverify.errors import SwzError
from swzverify.layout import Layout, Swizzle, parse_notation
from swzverify.subjects import Tile
from swzverify.testing import assert_bijective, assert_equivalent
from swzverify.testing.given import Given
from swzverify.testing.layouts import tile_or_function

GIVEN = Given(element_bits=16, base_align=1024)


class Printed:
    """A stand-in for a layout of the CuTe DSL: it prints itself, and can be called."""

    def __init__(self, text, **attributes):
        self.text = text
        self.__dict__ |= attributes

    def __str__(self):
        return self.text

    def __call__(self, coord):
        return coord


def tile(subject, given=GIVEN):
    found = tile_or_function(subject, given, "A")
    assert isinstance(found, Tile)
    return found


def mistake(subject, given=GIVEN):
    with pytest.raises(SwzError) as failure:
        tile_or_function(subject, given, "A")
    return failure.value


@pytest.mark.parametrize("text", ["8:1", "(8,64):(64,1)", "((2,4),8):((1,16),2)", "(8,64)"])
def test_pycute_layouts(text, pycute):
    ours = parse_notation(text)
    assert isinstance(ours, Layout)
    theirs = pycute.Layout(ours.shape, ours.stride)
    assert tile(theirs).layout == ours
    assert [theirs(i) for i in range(theirs.size())] == [ours(i) for i in range(ours.size)]


def test_a_composition_of_pycute_acts_on_offsets(pycute):
    theirs = pycute.ComposedLayout(pycute.Swizzle(3, 3, 3), 0, pycute.Layout((8, 64), (64, 1)))
    found = tile(theirs)
    assert (found.swizzle, found.swizzle_on, found.layout) == (Swizzle(3, 3, 3), "offset", Layout((8, 64), (64, 1)))
    assert [theirs((row, 5)) for row in range(8)] == [found.offset((row, 5)) for row in range(8)]
    assert_equivalent(theirs, "Sw<3,3,3> o 0 o (8,64):(64,1)", element_bits=16)
    assert mistake(theirs, Given(element_bits=16, swizzle_on="address")).code == "SWZ803"


def test_other_compositions_of_pycute_are_refused(pycute):
    inner = pycute.Layout(8, 1)
    assert mistake(pycute.ComposedLayout(pycute.Layout(8, 2), 0, inner)).code == "SWZ804"
    assert mistake(pycute.ComposedLayout(pycute.Swizzle(1, 0, 1), 4, inner)).code == "SWZ804"
    assert mistake(pycute.ComposedLayout(pycute.Swizzle(1, 0, 1), 0, None)).code == "SWZ804"


def test_a_layout_with_an_offset_is_a_part_of_a_tile():
    error = mistake("Sw<3,3,3> o 8 o (8,64):(64,1)")
    assert (error.code, "begins at offset 8" in error.message) == ("SWZ804", True)


@pytest.mark.parametrize("attributes", [{}, {"shape": (8, 64), "stride": (64, 1)}], ids=["print", "both"])
def test_a_printed_layout(attributes):
    assert tile(Printed("(8,64):(64,1)", **attributes)).layout == Layout((8, 64), (64, 1))


@pytest.mark.parametrize("attributes", [{}, {"shape": (8, 64), "stride": (64, 1)}], ids=["print", "both"])
@pytest.mark.parametrize("as_text", [True, False])
def test_the_dsl_leaves_open_what_a_swizzle_acts_on(attributes, as_text):
    text = "S<3,4,3> o 0 o (8,64):(64,1)"
    subject = text if as_text else Printed(text, **attributes)
    error = mistake(subject)
    assert error.code == "SWZ805"
    assert 'swizzle_on="address"' in error.hint
    for acts_on in ("offset", "address"):
        found = tile(subject, Given(element_bits=16, base_align=1024, swizzle_on=acts_on))
        assert (found.swizzle, found.swizzle_on) == (Swizzle(3, 4, 3), acts_on)
    assert mistake(subject, Given(element_bits=16, swizzle_on="address")).code == "SWZ802"


def test_the_two_readings_of_the_dsl_differ():
    text = "S<3,4,3> o 0 o (8,64):(64,1)"
    true = "Sw<3,4,3> o smem_ptr[16b](unset) o (8,64):(64,1)"
    assert_equivalent(text, true, swizzle_on="address", element_bits=16, base_align=1024)
    with pytest.raises(AssertionError):
        assert_equivalent(text, true, swizzle_on="offset", element_bits=16, base_align=1024)
    with pytest.raises(SwzError) as failure:
        assert_equivalent("(8,64):(64,1)", true, swizzle_on="offset", element_bits=16, base_align=1024)
    assert failure.value.code == "SWZ803"


def test_a_pointer_of_the_dsl_is_clear():
    found = tile("S<3,4,3> o smem_ptr[16b](unset) o (8,64):(64,1)", Given(base_align=1024))
    assert (found.swizzle, found.swizzle_on, found.element_bits) == (Swizzle(3, 4, 3), "address", 16)
    assert tile("S<0,4,3> o 0 o (8,64):(64,1)").swizzle is None


@dataclass
class SmemLayout:
    shape: tuple[int, ...]
    stride: tuple[int, ...]
    swizzle: tuple[int, int, int] = (0, 0, 0)


@dataclass
class View:
    shape: tuple[int, ...]
    stride: tuple[int, ...]
    offset: int = 0


def test_other_fields_beside_shape_and_stride_are_not_passed_over():
    """A swizzle or an offset in a field of an object's own would be dropped, and another layout
    proved.
    """
    error = mistake(SmemLayout((32, 32), (33, 1), swizzle=(5, 0, 5)))
    assert (error.code, "does not print itself as a layout" in error.message) == ("SWZ804", True)
    assert '"(32,32):(33,1)"' in error.hint
    assert '"Swizzle<B,M,S> o 0 o (32,32):(33,1)"' in error.hint
    with pytest.raises(SwzError, match="SWZ804"):
        assert_equivalent(View((8, 8), (8, 1), offset=0), View((8, 8), (8, 1), offset=4), element_bits=16)


def test_other_fields_of_a_composition_are_not_passed_over(pycute):
    inner = pycute.Layout((8, 64), (64, 1))
    for composed in (
        SimpleNamespace(layoutB=pycute.Swizzle(3, 3, 3), offset=0, layoutA=inner, tail=1),
        pycute.ComposedLayout(pycute.Swizzle(3, 3, 3), 0, View((8, 64), (64, 1), offset=4)),
    ):
        assert mistake(composed).code == "SWZ804"


def test_shape_and_stride_alone():
    assert mistake(SimpleNamespace(shape=(8, 64), stride=(64, 1))).code == "SWZ804"
    assert mistake(SimpleNamespace(shape=(8, 64), stride=(64,))).code == "SWZ204"
    assert mistake(SimpleNamespace(shape=(8, -64), stride=(64, 1))).code == "SWZ201"
    assert mistake(SimpleNamespace(shape=(8, True), stride=(64, 1))).code == "SWZ202"


def test_a_tuple_of_one_as_python_prints_it(pycute):
    assert tile(pycute.Layout((8,), (1,))).layout == Layout((8,), (1,))
    assert tile(pycute.Layout(((2, 4), (8,)), ((1, 16), (2,)))).layout == Layout(((2, 4), (8,)), ((1, 16), (2,)))


def test_a_swizzle_in_the_print_is_never_lost():
    unreadable = Printed("S<3,4,3> o ? o (8,64):(64,1)", shape=(8, 64), stride=(64, 1))
    assert mistake(unreadable).code == "SWZ804"
    assert mistake(Printed("SW_3_3_3 o 0 o (8, 64):(64, 1)", shape=(8, 64), stride=(64, 1))).code == "SWZ804"


def test_a_print_that_contradicts_shape_and_stride_is_refused():
    error = mistake(Printed("(8,64):(1,8)", shape=(8, 64), stride=(64, 1)))
    assert (error.code, "another layout" in error.message) == ("SWZ804", True)
    swizzled = Printed("S<3,4,3> o 0 o (8,64):(1,8)", shape=(8, 64), stride=(64, 1))
    assert mistake(swizzled, Given(element_bits=16, swizzle_on="offset")).code == "SWZ804"


def test_a_dynamic_layout_is_refused():
    error = mistake(Printed("(?,64):(64,1)", shape=(object(), 64), stride=(64, 1)))
    assert error.code in {"SWZ202", "SWZ804"}
    assert mistake(Printed("(?,64):(64,1)", shape=object(), stride=object())).code == "SWZ804"


def test_a_swizzle_of_pycute_is_no_layout(pycute):
    swizzle = pycute.Swizzle(3, 3, 3)
    assert tile_or_function(swizzle, GIVEN, "A") is swizzle


@pytest.mark.parametrize("subject", [None, 8, 8.0, (8, 64), [8, 64], {"shape": 8}, object(), np.zeros((8, 64))])
def test_what_is_no_layout_is_refused(subject):
    error = mistake(subject)
    assert (error.code, "is not a layout" in error.message) == ("SWZ804", True)
    assert "CuTe's notation" in error.hint


def test_functions_are_functions():
    def function(lane: int) -> int:
        return lane

    assert tile_or_function(function, GIVEN, "A") is function
    assert tile_or_function(lambda lane: lane, GIVEN, "A")(3) == 3
    assert tile_or_function([].append, GIVEN, "A") is not None


def test_mistakes_in_the_notation_point_at_their_place():
    error = mistake("(8,64):(64,1")
    assert (error.code, error.span) == ("SWZ200", (7, 8))
    assert mistake("(BM,64):(64,1)").code == "SWZ301"
    assert tile("(BM,64):(64,1)", Given(element_bits=16, constants={"BM": 8})).extents == (8, 64)


def test_sub_byte_elements():
    assert assert_bijective("(8,64):(64,1)", element_bits=4).outcome.value == "proved"
