"""The octet rule: the cost of `cp.async.cg` of 16 bytes, for one octet and for many warps at a time.

In the model lane l of an octet reads half l % 2 of sector l / 2 % 4 of one 128-byte line (the global
side is coalesced); `copy_cost` takes any sources. Lanes share a wavefront if their data moves in
the same way: from one line into one line, with halves kept or swapped, and sectors moved by an even
or an odd XOR. The two forms share no code, so each tests the other.

Source: measured on an H100, tests/data/README.md; the rule in words is docs/hardware.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from swzverify.errors import SwzError
from swzverify.hardware.instructions import BANK_PERIOD_BYTES, LANES, SECTOR_BYTES, Instruction

CHUNK_BYTES = 16
"""Bytes that one lane copies."""
CHUNKS_PER_LINE = BANK_PERIOD_BYTES // CHUNK_BYTES
"""Lanes of an octet: they read one line."""
_SECTORS = BANK_PERIOD_BYTES // SECTOR_BYTES

IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]


@dataclass(slots=True)
class OctetClass:
    """Lanes that share a wavefront, and the moves of the sectors that they read.

    `moves` has the moves of even sectors, then those of odd sectors.
    """

    lanes: list[int] = field(default_factory=list[int])
    moves: tuple[set[int], set[int]] = field(default_factory=lambda: (set[int](), set[int]()))

    @property
    def wavefronts(self) -> int:
        """The larger of two numbers: of different moves of the even sectors, and of the odd ones."""
        return max(map(len, self.moves))


class CopyCost(NamedTuple):
    """The cost of a warp instruction with known sources: a lower bound, exact if `is_exact`.

    `minimum` is at most the number of octets with a lane that copies.
    """

    wavefronts: int
    minimum: int
    is_exact: bool


def copying(active: Mapping[int, int]) -> dict[int, int]:
    """The lanes that copy: of lanes of the warp with the same address, only the lowest one copies.

    >>> copying({3: 64, 5: 64, 9: 0})
    {3: 64, 9: 0}
    """
    lowest: dict[int, int] = {}
    for lane in sorted(active):
        lowest.setdefault(active[lane], lane)
    return {lane: address for address, lane in lowest.items()}


def octet_classes(copies: Mapping[int, int], sources: Mapping[int, int] | None = None) -> list[OctetClass]:
    """The classes of lanes that copy, from their byte addresses.

    `sources` are the chunks of global memory that the lanes read. Without it, the lanes are those of one
    octet and read one line in order.

    >>> [each.lanes for each in octet_classes({lane: 16 * (lane ^ 3) for lane in range(8)})]
    [[0, 1, 2, 3, 4, 5, 6, 7]]
    >>> [each.lanes for each in octet_classes({lane: 16 * lane + 16 for lane in range(4)})]
    [[0, 2], [1, 3]]
    """
    if sources is None:
        sources = {lane: lane % CHUNKS_PER_LINE for lane in copies}
    halves_by_move: dict[tuple[int, int], tuple[list[int], list[int]]] = {}
    for lane in sorted(copies):
        move = sources[lane] // 2, copies[lane] // SECTOR_BYTES
        halves_by_move.setdefault(move, ([], []))[sources[lane] % 2].append(lane)
    classes: dict[tuple[int, int, str, int, int], OctetClass] = {}
    for (source, target), halves in halves_by_move.items():
        for unit in zip_longest(*halves):
            lanes = [lane for lane in unit if lane is not None]
            kind = "both" if len(lanes) == 2 else "even" if unit[1] is None else "odd"
            # Of two lanes that are one unit the halves are both kept or both swapped: either speaks
            # for the unit.
            swapped = sources[lanes[0]] % 2 ^ copies[lanes[0]] // CHUNK_BYTES % 2
            move = (source ^ target) % _SECTORS
            key = source // _SECTORS, target // _SECTORS, kind, swapped, move % 2
            found = classes.setdefault(key, OctetClass())
            found.lanes += lanes
            found.moves[source % 2].add(move // 2)
    return list(classes.values())


def copy_cost(active: Mapping[int, int], sources: Mapping[int, int]) -> CopyCost:
    """The cost of a warp instruction whose lanes copy chunks of 16 bytes from any source.

    `active` has the byte addresses of the active lanes, and `sources` the chunks of global memory that
    they read.

    Source: measured on an H100, tests/data/README.md, h100_cp_async16_rule.npz: the rule is exact
    where no two lanes read one chunk, and a lower bound elsewhere.

    >>> lanes = range(32)
    >>> copy_cost({lane: 32 * lane for lane in lanes}, {lane: 2 * lane for lane in lanes})
    CopyCost(wavefronts=8, minimum=4, is_exact=True)
    """
    copies = copying(active)
    wavefronts = sum(each.wavefronts for each in octet_classes(copies, sources))
    octets = len({lane // CHUNKS_PER_LINE for lane in copies})
    return CopyCost(wavefronts, min(octets, wavefronts), len({sources[lane] for lane in copies}) == len(copies))


def octets_many(chunks: IntArray, lanes_on: BoolArray) -> tuple[IntArray, IntArray]:
    """The (wavefronts, minimum) of n warps, each int64 of shape (n,).

    `chunks` has the shape (n, 32), with -1 in lanes that are off. A class takes one wavefront: two units
    of it that read sectors of one parity and move them differently would write to one address, and of
    lanes with one address only one copies. So the number of classes is the cost.

    >>> wavefronts, minimum = octets_many(np.arange(32)[None, :] + 1, np.ones((1, 32), dtype=bool))
    >>> wavefronts.tolist(), minimum.tolist()
    ([12], [4])
    """
    order = np.argsort(chunks, axis=1, kind="stable")
    in_order = np.take_along_axis(chunks, order, axis=1)
    copies = lanes_on.copy()
    np.put_along_axis(copies, order[:, 1:], in_order[:, 1:] != in_order[:, :-1], axis=1)
    lane = np.arange(LANES)
    # Bit 0 tells swapped halves, bit 1 sectors moved by an odd number; bit 2, the rest of the move,
    # is in no class.
    moved = chunks ^ lane % CHUNKS_PER_LINE
    paired = copies & copies[:, lane ^ 1] & (chunks >> 1 == chunks[:, lane ^ 1] >> 1)
    kind = np.where(paired, 2, lane % 2)
    name = np.where(copies, (moved >> 3) * 12 + (moved & 3) * 3 + kind, -1)
    first = first_of_run(np.sort(name.reshape(-1, CHUNKS_PER_LINE), axis=1))
    counts = first.reshape(len(chunks), LANES // CHUNKS_PER_LINE, CHUNKS_PER_LINE).sum(axis=2, dtype=np.int64)
    return counts.sum(axis=1, dtype=np.int64), (counts > 0).sum(axis=1, dtype=np.int64)


class ManyCopies(NamedTuple):
    """The costs of n warp instructions whose sources are known, of shape (n,); see `CopyCost`."""

    wavefronts: IntArray
    minimum: IntArray
    is_exact: BoolArray


_ROWS_AT_ONCE = 2048


def copies_many(chunks: IntArray, sources: IntArray, lanes_on: BoolArray) -> ManyCopies:
    """The costs of n warps by the chunks that lanes write and read, arrays of shape (n, 32).

    It compares all lanes in pairs. Lanes that copy write to different chunks, so a lane makes a unit
    with at most one other lane.

    >>> lanes = np.arange(32)[None, :]
    >>> copies_many(2 * lanes, 2 * lanes, np.ones((1, 32), dtype=bool)).wavefronts.tolist()
    [8]
    """
    found = [
        _copies(chunks[at:][:_ROWS_AT_ONCE], sources[at:][:_ROWS_AT_ONCE], lanes_on[at:][:_ROWS_AT_ONCE])
        for at in range(0, max(1, len(chunks)), _ROWS_AT_ONCE)
    ]
    wavefronts, minimum, is_exact = (np.concatenate(parts) for parts in zip(*found, strict=True))
    return ManyCopies(wavefronts, minimum, is_exact)


def _copies(chunks: IntArray, sources: IntArray, lanes_on: BoolArray) -> ManyCopies:
    lane = np.arange(LANES)
    below = lane[None, :] < lane[:, None]

    def pairs(values: IntArray | BoolArray) -> BoolArray:
        return values[:, :, None] == values[:, None, :]

    copies = lanes_on & ~(pairs(chunks) & lanes_on[:, None, :] & below).any(axis=2)
    both = copies[:, :, None] & copies[:, None, :]
    one_sector = both & pairs(chunks >> 1) & pairs(sources >> 1)
    paired = (one_sector & ~pairs(sources & 1)).any(axis=2)
    kind = np.where(paired, 2, sources & 1)
    move = (sources >> 1 ^ chunks >> 1) & _SECTORS - 1
    one_class = both & pairs(sources >> 3) & pairs(chunks >> 3) & pairs(kind)
    one_class &= pairs((sources ^ chunks) & 1) & pairs(move & 1)
    parity = sources >> 1 & 1
    there = [copies & (parity == odd) & (move >> 1 == far) for odd in (0, 1) for far in (0, 1)]
    has = [(one_class & each[:, None, :]).any(axis=2).astype(np.int64) for each in there]
    first = copies & ~(one_class & below).any(axis=2)
    wavefronts = np.where(first, np.maximum(has[0] + has[1], has[2] + has[3]), 0).sum(axis=1, dtype=np.int64)
    octets = copies.reshape(len(chunks), -1, CHUNKS_PER_LINE).any(axis=2).sum(axis=1, dtype=np.int64)
    again = np.count_nonzero(both & pairs(sources) & below, axis=(1, 2))
    return ManyCopies(wavefronts, np.minimum(octets, wavefronts), again == 0)


def first_of_run(ordered: IntArray) -> BoolArray:
    """Marks the first of each run of equal values in ordered rows; -1 marks nothing."""
    first = ordered >= 0
    first[:, 1:] &= ordered[:, 1:] != ordered[:, :-1]
    return first


def check_warps(row: Instruction, addresses: IntArray, active: BoolArray) -> None:
    """Check that both arrays have a row for each warp and a column for each lane, and hold integers and truths.

    Raises:
        SwzError: SWZ404 for another shape or another type.
    """
    if addresses.ndim != 2 or addresses.shape[1] != LANES or active.shape != addresses.shape:
        message = f"{row.name}: addresses {addresses.shape} and active {active.shape}, both must be (n, {LANES})"
        raise SwzError("SWZ404", message)
    if addresses.dtype.kind not in "iu" or active.dtype != np.bool_:
        raise SwzError(
            "SWZ404", f"{row.name}: addresses are {addresses.dtype}, active {active.dtype}, not integer, bool"
        )
