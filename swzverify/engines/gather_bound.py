"""A bound by residues for costs with values of the lanes' own: the lanes that can reach one slot.

Ranges of data are often too large to list. But the place of a lane in the 128-byte line repeats, so
one period of each variable tells which slots a lane can reach.
"""

from __future__ import annotations

from math import gcd, lcm, prod

import numpy as np

from swzverify.engines.enumeration import everywhere
from swzverify.engines.obligations import Answer, Finding, GatherCost, Truths
from swzverify.hardware import BANK_PERIOD_BYTES, LANES, Instruction
from swzverify.ir.evaluate import MAX_ARRAY_WIDTH
from swzverify.ir.expr import Var, postorder
from swzverify.ir.periods import repetition

MAX_POINTS = 1 << 21


def gather_bound(name: str, goal: GatherCost) -> Finding:
    """Holds where lanes that can meet in a slot are few enough, whatever units they choose there."""
    cost, row = goal.cost, goal.cost.instruction
    none = Finding(name, Answer.NOT_APPLICABLE)
    roots = (cost.address, cost.active, cost.domain.assumption)
    if (
        row.by_octets
        or (row.is_global and cost.at_most is None)
        or any(node.width >= MAX_ARRAY_WIDTH - 1 for node in postorder(*roots))
    ):
        return none
    nodes = [node for node in cost.free if node is not cost.lane]
    periods = [_period(goal, node) for node in (*nodes, *goal.own)]
    counts = {node.name: count for node, count in zip((*nodes, *goal.own), periods, strict=True)}
    if prod(counts.values()) * LANES > MAX_POINTS:
        return none
    free, own = ({node.name: counts[node.name] for node in of} for of in (nodes, goal.own))
    shape = (prod(free.values()), LANES, prod(own.values()))
    found = everywhere(roots, {**free, cost.lane.name: LANES, **own})
    address, active, assumed = (each.reshape(shape) for each in found)
    busy = (active == 1) & (assumed == 1)
    if not busy.any():
        return none
    reached = np.zeros((shape[0], LANES, row.slots), dtype=np.bool_)
    rows, lanes, _ = np.nonzero(busy)
    reached[rows, lanes, address[busy] // row.unit_bytes % row.slots] = True
    size = row.joined_group_lanes if row.joins and cost.at_most is None else row.group_lanes
    most = _most(row, reached, size)
    bound = int(np.maximum(most - 1, 0).sum(axis=1).max() if cost.at_most is None else most.sum(axis=1).max())
    return Finding(name, Answer.HOLDS) if bound <= (cost.at_most or 0) else none


def _most(row: Instruction, reached: Truths, size: int) -> np.typing.NDArray[np.int64]:
    """For each warp instruction and group, the most lanes that can reach one slot."""
    groups = [reached[:, start : start + size].sum(axis=1).max(axis=1) for start in range(0, row.address_lanes, size)]
    return np.stack(groups, axis=1)


def _period(goal: GatherCost, node: Var) -> int:
    """How many first values of a variable show every slot that any of its values can reach."""
    cost = goal.cost
    address, active, assumed = (
        repetition(root, node.name) for root in (cost.address, cost.active, cost.domain.assumption)
    )
    if address is None or active is None or assumed is None:
        return node.limit
    # Of 7 bits or more: what comes round modulo 2^width comes round modulo the line.
    if not address.exact and (1 << cost.address.width) % BANK_PERIOD_BYTES:
        return node.limit
    if not (active.constant and active.exact and assumed.constant and assumed.exact):
        return node.limit
    turn = BANK_PERIOD_BYTES // gcd(address.increment, BANK_PERIOD_BYTES) if address.increment else 1
    return min(node.limit, lcm(address.period * turn, active.period, assumed.period))
