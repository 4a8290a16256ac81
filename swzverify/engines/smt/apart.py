"""Disjointness: a range of either side that meet; sums of strides over the integers."""

from __future__ import annotations

import z3

from swzverify.engines.obligations import Answer, Apart, Finding
from swzverify.engines.smt.linear import LinearSum, linear_sum
from swzverify.engines.smt.query import NAME, Query, finding, overlap
from swzverify.engines.smt.terms import Number
from swzverify.ir.expr import TRUE, Var


def apart(goal: Apart, rlimit: int) -> Finding:
    """No range of either side meets one of the other."""
    sums = (linear_sum(goal.first.position), linear_sum(goal.second.position))
    is_guarded = goal.first.guard is not TRUE or goal.second.guard is not TRUE
    is_plain = not is_guarded and (goal.condition is TRUE or goal.tags is not None)
    if sums[0] is not None and sums[1] is not None and is_plain:
        return _apart_linear(goal, (sums[0], sums[1]), rlimit)
    query = Query()
    terms = query.terms
    a, b = terms.term(goal.first.position), terms.term(goal.second.position)
    query.require(*(terms.truth(each) for each in (goal.condition, goal.first.guard, goal.second.guard)))
    query.require(*overlap(terms, a, goal.first.extent, b, goal.second.extent))
    return finding(query.solve(rlimit), _apart_variables(goal))


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
    if goal.tags is not None:
        query.require(numbers[goal.tags[0]] != numbers[goal.tags[1]])
    model = query.solve(rlimit)
    if model is None:
        return Finding(NAME, Answer.HOLDS)
    values = {name: model.eval(term, model_completion=True).as_long() for name, term in numbers.items()}
    return Finding(NAME, Answer.FAILS, values)


def _apart_variables(goal: Apart) -> tuple[Var, ...]:
    return (*goal.shared, *goal.first.variables, *goal.second.variables)
