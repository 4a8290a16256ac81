"""The points that a claim covers: a box of named, bounded variables, and an assumption on them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

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

    def representatives(self) -> dict[str, int]:
        """For each variable, by its name, the number of its first values that stand for all."""
        return representatives(self.variables, self.enough)


def representatives(variables: Iterable[Var], enough: Iterable[tuple[str, int]]) -> dict[str, int]:
    """For each variable, by its name, the number of its first values that stand for all; by default its limit."""
    known = dict(enough)
    return {node.name: min(node.limit, known.get(node.name, node.limit)) for node in variables}
