"""Integers that carry their interval: exact everywhere, inside the interval, and no wider than it."""

from __future__ import annotations

import random
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from swzverify.ir import integers as ints
from swzverify.ir.evaluate import evaluate, evaluate_many
from swzverify.ir.expr import Expr, const, var
from swzverify.ir.integers import Integer
from tests.ir.reference import ONE, TWO, allowed, points, random_formula

LOW, HIGH = -5, 9
RANGES = [
    (low, high) for low in range(LOW, HIGH + 1) for high in {low, low + 1, low + 3, low + 6, HIGH} if high <= HIGH
]


def ranged(name: str, low: int, high: int) -> Integer:
    """A value with exactly this interval: low plus a variable."""
    return ints.add(ints.integer(low), ints.named(name, high - low + 1))


def minimal(value: Integer) -> bool:
    """Whether the bits are as few as the interval allows, by counting what each width holds."""
    low, high, width = value.low, value.high, value.bits.width

    def holds(bits: int) -> bool:
        return high < 2**bits if low >= 0 else -(2**bits) <= 2 * low and 2 * high < 2**bits

    return holds(width) and (width == 1 or not holds(width - 1))


def decoded(value: Integer, bits: int) -> int:
    """The integer that a bit pattern stands for."""
    width = value.bits.width
    return bits - 2**width if value.low < 0 and bits >= 2 ** (width - 1) else bits


def check(value: Integer, expected: np.ndarray, at: dict[str, np.ndarray]) -> None:
    raw = np.broadcast_to(evaluate_many((value.bits,), at)[0], expected.shape)
    width = value.bits.width
    signed = np.where(raw >= 2 ** (width - 1), raw - 2**width, raw) if value.low < 0 else raw
    assert np.array_equal(signed, expected)
    assert value.low <= expected.min()
    assert expected.max() <= value.high
    assert minimal(value)


@pytest.mark.parametrize("every", [2, pytest.param(1, marks=pytest.mark.nightly)])
@pytest.mark.parametrize("name", TWO)
def test_function_of_two_everywhere(name: str, every: int) -> None:
    made, python = TWO[name]
    numbers = range(LOW, HIGH + 1)
    truth = {(a, b): python(a, b) for a, b in product(numbers, numbers)
             if not (b == 0 and name in ("divide", "remainder")) and not (b < 0 and "shift" in name)}  # fmt: skip
    judged = 0
    for (a, b), (c, d) in product(RANGES[::every], RANGES):
        left, right = ranged("x", a, b), ranged("y", c, d)
        if not allowed(name, right):
            with pytest.raises(ValueError, match="can be"):
                made(left, right)
            continue
        expected = np.array([[truth[x, y] for y in range(c, d + 1)] for x in range(a, b + 1)])
        check(made(left, right), expected, {"x": np.arange(b - a + 1)[:, None], "y": np.arange(d - c + 1)})
        judged += 1
    assert judged > 500


@pytest.mark.parametrize("name", ONE)
def test_function_of_one_everywhere(name: str) -> None:
    made, python = ONE[name]
    for low, high in RANGES:
        expected = np.array([python(x) for x in range(low, high + 1)])
        check(made(ranged("x", low, high)), expected, {"x": np.arange(high - low + 1)})


def test_truth_and_choice_everywhere() -> None:
    x = ints.named("c", 3)
    for (a, b), (c, d) in product(RANGES[::3], RANGES[::2]):
        chosen = ints.choose(ints.truth(ints.subtract(x, ints.integer(1))), ranged("x", a, b), ranged("y", c, d))
        table = np.array([[[x if k != 1 else y for y in range(c, d + 1)] for x in range(a, b + 1)] for k in range(3)])
        at = {"c": np.arange(3)[:, None, None], "x": np.arange(b - a + 1)[:, None], "y": np.arange(d - c + 1)}
        check(chosen, table, at)


@given(st.integers(0, 2**64).map(random.Random), st.integers(0, 12))
def test_formula_is_plain_arithmetic(source: random.Random, size: int) -> None:
    limits = {"a": source.choice([1, 2, 33, 256]), "b": source.choice([3, 100]), "c": 7}
    formula = random_formula(source, limits, size, most_bits=60)
    value = formula.integer
    assert minimal(value)
    for _ in range(25):
        point = {name: source.choice([0, limit - 1, source.randrange(limit)]) for name, limit in limits.items()}
        exact = formula.value(point)
        assert value.low <= exact <= value.high
        assert decoded(value, evaluate(value.bits, point)) == exact


def test_formula_at_every_point() -> None:
    source = random.Random(3)
    limits = {"a": 5, "b": 4}
    for _ in range(400):
        formula = random_formula(source, limits, source.randint(3, 9))
        for point in points(limits):
            exact = formula.value(point)
            assert decoded(formula.integer, evaluate(formula.integer.bits, point)) == exact
            assert formula.integer.low <= exact <= formula.integer.high


X, Y = ints.named("x", 100), ints.named("y", 7)
SHAPES = [
    pytest.param(ints.remainder(Y, ints.integer(8)), Y.bits, id="remainder-above-is-itself"),
    pytest.param(ints.divide(Y, ints.integer(8)), ints.integer(0).bits, id="quotient-above-is-0"),
    pytest.param(ints.shift_left(Y, ints.integer(0)), Y.bits, id="shift-by-0"),
    pytest.param(ints.multiply(Y, ints.integer(1)), Y.bits, id="times-1"),
    pytest.param(ints.minimum(X, X), X.bits, id="smaller-of-itself"),
    pytest.param(ints.less(ints.integer(-1), X), ints.integer(1).bits, id="always-less"),
    pytest.param(ints.equal(X, ints.integer(100)), ints.integer(0).bits, id="never-equal"),
    pytest.param(ints.total([]), ints.integer(0).bits, id="empty-sum"),
    pytest.param(ints.total([X, ints.integer(0)]), X.bits, id="sum-with-0"),
    pytest.param(ints.variable(var("x", 100)), X.bits, id="variable"),
]


@pytest.mark.parametrize(("value", "bits"), SHAPES)
def test_shape(value: Integer, bits: Expr) -> None:
    assert value.bits is bits


@pytest.mark.parametrize(("low", "high"), [(a, b) for a in range(-17, 18) for b in range(a, 18)][::7])
def test_width_is_the_least(low: int, high: int) -> None:
    value = Integer(ints.resize(ints.named("x", 2**8), ints.width_for(low, high)), low, high)
    assert minimal(value)


def loose(value: int, low: int, high: int) -> Integer:
    """A constant whose interval did not shrink with it, as where a comparison of expressions folds."""
    width = ints.width_for(low, high)
    return Integer(const(value % 2**width, width), low, high)


@pytest.mark.parametrize("name", TWO)
def test_function_of_constants_in_wide_intervals(name: str) -> None:
    made, python = TWO[name]
    operands = [(v, loose(v, low, high)) for low, high in RANGES if high <= 3 for v in {low, high, (low + high) // 2}]
    for (a, left), (b, right) in product(operands, operands):
        if not allowed(name, right):
            continue
        result = made(left, right)
        assert decoded(result, evaluate(result.bits, {})) == python(a, b)
        assert result.low <= python(a, b) <= result.high
