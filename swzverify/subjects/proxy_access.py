"""What an operation of the asynchronous proxy touches, as an access of one warp: each lane has a piece of 16 bytes.

A bulk copy writes every byte of a tile's stage. `wgmma` reads the bytes that the descriptors of an operand name, for
all values of the operand's loops that the step does not give.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise, product
from math import lcm

import numpy as np
from numpy.typing import NDArray

from swzverify.errors import SwzError
from swzverify.hardware import CHUNK_BYTES, LANES, Target, find_instruction
from swzverify.ir.c_parse import parse
from swzverify.subjects.access import Access
from swzverify.subjects.loop import Loop
from swzverify.subjects.memory import Base, origin
from swzverify.subjects.operand import MN, K, Operand
from swzverify.subjects.role import Cycle
from swzverify.subjects.tile import Tile

Array = NDArray[np.int64]
PATTERN_BYTES = 1024
"""A swizzle of addresses repeats after so many bytes. Source: PTX ISA 9.2, "Strides", table of swizzle modes."""
MAX_RUNS = 16
"""Runs of bytes that an operation may touch at a time."""

Runs = tuple[tuple[int, int], ...]
"""The first piece and the length of each run, in pieces of 16 bytes."""


@lru_cache(maxsize=256)  # phases of one file copy the same tiles
def copied_tile(tile: Tile, stage: Cycle, variable: str, target: Target) -> Access:
    """What a bulk copy into one stage of a tile writes.

    Raises:
        SwzError: SWZ206 for a tile that is no run of bytes.
    """
    every = np.indices(tile.extents).reshape(len(tile.extents), -1)
    if tile.element_bits % 8:
        raise SwzError("SWZ206", f"a bulk copy into elements of {tile.element_bits} bits is not modelled")

    def addresses(turn: int, base: int) -> Array:
        own = 0 if tile.stages == 1 else stage.at(turn)
        first = np.asarray(tile.position(list(every), stage=own, base=base))  # type: ignore[arg-type]  # arrays of ints
        return first * tile.unit_bits // 8

    places = _Places(tile.name, addresses, tile.element_bits // 8, tile.base, (stage,))
    return places.access(variable, "st.shared.v4.b32", target)


@lru_cache(maxsize=256)
def read_operand(operand: Operand, at: tuple[tuple[str, Cycle], ...], variable: str, target: Target) -> Access:
    """What `wgmma` reads of an operand; `at` has the values of some of its loops.

    Raises:
        SwzError: SWZ105 for a value that no loop of the operand has, SWZ206 for more than 16 runs of bytes,
            and for stages of compiled code.
    """
    if operand.stages_of_code is not None:
        raise SwzError(
            "SWZ206",
            f"operand {operand.name} is read from compiled code, where the order of its stages is not known: not "
            "modelled",
            hint="state its `descriptor:` for the phase, in an operand of its own",
        )
    loops = {loop.name: loop.count or 0 for loop in operand.loops}
    given = dict(at)
    free = [(name, range(count)) for name, count in loops.items() if name not in given]
    rows, columns = np.divmod(np.arange(operand.rows * operand.columns, dtype=np.int64), operand.columns)
    if not all(loops.values()):
        raise SwzError("SWZ206", f"operand {operand.name} has a loop without an iteration")

    def addresses(turn: int, base: int) -> Array:
        found = list[Array]()
        for values in product(*(each for _, each in free)):
            here = dict(zip([name for name, _ in free], values, strict=True))
            here |= {name: cycle.at(turn) for name, cycle in at}
            point = {name: np.full(1, value, dtype=np.int64) for name, value in here.items()}
            found.append(operand.reads({**point, MN: rows, K: columns}, np.full(1, base, dtype=np.int64)))
        return np.concatenate(found)

    places = _Places(operand.name, addresses, operand.element_bytes, operand.own_base, tuple(given.values()))
    return places.access(variable, "ld.shared.v4.b32", target)


@dataclass(frozen=True)
class _Places:
    """The addresses of elements, given an iteration and the base.

    Attributes:
        name: What touches them.
        addresses: The address of each element.
        element_bytes: The size of an element.
        base: Where they are counted from.
        cycles: What the addresses depend on.
    """

    name: str
    addresses: Callable[[int, int], Array]
    element_bytes: int
    base: Base
    cycles: Sequence[Cycle]

    def access(self, variable: str, instruction: str, target: Target) -> Access:
        """The access whose lanes touch the elements."""
        starts, shape = self._starts()
        total = sum(length for _, length in shape)
        chunk = "chunk" if variable != "chunk" else "group"
        piece = f"({chunk}*{LANES} + lane)"
        loops = (Loop(chunk, 0, -(-total // LANES)),)
        if len(set(starts)) > 1:
            loops = (Loop(variable, 0, None), *loops)
        text = f"{cycle_text(starts, variable)} + {CHUNK_BYTES}*({_piece_text(shape, piece)})"
        return Access(
            self.name,
            find_instruction(instruction),
            target,
            (LANES,),
            loops,
            address=parse(text),
            base=self.base,
            predicate=parse(f"{piece} < {total}") if total % LANES else None,
        )

    def _starts(self) -> tuple[list[int], Runs]:
        """The first byte in each iteration of a period, and the runs of bytes from there."""
        place = origin(self.base)
        residues = {place.at({place.name: at}) % PATTERN_BYTES: at for at in range(min(place.count, PATTERN_BYTES))}
        found = list[tuple[int, Runs]]()
        for turn in range(lcm(1, *(len(cycle.values) for cycle in self.cycles))):
            bases = [place.at({place.name: index}) for index in residues.values()]
            here = {self._runs(self.addresses(turn, base) - base) for base in bases}
            found += here
            if len(here) > 1 or found[-1][1] != found[0][1]:
                raise SwzError(
                    "SWZ206",
                    f"{self.name} touches bytes that lie differently for other bases or iterations: not modelled",
                    hint=f"place it at a multiple of {PATTERN_BYTES}",
                )
        return [start for start, _ in found], found[0][1]

    def _runs(self, addresses: Array) -> tuple[int, Runs]:
        """The first byte, and the runs of pieces of 16 bytes from there."""
        name, element_bytes = self.name, self.element_bytes
        pieces = np.unique(addresses // CHUNK_BYTES)
        if len(np.unique(addresses)) * element_bytes != len(pieces) * CHUNK_BYTES or addresses.min() % CHUNK_BYTES:
            raise SwzError(
                "SWZ206",
                f"{name} does not consist of whole pieces of {CHUNK_BYTES} bytes: not modelled",
                hint="an operation of the asynchronous proxy touches such pieces, at a base that is a multiple of 16",
            )
        first = int(pieces[0])
        ends = [*(np.flatnonzero(np.diff(pieces) > 1) + 1).tolist(), len(pieces)]
        runs = tuple((int(pieces[start]) - first, end - start) for start, end in pairwise([0, *ends]))
        if len(runs) > MAX_RUNS:
            raise SwzError(
                "SWZ206",
                f"{name} touches {len(runs)} runs of bytes at a time; at most {MAX_RUNS} are modelled",
                hint="let the step cover all steps of K: give values in `at:` for stages alone",
            )
        return first * CHUNK_BYTES, runs


def cycle_text(values: Sequence[int], variable: str) -> str:
    """A C expression with these values over one period.

    >>> cycle_text([512, 0, 256], "i"), cycle_text([7, 7], "i"), cycle_text([4, 0, 1], "i")
    ('0 + 256*((i + 2)%3)', '7', '(i%3 == 0 ? 4 : i%3 == 1 ? 0 : 1)')
    """
    period, low = len(values), min(values)
    if len(set(values)) == 1:
        return str(low)
    steps = sorted({value - low for value in values})
    if len(steps) == period and all(step == at * steps[1] for at, step in enumerate(steps)):
        shift = (values[0] - low) // steps[1]
        if all(value == low + (at + shift) % period * steps[1] for at, value in enumerate(values)):
            return f"{low} + {steps[1]}*(({variable} + {shift})%{period})"
    parts = [f"{variable}%{period} == {at} ? {value}" for at, value in enumerate(values[:-1])]
    return "(" + " : ".join([*parts, str(values[-1])]) + ")"


def _piece_text(runs: Runs, number: str) -> str:
    """The piece of each number, over the runs."""
    parts, done = list[str](), 0
    for first, length in runs:
        shifted = f"{number} + {first - done}"
        done += length
        parts.append(f"{number} < {done} ? {shifted}" if len(parts) < len(runs) - 1 else shifted)
    return " : ".join(parts)
