"""The XOR map with the fewest terms by brute force, map by map; it shares no code with the package."""

from __future__ import annotations

from itertools import combinations

from tests.oracle.hardware import Instruction, read_instruction, warp_cost
from tests.synth.puzzles import Puzzle

LINE = 7
"""Bits of the byte offset inside 128 bytes."""


def fewest(puzzle: Puzzle, most: int) -> int | None:
    """The fewest terms of a map under which no access has a conflict; None where none with `most`
    terms or fewer is.
    """
    vector = max(4, puzzle.bits // 8, *(read_instruction(path.instruction).width_bytes for path in puzzle.paths))
    least = len(f"{vector - 1:b}") if vector > 1 else 0
    top = len(f"{puzzle.rows * puzzle.columns * puzzle.bits // 8 - 1:b}")
    pairs = [(target, source) for target in range(least, LINE) for source in range(least, top) if source != target]
    warps = [(read_instruction(path.instruction), list(path.warps())) for path in puzzle.paths]
    for count in range(most + 1):
        for chosen in combinations(pairs, count):
            if not _one_to_one(chosen, least):
                continue
            if all(_free(puzzle, row, lanes, chosen) for row, every in warps for lanes in every):
                return count
    return None


def _moved(value: int, chosen: tuple[tuple[int, int], ...]) -> int:
    found = value
    for target, source in chosen:
        if value >> source & 1:
            found ^= 1 << target
    return found


def _one_to_one(chosen: tuple[tuple[int, int], ...], least: int) -> bool:
    values = {_moved(value << least, chosen) % (1 << LINE) for value in range(1 << (LINE - least))}
    return len(values) == 1 << (LINE - least)


def _free(
    puzzle: Puzzle, row: Instruction, lanes: list[tuple[int, int] | None], chosen: tuple[tuple[int, int], ...]
) -> bool:
    addresses = [
        None if coord is None else _moved((coord[0] * puzzle.columns + coord[1]) * puzzle.bits // 8, chosen)
        for coord in lanes
    ]
    if len(addresses) > row.lanes:
        addresses = [*addresses[: row.lanes], *[None] * (32 - row.lanes)]
    return warp_cost(row, addresses).conflicts == 0
