"""Conditions on a trip that is divided, for each residue of it: compared with every value of the trip."""

from __future__ import annotations

import random

import pytest

from swzverify.compiled.kernel.arithmetic import add, widened
from swzverify.compiled.order import residues
from swzverify.ir.evaluate import evaluate
from swzverify.ir.expr import (
    BinaryOperator,
    Comparison,
    Expr,
    Var,
    binary,
    compare,
    conjunction,
    const,
    extend,
    extract,
    var,
    variables,
)
from tests.nightly import counts


def _part(rng: random.Random, trip: Var, width: int, divisor: int) -> Expr:
    """A trip plus a number, its quotient or its rest."""
    number = rng.choice((0, 1, 2, 3, 7, 50, -1, 100, 1 << 15))
    value = add(widened(trip, width), const(number, width))
    factor = -(-(1 << 33) // divisor)
    match rng.randrange(5):
        case 0:
            return binary(BinaryOperator.UREM, value, const(divisor, width))
        case 1:
            return binary(BinaryOperator.UDIV, value, const(divisor, width))
        case 2 if width == 32 and factor < 1 << 32:
            product = binary(BinaryOperator.MUL, extend(value, 64, signed=False), const(factor, 64))
            return extract(binary(BinaryOperator.LSHR, product, const(33, 64)), 0, 32)
        case _:
            return value


def _missed(seed: int) -> bool:
    """Whether some trip fulfils a condition, and no residue does."""
    rng = random.Random(seed)
    trip, width, divisor = var("trip", rng.choice((16, 40, 64))), rng.choice((32, 32, 64)), rng.choice((2, 3, 5, 6, 7))
    parts = [_part(rng, trip, width, divisor) for _ in range(3)]
    total = add(parts[0], parts[1])
    condition = conjunction(
        (
            compare(rng.choice(list(Comparison)), total, add(parts[2], const(rng.randrange(20), width))),
            compare(Comparison.ULT, _part(rng, trip, width, divisor), const(rng.randrange(60), width)),
        )
    )
    cases = [made for made, _ in residues.by_residues(condition, [trip])]
    return bool(cases) and _is_possible(condition) and not any(map(_is_possible, cases))


def _is_possible(condition: Expr) -> bool:
    read = variables(condition)
    values = range(read[0].limit) if read else (0,)
    return any(evaluate(condition, {each.name: value for each in read}) for value in values)


@pytest.mark.parametrize("count", counts(150, 5000))
def test_one_residue_holds_if_the_condition_does(count: int) -> None:
    assert not [seed for seed in range(count) if _missed(seed)]


def test_a_residue_without_the_number_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    right = residues.plus_number

    def wrong(value: Expr) -> tuple[Var, int] | None:
        found = right(value)
        return found and (found[0], 0)

    monkeypatch.setattr(residues, "plus_number", wrong)
    assert any(_missed(seed) for seed in range(150))
