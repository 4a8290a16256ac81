"""Misreadings of accesses to global memory: random specs of them must show each one.

These are the ways in which a count of sectors can be wrong: a sector that counts for each of its
lanes, lanes that are not active, misaligned lanes, where the array begins, the size of a sector, a
bound that is off by one, shifts that change the count, and choices of the lanes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest

from swzverify import claims
from swzverify.claims import Claim, coalesced, cost_claim
from swzverify.engines import crowd, exhaust, gf2, prices, residue, worst
from swzverify.engines.obligations import Cost, GatherCost, WorstCost
from swzverify.engines.smt import cost as smt_cost
from swzverify.engines.smt import warp_rule
from swzverify.hardware import Instruction, sector_cost, sectors_many
from swzverify.subjects import Access
from swzverify.subjects.stated_access import StatedAccess
from tests.differential.comparison import first_disagreement

pytestmark = pytest.mark.usefixtures("nothing_remembered")

Patch = pytest.MonkeyPatch
SEEDS = range(250)


def every_lane_counts_its_sector(patch: Patch) -> None:
    """In every reading at once: two lanes in one sector are two sectors."""

    def scalar(row: Instruction, addresses: Sequence[int | None]) -> prices.Price:
        lanes = sum(address is not None for address in addresses)
        return prices.Price(lanes, sector_cost(row, addresses).minimum)

    def many(row: Instruction, addresses: Any, active: Any) -> Any:
        return prices.CostArrays(active.sum(axis=1), sectors_many(row, addresses, active)[1])

    _everywhere(patch, scalar, many)


def _everywhere(patch: Patch, scalar: Callable[..., Any], many: Callable[..., Any]) -> None:
    patch.setattr(smt_cost, "price", scalar)
    patch.setattr(worst, "price_many", many)
    patch.setattr(gf2, "_judge_ranks", lambda *_: gf2._OTHER)


def idle_lanes_count(patch: Patch) -> None:
    """A lane that is not active touches sector 0."""

    def many(row: Instruction, addresses: Any, active: Any) -> Any:
        found, least = sectors_many(row, addresses, active)
        low = ((addresses // 32 == 0) & active).any(axis=1)
        return prices.CostArrays(found + (~active.all(axis=1) & ~low), least)

    patch.setattr(worst, "price_many", many)


def sectors_of_64_bytes(patch: Patch) -> None:
    def scalar(row: Instruction, addresses: Sequence[int | None]) -> prices.Price:
        halved = [None if a is None else a // (2 * row.width_bytes) * row.width_bytes for a in addresses]
        return prices.Price(sector_cost(row, halved).sectors, sector_cost(row, addresses).minimum)

    def many(row: Instruction, addresses: Any, active: Any) -> Any:
        halved = addresses // (2 * row.width_bytes) * row.width_bytes
        return prices.CostArrays(sectors_many(row, halved, active)[0], sectors_many(row, addresses, active)[1])

    _everywhere(patch, scalar, many)


def arrays_begin_at_zero(patch: Patch) -> None:
    """Without `base:` the array begins at address 0, and not anywhere."""
    sound = StatedAccess._settle_memory

    def settle(self: StatedAccess) -> None:
        base = self.base
        sound(self)
        object.__setattr__(self, "base", base)

    patch.setattr(StatedAccess, "_settle_memory", settle)


def bounds_off_by_one(patch: Patch) -> None:
    """At most n sectors means fewer than n + 2, in every reading."""
    sound = cost_claim.cost_goal

    def wider(access: Access, at_most: int | None) -> Cost | GatherCost:
        return sound(access, None if at_most is None else at_most + 1)

    patch.setattr(cost_claim, "cost_goal", wider)


def the_least_is_rounded_down(patch: Patch) -> None:
    def scalar(row: Instruction, addresses: Sequence[int | None]) -> prices.Price:
        lanes = sum(address is not None for address in addresses)
        return prices.Price(sector_cost(row, addresses).sectors, max(1, lanes * row.width_bytes // 32))

    def many(row: Instruction, addresses: Any, active: Any) -> Any:
        least = (active.sum(axis=1) * row.width_bytes // 32).clip(1)
        return prices.CostArrays(sectors_many(row, addresses, active)[0], least)

    _everywhere(patch, scalar, many)


def fewer_than_the_least_is_too_many(patch: Patch) -> None:
    """Lanes that share sectors need fewer than the least: a difference is taken for a fault."""

    def failing(self: WorstCost, at_most: int | None) -> object:
        if at_most is None:
            return self.most_conflicts if self.most_conflicts.bank_conflicts else None
        return self.most_wavefronts if self.most_wavefronts.wavefronts > at_most else None

    patch.setattr(WorstCost, "failing", failing)


def shifts_by_a_word_change_nothing(patch: Patch) -> None:
    """As in shared memory: bases and loops that move all lanes inside a sector are left out."""
    for module in (cost_claim, residue, smt_cost):
        patch.setattr(module, "turn_bytes", lambda _: 4)


def z3_forgets_who_is_active(patch: Patch) -> None:
    """A wrong formula alone: a lane does not count when an idle one before it is in its sector."""
    sound = warp_rule._sectors

    def idle_ones_too(row: Instruction, addresses: Any, active: Any) -> Any:
        import z3

        everyone = [z3.BoolVal(True, addresses[0].ctx)] * len(active)
        return sound(row, addresses, everyone)[0], sound(row, addresses, active)[1]

    patch.setattr(warp_rule, "_sectors", idle_ones_too)
    patch.setattr(smt_cost, "_by_separation", lambda *_: None)


def ranks_of_words(patch: Patch) -> None:
    """Linear algebra counts the words that lanes touch."""
    sound = gf2._judge_ranks

    def of_words(goal: Cost, columns: Sequence[int]) -> object:
        return sound(goal, [column * 8 for column in columns])

    patch.setattr(gf2, "_judge_ranks", of_words)


def misaligned_lanes_pass(patch: Patch) -> None:
    """Nobody asks whether lanes are aligned; a lane across two sectors counts one."""
    patch.setattr(cost_claim, "aligned_goals", lambda *_: ())
    sound = exhaust.judge_rows

    def rounded(engine: str, cost: Cost, addresses: Any, *rest: Any) -> Any:
        width = cost.instruction.width_bytes
        return sound(engine, cost, addresses // width * width, *rest)

    for module in (exhaust, residue, gf2):
        patch.setattr(module, "judge_rows", rounded)
    patch.setattr(smt_cost, "price", lambda row, a: prices.price(row, [_down(row, each) for each in a]))


def _down(row: Instruction, address: int | None) -> int | None:
    return None if address is None else address // row.width_bytes * row.width_bytes


def idle_lanes_are_needed_in_a_choice(patch: Patch) -> None:
    """Of lanes that may be idle all take part: more bytes, so that more sectors are allowed."""
    sound = crowd._most_sectors

    def busy(row: Instruction, lanes: Sequence[crowd.Options]) -> crowd.Crowd:
        return sound(row, [[each for each in options if each is not None] or options for options in lanes])

    patch.setattr(crowd, "_most_sectors", busy)


def claims_of_the_other_memory_pass(patch: Patch) -> None:
    sound = Claim.check_subjects

    def kinder(self: Claim) -> None:
        patch.setattr(type(self), "space", None)
        sound(self)

    patch.setattr(Claim, "check_subjects", kinder)


def standard_says_conflict_free(patch: Patch) -> None:
    patch.setattr(claims, "Coalesced", claims.Aligned)


def the_replay_counts_lanes(patch: Patch) -> None:
    def wrong(access: Access, point: Any) -> Any:
        found = sound(access, point)
        return found and replace(found, lanes_of={lane: (lane,) for lane in range(32)})

    sound = coalesced._cost_at
    patch.setattr(coalesced, "_cost_at", wrong)


PLANTS: list[Callable[[Patch], None]] = [
    every_lane_counts_its_sector,
    idle_lanes_count,
    sectors_of_64_bytes,
    arrays_begin_at_zero,
    bounds_off_by_one,
    the_least_is_rounded_down,
    fewer_than_the_least_is_too_many,
    shifts_by_a_word_change_nothing,
    z3_forgets_who_is_active,
    ranks_of_words,
    misaligned_lanes_pass,
    idle_lanes_are_needed_in_a_choice,
    claims_of_the_other_memory_pass,
    standard_says_conflict_free,
    the_replay_counts_lanes,
]
FOUND_AT: dict[Callable[[Patch], None], int] = {
    idle_lanes_count: 115,
    bounds_off_by_one: 8,
    the_least_is_rounded_down: 75,
    fewer_than_the_least_is_too_many: 135,
    z3_forgets_who_is_active: 24,
    ranks_of_words: 163,
    misaligned_lanes_pass: 14,
    idle_lanes_are_needed_in_a_choice: 1040,
    claims_of_the_other_memory_pass: 90,
    standard_says_conflict_free: 235,
    the_replay_counts_lanes: 4,
}
"""The seeds that find what few specs find; they are tried first."""


@pytest.mark.parametrize("plant", PLANTS, ids=[plant.__name__ for plant in PLANTS])
def test_a_planted_misreading_of_global_memory_is_found(monkeypatch: Patch, plant: Callable[[Patch], None]) -> None:
    plant(monkeypatch)
    assert first_disagreement([FOUND_AT.get(plant, SEEDS[0]), *SEEDS], "global") is not None


def test_without_a_plant_nothing_is_found() -> None:
    seeds = sorted({0, *FOUND_AT.values()})
    assert first_disagreement(seeds, "global") is None
