"""Columns of K that come twice to one sum: random loops of products, against what an interpreter multiplies."""

import random
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace
from importlib import import_module
from typing import Any

import pytest

from tests.nightly import counts
from tests.scan.random_rings import Ring, Tile, Times
from tests.scan.ring_oracle import judge
from tests.scan.test_random_rings import GROUP, PLAIN, of_one_block, said_of, seen, verdicts

columns: Any = import_module("swzverify.compiled.scan.operand_columns")

FIRST_SEED = 21_100_000
SUMS = replace(PLAIN, stages=4, ahead=0, reading="fixed", writing="fixed")


def planned(*plan: Tile | Times) -> Ring:
    return replace(SUMS, plan=plan)


def drawn(seed: int) -> Ring:
    """Up to four products in up to three loops, each with a stage of its own."""
    draw = random.Random(seed)
    left = list(range(draw.randint(1, 4)))
    loops = [3]

    def body(depth: int) -> tuple[Tile | Times, ...]:
        found: list[Tile | Times] = []
        while left and (not found or draw.random() < 0.6):
            if loops[0] and depth < 2 and draw.random() < 0.5:
                loops[0] -= 1
                found.append(Times(draw.choice([0, 0, 1, 2, 3]), draw.random() < 0.25, body(depth + 1)))
            else:
                steps = tuple(draw.choice([0, 1, 1, 2, 3, 4, 6]) for _ in range(depth))
                found.append(Tile(draw.choice([0, 1, 2, 3, 5, 9, 20, 40, 60]), steps, left.pop()))
        return tuple(found)

    ring = planned(*body(0))
    return replace(ring, tiles=GROUP) if draw.random() < 0.4 else ring


def answer(seed: int) -> str:
    ring = drawn(seed)
    found, why = judge(ring, said_of(ring))
    return f"{found}: {why}" if why else found


@pytest.mark.parametrize("count", counts(6, 400))
def test_verdicts_are_those_of_the_interpreter(count: int) -> None:
    found = Counter(answer(seed) for seed in range(FIRST_SEED, FIRST_SEED + count))
    assert not [each for each in found if each.startswith("WRONG")], found


REPEATED: dict[str, tuple[Tile | Times, ...]] = {
    "two products, one of which comes to the columns of the other one two trips later": (
        Times(0, is_anew=False, body=(Tile(0, (1,), 0), Tile(2, (1,), 1))),
    ),
    "a product before a loop that comes to its columns": (
        Tile(1, (), 0),
        Times(0, is_anew=False, body=(Tile(0, (1,), 1),)),
    ),
    "a product behind a loop": (Times(0, is_anew=False, body=(Tile(0, (1,), 1),)), Tile(0, (), 0)),
    "a product before two loops": (
        Tile(1, (), 0),
        Times(2, is_anew=False, body=(Times(0, is_anew=False, body=(Tile(0, (20, 1), 1),)),)),
    ),
    "two loops one after another": (
        Times(0, is_anew=False, body=(Tile(0, (1,), 0),)),
        Times(0, is_anew=False, body=(Tile(0, (1,), 1),)),
    ),
    "a loop inside of one that goes on by less": (
        Times(2, is_anew=False, body=(Times(0, is_anew=False, body=(Tile(0, (2, 1), 0),)),)),
    ),
    "a loop inside of one that does not go on": (
        Times(2, is_anew=False, body=(Times(0, is_anew=False, body=(Tile(0, (0, 1), 0),)),)),
    ),
}
"""Some columns of K come twice to one sum."""
RIGHT: dict[str, tuple[Tile | Times, ...]] = {
    "two products in two trips": (Times(2, is_anew=False, body=(Tile(0, (1,), 0), Tile(2, (1,), 1))),),
    "a product before a loop that goes on from it": (
        Tile(0, (), 0),
        Times(0, is_anew=False, body=(Tile(1, (1,), 1),)),
    ),
    "a loop with two trips inside of one that goes on by two": (
        Times(0, is_anew=False, body=(Times(2, is_anew=False, body=(Tile(0, (2, 1), 0),)),)),
    ),
    "sums of their own in each trip": (
        Times(2, is_anew=True, body=(Times(0, is_anew=False, body=(Tile(0, (0, 1), 0),)),)),
    ),
    "a loop with one trip": (Times(1, is_anew=False, body=(Tile(5, (0,), 0),)),),
}
"""None do."""
TILES = {"mma.sync": PLAIN.tiles, "wgmma": GROUP}


def check(kernels: Mapping[str, tuple[Tile | Times, ...]], name: str, of: str) -> set[str]:
    """The verdicts on a kernel of which launches show what they should."""
    ring = replace(planned(*kernels[name]), tiles=TILES[of])
    assert seen(ring) == (set() if kernels is RIGHT else {"repeated"})
    return verdicts(ring)


@pytest.mark.parametrize("of", TILES)
@pytest.mark.parametrize("name", REPEATED)
def test_columns_that_come_twice_to_one_sum_are_not_proved(name: str, of: str) -> None:
    assert check(REPEATED, name, of) != {"proved"}


@pytest.mark.parametrize("of", TILES)
@pytest.mark.parametrize("name", RIGHT)
def test_columns_that_come_once_are_proved(name: str, of: str) -> None:
    assert check(RIGHT, name, of) == {"proved"}


# ---- planted mistakes


def of_first_trips(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(columns, "_terms", lambda *_: {})


def of_other_copies(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(columns, "_meet_later", lambda *_: False)


def of_the_same_copies(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(columns, "_are_others", lambda *_, **__: False)


def of_loops_that_end_sums(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(columns, "_anew", lambda one, other: one[2] & other[2])


@pytest.mark.parametrize(
    ("plant", "name"),
    [
        (of_first_trips, "a product before a loop that comes to its columns"),
        (of_other_copies, "a loop inside of one that goes on by less"),
        (of_the_same_copies, "a product behind a loop"),
        (of_one_block, "two loops one after another"),
        (of_loops_that_end_sums, "a loop inside of one that does not go on"),
    ],
)
def test_planted_mistakes_are_found(
    plant: Callable[[pytest.MonkeyPatch], None], name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    plant(monkeypatch)
    assert check(REPEATED, name, "mma.sync") == {"proved"}
