"""Shared by the enumerating engines: points of a box, expressions at all points, overlapping ranges."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from swzverify.engines.obligations import Answer, Finding, Injective, Numbers, Point, Truths, second
from swzverify.ir.evaluate import evaluate_many
from swzverify.ir.expr import Expr


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


def everywhere(
    roots: tuple[Expr, ...], counts: Mapping[str, int], given: Mapping[str, Numbers] | None = None
) -> tuple[Numbers, ...]:
    """The values of expressions at every joint value of variables 0 .. count - 1.

    They are flat, in the order of `grid`; `given` has single values of the other variables. Each
    variable has an axis of its own: an expression that reads few of them is evaluated at few points.

    >>> from swzverify.ir.expr import BinaryOperator, binary, var
    >>> total = binary(BinaryOperator.ADD, var("x", 4), var("y", 4))
    >>> everywhere((total,), {"x": 2, "y": 3})[0].tolist()
    [0, 1, 2, 1, 2, 3]
    """
    wide = {name: count for name, count in counts.items() if count > 1}
    axes = np.ix_(*(np.arange(count, dtype=np.int64) for count in wide.values()))
    arrays = dict.fromkeys(counts, np.zeros(1, dtype=np.int64)) | dict(zip(wide, axes, strict=True))
    shape = tuple(wide.values()) or (1,)
    return tuple(np.broadcast_to(found, shape).ravel() for found in evaluate_many(roots, {**arrays, **(given or {})}))


def point_at(counts: Mapping[str, int], index: int) -> Point:
    """The point at a place in the order of `grid`.

    >>> point_at({"x": 2, "y": 3}, 4)
    {'x': 1, 'y': 1}
    """
    found: Point = dict.fromkeys(counts, 0)
    for name in reversed(found):
        index, found[name] = divmod(index, counts[name])
    return found


Ranges: TypeAlias = tuple[Numbers, Truths, Sequence[Numbers]]
"""A family of ranges: the start of each, whether it is there, and the values of each tag."""


def first_meeting(first: Ranges, other: Ranges, lengths: tuple[int, int]) -> tuple[int, int] | None:
    """Two ranges that meet, one of each side, as their places in the sides; None if no two meet.

    If there are tags, the two ranges differ in one of them.

    >>> a, on = np.asarray([0, 8]), np.asarray([True, True])
    >>> first_meeting((a, on, [np.asarray([0, 1])]), (a + 2, on, [np.asarray([0, 7])]), (4, 4))
    (1, 1)
    """
    marks_of, mine_of = _numbered(first, other)
    rows, columns = np.flatnonzero(first[1]), np.flatnonzero(other[1])
    if not rows.size or not columns.size:
        return None
    rows = rows[np.lexsort((marks_of[rows], first[0][rows]))]
    starts, marks = first[0][rows], marks_of[rows]
    # The first side's ranges from `low` below `high` reach into a range of the other side.
    low = np.searchsorted(starts, other[0][columns] - lengths[0], side="right")
    high = np.searchsorted(starts, other[0][columns] + lengths[1], side="left")
    if not first[2]:
        found = np.flatnonzero(low < high)
        return (int(rows[low[found[0]]]), int(columns[found[0]])) if found.size else None
    # Of several ranges that do not all have one tag, some differ from any tag.
    changes = np.concatenate([[0], np.cumsum(np.diff(marks) != 0)])
    inside = (np.minimum(low, marks.size - 1), np.maximum(high - 1, 0))
    mine = mine_of[columns]
    found = np.flatnonzero((low < high) & ((marks[inside[0]] != mine) | (changes[inside[0]] != changes[inside[1]])))
    if not found.size:
        return None
    which = int(found[0])
    reach = range(int(low[which]), int(high[which]))
    row = next(at for at in reach if marks[at] != mine[which])
    return int(rows[row]), int(columns[which])


def _numbered(first: Ranges, other: Ranges) -> tuple[Numbers, Numbers]:
    """One number for the values of all tags of a range, on both sides in the same way."""
    mine, yours = np.zeros(first[0].shape, dtype=np.int64), np.zeros(other[0].shape, dtype=np.int64)
    for a, b in zip(first[2], other[2], strict=True):
        size = 1 + max(int(a.max(initial=0)), int(b.max(initial=0)))
        mine, yours = mine * size + a, yours * size + b
    return mine, yours


def first_overlap(
    engine: str,
    goal: Injective,
    counts: Mapping[str, int],
    position: Numbers,
    assumed: Truths,
    extent: int,
) -> Finding:
    """Check that positions are `extent` apart within each value of the shared variables.

    The positions are sorted, so that only neighbours are compared.
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
    point, beside = point_at(counts, first), point_at(counts, other)
    return Finding(engine, Answer.FAILS, point | {second(node.name): beside[node.name] for node in goal.distinct})
