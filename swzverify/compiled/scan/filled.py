"""What is known of all that writes shared memory in one function: copies by fills, and everything else.

Source: docs/semantics.md, section 9, "What fills an operand".
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from swzverify.compiled.kernel import KernelFill
from swzverify.compiled.scan.fill_copies import ABSOLUTE, Frame
from swzverify.compiled.scan.products import Product
from swzverify.ir.expr import Expr, Var
from swzverify.layout.tma import TmaMode

NO_GAPS: Final = "no thread leaves out a copy, or writes zeros, unless its coordinates alone decide it"
"""What counting on all copies of a fill assumes."""


@dataclass(frozen=True, slots=True)
class InLoop:
    """A loop by its header, the factors of sources that may change from trip to trip of it, and its last trip.

    The last trip is the one after which the last thread leaves it; None if that is not counted.
    """

    header: int
    varying: frozenset[Expr]
    last: int | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Fill:
    """The copies of one basic block between two barriers, fences or waits, in one trip of each loop around it.

    Attributes:
        section: The basic block, and how many barriers, fences and waits stand before the copies in it.
        trips: The loops around it that decide its sources, but not where it writes, by the leaves that count their
            trips.
        frame: What the places of words count from.
        states: The numbers of the leaves that decide where it writes, for each state in which it brings the same.
        lines: The lines of its copies.
        rows: For each word of shared memory, its row in `numbers`; -1 for what it does not write.
        numbers: For each product of shared factors, the number of each row: the sum is the address.
        paths: For each row, the number of the condition under which threads make its copy, where they share it;
            -1 if a thread may leave it out, or write zeros, while others do not.
        clashing: The words that may get different values of several copies.
        torn: Those of them that surely do, of copies of two threads that are made together.
        modes: The swizzle mode of each tensor map, by the factor that stands for where its tensor begins.
        leads_to: The basic blocks to which paths lead from behind its own.
        follows: The basic blocks from which paths lead to its own.
        around: The headers of all loops around it.
    """

    section: tuple[int, int]
    trips: Mapping[Var, InLoop]
    frame: Frame
    states: frozenset[frozenset[tuple[Var, int]]]
    lines: tuple[int, ...]
    rows: NDArray[np.int32]
    numbers: dict[Product, NDArray[np.uint64]]
    paths: NDArray[np.int64]
    clashing: NDArray[np.bool_]
    torn: NDArray[np.bool_]
    modes: Mapping[Expr, TmaMode]
    leads_to: frozenset[int]
    follows: frozenset[int]
    around: frozenset[int]

    def is_before(self, block: int) -> bool:
        """Whether its copies stand before a basic block, and no path leads back to them."""
        return block in self.leads_to and block not in self.follows

    def is_outside(self, loop: int, block: int, around: frozenset[int]) -> bool:
        """Whether its copies bring the same in all trips of a loop around a basic block, of the loops around that.

        They are made before the loop, or in a loop around it. Copies in a loop of their own may be those of other
        threads, meanwhile.
        """
        return self.is_before(block) or (loop not in self.around and self.around <= around and block in self.leads_to)


@dataclass(frozen=True, slots=True)
class Written:
    """What an instruction that is no copy may write.

    Attributes:
        fill: The instruction.
        frame: What the places of words count from; None if it may write anywhere.
        words: The words.
        reason: Why nothing is known of what is written.
    """

    fill: KernelFill
    frame: Frame | None
    words: NDArray[np.int64]
    reason: str


@dataclass(frozen=True, slots=True)
class Filled:
    """All that may write shared memory in one function.

    Attributes:
        fills: The fills whose copies are known, with the instructions that make them.
        others: Everything else that may write.
    """

    fills: list[tuple[Fill, tuple[KernelFill, ...]]]
    others: list[Written]


def may_overlap(one: Frame, other: Frame) -> bool:
    """Whether bytes counted from one start may be bytes counted from another one."""
    return one[0] == other[0] or ABSOLUTE in (one[0], other[0])
