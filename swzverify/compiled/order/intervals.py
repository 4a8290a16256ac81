"""Which accesses are reachable without a barrier from one instance of a barrier, and in which trips.

Two accesses can meet if both are reachable from one and the same instance, or from the entry. No path
needs to lead from one to the other: two arms of a branch race, too. Trips of loops that run in step count
from the instance: they are relative to its trip, or absolute if the loop is entered after it. A copy is
in flight over barriers until its thread waits for it, and for other threads until the next barrier then.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Collection, Hashable, Iterator
from typing import Final, NamedTuple

from swzverify.compiled.kernel.kept_distances import decided
from swzverify.compiled.kernel.whole import Kernel
from swzverify.compiled.order.between import (
    ENTRY,
    Between,
    Choice,
    Meets,
    Presence,
    Settles,
    Together,
    Trip,
    Trips,
    Way,
)
from swzverify.compiled.order.step import InStep
from swzverify.compiled.ptx import Immediate, Instruction
from swzverify.ir.expr import FALSE

MOST_APART: Final = 3
"""Trips that two accesses may be apart before the relation of their trips is given up."""
_MOST_CHOICES: Final = 4
"""Choices that are kept of a path."""
_MOST_STATES: Final = 20_000
"""States of a search; beyond, choices are not kept."""
_MOST_GROUPS: Final = 9
"""Groups of copies that are counted."""


class Meeting(NamedTuple):
    """Two accesses that can run at the same time, in the given trips.

    Attributes:
        first: One instruction.
        second: The other one, or the same.
        trips: The trips of both; relative ones count from `base`, and none is negative.
        base: For each loop, by how many trips the barrier is behind trip 0.
        ways: All ways in which they can meet.
        is_own: Whether one thread makes both, the first one as a copy.
        earliest: The absolute trip from which relative trips count, if it is given.
    """

    first: int
    second: int
    trips: tuple[Trips, Trips]
    base: tuple[tuple[int, int], ...]
    ways: tuple[Way, ...]
    is_own: bool = False
    earliest: int | None = None

    def since_barrier(self, header: int, trip: Trip) -> Trip:
        """A trip that is relative to the barrier, as those of `trips`."""
        if trip.is_absolute or trip.number is None:
            return trip
        number = trip.number + dict(self.base).get(header, 0) + (self.earliest or 0)
        return Trip(is_absolute=self.earliest is not None, number=number)

    def counted_from(self, first: int) -> Meeting:
        """The meeting where the earliest relative trip is a given one."""

        def absolute(trips: Trips) -> Trips:
            return tuple((header, later(trip, first)._replace(is_absolute=True)) for header, trip in trips)

        return self._replace(trips=(absolute(self.trips[0]), absolute(self.trips[1])), earliest=first)


def meetings(
    kernel: Kernel,
    step: InStep,
    kind_of: Callable[[int], Hashable] = lambda _: None,
    settles: Settles | None = None,
) -> Iterator[Meeting]:
    """All pairs of accesses of two threads that can run between the same barriers, one of them a write.

    `settles` is asked about the pairs of two classes at once, and those that it takes are left out. `kind_of` says
    which instructions are alike to it.
    """
    walk = _Walk(kernel, step)
    behind = [
        Between(begin, [*walk.present(begin), *walk.in_flight.get(begin, ())], _together, walk.block_of)
        for begin in (ENTRY, *sorted(step.barriers))
    ]
    found = Meets(behind, lambda index: (walk.kind_of(index), kind_of(index)))
    for first, second, together, ways in found.pairs(walk.can_race, settles):
        yield Meeting(first, second, *together, ways)


def _together(first: Presence, second: Presence) -> Together | None:
    """The trips of two accesses that both come from a barrier; None if they exclude each other."""
    if _contradict(first.choices, second.choices):
        return None
    both = _fixed(first.trips, second.fixed), _fixed(second.trips, first.fixed)
    if any(trip.is_absolute and (trip.number or 0) < 0 for trips in both for _, trip in trips):
        return None  # the barrier is in a trip that is too early for it
    return _aligned(*both)


def own_copies(kernel: Kernel, step: InStep) -> Iterator[Meeting]:
    """All accesses that a thread makes while a copy of its own is in flight."""
    walk = _Walk(kernel, step)
    found: dict[Meeting, None] = {}
    for copy in kernel.accesses:
        if copy.is_copy and not copy.reason:
            for index, trips in walk.before_wait(copy.index):
                both, base = _aligned(walk.trips_at(copy.index, is_absolute=False), trips)
                found[Meeting(copy.index, index, both, base, (), is_own=True)] = None
    yield from found


def _next(trip: Trip) -> Trip:
    """The next trip; not known if it is too far away."""
    if trip.number is None or abs(trip.number + 1) > MOST_APART:
        return trip._replace(number=None)
    return trip._replace(number=trip.number + 1)


def later(trip: Trip, number: int) -> Trip:
    """A relative trip, as one that is relative to an earlier trip by so many."""
    return trip if trip.is_absolute or trip.number is None else trip._replace(number=trip.number + number)


class _Walk:
    """Paths of one kernel, for one scope."""

    def __init__(self, kernel: Kernel, step: InStep) -> None:
        self._kernel, self._flow, self._barriers = kernel, kernel.flow, step.barriers
        self._steps = step.sharing.steps
        self._accesses = {each.index: each for each in kernel.accesses if not each.reason}
        self._splits = {
            block
            for block in self._flow.place
            if block != self._flow.exit
            and self._flow.blocks[block].is_choice
            and step.sharing.is_shared_choice(block)
            and all(loop.header in self._steps for loop in self._flow.around(block))
        }
        self._ways: dict[int, list[int]] = {}
        self._marked: dict[tuple[int, bool], list[int]] = {}
        self.in_flight: dict[int, dict[Presence, None]] = {}
        for copy in self._accesses.values():
            if copy.is_copy:
                for begin, presence in self._flights(copy.index):
                    self.in_flight.setdefault(begin, {})[presence] = None

    def can_race(self, first: int, second: int) -> bool:
        """Whether two accesses race if they meet."""
        one, two = self._accesses[first], self._accesses[second]
        is_atomic = one.is_atomic and two.is_atomic and one.width_bytes == two.width_bytes
        return (one.is_write or two.is_write) and not is_atomic

    def kind_of(self, index: int) -> tuple[bool, bool, int]:
        """What of an access decides which others it races with."""
        access = self._accesses[index]
        return access.is_write, access.is_atomic, access.width_bytes

    def block_of(self, index: int) -> int:
        """The block of an instruction."""
        return self._flow.block_of[index]

    def trips_at(self, index: int, *, is_absolute: bool) -> Trips:
        """Trip 0 of each loop in step around an instruction."""
        headers = (loop.header for loop in self._kernel.around(index) if loop.header in self._steps)
        return tuple(sorted((header, Trip(is_absolute, 0)) for header in headers))

    def present(self, begin: int) -> list[Presence]:
        """The accesses that are reachable from a barrier, or from the entry, without another barrier."""
        found = self._search(begin, self._splits)
        if found is None:
            found = self._search(begin, set())
        return [] if found is None else found

    def _search(self, begin: int, splits: set[int]) -> list[Presence] | None:
        """As `present`; None if there are too many states with the choices that are kept."""
        flow, found = self._flow, dict[Presence, None]()
        block = 0 if begin == ENTRY else flow.block_of[begin]
        start = flow.blocks[0].start if begin == ENTRY else begin + 1
        trips = self.trips_at(start if begin == ENTRY else begin, is_absolute=begin == ENTRY)
        pending: list[tuple[int, int, Trips, tuple[Choice, ...]]] = [(block, start, trips, ())]
        seen: set[tuple[int, int, Trips, tuple[Choice, ...]]] = set()
        while pending:
            state = block, start, trips, choices = pending.pop()
            if block == flow.exit or state in seen:
                continue
            seen.add(state)
            if splits and len(seen) > _MOST_STATES:
                return None
            for index in range(start, flow.blocks[block].stop):
                if index in self._barriers:
                    break
                if index in self._accesses:
                    found[Presence(index, trips, choices)] = None
            else:
                for target in self._following(block):
                    kept = choices
                    if block in splits and all(trip.number is not None for _, trip in trips):
                        kept = tuple(sorted({*choices, Choice(block, target, trips)}))[-_MOST_CHOICES:]
                    if target != flow.exit:
                        pending.append((target, flow.blocks[target].start, self._after(block, target, trips), kept))
        return list(found)

    def _following(self, block: int) -> list[int]:
        """The blocks to which a thread may go on: a way whose condition never holds is none."""
        if block not in self._ways:
            ways, kernel = self._flow.following[block], self._kernel
            is_choice = self._flow.blocks[block].is_choice
            self._ways[block] = [each for each in ways if not is_choice or decided(kernel.edge(block, each)) != FALSE]
        return self._ways[block]

    def _after(self, source: int, target: int, trips: Trips) -> Trips:
        """The trips behind an edge."""
        flow, found = self._flow, dict[int, Trip]()
        for header, trip in trips:
            if target in flow.loop_at[header].blocks:
                is_back = target == header and flow.is_back(source, target)
                found[header] = _next(trip) if is_back else trip
        for header in self._steps:
            blocks = flow.loop_at[header].blocks
            if target in blocks and source not in blocks:
                found[header] = Trip(is_absolute=True, number=0)
        return tuple(sorted(found.items()))

    def _flights(self, index: int) -> Iterator[tuple[int, Presence]]:
        """The barriers behind which a copy may be in flight, with its trips relative to those of the barrier."""
        for at, trips, is_done in self._from_copy(index):
            if is_done:
                continue
            around = {loop.header for loop in self._kernel.around(at)}
            back = {
                header: Trip(is_absolute=False, number=None if number is None else -number)
                for header, (is_absolute, number) in trips
                if not is_absolute and header in around
            }
            fixed = tuple((h, trip.number) for h, trip in trips if trip.is_absolute and trip.number is not None)
            yield (
                at,
                Presence(index, tuple(sorted(back.items())), (), tuple(each for each in fixed if each[0] in around)),
            )

    def before_wait(self, index: int) -> Iterator[tuple[int, Trips]]:
        """The accesses of a copy's own thread before it waits for the copy."""
        for at, trips, is_done in self._from_copy(index, is_own=True):
            if not is_done and self.can_race(index, at):
                yield at, trips

    def _asynchronous_or(self, marks: Collection[int], block: int, start: int) -> Iterator[int]:
        """The instructions of a block from one on that copies are committed or awaited at, or that are marked."""
        whole = self._flow.blocks[block]
        key = block, marks is self._barriers
        if key not in self._marked:
            self._marked[key] = [
                at
                for at in range(whole.start, whole.stop)
                if at in marks or self._kernel.function.instructions[at].opcode.startswith("cp.async.")
            ]
        return iter(self._marked[key][bisect_left(self._marked[key], start) :])

    def _from_copy(self, index: int, *, is_own: bool = False) -> Iterator[tuple[int, Trips, bool]]:
        """The barriers behind a copy, with the trips since, and whether its thread has waited for it.

        With `is_own`, the accesses behind it.
        A path ends when the thread has waited, and if others are asked for, at a barrier after that.
        """
        flow, instructions = self._flow, self._kernel.function.instructions
        marks = self._accesses.keys() if is_own else self._barriers
        block, is_bulk = flow.block_of[index], self._accesses[index].is_bulk
        pending = [(block, index + 1, self.trips_at(index, is_absolute=False), 0, False)]
        seen: set[tuple[int, int, Trips, int, bool]] = set()
        while pending:
            state = block, start, trips, groups, is_done = pending.pop()
            if block == flow.exit or state in seen:
                continue
            seen.add(state)
            for at in self._asynchronous_or(marks, block, start):
                if not is_bulk:  # waits for `cp.async` say nothing of bulk copies
                    groups, is_done = _waited(instructions[at], groups, is_done=is_done)
                if at in marks:
                    yield at, trips, is_done
                if is_done and (is_own or at in self._barriers):
                    break
            else:
                for target in self._following(block):
                    if target != flow.exit:
                        start = flow.blocks[target].start
                        pending.append((target, start, self._after(block, target, trips), groups, is_done))


def _waited(instruction: Instruction, groups: int, *, is_done: bool) -> tuple[int, bool]:
    """The groups that are committed since a copy, and whether its thread has waited for it.

    `cp.async.wait_group N` waits for all groups but the last N.
    """
    opcode = instruction.opcode
    if instruction.guard is not None:
        return groups, is_done
    if opcode == "cp.async.commit_group":
        return min(groups + 1, _MOST_GROUPS), is_done
    if opcode == "cp.async.wait_all":
        return groups, True
    if opcode == "cp.async.wait_group":
        count = instruction.operands[0] if instruction.operands else None
        return groups, is_done or (isinstance(count, Immediate) and groups > count.value)
    return groups, is_done


def _contradict(first: tuple[Choice, ...], second: tuple[Choice, ...]) -> bool:
    """Whether two threads took different edges of a choice in one trip, where all threads take one."""
    taken = {(each.block, each.trips): each.target for each in first}
    return any(taken.get((each.block, each.trips), each.target) != each.target for each in second)


def _fixed(trips: Trips, fixed: tuple[tuple[int, int], ...]) -> Trips:
    """Trips relative to a barrier as absolute ones, where the trip of the barrier is known."""
    known = dict(fixed)
    return tuple(
        (header, later(trip, known[header])._replace(is_absolute=True))
        if not trip.is_absolute and trip.number is not None and header in known
        else (header, trip)
        for header, trip in trips
    )


def _aligned(first: Trips, second: Trips) -> tuple[tuple[Trips, Trips], tuple[tuple[int, int], ...]]:
    """The trips of two accesses so that no relative one is negative, and how far the barrier is behind trip 0."""
    low: dict[int, int] = {}
    for header, trip in (*first, *second):
        if not trip.is_absolute and trip.number is not None:
            low[header] = min(low.get(header, 0), trip.number)

    def up(trips: Trips) -> Trips:
        return tuple(
            (
                header,
                trip if trip.is_absolute or trip.number is None else trip._replace(number=trip.number - low[header]),
            )
            for header, trip in trips
        )

    return (up(first), up(second)), tuple(sorted((header, -number) for header, number in low.items() if number))
