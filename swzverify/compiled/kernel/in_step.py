"""Which values lanes share inside of loops that they may leave at different trips.

Lanes that stay in a loop make its trips together, whenever others leave it, if those that stay all go
one way. Those that left wait for them where they meet, before they come to the loop again. Inside of such
a loop all lanes have one number of the trip. Behind it, each lane has that of its own last trip.

Source: docs/scan_rules.md, "Which lanes execute an access"; Rosemann, Moll, Hack, "An Abstract Interpretation
for SPMD Divergence on Reducible Control Flow Graphs" (2021), which calls it temporal divergence.
"""

from __future__ import annotations

from collections.abc import Iterable

from swzverify.compiled.kernel.flow import Loop
from swzverify.compiled.kernel.leaves import Leaf
from swzverify.compiled.kernel.uniform import ANYWHERE, Uniformity
from swzverify.ir.expr import Var


class UniformityInStep(Uniformity):
    """The leaves that lanes share where they are read, and the loops whose trips lanes make together.

    `loops` are these loops. A leaf of a loop that is read behind it is shared if lanes leave the loop at one trip,
    or if `Uniformity` says so, which is `behind`.
    """

    def __init__(self, behind: Uniformity) -> None:
        self._behind = behind
        super().__init__(*behind.given)

    @property
    def left_together(self) -> set[int]:
        """Headers of the loops that all lanes leave at the same trip."""
        return self._behind.loops

    def leaf(self, variable: Var, inside: frozenset[int] = ANYWHERE) -> bool:
        """Whether all lanes share a leaf, where it is read: inside of the loops with these headers."""
        if variable.name in self._own:
            return False
        left = self._inside(self._leaves[variable].block) - inside
        return left <= self.left_together or self._behind.leaf(variable)

    def add(self, leaves: Iterable[Leaf]) -> None:
        """Leaves that were made later, of what is settled."""
        leaves = list(leaves)
        self._behind.add(leaves)
        super().add(leaves)

    def _inside(self, block: int | None) -> frozenset[int]:
        return ANYWHERE if block is None else frozenset(loop.header for loop in self._flow.around(block))

    def _leaves_together(self, header: int) -> bool:
        """Whether lanes that are in the loop make its trips together.

        In every choice those that stay go one way, or meet again in the same trip.
        """
        # Lanes that leave wait behind the loop: a way from there to its next run is one in a loop around.
        loop, outer = self._flow.loop_at[header], self._flow.around(header)[:-1]
        return {each.header for each in outer} <= self.loops and all(
            self._is_shared_choice(block) or self._counts.are_together(loop, block) or self._goes_one_way(loop, block)
            for block in self._outside[header]
        )

    def _goes_one_way(self, loop: Loop, block: int) -> bool:
        """Whether lanes that stay in a loop go one way from a choice."""
        return len(loop.blocks & {*self._flow.following[block]}) == 1


def in_step(whole: Uniformity) -> Uniformity:
    """What lanes share by where it is read, if they may leave some loop at different trips."""
    return UniformityInStep(whole) if whole.has_apart else whole
