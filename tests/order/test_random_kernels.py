"""The random kernels for judges of races: what is in them, and that wrong judges are found out."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from tests.nightly import counts
from tests.ptx_oracle.race_cases import CASES

from .random_judge import Judge, Said, appearances, judge_cases, judge_random, launched, said_of, truth, verdict_of
from .random_kernels import FRAGMENTS, NUMBERS, kernel

NOT_FREE = {"by_parameter", "one_value", "own_words", "shuffled_address", "voted_address"}
"""Fragments that race in some launch even where nothing is damaged."""


@pytest.mark.parametrize("count", counts(16, 400))
def test_a_third_races_and_a_third_is_free(count: int) -> None:
    total, by_construct = appearances(0, count)
    print(total, {construct: dict(seen) for construct, seen in sorted(by_construct.items())})
    assert 3 * total["free"] >= count
    assert 3 * (total["race"] + total["depends"]) >= count
    if count > 100:
        assert set(FRAGMENTS) <= set(by_construct)
        for name in FRAGMENTS:
            assert by_construct[name]["free"] > 0 or name in NOT_FREE, name
        assert total["divergent-barrier"] > 5
        assert total["race-benign"] > 0


@pytest.mark.parametrize("count", counts(30, 400))
def test_what_is_not_damaged_is_free(count: int) -> None:
    whole = set(FRAGMENTS) - NOT_FREE | {"generic address", "memory used again"}
    drawn = [each for each in map(kernel, range(count)) if each.constructs <= whole]
    assert len(drawn) > count // 8
    for each in drawn:
        launches = truth(each)
        assert (each.seed, verdict_of(launches)) == (each.seed, "free")


def test_a_seed_gives_one_kernel() -> None:
    assert kernel(3) == kernel(3)
    assert kernel(3).text != kernel(4).text


def seen(text: str, block: tuple[int, int, int]) -> Said:
    """What the launches show, as a judge's answer."""
    launches = {number: launched(text, block, number) for number in NUMBERS}
    for number, found in launches.items():
        for race in found.pairs:
            if not race.is_benign:
                return Said(verdict_of(launches), race.lines, {"n": number})
    return Said(verdict_of(launches))


def test_a_judge_that_is_right() -> None:
    total, wrong = judge_random(0, 8, seen)
    assert wrong == []
    assert total["free"] > 0
    assert sum(count for mark, count in total.items() if mark.startswith(("race", "depends"))) > 0


def test_judges_of_the_small_kernels() -> None:
    racy = {f"['{case.name}']" for case in CASES if case.verdict not in ("free", "unknown")}
    _, wrong = judge_cases(lambda _text, _block: Said("free"))
    assert {each.rpartition("; ")[2] for each in wrong} == racy
    _, wrong = judge_cases(lambda _text, _block: Said("unknown"))
    assert wrong == []


def test_a_judge_that_always_says_free() -> None:
    total, wrong = judge_random(0, 8, lambda _text, _block: Said("free"))
    assert wrong
    assert all("WRONG free" in each for each in wrong)
    assert total["free"] > 0


def test_a_judge_whose_witness_has_order() -> None:
    _, wrong = judge_random(0, 8, lambda _text, _block: Said("race", (1, 2), {"n": 5}))
    assert len(wrong) == 8
    assert all("FALSE race" in each for each in wrong)


def test_a_witness_of_a_launch_without_that_race() -> None:
    """A stride of an even number races, and one of an odd number does not."""
    seed = next(seed for seed in range(400) if kernel(seed).constructs == {"by_parameter"})
    pairs = (
        launched(kernel(seed).text, kernel(seed).block, 0).pairs
        or launched(kernel(seed).text, kernel(seed).block, 1).pairs
    )
    odd = [number for number in NUMBERS if not launched(kernel(seed).text, kernel(seed).block, number).pairs]
    assert pairs
    assert odd
    total, wrong = judge_random(seed, seed + 1, lambda *_: Said("depends", pairs[0].lines, {"n": odd[0]}))
    assert len(wrong) == 1, total
    unknown, _ = judge_random(seed, seed + 1, lambda *_: Said("unknown"))
    assert unknown == {"unknown (depends)": 1}


def test_the_answer_of_the_package_is_read() -> None:
    def pair(verdict: str, lines: tuple[int, int], number: int | None = None) -> SimpleNamespace:
        first, second = (SimpleNamespace(line=line) for line in lines)
        witness = None if number is None else SimpleNamespace(parameters=(("n", number),))
        return SimpleNamespace(verdict=verdict, witness=witness, first=first, second=second)

    found = (pair("unknown", (3, 3)), pair("depends", (8, 9), 6), pair("race", (9, 7), 5))
    said = said_of(SimpleNamespace(verdict="race", pairs=found))
    assert (said.lines, said.parameters) == ((7, 9), {"n": 5})
    assert said.others == (Said("depends", (8, 9), {"n": 6}),)
    assert said.pairs == {(3, 3): "unknown", (8, 9): "depends", (7, 9): "race"}
    assert said_of(SimpleNamespace(verdict="free", pairs=())) == Said("free", pairs={})


def always(said: Said) -> Judge:
    return lambda *_: said


def test_a_judge_that_leaves_out_a_pair() -> None:
    """Each race of each launch is among the pairs that are not free, or the judge is wrong about it."""
    left_out = 0
    for seed in range(8):
        known = {race.lines: "race" for found in truth(kernel(seed)).values() for race in found.pairs}
        for lines in known:
            pairs = {each: verdict for each, verdict in known.items() if each != lines}
            for wrong in (pairs, {**pairs, lines: "race-benign"}):
                left_out += "WRONG pair" in str(judge_random(seed, seed + 1, always(Said("race", pairs=wrong)))[1])
        assert not judge_random(seed, seed + 1, always(Said("unknown", pairs=known)))[1]
    assert left_out > 4
