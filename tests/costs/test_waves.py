"""Waves of blocks: against sets of tiles that a loop collects, block by block."""

from __future__ import annotations

import random
from math import prod

import pytest

from swzverify.errors import SwzError
from swzverify.ir.c_parse import parse
from swzverify.search.costs import waves
from swzverify.search.costs.waves import Locality, Wave, fewest, locality
from swzverify.subjects import IndexMap

VALUES = ("x", "y", "x + y", "(x + 3*y)%5", "(x ^ y)", "x/2 - 1", "y%3", "2", "(x*y)%4", "x*7 - y")


def order_of(value: tuple[str, ...], over: tuple[tuple[str, int], ...], onto: tuple[int, ...] | None = None):
    return IndexMap("order", over, tuple(parse(each) for each in value), onto)


def by_hand(order: IndexMap, size: int) -> list[tuple[int, int, int, int, int]]:
    """Blocks, idle blocks, tiles, tiles of A and of B of each wave, one block at a time."""
    (first, width), (second, height) = order.over
    found: list[tuple[int, int, int, int, int]] = []
    blocks = [order.at({first: x, second: y}) for y in range(height) for x in range(width)]
    for start in range(0, len(blocks), size):
        wave = blocks[start : start + size]
        box = order.onto
        held = [(a, b) for a, b in wave if box is None or (0 <= a < box[0] and 0 <= b < box[1])]
        tiles = set(held)
        idle = len(wave) - len(held)
        found.append((len(held), idle, len(tiles), len({a for a, _ in tiles}), len({b for _, b in tiles})))
    return found


def counted(found: Locality) -> list[tuple[int, int, int, int, int]]:
    return [(wave.blocks, wave.idle, wave.tiles, wave.a, wave.b) for wave in found.waves]


def random_order(seed: int) -> tuple[IndexMap, int]:
    draw = random.Random(seed)
    over = (("x", draw.randint(1, 9)), ("y", draw.randint(1, 9)))
    onto = draw.choice([None, (draw.randint(1, 6), draw.randint(1, 6))])
    return order_of((draw.choice(VALUES), draw.choice(VALUES)), over, onto), draw.randint(1, 12)


@pytest.mark.parametrize("seed", range(300))
def test_random_orders_are_counted_as_by_hand(seed: int) -> None:
    order, size = random_order(seed)
    expected = by_hand(order, size)
    if not any(blocks for blocks, *_ in expected):
        with pytest.raises(SwzError, match="SWZ585"):
            locality(order, size)
        return
    found = locality(order, size)
    assert counted(found) == expected
    assert found.needed == sum(a + b for *_, a, b in expected)
    assert found.most == max(a + b for *_, a, b in expected)
    assert all(wave.fewest <= wave.needed for wave in found.waves)


def test_a_wrong_count_would_be_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """The comparison notices a slip in what counts as different."""
    monkeypatch.setattr(waves, "_different", lambda wave_of, _value, _extent, count: [sum(wave_of == 0)] * count)
    noticed = 0
    for seed in range(30):
        order, size = random_order(seed)
        try:
            noticed += counted(locality(order, size)) != by_hand(order, size)
        except (SwzError, AttributeError, ValueError):
            noticed += 1
    assert noticed > 20


def test_the_first_variable_runs_fastest() -> None:
    """Two blocks per wave of a grid 2 x 3: each wave is a row of the grid."""
    along = locality(order_of(("y", "x"), (("x", 2), ("y", 3)), (3, 2)), 2)
    assert counted(along) == [(2, 0, 2, 1, 2)] * 3
    down = locality(order_of(("y", "x"), (("y", 3), ("x", 2)), (3, 2)), 3)
    assert counted(down) == [(3, 0, 3, 3, 1)] * 2


def test_no_order_needs_less_than_the_fewest() -> None:
    """Every a and b with room for the tiles, tried."""
    for rows in range(1, 8):
        for columns in range(1, 8):
            for tiles in range(1, rows * columns + 1):
                pairs = [(a, b) for a in range(1, rows + 1) for b in range(1, columns + 1) if a * b >= tiles]
                assert fewest(tiles, rows, columns) == min(a + b for a, b in pairs)


def test_many_different_values_do_not_wrap() -> None:
    """A map that is far from one to one: every row and every column is its own."""
    order = order_of(("x*1000 + y", "x*999 + y*1000"), (("x", 350), ("y", 350)))
    found = locality(order, 7)
    assert (found.rows, found.columns) == (350 * 350, len({x * 999 + y * 1000 for x in range(350) for y in range(350)}))
    assert all(wave == Wave(7, 0, 7, 7, 7, 6) for wave in found.waves)


@pytest.mark.parametrize(
    ("order", "size", "told"),
    [
        (order_of(("x",), (("x", 4),)), 2, "1 value;"),
        (order_of(("x", "x", "x"), (("x", 4),)), 2, "3 values;"),
        (order_of(("x + base", "x"), (("x", 4),)), 2, "base"),
        (order_of(("x", "x"), (("x", 4),)), 0, "a wave of 0"),
        (order_of(("x", "y"), (("x", 4096), ("y", 4096))), 132, "16777216 blocks"),
        (order_of(("x + 4", "x"), (("x", 4),), (4, 4)), 2, "no block"),
    ],
)
def test_what_cannot_be_counted(order: IndexMap, size: int, told: str) -> None:
    with pytest.raises(SwzError, match="SWZ585") as error:
        locality(order, size)
    assert told in str(error.value)
    assert prod(extent for _, extent in order.over) > 0
