"""Values of a parameter to try where conditions are assumed of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from swzverify.ir.evaluate import evaluate
from swzverify.ir.expr import Expr, Var, variables

_NEAR: Final = 1100
_KEPT: Final = 40


def candidates(variable: Var, conditions: Sequence[Expr], model: int | None) -> tuple[int, ...] | None:
    """Some values that fulfil the conditions which read this variable alone; `model` is one that
    fulfils all. None where nothing was found. They are only tried: others count as much.

    >>> from swzverify.ir.expr import Comparison, compare, const, var
    >>> n = var("n", 256)
    >>> candidates(n, [compare(Comparison.ULT, n, const(3, 8))], 1)
    (1, 0, 2)
    """
    own = [each for each in conditions if variables(each) == (variable,)]
    tried = [*range(_NEAR), *(((1 << bit) + step) for bit in range(11, 64) for step in (-1, 0, 1))]
    tried += [variable.limit - step for step in (1, 2, 4, 32, 64, 128)]
    found = [value for value in dict.fromkeys(tried) if 0 <= value < variable.limit and _holds(own, variable, value)]
    if len(found) > _KEPT:
        # The small ones are what launches have; the others are spread over the rest.
        small, rest = found[: _KEPT // 2], found[_KEPT // 2 :]
        found = small + rest[:: -(-len(rest) // (_KEPT // 2))]
    if model is not None:
        found = [model, *(value for value in found if value != model)]
    return tuple(found) or None


def _holds(conditions: Sequence[Expr], variable: Var, value: int) -> bool:
    return all(evaluate(each, {variable.name: value}) for each in conditions)
