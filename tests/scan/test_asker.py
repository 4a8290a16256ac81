"""Questions of one function: in parts that share no variable, compared with every point of small conditions."""

from __future__ import annotations

import random
from itertools import product

import pytest

from swzverify.compiled.kernel.arithmetic import add, mul, widened
from swzverify.compiled.scan import asker
from swzverify.compiled.scan.asker import Asker
from swzverify.engines.obligations import Answer
from swzverify.ir.evaluate import evaluate
from swzverify.ir.expr import Comparison, Expr, compare, conjunction, conjuncts, const, negation, var, variables
from tests.nightly import counts


def _condition(rng: random.Random) -> Expr:
    """A few comparisons of sums of four small values."""
    values = [widened(var(name, 4), 4) for name in "abcd"]
    parts: list[Expr] = []
    for _ in range(rng.randrange(2, 6)):
        one, two = rng.sample(values, 2)
        left = add(one, two) if rng.randrange(3) == 0 else one
        made = compare(rng.choice(list(Comparison)), left, const(rng.randrange(8), 4))
        parts.append(negation(made) if rng.randrange(2) else made)
    return conjunction(parts)


def _is_wrong(seed: int) -> bool:
    """Whether the answer is not that of all points, or its point does not fulfil the condition."""
    condition = _condition(random.Random(seed))
    read = variables(condition)
    points = [dict(zip((each.name for each in read), at, strict=True)) for at in product(range(4), repeat=len(read))]
    found = Asker(9, 1).possible(condition)
    if not any(evaluate(condition, point) for point in points):
        return found.answer is not Answer.EMPTY
    known = dict.fromkeys((each.name for each in read), 0) | dict(found.point or {})
    return found.answer is not Answer.HOLDS or not evaluate(condition, known)


@pytest.mark.parametrize("count", counts(40, 1000))
def test_parts_together_have_the_answer_of_all_points(count: int) -> None:
    assert not [seed for seed in range(count) if _is_wrong(seed)]


def test_parts_that_share_a_variable_and_are_asked_apart_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asker, "independent_parts", lambda condition: list(conjuncts(condition)))
    assert any(map(_is_wrong, range(40)))


def test_products_beside_a_question_do_not_use_up_its_budget() -> None:
    """A pointer that a mask moves by products of parameters is not null at some point, which Z3 takes long to find."""
    stride, row, pointer = (var(name, 1 << 64) for name in ("stride", "row", "pointer"))
    moved = compare(Comparison.EQ, add(pointer, mul(mul(stride, row), mul(row, stride))), const(0, 64))
    outside = compare(Comparison.ULT, const(9, 8), widened(var("tid", 16), 8))
    found = Asker(0, 4_000_000).possible(conjunction((negation(moved), outside)))
    assert found.answer is Answer.HOLDS
