"""Moments: two threads that are at two accesses at one time, with the addresses of both then."""

from __future__ import annotations

from dataclasses import dataclass

from swzverify.compiled.kernel.arithmetic import sub
from swzverify.compiled.kernel.leaves import Leaves, UniformLeaf
from swzverify.compiled.kernel.linear import sum_of
from swzverify.compiled.kernel.symbols import ADDRESSES
from swzverify.ir.expr import Expr, variables


@dataclass(frozen=True, slots=True)
class Moment:
    """Two threads that are at their accesses at one time.

    Attributes:
        addresses: The addresses of both accesses then.
        threads: The numbers of the threads that may be meant, for both; None for any.
        is_one_warp: Whether both are in one warp; None for both cases.
        widths: The bytes of both accesses; None for those of the accesses themselves.
    """

    addresses: tuple[Expr, Expr]
    threads: tuple[tuple[int, ...], tuple[int, ...]] | None
    is_one_warp: bool | None
    widths: tuple[int, int] | None = None

    def surely_meets(self, leaves: Leaves) -> bool | None:
        """Whether the accesses meet, if the addresses alone decide it; None if they do not.

        A coordinate, or the trip of a loop, has another value in another thread: it is not taken from itself.
        """
        read = (leaves.by_name.get(each.name) for each in variables(*self.addresses))
        if self.widths is None or not min(self.widths) or not all(isinstance(each, UniformLeaf) for each in read):
            return None
        distance = sum_of(sub(self.addresses[1], self.addresses[0]))
        if distance.terms:
            return None
        return distance.number < self.widths[0] or -distance.number % ADDRESSES < self.widths[1]

    def reversed(self) -> Moment:
        """The same with the other access first."""
        widths = None if self.widths is None else (self.widths[1], self.widths[0])
        threads = None if self.threads is None else (self.threads[1], self.threads[0])
        return Moment((self.addresses[1], self.addresses[0]), threads, self.is_one_warp, widths)
