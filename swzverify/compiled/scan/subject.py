"""One access as claims ask about it: which lanes make it, and what is known of its values."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from swzverify.compiled.kernel import ArrayLeaf, KernelAccess, LaneLeaf, Leaf, LoopAround, TripsLeaf
from swzverify.compiled.kernel.arithmetic import bit_and, either, is_zero, less, sub, widened
from swzverify.compiled.kernel.lanes import MOST_TRIPS
from swzverify.compiled.kernel.leaves import is_launch_value
from swzverify.compiled.kernel.special import is_of_grid
from swzverify.compiled.kernel.symbols import SHARED_LIMIT
from swzverify.compiled.scan.asker import Asker, Proof
from swzverify.compiled.scan.collide import Lane, found_of, known_of
from swzverify.compiled.scan.cost_goal import narrow_variables
from swzverify.compiled.scan.met import is_met
from swzverify.compiled.scan.price import Block
from swzverify.engines.obligations import Answer
from swzverify.hardware import LANES, MOST_SHARED_BYTES
from swzverify.ir.expr import Const, Expr, Ite, Var, conjunction, const, negation, postorder, substitute, variables

_PARAMETER: Final = re.compile(r".*\+\d+:\d+")


@dataclass(frozen=True)
class Subject:
    """An access with what its claims need.

    The access's leaves include those of the loops around it.

    Attributes:
        access: The access.
        width: The number of bytes that each lane touches.
        multiple: What an aligned address is a multiple of.
        address_lanes: The number of leading lanes of a warp that count.
        block: All threads of the block.
        asker: Asks the engines.
        smem: The bytes of dynamic shared memory; None if not known.
        most: The most bytes that a block of the target can have.
        numbers: The lowest and the highest number in the addresses of accesses that are alike otherwise; None if
            there are not three of them.
    """

    access: KernelAccess
    width: int
    multiple: int
    address_lanes: int
    block: Block
    asker: Asker
    smem: int | None = None
    most: int = MOST_SHARED_BYTES
    numbers: tuple[int, int] | None = None

    @cached_property
    def leaves(self) -> dict[str, Leaf]:
        """The leaves by their names."""
        return {leaf.name: leaf for leaf in self.access.leaves}

    @property
    def key(self) -> tuple[object, ...]:
        """All that claims read, but for the address and the number of bytes."""
        who = self.access.who
        return (who.guard, who.sure, who.loops, self.block, self.address_lanes, *self.access.leaves)

    def lane(self, mark: str = "") -> Lane:
        """A lane of the block; with a mark another one."""
        return Lane(self.block.shape, self.leaves, mark)

    def never(self, *conditions: Expr) -> Proof:
        """Whether no lane that the instruction looks at fulfils conditions."""
        whole = conjunction(dict.fromkeys(self.of_lane(self.lane(), *conditions)))
        read = [self.leaves[each.name] for each in variables(whole) if each.name in self.leaves]
        narrow = narrow_variables((whole,), [leaf for leaf in read if not isinstance(leaf, LaneLeaf)])
        return self.asker.never(substitute(whole, {each: widened(few, each.width) for each, few in narrow.items()}))

    def of_lane(self, lane: Lane, *conditions: Expr) -> list[Expr]:
        """Conditions as a lane has them, and that the instruction looks at this lane."""
        found = [lane.of(each) for each in conditions]
        if self.address_lanes < LANES:
            place = bit_and(lane.number, const(LANES - 1, lane.number.width))
            found.append(less(place, const(self.address_lanes, place.width), signed=False))
        return found

    def makes(self, bad: Expr, *, with_loops: bool) -> list[Expr]:
        """The conditions that hold in each lane that makes the access.

        They are its guard, and facts about all values that the guard and `bad` read. `with_loops` adds what
        earlier trips satisfied.
        """
        found = [self.access.who.guard]
        if with_loops:
            found += self._loop_facts(variables(self.access.who.guard, bad))
        read = variables(*found, bad)
        return [*found, *known_of(read, self.leaves), *self.more_of(read)]

    @cached_property
    def made(self) -> Answer:
        """Whether some lane makes the access at all."""
        if is_met(conjunction(self.makes(const(0, 1), with_loops=False)), self.leaves, self.block, self.address_lanes):
            return Answer.HOLDS
        return self.never(*self.makes(const(0, 1), with_loops=False)).possible

    def _loop_facts(self, read: Iterable[Var]) -> list[Expr]:
        """Each trip but the first one follows a trip that another one was to follow."""
        found: dict[str, Expr] = {}
        names = {each.name for each in read}
        changed = True
        while changed:
            changed = False
            for loop in self.access.who.loops:
                trips = loop.trips
                if trips is None or trips.name not in names or trips.name in found:
                    continue
                before = again_at(loop, sub(trips, const(1, trips.width)))
                facts = [either(is_zero(trips), before)]
                # An index may wrap, so that a bound such as min(n, 256) bounds no later trip by itself.
                # The trip of this number itself may be the last one.
                facts += [
                    either(negation(less(each, trips, signed=False)), again_at(loop, each))
                    for each in self._bounds(loop)
                ]
                found[trips.name] = conjunction(facts)
                names |= {each.name for each in variables(found[trips.name])}
                changed = True
        return list(found.values())

    def _bounds(self, loop: LoopAround) -> list[Const]:
        """The numbers that a choice in the end of a loop may give, as trips, if the loop is not counted."""
        leaf = None if loop.trips is None else self.leaves[loop.trips.name]
        if not isinstance(leaf, TripsLeaf) or leaf.most is not None:
            return []
        chosen = [each for each in postorder(loop.again.condition) if isinstance(each, Ite)]
        numbers = {part.value for each in chosen for part in (each.then, each.otherwise) if isinstance(part, Const)}
        return [const(each, leaf.variable.width) for each in sorted(numbers) if 0 < each <= MOST_TRIPS]

    def more_of(self, read: Iterable[Var]) -> list[Expr]:
        """Facts about values, beside those of the cost: counted loops, and arrays that end in the window."""
        found: list[Expr] = []
        for each in dict.fromkeys(read):
            leaf = self.leaves[each.name]
            if isinstance(leaf, TripsLeaf) and leaf.most is not None:
                found.append(less(each, const(leaf.most + 1, each.width), signed=False))
            if isinstance(leaf, ArrayLeaf) and leaf.symbol.size_bytes:
                last = (SHARED_LIMIT - leaf.symbol.size_bytes) // leaf.multiple
                if last + 1 < each.limit:
                    found.append(less(each, const(last + 1, each.width), signed=False))
        return found

    def known_of_others(self, read: Iterable[Var]) -> list[Expr]:
        """What the analysis knows of values, without what is assumed of parameters."""
        kept = tuple(read)
        return [*found_of(kept, self.leaves), *self.more_of(kept)]

    def loop_of(self, name: str) -> LoopAround | None:
        """The loop around the access if a leaf of this name counts its trips."""
        loops = self.access.who.loops
        return next((loop for loop in loops if loop.trips is not None and loop.trips.name == name), None)


def again_at(loop: LoopAround, trip: Expr) -> Expr:
    """Whether a trip of a loop is followed by another one."""
    return loop.again.condition if loop.trips is None else substitute(loop.again.condition, {loop.trips: trip})


def is_parameter(leaf: Leaf) -> bool:
    """Whether a leaf is a number that the launch gives: of a parameter, or of the grid."""
    if not is_launch_value(leaf):
        return False
    return _PARAMETER.fullmatch(leaf.name) is not None or is_of_grid(leaf.name)


def multiple_of(leaf: ArrayLeaf, multiple: int) -> Expr:
    """Whether an array begins at a multiple of a power of two."""
    factor = max(1, multiple // leaf.multiple)
    low = bit_and(leaf.variable, const(factor - 1, leaf.variable.width))
    return is_zero(low)
