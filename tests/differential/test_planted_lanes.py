"""Misreadings of values that lanes have of their own: random specs of them must show each one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from swzverify.claims import cost_claim, covers, equivalent
from swzverify.engines import crowd, gather
from swzverify.engines.obligations import Cost, GatherCost
from swzverify.engines.smt import gather as smt_gather
from swzverify.subjects import Access, Unknown, access_names, plain_access
from tests.differential.comparison import first_disagreement

Patch = pytest.MonkeyPatch
SEEDS = range(250)


def one_value_for_the_whole_warp(patch: Patch) -> None:
    """The value belongs to the warp: it is one more variable that all lanes share."""
    original = cost_claim.cost_goal

    def shared(access: Access, at_most: int | None) -> Cost | GatherCost:
        found = original(access, at_most)
        if not isinstance(found, GatherCost):
            return found
        domain = found.cost.domain
        wider = type(domain)((*domain.variables, *found.own), domain.assumption, domain.enough)
        cost = found.cost
        parts = (cost.lane, cost.address, cost.active, cost.instruction, cost.at_most, cost.definition)
        return Cost(wider, *parts)

    patch.setattr(cost_claim, "cost_goal", shared)


def z3_has_one_copy_for_all_lanes(patch: Patch) -> None:
    """A wrong encoding alone: the engines contradict each other."""
    original = smt_gather._Copies.lane
    patch.setattr(smt_gather._Copies, "lane", lambda self, lane, _: original(self, lane, "same"))
    patch.setattr(gather, "_price", _first_values_only(gather._price))


def _first_values_only(price: Callable[..., Any]) -> Callable[..., Any]:
    """Every lane chooses what all lanes could choose together, the first value."""

    def priced(row: object, warp: gather._Warp) -> object:
        first = tuple({next(iter(places)): next(iter(places.values()))} for places in warp.places)
        return price(row, gather._Warp(warp.row, first))

    return priced


def lanes_choose_the_first_value_only(patch: Patch) -> None:
    patch.setattr(gather, "_price", _first_values_only(gather._price))


def the_last_value_is_forgotten(patch: Patch) -> None:
    original = Unknown.count.fget
    assert original is not None
    patch.setattr(Unknown, "count", property(lambda self: max(1, original(self) - 1)))


def the_start_is_forgotten(patch: Patch) -> None:
    original = access_names.unknowns

    def from_zero(access: Access) -> dict[str, Any]:
        zeroed = [Unknown(each.name, 0, each.stop - each.start, each.step) for each in access.unknowns]
        return original(_With(zeroed))  # pyright: ignore[reportArgumentType]  # all that it reads

    patch.setattr(access_names, "unknowns", from_zero)


class _With:
    def __init__(self, unknowns: list[Unknown]) -> None:
        self.unknowns = unknowns


def the_replay_has_other_values(patch: Patch) -> None:
    patch.setattr(plain_access, "own_values", lambda unknowns, *_: {each.name: each.value(0) for each in unknowns})


def a_group_is_a_warp(patch: Patch) -> None:
    """The slots of all groups together: lanes of two groups collide."""
    original = crowd._fullest
    patch.setattr(crowd, "_fullest", lambda row, lanes, size: dict(list(original(row, lanes, size).items())[:1]))


def no_lane_is_idle_when_groups_join(patch: Patch) -> None:
    def both(first: crowd.Options, other: crowd.Options) -> dict[Any, Any]:
        return {address: (address, address) for address in first if address in set(other)}

    patch.setattr(crowd, "_agreements", both)


def covers_takes_one_value_for_all(patch: Patch) -> None:
    """A cover is counted although what is touched depends on data."""
    patch.setattr(covers.Covers, "__post_init__", lambda self: self.check_subjects())


def ranges_of_two_accesses_may_differ(patch: Patch) -> None:
    original = equivalent.Equivalent._mismatch

    def kinder(self: equivalent.Equivalent) -> str:
        found = original(self)
        return "" if "unknowns" in found else found

    patch.setattr(equivalent.Equivalent, "_mismatch", kinder)


PLANTS: list[Callable[[Patch], None]] = [
    one_value_for_the_whole_warp,
    z3_has_one_copy_for_all_lanes,
    lanes_choose_the_first_value_only,
    the_last_value_is_forgotten,
    the_start_is_forgotten,
    the_replay_has_other_values,
    a_group_is_a_warp,
    no_lane_is_idle_when_groups_join,
    covers_takes_one_value_for_all,
    ranges_of_two_accesses_may_differ,
]


FOUND_AT: dict[Callable[[Patch], None], int] = {
    a_group_is_a_warp: 28,
    covers_takes_one_value_for_all: 35,
    no_lane_is_idle_when_groups_join: 39,
    the_start_is_forgotten: 218,
    ranges_of_two_accesses_may_differ: 71,
}
"""The seeds that find what few specs find; they are tried first."""


@pytest.mark.parametrize("plant", PLANTS, ids=[plant.__name__ for plant in PLANTS])
def test_a_planted_misreading_of_lanes_is_found(monkeypatch: Patch, plant: Callable[[Patch], None]) -> None:
    plant(monkeypatch)
    assert first_disagreement([FOUND_AT.get(plant, SEEDS[0]), *SEEDS], "lanes") is not None
