"""Points at which a condition may hold, tried before Z3 is asked: one that is found needs no Z3.

The points are always the same ones. In each, all values are below one bound, small or large, so that two
values are often equal; the widest values also take multiples of a power of two.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from swzverify.ir.evaluate import MAX_ARRAY_WIDTH, evaluate_many
from swzverify.ir.expr import FALSE, Expr, postorder, variables

_SEED: Final = 20_250_101
_POINTS: Final = 4096
_BOUNDS: Final = (2, 8, 33, 256, 1 << 12, 1 << 62)
"""The points have these bounds in turn."""
_LARGEST: Final = (1 << 63) - 1


def some_point(condition: Expr) -> dict[str, int] | None:
    """A point at which a condition holds, of those that are tried; None if none is found.

    >>> from swzverify.ir.expr import Comparison, compare, const, var
    >>> some_point(compare(Comparison.EQ, var("x", 16), const(9, 4)))
    {'x': 9}
    >>> some_point(compare(Comparison.ULT, var("x", 16), const(0, 4))) is None
    True
    """
    read = variables(condition)
    if condition is FALSE or any(node.width > MAX_ARRAY_WIDTH for node in postorder(condition)):
        return None
    points = {node.name: _values(at, min(node.limit, _LARGEST)) for at, node in enumerate(read)}
    (holds,) = evaluate_many((condition,), points)
    found = np.flatnonzero(np.broadcast_to(holds, (_POINTS,)))
    return {name: int(values[found[0]]) for name, values in points.items()} if found.size else None


@lru_cache(maxsize=256)
def _values(at: int, limit: int) -> NDArray[np.int64]:
    """The values of one variable at all points; those of another one are independent."""
    draw = np.random.default_rng((_SEED, at))
    most = np.minimum(np.resize(np.asarray(_BOUNDS), _POINTS), limit)
    return draw.integers(0, most)
