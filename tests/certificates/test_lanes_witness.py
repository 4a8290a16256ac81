"""The witness that no warp instruction costs more than it has lanes with addresses: the rule that it
rests on, what it shows and what not, forged ones, and planted mistakes.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace

import pytest

from swzrecheck import witness_lanes
from swzrecheck.statement import Cost, GatherCost, Statement
from swzrecheck.warp_rule import warp_cost, warp_rule
from swzrecheck.witness import WitnessError
from swzrecheck.witness_lanes import check_lanes, find_lanes
from swzrecheck.witnesses import find_witness
from swzverify.hardware import GLOBAL_INSTRUCTIONS, INSTRUCTIONS
from tests.certificates.judge import holds
from tests.certificates.test_sectors import claim, cost_of

LARGE = "{instruction: ld.global.f32, threads: 128, lanes: {i: {bits: 20}}, base: {align: 256}, address: i*4}"
"""A look-up in a table so large that no other witness tries what a lane may choose."""


def sectors(at_most: int | None, access: str = LARGE) -> Statement:
    words = "coalesced: x" if at_most is None else f"coalesced: {{access: x, at_most: {at_most}}}"
    return cost_of(claim(access, words))


def wavefronts(instruction: str, address: str, at_most: int) -> Statement:
    access = f"{{instruction: {instruction}, threads: 32, base: {{align: 256}}, address: {address}}}"
    return cost_of(claim(access, f"wavefronts: {{access: x, at_most: {at_most}}}"))


@pytest.mark.parametrize("name", [*INSTRUCTIONS, *GLOBAL_INSTRUCTIONS])
def test_no_warp_costs_more_than_it_has_lanes_with_addresses(name: str) -> None:
    rule, rng = warp_rule(name), random.Random(name)
    most = 0
    for _ in range(400):
        far = rng.choice((4, 64, 4096))
        lanes = [rule.width_bytes * rng.randrange(far) if rng.random() < 0.9 else None for _ in range(32)]
        if rng.random() < 0.3:
            lanes = [None if each is None else each * 128 for each in lanes]
        cost = warp_cost(rule, lanes)[0]
        assert cost <= sum(each is not None for each in lanes[: rule.address_lanes])
        most = max(most, cost)
    assert most >= rule.address_lanes // 2, "the bound was hardly tried"


@pytest.mark.parametrize(
    ("statement", "wanted"),
    [
        (sectors(32), True),
        (sectors(40), True),
        (sectors(31), False),
        (sectors(None), False),
        (sectors(32, LARGE.replace("i*4", "i*2")), False),
        (sectors(32, LARGE.replace("i*4", "i*12 + tid*8")), True),
        (wavefronts("st.shared.v4.b32", "tid*tid*16", 32), True),
        (wavefronts("st.shared.v4.b32", "tid*tid*8", 32), False),
        (wavefronts("ldmatrix.x1", "lane%8*lane%8*16", 8), True),
        (wavefronts("ldmatrix.x2", "lane%16*128", 8), False),
        (wavefronts("cp.async.16", "tid*tid*16", 32), True),
        (wavefronts("ld.shared.b8", "tid*tid", 32), True),
    ],
)
def test_what_it_shows_is_what_a_solver_shows(statement: Statement, wanted: bool) -> None:
    found = find_lanes(statement)
    assert (found is not None) is wanted
    if found is not None:
        check_lanes(statement, found)
        assert holds(statement)


def test_a_large_table_has_no_other_witness() -> None:
    assert find_witness(sectors(32)) == ("lanes", {"lanes": 32})
    assert find_witness(sectors(31)) is None


@pytest.mark.parametrize("data", [{}, {"lanes": 31}, {"lanes": "32"}, {"lanes": 32, "more": 1}, {"most": 32}])
def test_a_forged_witness_is_refused(data: dict[str, object]) -> None:
    check_lanes(sectors(32), {"lanes": 32})
    with pytest.raises(WitnessError):
        check_lanes(sectors(32), data)


@pytest.mark.parametrize("statement", [sectors(31), sectors(None), sectors(32, LARGE.replace("i*4", "i*4 + 2"))])
def test_a_witness_of_another_statement_is_refused(statement: Statement) -> None:
    assert isinstance(statement, Cost | GatherCost)
    with pytest.raises(WitnessError):
        check_lanes(statement, {"lanes": 32})


def _no_alignment(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(witness_lanes, "forms", lambda *_: [[0] * 8])


def _half_of_the_alignment(patch: pytest.MonkeyPatch) -> None:
    sound = witness_lanes.forms
    patch.setattr(witness_lanes, "forms", lambda *given: [[0, *sound(*given)[0][1:]]])


def _one_group_of_lanes(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(witness_lanes, "warp_rule", lambda name: replace(warp_rule(name), address_lanes=8))


@pytest.mark.parametrize(
    ("plant", "access", "at_most"),
    [
        (_no_alignment, LARGE.replace("i*4", "i*2"), 32),
        (_half_of_the_alignment, LARGE.replace("i*4", "i*4 + 1"), 32),
        (_one_group_of_lanes, LARGE, 8),
    ],
)
def test_a_planted_mistake_shows(
    monkeypatch: pytest.MonkeyPatch, plant: Callable[[pytest.MonkeyPatch], None], access: str, at_most: int
) -> None:
    """A witness that is wrong shows what no solver shows."""
    statement = sectors(at_most, access)
    assert not holds(statement)
    assert find_lanes(statement) is None
    plant(monkeypatch)
    assert find_lanes(statement) is not None
