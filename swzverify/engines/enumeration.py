"""Every point of a box as arrays, and overlapping ranges among many: what the enumerating engines
have in common.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import prod

import numpy as np
from numpy.typing import NDArray

from swzverify.obligations import Answer, Finding, Injective, Numbers, Truths, second


def grid(counts: Mapping[str, int]) -> dict[str, NDArray[np.int64]]:
    """Every joint value of variables 0 .. count - 1, as flat arrays, the last variable fastest."""
    shape = tuple(counts.values())
    index = np.arange(prod(shape), dtype=np.int64)
    arrays: dict[str, NDArray[np.int64]] = {}
    stride = prod(shape)
    for name, count in counts.items():
        stride //= count
        arrays[name] = index // stride % count
    return arrays


def first_overlap(
    engine: str,
    goal: Injective,
    counts: Mapping[str, int],
    arrays: Mapping[str, Numbers],
    position: Numbers,
    assumed: Truths,
    extent: int,
) -> Finding:
    """Sort the positions within each value of the shared variables; neighbours must be `extent`
    apart.
    """
    if not assumed.any():
        return Finding(engine, Answer.EMPTY)
    share = prod(counts[node.name] for node in goal.shared)
    each = prod(counts[node.name] for node in goal.distinct)
    table = np.where(assumed, position, -1).reshape(share, each)
    order = np.argsort(table, axis=1, kind="stable")
    ordered = np.take_along_axis(table, order, axis=1)
    near = (np.diff(ordered, axis=1) < extent) & (ordered[:, :-1] >= 0)
    if not near.any():
        return Finding(engine, Answer.HOLDS)
    row, column = (int(index[0]) for index in np.nonzero(near))
    first, other = row * each + int(order[row, column]), row * each + int(order[row, column + 1])
    point = {name: int(array[first]) for name, array in arrays.items()}
    point |= {second(node.name): int(arrays[node.name][other]) for node in goal.distinct}
    return Finding(engine, Answer.FAILS, point)
