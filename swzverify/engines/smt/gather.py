"""Costs with values of the lanes' own: each lane that is looked at has a copy of them.

So many lanes of a group with different units in one slot are looked for: the group takes that many
wavefronts for some choice exactly when they exist. Where several groups add up to more than is
allowed, or a rule needs all lanes at once, the rule itself is one formula over 32 copies.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress

import z3

from swzverify.engines.obligations import Answer, Finding, GatherCost, of_lane
from swzverify.engines.smt.query import NAME, QUICK_RLIMIT, OutOfBudgetError, Query, finding, value
from swzverify.engines.smt.terms import Bits, Model, Translator, Truth
from swzverify.engines.smt.warp_rule import pair_conflict, same_group, wavefronts
from swzverify.hardware import BANK_PERIOD_BYTES, LANES
from swzverify.ir.expr import Var, var

MAX_CROWD = 17
"""Lanes that are looked for at once with the whole budget; of more the formulas of the rule are the
smaller ones.
"""


def gather_cost(goal: GatherCost, rlimit: int) -> Finding:
    """No choice has a conflict, or takes more wavefronts than allowed."""
    row, limit = goal.cost.instruction, goal.cost.at_most
    if row.by_octets or (row.is_global and limit is None):
        return _by_counting(goal, rlimit)
    if limit is None:
        # Joined groups hold the single ones: without a conflict there, there is none at all. And a
        # conflict in a single group stays one when groups join.
        found = _pair(goal, row.joined_group_lanes if row.joins else row.group_lanes, rlimit)
        if found is not None and row.joins:
            found = _pair(goal, row.group_lanes, rlimit)
            if found is None:
                return _by_counting(goal, rlimit)
        return found or Finding(NAME, Answer.HOLDS)
    groups = row.address_lanes // row.group_lanes
    if groups == 1 and limit < MAX_CROWD:
        return _crowd(goal, 0, limit + 1, rlimit) or Finding(NAME, Answer.HOLDS)
    if groups == 1 and limit < row.group_lanes:
        # A large crowd that is there is found at once mostly; that there is none may take longest of all.
        with suppress(OutOfBudgetError):
            return _crowd(goal, 0, limit + 1, min(QUICK_RLIMIT, rlimit)) or Finding(NAME, Answer.HOLDS)
    if groups > 1 and _groups_keep(goal, limit, rlimit):
        return Finding(NAME, Answer.HOLDS)
    return _by_counting(goal, rlimit)


class _Copies:
    """A query about some lanes, each with its own copies of the unknowns."""

    def __init__(self, goal: GatherCost) -> None:
        self.goal = goal
        self.query = Query()
        self.query.require(self.terms.truth(goal.cost.domain.assumption))

    @property
    def terms(self) -> Translator:
        return self.query.terms

    def lane(self, lane: Bits, mark: str) -> tuple[Bits, Truth]:
        """(address, active) of a lane, whose unknowns are called by the mark."""
        cost = self.goal.cost
        given: Mapping[Var, Bits] = {
            cost.lane: lane,
            **{node: self.terms.variable(node, f"{node.name}[{mark}]") for node in self.goal.own},
        }
        address = self.terms.term(cost.address, given)
        return self.terms.widen(address, max(8, cost.address.width)), self.terms.truth(cost.active, given)

    def some_lane(self, mark: str) -> Bits:
        """A lane that is looked for."""
        return self.terms.variable(self.goal.cost.lane, f"lane.{mark}")

    def found(self, model: Model, marks: list[str]) -> Finding:
        """The point at which the lanes were found; other lanes have their first values."""
        point = {node.name: value(model, self.terms, node.name, node) for node in self.goal.cost.free}
        for mark in marks:
            lane = value(model, self.terms, f"lane.{mark}", self.goal.cost.lane)
            for node in self.goal.own:
                point[of_lane(node.name, lane)] = value(model, self.terms, f"{node.name}[{mark}]", node)
        return Finding(NAME, Answer.FAILS, point)


def _pair(goal: GatherCost, group_lanes: int, rlimit: int) -> Finding | None:
    """Two lanes of a group that are in each other's way, each at values of its own."""
    copies = _Copies(goal)
    lanes = [copies.some_lane(mark) for mark in "ab"]
    (first, first_on), (other, other_on) = (copies.lane(lane, mark) for lane, mark in zip(lanes, "ab", strict=True))
    copies.query.require(first_on, other_on, same_group(lanes[0], lanes[1], group_lanes))
    copies.query.require(pair_conflict(goal.cost.instruction, first, other))
    model = copies.query.solve(rlimit)
    return None if model is None else copies.found(model, ["a", "b"])


def _crowd(goal: GatherCost, group: int, size: int, rlimit: int) -> Finding | None:
    """Look for `size` lanes of one group that take a wavefront each: one slot, and different units.

    In global memory there is one slot, and the units are sectors. Units are in ascending order, so that
    each set of lanes is examined in one order only.
    """
    row = goal.cost.instruction
    if size > row.group_lanes:
        return None
    copies = _Copies(goal)
    marks = [str(index) for index in range(size)]
    lanes = [copies.some_lane(mark) for mark in marks]
    low, top = row.unit_bytes.bit_length() - 1, BANK_PERIOD_BYTES.bit_length() - 1
    bits = row.group_lanes.bit_length() - 1
    units: list[Bits] = []
    slots: list[Bits] = []
    for lane, mark in zip(lanes, marks, strict=True):
        address, active = copies.lane(lane, mark)
        copies.query.require(active)
        if bits < lane.size():
            copies.query.require(z3.Extract(lane.size() - 1, bits, lane) == group)
        units.append(z3.Extract(address.size() - 1, low, address))
        slots.append(z3.Extract(top - 1, low, address))
    for before, after in zip(range(size), range(1, size), strict=False):
        if not row.is_global:
            copies.query.require(slots[before] == slots[after])
        if row.counts_equal_words:
            copies.query.require(z3.ULT(lanes[before], lanes[after]))
        else:
            copies.query.require(z3.ULT(units[before], units[after]))
    if not row.counts_equal_words and size > 1:
        copies.query.require(z3.Distinct(lanes))
    model = copies.query.solve(rlimit)
    return None if model is None else copies.found(model, marks)


def _groups_keep(goal: GatherCost, limit: int, rlimit: int) -> bool:
    """Whether the sum of each group's maximum is at most the limit.

    Groups that join take no more than they do apart.
    """
    row = goal.cost.instruction
    left = limit
    for group in range(row.address_lanes // row.group_lanes):
        most = 0
        try:
            while most < row.group_lanes and _crowd(goal, group, most + 1, rlimit) is not None:
                most += 1
                if most > left:
                    return False
        except OutOfBudgetError:
            return False
        left -= most
    return True


def _by_counting(goal: GatherCost, rlimit: int) -> Finding:
    """The rule itself over all 32 lanes, each with its own copies."""
    cost = goal.cost
    copies = _Copies(goal)
    terms = copies.terms
    lanes = [copies.lane(terms.fixed(lane, cost.lane.width), str(lane)) for lane in range(LANES)]
    addresses, active = [address for address, _ in lanes], [on for _, on in lanes]
    most, minimum = wavefronts(cost.instruction, addresses, active)
    limit = minimum if cost.at_most is None else z3.BitVecVal(min(cost.at_most, 1023), most.size(), terms.context)
    copies.query.require(z3.Or(active), z3.UGT(most, limit))
    own = [var(of_lane(node.name, lane), node.limit) for lane in range(LANES) for node in goal.own]
    return finding(copies.query.solve(rlimit), (*cost.free, *own))
