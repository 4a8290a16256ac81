"""Random kernels with the barrier of a cluster and with several copiers: the package's judge against their runs."""

from __future__ import annotations

from collections import Counter

import pytest

from .pipeline_judge import marked, runs_of
from .random_clusters import clustered
from .test_random_judge import package


@pytest.mark.parametrize("seeds", [range(5), pytest.param(range(400), marks=pytest.mark.nightly)], ids=["day", "night"])
def test_no_run_contradicts_the_package(seeds: range) -> None:
    """Nothing that races is `free`, and each race is one of the launch that its witness names."""
    total: Counter[str] = Counter()
    wrong: list[str] = []
    for kernel in map(clustered, seeds):
        mark = marked(package(kernel.text, kernel.block), kernel, runs_of(kernel))
        total[mark] += 1
        if mark.startswith(("WRONG", "FALSE")):
            wrong.append(f"seed {kernel.seed}: {mark}; {sorted(kernel.constructs)}")
    print(dict(total))
    assert wrong == []
