"""The witness of sorted strides, each beyond what the smaller ones reach, or of two borders."""

from __future__ import annotations

from swzrecheck.linear import Sum, sums
from swzrecheck.statement import Apart, Injective, Statement
from swzrecheck.witness import Data, WitnessError, only, require
from swzrecheck.witness_gf2 import OUTER, check_outer, find_outer


def find_radix(statement: Statement) -> dict[str, object] | None:
    """The witness of a statement that sorted strides or borders decide; else None."""
    try:
        match statement:
            case Injective():
                outer = find_outer(statement)
                return None if outer is None else {"digits": _digits(statement), **outer}
            case Apart():
                return _borders(statement)
            case _:
                return None
    except WitnessError:
        return None


def check_radix(statement: Statement, data: Data) -> None:
    """Refuse, by WitnessError, a witness that does not show the statement."""
    match statement:
        case Injective():
            only(data, "digits", *OUTER[: 2 * bool(statement.outer)])
            require(data.get("digits") == _digits(statement), "the strides are not those of the expression")
            check_outer(statement, data)
        case Apart():
            require(dict(data) == _borders(statement), "the borders are not those of the expression")
        case _:
            raise WitnessError("strides say nothing about such a statement")


def _sum(statement: Injective | Apart, root: int, variables: tuple[int, ...]) -> Sum:
    found = sums(statement.program, variables)[root]
    if found is None:
        raise WitnessError("the expression is no sum of strides")
    return found


def _digits(goal: Injective) -> list[list[object]]:
    """[name, stride, limit, reach of smaller ones], ascending; refused if a stride is too small."""
    program = goal.program
    factors = _sum(goal, goal.inner, goal.distinct).factors
    named = [(f, program[p].name, program[p].number) for f, p in zip(factors, goal.distinct, strict=True)]
    reach = goal.extent
    found: list[list[object]] = []
    for stride, name, limit in sorted(digit for digit in named if digit[2] > 1):
        require(stride >= reach, f"the stride {stride} of {name} is below {reach}")
        found.append([name, stride, limit, reach])
        reach += stride * (limit - 1)
    return found


def _borders(goal: Apart) -> dict[str, object]:
    """What shared variables add to both sides alike, and the units that each side spans besides."""
    first, second = (_sum(goal, root, goal.shared) for root in (goal.first_position, goal.second_position))
    require(first.factors == second.factors, "the sides move differently with what they share")
    spans = [
        [side.low, side.high + extent - 1]
        for side, extent in ((first, goal.first_extent), (second, goal.second_extent))
    ]
    require(spans[0][1] < spans[1][0] or spans[1][1] < spans[0][0], "the sides' spans meet")
    return {"strides": list(first.factors), "first": spans[0], "second": spans[1]}
