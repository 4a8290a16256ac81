"""The witness of bounds: the least and largest value of every line decide the condition."""

from __future__ import annotations

from swzrecheck.bounds import bounds
from swzrecheck.statement import Always, Statement
from swzrecheck.witness import Data, WitnessError, require


def find_bounds(statement: Statement) -> dict[str, object] | None:
    """The witness of a condition that is 1 within its bounds; else None."""
    return {"holds": "1"} if isinstance(statement, Always) and _decided(statement) else None


def check_bounds(statement: Statement, data: Data) -> None:
    """Refuse, by WitnessError, a witness that does not show the statement."""
    if not isinstance(statement, Always):
        raise WitnessError("bounds say nothing about such a statement")
    require(dict(data) == {"holds": "1"}, "the witness says nothing")
    require(_decided(statement), "the condition is not 1 within its bounds")


def _decided(statement: Always) -> bool:
    return bounds(statement.program)[statement.holds] == (1, 1)
