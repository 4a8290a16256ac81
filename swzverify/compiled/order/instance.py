"""What a value is for one of two threads, in a given trip of each loop around the place where it is read.

A leaf of the kernel stands for one number in each thread and in each trip. Two threads share it only if
the analysis of the scope says so, and if the trip of every loop around its definition is known for both: then
it is one variable, whose name has the trips. In all other cases each thread has a variable of its own.
A loop that the reading place is not in has been left: its leaves are those of its last trip, which two
threads share only if all threads leave the loop in one trip.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field
from functools import cached_property, reduce
from typing import Final, TypeAlias, TypeVar, cast

from swzverify.compiled.kernel.arithmetic import add, either, less, widened
from swzverify.compiled.kernel.lanes import places_of
from swzverify.compiled.kernel.leaves import (
    ArrayLeaf,
    CarriedLeaf,
    LaneLeaf,
    Leaf,
    LoopLeaf,
    TripsLeaf,
    UniformLeaf,
    begin_of,
)
from swzverify.compiled.kernel.register_values import Registers
from swzverify.compiled.kernel.symbols import DYNAMIC, SHARED_LIMIT
from swzverify.compiled.kernel.whole import Kernel
from swzverify.compiled.order.families import Families
from swzverify.compiled.order.intervals import Trip, Trips
from swzverify.compiled.order.step import Sharing
from swzverify.compiled.order.threads import Couple, threads_of
from swzverify.hardware import LANES
from swzverify.ir.bounded import Bounded
from swzverify.ir.expr import (
    Comparison,
    Expr,
    Var,
    compare,
    const,
    extract,
    negation,
    substitute,
    var,
    variables,
)

MOST_TRIPS: Final = 1 << 30
"""Trips of a loop with a barrier in it, in any launch."""
BASE: Final = "base of "
"""Begins the names of the trips that questions count from."""
_TRIP_BITS: Final = 64
_Made = TypeVar("_Made")
Place: TypeAlias = tuple[tuple[int, Trip | None], ...]
"""The trips of the loops around a place, by headers; None where nothing is known. Other loops are left."""


@dataclass(slots=True)
class Uses:
    """What values were made of.

    Attributes:
        facts: What holds of the variables that were made.
        read: The leaves that were read, by their names, coordinates left out.
        few: The values of variables that have few of them, which are facts, too.
        made: The variables that stand for leaves which a thread computes or loads.
    """

    facts: dict[Expr, None] = field(default_factory=dict[Expr, None])
    read: dict[str, Leaf] = field(default_factory=dict[str, Leaf])
    few: dict[Var, tuple[int, ...]] = field(default_factory=dict[Var, tuple[int, ...]])
    made: dict[Var, Leaf] = field(default_factory=dict[Var, Leaf])

    def add(self, other: Uses) -> None:
        """Take over what other values were made of."""
        self.facts |= other.facts
        self.read |= other.read
        self.few |= other.few
        self.made |= other.made


class Instances:
    """Values of two threads at their accesses, for all questions about a couple; each is computed once.

    Attributes:
        kernel: The kernel.
        sharing: What the threads share.
        of_warp: What they share if they are lanes of one warp.
        couple: Which two threads are meant.
        threads: The two threads.
        families: What coordinates alone decide.
        uses: What the values of one question were made of.
        bounded: Writes values in plainer words.
    """

    def __init__(self, kernel: Kernel, sharing: Sharing, couple: Couple, of_warp: Sharing | None = None) -> None:
        self.kernel, self.sharing, self.couple = kernel, sharing, couple
        self.of_warp = sharing if of_warp is None else of_warp
        self._flow, self._leaves = kernel.flow, kernel.leaves
        self.threads = threads_of(couple, kernel.block, kernel.ranks.count)
        self.families = Families(self.threads)
        self.uses, self.bounded = Uses(), Bounded()
        self._registers = Registers(kernel)
        self._memo: dict[tuple[Expr, int, Place], tuple[Expr, Uses]] = {}
        self._kept: dict[tuple[object, ...], object] = {}
        self._coordinates: list[Mapping[str, Expr]] = []
        for thread in self.threads:
            lane = extract(thread.number, 0, LANES.bit_length() - 1)
            self._coordinates.append({**places_of(thread.number, kernel.block), "laneid": lane})

    @cached_property
    def values(self) -> Instances:
        """The same values without what is kept: questions that are kept hold these, or they would hold themselves."""
        found = copy(self)
        found._kept = {}
        return found

    def kept(self, key: tuple[object, ...], make: Callable[[], _Made]) -> _Made:
        """What is made for a key, once for all questions."""
        if key not in self._kept:
            self._kept[key] = make()
        return cast("_Made", self._kept[key])

    def place(self, block: int, trips: Trips) -> Place:
        """A block, in the given trips of the loops around it."""
        known = dict(trips)
        found: list[tuple[int, Trip | None]] = []
        for loop in self._flow.around(block):
            trip = known.get(loop.header)
            found.append((loop.header, None if trip is None or trip.number is None else trip))
        return tuple(found)

    def value(self, value: Expr, who: int, place: Place) -> Expr:
        """A value as a thread has it at a place."""
        key = (value, who, place)
        if key not in self._memo:
            outer, self.uses = self.uses, Uses()
            made = substitute(value, {each: self._leaf(each, who, place) for each in variables(value)})
            self._memo[key], self.uses = (made, self.uses), outer
        found, uses = self._memo[key]
        self.uses.add(uses)
        return found

    def _leaf(self, variable: Var, who: int, place: Place) -> Expr:
        leaf = self._leaves[variable]
        if isinstance(leaf, LaneLeaf):
            return widened(self._coordinates[who][leaf.name], variable.width)
        if isinstance(leaf, UniformLeaf):
            self.uses.read[leaf.name] = leaf
            return self._of_launch(leaf)
        trip = dict(place).get(leaf.block) if isinstance(leaf, LoopLeaf) else None
        if isinstance(leaf, LoopLeaf) and trip is not None and trip.number is not None:
            if isinstance(leaf, TripsLeaf):
                return self._trip(leaf.block, trip)
            if isinstance(leaf, CarriedLeaf) and variable in self.kernel.carried and (trip.number or trip.is_absolute):
                return self._carried(variable, leaf.block, who, place, trip)
        return self._named(leaf, who, place)

    def _of_launch(self, leaf: UniformLeaf) -> Expr:
        """A leaf that the block shares. All arrays of dynamic shared memory have one start."""
        if not isinstance(leaf, ArrayLeaf) or leaf.symbol.size_bytes is not None:
            return leaf.variable
        start = var(DYNAMIC, SHARED_LIMIT)
        low = leaf.multiple.bit_length() - 1
        if low:
            self.uses.facts[compare(Comparison.EQ, extract(start, 0, low), const(0, low))] = None
        return extract(start, low, leaf.variable.width)

    def _trip(self, header: int, trip: Trip) -> Expr:
        """The number of a trip."""
        number = const(trip.number or 0, _TRIP_BITS)
        found = number if trip.is_absolute else add(widened(self.base(header), _TRIP_BITS), number)
        self._keep_most(header, found)
        return found

    def base(self, header: int) -> Var:
        """The earliest trip of a loop that a question is about."""
        return var(f"{BASE}{self.kernel.trips(header).name}", MOST_TRIPS)

    def _carried(self, variable: Var, header: int, who: int, place: Place, trip: Trip) -> Expr:
        """What a register is in a trip, from what the trip before left, or from before the loop.

        Loops inside are left then.
        """
        carry, around = self.kernel.carried[variable], outside(place, header)
        if trip.number:
            before = trip._replace(number=trip.number - 1)
            return self.value(carry.after, who, (*around, (header, before)))
        return self.value(carry.before, who, around)

    def _named(self, leaf: Leaf, who: int, place: Place) -> Expr:
        """A leaf as one variable for both threads, or as one of this thread."""
        self.uses.read[leaf.name] = leaf
        is_shared = self.couple is Couple.SELF or self.sharing.leaf(leaf.variable)
        known, is_left, tag = dict(place), False, ""
        for loop in [] if leaf.block is None else self._flow.around(leaf.block):
            header = loop.header
            is_left = is_left or header not in known
            trip = known.get(header)
            if is_left:
                is_shared = is_shared and (self.couple is Couple.SELF or header in self.sharing.loops)
                tag += " at last"
            elif trip is None:
                is_shared = False
            else:
                tag += f" in trip {trip.number}" + ("" if trip.is_absolute else " from the base")
        name = leaf.name + tag
        if not is_shared:
            name = f"{name} of {'the other thread' if who else 'one thread'}"
        made = var(name, leaf.variable.limit)
        self.uses.made[made] = leaf
        if isinstance(leaf, TripsLeaf):
            self._keep_most(leaf.block, made)
        if (values := self._registers.values(leaf.variable)) is not None:
            numbers = (compare(Comparison.EQ, made, const(each, made.width)) for each in sorted(values))
            self.uses.facts[reduce(either, numbers)] = None
            self.uses.few[made] = tuple(sorted(values))
        return made

    def _keep_most(self, header: int, trip: Expr) -> None:
        """A trip is one of those that a counted loop has."""
        count = self.kernel.counts.of_loop(self._flow.loop_at[header])
        if count is not None:
            self.uses.facts[compare(Comparison.ULE, trip, const(count.most, trip.width))] = None

    def is_one_in_warp(self, value: Expr, place: Place) -> bool:
        """Whether lanes of one warp have one value in the trips of a place, each of which is known."""
        known = {header for header, trip in place if trip is not None}
        blocks = [block for each in variables(value) if (block := self._leaves[each].block) is not None]
        is_known = all(loop.header in known for block in blocks for loop in self._flow.around(block))
        return is_known and self.of_warp.shares(value)

    # ---- what is true of a thread that is in a trip

    def reached(self, who: int, place: Place) -> list[Expr]:
        """Conditions of the trips before: each of them was followed by another one."""
        found: list[Expr] = []
        for header, _ in place:
            self.value(self.kernel.trips(header), who, place)  # how many trips there are is a fact
        for at, (header, trip) in enumerate(place):
            again = self.kernel.repeat[header].condition
            outside = place[:at]
            for number in range(trip.number or 0) if trip is not None else ():
                earlier = None if trip is None else trip._replace(number=number)
                found.append(self.value(again, who, (*outside, (header, earlier))))
            if trip is None or not trip.is_absolute:
                found += self._before_base(header, again, who, (*outside, (header, trip and trip._replace(number=0))))
        return found

    def _before_base(self, header: int, again: Expr, who: int, place: Place) -> list[Expr]:
        """The condition of the trip before the first one that is known, if the number of the trip decides it."""
        counter = self.kernel.trips(header)
        moving = [each for each in variables(again) if self._leaves[each].block in self._flow.loop_at[header].blocks]
        if moving != [counter]:
            return []
        here = self.value(counter, who, place)
        first = variables(here)[0]
        before = substitute(self.value(again, who, place), {first: _less_one(first)})
        return [either(compare(Comparison.EQ, first, const(0, first.width)), before)]


def _less_one(number: Var) -> Expr:
    return add(number, const(-1, number.width))


def outside(place: Place, header: int) -> Place:
    """The part of a place that is outside of a loop."""
    at = next(at for at, (each, _) in enumerate(place) if each == header)
    return place[:at]


def without_overlap(leaves: Sequence[Leaf]) -> list[Expr]:
    """The arrays among some leaves lie apart from each other, in any order; dynamic ones are behind all others."""
    arrays = [(begin_of(each, 32), each.symbol.size_bytes) for each in leaves if isinstance(each, ArrayLeaf)]
    static = [(begin, add(begin, const(size, 32))) for begin, size in arrays if size is not None]
    found = [
        either(negation(less(start, end, signed=False)), negation(less(begin, stop, signed=False)))
        for at, (begin, end) in enumerate(static)
        for start, stop in static[at + 1 :]
    ]
    if len(static) < len(arrays):
        dynamic = widened(var(DYNAMIC, SHARED_LIMIT), 32)
        found += [negation(less(dynamic, end, signed=False)) for _, end in static]
    return found
