"""Evaluates a point at which a statement says something: what it presumes is true there."""

from __future__ import annotations

from collections.abc import Mapping

from swzrecheck.program import evaluate
from swzrecheck.statement import Always, Apart, Cost, Covers, GatherCost, Injective, Statement
from swzrecheck.witness import WitnessError


def conditions_of(statement: Statement) -> tuple[int, ...]:
    """The one-bit lines that must be 1 together at some point."""
    match statement:
        case Always() | Injective():
            return (statement.assumption,)
        case Apart():
            return (statement.condition,)
        case Cost() | GatherCost() | Covers():
            return (statement.assumption, statement.active)


def check_possible(statement: Statement, point: Mapping[str, int]) -> None:
    """Refuse, by WitnessError, a point outside the limits, or where the statement says nothing."""
    names = {line.name for line in statement.program if line.operator == "var"}
    if set(point) != names:
        raise WitnessError(f"the point must name {', '.join(sorted(names)) or 'nothing'}")
    try:
        values = evaluate(statement.program, point)
    except ValueError as error:
        raise WitnessError(f"the point is outside: {error}") from None
    if not all(values[place] for place in conditions_of(statement)):
        raise WitnessError("at the point that should keep it from being empty the assumption is false")
