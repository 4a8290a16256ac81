"""Plainer words for a value: the value is the same wherever variables are below their limits."""

from __future__ import annotations

import random
from itertools import product
from typing import Any

import pytest

from swzverify.ir import bounded as module
from swzverify.ir.bounded import bounded
from swzverify.ir.evaluate import evaluate
from swzverify.ir.expr import (
    Binary,
    BinaryOperator,
    Comparison,
    Expr,
    Var,
    binary,
    compare,
    const,
    extend,
    extract,
    ite,
    postorder,
    var,
    variables,
)

SPECS = 4_000
OPERATORS = list(BinaryOperator)
LIKELY = [BinaryOperator.ADD, BinaryOperator.SUB, BinaryOperator.AND, BinaryOperator.ASHR, BinaryOperator.SHL]


def drawn(draw: random.Random, width: int, depth: int) -> Expr:
    """An expression of a few small variables, with the detours of signed division in many."""
    if depth == 0 or draw.random() < 0.1:
        if draw.random() < 0.4:
            return const(draw.choice([0, 1, 2, 3, 4, 7, 8, -8, -4, -1, draw.randrange(1 << width)]), width)
        leaf = var(draw.choice("xy"), draw.choice([2, 3, 8, 11, 16]))
        return extract(leaf, 0, width) if leaf.width > width else extend(leaf, width, signed=draw.random() < 0.1)
    kind = draw.random()
    if kind < 0.15:
        return _truncated(drawn(draw, width, depth - 1), draw)
    if kind < 0.25:
        return extract(drawn(draw, width + 2, depth - 1), draw.randrange(3), width)
    if kind < 0.35 and width > 2:
        return extend(drawn(draw, width - 2, depth - 1), width, signed=draw.random() < 0.6)
    one, two = drawn(draw, width, depth - 1), drawn(draw, width, depth - 1)
    if kind < 0.5:
        condition = compare(draw.choice(list(Comparison)), one, two)
        return ite(condition, const(draw.randrange(1 << width), width), two)
    if kind < 0.6:
        return binary(BinaryOperator.SUB, one, binary(BinaryOperator.AND, one, const(-(1 << draw.randrange(4)), width)))
    if kind < 0.65:
        row = binary(BinaryOperator.SHL, one, const(draw.randrange(4), width))
        return binary(BinaryOperator.AND, binary(BinaryOperator.ADD, row, two), const(-(1 << draw.randrange(4)), width))
    if kind < 0.75:
        return binary(
            BinaryOperator.AND, binary(draw.choice(LIKELY), one, two), const((1 << draw.randrange(5)) - 1, width)
        )
    return binary(draw.choice(LIKELY if draw.random() < 0.6 else OPERATORS), one, two)


def _truncated(value: Expr, draw: random.Random) -> Expr:
    """What compilers write for a signed division by a power of two."""
    width, power = value.width, draw.randrange(1, 4)
    sign = binary(BinaryOperator.ASHR, value, const(width - 1, width))
    added = binary(BinaryOperator.LSHR, sign, const(max(0, width - power), width))
    return binary(BinaryOperator.ASHR, binary(BinaryOperator.ADD, value, added), const(power, width))


def points(root: Expr, draw: random.Random) -> list[dict[str, int]]:
    found = variables(root)
    if len({each.name for each in found}) < len(found):
        return []  # one name with two limits has no meaning
    every = [dict(zip([each.name for each in found], values, strict=True)) for values in product(*map(_values, found))]
    return every if len(every) <= 64 else draw.sample(every, 64)


def _values(variable: Var) -> range:
    return range(variable.limit)


def check() -> int:
    draw, plainer = random.Random(20_261_122), 0
    for _ in range(SPECS):
        root = drawn(draw, draw.choice([4, 5, 8, 32]), draw.choice([2, 3, 4]))
        found = bounded(root)
        assert found.width == root.width
        for point in points(root, draw):
            assert evaluate(found, point) == evaluate(root, point), (root, point)
        plainer += len(postorder(found)) < len(postorder(root))
    return plainer


def test_the_value_is_the_same() -> None:
    assert check() > SPECS // 3


def test_a_signed_division_of_a_coordinate_is_a_shift() -> None:
    tid = extend(var("tid.x", 128), 32, signed=False)
    sign = binary(BinaryOperator.LSHR, binary(BinaryOperator.ASHR, tid, const(31, 32)), const(29, 32))
    whole = binary(BinaryOperator.ADD, tid, sign)
    quotient = binary(BinaryOperator.ASHR, whole, const(3, 32))
    rest = binary(BinaryOperator.SUB, tid, binary(BinaryOperator.AND, whole, const(-8, 32)))
    assert bounded(quotient) is binary(BinaryOperator.LSHR, tid, const(3, 32))
    assert bounded(rest) is binary(BinaryOperator.AND, tid, const(7, 32))


def test_a_number_that_may_be_negative_stays() -> None:
    value = var("x", 1 << 32)
    quotient = binary(BinaryOperator.ASHR, value, const(3, 32))
    assert bounded(quotient) is quotient


def test_rows_of_a_multiple_leave_a_mask() -> None:
    tid = extend(var("tid.x", 128), 32, signed=False)
    row = binary(BinaryOperator.ADD, binary(BinaryOperator.SHL, tid, const(4, 32)), const(48, 32))
    assert bounded(binary(BinaryOperator.AND, row, const(7, 32))) is const(0, 32)


def test_a_multiple_of_a_row_is_not_masked() -> None:
    start = binary(BinaryOperator.SHL, extend(var("start", 128), 32, signed=False), const(7, 32))
    rest = extend(var("rest", 1 << 9), 32, signed=False)
    found = bounded(binary(BinaryOperator.AND, binary(BinaryOperator.ADD, start, rest), const(-128, 32)))
    assert found is binary(BinaryOperator.ADD, start, binary(BinaryOperator.AND, rest, const(0x180, 32)))


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("_masked", lambda value, mask, _: binary(BinaryOperator.AND, value, const(mask >> 1, value.width))),
        ("_is_multiple", lambda value, power: power <= 4 or not isinstance(value, Var)),
        ("_low_cleared", lambda value, _: value),
        ("_modulo", lambda value, _: value.left if isinstance(value, Binary) else value),
        ("_UNSIGNED_ORDER", {Comparison.SLT: Comparison.ULE, Comparison.SLE: Comparison.ULT}),
        ("_UNSIGNED", {BinaryOperator.ASHR: BinaryOperator.SHL}),
        ("interval_of", lambda node, _: (0, (1 << (node.width - 1)) - 1) if node.width > 1 else (0, 1)),
    ],
    ids=[
        "a bit is lost",
        "anything is a multiple",
        "no bit is cleared",
        "half a sum",
        "the order of equals",
        "the other shift",
        "no sign",
    ],
)
def test_a_planted_mistake_is_found(name: str, wrong: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, name, wrong)
    with pytest.raises((AssertionError, RecursionError)):
        check()


def test_deep_expressions_need_no_recursion() -> None:
    root: Expr = var("x", 16)
    for number in range(5_000):
        root = binary(BinaryOperator.XOR, binary(BinaryOperator.ADD, root, const(number, 4)), const(3, 4))
    assert evaluate(bounded(root), {"x": 5}) == evaluate(root, {"x": 5})
