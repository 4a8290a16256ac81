"""Enumeration by numpy as one writes it once for every layout, with nothing of the package's own
evaluation.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from swzverify.layout import Swizzle


def offsets_of(leaves: Sequence[tuple[int, int]], index: np.ndarray) -> np.ndarray:
    """The offsets of linear indices under flat (shape, stride) pairs, first leaf fastest."""
    total = np.zeros_like(index)
    for extent, stride in leaves:
        index, digit = np.divmod(index, extent)
        total += digit * stride
    return total


def swizzled(offsets: np.ndarray, swizzle: Swizzle | None) -> np.ndarray:
    """Offsets under a swizzle that shifts down, if there is one."""
    if swizzle is None:
        return offsets
    picked = ((1 << swizzle.bits) - 1) << (swizzle.base + swizzle.shift)
    return offsets ^ ((offsets & picked) >> swizzle.shift)
