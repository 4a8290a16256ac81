"""The random pipelines: what is in them, and the package's judge of races against their runs."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.nightly import counts

from .pipeline_judge import judge_kernels, run, runs_of, seen
from .random_judge import Said
from .random_pipelines import NUMBERS, drawn, pipeline


def is_right(seed: int) -> bool:
    return not any(word.startswith("wrong") for word in pipeline(seed).constructs)


@pytest.mark.parametrize("count", counts(6, 400))
def test_what_has_no_mistake_is_free(count: int) -> None:
    right = [seed for seed in range(count) if is_right(seed)]
    assert len(right) > count // 5
    for seed in right:
        assert (seed, seen(runs_of(pipeline(seed)))) == (seed, {"free"})


@pytest.mark.nightly
def test_most_mistakes_show() -> None:
    wrong = [seed for seed in range(400) if not is_right(seed)]
    shown = Counter(max(seen(runs_of(pipeline(seed))) - {"free"}, default="nothing") for seed in wrong)
    print(shown)
    assert shown["nothing"] < len(wrong) // 2
    assert shown["race"]
    assert shown["deadlock"] + shown["divergent-barrier"]


def test_each_mistake_changes_the_kernel() -> None:
    for seed in range(40):
        right, _, _ = drawn(seed, -1)
        for mistake in range(len(right.chances)):
            wrong, _, _ = drawn(seed, mistake)
            assert wrong.lines != right.lines, (seed, right.chances[mistake])


def test_a_random_order_is_repeated() -> None:
    racy = pipeline(next(seed for seed in range(100) if "race" in seen(runs_of(pipeline(seed)))))
    first, again = (run(racy, NUMBERS[-1], 7) for _ in range(2))
    assert (first.pairs, first.result.steps) == (again.pairs, again.result.steps)


def test_judges_that_are_wrong() -> None:
    seeds = [seed for seed in range(12) if "race" in seen(runs_of(pipeline(seed)))][:2]
    assert seeds
    _, wrong = judge_kernels(map(pipeline, seeds), lambda *_: Said("free"))
    assert all("WRONG free" in each for each in wrong)
    assert len(wrong) == len(seeds)
    _, wrong = judge_kernels(map(pipeline, seeds[:1]), lambda *_: Said("race", (1, 2), {"n": 2}))
    assert ["FALSE race" in each for each in wrong] == [True]
