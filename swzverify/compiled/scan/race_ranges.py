"""Ranges of bytes of arrays that accesses may touch, whatever is ordered: most pairs need no solver."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from swzverify.compiled.kernel.leaves import ArrayLeaf, UniformLeaf, are_all
from swzverify.compiled.kernel.linear import Sum, sum_of
from swzverify.compiled.kernel.whole import Kernel
from swzverify.ir.bounded import bounded
from swzverify.ir.expr import Expr
from swzverify.ir.intervals import intervals

_MOST: Final = 1 << 31


@dataclass(frozen=True, slots=True)
class ByteRange:
    """The bytes from `low` to before `high` behind a sum of addresses of arrays."""

    arrays: frozenset[tuple[Expr, int]]
    low: int
    high: int


class Ranges:
    """The ranges of the accesses of a kernel."""

    def __init__(self, kernel: Kernel) -> None:
        self._kernel = kernel
        self._known: dict[tuple[Expr, int], ByteRange | None] = {}

    def are_apart(self, one: tuple[Expr, int], others: Iterable[tuple[Expr, int]]) -> bool:
        """Whether some bytes have none in common with others; each is an address and a number of bytes."""
        found = self._of(one)
        return found is not None and all(
            (other := self._of(each)) is not None
            and other.arrays == found.arrays
            and (other.high <= found.low or found.high <= other.low)
            for each in others
        )

    def _of(self, touched: tuple[Expr, int]) -> ByteRange | None:
        if touched not in self._known:
            self._known[touched] = self._found(*touched)
        return self._known[touched]

    def _found(self, address: Expr, size: int) -> ByteRange | None:
        """The range of some bytes; None if their offset may be negative, or if they name no array.

        None, too, if what names the array is not the same for all threads: `start ^ x` is another place for each `x`.
        """
        total, leaves = sum_of(address), self._kernel.leaves
        arrays = {
            term: count
            for term, count in total.terms.items()
            if any(isinstance(each, ArrayLeaf) for each in leaves.of(term))
        }
        others = {term: count for term, count in total.terms.items() if term not in arrays}
        offset = bounded(Sum(others, total.number, address.width).expression())
        low, high = intervals(offset)[offset]
        is_one = all(are_all(leaves.of(term), UniformLeaf) for term in arrays)
        if not arrays or not is_one or not size or high + size >= _MOST:
            return None
        return ByteRange(frozenset(arrays.items()), low, high + size)
