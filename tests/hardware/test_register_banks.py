"""The banks of the register file: the table again, from its sources, and the rule on every set."""

from __future__ import annotations

from itertools import combinations

import pytest

from swzverify.errors import SwzError
from swzverify.hardware import TARGETS, Evidence
from swzverify.hardware.register_banks import REGISTER_BANKS, REGISTERS, register_banks

FOUR = (50, 52, 53, 60, 61, 62)
TWO = {70: True, 72: False, 75: True, 80: True, 86: True, 87: False, 88: False, 89: False, 90: False}
"""Of each later target whether a source names it."""


def test_the_table_is_that_of_the_sources() -> None:
    rows = {capability: row for row in REGISTER_BANKS for capability in row.capabilities}
    assert set(rows) == {*FOUR, *TWO}
    assert sum(len(row.capabilities) for row in REGISTER_BANKS) == len(rows)
    for capability in FOUR:
        row = rows[capability]
        assert (row.banks, row.reads_per_bank, row.others_keep_reuse) == (4, 1, True)
        assert row.evidence is Evidence.DOCUMENTED
    for capability, is_named in TWO.items():
        row = rows[capability]
        assert (row.banks, row.reads_per_bank, row.others_keep_reuse) == (2, 2, False)
        assert row.evidence is (Evidence.DOCUMENTED if is_named else Evidence.ASSUMED)
    assert all(row.source for row in REGISTER_BANKS)


@pytest.mark.parametrize("target", ["sm_52", "sm_61"])
def test_on_maxwell_each_register_beyond_the_first_of_a_bank_takes_a_cycle(target: str) -> None:
    banks = register_banks(target)
    for some in combinations(range(12), 3):
        assert banks.extra_cycles(some) == 3 - len({register % 4 for register in some})


@pytest.mark.parametrize("target", ["sm_70", "sm_90a"])
def test_from_volta_on_three_of_one_bank_take_a_cycle(target: str) -> None:
    banks = register_banks(target)
    for some in combinations(range(8), 3):
        assert banks.extra_cycles(some) == (len({register % 2 for register in some}) == 1)
    assert all(banks.extra_cycles(some) == 0 for some in combinations(range(8), 2))


def test_a_register_is_read_once() -> None:
    assert register_banks("sm_52").extra_cycles([4, 4, 8]) == 1
    assert register_banks("sm_80").extra_cycles([2, 2, 4]) == 0
    assert REGISTERS == 255


@pytest.mark.parametrize("target", ["sm_100", "sm_121a", "sm_35", "volta", "", "sm_9"])
def test_of_other_targets_nothing_is_known(target: str) -> None:
    with pytest.raises(SwzError) as caught:
        register_banks(target)
    assert caught.value.code == "SWZ408"


def test_every_target_of_specs_up_to_hopper_has_banks() -> None:
    for name, target in TARGETS.items():
        if target.capability <= 90:
            assert register_banks(name).banks == 2
