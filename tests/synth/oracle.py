"""The best layout by brute force: every member of a family, element by element and lane by lane.

It shares no code with the package: swizzles bit by bit, banks by the oracle of docs/hardware.md,
families as docs/synth.md states them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import combinations
from typing import Any

import numpy as np

from tests.oracle.hardware import read_instruction, warp_cost
from tests.synth.puzzles import Puzzle


@dataclass(frozen=True)
class Choice:
    """One member: a pad, a swizzle (None: none), or a TMA mode, with the pitch of a row in elements."""

    pad: int = 0
    swizzle: tuple[int, int, int] | None = None
    mode: str = ""
    pitch: int = 0


@dataclass(frozen=True)
class Found:
    """What brute force says: the best score, every member that has it in the family's order, what the
    first one costs, and the sizes of the smallest sets that no member serves together.
    """

    score: tuple[int, int, int, int]
    best: list[Choice]
    wavefronts: tuple[int, ...]
    conflicts: tuple[int, ...]
    cores: set[tuple[int, ...]]
    members: int


def swizzled(value: Any, swizzle: tuple[int, int, int] | None) -> Any:
    """x with bit M + i XORed with bit M + S + i; of a negative S the other way round. `value` is an
    integer, or an array of integers.
    """
    if swizzle is None:
        return value
    bits, base, shift = swizzle
    found = value
    for i in range(bits):
        read, changed = base + i + max(shift, 0), base + i + max(-shift, 0)
        found = found ^ (value >> read & 1) << changed
    return found


@cache
def solve(puzzle: Puzzle) -> Found | None:
    """The best member; None where the family has none for this tile."""
    warps = [list(path.warps()) for path in puzzle.paths]
    vectors = [max(read_instruction(path.instruction).width_bytes * 8, puzzle.bits) for path in puzzle.paths]
    rows: list[tuple[Choice, tuple[int, int, int, int], tuple[int, ...], tuple[int, ...]]] = []
    served: list[tuple[bool, ...]] = []
    members = 0
    for choice in choices(puzzle, min(vectors)):
        whole = [_whole(puzzle, choice, vector) for vector in vectors]
        members += all(whole)
        if not any(whole) or not _inside(puzzle, choice):
            continue
        costs = [
            _worst(puzzle, choice, path.instruction, own) if keeps else None
            for path, own, keeps in zip(puzzle.paths, warps, whole, strict=True)
        ]
        served.append(tuple(cost is not None and cost[1] == 0 for cost in costs))
        if any(cost is None for cost in costs):
            continue
        wavefronts = tuple(cost[0] for cost in costs if cost is not None)
        conflicts = tuple(cost[1] for cost in costs if cost is not None)
        weighted = [sum(n * w for n, w in zip(each, puzzle.weights, strict=True)) for each in (wavefronts, conflicts)]
        size = _total_bytes(puzzle, choice)
        rows.append((choice, (int(any(conflicts)), *weighted, size), wavefronts, conflicts))
    if not rows:
        return None
    least = min(row[1] for row in rows)
    best = [row for row in rows if row[1] == least]
    return Found(least, [row[0] for row in best], best[0][2], best[0][3], _cores(served, len(puzzle.paths)), members)


def _cores(served: list[tuple[bool, ...]], count: int) -> set[tuple[int, ...]]:
    for size in range(1, count + 1):
        found = {
            chosen
            for chosen in combinations(range(count), size)
            if not any(all(row[i] for i in chosen) for row in served)
        }
        if found:
            return found
    return set()


def choices(puzzle: Puzzle, vector: int) -> Iterator[Choice]:
    """Every member, in the family's order, as far as it keeps vectors of so many bits whole."""
    run = puzzle.columns if puzzle.order == "row" else puzzle.rows
    if puzzle.family == "swizzle":
        pitch = run + puzzle.pad
        for swizzle in _swizzles(puzzle, pitch, vector):
            yield Choice(puzzle.pad, swizzle, pitch=pitch)
    elif puzzle.family == "tma":
        yield from _modes(puzzle)
    else:
        found = [
            Choice(pad, pitch=run + pad)
            for pad in range(1024 // puzzle.bits)
            if (run + pad) * puzzle.bits % vector == 0 and run * puzzle.bits >= vector
        ]
        found = [each for each in found if _total_bytes(puzzle, each) <= puzzle.room]
        for each in sorted(found, key=lambda one: (_total_bytes(puzzle, one), one.pad)):
            if puzzle.family == "pad":
                yield each
            else:
                for swizzle in _swizzles(puzzle, each.pitch, vector):
                    yield Choice(each.pad, swizzle, pitch=each.pitch)


def _swizzles(puzzle: Puzzle, pitch: int, vector: int) -> Iterator[tuple[int, int, int] | None]:
    yield None
    other = puzzle.rows if puzzle.order == "row" else puzzle.columns
    run = puzzle.columns if puzzle.order == "row" else puzzle.rows
    last = (other - 1) * pitch + run - 1
    unit = puzzle.bits
    if puzzle.on == "address":
        last, unit = other * pitch * puzzle.bits // 8 - 1, 8
    reach = len(f"{last:b}") if last else 0
    least = (vector // unit - 1).bit_length() if vector > unit else 0
    every = [
        (bits, base, sign * shift)
        for bits in range(1, reach + 1)
        for sign in (1, -1)
        for base in range(least, reach + 1)
        for shift in range(bits, reach + 1)
        if base + bits + shift <= reach
    ]
    yield from every


def _modes(puzzle: Puzzle) -> Iterator[Choice]:
    inner = puzzle.columns * puzzle.bits // 8
    if puzzle.order != "row" or inner % 16 or max(puzzle.rows, puzzle.columns) > 256 or puzzle.align % 128:
        return
    found = [Choice(mode="none", pitch=puzzle.columns)]
    for bits, span in ((1, 32), (2, 64), (3, 128)):
        if inner <= span:
            found.append(Choice(swizzle=(bits, 4, 3), mode=f"{span}B", pitch=span * 8 // puzzle.bits))
    found = [each for each in found if _total_bytes(puzzle, each) <= puzzle.room]
    if puzzle.stages > 1:
        found = [each for each in found if _stage_bytes(puzzle, each) % 128 == 0]
    yield from sorted(found, key=lambda each: _total_bytes(puzzle, each))


def _on(puzzle: Puzzle, choice: Choice) -> str:
    return "address" if choice.mode else puzzle.on


def _allocation_bytes(puzzle: Puzzle, choice: Choice) -> int:
    other = puzzle.rows if puzzle.order == "row" else puzzle.columns
    return -(-other * choice.pitch * puzzle.bits // 8)


def _stage_bytes(puzzle: Puzzle, choice: Choice) -> int:
    return -(-_allocation_bytes(puzzle, choice) // puzzle.align) * puzzle.align


def _total_bytes(puzzle: Puzzle, choice: Choice) -> int:
    return (puzzle.stages - 1) * _stage_bytes(puzzle, choice) + _allocation_bytes(puzzle, choice)


def _whole(puzzle: Puzzle, choice: Choice, vector: int) -> bool:
    """Whether vectors of so many bits stay whole: rows are multiples of them, and no bit inside
    changes or is read.
    """
    if choice.pad and puzzle.family != "swizzle":
        run = puzzle.columns if puzzle.order == "row" else puzzle.rows
        if choice.pitch * puzzle.bits % vector or run * puzzle.bits < vector:
            return False
    if choice.swizzle is None:
        return True
    unit = 8 if _on(puzzle, choice) == "address" else puzzle.bits
    return 1 << choice.swizzle[1] >= vector // unit


def _starts(puzzle: Puzzle, choice: Choice) -> list[int]:
    """Base addresses of stages: enough of them that every residue modulo what anything looks at is
    there.
    """
    span = 128
    if choice.swizzle is not None and _on(puzzle, choice) == "address":
        bits, base, shift = choice.swizzle
        span = max(span, 1 << (bits + base + abs(shift)))
    bases = range(0, max(span, puzzle.align), puzzle.align)
    return sorted(
        {
            (base + stage * _stage_bytes(puzzle, choice)) % max(span, puzzle.align)
            for base in bases
            for stage in range(puzzle.stages)
        }
    )


def _inside(puzzle: Puzzle, choice: Choice) -> bool:
    swizzle = choice.swizzle
    if swizzle is None:
        return True
    room = 8 * _allocation_bytes(puzzle, choice) // puzzle.bits
    rows, columns = np.arange(puzzle.rows), np.arange(puzzle.columns)
    plain = _offset(choice, puzzle, rows[:, None], columns[None, :])
    if _on(puzzle, choice) == "offset":
        return bool((swizzled(plain, swizzle) < room).all())
    step = puzzle.bits // 8
    top = 1 << 20
    for start in _starts(puzzle, choice):
        moved = swizzled(top + start + step * plain, swizzle) - top - start
        if not ((moved >= 0) & (moved <= room * step - step)).all():
            return False
    return True


def _offset(choice: Choice, puzzle: Puzzle, row: Any, column: Any) -> Any:
    return row * choice.pitch + column if puzzle.order == "row" else column * choice.pitch + row


def _worst(
    puzzle: Puzzle, choice: Choice, instruction: str, warps: list[list[tuple[int, int] | None]]
) -> tuple[int, int] | None:
    """The most wavefronts and the most conflicts of a warp instruction; None where one is misaligned."""
    row = read_instruction(instruction)
    most = np.zeros(2, dtype=int)
    for start in _starts(puzzle, choice):
        for lanes in warps:
            addresses: list[int | None] = []
            for lane, coord in enumerate(lanes):
                if coord is None or lane >= row.lanes:
                    addresses.append(None)
                    continue
                offset = _offset(choice, puzzle, *coord)
                if _on(puzzle, choice) == "offset":
                    bits = 8 * start + puzzle.bits * swizzled(offset, choice.swizzle)
                else:
                    bits = 8 * swizzled(start + puzzle.bits // 8 * offset, choice.swizzle)
                if bits % (8 * row.width_bytes):
                    return None
                addresses.append(bits // 8)
            if any(address is not None for address in addresses):
                cost = warp_cost(row, addresses)
                most = np.maximum(most, (cost.wavefronts, cost.conflicts))
    return int(most[0]), int(most[1])
