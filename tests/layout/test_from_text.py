"""Layouts and swizzles from CuTe's notation, by their constructors."""

from __future__ import annotations

import dataclasses
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from swzverify.errors import SwzError
from swzverify.layout import Layout, Swizzle, parse_layout, parse_swizzle

TEXTS = ["(8,64):(64,1)", "((_8,_8),(_64,_2)):((_64,_512),(_1,_4096))", "(8,64)", "8:1", "16", "(8):(2)", " ( 4 , 2 ) "]


@pytest.mark.parametrize("text", TEXTS)
def test_a_layout_is_what_the_notation_says(text: str) -> None:
    assert Layout(text) == parse_layout(text)
    assert Layout(str(Layout(text))) == Layout(text)
    assert pickle.loads(pickle.dumps(Layout(text))) == Layout(text)  # noqa: S301 - our own bytes


@pytest.mark.parametrize("text", ["Swizzle<3,3,3>", "Sw<3,4,3>", "S<2,4,-3>", "Swizzle<2, 3>"])
def test_a_swizzle_is_what_the_notation_says(text: str) -> None:
    assert Swizzle(text) == parse_swizzle(text)
    assert Swizzle(str(Swizzle(text))) == Swizzle(text)
    assert dataclasses.replace(Swizzle(text), base=5).base == 5


@settings(deadline=None)
@given(st.integers(0, 6), st.integers(0, 9), st.integers(-9, 9))
def test_text_and_numbers_make_the_same_swizzle_or_the_same_refusal(bits: int, base: int, shift: int) -> None:
    def made(*arguments: object) -> object:
        try:
            return Swizzle(*arguments)  # pyright: ignore[reportCallIssue, reportArgumentType]
        except SwzError as error:
            return error.code, error.message

    assert made(f"Swizzle<{bits},{base},{shift}>") == made(bits, base, shift)


@settings(deadline=None)
@given(st.lists(st.tuples(st.integers(1, 64), st.integers(0, 512)), min_size=1, max_size=4))
def test_text_and_tuples_make_the_same_layout(leaves: list[tuple[int, int]]) -> None:
    shape, stride = tuple(zip(*leaves, strict=True))
    assert Layout(str(Layout(shape, stride))) == Layout(shape, stride)


WRONG = {
    "unclosed": (lambda: Layout("(8,64:(64,1)"), "SWZ200", "never closed"),
    "with a swizzle": (lambda: Layout("Swizzle<3,3,3> o 0 o (8,64):(64,1)"), "SWZ200", "parse_notation"),
    "a swizzle alone": (lambda: Layout("Swizzle<3,3,3>"), "SWZ200", "a layout must follow"),
    "a name": (lambda: Layout("(BM,64):(64,1)"), "SWZ301", "no constants are defined"),
    "a stride beside": (lambda: Layout("(8,64)", (64, 1)), "SWZ202", "the stride (64, 1) beside it"),
    "two texts": (lambda: Layout("(8,64)", "(64,1)"), "SWZ202", "the stride '(64,1)' beside it"),
    "another nesting": (lambda: Layout("(8,64):(64)"), "SWZ204", "nested differently"),
    "zero": (lambda: Layout("(8,0):(1,1)"), "SWZ203", "an extent is 0"),
    "empty": (lambda: Layout(""), "SWZ200", "a number is missing"),
    "bytes": (lambda: Layout(b"8:1"), "SWZ202", "holds b'8:1' (bytes)"),
    "a list": (lambda: Layout([8, 64], [64, 1]), "SWZ202", "lists into tuples"),
    "no swizzle": (lambda: Swizzle("128B"), "SWZ200", "a mode of TMA"),
    "two numbers": (lambda: Swizzle(3, 3), "SWZ202", "three numbers, B, M and S"),
    "text and numbers": (lambda: Swizzle("Swizzle<3,3,3>", 3), "SWZ202", "leave the others out"),
    "illegal": (lambda: Swizzle("Swizzle<3,3,1>"), "SWZ210", "not a legal swizzle"),
    "negative": (lambda: Swizzle("Swizzle<-3,3,3>"), "SWZ210", "at least 0"),
    "float": (lambda: Swizzle(3, 3.0, 3), "SWZ202", "M of a swizzle is 3.0 (float)"),
    "none": (lambda: Swizzle(None, 3, 3), "SWZ202", "None"),
    "bool": (lambda: Swizzle(True, 3, 3), "SWZ202", "True"),
}


@pytest.mark.parametrize(("make", "code", "said"), WRONG.values(), ids=WRONG)
def test_wrong_text_is_told(make: object, code: str, said: str) -> None:
    with pytest.raises(SwzError) as caught:
        make()  # pyright: ignore[reportCallIssue]
    assert caught.value.code == code
    assert said in str(caught.value)


def test_an_error_points_into_the_text() -> None:
    with pytest.raises(SwzError) as caught:
        Layout("(8,64):(64,x)")
    assert caught.value.text == "(8,64):(64,x)"
    assert caught.value.span == (11, 12)


@pytest.mark.parametrize("kind", [np.int8, np.uint8, np.int32, np.int64, np.uint64])
def test_numpy_integers_are_ints(kind: type[np.integer]) -> None:
    layout = Layout((kind(8), (kind(4), 2)), (kind(64), (1, kind(8))))
    assert layout == Layout((8, (4, 2)), (64, (1, 8)))
    assert all(type(leaf) is int for pair in layout.leaves for leaf in pair)
    assert type(layout(kind(3), kind(5))) is int
    assert layout(kind(3), kind(5)) == layout(3, 5)
    swizzle = Swizzle(kind(3), kind(3), kind(3))
    assert (swizzle, type(swizzle.bits)) == (Swizzle(3, 3, 3), int)
    assert swizzle(kind(64)) == 72
    assert type(swizzle(kind(64))) is int


def test_a_narrow_integer_does_not_wrap() -> None:
    assert Layout((np.int8(100), np.int8(100)), (np.int8(100), 1)).cosize == 10_000
    assert Layout(100, 100)(np.int8(100)) == 10_000
