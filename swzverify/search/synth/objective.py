"""What makes one layout better than another: the order in which members of a family are compared.

1. no bank conflict in any access;
2. the fewest wavefronts, each access's worst warp instruction times its weight, summed;
3. the fewest bank conflicts, summed in the same way;
4. the fewest bytes of shared memory;
5. the family's own order: no swizzle, else the fewest bits B, S > 0 before S < 0, the lowest base M,
   the smallest |S|; the smallest pad; the narrowest TMA mode; the fewest XOR terms.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.int64]


@dataclass(frozen=True, order=True, slots=True)
class Score:
    """The first four, in their order; smaller is better. Wavefronts and conflicts are weighted."""

    conflicted: bool
    wavefronts: int
    conflicts: int
    bytes: int


def scores(wavefronts: Array, conflicts: Array, weights: Sequence[int], total_bytes: int) -> Array:
    """The four numbers of each member's score, of shape (members, 4).

    `wavefronts` and `conflicts` have the shape (members, accesses).

    >>> scores(np.array([[4, 8]]), np.array([[0, 4]]), (1, 2), 1024).tolist()
    [[1, 20, 8, 1024]]
    """
    weight = np.array(weights, dtype=np.int64)
    return np.stack(
        [
            (conflicts > 0).any(axis=1).astype(np.int64),
            wavefronts @ weight,
            conflicts @ weight,
            np.full(len(wavefronts), total_bytes, dtype=np.int64),
        ],
        axis=1,
    )


def first_best(rows: Array) -> int:
    """The first of the rows that are least in the order of their columns.

    >>> first_best(np.array([[1, 3], [0, 9], [0, 4], [0, 4]]))
    2
    """
    left = np.arange(len(rows))
    for column in range(rows.shape[1]):
        values = rows[left, column]
        left = left[values == values.min()]
    return int(left[0])
