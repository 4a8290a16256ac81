"""The points that a claim covers: a box of named, bounded variables, and an assumption on them."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from swzverify.ir.expr import TRUE, Expr, Var


@dataclass(frozen=True, slots=True)
class Domain:
    """Every point of the box for which `assumption`, a one-bit expression, holds.

    `enough` names variables of which the first values stand for all: with `enough["base"] = 8` the
    front end vouches that its definition at any base repeats one of the first 8. Only engines that
    read the definition use it.
    """

    variables: tuple[Var, ...]
    assumption: Expr = TRUE
    enough: tuple[tuple[str, int], ...] = ()

    def __post_init__(self) -> None:
        names = [node.name for node in self.variables]
        if len(set(names)) != len(names):
            raise ValueError(f"variables named twice: {names}")

    @property
    def points(self) -> int:
        """How many points the box has, the assumption aside."""
        return prod(node.limit for node in self.variables)

    def representatives(self) -> tuple[tuple[Var, int], ...]:
        """Each variable with the number of its first values that stand for all."""
        enough = dict(self.enough)
        return tuple((node, min(node.limit, enough.get(node.name, node.limit))) for node in self.variables)
