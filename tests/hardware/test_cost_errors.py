"""The cost rule at its edges: each error word for word."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from swzverify.errors import SwzError
from swzverify.hardware import INSTRUCTIONS, access_cost, cost_many


@pytest.mark.parametrize("name", INSTRUCTIONS)
def test_a_cost_holds_its_instruction(name: str) -> None:
    assert access_cost(name, [16 * lane for lane in range(32)]).instruction is INSTRUCTIONS[name]


Addresses = list[int | None]
LINE: Addresses = [16 * lane for lane in range(32)]


def without(lane: int) -> Addresses:
    return [*LINE[:lane], None, *LINE[lane + 1 :]]


ONE_WARP: dict[str, tuple[str, object, str]] = {
    "31 lanes": ("ld.shared.b32", LINE[:31], "SWZ404: ld.shared.b32: 31 addresses given, a warp has 32 lanes"),
    "a lane off": (
        "ldmatrix.x2",
        without(3),
        "SWZ405: ldmatrix.x2: lane 3 has no address; lanes 0 to 15 need one\n"
        "  all 32 lanes of the warp run a matrix instruction; take the predicate off",
    ),
    "no integer": (
        "ld.shared.b32",
        [*LINE[:31], 0.5],
        "SWZ404: ld.shared.b32: lane 31 has address 0.5, not an integer",
    ),
    "negative": ("ld.shared.b32", [-4, *LINE[1:]], "SWZ404: ld.shared.b32: lane 0 has the negative address -4"),
    "misaligned": (
        "ld.shared.b32",
        [0, 6, *LINE[2:]],
        "SWZ404: ld.shared.b32: lane 1 has address 6, not a multiple of 4 bytes\n"
        "  a misaligned access faults on the GPU",
    ),
}


@pytest.mark.parametrize(("name", "addresses", "said"), ONE_WARP.values(), ids=ONE_WARP)
def test_error_of_one_warp(name: str, addresses: Addresses, said: str) -> None:
    with pytest.raises(SwzError) as caught:
        access_cost(name, addresses)
    assert str(caught.value) == said


def test_lanes_past_the_addresses_of_a_matrix_are_not_read() -> None:
    assert access_cost("ldmatrix.x2", [*LINE[:16], *[None] * 16]).wavefronts == 2


ON = np.ones((2, 32), dtype=bool)
GRID = np.arange(64).reshape(2, 32) * 16


def changed(row: int, lane: int, value: int) -> np.ndarray:
    copy = GRID.copy()
    copy[row, lane] = value
    return copy


MANY: dict[str, tuple[str, Callable[[], tuple[np.ndarray, np.ndarray]], str]] = {
    "flat": (
        "ld.shared.b32",
        lambda: (GRID[0], ON[0]),
        "404: ld.shared.b32: addresses (32,) and active (32,), both must be (n, 32)",
    ),
    "narrow": (
        "ld.shared.b32",
        lambda: (GRID[:, :31], ON[:, :31]),
        "404: ld.shared.b32: addresses (2, 31) and active (2, 31), both must be (n, 32)",
    ),
    "unlike": (
        "ld.shared.b32",
        lambda: (GRID, ON[:1]),
        "404: ld.shared.b32: addresses (2, 32) and active (1, 32), both must be (n, 32)",
    ),
    "floats": (
        "ld.shared.b32",
        lambda: (GRID * 1.0, ON),
        "404: ld.shared.b32: addresses are float64, active bool, not integer, bool",
    ),
    "no bools": (
        "ld.shared.b32",
        lambda: (GRID, ON.astype(np.int8)),
        "404: ld.shared.b32: addresses are int64, active int8, not integer, bool",
    ),
    "a lane off": ("ldmatrix.x2", lambda: (GRID, GRID != 16), "405: ldmatrix.x2: lanes 0 to 15 each need an address"),
    "negative": (
        "ld.shared.b32",
        lambda: (changed(1, 3, -4), ON),
        "404: ld.shared.b32: lane 3 of row 1 has address -4, not a non-negative multiple of 4 bytes",
    ),
    "misaligned": (
        "ld.shared.b32",
        lambda: (changed(0, 7, 6), ON),
        "404: ld.shared.b32: lane 7 of row 0 has address 6, not a non-negative multiple of 4 bytes",
    ),
}


@pytest.mark.parametrize(("name", "made", "said"), MANY.values(), ids=MANY)
def test_error_of_many_warps(name: str, made: Callable[[], tuple[np.ndarray, np.ndarray]], said: str) -> None:
    with pytest.raises(SwzError) as caught:
        cost_many(name, *made())
    assert str(caught.value) == f"SWZ{said}"


def test_unsigned_addresses_are_integers() -> None:
    assert cost_many("ld.shared.v4.b32", GRID.astype(np.uint32), ON).wavefronts.tolist() == [4, 4]


def test_the_arrays_of_a_cost_are_its_own() -> None:
    cost = cost_many("ld.shared.v4.b32", GRID, ON)
    assert not np.shares_memory(cost.wavefronts, cost.minimum)
    assert {array.dtype for array in (cost.wavefronts, cost.minimum)} == {np.dtype(np.int64)}
