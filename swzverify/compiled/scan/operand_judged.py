"""What is known of one operand of the tensor core while its claim `delivers` is judged."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from swzverify.compiled.kernel import KernelFragment, KernelOperand, TripsLeaf
from swzverify.compiled.scan.filled import Fill
from swzverify.compiled.scan.operand_maps import ElementMap
from swzverify.compiled.scan.operand_places import Key
from swzverify.ir.expr import Var

Factor: TypeAlias = KernelOperand | KernelFragment
"""An operand of the tensor core."""


@dataclass(slots=True, eq=False)
class Judged:
    """What is known of one operand, if its array begins in one way.

    Attributes:
        kernel: The operand.
        points: The number of its places for each warp group, or warp, and each state.
        is_open: Why the claim is not decided; empty if it is.
        broken: How everything that can fill the operand breaks the claim; empty if it holds.
        maps: For the number of each of its places, the fills that bring the operand, each with its map.
        k: The first instruction with which it was compared, and where along K it starts, counted from there; None if
            not known.
        has_gaps: Whether threads may leave out some of the copies that bring it, or write zeros.
        is_apart: Whether copies in a loop of their own bring it, so that A and B are not compared from trip to trip.
        read: The leaves that decide between its places, for each way in which it may have been loaded.
        compared: For each comparison with another operand, what is wrong; empty if nothing is.
        orders: For each of its places, which order that may be meant its elements come in; empty if it is none. Not
            known of places that break the claim in other ways.
    """

    kernel: Factor
    points: Mapping[Key, int | None]
    is_open: str = ""
    broken: str = ""
    maps: dict[int, list[tuple[Fill, ElementMap]]] = field(default_factory=dict[int, list[tuple[Fill, ElementMap]]])
    k: tuple[int, int] | None = None
    has_gaps: bool = False
    is_apart: bool = False
    read: frozenset[frozenset[Var]] = frozenset()
    compared: list[str] = field(default_factory=list[str])
    orders: dict[int, str] = field(default_factory=dict[int, str])

    def __post_init__(self) -> None:
        self.read = frozenset(frozenset(each for each, _ in state) for _, state in self.points)

    @property
    def starts(self) -> list[int]:
        """The numbers of its places."""
        return sorted({start for start in self.points.values() if start is not None})

    @property
    def holds(self) -> bool:
        """Whether nothing is wrong and nothing open."""
        return not self.is_open and not self.broken

    def leave_open(self, reason: str) -> None:
        """Keep the first reason why the claim is not decided."""
        self.is_open = self.is_open or reason


def loops_around(kernel: Factor) -> frozenset[int]:
    """The headers of the loops around an instruction."""
    return frozenset(loop.header for loop in kernel.access.who.loops)


def loops_made_once(kernel: Factor) -> frozenset[int]:
    """The headers of those loops around an instruction of which no thread makes a second trip."""
    counted = (leaf for leaf in (*kernel.access.leaves, *kernel.access.around) if isinstance(leaf, TripsLeaf))
    return loops_around(kernel) & {leaf.block for leaf in counted if leaf.most == 0}
