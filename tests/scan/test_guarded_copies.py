"""Copies of clusters under conditions that ranks, trips, a parameter and the place of the cluster decide together."""

import random
from dataclasses import replace
from importlib import import_module
from typing import Any

import pytest

from tests.nightly import counts
from tests.scan.cluster_programs import Part, Program, right
from tests.scan.guard_programs import Guard, Guarded, drawn
from tests.scan.test_cluster_fills import scanned

judges: Any = import_module("swzverify.compiled.scan.operand_judge")
whole: Any = import_module("swzverify.compiled.scan.fill_whole")

TWO = right((2, 1))
OWN = replace(TWO, b=Part(16, 16, (1, 2), (0, 0), (0, 0), (0, 0)))
"""Each of two blocks copies all of B for itself."""


def of_both(program: Program, condition: Guard) -> Guarded:
    """The condition is on the copies of A, too."""
    is_persistent = any(each == "tile" for each, _ in condition.factors)
    return Guarded(program, condition, is_of_a=True, is_persistent=is_persistent)


def verdicts(guarded: Guarded) -> set[str]:
    return {each.claim("delivers").verdict.value for each in scanned(guarded.ptx, guarded.program.maps)}


def guard(modulus: int, comparison: str, limit: int | str, **factors: int) -> Guard:
    return Guard(tuple(factors.items()), modulus, comparison, limit)


SURELY_LEFT_OUT = {
    "the parity of rank and trip": guard(2, "eq", 0, rank=1, trip=1),
    "that of a parameter, too": guard(2, "eq", 0, m=1, rank=1, trip=1),
    "of a parameter and the trip": guard(2, "eq", 0, m=1, trip=1),
    "of a parameter and the rank": guard(2, "eq", 0, m=1, rank=1),
    "of the place of the cluster and the rank": guard(2, "eq", 0, place=1, rank=1),
    "of the place and the trip": guard(2, "eq", 0, place=1, trip=1),
    "of the block": guard(2, "eq", 0, block=1),
    "one trip": guard(0, "eq", "m", trip=1),
    "one rank": guard(0, "eq", "m", rank=1),
    "the first trips of a tile": guard(0, "lt", 3, tile=1, trip=1, m=1),
}


@pytest.mark.parametrize("name", SURELY_LEFT_OUT)
def test_what_is_left_out_in_each_launch_is_not_assumed_away(name: str) -> None:
    guarded = of_both(OWN, SURELY_LEFT_OUT[name])
    assert not guarded.can_be_right()
    assert verdicts(guarded) == {"unknown"}


def test_a_remainder_by_a_larger_number_is_found_in_later_trips() -> None:
    assert verdicts(of_both(OWN, guard(64, "ne", 0, m=1, trip=1))) == {"unknown"}


MAY_BE_WHOLE = {
    "trips below a parameter": guard(0, "lt", "m", trip=1),
    "trips ahead of a parameter": Guard((("trip", 1),), 0, "lt", "m", 3),
    "the parity of a parameter": guard(2, "eq", 0, m=1),
    "blocks below a parameter": guard(0, "lt", "m", block=1),
    "each rank, trip and block below a parameter": guard(0, "lt", "m", rank=2, trip=3, block=1),
}


@pytest.mark.parametrize("name", MAY_BE_WHOLE)
def test_what_some_launch_makes_is_assumed(name: str) -> None:
    guarded = of_both(OWN, MAY_BE_WHOLE[name])
    assert guarded.can_be_right()
    assert verdicts(guarded) == {"proved"}


def test_a_word_of_memory_is_one_in_all_blocks() -> None:
    plain = of_both(OWN, guard(2, "eq", 0, m=1, rank=1))
    loaded = plain.ptx.replace("ld.param.u32 %r90, [m];", "ld.global.u32 %r90, [%rd9];", 1)
    assert {each.claim("delivers").verdict.value for each in scanned(loaded, OWN.maps)} == {"unknown"}


def check(seed: int) -> None:
    guarded = drawn(random.Random(seed))
    found = verdicts(guarded)
    assert "refuted" not in found or not guarded.is_right_if_whole(), guarded
    assert "proved" not in found or (guarded.can_be_right() and guarded.is_right_if_whole()), guarded


@pytest.mark.parametrize("count", counts(20, 600))
def test_no_verdict_contradicts_plain_numbers(count: int) -> None:
    for seed in range(count):
        check(seed)


# ---- mistakes that are planted in the rules: each lets a wrong kernel through


def test_without_a_launch_that_makes_all_copies_some_are_surely_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    def empty(*_: object) -> str:
        return ""

    monkeypatch.setattr(judges, "find_left_out", empty)
    for name in ("of a parameter and the trip", "of a parameter and the rank"):
        assert verdicts(of_both(OWN, SURELY_LEFT_OUT[name])) == {"proved"}


def test_without_later_trips_the_first_one_is_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(whole, "_MOST_TRIPS", 1)
    assert verdicts(of_both(OWN, SURELY_LEFT_OUT["of a parameter and the trip"])) == {"proved"}
