"""The rule that rechecks use against the hardware tables and the measured rule, and its symbolic
form against both.
"""

from __future__ import annotations

import random

import pytest

from swzrecheck.warp_rule import LANES, warp_cost, warp_rule
from swzverify.hardware import INSTRUCTIONS, access_cost


@pytest.mark.parametrize("name", list(INSTRUCTIONS))
def test_every_instruction_has_the_facts_of_the_table(name: str) -> None:
    row, rule = INSTRUCTIONS[name], warp_rule(name)
    assert rule.width_bytes == row.width_bytes
    assert rule.group_lanes == row.group_lanes
    assert rule.address_lanes == row.address_lanes
    assert rule.joins == row.joins
    assert rule.repeats == row.counts_equal_words
    assert rule.octets == row.by_octets
    if rule.joins:
        assert rule.joined_lanes == row.joined_group_lanes


@pytest.mark.parametrize("name", list(INSTRUCTIONS))
def test_random_warps_cost_what_the_measured_rule_says(name: str) -> None:
    row, rule = INSTRUCTIONS[name], warp_rule(name)
    for seed in range(60):
        rng = random.Random(seed)
        spread = rng.choice([4, 16, 64, 300])
        units = [rng.randrange(spread) for _ in range(LANES)]
        if rng.random() < 0.4:
            distance = rng.choice([1, 2])
            units = [units[lane & ~distance] for lane in range(LANES)]
        share = 1.0 if row.warp_wide else rng.choice([1.0, 1.0, 0.5, 0.1])
        addresses = [unit * row.width_bytes if rng.random() < share else None for unit in units]
        known = access_cost(row, addresses)
        assert warp_cost(rule, addresses) == (known.wavefronts, known.minimum), addresses


def test_misaligned_warps_are_refused() -> None:
    with pytest.raises(ValueError, match="lane 3's address 6 is no multiple of 4"):
        warp_cost(warp_rule("st.shared.b32"), [0, 4, None, 6, *[None] * 28])


@pytest.mark.parametrize(
    "name",
    ["", "ld.shared.v4.b64", "ldmatrix.x3", "ld.local.b32", "ld.global.v4.b64", "cp.async.32", "ld.shared.v8.b8"],
)
def test_unknown_instructions_are_refused(name: str) -> None:
    with pytest.raises(ValueError, match="no cost rule"):
        warp_rule(name)
