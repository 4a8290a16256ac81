"""Mistakes planted in the claims, one at a time: a named test of the verdicts finds each, or the two
ways contradict each other.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from swzverify.compiled.kernel import ArrayLeaf, TripsLeaf, repeats
from swzverify.compiled.kernel.arithmetic import less, widened
from swzverify.compiled.kernel.leaves import is_input
from swzverify.compiled.kernel.linear import normal
from swzverify.compiled.scan import aligned as of_alignment
from swzverify.compiled.scan import asker, claims, subject
from swzverify.compiled.scan import bounds as of_bounds
from swzverify.compiled.scan import claimed as judge
from swzverify.compiled.scan.subject import Subject
from swzverify.engines.obligations import Answer, Finding
from swzverify.hardware import LANES
from swzverify.ir.expr import FALSE, TRUE, conjuncts, const, negation
from swzverify.ir.integers import Integer, integer
from swzverify.prover import panel
from tests.kernel.planted_paths import forget_joins
from tests.nightly import found_at
from tests.scan import test_claims as verdicts
from tests.scan import test_claims_programs as programs

FAULT = "two engines disagree"


def found_by(test: Any, *arguments: Any) -> None:
    """A test of the verdicts fails."""
    with pytest.raises(AssertionError):
        test(*arguments)


def properties(monkeypatch: pytest.MonkeyPatch, change: Any) -> None:
    """Both claims are asked as changed."""
    original = judge.claimed
    for module in (of_alignment, of_bounds):
        monkeypatch.setattr(module, "claimed", lambda about, claim: original(about, change(claim)))


def subjects(monkeypatch: pytest.MonkeyPatch, change: Any) -> None:
    original = claims.Subject
    monkeypatch.setattr(claims, "Subject", lambda *all_of: change(original(*all_of)))


def test_a_base_taken_for_aligned(monkeypatch: pytest.MonkeyPatch) -> None:
    original = of_alignment.normal

    def wrong(value: Any) -> Any:
        from swzverify.ir.expr import substitute, variables

        new = {each: const(0, each.width) for each in variables(value) if each.name.startswith("shared ")}
        return original(substitute(value, new))

    monkeypatch.setattr(of_alignment, "normal", wrong)
    assert FAULT in verdicts.aligned(verdicts.in_z(16, verdicts.FOUR), verdicts.OTHER).reason
    found_by(verdicts.test_an_array_that_ptx_aligns_too_little_is_no_misalignment)


def test_an_alignment_that_ptx_does_not_give(monkeypatch: pytest.MonkeyPatch) -> None:
    """In both ways: the array's address is a multiple of 16 whatever PTX says."""
    from swzverify.compiled.kernel import symbols

    monkeypatch.setattr(symbols, "_power", lambda _: 16)
    found_by(verdicts.test_an_array_that_ptx_aligns_too_little_is_no_misalignment)


def made_by(subject: Any, **who: Any) -> Any:
    """A subject whose access other lanes make."""
    return replace(subject, access=replace(subject.access, who=replace(subject.access.who, **who)))


def test_a_width_taken_for_4_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(claims, "width_of", lambda _: 4)
    found_by(verdicts.test_rows_of_vectors, 8, "refuted")
    found_by(verdicts.test_the_last_byte_counts)


def test_the_first_byte_in_place_of_the_last(monkeypatch: pytest.MonkeyPatch) -> None:
    def wrong(case: Any, _: int) -> Any:
        offset = normal(of_bounds.sub(case.address, case.begin))
        return less(const(case.size - 1, offset.width), offset, signed=False)

    monkeypatch.setattr(of_bounds, "_outside", wrong)
    body = "mad.lo.u32 %r20, %r1, 16, %r3; ld.shared.v4.u32 {%r30,%r31,%r32,%r33}, [%r20+7172];"
    assert FAULT in verdicts.bounds(body).reason
    found_by(verdicts.test_the_last_byte_counts)


def test_one_byte_too_many(monkeypatch: pytest.MonkeyPatch) -> None:
    original = of_bounds._outside
    monkeypatch.setattr(of_bounds, "_outside", lambda case, width: original(replace(case, size=case.size + 1), width))
    found_by(verdicts.test_a_dynamic_array_has_the_bytes_of_the_launch)


def test_a_guard_that_is_ignored(monkeypatch: pytest.MonkeyPatch) -> None:
    subjects(monkeypatch, lambda each: made_by(each, guard=TRUE, sure=TRUE))
    found_by(verdicts.test_a_guard_keeps_lanes_inside)


def test_a_guard_taken_for_its_opposite(monkeypatch: pytest.MonkeyPatch) -> None:
    subjects(monkeypatch, lambda each: made_by(each, guard=negation(each.access.who.guard)))
    found_by(verdicts.test_a_guard_keeps_lanes_inside)


def test_bounds_compared_with_a_sign(monkeypatch: pytest.MonkeyPatch) -> None:
    original, low = of_bounds.within, -(1 << 31)

    def wrong(_: Any, position: Integer, length: int, high: Integer) -> Any:
        return original(integer(low), Integer(position.bits, low, -low - 1), length, high)

    monkeypatch.setattr(of_bounds, "within", wrong)
    assert FAULT in verdicts.bounds("mad.lo.u32 %r20, %r1, 4, %r3; ld.shared.u32 %r30, [%r20+-4096];").reason
    found_by(verdicts.test_bytes_before_the_array)


def test_everything_folds_to_false(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asker, "bounded", lambda _: FALSE)
    assert FAULT in verdicts.bounds(verdicts.strided(132)).reason
    found_by(verdicts.test_rows_within_the_array, 132, "refuted")


def test_samples_taken_for_all_values(monkeypatch: pytest.MonkeyPatch) -> None:
    original = judge.seen
    monkeypatch.setattr(judge, "seen", lambda *given: replace(original(*given), is_whole=True))
    found_by(verdicts.test_samples_are_no_second_engine)


def test_an_engine_that_finds_no_lane_is_contradicted_by_z3(monkeypatch: pytest.MonkeyPatch) -> None:
    nothing = [Finding("gf2", Answer.HOLDS)]
    monkeypatch.setattr(panel.Panel, "natives", lambda *_: nothing)
    body = verdicts.strided(132)
    assert FAULT in verdicts.bounds(body).reason


def test_z3_that_finds_no_lane_is_contradicted_by_plain_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(panel.Panel, "natives", lambda *_: [])
    monkeypatch.setattr(panel.Panel, "possible", lambda *_: Finding("z3", Answer.EMPTY))
    assert FAULT in verdicts.bounds(verdicts.strided(132)).reason


def test_a_part_that_the_condition_does_not_have(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a guard by a parameter only the other part is enumerated: here it is its opposite."""
    monkeypatch.setattr(asker, "conjuncts", lambda whole: [negation(each) for each in conjuncts(whole)])
    found_by(verdicts.test_the_parts_of_a_guard_that_read_few_values_are_enumerated)


def test_trips_taken_for_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    original = Subject.makes

    def wrong(self: Any, bad: Any, *, with_loops: bool) -> Any:
        found = original(self, bad, with_loops=with_loops)
        trips = [loop.trips for loop in self.access.who.loops if loop.trips is not None]
        return [*found, *(less(each, const(2, each.width), signed=False) for each in trips)]

    monkeypatch.setattr(subject.Subject, "makes", wrong)
    found_by(verdicts.test_trips_by_a_parameter_depend_on_it)
    found_by(verdicts.test_trips_that_are_counted, 2049, "refuted")


def test_trips_counted_one_too_few(monkeypatch: pytest.MonkeyPatch) -> None:
    original = Subject.more_of

    def wrong(self: Any, read: Any) -> Any:
        new = {
            name: replace(leaf, most=leaf.most - 1) if isinstance(leaf, TripsLeaf) and leaf.most is not None else leaf
            for name, leaf in self.leaves.items()
        }
        return original(replace(self, access=replace(self.access, leaves=tuple(new.values()))), read)

    monkeypatch.setattr(subject.Subject, "more_of", wrong)
    found_by(verdicts.test_trips_that_are_counted, 2049, "refuted")


def test_a_trip_before_that_is_asked_of_this_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """Another trip must follow this one: the last trip is forgotten."""
    monkeypatch.setattr(subject, "sub", lambda left, _: left)
    found_by(verdicts.test_trips_that_are_counted, 2049, "refuted")


def test_a_later_trip_taken_for_sure(monkeypatch: pytest.MonkeyPatch) -> None:
    again = repeats.Again(TRUE, is_exact=True)

    def wrong(each: Any) -> Any:
        loops = tuple(replace(loop, again=again) for loop in each.access.who.loops)
        return made_by(each, loops=loops)

    subjects(monkeypatch, wrong)
    found_by(verdicts.test_trips_that_data_decide_are_no_witness)
    found_by(verdicts.test_each_lane_leaves_a_loop_by_itself)


def test_the_size_of_another_array(monkeypatch: pytest.MonkeyPatch) -> None:
    subjects(monkeypatch, lambda each: replace(each, access=replace(each.access, leaves=_of_8192(each.access.leaves))))
    found_by(verdicts.test_the_size_is_that_of_the_array_of_the_address)


def _of_8192(leaves: Any) -> Any:
    return tuple(
        replace(leaf, symbol=replace(leaf.symbol, size_bytes=8192)) if isinstance(leaf, ArrayLeaf) else leaf
        for leaf in leaves
    )


def test_a_choice_of_arrays_judged_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    original = of_bounds._parts
    monkeypatch.setattr(of_bounds, "_parts", lambda *given: (original(*given) or [])[-1:])
    found_by(verdicts.test_a_choice_of_arrays_is_judged_case_by_case)


def test_a_generic_address_cut_to_32_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    def wrong(each: Any) -> Any:
        return replace(each, access=replace(each.access, whole=each.access.address))

    subjects(monkeypatch, wrong)
    found_by(verdicts.test_a_generic_address_counts_with_all_its_bits)


def test_a_shared_address_that_does_not_wrap(monkeypatch: pytest.MonkeyPatch) -> None:
    def wrong(case: Any, width: int) -> Any:
        offset = of_bounds.sub(case.address, case.begin)
        wide = _unwrapped(offset)
        return less(const(case.size - width, wide.width), wide, signed=False)

    monkeypatch.setattr(of_bounds, "_outside", wrong)
    found_by(verdicts.test_a_shared_address_wraps_at_32_bits)


def _unwrapped(value: Any) -> Any:
    """Each sum in 64 bits, of numbers that are not negative."""
    from swzverify.compiled.kernel.arithmetic import add, mul
    from swzverify.compiled.kernel.linear import sum_of

    found = sum_of(value)
    whole: Any = const(found.number or 1 << 32, 64)
    for term, count in found.terms.items():
        whole = add(whole, mul(widened(term, 64), const(count, 64)))
    return whole


def test_lanes_without_an_address_that_count(monkeypatch: pytest.MonkeyPatch) -> None:
    subjects(monkeypatch, lambda each: replace(each, address_lanes=LANES))
    found_by(verdicts.test_only_the_lanes_whose_addresses_count_are_aligned)


def test_a_way_taken_for_sure(monkeypatch: pytest.MonkeyPatch) -> None:
    forget_joins(monkeypatch)
    found_by(verdicts.test_a_path_of_two_conditions_depends_on_the_parameter)


def test_data_taken_for_what_a_launch_gives(monkeypatch: pytest.MonkeyPatch) -> None:
    original = judge.is_parameter
    monkeypatch.setattr(judge, "is_parameter", lambda leaf: is_input(leaf) or original(leaf))
    found_by(verdicts.test_a_guard_by_data_is_no_witness)


def test_an_smt_engine_that_finds_nothing_is_contradicted(monkeypatch: pytest.MonkeyPatch) -> None:
    properties(monkeypatch, lambda claim: replace(claim, bad=FALSE))
    body = verdicts.strided(132, verdicts.FOUR)
    found = verdicts.scan(body)
    assert FAULT in found.aligned.reason
    assert FAULT in found.in_bounds.reason


def test_plain_numbers_that_see_nothing_are_contradicted(monkeypatch: pytest.MonkeyPatch) -> None:
    def wrong(claim: Any) -> Any:
        def place(values: Any) -> Any:
            found, bad = claim.place(values)
            return found, bad & False

        return replace(claim, place=place)

    properties(monkeypatch, wrong)
    assert FAULT in verdicts.scan(verdicts.strided(132, verdicts.FOUR)).in_bounds.reason


def test_no_lane_at_all_taken_for_proof(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Subject, "made", property(lambda _: Answer.HOLDS))
    found_by(verdicts.test_an_access_that_no_lane_makes_proves_nothing)


@found_at(13, 40)
def test_random_kernels_find_a_guard_that_is_ignored(monkeypatch: pytest.MonkeyPatch, seeds: range) -> None:
    """What no test of one thing would: the interpreter contradicts witnesses that do not occur."""
    subjects(monkeypatch, lambda each: made_by(each, guard=TRUE, sure=TRUE))

    def all_of() -> None:
        for seed in seeds:
            programs.held(seed)

    found_by(all_of)


@found_at(0, 40)
def test_random_kernels_find_a_size_of_another_array(monkeypatch: pytest.MonkeyPatch, seeds: range) -> None:
    subjects(monkeypatch, lambda each: replace(each, access=replace(each.access, leaves=_of_8192(each.access.leaves))))

    def all_of() -> None:
        for seed in seeds:
            programs.held(seed)

    found_by(all_of)
