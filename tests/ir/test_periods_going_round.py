"""Repetitions that go round modulo 2^width, seen through what leaves room above: no integers grow
like that.
"""

from __future__ import annotations

import pytest

from swzverify.ir.evaluate import evaluate
from swzverify.ir.expr import BinaryOperator, Expr, binary, const, extend, var
from swzverify.ir.periods import repetition

V = var("v", 200)
OP = BinaryOperator


def byte(operator: OP, left: Expr, right: int) -> Expr:
    return binary(operator, left, const(right, 8))


ROUND = byte(OP.AND, byte(OP.MUL, V, 100), 0xF0)
"""100v mod 256 without its low four bits: never above 0xF0, so that adding 3 overflows nothing."""


@pytest.mark.parametrize(
    "narrow",
    [
        ROUND,
        byte(OP.ADD, ROUND, 3),
        byte(OP.SUB, byte(OP.OR, ROUND, 8), 4),
        binary(OP.ADD, const(15, 8), ROUND),
        byte(OP.MUL, byte(OP.AND, ROUND, 0x70), 2),
    ],
    ids=["masked", "sum", "difference", "sum from the left", "product"],
)
def test_repetition_holds_for_integers(narrow: Expr) -> None:
    wide = extend(narrow, 16, signed=False)
    found = repetition(wide, "v")
    assert found is not None
    assert found.exact
    values = [evaluate(wide, {"v": v}) for v in range(V.limit)]
    for v in range(V.limit - found.period):
        assert values[v + found.period] - values[v] == found.increment
    assert found.period < V.limit
