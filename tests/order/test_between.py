"""Pairs of accesses behind one barrier, against a plain loop over all places; with a planted mistake."""

from __future__ import annotations

import random

import pytest

from swzverify.compiled.order.between import Between, Choice, Presence, Together, Trip, Trips, Way

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


def by_loops(present: list[Presence]) -> Found:
    found: dict[tuple[int, int, Together], dict[Way, None]] = {}
    for at, one in enumerate(present):
        for two in present[at:]:
            first, second = (one, two) if one.access <= two.access else (two, one)
            both = together(first, second)
            if both is not None and can_race(first.access, second.access):
                ways = found.setdefault((first.access, second.access, both), {})
                ways[Way(4, first.choices, second.choices)] = None
    return [(*key, tuple(ways)) for key, ways in found.items()]


def by_blocks(present: list[Presence]) -> Found:
    alike: dict[Together, int] = {}
    pairs = Between(4, present, alike, together).pairs(can_race, BLOCK_OF.__getitem__)
    return [(first, second, list(alike)[trips], ways) for first, second, trips, ways in pairs]


@pytest.mark.parametrize("seed", range(200))
def test_the_pairs_are_those_of_a_plain_loop_in_its_order(seed: int) -> None:
    present = drawn(seed)
    assert by_blocks(present) == by_loops(present)


def test_a_planted_mistake_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of several trips that two accesses can meet in, one is taken."""
    right = Between._meet
    monkeypatch.setattr(Between, "_meet", lambda self, first, second: right(self, first, second)[:1])
    assert any(by_blocks(drawn(seed)) != by_loops(drawn(seed)) for seed in range(20))
