"""Points for conditions of races: what was found elsewhere is tried, and addresses are made equal."""

from __future__ import annotations

import random

import pytest

from swzverify.compiled.kernel.arithmetic import add, mul, widened
from swzverify.compiled.scan import race_points
from swzverify.compiled.scan.race_points import Points
from swzverify.ir.evaluate import evaluate
from swzverify.ir.expr import (
    BinaryOperator,
    Comparison,
    Expr,
    binary,
    compare,
    conjunction,
    const,
    extract,
    var,
)

_HIGHEST = 1 << 63


def test_a_value_of_64_bits_that_was_found_elsewhere_is_tried_again() -> None:
    high = binary(BinaryOperator.LSHR, var("trips", 1 << 64), const(62, 64))
    condition = compare(Comparison.EQ, high, const(2, 64))
    points = Points()
    assert points.some(condition) is None
    points.learn({"trips": _HIGHEST})
    assert points.some(condition) == {"trips": _HIGHEST}


def test_of_many_conditions_those_are_held_that_hold_at_a_point() -> None:
    x, wide = var("x", 64), var("wide", 1 << 70)
    numbers = (0, 1, 63, 64)
    held = [compare(Comparison.EQ, widened(x, 32), const(each, 32)) for each in numbers]
    never = compare(Comparison.EQ, extract(wide, 0, 8), const(1, 8))
    assert Points().held([*held, never]) == set(held[:3])
    assert Points().held([]) == set()


def _addresses_meet(rng: random.Random) -> Expr:
    """Two threads touch one address; one of them has it from a register of which nothing is known."""
    register = var("register", 1 << 32 if rng.randrange(2) else 1 << 64)
    value: Expr = extract(register, 0, 32)
    if rng.randrange(2):
        value = binary(BinaryOperator.XOR, value, const(rng.randrange(1 << 10), 32))
    if rng.randrange(2):
        value = binary(BinaryOperator.SHL, value, const(4, 32))
    lane = mul(widened(var("lane", 32), 32), const(16, 32))
    one = mul(value, const(rng.choice((1, 3, 16, -1)), 32))
    return conjunction(
        (
            compare(Comparison.EQ, one, add(lane, const(16 * rng.randrange(1 << 20), 32))),
            compare(Comparison.ULT, const(7, 32), widened(var("lane", 32), 32)),
        )
    )


@pytest.mark.parametrize("seed", range(40))
def test_addresses_are_made_equal_by_a_value_that_may_be_any(seed: int) -> None:
    condition = _addresses_meet(random.Random(seed))
    point = Points().some(condition)
    assert point is not None
    assert evaluate(condition, point)


def test_no_such_point_is_tried_without_equations(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(race_points, "_MOST_EQUATIONS", 0)
    assert any(Points().some(_addresses_meet(random.Random(seed))) is None for seed in range(40))
