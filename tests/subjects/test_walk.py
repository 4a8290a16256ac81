"""Addresses that move with a loop, against going from value to value."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from swzverify.errors import SwzError
from swzverify.ir.c_parse import parse
from swzverify.subjects import ListedLoop, Loop, walked
from swzverify.subjects.listed_loop import AnyLoop

TEXTS = st.sampled_from(["16", "k*8", "(k % 4 == 3)*128", "lane*4", "k", "7 - k", "B", "B*2 + 1"])
LOOPS = st.one_of(
    st.builds(
        lambda start, step, count: Loop("k", start, start + step * count, step),
        st.integers(-3, 40),
        st.integers(1, 20),
        st.integers(0, 9),
    ),
    st.lists(st.integers(-5, 200), min_size=2, max_size=6, unique=True).map(
        lambda values: ListedLoop("k", tuple(sorted(values)))
    ),
)


@settings(deadline=None)
@given(LOOPS, TEXTS, st.none() | TEXTS, st.none() | TEXTS, st.integers(0, 31))
def test_the_address_is_where_the_pointer_comes_to(
    loop: AnyLoop, start: str, step: str | None, xor: str | None, lane: int
) -> None:
    if "k" in start or (step is None and xor is None):
        return
    constants = {"B": 24}
    parts = [None if text is None else parse(text) for text in (step, xor)]
    found = walked(loop, parse(start), step=parts[0], xor=parts[1], constants=constants)
    env = {**constants, "lane": lane}
    pointer = parse(start).at(env)
    for iteration in range(loop.count or 0):
        here = {**env, "k": loop.value(iteration)}
        assert found.at(here) == pointer
        changed = pointer ^ (0 if parts[1] is None else parts[1].at(here))
        pointer = changed + (0 if parts[0] is None else parts[0].at(here))


def test_a_constant_step_goes_as_far_as_it_likes() -> None:
    found = walked(Loop("k", 0, 1_000_000), parse("lane"), step=parse("B*4"), constants={"B": 8})
    assert str(found) == "(lane) + k*32"
    assert found.at({"lane": 3, "k": 999_999}) == 3 + 32 * 999_999


def test_a_product_leaves_the_range_nowhere_where_the_sums_do_not() -> None:
    """A step of 2^30 from -2^31 on: the sums stay in C's range, the product would not."""
    found = walked(Loop("k", 0, 4), parse("0 - 2147483647 - 1"), step=parse("1 << 30"))
    assert "?" in str(found)
    assert found.at({"k": 3}) == -(2**31) + 3 * 2**30


@pytest.mark.parametrize(
    ("loop", "start", "step", "code", "words"),
    [
        (Loop("k", 0, 4), "k*4", "4", "SWZ105", "reads 'k'"),
        (Loop("k", 0, None), "lane", "4", "SWZ206", "no bound"),
        (Loop("k", 0, 4), "lane", None, "SWZ104", "`step` or `xor`"),
        (Loop("k", 0, 100_000), "lane", "lane", "SWZ302", "at most 256"),
        (Loop("k", 0, 200), "lane", "lane*1000 + 12345 - lane", "SWZ302", "characters"),
    ],
)
def test_what_is_no_walk(loop: Loop, start: str, step: str | None, code: str, words: str) -> None:
    with pytest.raises(SwzError) as caught:
        walked(loop, parse(start), step=None if step is None else parse(step))
    assert caught.value.code == code
    assert words in caught.value.message
