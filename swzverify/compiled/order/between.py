"""What can run between the same barriers: the presences of accesses behind one barrier, and pairs of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations_with_replacement
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
    """How two instructions can meet: the number of their trips, all ways, and which of their places come first."""

    trips: int
    ways: tuple[Way, ...]
    first: int
    second: int


class Between:
    """The accesses that are reachable from one barrier, and which of them can meet.

    The accesses of one block come with the same trips and choices: what these decide is decided once. `alike`
    numbers the trips of two accesses, and `together` says what they are.
    """

    def __init__(
        self,
        begin: int,
        present: Sequence[Presence],
        alike: dict[Together, int],
        together: Callable[[Presence, Presence], Together | None],
    ) -> None:
        self._begin, self._present, self._alike, self._of = begin, present, alike, together
        self._places: dict[int, list[int]] = {}
        for place, each in enumerate(self._present):
            self._places.setdefault(each.access, []).append(place)
        kinds: dict[tuple[object, ...], int] = {}
        choices: dict[tuple[Choice, ...], int] = {}
        self._kinds = [kinds.setdefault(each[1:], len(kinds)) for each in self._present]
        self._choices = [choices.setdefault(each.choices, len(choices)) for each in self._present]
        self._together: dict[tuple[int, int], int] = {}

    def pairs(
        self, can_race: Callable[[int, int], bool], block_of: Callable[[int], int]
    ) -> list[tuple[int, int, int, tuple[Way, ...]]]:
        """Two instructions, their trips, and all ways; in the order in which their first places are reachable."""
        numbers: dict[tuple[object, ...], int] = {}
        group_of: dict[int, int] = {}
        for access, places in self._places.items():
            group = (block_of(access), *(self._kinds[place] for place in places))
            group_of[access] = numbers.setdefault(group, len(numbers))
        known: dict[tuple[int, int, bool], list[_Met]] = {}
        found: list[tuple[int, int, tuple[int, int, int, tuple[Way, ...]]]] = []
        for first, second in combinations_with_replacement(sorted(self._places), 2):
            if not can_race(first, second):
                continue
            key = group_of[first], group_of[second], first == second
            if key not in known:
                known[key] = self._meet(first, second)
            ones, others = self._places[first], self._places[second]
            for trips, ways, at, place in known[key]:
                one, other = ones[at], others[place]
                found.append((min(one, other), max(one, other), (first, second, trips, ways)))
        return [each for _, _, each in sorted(found, key=lambda each: each[:2])]

    def _meet(self, first: int, second: int) -> list[_Met]:
        """How two instructions can meet, for each two trips that they have then."""
        ones, others = self._places[first], self._places[second]
        numbers = [
            (min(one, other), max(one, other), at, place)
            for at, one in enumerate(ones)
            for place, other in enumerate(others)
            if first != second or at <= place
        ]
        ways: dict[int, dict[tuple[int, int], Way]] = {}
        firsts: dict[int, tuple[int, int]] = {}
        for _, _, at, place in sorted(numbers):
            one, other = ones[at], others[place]
            if (trips := self._trips(one, other)) >= 0:
                firsts.setdefault(trips, (at, place))
                key = self._choices[one], self._choices[other]
                of_trips = ways.setdefault(trips, {})
                if key not in of_trips:
                    of_trips[key] = Way(self._begin, self._present[one].choices, self._present[other].choices)
        return [_Met(trips, tuple(ways[trips].values()), *places) for trips, places in firsts.items()]

    def _trips(self, one: int, other: int) -> int:
        """The number of the trips of what is at two places; -1 if they exclude each other."""
        key = self._kinds[one], self._kinds[other]
        if key not in self._together:
            both = self._of(self._present[one], self._present[other])
            self._together[key] = -1 if both is None else self._alike.setdefault(both, len(self._alike))
        return self._together[key]
