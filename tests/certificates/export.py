"""From the prover's obligations to the statements of certificates: a copy of the expressions, no
encoding.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import assert_never

from swzrecheck import statement as st
from swzrecheck.program import Builder, Operation
from swzverify.engines import obligations as ob
from swzverify.errors import SwzError
from swzverify.ir.expr import Binary, Compare, Const, Count, Expr, Extend, Extract, Ite, Var, postorder


def state(goal: ob.Obligation) -> st.Statement:
    """The statement of an obligation.

    Errors: SWZ607 for variables whose names it cannot hold; those of specs it can.
    """
    statement = _state(goal)
    try:
        st.check_names(statement.program)
    except ValueError as error:
        raise SwzError("SWZ607", f"no certificate can state this: {error}") from None
    return statement


def _state(goal: ob.Obligation) -> st.Statement:
    match goal:
        case ob.Always(domain, holds):
            out, (assumption, kept), places = _written(domain.variables, (domain.assumption, holds))
            return st.Always(out, _at(places, domain.variables), assumption, kept)
        case ob.Injective():
            return _injective(goal)
        case ob.Apart(shared=shared, first=first, second=second, condition=condition):
            variables = (*shared, *first.variables, *second.variables)
            out, roots, places = _written(variables, (first.position, second.position, condition))
            return st.Apart(
                program=out,
                shared=_at(places, shared),
                first=_at(places, first.variables),
                first_position=roots[0],
                first_extent=first.extent,
                second=_at(places, second.variables),
                second_position=roots[1],
                second_extent=second.extent,
                condition=roots[2],
            )
        case ob.Cost(domain, lane, address, active, instruction, at_most):
            out, roots, places = _written(domain.variables, (domain.assumption, address, active))
            return st.Cost(
                program=out,
                lane=places[lane],
                free=_at(places, goal.free),
                assumption=roots[0],
                address=roots[1],
                active=roots[2],
                instruction=instruction.name,
                at_most=() if at_most is None else (at_most,),
            )
        case ob.GatherCost(cost, own):
            nodes = (*cost.domain.variables, *own)
            out, roots, places = _written(nodes, (cost.domain.assumption, cost.address, cost.active))
            return st.GatherCost(
                program=out,
                lane=places[cost.lane],
                free=_at(places, cost.free),
                own=_at(places, own),
                assumption=roots[0],
                address=roots[1],
                active=roots[2],
                instruction=cost.instruction.name,
                at_most=() if cost.at_most is None else (cost.at_most,),
            )
        case ob.Covers():
            return _covers(goal)
        case _:
            assert_never(goal)


def state_condition(condition: Expr, variables: Sequence[Var]) -> st.Always:
    """A one-bit expression as the assumption of a statement that claims nothing: for what must be
    possible.
    """
    out, roots, places = _written(variables, (condition,))
    return st.Always(out, _at(places, variables), roots[0], roots[0])


def _injective(goal: ob.Injective) -> st.Injective:
    domain, outer = goal.domain, goal.outer
    out = Builder()
    places = _write(out, domain.variables, (domain.assumption, goal.inner), {})
    image: tuple[int, ...] = ()
    if outer is not None:
        # The map's own variable may have the name of one of the domain: it gets one that no front
        # end gives.
        x = out.var(st.INNER_VALUE, outer.x.limit, outer.x.width)
        image = (x, _write(out, (), (outer.image,), {outer.x: x})[outer.image])
    return st.Injective(
        program=tuple(out.lines),
        shared=_at(places, goal.shared),
        distinct=_at(places, goal.distinct),
        assumption=places[domain.assumption],
        inner=places[goal.inner],
        extent=goal.extent,
        outer=image,
    )


def _covers(goal: ob.Covers) -> st.Covers:
    variables = (*goal.shared, *goal.points.variables, *goal.elements)
    out, roots, places = _written(variables, (goal.points.assumption, goal.address, goal.active, goal.position))
    return st.Covers(
        program=out,
        shared=_at(places, goal.shared),
        points=_at(places, goal.points.variables),
        assumption=roots[0],
        address=roots[1],
        active=roots[2],
        reach=goal.reach,
        elements=_at(places, goal.elements),
        position=roots[3],
        extent=goal.extent,
        times=goal.times,
    )


def _at(places: dict[Expr, int], variables: Sequence[Var]) -> tuple[int, ...]:
    return tuple(places[node] for node in variables)


def _written(
    variables: Sequence[Var], roots: Sequence[Expr]
) -> tuple[tuple[Operation, ...], tuple[int, ...], dict[Expr, int]]:
    """The lines of some expressions, the variables first, whether an expression reads them or not."""
    out = Builder()
    places = _write(out, variables, roots, {})
    return tuple(out.lines), tuple(places[root] for root in roots), places


def _write(out: Builder, variables: Sequence[Var], roots: Sequence[Expr], given: dict[Expr, int]) -> dict[Expr, int]:
    """The place of every sub-expression, where some have one already."""
    places = dict(given)
    for node in (*variables, *postorder(*roots)):
        if node not in places:
            places[node] = out.place(_operation(node, places))
    return places


def _operation(node: Expr, places: dict[Expr, int]) -> Operation:
    match node:
        case Const(value, width):
            return Operation("const", width, number=value)
        case Var(name, limit, width):
            return Operation("var", width, number=limit, name=name)
        case Binary(operator, left, right, width):
            return Operation(operator.value, width, (places[left], places[right]))
        case Compare(comparison, left, right):
            return Operation(comparison.value, 1, (places[left], places[right]))
        case Extract(operand, low, width):
            return Operation("extract", width, (places[operand],), low)
        case Extend(operand, width, signed):
            return Operation("sign_extend" if signed else "zero_extend", width, (places[operand],))
        case Ite(condition, then, otherwise, width):
            return Operation("ite", width, (places[condition], places[then], places[otherwise]))
        case Count():
            raise AssertionError("specs do not count bits")
        case _:
            assert_never(node)
