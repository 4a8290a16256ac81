"""Two lanes with a bank conflict, looked for at points before Z3 is asked: one that is found needs no Z3."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from swzverify.compiled.kernel.arithmetic import widened
from swzverify.compiled.scan.race_points import Points
from swzverify.engines.obligations import Cost, GatherCost, of_lane
from swzverify.hardware import BANK_PERIOD_BYTES
from swzverify.ir.expr import Comparison, Expr, Var, compare, conjunction, extract, negation, substitute, var

_MARKS: Final = ("a", "b")
_WIDTH: Final = BANK_PERIOD_BYTES.bit_length()
"""Addresses have more bits than those that choose a slot."""


def conflicting_pair(goal: Cost | GatherCost, points: Points) -> Mapping[str, int] | None:
    """A point at which two lanes of a group conflict; None if the points that are tried have none.

    A conflict in a group stays one if the hardware joins it with another. The rule of octets has no such pairs.
    """
    cost, own = (goal.cost, goal.own) if isinstance(goal, GatherCost) else (goal, ())
    if cost.instruction.by_octets or cost.instruction.is_global or cost.at_most is not None:
        return None
    found = points.some(_conflict(cost, own))
    if found is None:
        return None
    lanes = {mark: found.get(_lane(cost, mark).name, 0) for mark in _MARKS}
    point = {node.name: found.get(node.name, 0) for node in cost.free}
    for mark, lane in lanes.items():
        point |= {of_lane(node.name, lane): found.get(of_lane(node.name, mark), 0) for node in own}
    return point


def _lane(cost: Cost, mark: str) -> Var:
    return var(of_lane(cost.lane.name, mark), cost.lane.limit)


def _conflict(cost: Cost, own: tuple[Var, ...]) -> Expr:
    """Whether two active lanes of one group have one slot of banks, and different units of it."""
    row = cost.instruction
    addresses: list[Expr] = []
    conditions = [cost.domain.assumption]
    for mark in _MARKS:
        new: dict[Var, Expr] = {node: var(of_lane(node.name, mark), node.limit) for node in own}
        new[cost.lane] = _lane(cost, mark)
        address = substitute(cost.address, new)
        addresses.append(widened(address, max(_WIDTH, address.width)))
        conditions.append(substitute(cost.active, new))
    first, other = (_lane(cost, mark) for mark in _MARKS)
    group, low, top = (size.bit_length() - 1 for size in (row.group_lanes, row.unit_bytes, BANK_PERIOD_BYTES))
    if group < first.width:
        conditions.append(compare(Comparison.EQ, *(extract(each, group, each.width - group) for each in (first, other))))
    conditions.append(compare(Comparison.EQ, *(extract(each, low, top - low) for each in addresses)))
    apart = (first, other) if row.counts_equal_words else (extract(each, low, each.width - low) for each in addresses)
    return conjunction((*conditions, negation(compare(Comparison.EQ, *apart))))
