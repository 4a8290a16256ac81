"""Injectivity: two points with overlapping ranges, or digit differences for sums of strides.

Digit differences are decided over the integers.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

import z3

from swzverify.engines.obligations import Answer, Bijection, Finding, Injective, Point, second
from swzverify.engines.smt.linear import LinearSum, linear_sum
from swzverify.engines.smt.query import NAME, Query, copied, finding, joined_bits, overlap
from swzverify.engines.smt.terms import Number
from swzverify.ir.expr import TRUE, Var


def injective(goal: Injective, rlimit: int) -> Finding:
    """No two points that differ have ranges that meet."""
    if goal.outer is not None and not _one_to_one(goal.outer, rlimit):
        return Finding(NAME, Answer.UNDECIDED, detail="the outer map is not one to one")
    sums = linear_sum(goal.inner)
    if sums is not None and goal.domain.assumption is TRUE:
        return _by_digits(goal, sums, rlimit)
    query = Query()
    terms = query.terms
    copies = copied(terms, goal.distinct, second(""))
    assumption = goal.domain.assumption
    query.require(terms.truth(assumption), terms.truth(assumption, copies))
    if not copies:
        return Finding(NAME, Answer.HOLDS)
    # Of two points that meet, which is which does not matter: the first is the one with less.
    query.require(z3.ULT(joined_bits([terms.variable(node) for node in copies]), joined_bits([*copies.values()])))
    a, b = terms.term(goal.inner), terms.term(goal.inner, copies)
    query.require(*overlap(terms, a, goal.extent, b, goal.extent))
    return finding(query.solve(rlimit), (*goal.domain.variables, *_seconds(goal.distinct)))


def _by_digits(goal: Injective, sums: LinearSum, rlimit: int) -> Finding:
    """Linear positions differ by the sum of digit difference * stride; shared variables cancel."""
    found = digit_differences(goal.distinct, sums, goal.extent, rlimit)
    if found is None:
        return Finding(NAME, Answer.HOLDS)
    point: Point = {node.name: 0 for node in goal.domain.variables}
    for node, value in found.items():
        point[node.name], point[second(node.name)] = max(value, 0), max(-value, 0)
    return Finding(NAME, Answer.FAILS, point)


def digit_differences(nodes: tuple[Var, ...], sums: LinearSum, extent: int, rlimit: int) -> dict[Var, int] | None:
    """Digit differences, not all 0, that move a linear position by less than `extent`; None if none."""
    if not nodes:
        return None
    found = _differences(tuple((node.limit, sums.factors.get(node, 0)) for node in nodes), extent, rlimit)
    return None if found is None else dict(zip(nodes, found, strict=True))


@lru_cache(maxsize=1024)
def _differences(digits: tuple[tuple[int, int], ...], extent: int, rlimit: int) -> tuple[int, ...] | None:
    """Digit differences as above, by limits and strides alone: tiles with equal layouts ask one question."""
    query = Query("QF_LIA")
    context = query.terms.context
    numbers: list[Number] = [z3.Int(f"digit {place}", context) for place in range(len(digits))]
    for number, (limit, _) in zip(numbers, digits, strict=True):
        query.require(number > -limit, number < limit)
    total: Number = z3.Sum([number * stride for number, (_, stride) in zip(numbers, digits, strict=True)])
    query.require(total > -extent, total < extent, z3.Or([number != 0 for number in numbers]))
    model = query.solve(rlimit)
    return None if model is None else tuple(model.eval(each, model_completion=True).as_long() for each in numbers)


@lru_cache(maxsize=1024)
def _one_to_one(outer: Bijection, rlimit: int) -> bool:
    """No two values of x have one image."""
    query = Query()
    x = query.terms.variable(outer.x)
    y = query.terms.variable(outer.x, second(outer.x.name))
    query.require(x != y, query.terms.term(outer.image) == query.terms.term(outer.image, {outer.x: y}))
    return query.solve(rlimit) is None


def _seconds(nodes: Iterable[Var]) -> tuple[Var, ...]:
    return tuple(Var(second(node.name), node.limit, node.width) for node in nodes)
