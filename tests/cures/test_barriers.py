"""Cures of the order of accesses: each is proved, and none is offered where one change is not enough."""

from __future__ import annotations

import pytest

from swzverify.claims import Outcome, RaceFree
from swzverify.prover import prove
from swzverify.search.cures import find_order_cures
from tests.claims.phase_edges import PHASES
from tests.claims.test_phases import race_claim

CURES = {
    "one_barrier": ["one more barrier at the beginning of `steps`"],
    "lanes_synced_once": [
        "one more syncwarp at the beginning of `steps`",
        "one more barrier at the beginning of `steps`",
    ],
    "lanes": [],
    "warps_synced": [],
    "double_none": ["one more barrier at the beginning of `steps`"],
    "copies_off_by_one": ["wait_group 1 in place of wait_group 2 of `steps`"],
    "own_copy": [],
    "before_races": ["one more barrier behind put (step 1) of `before`"],
}


@pytest.mark.parametrize(
    "name",
    [pytest.param(each, marks=pytest.mark.nightly) if each == "copies_off_by_one" else each for each in CURES],
)
def test_the_cures_of_edges(name: str) -> None:
    assert not PHASES[name][1]
    found = find_order_cures(race_claim(name))
    assert [each.change for each in found] == CURES[name]
    assert all(each.object == name and each.gives == "race_free is proved" for each in found)


def test_a_cure_is_only_what_is_proved(monkeypatch: pytest.MonkeyPatch) -> None:
    from swzverify.search.cures.work import Work

    tried: list[RaceFree] = []

    def refuse(work: Work, claim: RaceFree) -> bool:
        del work
        tried.append(claim)
        return False

    monkeypatch.setattr(Work, "proves", refuse)
    assert find_order_cures(race_claim("one_barrier")) == ()
    assert any(prove(each).outcome is Outcome.PROVED for each in tried)
