"""The notation: what CuTe prints, what people write, and errors that point at the offending
characters.
"""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from swzverify.errors import SwzError
from swzverify.layout import (
    ComposedLayout,
    Layout,
    PointerLayout,
    Swizzle,
    parse_layout,
    parse_notation,
    parse_swizzle,
)

ROW_MAJOR = Layout((8, 64), (64, 1))
ATOM = Layout(((8, 8), (64, 2)), ((64, 512), (1, 4096)))
CONSTANTS = {"BM": 64, "BK": 32, "PAD": 8, "o": 4}


@pytest.mark.parametrize(
    ("text", "layout"),
    [
        ("(8,64):(64,1)", ROW_MAJOR),
        ("(_8,_64):(_64,_1)", ROW_MAJOR),
        ("  ( 8 , 64 ) : ( 64 , 1 )\t", ROW_MAJOR),
        ("((_8,_8),(_64,_2)):((_64,_512),(_1,_4096))", ATOM),
        ("8:1", Layout(8, 1)),
        ("8", Layout(8)),
        ("_8:_0", Layout(8, 0)),
        ("(8)", Layout((8,))),
        ("(8):(1)", Layout((8,), (1,))),
        ("((_8192,_1)):((_1,_0))", Layout(((8192, 1),), ((1, 0),))),
        ("(8,):(1,)", Layout((8,), (1,))),
        ("(8,64)", Layout((8, 64), (1, 8))),
        ("((2,4),8)", Layout(((2, 4), 8))),
        ("(BM,BK):(BK,1)", Layout((64, 32), (32, 1))),
        ("(BM,BK):(BK+8,1)", Layout((64, 32), (40, 1))),
        ("(BM,BK):((BK+PAD),1)", Layout((64, 32), (40, 1))),
        ("(BM / 2 , 1 << 3):((BK+PAD)*2,1)", Layout((32, 8), (80, 1))),
        ("(min(BM,16),BK):(BK,1)", Layout((16, 32), (32, 1))),
        ("(BM > 32 ? 8 : 4):3", Layout(8, 3)),
        ("(BM):(1)", Layout((64,), (1,))),
        ("(0x10,8)", Layout((16, 8))),
        ("( o ,8)", Layout((4, 8))),
        ("1099511627776:1", Layout(2**40, 1)),
    ],
)
def test_layouts(text, layout):
    assert parse_layout(text, CONSTANTS) == layout
    assert parse_notation(text, CONSTANTS) == layout


@pytest.mark.parametrize(
    ("text", "swizzle"),
    [
        ("Swizzle<3,3,3>", Swizzle(3, 3, 3)),
        ("Sw<3,4,3>", Swizzle(3, 4, 3)),
        ("S<2,0,-3>", Swizzle(2, 0, -3)),
        (" Swizzle < 2 , 4 , 3 > {} ", Swizzle(2, 4, 3)),
        ("Swizzle<3,4>", Swizzle(3, 4, 3)),
        ("Sw<0,4,3>", Swizzle(0, 4, 3)),
    ],
)
def test_swizzles(text, swizzle):
    assert parse_swizzle(text) == swizzle


@pytest.mark.parametrize(
    ("text", "swizzle"),
    [
        ("Swizzle<B,M,S>", Swizzle(2, 3, 4)),
        ("Sw<B, M + 1, B*2>", Swizzle(2, 4, 4)),
        ("S<B,M>", Swizzle(2, 3, 2)),
        ("Sw<max(B,1),3,3>", Swizzle(2, 3, 3)),
        ("Swizzle<B,(M + 1)*2,-S>", Swizzle(2, 8, -4)),
        ("Swizzle<3,M,3>", Swizzle(3, 3, 3)),
    ],
)
def test_constants_in_swizzles(text, swizzle):
    names = {"B": 2, "M": 3, "S": 4}
    assert parse_swizzle(text, names) == swizzle
    assert parse_notation(f"{text} o (8,64):(64,1)", names) == ComposedLayout(swizzle, 0, ROW_MAJOR)


@pytest.mark.parametrize(
    ("text", "code", "span"),
    [
        ("Swizzle<B,M,S>", "SWZ301", (10, 11)),
        ("Swizzle<B,B +,3>", "SWZ302", (13, 14)),
        ("Swizzle<B,0*B,1>", "SWZ210", (0, 16)),
        ("Swizzle<B,B/(B - 2),3>", "SWZ305", (13, 18)),
        ("Swizzle<B,,3>", "SWZ200", (8, 12)),
        ("Swizzle<B,1,2,3>", "SWZ200", (8, 15)),
        ("Swizzle<B,1.5,3>", "SWZ200", (8, 15)),
    ],
)
def test_mistakes_in_a_swizzles_numbers(text, code, span):
    with pytest.raises(SwzError) as caught:
        parse_swizzle(text, {"B": 2})
    assert (caught.value.code, caught.value.text) == (code, text)
    assert caught.value.span == span


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Swizzle<3,3,3> o (8,64):(64,1)", ComposedLayout(Swizzle(3, 3, 3), 0, ROW_MAJOR)),
        ("S<3,3,3> o 0 o (8,64):(64,1)", ComposedLayout(Swizzle(3, 3, 3), 0, ROW_MAJOR)),
        ("Sw<3,3,3> o _0 o (_8,_64):(_64,_1)", ComposedLayout(Swizzle(3, 3, 3), 0, ROW_MAJOR)),
        ("Sw<3,3,3> o _512 o (_8,_64):(_64,_1)", ComposedLayout(Swizzle(3, 3, 3), 512, ROW_MAJOR)),
        ("Sw<3,3,3> o BM*8 o (_8,_64):(_64,_1)", ComposedLayout(Swizzle(3, 3, 3), 512, ROW_MAJOR)),
        ("Sw<3,3,3> ∘ (8,64):(64,1)", ComposedLayout(Swizzle(3, 3, 3), 0, ROW_MAJOR)),
        (
            "Sw<3,4,3> o smem_ptr[16b](unset) o ((_8,_8),(_64,_2)):((_64,_512),(_1,_4096))",
            PointerLayout(Swizzle(3, 4, 3), 16, ATOM),
        ),
        ("Sw<2,4,3> o smem_ptr[32b](unset) o (BM,16)", PointerLayout(Swizzle(2, 4, 3), 32, Layout((64, 16)))),
        ("Sw<3,4,3>_smem_ptr[16b](0x7f2000000400) o (8,64):(64,1)", PointerLayout(Swizzle(3, 4, 3), 16, ROW_MAJOR)),
        ("smem_ptr[8b](unset) o (8,64):(64,1)", PointerLayout(Swizzle(0, 4, 3), 8, ROW_MAJOR)),
    ],
)
def test_what_cute_prints(text, expected):
    result = parse_notation(text, CONSTANTS)
    assert type(result) is type(expected)
    assert result == expected
    assert parse_notation(str(result)) == result


def test_element_and_byte_forms_stay_apart():
    composed = parse_notation("Sw<3,4,3> o 0 o (8,64):(64,1)")
    pointer = parse_notation("Sw<3,4,3> o smem_ptr[16b](unset) o (8,64):(64,1)")
    assert (composed(2, 0), pointer(2, 0)) == (128 ^ 16, 256 ^ 32)


@pytest.mark.parametrize(
    ("text", "code", "marked", "words"),
    [
        pytest.param("", "SWZ200", "", "a number is missing", id="empty"),
        pytest.param("()", "SWZ200", ")", "a number is missing", id="empty-tuple"),
        pytest.param("(8,,4)", "SWZ200", ",", "a number is missing", id="two-commas"),
        pytest.param("(8,64):", "SWZ200", "", "a number is missing in the stride", id="no-stride"),
        pytest.param("(8,64):(64,1", "SWZ200", "(", "never closed", id="open"),
        pytest.param("(8,64)):(64,1)", "SWZ200", ")", "closes nothing", id="closed-twice"),
        pytest.param("8:1:2", "SWZ200", "2", "one ':'", id="two-colons"),
        pytest.param("(8,64):(64)", "SWZ204", "(8,64):(64)", "nested differently", id="profile"),
        pytest.param("(8,0)", "SWZ203", "0", "at least 1", id="zero-extent"),
        pytest.param("(8,2):(1,-8)", "SWZ201", "-8", "negative", id="negative-stride"),
        pytest.param("(8,BM-64):(1,8)", "SWZ203", "BM-64", "at least 1", id="expression-gives-zero"),
        pytest.param("(8,2):(1,BK-BM)", "SWZ201", "BK-BM", "stride -32 is negative", id="expression-gives-negative"),
        pytest.param("(8,BMM)", "SWZ301", "BMM", "unknown name 'BMM'", id="unknown-name"),
        pytest.param("(8,BM+BL)", "SWZ301", "BL", "unknown name 'BL'", id="unknown-name-in-expression"),
        pytest.param("(8,BM/(BK-32))", "SWZ305", None, "divisor", id="division-by-zero"),
        pytest.param("(8,BM+)", "SWZ302", None, "", id="broken-expression"),
        pytest.param("(8 64)", "SWZ302", None, "", id="comma-missing"),
        pytest.param("(010,8)", "SWZ200", "010", "octal", id="leading-zero"),
        pytest.param("(?,8)", "SWZ200", "?", "no fixed value", id="dynamic"),
        pytest.param("(8,4):(1@0,1@1)", "SWZ200", "1@0", "no fixed value", id="coordinate-strides"),
        pytest.param("(8,1099511627777)", "SWZ206", "1099511627777", "2^40", id="above-2^40"),
        pytest.param("(8," + "9" * 400 + ")", "SWZ206", "9" * 400, "2^40", id="very-long-number"),
        pytest.param("(1099511627776,1099511627776)", "SWZ206", None, "2^62", id="product-too-large"),
        pytest.param("foo o 8", "SWZ200", "foo", "not a swizzle", id="no-swizzle"),
        pytest.param("Swizzle<3,x,3> o 8", "SWZ301", "x", "unknown name", id="swizzle-with-name"),
        pytest.param("Swizzle<3> o 8", "SWZ200", "3", "three integers", id="swizzle-with-one-number"),
        pytest.param("8 o Swizzle<3,3,1>", "SWZ200", "Swizzle<3,3,1>", "a layout must follow", id="wrong-order"),
        pytest.param("Swizzle<3,3,1> o 8", "SWZ210", "Swizzle<3,3,1>", "not a legal swizzle", id="illegal-swizzle"),
        pytest.param("Swizzle<3,3,3>", "SWZ200", "Swizzle<3,3,3>", "a layout must follow", id="swizzle-alone"),
        pytest.param("Sw<3,3,3> o 0 o 1 o 8", "SWZ200", None, "at most", id="too-many-parts"),
        pytest.param("Sw<3,3,3> o (-1) o 8", "SWZ201", "(-1)", "offset -1 is negative", id="negative-offset"),
        pytest.param("Sw<3,4,3> o smem_ptr[4b](unset) o 8", "SWZ212", "smem_ptr[4b](unset)", "4 bits", id="sub-byte"),
        pytest.param("Sw<3,4,3> o gmem_ptr[16b](x) o 8", "SWZ200", "gmem_ptr[16b](x)", "pointer", id="gmem"),
    ],
)
def test_errors_point_at_their_place(text, code, marked, words):
    with pytest.raises(SwzError) as caught:
        parse_notation(text, {"BM": 64, "BK": 32})
    error = caught.value
    assert error.code == code
    assert words in error.message
    assert error.text == text
    assert error.span is not None
    start, end = error.span
    assert 0 <= start < end <= len(text) + 1
    if marked is not None:
        assert text[start:end] == marked


@pytest.mark.parametrize(
    ("text", "constants", "hint"),
    [
        ("(8,BLOC)", {"BLOCK": 4}, "did you mean 'BLOCK'?"),
        ("(8,X)", {"BM": 4, "BK": 4}, "known names: BK, BM"),
        ("(8,X)", {}, "no constants are defined"),
        ("(8,BLOC*2)", {"BLOCK": 4}, "did you mean 'BLOCK'?"),
    ],
)
def test_unknown_names_get_a_hint(text, constants, hint):
    with pytest.raises(SwzError, match="SWZ301") as caught:
        parse_layout(text, constants)
    assert caught.value.hint == hint


def test_limits():
    assert parse_layout("(" * 16 + "8" + ")" * 16).depth == 16
    for text in ("(" * 17 + "8" + ")" * 17, "(" + ",".join("1" * 257) + ")", " " * 4096 + "8"):
        with pytest.raises(SwzError, match="SWZ206"):
            parse_layout(text)
    assert parse_layout("(" + ",".join("1" * 256) + ")").rank == 256


def test_plain_layout_wanted():
    with pytest.raises(SwzError, match="plain layout"):
        parse_layout("Swizzle<3,3,3> o 8")


@pytest.mark.parametrize(
    ("text", "code"),
    [("Swizzle<3,3,1>", "SWZ210"), ("Swizzle", "SWZ200"), ("<3,3,3>", "SWZ200"), ("Swizzle<3,3,3> o 8", "SWZ200")],
)
def test_refused_swizzles(text, code):
    with pytest.raises(SwzError) as caught:
        parse_swizzle(text)
    assert caught.value.code == code


@pytest.mark.parametrize("value", [8, None, ("8", "1"), b"8"])
def test_not_text(value):
    with pytest.raises(SwzError, match="SWZ200"):
        parse_notation(value)


def test_constants_must_be_ints():
    with pytest.raises(SwzError, match="SWZ202"):
        parse_layout("(BM,8)", {"BM": True})


@given(st.text(alphabet="(),:_<>SwBMo8 160+-*/[]b?{}", max_size=40) | st.text(max_size=20))
@settings(deadline=None, max_examples=500)
def test_any_text_gives_a_layout_or_a_located_error(text):
    try:
        result = parse_notation(text, {"BM": 64})
    except SwzError as error:
        assert re.fullmatch(r"SWZ[23][0-9]{2}", error.code)  # noqa: PT017
        assert error.span is not None  # noqa: PT017
        return
    assert parse_notation(str(result)) == result
