"""Values that each lane has by itself, drawn many at a time; and which samples count."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from swzverify.compiled.kernel import Leaf, TripsLeaf, UniformLeaf
from swzverify.ir.evaluate import evaluate
from swzverify.ir.expr import Expr, conjunction, variables

ODD: Final = 0.1
"""The share of values that may have any bits."""
SMALL: Final = 0.2
"""The share of values of up to 16 bits."""


def drawn(leaf: Leaf, numbers: Sequence[int], shape: tuple[int, ...], source: np.random.Generator) -> NDArray[np.int64]:
    """Values of a leaf: those that are known of it, or below its limit, most of them of `numbers`.

    The 64 bits of an int64 are those of the value. Example: a leaf that is known to be 4 or 8.

    >>> from swzverify.ir.expr import var
    >>> from swzverify.compiled.kernel import OpaqueLeaf
    >>> leaf = OpaqueLeaf(var("x", 16), "", 1, None, values=(4, 8))
    >>> sorted(set(drawn(leaf, (0, 1), (100,), np.random.Generator(np.random.PCG64(1))).tolist()))
    [4, 8]
    """
    if known := (isinstance(leaf, UniformLeaf) and leaf.candidates) or leaf.values:
        return source.choice(words(known), shape)
    if isinstance(leaf, TripsLeaf) and leaf.most is not None:
        return source.integers(0, leaf.most, shape, dtype=np.uint64, endpoint=True).view(np.int64)
    found = source.choice(words(numbers), shape).view(np.uint64)
    kinds = source.random(shape)
    odd = source.integers(0, (1 << min(leaf.variable.width, 64)) - 1, shape, dtype=np.uint64, endpoint=True)
    found = np.where(kinds < SMALL + ODD, odd & np.uint64(0xFFFF), found)
    found = np.where(kinds < ODD, odd, found)
    limit = leaf.variable.limit
    return (found if limit >= 1 << 64 else found % np.uint64(limit)).view(np.int64)


def words(values: Sequence[int]) -> NDArray[np.int64]:
    """The low 64 bits of each value, as the bits of an int64."""
    return np.array([value & 0xFFFFFFFFFFFFFFFF for value in values], dtype=np.uint64).view(np.int64)


def fulfilled(assumed: Sequence[Expr], env: Mapping[str, NDArray[np.int64]]) -> NDArray[np.bool_]:
    """The samples whose parameters fulfil what is assumed, in plain integers of any width."""
    whole = conjunction(assumed)
    read = variables(whole)
    if not read:
        return np.full((1, 1, 1), evaluate(whole, {}) != 0)
    columns = np.broadcast_arrays(*(env[each.name].reshape(-1) for each in read))
    rows = zip(*(column.tolist() for column in columns), strict=True)
    held = [
        evaluate(whole, {each.name: value % each.limit for each, value in zip(read, row, strict=True)}) != 0
        for row in rows
    ]
    return np.array(held, dtype=np.bool_)[:, None, None]
