"""Mistakes put into the search: brute force has to notice each of them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from swzverify.errors import SwzError
from swzverify.search.synth import families, linear, objective, pricing, reasons, search, xor
from swzverify.search.synth.families import pad, swizzle
from swzverify.search.synth.frame import Frame
from swzverify.search.synth.linear import LinearLanes
from swzverify.search.synth.pricing import Fields
from swzverify.search.synth.problem import Problem
from swzverify.search.synth.solution import find
from swzverify.search.synth.xor import Choices
from tests.synth.agreement import compare, problem_of
from tests.synth.puzzles import linear_puzzle, puzzle
from tests.synth.xor_oracle import fewest

Plant = Callable[[pytest.MonkeyPatch], None]
SEEDS = [seed for seed in range(100) if puzzle(seed).family != "pad+swizzle"]


def a_shift_of_the_wrong_sign(patch: pytest.MonkeyPatch) -> None:
    right = Fields.apply
    patch.setattr(Fields, "apply", lambda self, values: right(Fields(self.bits, self.base, -self.shift), values))


def a_base_that_is_forgotten(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(pricing, "starts", lambda *_, **__: [0])
    patch.setattr(pricing, "free_bits", lambda *_: 62)


def an_access_that_is_forgotten(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(
        search,
        "scores",
        lambda wavefronts, conflicts, weights, size: objective.scores(
            wavefronts[:, :1], conflicts[:, :1], weights[:1], size
        ),
    )


def the_last_of_the_best(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(search, "first_best", lambda rows: len(rows) - 1 - objective.first_best(rows[::-1]))
    ties = search.Priced.ties
    patch.setattr(search.Priced, "ties", lambda self: ties(self)[::-1])


def weights_that_do_not_count(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Problem, "weight_of", property(lambda self: (1,) * len(self.labels)))


def groups_that_never_join(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(LinearLanes, "group_bits", property(lambda self: self.instruction.group_lanes.bit_length() - 1))


def a_rank_of_one_column_less(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(pricing, "ranks", lambda columns, count: linear.ranks(columns[:-1], count))


def vectors_that_may_be_torn(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Frame, "whole", lambda self, *_: np.ones(len(self.fields), dtype=np.bool_))


def elements_that_may_leave(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Frame, "inside", lambda self: np.ones(len(self.fields), dtype=np.bool_))


def backward_swizzles_left_out(patch: pytest.MonkeyPatch) -> None:
    every = swizzle.swizzle_fields
    patch.setattr(swizzle, "swizzle_fields", lambda *at, **_: every(*at))


def a_pad_too_few(patch: pytest.MonkeyPatch) -> None:
    every = pad.frames
    patch.setattr(families.pad, "frames", lambda *at, **how: every(*at, **how)[:-1] or every(*at, **how))


def a_core_of_all(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(reasons, "smallest", lambda count, _: tuple(range(count)))


def stages_that_are_forgotten(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Frame, "bytes", property(lambda self: max(tile.allocation_bytes for tile in self.tiles)))


@pytest.mark.parametrize(
    "plant",
    [
        a_shift_of_the_wrong_sign,
        a_base_that_is_forgotten,
        an_access_that_is_forgotten,
        the_last_of_the_best,
        weights_that_do_not_count,
        groups_that_never_join,
        a_rank_of_one_column_less,
        vectors_that_may_be_torn,
        elements_that_may_leave,
        backward_swizzles_left_out,
        a_pad_too_few,
        a_core_of_all,
        stages_that_are_forgotten,
    ],
    ids=lambda plant: plant.__name__,
)
def test_a_mistake_is_noticed(plant: Plant, monkeypatch: pytest.MonkeyPatch) -> None:
    plant(monkeypatch)
    seeds = SEEDS
    if plant is a_base_that_is_forgotten:
        seeds = [seed for seed in SEEDS if puzzle(seed).on == "address" and puzzle(seed).align < 1024]
    for seed in seeds:
        try:
            if compare(puzzle(seed)).differs:
                return
        except (SwzError, IndexError, ValueError):
            return
    pytest.fail("brute force agrees with the mistake")


def a_source_that_adds_what_is_ruled_out(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(xor.XorSearch, "differences", lambda *_: [])


def a_search_for_the_most(patch: pytest.MonkeyPatch) -> None:
    def most(self: Choices, _: int) -> dict[int, int] | None:
        self.domains = [values[::-1] for values in self.domains]
        return self.first(None)

    patch.setattr(Choices, "fewest", most)


def a_forgotten_access(patch: pytest.MonkeyPatch) -> None:
    right = xor.xor_search
    patch.setattr(
        "swzverify.search.synth.solution.xor_search",
        lambda problem: xor.XorSearch(
            right(problem).paths[:1] * len(problem.labels), problem.weight_of, right(problem).least
        ),
    )


@pytest.mark.parametrize(
    "plant",
    [a_source_that_adds_what_is_ruled_out, a_search_for_the_most, a_forgotten_access],
    ids=lambda plant: plant.__name__,
)
def test_a_mistake_in_the_search_for_a_map_is_noticed(plant: Plant, monkeypatch: pytest.MonkeyPatch) -> None:
    plant(monkeypatch)
    for seed in range(60):
        asked = linear_puzzle(seed)
        answer = find(problem_of(asked)).answer
        terms = None if answer.score.conflicted else len(answer.terms)
        few = fewest(asked, 2)
        if few != terms and not (few is None and (terms is None or terms > 2)):
            return
    pytest.fail("brute force agrees with the mistake")
