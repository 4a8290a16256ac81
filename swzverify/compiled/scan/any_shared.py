"""What all lanes of a warp share, as a variable that may have any value.

Where a parameter is a factor, or a comparison reads all of its bits, engines that enumerate find too many
values. But lanes' banks depend on few bits of such a part, and the part is the same in all lanes. A cost
that holds for all values of these bits holds for those that occur; one that fails says nothing.
"""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace

import numpy as np

from swzverify.compiled.kernel.arithmetic import widened
from swzverify.compiled.scan.cost_goal import bits_read
from swzverify.engines.obligations import Arrays, Cost, GatherCost, Numbers, Truths
from swzverify.ir.domain import Domain
from swzverify.ir.evaluate import evaluate_many
from swzverify.ir.expr import TRUE, Expr, Var, operands, postorder, rebuilt, var, variables
from swzverify.ir.gf2 import VariableBits, affine_bits


def any_shared(goal: Cost | GatherCost) -> Cost | GatherCost | None:
    """The goal with a small variable for each part that lanes share; None if no part has fewer values so.

    Conditions that no lane reads are left out: without them the goal says more.
    """
    cost, own = (goal.cost, goal.own) if isinstance(goal, GatherCost) else (goal, ())
    roots = (cost.address, cost.active)
    bits, shared = bits_read(roots), _shared_parts(roots, {cost.lane, *own})
    chosen: dict[Expr, int] = {}
    new: dict[Expr, Expr] = {}
    made: list[Var] = []
    for node in postorder(*roots):
        chosen[node] = sum(chosen[part] for part in dict.fromkeys(operands(node)))
        new[node] = rebuilt(node, new)
        if isinstance(node, Var):
            chosen[node] = (node.limit - 1).bit_length()
        elif node in shared and bits[node] < chosen[node]:
            made.append(var(f"shared {len(made)}", 1 << bits[node]))
            new[node], chosen[node] = widened(made[-1], node.width), bits[node]
    if not made:
        return None
    address, active = (new[root] for root in roots)
    read = variables(address, active)
    domain = Domain((cost.lane, *(each for each in read if each is not cost.lane and each not in own)), TRUE)
    found = replace(cost, domain=domain, address=address, active=active, definition=_Plain(address, active))
    return GatherCost(found, own) if own else found


def _shared_parts(roots: tuple[Expr, ...], of_lanes: AbstractSet[Var]) -> set[Expr]:
    """The parts that have one value in all lanes: their bits do not depend on the lane, or on lanes' own values."""
    nodes, read = postorder(*roots), variables(*roots)
    numbering = VariableBits.of(read)
    lanes = sum(form for each in read if each in of_lanes for form in numbering.forms(each.name))
    found: set[Expr] = set()
    for node, forms in zip(nodes, affine_bits(nodes, numbering), strict=True):
        is_free = all(part in found for part in operands(node)) and node not in of_lanes
        if is_free or all(form is not None and not form & lanes for form in forms):
            found.add(node)
    return found


@dataclass(frozen=True, slots=True)
class _Plain:
    """The plain reading of a cost over such variables."""

    address: Expr
    active: Expr

    def __call__(self, arrays: Arrays) -> tuple[Truths, Numbers, Truths]:
        address, active = evaluate_many((self.address, self.active), arrays)
        return np.asarray(True), np.asarray(address), np.asarray(active != 0)
