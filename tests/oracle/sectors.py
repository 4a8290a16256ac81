"""Sectors of global memory that a warp instruction touches (docs/semantics.md, sections 4 and 5)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from math import prod

from .access_claims import all_aligned, check_space
from .accesses import Access
from .hardware import Instruction
from .judgement import REFUTED, VACUOUS, Finding
from .oracle_errors import OracleAmbiguousError

SECTOR_BYTES = 32
MOST_CHOICES = 3_000


def touched(instruction: Instruction, addresses: Sequence[int | None]) -> set[int]:
    """The sectors that lanes touch with any byte; None stands for a lane that is not active.

    >>> sorted(touched(Instruction("load", 8), [24, 32, None, 24]))
    [0, 1]
    """
    every_byte = [a + q for a in addresses if a is not None for q in range(instruction.width_bytes)]
    return {byte // SECTOR_BYTES for byte in every_byte}


def least(instruction: Instruction, addresses: Sequence[int | None]) -> int:
    """The sectors that so many lanes need whose bytes are all different."""
    size = sum(instruction.width_bytes for a in addresses if a is not None)
    return size // SECTOR_BYTES + (size % SECTOR_BYTES > 0)


def coalesced(access: Access, at_most: int | None) -> Finding:
    """Whether each warp instruction touches at most so many sectors, or the least where no number
    is stated.
    """
    check_space(access, of_global_memory=True)
    if not access.active:
        return VACUOUS
    if not all_aligned(access):
        return REFUTED
    counts: set[tuple[int, int]] = set()
    for base, stage in access.runs(SECTOR_BYTES):
        addresses = access.addresses(base, stage)
        for lanes in _instructions(access, addresses):
            if any(a is not None for a in lanes):
                counts.add((len(touched(access.instruction, lanes)), least(access.instruction, lanes)))
    broken = any(count > (minimum if at_most is None else at_most) for count, minimum in counts)
    most = max(count for count, _ in counts)
    worst = tuple(sorted(pair for pair in counts if pair[0] == most))
    return Finding("refuted" if broken else "proved", slowest=worst)


def _instructions(access: Access, addresses: Sequence[int]) -> Iterator[Sequence[int | None]]:
    """The addresses of each warp instruction, for every choice of values of the lanes' own."""
    if not access.form.reads_own:
        for warp in access.warps:
            yield [None if point is None else addresses[point] for point in warp]
        return
    for choices in access.choosing:
        options = [sorted({-1 if point is None else addresses[point] for point in lane}) for lane in choices]
        if prod(len(each) for each in options) > MOST_CHOICES:
            raise OracleAmbiguousError("too many choices of lanes to try them all")
        for choice in product(*options):
            yield [None if a < 0 else a for a in choice]
