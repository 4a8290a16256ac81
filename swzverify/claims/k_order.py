"""An order of K: which coordinate along K stands where another one should be."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from swzverify.engines.obligations import Numbers, Truths
from swzverify.errors import SwzError
from swzverify.ir import integers as ints
from swzverify.ir.integers import Integer

MAX_ELEMENTS = 1 << 22
"""Elements of an operand, over all iterations, that are looked at one by one."""


class Elements(NamedTuple):
    """Elements of an operand or fragment, as plain arrays.

    Attributes:
        exists: Whether such an iteration exists.
        start: Where the tile's stage begins.
        row: The tile's coordinate along the rows that the element should have.
        k: The tile's coordinate along K that it should have.
        read: The address at which it is read.
        wanted: The address at which the tile has what should be read.
    """

    exists: Truths
    start: Numbers
    row: Numbers
    k: Numbers
    read: Numbers
    wanted: Numbers


def check_count(name: str, count: int) -> None:
    """Refuse so many elements that looking at each would take too long.

    Raises:
        SwzError: SWZ107.
    """
    if count > MAX_ELEMENTS:
        raise SwzError(
            "SWZ107",
            f"{name} has {count} elements over all iterations; of two operands at most {MAX_ELEMENTS} each are read",
            hint="an order of K shows in one stage and a few rows: leave loops out",
        )


@dataclass(frozen=True, eq=False)
class KOrder:
    """A table of coordinates along K: entry k is the coordinate of the element that stands where k should be."""

    table: Numbers

    def at(self, k: Numbers) -> Numbers:
        """What stands where `k` should be: the plain definition, a look-up."""
        return self.table[k]

    def lowered(self, k: Integer) -> Integer:
        """The same as an expression: an exclusive or of products of the bits of `k`.

        Most orders exchange bits or flip them, so that no product of several bits is left.

        >>> from swzverify.ir.evaluate import evaluate
        >>> order = KOrder(np.asarray([0, 2, 1, 3]))
        >>> [evaluate(order.lowered(ints.integer(k)).bits, {}) for k in range(4)]
        [0, 2, 1, 3]
        """
        found = ints.integer(int(self._sums[0]))
        for bits, image in enumerate(self._sums.tolist()):
            if not image or not bits:
                continue
            if bits & (bits - 1):
                all_set = ints.equal(ints.bit_and(k, ints.integer(bits)), ints.integer(bits))
                found = ints.bit_xor(found, ints.choose(ints.truth(all_set), ints.integer(image), ints.integer(0)))
                continue
            bit = ints.remainder(ints.divide(k, ints.integer(bits)), ints.integer(2))
            for place in range(image.bit_length()):
                if image >> place & 1:
                    found = ints.bit_xor(found, ints.multiply(bit, ints.integer(1 << place)))
        last = len(self.table) - 1
        return found if found.high <= last else ints.minimum(found, ints.integer(last))

    @cached_property
    def _sums(self) -> Numbers:
        """For each set of bits, what the product of these bits adds: the algebraic normal form of the table."""
        size = 1 << (len(self.table) - 1).bit_length()
        sums = np.arange(size, dtype=np.int64)
        sums[: len(self.table)] = self.table
        step = 1
        while step < size:
            halves = sums.reshape(-1, 2, step)
            halves[:, 1] ^= halves[:, 0]
            step *= 2
        return sums

    def described(self) -> str:
        """The order in words."""
        shown = ", ".join(map(str, self.table[:16].tolist()))
        return f"K in the order {shown}" + (", ..." if len(self.table) > 16 else "")
