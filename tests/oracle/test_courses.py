"""What a course says of an expression, held against the expression's values one by one."""

from __future__ import annotations

from itertools import pairwise

import pytest

from tests.nightly import counts

from .c_expr import MOST, Expr, evaluate, parse
from .courses import Course, Stretch
from .existence import Survey
from .random_parts import Draft, seeded
from .random_small_loops import Small, any_value

STRETCHES = (
    (0, 60),
    (37, 130),
    (400, 520),
    (2**32 - 90, 2**32 - 1),
    (2**31 - 40, 2**31 + 40),
    (138_547_300, 138_547_360),
)


def lives(tree: Expr, ks: list[int], m: int) -> tuple[list[int | None], set[int]]:
    """The tree's values at all k, and the k at which nothing leaves the range."""
    survey = Survey({"k": ks, "m": [m] * len(ks), "tid": [3] * len(ks), "lane": [3] * len(ks)}, len(ks))
    values = survey.look(tree)
    return values, {k for at, k in enumerate(ks) if at not in survey.outside | survey.doubtful}


def check(tree: Expr, course: Course, ks: list[int], m: int) -> None:
    """Period, slope, bounds and exact values, wherever the iteration exists and the value does."""
    found, alive = lives(tree, ks, m)
    values = {k: value for k, value in zip(ks, found, strict=True) if k in alive and value is not None}
    for k, value in values.items():
        assert course.low <= value - course.slope * k <= course.high
        assert course.exact is None or course.exact(k) == value
        later = values.get(k + course.period)
        assert later is None or later == value + course.slope * course.period
        if not course.partial and k + course.period in alive:
            assert later is not None


@pytest.mark.parametrize("count", counts(80, 250))
@pytest.mark.parametrize(("first", "last"), STRETCHES)
def test_courses_say_what_is(first: int, last: int, count: int) -> None:
    said = 0
    ks = list(range(first, last + 1))
    for seed in range(count):
        small = Small(Draft(seeded(seed)), ("k", "m") if seed % 3 == 0 else ("k",), 2**9 - 1)
        tree = parse(any_value(small).replace("tid", "3").replace("lane", "3"))
        stretch = Stretch("k", first, last)
        course = stretch.course(tree)
        for m in (0, 1, 6, 77, MOST):
            # Where no value is taken, whatever the other loop's, the iteration does not exist.
            _, alive = lives(tree, ks, m)
            assert all(stretch.alive_first <= k <= stretch.alive_last for k in alive), (seed, m)
            if course is not None:
                check(tree, course, ks, m)
        if course is not None and not stretch.dead:
            said += 1
            truth = stretch.truth(tree)
            if truth is not None and truth.constant is not None and not stretch.dead:
                values, alive = lives(tree, ks, 6)
                assert {value != 0 for k, value in zip(ks, values, strict=True) if k in alive} <= {bool(truth.constant)}
    assert said > count // 5


@pytest.mark.parametrize(
    ("text", "cuts"),
    [
        ("k < 40", {40}),
        ("k <= 40", {41}),
        ("40 > k", {40}),
        ("k == 40", {40, 41}),
        ("k != 40", {40, 41}),
        ("k*7 >= 100", {15}),
        ("k/16 == 2", {32, 48}),
        ("k >> 5 < 3", {96}),
        ("100 - k < 10", {91}),
        ("min(k, 50)", {50}),
        ("!k", {1}),
        ("k/8*8 + 3 < 64", {64}),
    ],
)
def test_where_a_stretch_is_cut(text: str, cuts: set[int]) -> None:
    stretch = Stretch("k", 0, 1000)
    stretch.course(parse(text))
    assert stretch.cuts == cuts
    edges = sorted({0, 1001, *cuts})
    for first, end in pairwise(edges):
        piece = Stretch("k", first, end - 1)
        course = piece.course(parse(text))
        assert course is not None
        assert not piece.cuts
        check(parse(text), course, list(range(first, end)), 0)


@pytest.mark.parametrize(
    ("text", "last"),
    [("k*4294967295", 1), ("k*31", 138_547_332), ("0*(k*2)", 2**31 - 1), ("-k", 2**31), ("(k << 8)*3", 5_592_405)],
)
def test_where_the_range_ends(text: str, last: int) -> None:
    stretch = Stretch("k", 0, MOST)
    stretch.course(parse(text))
    assert (stretch.alive_first, stretch.alive_last) == (0, last)
    evaluate(parse(text), {"k": [last]}, 1)
    assert Stretch("k", last + 1, MOST).course(parse(text)) is not None
    beyond = Stretch("k", last + 1, MOST)
    beyond.course(parse(text))
    assert beyond.dead


@pytest.mark.parametrize(
    "text", ["k*k", "1 << k", "64/k", "k % k", "k & (0 - k%3)", "k%2 ? k : 3", "k*m", "(k*3 & 5)*k"]
)
def test_what_no_rule_covers_is_unclear(text: str) -> None:
    stretch = Stretch("k", 10, 1000)
    assert stretch.course(parse(text)) is None
    assert stretch.unclear


@pytest.mark.parametrize(
    "text", ["k/2 - k/3 < 9", "k*2 - k/3*5 > 100", "k/7 + k/3 - k/5 == 40", "0 - k/3 + k%4 >= -50"]
)
def test_what_is_decided_is_so_where_it_wavers(text: str) -> None:
    """Pieces in which a comparison is decided, although the sides have slopes against each other."""
    todo, decided = [(0, 1000)], 0
    while todo:
        first, last = todo.pop()
        piece = Stretch("k", first, last)
        course = piece.course(parse(text))
        edges = [first, *sorted(piece.cuts), last + 1]
        if len(edges) > 2:
            todo += [(a, b - 1) for a, b in pairwise(edges)]
        elif course is not None and course.constant is not None:
            values = evaluate(parse(text), {"k": list(range(first, last + 1))}, last + 1 - first)
            assert set(values) == {course.constant}
            decided += len(values)
    assert decided > 700
