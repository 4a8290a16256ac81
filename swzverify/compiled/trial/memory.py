"""The bytes that blocks see: shared memory, each thread's local memory, arguments and buffers.

Blocks of several launches have the same regions with other bytes. All of them lie in one array, one
block behind the other. Global, constant and local addresses are generic ones; those of shared
memory begin at a window.

What accesses reach in shared memory, as a trial keeps it.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, field
from typing import Final

import numpy as np
from numpy.typing import NDArray

from swzverify.compiled.ptx import Instruction
from swzverify.hardware import LANES

Array = NDArray[np.int64]
Mask = NDArray[np.bool_]
Bytes = NDArray[np.uint8]

PARAMETER_BASE: Final = 1 << 24
CONSTANT_BASE: Final = 2 << 24
LOCAL_BASE: Final = 3 << 24
"""Addresses of these three regions fit 32 bits."""
SHARED_WINDOW: Final = 1 << 40
SYMBOL_BASE: Final = 2 << 40
BUFFER_BASE: Final = 16 << 40
BUFFER_STEP: Final = 1 << 40


_NEVER: Final = -1
"""When a byte was written of which nothing is known."""
_MOST_FORGOTTEN: Final = 127
MOST_BYTES: Final = 1 << 27
"""Bytes of all regions of one block, with those of each thread."""


class LimitError(Exception):
    """The launch needs more memory than a trial has."""


class StopError(Exception):
    """The blocks of some threads cannot go on: those of all threads that run, without `threads`.

    An instruction raises it before it changes anything, so that it can be run again for the other
    blocks.
    """

    def __init__(self, reason: str, threads: Array | None = None) -> None:
        super().__init__(reason)
        self.threads = threads


class FaultError(StopError):
    """The launch does what no launch may do: it says nothing about the kernel."""


@dataclass(frozen=True, slots=True)
class Region:
    """The addresses `begin` .. `begin + size` - 1; with `per_thread` each thread has bytes of its own.

    Without `data` they hold zeros, and bytes that were not written are unknown.
    """

    begin: int
    size: int
    data: Bytes | None = None
    per_thread: bool = False


class Memory:
    """The regions of some blocks of `threads` threads each; all blocks have regions at the same places.

    A thread is named by its number among the threads of all blocks.

    Raises:
        LimitError: The regions of one block are too large.

    >>> memory = Memory([[Region(64, 8, np.arange(8, dtype=np.uint8))]], 1)
    >>> value, known = memory.load(np.array([66]), np.array([0]), 2)
    >>> hex(value[0]), bool(known[0])
    ('0x302', True)
    """

    def __init__(self, blocks: Sequence[Sequence[Region]], threads: int) -> None:
        ordered = [sorted(regions, key=lambda each: each.begin) for regions in blocks]
        first = ordered[0]
        if any([_place_of(each) for each in regions] != [*map(_place_of, first)] for regions in ordered):
            raise AssertionError(blocks)
        self._begins = np.array([each.begin for each in first], dtype=np.int64)
        self._sizes = np.array([each.size for each in first], dtype=np.int64)
        self._steps = np.array([each.size if each.per_thread else 0 for each in first], dtype=np.int64)
        self._threads, self._length = threads, bytes_of(first, threads)
        lengths = [bytes_of([each], threads) for each in first]
        self._places = np.cumsum([0, *lengths], dtype=np.int64)[:-1]
        self._bytes = np.zeros((len(ordered), self._length), dtype=np.uint8)
        # A byte is known if it was written, or there at the begin, since its block forgot all bytes:
        # by zeros and by counting, pages that nobody reads or writes are never touched.
        self._written = np.zeros((len(ordered), self._length), dtype=np.int8)
        self._forgotten = np.zeros(len(ordered), dtype=np.int8)
        for mine, regions in zip(self._bytes, ordered, strict=True):
            for each, place in zip(regions, self._places.tolist(), strict=True):
                if each.data is not None:
                    mine[place : place + each.size] = each.data

    def of_block(self, block: int) -> Memory:
        """The memory of one block alone: the same bytes, not a copy."""
        found = copy(self)
        mine = slice(block, block + 1)
        found._bytes, found._written, found._forgotten = self._bytes[mine], self._written[mine], self._forgotten[mine]
        return found

    def release(self) -> None:
        """Let go of all bytes: they are many, and what runs with them is freed late, as it is part of cycles."""
        self._bytes, self._written = self._bytes[:0].copy(), self._written[:0].copy()

    def load(self, addresses: Array, threads: Array, width_bytes: int) -> tuple[Array, Mask]:
        """The words of some bytes at addresses, and whether they are known.

        Raises:
            FaultError: An address is outside of all regions.
        """
        block, at = self._at(addresses, threads, width_bytes)
        raw = np.zeros((len(at), 8), dtype=np.uint8)
        raw[:, :width_bytes] = self._bytes[block, at]
        known = self._written[block, at] >= self._forgotten[block]
        return raw.view(np.int64).reshape(-1), np.all(known, axis=1)

    def store(self, addresses: Array, threads: Array, width_bytes: int, values: Array, known: Mask) -> None:
        """Write words; of lanes with one address the last one stays. Errors as in `load`."""
        block, at = self._at(addresses, threads, width_bytes)
        raw = np.ascontiguousarray(values).view(np.uint8).reshape(-1, 8)
        self._bytes[block, at] = raw[:, :width_bytes]
        self._written[block, at] = np.where(known[:, None], self._forgotten[block], _NEVER)

    def check(self, addresses: Array, threads: Array, width_bytes: int) -> None:
        """Raise the error that `load` would raise, or one for an address that is not a multiple of the width."""
        misaligned = addresses % width_bytes != 0
        if misaligned.any():
            raise FaultError("an address is not aligned", threads[misaligned])
        self._at(addresses, threads, width_bytes)

    def room(self, address: int) -> int:
        """The bytes from an address to the end of its region."""
        region = int(np.searchsorted(self._begins, address, side="right")) - 1
        return 0 if region < 0 else max(0, int(self._begins[region] + self._sizes[region]) - address)

    def forget(self, threads: Array) -> None:
        """Nothing is known any more of the blocks of some threads: one wrote to a place that is not known."""
        for block in np.unique(threads // self._threads):
            if self._forgotten[block] == _MOST_FORGOTTEN:
                self._written[block], self._forgotten[block] = _NEVER, 0
            else:
                self._forgotten[block] += 1

    def _at(self, addresses: Array, threads: Array, width_bytes: int) -> tuple[Array, Array]:
        """The block of each thread, as a column, and the places of the bytes of its word."""
        region = np.searchsorted(self._begins, addresses, side="right") - 1
        inside = addresses - self._begins[region]
        outside = (region < 0) | (inside + width_bytes > self._sizes[region])
        if outside.any():
            raise FaultError("an address is outside of what the launch has", threads[outside])
        block = threads // self._threads
        first = self._places[region] + inside + self._steps[region] * (threads - block * self._threads)
        return block[:, None], first[:, None] + np.arange(width_bytes)


def bytes_of(regions: Sequence[Region], threads: int) -> int:
    """The bytes of the regions of a block of so many threads.

    Raises:
        LimitError: They are more than a trial has.
    """
    found = sum(each.size * (threads if each.per_thread else 1) for each in regions)
    if found > MOST_BYTES:
        raise LimitError(f"it needs {found} bytes, more than a trial has")
    return found


def _place_of(region: Region) -> tuple[int, int, bool]:
    return region.begin, region.size, region.per_thread


MOST_SEEN: Final = 400
"""Different warp instructions that are kept of one instruction."""


@dataclass(slots=True)
class Seen:
    """The warp instructions that an access made.

    They are rows of 32 addresses in shared memory, the active lanes, and the warp of each row. `is_all`
    is False if some were not known, or if there were too many.
    """

    addresses: list[Array] = field(default_factory=list[Array])
    active: list[Mask] = field(default_factory=list[Mask])
    warps: list[int] = field(default_factory=list[int])
    is_all: bool = True
    patterns: set[bytes] = field(default_factory=set[bytes], repr=False)


class Kept:
    """What the instructions with the indices `wanted` access in shared memory, for each block.

    There are `blocks` blocks of `warps` warps. It does not hold the machine: else a machine and its memory
    would live on until Python looks for cycles.
    """

    def __init__(self, wanted: frozenset[int], blocks: int, warps: int) -> None:
        self._wanted, self._warps = wanted, warps
        self.seen: list[dict[int, Seen]] = [{} for _ in range(blocks)]

    def keep(self, instruction: Instruction, addresses: Array | None, active: Mask) -> None:
        """Keep copies of new patterns: a row of an array would hold the rows of all blocks."""
        if instruction.index not in self._wanted:
            return
        on = active.reshape(-1, LANES)
        made = np.flatnonzero(on.any(axis=1))
        if addresses is None:
            for block in np.unique(made // self._warps):
                self.seen[int(block)].setdefault(instruction.index, Seen()).is_all = False
            return
        on = on[made]
        rows = np.where(on, addresses.reshape(-1, LANES)[made], 0)
        least = rows.min(axis=1, where=on, initial=np.iinfo(np.int64).max)
        patterns = np.where(on, rows - least[:, None], -1)
        for at, number in enumerate(made.tolist()):
            block, warp = divmod(number, self._warps)
            seen = self.seen[block].setdefault(instruction.index, Seen())
            if len(seen.patterns) >= MOST_SEEN:
                seen.is_all = False
                continue
            pattern = patterns[at].tobytes()
            if pattern not in seen.patterns:
                seen.patterns.add(pattern)
                seen.addresses.append(rows[at].copy())
                seen.active.append(on[at].copy())
                seen.warps.append(warp)
