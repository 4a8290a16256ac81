"""The theorems on orders of thread blocks by brute force, on every small grid.

The orders are written here as their kernels write them, with Python's own division.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product

from tests.theorems.by_hand import states

Order = Callable[[int, int, int, int], tuple[int, int]]


def grids(most: int = 9) -> Iterator[tuple[int, int, int]]:
    """Rows, columns and the group's width."""
    return product(range(1, most), range(1, most), range(1, most + 2))


def is_bijection(order: Order, rows: int, columns: int, group: int) -> bool:
    """Whether every tile has exactly one program."""
    tiles = [order(pid, rows, columns, group) for pid in range(rows * columns)]
    return sorted(tiles) == list(product(range(rows), range(columns)))


def triton(pid: int, rows: int, columns: int, group: int) -> tuple[int, int]:
    """The tutorial's order."""
    number = pid // (group * columns)
    size = min(rows - number * group, group)
    local = pid % (group * columns)
    return number * group + local % size, local // size


def triton_older(pid: int, rows: int, columns: int, group: int) -> tuple[int, int]:
    """The tutorial's order with the row from the program's number."""
    number = pid // (group * columns)
    size = min(rows - number * group, group)
    return number * group + pid % size, pid % (group * columns) // size


def triton_no_min(pid: int, rows: int, columns: int, group: int) -> tuple[int, int]:
    """The order where every group is taken for a full one."""
    del rows
    return pid // (group * columns) * group + pid % group, pid % (group * columns) // group


def column_groups(flat: int, width: int, height: int, group: int, *, less: int = 0) -> tuple[int, int]:
    """The listing's order, column first; `less` is subtracted from the blocks of all full groups."""
    full = (width // group * group * height - less) % 2**32
    number, local = divmod(flat, group * height)
    last = full < flat if less else full <= flat
    of = width % group if last else group
    place = number * group + local // of * width + local % of
    return place % width, place // width


@states("quotients-are-unique")
def _() -> bool:
    return all(
        [(q, r) for q in range(a + 1) for r in range(d) if q * d + r == a] == [divmod(a, d)]
        for a in range(40)
        for d in range(1, 12)
    )


@states("grouped-order")
def _() -> bool:
    return all(is_bijection(triton, *grid) for grid in grids())


@states("grouped-order-older-row")
def _() -> bool:
    return all(is_bijection(triton_older, *grid) for grid in grids())


@states("grouped-order-no-min-mistaken")
def _() -> bool:
    return all(is_bijection(triton_no_min, *grid) for grid in grids())


@states("column-groups")
def _() -> bool:
    return all(is_bijection(column_groups, *grid) for grid in grids())


@states("column-groups-less-one-published")
def _() -> bool:
    return all(
        is_bijection(lambda *grid: column_groups(*grid, less=1), width, height, 16)
        for width in range(1, 40)
        for height in range(1, 17)
    )


def cutlass(m: int, n: int, log_tile: int) -> list[tuple[int, int]]:
    """The tiles of all blocks of the grid."""
    tile = 2**log_tile
    grid = product(range(m * tile), range((n + tile - 1) // tile))
    return [(x // tile, y * tile + x % tile) for x, y in grid]


@states("identity-swizzle")
def _() -> bool:
    return all(
        sorted(tile for tile in cutlass(m, n, log) if tile[1] < n) == list(product(range(m), range(n)))
        for m, n, log in product(range(8), range(20), range(4))
    )


@states("identity-swizzle-exact")
def _() -> bool:
    return all(
        (len(cutlass(m, n, log)) == m * n) == (n % 2**log == 0)
        for m, n, log in product(range(1, 8), range(20), range(4))
    )
