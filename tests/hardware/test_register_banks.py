"""The banks of the register file: the table again, from its sources, and the rule on every set."""

from __future__ import annotations

from itertools import combinations

import pytest

from swzverify.errors import SwzError
from swzverify.hardware import TARGETS, Evidence
from swzverify.hardware.register_banks import REGISTER_BANKS, REGISTERS, register_banks

FOUR = (50, 52, 53, 60, 61, 62)
LATER = ("sm_72", "sm_75", "sm_80", "sm_86", "sm_87", "sm_88", "sm_89", "sm_90", "sm_90a", "sm_100", "sm_121a")


def test_the_table_is_that_of_the_sources() -> None:
    rows = {capability: row for row in REGISTER_BANKS for capability in row.capabilities}
    assert set(rows) == {*FOUR, 70}
    assert sum(len(row.capabilities) for row in REGISTER_BANKS) == len(rows)
    for capability in FOUR:
        row = rows[capability]
        assert (row.banks, row.reads_per_bank, row.others_keep_reuse) == (4, 1, True)
        assert row.evidence is Evidence.DOCUMENTED
    assert (rows[70].banks, rows[70].reads_per_bank, rows[70].others_keep_reuse) == (2, 2, False)
    assert rows[70].evidence is Evidence.DOCUMENTED
    assert all(row.source for row in REGISTER_BANKS)


@pytest.mark.parametrize("target", ["sm_52", "sm_61"])
def test_on_maxwell_each_register_beyond_the_first_of_a_bank_takes_a_cycle(target: str) -> None:
    banks = register_banks(target)
    for some in combinations(range(12), 3):
        assert banks.extra_cycles(some) == 3 - len({register % 4 for register in some})


def test_on_volta_three_of_one_bank_take_a_cycle() -> None:
    banks = register_banks("sm_70")
    for some in combinations(range(8), 3):
        assert banks.extra_cycles(some) == (len({register % 2 for register in some}) == 1)
    assert all(banks.extra_cycles(some) == 0 for some in combinations(range(8), 2))


def test_a_register_is_read_once() -> None:
    assert register_banks("sm_52").extra_cycles([4, 4, 8]) == 1
    assert register_banks("sm_70").extra_cycles([2, 2, 4]) == 0
    assert REGISTERS == 255


@pytest.mark.parametrize("target", [*LATER, "sm_35", "volta", "", "sm_9"])
def test_of_other_targets_nothing_is_known(target: str) -> None:
    with pytest.raises(SwzError) as caught:
        register_banks(target)
    assert caught.value.code == "SWZ408"
    says_why = "each bank reads one register per cycle, and neighbouring instructions share the demand"
    assert (says_why in caught.value.hint) is (target in LATER)


def test_of_the_targets_of_specs_volta_alone_has_a_rule() -> None:
    has_rule = {each for row in REGISTER_BANKS for each in row.capabilities}
    assert {target.capability for target in TARGETS.values()} & has_rule == {70}
