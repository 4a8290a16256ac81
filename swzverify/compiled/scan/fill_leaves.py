"""Which values all threads of a block share, and which change from trip to trip of a loop.

Source: docs/semantics.md, section 9, "What fills an operand".
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeGuard

from swzverify.compiled.kernel import CarriedLeaf, LaneLeaf, Leaf, LoopLeaf, OpaqueLeaf, TripsLeaf, UniformLeaf
from swzverify.compiled.kernel.leaves import Made, is_launch_value
from swzverify.ir.expr import Expr, Var, variables


class Shared(dict[str, Leaf]):
    """Leaves by their names, and which threads and trips have one value of them.

    `one_in_block` are registers of loops that have one value in the block, in the same trips of all loops around.
    """

    def __init__(self) -> None:
        super().__init__()
        self.one_in_block: set[str] = set()

    def is_shared(self, variable: Var, around: set[int]) -> bool:
        """Whether all threads of the block have one value of a leaf, in one trip of each loop around."""
        leaf = self.get(variable.name)
        if leaf is None:
            return False
        if isinstance(leaf, UniformLeaf | TripsLeaf) and (leaf.block is None or leaf.block in around):
            return True
        if isinstance(leaf, LoopLeaf):
            return leaf.name in self.one_in_block
        return _is_made(leaf) and all(self.is_shared(each, around) for each in variables(*leaf.feeds))

    def last_trip(self, trips: Var) -> int | None:
        """The last trip of any thread in a loop; None if it is not counted."""
        leaf = self.get(trips.name)
        return leaf.most if isinstance(leaf, TripsLeaf) else None

    def is_of_launch(self, variable: Var) -> bool:
        """Whether a leaf is a value of the launch."""
        leaf = self.get(variable.name)
        return leaf is not None and is_launch_value(leaf)

    def is_no_lane(self, variable: Var) -> bool:
        """Whether a leaf is no coordinate."""
        leaf = self.get(variable.name)
        return leaf is not None and not isinstance(leaf, LaneLeaf)

    def is_fixed(self, factor: Expr, around: Sequence[int], at: int) -> bool:
        """Whether a factor is one number in all trips of a loop, where each other loop around is in one trip."""
        leaves = [self.get(each.name) for each in variables(factor)]
        return all(
            leaf is not None
            and (
                isinstance(leaf, UniformLeaf)
                or (isinstance(leaf, TripsLeaf) and leaf.block in around and leaf.block != around[at])
                or (isinstance(leaf, CarriedLeaf) and leaf.block in around[:at])
                or (_is_made(leaf) and all(self.is_fixed(each, around, at) for each in leaf.feeds))
            )
            for leaf in leaves
        )

    def are_fixed(self, read: Iterable[Var], around: Sequence[int], at: int) -> bool:
        """Whether each thread has the same numbers in all trips of a loop."""
        return all(isinstance(self[each.name], LaneLeaf) or self.is_fixed(each, around, at) for each in read)


def _is_made(leaf: Leaf) -> TypeGuard[OpaqueLeaf]:
    """Whether a value is decided by what feeds it."""
    return isinstance(leaf, OpaqueLeaf) and leaf.made is Made.DETERMINED and leaf.open is None
