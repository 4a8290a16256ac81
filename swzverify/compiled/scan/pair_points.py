"""Two lanes with a bank conflict, looked for at points before Z3 is asked: one that is found needs no Z3."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from swzverify.compiled.kernel.arithmetic import widened
from swzverify.compiled.scan.race_points import Points
from swzverify.engines.obligations import Cost, GatherCost, of_lane
from swzverify.hardware import BANK_PERIOD_BYTES, LANES
from swzverify.ir.expr import Comparison, Expr, Var, compare, conjunction, extract, negation, substitute, var

_PAIR: Final = (0, 1)
_WIDTH: Final = BANK_PERIOD_BYTES.bit_length()
"""Addresses have more bits than those that choose a slot."""


def conflicting_pair(goal: Cost | GatherCost, points: Points) -> dict[str, int] | None:
    """A point at which two lanes of a group conflict; None if the points that are tried have none.

    A conflict in a group stays one if the hardware joins it with another. The rule of octets has no such pairs.
    Costs without values of the lanes' own are left to Z3: its points show conflicts of whole warps more often.
    """
    if not isinstance(goal, GatherCost):
        return None
    cost, own = goal.cost, goal.own
    if cost.instruction.by_octets or cost.instruction.is_global or cost.at_most is not None:
        return None
    found = points.near(_conflict(cost, own))
    if found is None:
        return None
    point = {node.name: found.get(node.name, 0) for node in cost.free}
    for each in _PAIR:
        lane = found[_copy(cost.lane, each).name]
        point |= {of_lane(node.name, lane): found.get(_copy(node, each).name, 0) for node in own}
    return point


def learn_pair(goal: Cost | GatherCost, point: Mapping[str, int], points: Points) -> None:
    """Try the first two lanes of a conflict that Z3 found for other costs, too.

    Accesses of an unrolled loop often conflict at the same values. Pairs that points show are found again
    without this, and would take the place of these values.
    """
    if not isinstance(goal, GatherCost):
        return
    cost, own = goal.cost, goal.own
    lanes = [lane for lane in range(LANES) if of_lane(own[0].name, lane) in point][: len(_PAIR)]
    of_pair = {of_lane(cost.lane.name, each): lane for each, lane in enumerate(lanes)}
    for each, lane in enumerate(lanes):
        of_pair |= {of_lane(node.name, each): point.get(of_lane(node.name, lane), 0) for node in own}
    points.learn({**{node.name: point.get(node.name, 0) for node in cost.free}, **of_pair})


def _copy(variable: Var, each: int) -> Var:
    """The variable of one of the two lanes."""
    return var(of_lane(variable.name, each), variable.limit)


def _conflict(cost: Cost, own: tuple[Var, ...]) -> Expr:
    """Whether two active lanes of one group have one slot of banks, and different units of it."""
    row, copied = cost.instruction, (cost.lane, *own)
    lanes = [_copy(cost.lane, each) for each in _PAIR]
    conditions = [cost.domain.assumption, compare(Comparison.ULT, *lanes)]
    addresses: list[Expr] = []
    for each in _PAIR:
        new: dict[Var, Expr] = {node: _copy(node, each) for node in copied}
        address = substitute(cost.address, new)
        addresses.append(widened(address, max(_WIDTH, address.width)))
        conditions.append(substitute(cost.active, new))
    group, low, top = (size.bit_length() - 1 for size in (row.group_lanes, row.unit_bytes, BANK_PERIOD_BYTES))
    if group < cost.lane.width:
        conditions.append(_are_equal(extract(lane, group, lane.width - group) for lane in lanes))
    conditions.append(_are_equal(extract(address, low, top - low) for address in addresses))
    if not row.counts_equal_words:
        conditions.append(negation(_are_equal(extract(address, low, address.width - low) for address in addresses)))
    return conjunction(conditions)


def _are_equal(both: Iterable[Expr]) -> Expr:
    first, other = both
    return compare(Comparison.EQ, first, other)
