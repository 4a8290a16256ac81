"""Random rings whose stage depends on what was loaded for a tile: the package's judge against their runs."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.nightly import counts

from .pipeline_judge import marked
from .random_choices import chosen, runs_of
from .test_random_judge import package


@pytest.mark.parametrize("count", counts(1, 200))
def test_no_run_contradicts_the_package(count: int) -> None:
    """Nothing that races is `free`, and each race is one of the launch that its witness names."""
    total: Counter[str] = Counter()
    wrong: list[str] = []
    for kernel in map(chosen, range(count)):
        mark = marked(package(kernel.text, kernel.block), kernel, tuple(runs_of(kernel)))
        total[mark] += 1
        if mark.startswith(("WRONG", "FALSE")):
            wrong.append(f"seed {kernel.seed}: {mark}; {sorted(kernel.constructs)}")
    print(dict(total))
    assert wrong == []
