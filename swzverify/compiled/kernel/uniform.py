"""Which values are the same for all lanes of a warp that come to an access together.

The analysis starts from the assumption that every value is shared, unless its kind makes it a
lane's own, and that lanes leave every loop at the same trip. It takes back what does not follow
from the rest, until all that is left does: what is shared at one step of a run is so by what was
shared before.

What it relies on: lanes that part at a branch run together again from the block on to which all
their ways lead (the branch's immediate post-dominator), but for the branches of `Partings`. In a loop
that all of them leave at the same trip, they run each trip together.

Source: Sampaio, Souza, Collange, Pereira, "Divergence Analysis" (2013), with the loops of Rosemann,
Moll, Hack, "An Abstract Interpretation for SPMD Divergence on Reducible Control Flow Graphs"
(2021).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Final

from swzverify.compiled.kernel.counts import Counts
from swzverify.compiled.kernel.flow import Flow, Loop
from swzverify.compiled.kernel.lanes import Threads
from swzverify.compiled.kernel.leaves import (
    CarriedLeaf,
    LaneLeaf,
    Leaf,
    Leaves,
    Made,
    OpaqueLeaf,
    TripsLeaf,
    UniformLeaf,
)
from swzverify.compiled.kernel.partings import Partings
from swzverify.compiled.kernel.slices import Carried
from swzverify.ir.expr import Expr, Var, operands, postorder

ANYWHERE: Final = frozenset[int]()
"""Inside of no loop: what is read there may be of any loop that has ended."""


class Uniformity:
    """The shared leaves of a function, and its loops that all lanes leave at the same trip.

    `choices` has for each block that ends in a choice what decides it. `never_read` are leaves that
    are the value of no thread. Of the loops `taken` it is assumed that all lanes leave them at the same trip. With
    `partings`, lanes that part at some choices may stay apart.
    """

    def __init__(
        self,
        flow: Flow,
        leaves: Leaves,
        carried: Mapping[Var, Carried],
        choices: Mapping[int, tuple[Expr, ...]],
        threads: Threads | None,
        counts: Counts,
        never_read: Collection[Var] = (),
        taken: Collection[int] = (),
        partings: Partings | None = None,
    ) -> None:
        self.given = flow, leaves, carried, choices, threads, counts, never_read, taken, partings
        self._partings = partings
        self._flow, self._leaves, self._carried = flow, leaves, carried
        self._choices, self._threads, self._counts = choices, threads, counts
        self._outside = {loop.header: _ways_out(flow, loop) for loop in flow.loops}
        self.loops = {loop.header for loop in flow.loops}
        """Headers of the loops whose trips lanes make together, until all leave them at the same one."""
        self._never_read, self._taken = {each.name for each in never_read}, taken
        self._own: set[str] = {
            leaf.name
            for leaf in leaves.by_name.values()
            if isinstance(leaf, LaneLeaf)
            or (isinstance(leaf, OpaqueLeaf) and leaf.is_own and leaf.name not in self._never_read)
        }
        self._lane_only: dict[Expr, bool] = {}
        self._shared: dict[frozenset[int], dict[Expr, bool]] = {}
        self._settle()

    @property
    def has_apart(self) -> bool:
        """Whether lanes may leave some loop at different trips."""
        return len(self.loops) < len(self._flow.loops)

    @property
    def left_together(self) -> set[int]:
        """Headers of the loops that all lanes leave at the same trip."""
        return self.loops

    def leaf(self, variable: Var, inside: frozenset[int] = ANYWHERE) -> bool:
        """Whether all lanes share a leaf, where it is read: inside of the loops with these headers."""
        del inside
        return variable.name not in self._own

    def add(self, leaves: Iterable[Leaf]) -> None:
        """Leaves that were made later, of what is settled."""
        self._own.update([leaf.name for leaf in leaves if not self._stays(leaf)])
        self._shared.clear()

    def shares(self, value: Expr, inside: frozenset[int] = ANYWHERE) -> bool:
        """Whether all lanes share a value, where it is read: inside of the loops with these headers."""
        known = self._shared.setdefault(inside, {})
        if value in known:
            return known[value]
        for node in postorder(value):
            if node in known:
                continue
            if isinstance(node, Var):
                known[node] = self.leaf(node, inside)
            else:
                known[node] = all(known[part] for part in operands(node))
            if not known[node] and self._threads is not None and self._is_lane_only(node):
                known[node] = self._threads.is_uniform(node)
        return known[value]

    def _is_lane_only(self, value: Expr) -> bool:
        """Whether a value depends on nothing but coordinates of the thread."""
        known = self._lane_only
        if value not in known:
            for node in postorder(value):
                if isinstance(node, Var):
                    known[node] = isinstance(self._leaves[node], LaneLeaf)
                else:
                    known[node] = all(known[part] for part in operands(node))
        return known[value]

    def _settle(self) -> None:
        changed = True
        while changed:
            self._shared.clear()
            wrong = [leaf.name for leaf in self._leaves.by_name.values() if not self._stays(leaf)]
            open_loops = {
                each
                for each in self.loops
                if each not in self._taken and (self._is_behind_parting(each) or not self._leaves_together(each))
            }
            self._own.update(wrong)
            self.loops -= open_loops
            changed = bool(wrong or open_loops)
        self._shared.clear()

    def _stays(self, leaf: Leaf) -> bool:
        """Whether a leaf that was taken as shared may still be so."""
        if leaf.name in self._own:
            return True
        if isinstance(leaf, UniformLeaf) or leaf.name in self._never_read:
            return True
        if isinstance(leaf, TripsLeaf):
            return leaf.block in self.loops
        if isinstance(leaf, CarriedLeaf):
            carried = self._carried.get(leaf.variable)
            if carried is None:  # the state of a loop, of which the registers are known
                return leaf.uniform
            inside = self._inside(leaf.block)
            before, after = self.shares(carried.before, inside - {leaf.block}), self.shares(carried.after, inside)
            return carried.loop.header in self.loops and before and after
        inside = self._inside(leaf.block)
        if not isinstance(leaf, OpaqueLeaf) or not all(self.shares(each, inside) for each in leaf.feeds):
            return False
        return not leaf.is_moment or (leaf.block is not None and self._is_together(leaf.block, leaf.index))

    def meet(self, block: int, index: int) -> bool:
        """Whether lanes that reach an instruction in one trip of the loops around it reach it together.

        They do if no divergent branch leads to its block by several paths before its post-dominator, and none behind
        which lanes stay apart.
        """
        sides = self._flow.shared_sides.get(block, [])
        return all(self._is_shared_choice(each) for each in sides) and not self.is_apart(block, index)

    def is_apart(self, block: int, index: int) -> bool:
        """Whether lanes that parted may come to an instruction one after the other though their ways have joined."""
        is_gathered = self._partings is not None and self._partings.gathers_before(index)
        return not is_gathered and self._is_behind_parting(block)

    def _is_behind_parting(self, block: int) -> bool:
        """Whether lanes that stay apart may come to a block."""
        if self._partings is None:
            return False
        chosen, guarded = self._partings.behind, self._partings.guarded
        return any(block in blocks and self._parts(choice) for choice, blocks in chosen.items()) or any(
            block in blocks and not self.shares(guard, self._inside(at)) for guard, at, blocks in guarded
        )

    def _parts(self, block: int) -> bool:
        """Whether lanes of a warp may go different ways from a choice at one time."""
        around = self._flow.around(block)
        return not self._is_shared_choice(block) and not any(self._counts.are_together(each, block) for each in around)

    def _is_together(self, block: int, index: int) -> bool:
        """Whether lanes that come through an instruction come through it at one time."""
        return self.meet(block, index) and all(loop.header in self.loops for loop in self._flow.around(block))

    def _is_shared_choice(self, block: int) -> bool:
        return block in self._choices and all(self.shares(each, self._inside(block)) for each in self._choices[block])

    def _inside(self, block: int | None) -> frozenset[int]:
        """The headers of the loops around a block, where it matters which these are."""
        del block
        return ANYWHERE

    def _leaves_together(self, header: int) -> bool:
        """Whether every choice on which leaving the loop depends is shared."""
        return all(
            self._is_shared_choice(block) or self._counts.are_together(self._flow.loop_at[header], block)
            for block in self._outside[header]
        )


class UniformityOfTrips(Uniformity):
    """The leaves that lanes share which are in the same trips, whenever they are: what memory holds is none."""

    def _stays(self, leaf: Leaf) -> bool:
        is_open = isinstance(leaf, OpaqueLeaf) and leaf.made is not Made.DETERMINED and leaf.name not in self._own
        return not is_open and super()._stays(leaf)


def _ways_out(flow: Flow, loop: Loop) -> tuple[int, ...]:
    """The choices of a loop whose lanes need not meet again inside of it, in the same trip.

    Where all ways from a choice meet in the loop, and none goes out or begins another trip before,
    it takes no part in when lanes leave.
    """
    return tuple(
        block for block in sorted(loop.blocks) if flow.blocks[block].is_choice and not _meets_inside(flow, loop, block)
    )


def _meets_inside(flow: Flow, loop: Loop, block: int) -> bool:
    meeting = flow.meeting[block]
    if meeting not in loop.blocks:
        return False
    targets = {target for each in (*flow.parted(block), block) for target in flow.following[each]}
    return targets <= loop.blocks and (meeting == loop.header or loop.header not in targets)
