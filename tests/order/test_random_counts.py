"""Random rings whose stage comes from a count of the launch: the package's judge against their runs."""

from __future__ import annotations

from collections import Counter

import pytest

from .pipeline_judge import marked, run
from .random_counts import NUMBERS, counted
from .test_random_judge import package


@pytest.mark.parametrize(
    "seeds", [(0, 2), pytest.param(tuple(range(200)), marks=pytest.mark.nightly)], ids=["day", "night"]
)
def test_no_run_contradicts_the_package(seeds: tuple[int, ...]) -> None:
    """Nothing that races is `free`, and each race is one of the launch that its witness names."""
    total: Counter[str] = Counter()
    wrong: list[str] = []
    for kernel in map(counted, seeds):
        runs = tuple(run(kernel, number, order) for number in NUMBERS for order in (None, 1))
        mark = marked(package(kernel.text, kernel.block), kernel, runs)
        total[mark] += 1
        if mark.startswith(("WRONG", "FALSE")):
            wrong.append(f"seed {kernel.seed}: {mark}; {sorted(kernel.constructs)}")
    print(dict(total))
    assert wrong == []
