"""What a sweep measures against brute force; `python -m tests.sweep` runs longer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import numpy as np
import pytest

from swzverify.search.synth import pricing
from swzverify.search.synth.frame import Frame
from swzverify.spec import sweep_axes
from swzverify.spec.sweep import bench, measure
from swzverify.spec.sweep.bench import Cases
from tests.nightly import share
from tests.sweep.agreement import Row, differences
from tests.sweep.puzzles import puzzle

SEEDS = range(24)


@pytest.mark.parametrize("first", share(range(0, len(SEEDS), 6), 4))
def test_random_sweeps_whose_cases_are_measured_alone(first: int) -> None:
    for seed in SEEDS[first : first + 6]:
        wrong, _ = differences(puzzle(seed), together=False)
        assert not wrong, f"seed {seed}: {wrong[0]}"


@pytest.mark.parametrize("seeds", [SEEDS[:8], pytest.param(SEEDS, marks=pytest.mark.nightly)], ids=len)
def test_random_sweeps_which_are_of_every_kind(seeds: range) -> None:
    counts: Counter[str] = Counter()
    for seed in seeds:
        wrong, found = differences(puzzle(seed))
        assert not wrong, f"seed {seed}: {wrong[0]}"
        counts += found
    if seeds == SEEDS:
        assert set(counts) == {"free", "conflicts", "torn", "outside", "overlaps", "refused"}
        assert min(counts.values()) > 20


Plant = Callable[[pytest.MonkeyPatch], None]


def a_condition_that_is_forgotten(patch: pytest.MonkeyPatch) -> None:
    right = Cases.between
    patch.setattr(Cases, "between", lambda self, first, end: right(Cases(_without(self), {}, self.inner), first, end))


def _without(cases: Cases) -> sweep_axes.Sweep:
    return sweep_axes.Sweep(cases.sweep.axes, ())


def a_swizzle_axis_that_something_else_reads(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(
        bench, "only_in_swizzles", lambda _, axes: {"A": tuple(axis.name for axis in axes if axis.name in "BMSP")}
    )


def a_tile_that_is_not_looked_at(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(measure.TileCheck, "overlaps", lambda _, fields, __: np.zeros(len(fields), np.bool_))


def an_allocation_that_holds_everything(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Frame, "inside", lambda self: np.ones(len(self.fields), np.bool_))


def vectors_that_are_always_whole(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(measure.TileCheck, "torn", lambda _, __, fields, ___: np.zeros(len(fields), np.bool_))


def lanes_that_never_leave(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(measure, "leaves_tile", lambda *_: False)


def a_vector_of_one_element(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(measure, "vector_elements", lambda _: 1)


def weights_that_do_not_count(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(bench, "_weighed", lambda counts, _: sum(counts.values()))


def a_base_that_is_forgotten(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(pricing, "starts", lambda *_, **__: [0])
    patch.setattr(measure, "starts", lambda *_: [0])


PLANTS: dict[Plant, int] = {
    a_condition_that_is_forgotten: 13,
    a_swizzle_axis_that_something_else_reads: 3,
    a_tile_that_is_not_looked_at: 11,
    an_allocation_that_holds_everything: 8,
    vectors_that_are_always_whole: 3,
    lanes_that_never_leave: 1,
    a_vector_of_one_element: 3,
    weights_that_do_not_count: 3,
    a_base_that_is_forgotten: 70,
}
"""The mistakes, each with the first sweep to look at; those before it do not show it."""


@pytest.mark.parametrize("plant", PLANTS, ids=lambda plant: plant.__name__)
def test_a_planted_mistake_is_found(plant: Plant, monkeypatch: pytest.MonkeyPatch) -> None:
    plant(monkeypatch)
    first = PLANTS[plant]
    assert any(differences(puzzle(seed))[0] for seed in range(first, first + 80))


def test_rows_in_the_wrong_order_are_found() -> None:
    def change(row: Row) -> Row:
        return {**row, "case": 0}

    assert differences(puzzle(1), change=change)[0]
