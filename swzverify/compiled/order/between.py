"""What can run between the same barriers: the presences of accesses behind each barrier, and pairs of them.

Unrolled code has thousands of accesses in one block. They come with the same trips and choices, so they are one
class: how two of them meet is decided once for each two classes, and the pairs are made one by one as they are read.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Final, NamedTuple, TypeAlias

ENTRY: Final = -1


class Trip(NamedTuple):
    """A trip of a loop: absolute from 0, or relative to the trip of the barrier; None if it is not known."""

    is_absolute: bool
    number: int | None


Trips: TypeAlias = tuple[tuple[int, Trip], ...]
"""The trips of the loops in step around a place, by their headers."""


class Choice(NamedTuple):
    """An edge that a thread took where all threads of the scope take one edge in one trip."""

    block: int
    target: int
    trips: Trips


class Presence(NamedTuple):
    """An access that is reachable from an instance of a barrier.

    Attributes:
        access: The instruction.
        trips: Its trips.
        choices: Edges of shared choices since the barrier.
        fixed: Of a copy in flight: the absolute trips of the barrier itself, as far as they are known.
    """

    access: int
    trips: Trips
    choices: tuple[Choice, ...] = ()
    fixed: tuple[tuple[int, int], ...] = ()


class Way(NamedTuple):
    """How two accesses can meet: the barrier that both come from, and the choices of both since."""

    begin: int
    first: tuple[Choice, ...]
    second: tuple[Choice, ...]


Together: TypeAlias = tuple[tuple[Trips, Trips], tuple[tuple[int, int], ...]]
"""The trips of two accesses that both come from a barrier, and by how many trips that is behind trip 0."""


class _Met(NamedTuple):
    """How two instructions can meet: their trips, all ways, and which of their places come first."""

    trips: Together
    ways: tuple[Way, ...]
    first: int
    second: int


class _Pair(NamedTuple):
    """How the accesses of two classes can meet, behind the first barrier at which they do in these trips."""

    trips: Together
    ways: tuple[Way, ...]


Rows: TypeAlias = dict[int, int]
"""Pairs of instructions: for each first one, a bit for each second one."""
Settles: TypeAlias = Callable[[int, int, Rows, int], bool]
"""Whether the pairs of two classes need no look: asked of two members, with all pairs, and how often each meets."""


class Between:
    """The accesses that are reachable from one barrier, and which of them can meet.

    The accesses of one block come with the same trips and choices: what these decide is decided once. `together`
    says what the trips of two accesses are.

    Attributes:
        accesses: The access at each place.
        places: The places of each access.
        at: Which of the places of its access each place is.
        group_of: A number for the accesses of one block that come with the same trips and choices.
    """

    def __init__(
        self,
        begin: int,
        present: Sequence[Presence],
        together: Callable[[Presence, Presence], Together | None],
        block_of: Callable[[int], int],
    ) -> None:
        self._begin, self._present, self._of = begin, present, together
        self.accesses = [each.access for each in present]
        self.places: dict[int, list[int]] = {}
        self.at: list[int] = []
        for place, access in enumerate(self.accesses):
            of_access = self.places.setdefault(access, [])
            self.at.append(len(of_access))
            of_access.append(place)
        kinds: dict[tuple[object, ...], int] = {}
        choices: dict[tuple[Choice, ...], int] = {}
        self._kinds = [kinds.setdefault(each[1:], len(kinds)) for each in self._present]
        self._choices = [choices.setdefault(each.choices, len(choices)) for each in self._present]
        self._together: dict[tuple[int, int], Together | None] = {}
        numbers: dict[tuple[object, ...], int] = {}
        self.group_of: dict[int, int] = {}
        for access, places in self.places.items():
            group = (block_of(access), *(self._kinds[place] for place in places))
            self.group_of[access] = numbers.setdefault(group, len(numbers))
        self._met: dict[tuple[int, int, bool], list[_Met]] = {}

    def met(self, first: int, second: int) -> list[_Met]:
        """How two instructions can meet, for each two trips that they have then."""
        if first not in self.places or second not in self.places:
            return []
        key = self.group_of[first], self.group_of[second], first == second
        if key not in self._met:
            self._met[key] = self._meet(first, second)
        return self._met[key]

    def _meet(self, first: int, second: int) -> list[_Met]:
        ones, others = self.places[first], self.places[second]
        numbers = [
            (min(one, other), max(one, other), at, place)
            for at, one in enumerate(ones)
            for place, other in enumerate(others)
            if first != second or at <= place
        ]
        ways: dict[Together, dict[tuple[int, int], Way]] = {}
        firsts: dict[Together, tuple[int, int]] = {}
        for _, _, at, place in sorted(numbers):
            one, other = ones[at], others[place]
            if (trips := self._trips(one, other)) is not None:
                firsts.setdefault(trips, (at, place))
                key = self._choices[one], self._choices[other]
                of_trips = ways.setdefault(trips, {})
                if key not in of_trips:
                    of_trips[key] = Way(self._begin, self._present[one].choices, self._present[other].choices)
        return [_Met(trips, tuple(ways[trips].values()), *places) for trips, places in firsts.items()]

    def _trips(self, one: int, other: int) -> Together | None:
        """The trips of what is at two places; None if they exclude each other."""
        key = self._kinds[one], self._kinds[other]
        if key not in self._together:
            self._together[key] = self._of(self._present[one], self._present[other])
        return self._together[key]


class Meets:
    """Which accesses can meet behind any of some barriers.

    Accesses are of one class if they are of one group behind each barrier, and of one kind in the caller's eyes.
    """

    def __init__(self, behind: Sequence[Between], kind_of: Callable[[int], Hashable]) -> None:
        self._behind = behind
        self._class_of: dict[int, int] = {}
        self._members: list[list[int]] = []
        numbers: dict[tuple[object, ...], int] = {}
        for access in sorted({access for each in behind for access in each.places}):
            signs = (kind_of(access), *(each.group_of.get(access) for each in behind))
            number = self._class_of[access] = numbers.setdefault(signs, len(numbers))
            if number == len(self._members):
                self._members.append([])
            self._members[number].append(access)

    def pairs(
        self, can_race: Callable[[int, int], bool], settles: Settles | None = None
    ) -> Iterator[tuple[int, int, Together, tuple[Way, ...]]]:
        """Two instructions, their trips, and all ways; in the order in which their first places are reachable.

        Pairs of classes that `settles` takes are left out.
        """
        open_ones: dict[tuple[int, int, bool], dict[tuple[int, int, int], _Pair]] = {}
        beside: dict[tuple[int, int], dict[int, None]] = {}
        for one, two, first, second in self._of_two_classes():
            if not can_race(first, second):
                continue
            found = self._found(first, second)
            if found and (settles is None or not settles(first, second, self._rows(first, second), len(found))):
                open_ones[one, two, first == second] = found
                for number, _, _ in found:
                    beside.setdefault((number, one), {})[two] = beside.setdefault((number, two), {})[one] = None
        for number, each in enumerate(self._behind):
            yield from self._in_order(number, each, open_ones, beside)

    def _of_two_classes(self) -> Iterator[tuple[int, int, int, int]]:
        """Two classes, or one twice, with a member of each: the first one is no later instruction."""
        for one, members in enumerate(self._members):
            yield one, one, members[0], members[0]
            for two, others in enumerate(self._members):
                if members[0] < others[-1]:
                    yield one, two, members[0], others[-1]

    def _rows(self, first: int, second: int) -> Rows:
        """All pairs of two classes in the order of the text, or of each member with itself."""
        members = self._members[self._class_of[first]]
        if first == second:
            return {each: 1 << each for each in members}
        others = sum(1 << each for each in self._members[self._class_of[second]])
        return {each: later for each in members if (later := others >> (each + 1) << (each + 1))}

    def _found(self, first: int, second: int) -> dict[tuple[int, int, int], _Pair]:
        """How two instructions meet: the first barrier behind which they do, and places there."""
        firsts: dict[Together, tuple[int, int, int]] = {}
        ways: dict[Together, list[tuple[Way, ...]]] = {}
        for number, each in enumerate(self._behind):
            for met in each.met(first, second):
                firsts.setdefault(met.trips, (number, met.first, met.second))
                ways.setdefault(met.trips, []).append(met.ways)
        return {place: _Pair(trips, tuple(chain(*ways[trips]))) for trips, place in firsts.items()}

    def _in_order(
        self,
        number: int,
        between: Between,
        open_ones: Mapping[tuple[int, int, bool], Mapping[tuple[int, int, int], _Pair]],
        beside: Mapping[tuple[int, int], Mapping[int, None]],
    ) -> Iterator[tuple[int, int, Together, tuple[Way, ...]]]:
        """The pairs that meet behind one barrier for the first time."""
        of_class: dict[int, list[int]] = {}
        for place, access in enumerate(between.accesses):
            of_class.setdefault(self._class_of[access], []).append(place)
        partners: dict[int, list[int]] = {}
        for place, access in enumerate(between.accesses):
            mine = self._class_of[access]
            if mine not in partners:
                others = beside.get((number, mine), ())
                partners[mine] = sorted(chain.from_iterable(of_class.get(other, ()) for other in others))
            row = partners[mine]
            for later in row[bisect_left(row, place) :]:
                other = between.accesses[later]
                yours, at, there = self._class_of[other], between.at[place], between.at[later]
                if access <= other:
                    found = open_ones.get((mine, yours, access == other), {}).get((number, at, there))
                    if found is not None:
                        yield access, other, found.trips, found.ways
                else:
                    found = open_ones.get((yours, mine, False), {}).get((number, there, at))
                    if found is not None:
                        yield other, access, found.trips, found.ways
