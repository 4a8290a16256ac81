"""Wide variables of a cost in two parts: `x = low + 2^bits * high`.

A base address in steps that are smaller than a sector shifts all lanes by whole sectors in its high
part only. With the parts apart, the high one can be separated, and the low one has few values.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

from swzverify.engines.obligations import Cost, Finding, Point, WarpCost
from swzverify.hardware import turn_bytes
from swzverify.ir.expr import BinaryOperator, Expr, Var, binary, const, extend, substitute, var

_LOW, _HIGH = "/low", "/high"
"""Behind a variable's name; no variable of a spec has a slash in its own."""


@dataclass(frozen=True, slots=True)
class Parts:
    """A cost whose wide variables are cut into a low and a high part.

    `goal` is the cost over the parts, `names` are the variables that it no longer has, and `bits` is the
    width of a low part.
    """

    goal: Cost
    names: tuple[str, ...]
    bits: int

    def restored(self, found: Finding) -> Finding:
        """The same finding over the variables as they were."""
        point = None if found.point is None else self._whole(found.point)
        worst = found.worst
        if worst is not None:
            worst = replace(
                worst,
                most_wavefronts=self._cost(worst.most_wavefronts),
                most_conflicts=self._cost(worst.most_conflicts),
            )
        return replace(found, point=point, worst=worst)

    def _cost(self, cost: WarpCost) -> WarpCost:
        return replace(cost, point=self._whole(cost.point))

    def _whole(self, point: Mapping[str, int]) -> Point:
        parts = {name + end for name in self.names for end in (_LOW, _HIGH)}
        whole = {name: point[name + _LOW] + (point[name + _HIGH] << self.bits) for name in self.names}
        return {name: value for name, value in point.items() if name not in parts} | whole


def parts_of(goal: Cost, wide: int, whole: Collection[Var] = ()) -> Parts | None:
    """Cut every variable of more than `wide` values into a low and a high part.

    The low part has so many values that a step of the high part is an aligned step after which the cost
    repeats. Variables of `whole` stay as they are. None if there is no other such variable, or if a
    lane's width is already as large as the step.
    """
    row = goal.instruction
    count = turn_bytes(row) // row.width_bytes
    if count < 2:
        return None
    bits = count.bit_length() - 1
    nodes = [node for node in goal.free if node.limit > wide and node.limit % count == 0 and node not in whole]
    if not nodes:
        return None
    new: dict[Var, Expr] = {}
    halves: dict[Var, tuple[Var, Var]] = {}
    for node in nodes:
        low, high = var(node.name + _LOW, count), var(node.name + _HIGH, node.limit // count)
        halves[node] = (low, high)
        wider = [extend(part, node.width, signed=False) for part in (low, high)]
        shifted = binary(BinaryOperator.SHL, wider[1], const(bits, node.width))
        new[node] = binary(BinaryOperator.OR, wider[0], shifted)
    variables = tuple(part for node in goal.domain.variables for part in halves.get(node, (node,)))
    domain = replace(goal.domain, variables=variables, assumption=substitute(goal.domain.assumption, new), enough=())
    split = replace(goal, domain=domain, address=substitute(goal.address, new), active=substitute(goal.active, new))
    return Parts(split, tuple(node.name for node in nodes), bits)
