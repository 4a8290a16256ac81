"""The package's judge of races against the launches of random kernels, and mistakes in it that they find."""

from __future__ import annotations

import pytest

from swzverify.compiled.scan.race_replay import Runs
from tests.order.conftest import races_in

from .random_judge import Said, judge_random, said_of
from .test_traps import PLANTED

MISTAKES = {each[0].__name__: each[0] for each in PLANTED}
BY_DAY = range(8)
"""Seeds whose launches `test_random_kernels.py` has made already."""
BY_NIGHT = range(5000, 6000)


def package(text: str, block: tuple[int, int, int]) -> Said:
    """What the package says of a kernel."""
    return said_of(races_in(text, block))


@pytest.mark.parametrize("seeds", [BY_DAY, pytest.param(BY_NIGHT, marks=pytest.mark.nightly)], ids=str)
def test_no_launch_contradicts_the_package(seeds: range) -> None:
    """Nothing that races is `free`, and each race is one of the launch that its witness names."""
    total, wrong = judge_random(seeds.start, seeds.stop, package)
    print(dict(total))
    assert wrong == []
    assert total["free"] > len(seeds) // 8
    assert sum(seen for mark, seen in total.items() if mark.startswith(("race", "depends"))) > len(seeds) // 8
    assert sum(seen for mark, seen in total.items() if mark.startswith("cannot run")) <= len(seeds) // 100


FOUND: list[tuple[str, int]] = [
    ("_warp_for_block", 0),
    ("_warp_barrier_for_block", 9),
    ("_every_choice_is_shared", 28),
    ("_no_divergence", 28),
    ("_one_group_too_few", 35),
    ("_copies_end_at_barriers", 35),
    ("_lockstep", 38),
    ("_atomic_with_plain", 80),
    ("_trips_are_tied", 92),
    ("_back_edge_forgotten", 123),
]
"""Planted mistakes, each with the first seed whose launches contradict it."""


@pytest.mark.parametrize(("name", "seed"), FOUND, ids=[name for name, _ in FOUND])
def test_planted_mistake(name: str, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The package says `free` of a kernel that races, once the mistake is in it."""
    monkeypatch.setattr(Runs, "confirmed", lambda _, found, *__: found)
    assert not any("WRONG" in each for each in judge_random(seed, seed + 1, package)[1])
    MISTAKES[name](monkeypatch)
    (wrong,) = judge_random(seed, seed + 1, package)[1]
    assert "WRONG" in wrong
