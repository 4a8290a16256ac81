"""Costs where each lane has values of its own: both engines against every choice, tried one by one."""

from __future__ import annotations

import random
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swzverify.claims.cost_claim import cost_goal, cost_replay
from swzverify.claims.goal import Goal
from swzverify.engines import crowd as crowds
from swzverify.engines.crowd import crowd, largest_matching
from swzverify.engines.gather import Matching
from swzverify.engines.gf2 import GF2
from swzverify.engines.obligations import Answer, GatherCost
from swzverify.engines.residue import Residues
from swzverify.engines.smt import SMT
from swzverify.engines.smt import gather as smt_gather
from swzverify.hardware import access_cost, find_instruction, find_target
from swzverify.ir.c_parse import expression
from swzverify.subjects import Access, AlignedBase, Unknown
from tests.nightly import counts

RULES = ["ld.shared.b32", "ld.shared.b64", "ld.shared.v4.b32", "st.shared.v4.b32", "atom.shared.add.u32", "cp.async.8"]
BIN = Unknown("bin", 0, 3)


def access(
    address: str, *own: Unknown, instruction: str = "ld.shared.b32", threads: int = 32, lanes: str = ""
) -> Access:
    return Access(
        "a",
        find_instruction(instruction),
        find_target("sm_90"),
        (threads,),
        address=expression(address),
        base=AlignedBase(16),
        predicate=expression(lanes) if lanes else None,
        unknowns=own or (BIN,),
    )


def goal(of: Access, at_most: int | None) -> GatherCost:
    found = cost_goal(of, at_most)
    assert isinstance(found, GatherCost)
    return found


def worst(of: Access) -> tuple[int, int]:
    """The most wavefronts and the most conflicts over every choice, each priced by the plain rule."""
    options = []
    for lane in range(32):
        values = product(*(range(each.count) for each in of.unknowns))
        points = [{f"{e.name}[{lane}]": v for e, v in zip(of.unknowns, value, strict=True)} for value in values]
        options.append({of.lanes_at({"warp": 0, **point})[lane].address_bytes for point in points})
    costs = [access_cost(of.instruction, choice) for choice in product(*options) if any(a is not None for a in choice)]
    return max(c.wavefronts for c in costs), max(c.bank_conflicts for c in costs)


CASES = {
    "two words of one bank": access("bin*128 + lane*4", lanes="lane < 2"),
    "lanes may agree": access("bin*128", lanes="lane < 5"),
    "a lane may be idle": access("bin*128", lanes="lane < 5 && bin > 0"),
    "one column for two lanes": access("bin*128 + lane%4*4", lanes="lane < 6"),
    "a store of two groups": access("bin*128 + lane%16*8", instruction="st.shared.b64", lanes="lane%16 < 3"),
    "a load whose groups may join": access("bin*128 + lane/2*8", instruction="ld.shared.b64", lanes="lane%8 < 2"),
    "a load whose groups join at every choice": access(
        "lane/2*8 + (lane/16 == 0 ? 0 : bin*0)", instruction="ld.shared.b64"
    ),
    "groups that collide where they join": access("lane/16*128 + (lane == 3)*bin*8", instruction="ld.shared.b64"),
    "groups that collide where a lane lets them join": access(
        "lane/16*128 + (lane == 2 || lane == 3 && bin == 1)*8", instruction="ld.shared.b64"
    ),
    "a wide load": access("bin*128 + lane%8*16", instruction="ld.shared.v4.b32", lanes="lane%8 < 2"),
    "an atomic counts each lane": access("bin*4", instruction="atom.shared.add.u32", lanes="lane < 6"),
    "copies of sixteen bytes": access("bin*16 + lane*32", instruction="cp.async.16", lanes="lane < 4"),
    "two unknowns": access("bin*128 + c*4", BIN, Unknown("c", 0, 2), lanes="lane < 3"),
}


@pytest.mark.parametrize("name", CASES)
def test_both_engines_know_the_worst_choice(name: str) -> None:
    of = CASES[name]
    most, conflicts = worst(of)
    for at_most, value in ((most, True), (most - 1, False), (None, conflicts == 0)):
        if at_most == 0:
            continue
        asked = goal(of, at_most)
        for engine in (Matching(), SMT()):
            found = engine.decide(asked)
            assert found.answer is (Answer.HOLDS if value else Answer.FAILS), (engine.name, at_most, found)
            if not value:
                assert found.point is not None
                assert cost_replay(of, at_most, Goal(asked), found.point) is not None
        exact = Matching().decide(asked).worst
        assert exact is not None
        assert (exact.most_wavefronts.wavefronts, exact.most_conflicts.bank_conflicts) == (most, conflicts)


def test_groups_that_never_join_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A planted mistake: what lanes can do to make groups join is forgotten."""
    monkeypatch.setattr(crowds, "_can_differ", lambda *_: True)
    monkeypatch.setattr(crowds, "_joined", lambda *_: crowds._Joined([None] * 32, (0,)))
    wrong = Matching().decide(goal(CASES["groups that collide where a lane lets them join"], None))
    right = SMT().decide(goal(CASES["groups that collide where a lane lets them join"], None))
    assert (wrong.answer, right.answer) == (Answer.HOLDS, Answer.FAILS)


def test_engines_that_know_no_choices_keep_out() -> None:
    """A lane's value is not the warp's: what takes a variable for one of all lanes must not answer."""
    asked = goal(access("bin*4"), None)
    assert GF2().decide(asked).answer is Answer.NOT_APPLICABLE


def test_large_ranges_have_a_bound_by_slots() -> None:
    of = access("bin*128 + lane%8*4", Unknown("bin", 0, 1 << 24))
    assert Matching().decide(goal(of, 4)).answer is Answer.NOT_APPLICABLE
    assert Residues().decide(goal(of, 4)).answer is Answer.HOLDS
    assert Residues().decide(goal(of, 3)).answer is Answer.NOT_APPLICABLE
    assert SMT().decide(goal(of, 4)).answer is Answer.HOLDS
    assert SMT().decide(goal(of, 3)).answer is Answer.FAILS


def test_a_bound_by_slots_sees_every_slot_of_a_period() -> None:
    """The 1001st value is the first one that leaves the lane's own bank."""
    of = access("bin/1000*4 + lane*4", Unknown("bin", 0, 1 << 21))
    assert Residues().decide(goal(of, None)).answer is Answer.NOT_APPLICABLE


OPTIONS = st.lists(st.lists(st.integers(0, 6), min_size=1, max_size=2, unique=True), min_size=1, max_size=7)


@given(OPTIONS, st.sampled_from(RULES), st.booleans(), st.integers(0, 2))
def test_no_choice_exceeds_what_a_crowd_is_said_to_take(
    options: list[list[int]], name: str, idle: bool, spread: int
) -> None:
    row = find_instruction(name)
    lanes: list[list[int | None]] = [[None] for _ in range(32)]
    for index, units in enumerate(options):
        addresses: list[int | None] = [unit * [128, row.width_bytes, 64][spread] for unit in units]
        lanes[index * [1, 2, 4][spread] % 32] = [*addresses, *([None] if idle and index % 2 else [])]
    found = crowd(row, lanes)
    costs = [access_cost(row, c) for c in product(*lanes) if any(a is not None for a in c)]
    most, conflicts = max(c.wavefronts for c in costs), max(c.bank_conflicts for c in costs)
    assert most <= found.most_wavefronts
    assert conflicts <= found.most_conflicts
    if not row.joins:
        assert (most, conflicts) == (found.most_wavefronts, found.most_conflicts)
    built = [access_cost(row, choice) for choice in found.choices if any(a is not None for a in choice)]
    assert all(cost.wavefronts <= most for cost in built)


@given(st.dictionaries(st.integers(0, 6), st.lists(st.integers(0, 6), max_size=4, unique=True), max_size=7))
def test_a_matching_is_a_largest_one(reach: dict[int, list[int]]) -> None:
    found = largest_matching(reach)
    assert len(set(found.values())) == len(found)
    assert all(right in reach[left] for left, right in found.items())
    most = 0
    for choice in product(*([None, *rights] for rights in reach.values())):
        taken = [right for right in choice if right is not None]
        most = max(most, len(taken) if len(set(taken)) == len(taken) else 0)
    assert len(found) == most


@pytest.mark.parametrize("count", counts(16, 40))
def test_random_accesses_are_judged_alike_by_both_engines(count: int) -> None:
    forms = ["bin*128 + lane%{0}*4", "(lane ^ bin)*{1}", "(lane%{0} == 0) ? bin*128 : lane*4", "(bin + lane)*{1}"]
    for seed in range(count):
        rng = random.Random(seed)
        address = rng.choice(forms).format(rng.choice([3, 4, 8]), rng.choice([4, 8, 132]))
        of = access(address, Unknown("bin", 0, rng.choice([2, 5, 40])), threads=rng.choice([20, 32]))
        for at_most in (None, 1, 2, 5):
            answers = {engine.decide(goal(of, at_most)).answer for engine in (Matching(), SMT())}
            assert len(answers) == 1, (address, at_most, answers)


FOUND, COUNTED = smt_gather.QUICK_RLIMIT, 10
"""Budgets in which a large crowd is found at once, and in which nothing is."""


LONG = pytest.param(32, COUNTED, marks=pytest.mark.nightly)


@pytest.mark.parametrize(("lanes", "quick"), [(19, FOUND), (25, FOUND), (32, FOUND), (19, COUNTED), LONG])
def test_large_crowds(monkeypatch: pytest.MonkeyPatch, lanes: int, quick: int) -> None:
    """Of so many lanes with any line each, as many are in each other's way; what is not found in a
    small budget is counted.
    """
    monkeypatch.setattr(smt_gather, "QUICK_RLIMIT", quick)
    of = access("bin*128", Unknown("bin", 0, 1 << 12), lanes=f"lane < {lanes}")
    failing = SMT().decide(goal(of, lanes - 1))
    assert failing.answer is Answer.FAILS
    assert failing.point is not None
    assert cost_replay(of, lanes - 1, Goal(goal(of, lanes - 1)), failing.point) is not None
    if lanes < 20:  # of more Z3 does not tell
        assert SMT().decide(goal(of, lanes)).answer is Answer.HOLDS


def test_a_large_crowd_that_is_overlooked_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(smt_gather, "_crowd", lambda *_: None)
    with pytest.raises(AssertionError):
        test_large_crowds(monkeypatch, 19, FOUND)
