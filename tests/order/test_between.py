"""Pairs of accesses behind barriers, against a plain loop over all places; with planted mistakes."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable

import pytest

from swzverify.compiled.order.between import (
    Between,
    Choice,
    Meets,
    Presence,
    Rows,
    Settles,
    Together,
    Trip,
    Trips,
    Way,
)

BLOCKS = {0: range(3), 1: range(3, 5), 2: range(5, 8)}
BLOCK_OF = {index: block for block, inside in BLOCKS.items() for index in inside}
WRITES = {0, 2, 4, 5}
Found = list[tuple[int, int, Together, tuple[Way, ...]]]


def drawn(seed: int) -> list[Presence]:
    """What a walk over blocks lists: each visit of a block has all its accesses, with its trips and choices."""
    draw = random.Random(seed)
    found: dict[Presence, None] = {}
    for _ in range(draw.randrange(1, 9)):
        trips: Trips = ((7, Trip(draw.random() < 0.5, draw.randrange(3))),)
        choices = tuple(Choice(draw.randrange(2), draw.randrange(2), ()) for _ in range(draw.randrange(2)))
        found |= dict.fromkeys(Presence(index, trips, choices) for index in draw.choice(BLOCKS))
    for index in sorted(draw.sample(range(8), 3)):
        found |= dict.fromkeys(Presence(index, (), (), ((7, number),)) for number in range(draw.randrange(3)))
    return list(found)


def together(first: Presence, second: Presence) -> Together | None:
    if first.choices and second.choices and first.choices[0] != second.choices[0]:
        return None
    return (first.trips, second.trips), first.fixed + second.fixed


def can_race(first: int, second: int) -> bool:
    return not WRITES.isdisjoint((first, second))


def by_loops(behind: list[list[Presence]]) -> Found:
    found: dict[tuple[int, int, Together], dict[Way, None]] = {}
    for begin, present in enumerate(behind):
        for at, one in enumerate(present):
            for two in present[at:]:
                first, second = (one, two) if one.access <= two.access else (two, one)
                both = together(first, second)
                if both is not None and can_race(first.access, second.access):
                    ways = found.setdefault((first.access, second.access, both), {})
                    ways[Way(begin, first.choices, second.choices)] = None
    return [(*key, tuple(ways)) for key, ways in found.items()]


def by_classes(behind: list[list[Presence]], settles: Settles | None = None) -> Found:
    betweens = [Between(begin, each, together, BLOCK_OF.__getitem__) for begin, each in enumerate(behind)]
    return list(Meets(betweens, WRITES.__contains__).pairs(can_race, settles))


def of_several(seed: int) -> list[list[Presence]]:
    return [drawn(seed + 1000 * begin) for begin in range(1 + seed % 4)]


@pytest.mark.parametrize("seed", range(200))
def test_the_pairs_are_those_of_a_plain_loop_in_its_order(seed: int) -> None:
    assert by_classes(of_several(seed)) == by_loops(of_several(seed))


@pytest.mark.parametrize("seed", range(60))
def test_pairs_that_are_settled_are_left_out_and_counted(seed: int) -> None:
    """What is settled of two classes, and what is left, are all pairs; each as often as it meets."""
    settled: dict[tuple[int, int], int] = {}

    def settles(first: int, second: int, pairs: Rows, times: int) -> bool:
        if (first in WRITES) is not (second in WRITES):
            return False
        for one, seconds in pairs.items():
            settled.update({(one, two): times for two in BLOCK_OF if seconds >> two & 1})
        return True

    found = by_classes(of_several(seed), settles)
    right = by_loops(of_several(seed))
    assert found == [each for each in right if (each[0] in WRITES) is not (each[1] in WRITES)]
    assert settled == Counter((first, second) for first, second, *_ in right if {first, second} <= WRITES)


def _one_trip(patch: pytest.MonkeyPatch) -> None:
    """Of several trips that two accesses can meet in, one is taken."""
    right = Between._meet
    patch.setattr(Between, "_meet", lambda self, first, second: right(self, first, second)[:1])


def _of_one_class_alone(patch: pytest.MonkeyPatch) -> None:
    """Accesses of one class do not meet each other."""
    right = Meets._of_two_classes
    patch.setattr(Meets, "_of_two_classes", lambda self: (each for each in right(self) if each[0] != each[1]))


@pytest.mark.parametrize("plant", [_one_trip, _of_one_class_alone])
def test_a_planted_mistake_is_found(
    monkeypatch: pytest.MonkeyPatch, plant: Callable[[pytest.MonkeyPatch], None]
) -> None:
    plant(monkeypatch)
    assert any(by_classes(of_several(seed)) != by_loops(of_several(seed)) for seed in range(20))
