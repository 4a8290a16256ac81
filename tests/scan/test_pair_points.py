"""A point at which two lanes conflict is one by the plain rule, and costs without conflicts have none."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from swzverify.claims.cost_claim import cost_goal
from swzverify.compiled.scan import pair_points
from swzverify.compiled.scan.pair_points import conflicting_pair, learn_pair
from swzverify.compiled.scan.race_points import Points
from swzverify.engines.obligations import Cost, GatherCost
from swzverify.hardware import access_cost
from swzverify.ir.expr import Expr, Var
from swzverify.subjects import Access, Unknown
from tests.engines.test_gather import CASES, access

NO_PAIR = {
    "two words of one bank",
    "a store of two groups",
    "a load whose groups join at every choice",
    "groups that collide where they join",
    "groups that collide where a lane lets them join",
    "a wide load",
    "copies of sixteen bytes",
    "lanes may agree on a word alone",
    "half words of one unit",
    "stores of one bank in two groups",
    "a load whose pairs are in two groups",
}
"""Costs that are free, the octet rule, and lanes that are in each other's way only where groups join."""
MORE = {
    "an atomic of one word": access("bin*4", instruction="atom.shared.add.u32", lanes="lane < 2"),
    "values that one lane alone may have": access("bin*128 + lane%4*4", lanes="lane == 4 || lane == 0 && bin == 2"),
    "lanes may agree on a word alone": access("lane/2*4 + bin*0"),
    "half words of one unit": access("bin*2", instruction="ld.shared.b16", lanes="lane < 2"),
    "half words of one bank": access("bin*64 + lane*2", instruction="ld.shared.b16", lanes="lane < 2"),
    "stores of one bank in two groups": access("lane/16*128 + bin*8", instruction="st.shared.b64", lanes="lane%16 < 1"),
    "a load whose pairs are in two groups": access("lane/16*128 + bin*0", instruction="ld.shared.b64"),
}


def found_of(of: Access) -> dict[str, int] | None:
    """The point for the cost without conflicts."""
    goal = cost_goal(of, None)
    assert isinstance(goal, Cost | GatherCost)
    point = conflicting_pair(goal, Points())
    return None if point is None else {**point}


def is_conflict(of: Access, point: dict[str, int]) -> bool:
    """Whether the warp instruction at a point has a conflict, by the plain rule."""
    rest = {f"{each.name}[{lane}]": 0 for each in of.unknowns for lane in range(32)}
    lanes = of.lanes_at({"warp": 0, **rest, **point})
    return access_cost(of.instruction, tuple(each.address_bytes for each in lanes)).bank_conflicts > 0


@pytest.mark.parametrize("name", [*CASES, *MORE])
def test_against_the_plain_rule(name: str) -> None:
    of = {**CASES, **MORE}[name]
    point = found_of(of)
    assert (point is None) == (name in NO_PAIR)
    assert point is None or is_conflict(of, point)


RARE = access("lane*4 + (bin == 123456789 ? 128*lane + 4 : 0)", Unknown("bin", 0, 1 << 30))
"""Lanes of one word each, but for one value of theirs: then a lane may have a word of its neighbour's bank."""


def test_a_pair_that_an_engine_found_is_tried_elsewhere() -> None:
    goal = cost_goal(RARE, None)
    assert isinstance(goal, GatherCost)
    points = Points()
    assert conflicting_pair(goal, points) is None
    learn_pair(goal, {"bin[3]": 123456789, "bin[4]": 0}, points)
    point = conflicting_pair(goal, points)
    assert point is not None
    assert is_conflict(RARE, point)


@pytest.mark.parametrize("name", [*CASES, *MORE])
def test_what_was_learned_makes_no_conflict(name: str) -> None:
    of = {**CASES, **MORE}[name]
    goal = cost_goal(of, None)
    assert isinstance(goal, Cost | GatherCost)
    points = Points()
    learn_pair(goal, {f"{each.name}[{lane}]": lane for each in of.unknowns for lane in range(32)}, points)
    point = conflicting_pair(goal, points)
    assert point is None or is_conflict(of, {**point})


PLANTED: dict[str, tuple[dict[str, Any], str]] = {
    "groups are left out": ({"group_lanes": 32}, "stores of one bank in two groups"),
    "equal words count": ({"counts_equal_words": True}, "lanes may agree on a word alone"),
}


@pytest.mark.parametrize("mistake", PLANTED)
def test_a_planted_mistake_shows(mistake: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A point of a rule that asks too little is no conflict."""
    changes, name = PLANTED[mistake]
    sound = pair_points._conflict

    def wrong(cost: Cost, own: tuple[Var, ...]) -> Expr:
        return sound(replace(cost, instruction=replace(cost.instruction, **changes)), own)

    monkeypatch.setattr(pair_points, "_conflict", wrong)
    point = found_of(MORE[name])
    assert point is not None
    assert not is_conflict(MORE[name], point)
