"""The mixed-radix engine: maps that are sums of variable * stride over the integers.

Sorted by stride, each stride at least as large as all that the smaller ones can add up to, plus a
range's own length: then different digits give disjoint ranges, as in a positional number system. It
decides most layouts outright, at any size and for any shape.
"""

from __future__ import annotations

from swzverify.engines.gf2 import one_to_one
from swzverify.engines.native import Native, Rules
from swzverify.engines.obligations import (
    Answer,
    Apart,
    Finding,
    Injective,
    Side,
    second,
)
from swzverify.ir.expr import (
    TRUE,
    Binary,
    BinaryOperator,
    Const,
    Expr,
    Extend,
    Extract,
    Var,
    postorder,
    variables,
)
from swzverify.ir.intervals import intervals
from swzverify.ir.periods import repetition

NAME = "radix"
_OTHER = Finding(NAME, Answer.NOT_APPLICABLE)


def strides(inner: Expr, nodes: tuple[Var, ...]) -> list[int] | None:
    """What each variable adds to `inner` for each step of it; None where that is not one number."""
    linear = _plain_sum(inner)
    if linear is not None:
        return [linear.get(node.name, 0) for node in nodes]
    found: list[int] = []
    for node in nodes:
        steps = repetition(inner, node.name)
        if steps is None or steps.period != 1 or not steps.exact:
            return None
        found.append(steps.increment)
    return found


def _plain_sum(root: Expr) -> dict[str, int] | None:
    """Each variable's factor, if `root` is easily seen to be a linear sum that never wraps; else None.

    All variables are found in one pass. `repetition` handles the other expressions. Factors are at least
    0, so a node is largest where every variable is, and does not wrap if that value fits its width.
    """
    found: dict[Expr, tuple[dict[str, int], int]] = {}
    for node in postorder(root):
        match node:
            case Const(value):
                found[node] = ({}, value)
            case Var(name, limit):
                found[node] = ({name: 1}, limit - 1)
            case Binary(BinaryOperator.ADD, left, right):
                (a, a_high), (b, b_high) = found[left], found[right]
                found[node] = ({name: a.get(name, 0) + b.get(name, 0) for name in a | b}, a_high + b_high)
            case Binary(BinaryOperator.SHL, left, Const(value)) if value < node.width:
                a, high = found[left]
                found[node] = ({name: factor << value for name, factor in a.items()}, high << value)
            case Binary(BinaryOperator.MUL, left, Const(value)) | Binary(BinaryOperator.MUL, Const(value), left):
                a, high = found[left]
                found[node] = ({name: factor * value for name, factor in a.items()}, high * value)
            case Extract(operand, 0, _) | Extend(operand, _, False):
                found[node] = found[operand]
            case _:
                return None
        if found[node][1] >> node.width:
            return None
    return found[root][0]


def _injective(goal: Injective) -> Finding:
    nodes = goal.distinct
    steps = strides(goal.inner, nodes)
    if steps is None or (goal.outer is not None and not one_to_one(goal.outer.image, goal.outer.x)):
        return _OTHER
    reach = goal.extent
    for step, node in sorted(zip((abs(s) for s in steps), nodes, strict=True), key=lambda pair: pair[0]):
        if node.limit == 1:
            continue
        if step < reach:
            return _collision(goal, nodes, steps)
        reach += step * (node.limit - 1)
    return Finding(NAME, Answer.HOLDS)


def _collision(goal: Injective, nodes: tuple[Var, ...], steps: list[int]) -> Finding:
    """One or two digits that make two points meet; the smallest such pair, or no answer."""
    if goal.domain.assumption is not TRUE:
        return _OTHER
    base = {node.name: 0 for node in goal.domain.variables}
    for i, a in enumerate(nodes):
        if a.limit > 1 and abs(steps[i]) < goal.extent:
            return Finding(NAME, Answer.FAILS, {**base, **{second(n.name): int(n is a) for n in nodes}})
        for j, b in enumerate(nodes[:i]):
            if steps[i] <= 0 or steps[j] <= 0:
                continue
            # i's digit times its stride equals j's digit times its stride.
            for digit in range(1, min(a.limit, 4096)):
                other = digit * steps[i] // steps[j]
                if 0 < other < b.limit and digit * steps[i] - other * steps[j] < goal.extent:
                    point = {**base, a.name: digit, **{second(n.name): other if n is b else 0 for n in nodes}}
                    return Finding(NAME, Answer.FAILS, point)
    return _OTHER


def _apart(goal: Apart) -> Finding:
    """Both positions grow alike with what is shared; the rest lies on either side of a border."""
    if goal.condition is not TRUE:
        return _OTHER
    shared_steps = [strides(side.position, goal.shared) for side in (goal.first, goal.second)]
    if shared_steps[0] is None or shared_steps[0] != shared_steps[1]:
        return _OTHER
    bounds = [_own_range(side, goal.shared) for side in (goal.first, goal.second)]
    if bounds[0] is None or bounds[1] is None:
        return _OTHER
    (low_a, high_a), (low_b, high_b) = bounds[0], bounds[1]
    if high_a < low_b or high_b < low_a:
        return Finding(NAME, Answer.HOLDS)
    return _OTHER


def _own_range(side: Side, shared: tuple[Var, ...]) -> tuple[int, int] | None:
    """The first and last unit that a side can touch where the shared variables are 0."""
    if any(node.limit > 1 for node in variables(side.position) if node not in side.variables and node not in shared):
        return None
    steps = strides(side.position, shared)
    if steps is None:
        return None
    low, high = intervals(side.position)[side.position]
    grown = sum(step * (node.limit - 1) for step, node in zip(steps, shared, strict=True))
    if any(step < 0 for step in steps):
        return None
    return low, high - grown + side.extent - 1


class Radix(Native):
    """Decides injectivity of strided sums, and ranges that lie on different sides of a border."""

    name = NAME
    rules = Rules(injective=_injective, apart=_apart)
