"""Divisions by products and shifts: every number of few bits, by plain integers."""

from collections.abc import Iterator
from importlib import import_module
from typing import Any

import pytest

from swzverify.compiled.kernel.arithmetic import add, mul, shift_right, sub, widened
from swzverify.ir.evaluate import evaluate
from swzverify.ir.expr import Binary, BinaryOperator, Expr, binary, const, postorder, var
from tests.nightly import share

remainders: Any = import_module("swzverify.compiled.kernel.remainders")

BITS = 6
X = var("x", 1 << BITS)


def right(value: Expr, count: int) -> Expr:
    return shift_right(value, const(count, value.width), signed=False)


def quotients(factor: int, shift: int) -> Iterator[Expr]:
    """Products and shifts as compilers write them, and others that overflow."""
    for width in (BITS, BITS + 3, 2 * BITS):
        yield widened(right(mul(widened(X, width), const(factor, width)), shift), BITS)
    high = widened(right(mul(widened(X, 2 * BITS), const(factor, 2 * BITS)), BITS), BITS)
    yield right(add(right(sub(X, high), 1), high), shift)
    yield right(add(right(sub(high, X), 1), X), shift)
    yield widened(right(mul(widened(right(X, 1), 2 * BITS), const(factor, 2 * BITS)), shift), BITS)


def has(value: Expr, operator: BinaryOperator) -> bool:
    return any(isinstance(node, Binary) and node.operator is operator for node in postorder(value))


def check(factors: range) -> int:
    """All values stay what they are; how many became remainders."""
    found = 0
    for factor in factors:
        for shift in range(2 * BITS):
            for quotient in quotients(factor, shift):
                for divisor in (3, 5, 6, 7):
                    value = sub(add(X, const(1, BITS)), mul(quotient, const(divisor, BITS)))
                    new = remainders.with_remainders(value)
                    if new is not value:
                        found += has(new, BinaryOperator.UREM)
                        points = [{"x": x} for x in range(1 << BITS)]
                        assert [evaluate(new, at) for at in points] == [evaluate(value, at) for at in points]
    return found


@pytest.mark.parametrize("first", share(range(0, 1 << BITS, 8), 2))
def test_every_number_of_few_bits_is_divided_as_before(first: int) -> None:
    check(range(first, first + 8))


def test_some_divisions_are_found() -> None:
    assert check(range(52, 53))
    assert check(range(37, 38))


def test_products_with_0_and_shifts_beyond_the_width_stay() -> None:
    """Nothing folds them where a register of a loop turns out to be 0."""
    for value in (
        binary(BinaryOperator.MUL, X, const(0, BITS)),
        binary(BinaryOperator.MUL, const(0, BITS), X),
        binary(BinaryOperator.LSHR, widened(X, 64), const(1 << 62, 64)),
        right(mul(X, const(3, BITS)), BITS),
    ):
        assert remainders.with_remainders(value) is value


def any_divisor(patch: pytest.MonkeyPatch) -> None:
    wrong = property(lambda self: -(-(1 << self.shift) // self.factor) if self.factor > 1 else None)
    patch.setattr(remainders._Floor, "divisor", wrong)


def overflows_are_forgotten(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(remainders._Floor, "greatest", property(lambda _: 0))


def any_part(patch: pytest.MonkeyPatch) -> None:
    right_one = remainders._half

    def wrong(half: Expr, part: Expr, known: Any) -> Any:
        found = right_one(half, part, known)
        return found._replace(shift=found.shift + 1) if found else None

    patch.setattr(remainders, "_half", wrong)


@pytest.mark.parametrize("plant", [any_divisor, overflows_are_forgotten, any_part])
def test_mistakes_in_divisions_are_found(plant: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    plant(monkeypatch)
    with pytest.raises((AssertionError, ZeroDivisionError, ValueError)):
        check(range(0, 64, 5))
