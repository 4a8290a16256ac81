"""Disjointness: a range of either side that meet; sums of strides over the integers."""

from __future__ import annotations

from collections import Counter

import z3

from swzverify.engines.obligations import Answer, Apart, Finding
from swzverify.engines.smt.linear import LinearSum, addends, linear_sum, total
from swzverify.engines.smt.query import NAME, Query, finding, overlap
from swzverify.engines.smt.terms import Number
from swzverify.ir.expr import TRUE, Expr, Var


def apart(goal: Apart, rlimit: int) -> Finding:
    """No range of either side meets one of the other."""
    sums = (linear_sum(goal.first.position), linear_sum(goal.second.position))
    is_plain = goal.first.active is TRUE and goal.second.active is TRUE and (goal.condition is TRUE or bool(goal.tags))
    if sums[0] is not None and sums[1] is not None and is_plain:
        return _apart_linear(goal, (sums[0], sums[1]), rlimit)
    query = Query()
    terms = query.terms
    a, b = map(terms.term, _without_common(goal.first.position, goal.second.position))
    query.require(*(terms.truth(each) for each in (goal.condition, goal.first.active, goal.second.active)))
    query.require(*overlap(terms, a, goal.first.extent, b, goal.second.extent))
    return finding(query.solve(rlimit), _apart_variables(goal))


def _without_common(first: Expr, second: Expr) -> tuple[Expr, Expr]:
    """Two positions, each without the addends that both have: the distance between them is the same.

    Two accesses of one tile have its start address in common, which would cost Z3 two adders.
    """
    ours, others = Counter(addends(first)), Counter(addends(second))
    if not ours & others:
        return first, second
    return total((ours - others).elements()), total((others - ours).elements())


def _apart_linear(goal: Apart, sums: tuple[LinearSum, LinearSum], rlimit: int) -> Finding:
    query = Query("QF_LIA")
    context = query.terms.context
    numbers: dict[str, Number] = {}
    for node in _apart_variables(goal):
        numbers[node.name] = z3.Int(node.name, context)
        query.require(numbers[node.name] >= 0, numbers[node.name] < node.limit)

    def position(total: LinearSum) -> Number:
        zero = z3.IntVal(total.constant, context)
        return z3.Sum([zero, *(numbers[node.name] * factor for node, factor in total.factors.items())])

    a, b = position(sums[0]), position(sums[1])
    query.require(a < b + goal.second.extent, b < a + goal.first.extent)
    if goal.tags:
        query.require(z3.Or([numbers[mine] != numbers[other] for mine, other in goal.tags]))
    model = query.solve(rlimit)
    if model is None:
        return Finding(NAME, Answer.HOLDS)
    values = {name: model.eval(term, model_completion=True).as_long() for name, term in numbers.items()}
    return Finding(NAME, Answer.FAILS, values)


def _apart_variables(goal: Apart) -> tuple[Var, ...]:
    return (*goal.shared, *goal.first.variables, *goal.second.variables)
