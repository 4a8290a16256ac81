"""Random kernels of barrier objects, each kind with its own generator: the package's judge against their runs."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from tests.ptx_oracle.races import Races

from . import random_choices, random_clusters, random_counts, random_pipelines, random_words
from .pipeline_judge import judge_kernels, runs_of
from .random_kernels import Kernel
from .test_random_judge import package

KINDS: dict[str, tuple[Callable[[int], Kernel], Callable[[Kernel], tuple[Races, ...]], Sequence[int], int]] = {
    "pipelines": (random_pipelines.pipeline, runs_of, range(6), 400),
    "clusters": (random_clusters.clustered, runs_of, range(5), 400),
    "choices": (random_choices.chosen, random_choices.runs_of, range(1), 200),
    "counts": (random_counts.counted, random_counts.runs_of, (0, 2), 200),
    "commands": (random_words.commanded, random_words.runs_of, range(3), 300),
}
"""The kernel of a seed, its runs, the seeds of the ordinary run, and how many the nightly one has."""


def contradicted(name: str, seeds: Sequence[int]) -> list[str]:
    """Nothing that races is `free`, and each race is one of the launch that its witness names."""
    kernel, runs, _, _ = KINDS[name]
    total, wrong = judge_kernels(map(kernel, seeds), package, runs)
    print(dict(total))
    return wrong


@pytest.mark.parametrize("name", KINDS)
def test_no_run_contradicts_the_package(name: str) -> None:
    assert contradicted(name, KINDS[name][2]) == []


@pytest.mark.nightly
@pytest.mark.parametrize("name", KINDS)
def test_no_run_of_many_contradicts_the_package(name: str) -> None:
    assert contradicted(name, range(KINDS[name][3])) == []
