"""Conditions on a trip that is divided, for each residue of it: compared with every value of the trip."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace

import pytest

from swzverify.compiled.kernel.arithmetic import add, mul, sub, widened
from swzverify.compiled.kernel.linear import sum_of
from swzverify.compiled.order import residues
from swzverify.ir.evaluate import evaluate
from swzverify.ir.expr import (
    FALSE,
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

_NUMBERS = (0, 1, 2, 3, 7, 50, -1, 100, 1 << 15)


def _part(rng: random.Random, trip: Var, width: int, divisor: int) -> Expr:
    """A trip plus a number, its quotient or its rest; or the same of such a rest plus a number."""
    value = add(widened(trip, width), const(rng.choice(_NUMBERS), width))
    if rng.randrange(3) == 0:
        stage = sub(value, mul(_quotient(rng, value, divisor), const(divisor, width)))
        value = add(stage, const(rng.choice(_NUMBERS), width))
    match rng.randrange(5):
        case 0:
            return binary(BinaryOperator.UREM, value, const(divisor, width))
        case 1 | 2:
            return _quotient(rng, value, divisor)
        case _:
            return value


def _quotient(rng: random.Random, value: Expr, divisor: int) -> Expr:
    """A quotient as a division, or as compilers write it."""
    factor = -(-(1 << 33) // divisor)
    if value.width == 32 and factor < 1 << 32 and rng.randrange(2):
        product = binary(BinaryOperator.MUL, extend(value, 64, signed=False), const(factor, 64))
        return extract(binary(BinaryOperator.LSHR, product, const(33, 64)), 0, 32)
    return binary(BinaryOperator.UDIV, value, const(divisor, value.width))


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


def test_a_trip_without_its_residue_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    right = residues._trip
    monkeypatch.setattr(residues, "_trip", lambda trip, period, _, width: right(trip, period, 0, width))
    assert any(_missed(seed) for seed in range(150))


def test_a_stage_of_a_ring_is_a_number() -> None:
    """A loop writes stage `trip % 3` of a ring, whose number it computes twice: no round is left in the condition."""
    trip = var("trip", 1 << 30)
    wide = widened(trip, 32)
    stage = sub(wide, mul(binary(BinaryOperator.UDIV, wide, const(3, 32)), const(3, 32)))
    ahead = binary(BinaryOperator.UDIV, add(stage, const(2, 32)), const(3, 32))
    condition = compare(Comparison.EQ, mul(sub(stage, mul(ahead, const(3, 32))), const(4096, 32)), const(8192, 32))
    found = [made for made, _ in residues.by_residues(condition, [trip])]
    assert found == [FALSE, FALSE, FALSE]


def _term(rng: random.Random, trip: Var, width: int) -> Expr:
    """A trip plus a number, divided by a number or by a power of two, perhaps in the bits of a mask."""
    value = add(widened(trip, width), const(rng.choice((0, 1, 3, 7, 50, 1 << 15)), width))
    match rng.randrange(4):
        case 0:
            return _quotient(rng, value, rng.choice((2, 3, 4, 5)))
        case 1:
            return binary(BinaryOperator.UREM, value, const(rng.choice((2, 3, 5)), width))
        case 2:
            return binary(BinaryOperator.AND, value, const(rng.choice((1, 3, 7)), width))
        case _:
            shifted = binary(BinaryOperator.SHL, value, const(11, width))
            return binary(BinaryOperator.AND, shifted, const(rng.choice((1, 3, 7)) << 11, width))


def _is_another(seed: int) -> bool | None:
    """Whether a sum is another one at some trip than in the case of its residue; None without cases."""
    rng = random.Random(seed)
    trip = var("trip", rng.choice((16, 40, 64)))
    whole = sum_of(add(_term(rng, trip, 32), mul(_term(rng, trip, 32), const(rng.choice((4, 48, -4096)), 32))))
    cases = residues.sums_by_residues([whole], [trip])
    if not cases:
        return None
    period = len(cases)
    for number in range(trip.limit):
        (case,) = cases[number % period]
        read = {each.name: number // period for each in variables(case.expression())}
        if evaluate(case.expression(), read) != evaluate(whole.expression(), {"trip": number}):
            return True
    return False


@pytest.mark.parametrize("count", counts(150, 5000))
def test_a_sum_is_that_of_its_residue(count: int) -> None:
    found = [_is_another(seed) for seed in range(count)]
    assert not any(found)
    assert found.count(False) > count // 4


def _no_shift(patch: pytest.MonkeyPatch) -> None:
    right = residues._low_bits
    patch.setattr(residues, "_low_bits", lambda *given: (made := right(*given)) and replace(made, shift=0))


def _no_rounds(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(residues, "_round", lambda *_: const(0, 32))


def _no_number(patch: pytest.MonkeyPatch) -> None:
    right = residues._behind
    patch.setattr(residues, "_behind", lambda *given: None if right(*given) is None else 0)


@pytest.mark.parametrize("mistake", [_no_shift, _no_rounds, _no_number])
def test_mistakes_in_sums_are_found(
    mistake: Callable[[pytest.MonkeyPatch], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    residues._term_at.cache_clear()
    mistake(monkeypatch)
    try:
        assert any(_is_another(seed) for seed in range(150))
    finally:
        residues._term_at.cache_clear()


def test_stages_of_a_ring_are_numbers() -> None:
    """Two and four stages: what a mask takes of the trip, and of the trip in bits above, is a number in each case."""
    trip = var("trip", 1 << 30)
    wide = widened(trip, 32)
    low = binary(BinaryOperator.AND, add(wide, const(3, 32)), const(1, 32))
    above = binary(BinaryOperator.AND, binary(BinaryOperator.SHL, wide, const(11, 32)), const(6144, 32))
    found = residues.sums_by_residues([sum_of(low), sum_of(above)], [trip])
    assert [[each.number for each in case] for case in found] == [[1, 0], [0, 2048], [1, 4096], [0, 6144]]
    assert not any(each.terms for case in found for each in case)
