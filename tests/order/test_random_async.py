"""Random kernels of copies and objects, right or altered: the package's judge of races against their runs."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace

import pytest

from swzverify.compiled.ptx import PtxError
from swzverify.compiled.scan.race_replay import Runs
from tests.nightly import counts
from tests.ptx_oracle.races import Races

from . import test_rings as rings
from .altered import altered
from .pipeline_judge import marked, run, seen
from .random_async import right
from .random_judge import Said
from .random_kernels import Kernel
from .test_random_judge import package
from .test_rings import Patch

LAUNCHES = ((2, None), (6, None), (6, 1))
"""Values of the parameter, and orders of the warps."""
STEPS = 500
"""Steps of a run: the kernels have a few trips of a few instructions."""


def with_changes(seed: int) -> Kernel:
    """A kernel with up to three changes."""
    drawn, source = right(seed), random.Random(f"altered {seed}")
    changes = source.choice((0, 1, 1, 1, 2, 2, 3))
    text = altered(drawn.text, source, changes)
    return Kernel(seed, text, drawn.block, frozenset({*drawn.constructs, f"{changes} changes"}))


def judged(drawn: Kernel, said: Said) -> str:
    """What the runs say of an answer; a kernel that the interpreter cannot run to its end counts for nothing."""
    runs: list[Races] = []
    for number, order in LAUNCHES:
        runs.append(run(drawn, number, order, STEPS))
        if runs[-1].left_out or runs[-1].verdict == "stopped":
            return "not run"
    return marked(said, drawn, tuple(runs))


@pytest.mark.parametrize("count", counts(6, 300))
def test_what_is_not_altered_does_not_race(count: int) -> None:
    """One in three is free, at least; the others race as the words that threads read are those of other threads."""
    total = Counter(max(seen(run(right(seed), *launch) for launch in LAUNCHES)) for seed in range(count))
    assert total["free"] > count // 3
    assert set(total) <= {"free", "race"}


@pytest.mark.parametrize(
    "seeds", [range(5, 13), pytest.param(range(2000), marks=pytest.mark.nightly)], ids=["day", "night"]
)
def test_no_pair_that_races_is_free(seeds: range, monkeypatch: pytest.MonkeyPatch) -> None:
    """Witnesses are not looked for: the other random kernels have those."""
    monkeypatch.setattr(Runs, "confirmed", lambda _, found, *__: found)
    total: Counter[str] = Counter()
    wrong: list[str] = []
    for drawn in map(with_changes, seeds):
        try:
            said = package(drawn.text, drawn.block)
        except PtxError:
            continue  # The change made it a text that PTX does not allow.
        mark = judged(drawn, replace(said, lines=None, others=()))
        total[mark] += 1
        if mark.startswith("WRONG"):
            wrong.append(f"seed {drawn.seed}: {mark}; {sorted(drawn.constructs)}")
    print(dict(total))
    assert wrong == []
    assert total["free (free)"] > len(seeds) // 8


PLANTED = [(rings.MISTAKES["phases"][0], 19), (rings.MISTAKES["lanes"][0], 24)]
"""Mistakes, each with the first seed that finds it."""


@pytest.mark.parametrize(("plant", "seed"), PLANTED, ids=[plant.__name__ for plant, _ in PLANTED])
def test_planted_mistake(plant: Patch, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """A pair that races is free with the mistake, and is not without it."""
    monkeypatch.setattr(Runs, "confirmed", lambda _, found, *__: found)
    drawn = with_changes(seed)
    right_one = package(drawn.text, drawn.block)
    plant(monkeypatch)
    marks = [
        judged(drawn, replace(said, lines=None, others=())) for said in (right_one, package(drawn.text, drawn.block))
    ]
    assert [each.startswith("WRONG") for each in marks] == [False, True]
