"""Conditions with variables for shared terms hold wherever the given ones do, and spare Z3 what does not matter."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from itertools import product

import pytest

from swzverify.compiled.kernel.arithmetic import add, is_zero, mul, shift_left, widened
from swzverify.compiled.scan import asker, shared_terms
from swzverify.compiled.scan.asker import Asker
from swzverify.compiled.scan.shared_terms import with_any_terms
from swzverify.engines.obligations import Answer
from swzverify.ir.evaluate import evaluate
from swzverify.ir.expr import (
    TRUE,
    BinaryOperator,
    Comparison,
    Expr,
    Var,
    binary,
    compare,
    conjunction,
    const,
    extract,
    negation,
    var,
    variables,
)
from tests.nightly import counts

_WIDTH = 3


def _condition(rng: random.Random) -> Expr:
    """Comparisons of a few values, of terms of three of them, and of terms of these terms.

    One value has a name that a new variable might get.
    """
    values: list[Expr] = [*(widened(var(name, 4), _WIDTH) for name in "abc"), var("term 0", 1 << _WIDTH)]
    terms = values[:]
    for _ in range(rng.randrange(1, 4)):
        one, two, three = rng.sample(terms, 3)
        product_of = binary(BinaryOperator.UDIV, one, two) if rng.randrange(4) == 0 else mul(one, two)
        terms.append(add(product_of, three))
    parts: list[Expr] = []
    for _ in range(rng.randrange(2, 5)):
        one, two = rng.choice(terms[len(values) :]), rng.choice([*terms, const(rng.randrange(8), _WIDTH)])
        made = compare(rng.choice(list(Comparison)), one, two)
        parts.append(negation(made) if rng.randrange(2) else made)
    return conjunction(parts)


def _points(read: tuple[Var, ...]) -> list[dict[str, int]]:
    ranges = (range(each.limit) for each in read)
    return [dict(zip((each.name for each in read), at, strict=True)) for at in product(*ranges)]


def _loses_a_point(seed: int) -> bool | None:
    """Whether some point of a condition is none of the weaker one; None if there is no weaker one."""
    condition = _condition(random.Random(seed))
    weaker = with_any_terms(condition)
    if weaker is None:
        return None
    kept = [each for each in variables(weaker) if each in variables(condition)]
    held = {tuple(point[each.name] for each in kept) for point in _points(variables(weaker)) if evaluate(weaker, point)}
    return any(
        evaluate(condition, point) and tuple(point[each.name] for each in kept) not in held
        for point in _points(variables(condition))
    )


@pytest.mark.parametrize("count", counts(16, 1000))
def test_no_point_is_lost(count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shared_terms, "_SHARE", 2)
    found = [_loses_a_point(seed) for seed in range(count)]
    assert not any(found)
    assert found.count(False) > count // 4


def _one_value_less(name: str, limit: int) -> Var:
    return var(name, limit - 1)


def _names_in_use(_: Expr) -> Iterator[str]:
    return (f"term {at}" for at in range(9))


def _largest_value_is_lost(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(shared_terms, "var", _one_value_less)


def _names_are_in_use(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(shared_terms, "_unused_names", _names_in_use)


@pytest.mark.parametrize("plant", [_largest_value_is_lost, _names_are_in_use])
def test_wrong_variables_are_found(
    plant: Callable[[pytest.MonkeyPatch], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shared_terms, "_SHARE", 2)
    plant(monkeypatch)
    assert any(_loses_a_point(seed) for seed in range(40))


def _stored_row(rows: int) -> Expr:
    """That a lane stores beyond 64 rows, in a row whose number takes quotients and products, and is below a bound."""
    a, b, c, lane = (var(name, 1 << 32) for name in ("a", "b", "c", "lane"))
    row: Expr = a
    for each in (b, c):
        row = add(mul(row, each), binary(BinaryOperator.SDIV, c, add(row, each)))
    inside = compare(Comparison.ULT, row, const(rows, 32))
    place = add(shift_left(row, const(7, 32)), widened(extract(lane, 0, 5), 32))
    return conjunction((inside, compare(Comparison.ULE, const(64 << 7, 32), place)))


def test_how_an_index_is_computed_costs_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asker, "SMALL", 10)
    assert with_any_terms(_stored_row(64)) is not None
    assert Asker(0, 40).possible(_stored_row(64)).answer is Answer.EMPTY
    assert Asker(0, 40).possible(_stored_row(65)).answer is not Answer.EMPTY
    monkeypatch.setattr(asker, "with_any_terms", _none)
    assert Asker(0, 40).possible(_stored_row(64)).answer is Answer.UNDECIDED


def _none(_: Expr) -> None:
    return None


def _is_wrong(seed: int) -> bool:
    condition = _condition(random.Random(seed))
    holds = any(evaluate(condition, point) for point in _points(variables(condition)))
    return (Asker(9, 1).possible(condition).answer is Answer.HOLDS) is not holds


@pytest.mark.parametrize("count", counts(20, 1000))
def test_answers_are_those_of_all_points(count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asker, "SMALL", 0)
    monkeypatch.setattr(shared_terms, "_SHARE", 2)
    assert not any(map(_is_wrong, range(count)))


def test_a_stronger_condition_would_be_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asker, "SMALL", 0)
    monkeypatch.setattr(asker, "_at_a_point", _none)
    assert not any(map(_is_wrong, range(20)))

    def stronger(condition: Expr) -> Expr:
        return conjunction((condition, is_zero(variables(condition)[0])))

    monkeypatch.setattr(asker, "with_any_terms", stronger)
    assert any(map(_is_wrong, range(20)))


def test_without_shared_terms_there_is_none() -> None:
    x, y = var("x", 1 << 8), var("y", 1 << 8)
    assert with_any_terms(TRUE) is None
    assert with_any_terms(conjunction((compare(Comparison.ULT, x, y), compare(Comparison.EQ, y, x)))) is None
