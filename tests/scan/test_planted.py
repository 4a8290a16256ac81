"""Mistakes planted in the scan, one at a time: each changes a verdict that another test pins."""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module
from typing import Any

import numpy as np
import pytest

from swzverify.compiled.kernel import LaneLeaf, atomics, counts, generic
from swzverify.compiled.scan import collide, decide, exact, mixed, price, question, samples, split
from swzverify.compiled.scan.question import Question
from swzverify.compiled.scan.split import Parts
from swzverify.engines.obligations import Answer, Finding, WarpCost, WorstCost
from swzverify.ir.expr import FALSE, TRUE
from swzverify.prover.panel import Panel
from tests.scan import test_verdicts as verdicts
from tests.scan.texts import WHOLE, last, strided, verdict

FAULT = "two engines disagree"
access, accesses = (import_module(f"swzverify.compiled.kernel.{name}") for name in ("access", "accesses"))
TILED = (
    "mov.u32 %r4, %tid.y; mad.lo.u32 %r20, %r1, 4, %r3; mad.lo.u32 %r20, %r4, 128, %r20; ld.shared.u32 %r30, [%r20];"
)

COLUMNS = (
    verdicts.OF_LANE + "ld.global.u32 %r10, [%d1]; and.b32 %r10, %r10, 15; shl.b32 %r10, %r10, 7;"
    "and.b32 %r11, %r1, 7; mad.lo.u32 %r11, %r11, 8, %r10; add.u32 %r20, %r3, %r11; ld.shared.u32 %r30, [%r20];"
)
"""Four lanes have one column, and data choose the row of each."""


@pytest.fixture(autouse=True)
def forget() -> Any:
    price.block_of.cache_clear()
    yield
    price.block_of.cache_clear()


def found_by(test: Any) -> None:
    """A test of the verdicts fails."""
    with pytest.raises(AssertionError):
        test()


def in_split(monkeypatch: pytest.MonkeyPatch, change: Any) -> None:
    original = split.split

    def wrong(access: Any, address: Any) -> Parts:
        return change(original(access, address))

    monkeypatch.setattr(decide, "split", wrong)


def of_rows(monkeypatch: pytest.MonkeyPatch, change: Any) -> None:
    original = decide.Question
    monkeypatch.setattr(decide, "Question", lambda row, *rest: original(change(row), *rest))


def engines_see_no_conflict(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Panel, "natives", lambda *_: [Finding("gf2", Answer.HOLDS)])
    monkeypatch.setattr(Panel, "smt", lambda *_: Finding("z3", Answer.HOLDS))


def test_a_guard_that_is_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    in_split(monkeypatch, lambda parts: replace(parts, own_guard=TRUE, sure=TRUE))
    found_by(verdicts.test_a_guard_that_lets_five_lanes_through_is_5_way)


def test_a_guard_taken_for_its_opposite(monkeypatch: pytest.MonkeyPatch) -> None:
    from swzverify.ir.expr import negation

    in_split(monkeypatch, lambda parts: replace(parts, own_guard=negation(parts.own_guard)))
    found_by(verdicts.test_a_predicate_and_its_opposite)


def test_a_value_of_each_lane_taken_for_a_shared_one(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (split, collide, samples, mixed, mixed):
        monkeypatch.setattr(module, "is_shared", lambda leaf: not isinstance(leaf, LaneLeaf))
    found_by(verdicts.test_data_of_each_lane_are_unknown)


def test_equal_words_of_atomics_that_count_once(monkeypatch: pytest.MonkeyPatch) -> None:
    of_rows(monkeypatch, lambda row: replace(row, counts_equal_words=False))
    found_by(verdicts.test_atomics_count_equal_words)


def test_groups_of_the_wrong_size(monkeypatch: pytest.MonkeyPatch) -> None:
    of_rows(monkeypatch, lambda row: replace(row, group_lanes=max(1, row.group_lanes // 2)))
    found_by(lambda: verdicts.test_a_stride_has_its_ways(128, 32))
    found_by(lambda: verdicts.test_wide_loads_go_in_groups_of_eight(128, 8))


def test_a_shared_addend_dropped_from_narrow_accesses(monkeypatch: pytest.MonkeyPatch) -> None:
    in_split(monkeypatch, lambda parts: replace(parts, shared=type(parts.shared)({}, 0, 32)))
    found_by(verdicts.test_of_narrow_accesses_what_is_shared_counts)


def test_engines_that_see_no_conflict_change_nothing_where_warps_are_priced(monkeypatch: pytest.MonkeyPatch) -> None:
    engines_see_no_conflict(monkeypatch)
    assert verdict(strided(8)) == ("conflict", 2)


def test_pricing_that_sees_no_conflict_is_contradicted(monkeypatch: pytest.MonkeyPatch) -> None:
    free = price.Price(1, 1, 1, 0)
    monkeypatch.setattr(exact, "price", lambda *_: free)
    assert FAULT in last(strided(8), WHOLE).decision.reason


def test_samples_contradict_engines_that_see_no_conflict(monkeypatch: pytest.MonkeyPatch) -> None:
    engines_see_no_conflict(monkeypatch)
    assert FAULT in last(verdicts.SKEWED).decision.reason
    assert FAULT in last(verdicts.OF_LANE + verdicts.DATA).decision.reason


def test_lanes_that_the_guard_never_lets_meet(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exact, "_at_least", lambda *_: TRUE)
    found_by(verdicts.test_a_guard_by_a_parameter_counts_what_it_can_let_through)


def test_an_empty_guard_that_nobody_asks_about(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Question, "_made", Answer.HOLDS)
    for access in (strided(4), strided(128), verdicts.SKEWED):
        found_by(lambda access=access: verdicts.test_an_access_that_no_lane_makes_is_not_free(access))


def test_a_shape_of_the_block_that_is_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    original = price.Block.values

    def wrong(self: Any, value: Any, more: Any) -> Any:
        return original(price.Block((self.exists.size, 1, 1)), value, more)

    monkeypatch.setattr(price.Block, "values", wrong)
    assert FAULT in last(TILED, (8, 8, 1)).decision.reason
    found_by(verdicts.test_the_shape_of_the_block_counts)


def test_a_narrow_access_that_is_decided_for_one_place_of_its_array(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(question, "power_of_terms", lambda *_: 4)
    found_by(verdicts.test_an_array_of_bytes_may_begin_anywhere)


def test_a_bound_on_data_that_samples_exceed(monkeypatch: pytest.MonkeyPatch) -> None:
    """An engine says that no three of the lanes of a column meet."""
    assert last(COLUMNS).decision.ways == 4

    two = WarpCost(2, 1, {})
    original = mixed.limited_by_data
    monkeypatch.setattr(mixed, "limited_by_data", lambda *given: original(*given[:2], WorstCost.of_one(two)))
    assert FAULT in last(COLUMNS).decision.reason


def test_the_worst_data_are_those_of_the_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    """Samples of one value for all lanes show no conflict."""
    monkeypatch.setattr(samples, "drawn", lambda _leaf, _numbers, shape, _source: np.zeros(shape, dtype=np.int64))
    found = last(COLUMNS).decision
    assert (found.verdict, found.ways, found.engines) == ("conflict", 4, ("matching", "exhaustion"))
    assert any(row.collides for row in found.lanes)
    monkeypatch.setattr(samples, "of_lane", lambda name, _: name)
    assert last(COLUMNS).decision.engines == ("trial",)


def test_data_that_every_lane_loads_from_one_place(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mixed, "from_places_of_their_own", lambda *_: True)
    found_by(verdicts.test_data_of_one_place_are_not_free_to_differ)


def test_trips_that_are_counted_one_too_few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(accesses, "range", lambda count: range(count - 1), raising=False)
    found_by(verdicts.test_trips_that_are_counted)


def test_samples_taken_for_every_number_of_trips_before(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mixed, "_always_meet", lambda *_: True)
    found_by(verdicts.test_a_number_of_trips_that_no_sample_tries_may_be_free)


def test_a_loop_with_two_ways_out_taken_for_one_with_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(counts.Counts, "_is_only_way", lambda *_: True)
    found_by(verdicts.test_behind_a_loop_with_two_ways_out_its_trips_are_not_known)


def test_trips_of_a_choice_that_not_every_trip_comes_to(monkeypatch: pytest.MonkeyPatch) -> None:
    class Above:
        def above(self, *_: Any) -> bool:
            return True

    original = counts.Counts._count

    def wrong(self: Any, loop: Any, block: int) -> Any:
        before, self._flow.dominators = self._flow.dominators, Above()
        try:
            return original(self, loop, block)
        finally:
            self._flow.dominators = before

    monkeypatch.setattr(counts.Counts, "_count", wrong)
    found_by(verdicts.test_trips_by_a_choice_that_is_sometimes_passed_by)


def test_a_choice_of_spaces_taken_for_shared_in_any_case(monkeypatch: pytest.MonkeyPatch) -> None:
    original = generic.InShared
    monkeypatch.setattr(generic, "InShared", lambda address, _, whole: original(address, TRUE, whole))
    found_by(verdicts.test_a_generic_address_that_is_shared_for_some_lanes)


def test_a_number_of_the_host_taken_for_its_pointer(monkeypatch: pytest.MonkeyPatch) -> None:
    sound = generic._is_outside
    monkeypatch.setattr(generic, "_is_outside", lambda slices, place, _: sound(slices, place, FALSE))
    monkeypatch.setattr(generic, "MOST_CHOICES", 1)
    found_by(verdicts.test_a_number_of_the_host_beside_a_choice_does_not_make_it_the_hosts_pointer)


def test_a_result_that_is_read_taken_for_an_unused_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(accesses, "is_read", lambda *_: False)
    found_by(verdicts.test_one_more_by_many_lanes_counts_where_its_result_is_used)


def test_a_compare_and_swap_with_the_wavefronts_of_an_add(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(access, "IN_PARTS", "")
    assert atomics.IN_PARTS
    found_by(lambda: verdicts.test_atomics_that_run_in_parts("cas.b32 %r30, [%r20], %r2, %r9"))
