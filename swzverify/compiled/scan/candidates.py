"""Values of a parameter to try where conditions are assumed of it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import islice
from typing import Final

from swzverify.ir.evaluate import evaluate
from swzverify.ir.expr import Expr, Var, substitute, var, variables

_NEAR: Final = 1100
_KEPT: Final = 20
_NAME: Final = "parameter"


def candidates(variable: Var, conditions: Sequence[Expr], model: int | None) -> tuple[int, ...] | None:
    """Some values that satisfy the conditions which read this variable alone; None if none is found.

    `model` satisfies all conditions. The values are only tried: other values are equally possible.

    >>> from swzverify.ir.expr import Comparison, compare, const, var
    >>> n = var("n", 256)
    >>> candidates(n, [compare(Comparison.ULT, n, const(3, 8))], 1)
    (1, 0, 2)
    """
    # Kernels call one parameter by many names: what was found for one is found for all.
    plain = var(_NAME, variable.limit)
    own = [substitute(each, {variable: plain}) for each in conditions if variables(each) == (variable,)]
    found = _found(tuple(own), variable.limit)
    if model is not None:
        found = (model, *(value for value in found if value != model))
    return found or None


@lru_cache(maxsize=256)
def _found(conditions: tuple[Expr, ...], limit: int) -> tuple[int, ...]:
    """Small values, as launches have them, and some that are far away."""
    far = [(1 << bit) + step for bit in range(11, 64) for step in (-1, 0, 1)]
    far = [limit - step for step in (1, 2, 4, 32, 64, 128)] + far[::2] + far[1::2]
    kept = (*_kept(range(_NEAR), conditions, limit), *_kept(far, conditions, limit))
    return tuple(dict.fromkeys(kept))


def _kept(tried: Iterable[int], conditions: tuple[Expr, ...], limit: int) -> Iterable[int]:
    held = (
        value for value in tried if 0 <= value < limit and all(evaluate(each, {_NAME: value}) for each in conditions)
    )
    return islice(held, _KEPT)
