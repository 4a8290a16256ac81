"""The bytes that blocks see: shared memory, each thread's local memory, arguments and buffers.

Blocks of several launches have the same regions with other bytes. A page of a block gets bytes of its own
when a thread first reads or writes it: a launch has megabytes of buffers and reads few of them. Global,
constant and local addresses are generic ones; those of shared memory begin at a window.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

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
_PAGE_BITS: Final = 11
_PAGE: Final = 1 << _PAGE_BITS
"""Bytes of a page."""
_MISSING: Final = -(1 << 62)
_WIDTHS: Final = (1, 2, 4, 8)
"""Bytes of the numbers that memory can be read as an array of."""
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


class _Pages:
    """The pages that threads have read or written, one behind the other."""

    def __init__(self) -> None:
        self._count = 0
        self.bytes = np.zeros(0, dtype=np.uint8)
        # When each byte was written.
        self.written = np.zeros(0, dtype=np.int32)

    def take(self, count: int) -> NDArray[np.int32]:
        """The numbers of new pages, whose bytes are 0 and were there at the start."""
        first, self._count = self._count, self._count + count
        missing = self._count * _PAGE - len(self.bytes)
        if missing > 0:
            more = max(missing, len(self.bytes))
            self.bytes = np.concatenate((self.bytes, np.zeros(more, dtype=np.uint8)))
            self.written = np.concatenate((self.written, np.zeros(more, dtype=np.int32)))
        return np.arange(first, self._count, dtype=np.int32)


@dataclass(slots=True)
class Reached:
    """Words that threads reach: the block of each thread, and where its bytes are in the pages.

    `at` has the place of the first byte of each word if each word is in one page, else a row of places for each.
    Places are multiples of `step`.
    """

    block: Array
    at: Array
    step: int = 1

    def words(self, offset: int, width_bytes: int) -> Array | None:
        """The numbers of words of so many bytes from an offset on, if memory is an array of such; else None."""
        if self.at.ndim > 1 or width_bytes not in _WIDTHS:
            return None
        starts = self.at + offset if offset else self.at
        if (self.step | offset) % width_bytes and np.count_nonzero(starts & width_bytes - 1):
            return None
        return starts >> width_bytes.bit_length() - 1

    def places(self, offset: int, width_bytes: int) -> Array:
        """The places of bytes from an offset on, a row for each thread."""
        if self.at.ndim > 1:
            return self.at[:, offset : offset + width_bytes]
        return self.at[:, None] + np.arange(offset, offset + width_bytes)


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
        bytes_of(first, threads)
        self._all_begins = [each.begin for each in first]
        self._begins = np.array(self._all_begins, dtype=np.int64)
        self._sizes = np.array([each.size for each in first], dtype=np.int64)
        self._steps = np.array([each.size if each.per_thread else 0 for each in first], dtype=np.int64)
        self._threads = threads
        # Each region begins at a page.
        pages = [-(-bytes_of([each], threads) // _PAGE) for each in first]
        self._first_pages = np.cumsum([0, *pages], dtype=np.int64)
        self._data = [[each.data for each in regions] for regions in ordered]
        self._pages = _Pages()
        self._page_of = np.full((len(ordered), int(self._first_pages[-1])), -1, dtype=np.int32)
        # From a place among all pages of a block to its place among those that threads have read or written.
        self._moves = np.full(self._page_of.shape, _MISSING, dtype=np.int64)
        # A byte is known if it was written, or there at the start, since its block forgot all bytes.
        self._forgotten = np.zeros(len(ordered), dtype=np.int32)
        self.is_known = True
        """Whether all bytes of all blocks are known: then nobody has to look at what was written."""

    def of_block(self, block: int) -> Memory:
        """The memory of one block alone: the same bytes, not a copy."""
        found = copy(self)
        mine = slice(block, block + 1)
        found._data, found._page_of, found._forgotten = self._data[mine], self._page_of[mine], self._forgotten[mine]
        found._moves = self._moves[mine]
        return found

    def touched(self) -> dict[tuple[int, int], tuple[bytes, bytes]]:
        """The bytes of each page that threads read or wrote, by block and number, and which of them are known."""
        found: dict[tuple[int, int], tuple[bytes, bytes]] = {}
        for block, number in np.argwhere(self._page_of >= 0).tolist():
            begin = int(self._page_of[block, number]) * _PAGE
            here = slice(begin, begin + _PAGE)
            known = self._pages.written[here] >= self._forgotten[block]
            found[block, number] = self._pages.bytes[here].tobytes(), known.tobytes()
        return found

    def release(self) -> None:
        """Let go of all bytes: they are many, and what runs with them is freed late, as it is part of cycles."""
        self._pages, self._page_of = _Pages(), np.full_like(self._page_of, -1)
        self._moves = np.full_like(self._moves, _MISSING)

    def load(self, addresses: Array, threads: Array, width_bytes: int) -> tuple[Array, Mask]:
        """The words of some bytes at addresses, and whether they are known.

        Raises:
            FaultError: An address is outside of all regions.
        """
        return self.read(self._at(addresses, threads, width_bytes), 0, width_bytes)

    def store(self, addresses: Array, threads: Array, width_bytes: int, values: Array, known: Mask) -> None:
        """Write words; of lanes with one address the last one stays. Errors as in `load`."""
        self.write(self._at(addresses, threads, width_bytes), 0, width_bytes, values, known)

    def reach(self, addresses: Array, threads: Array, width_bytes: int) -> Reached:
        """Words of so many bytes, for `read` and `write`.

        Raises:
            FaultError: An address is outside of all regions, or no multiple of the width.
        """
        rest = addresses & width_bytes - 1 if width_bytes & width_bytes - 1 == 0 else addresses % width_bytes
        if np.count_nonzero(rest):
            raise FaultError("an address is not aligned", threads[rest != 0])
        return self._at(addresses, threads, width_bytes, width_bytes)

    def read(self, reached: Reached, offset: int, width_bytes: int) -> tuple[Array, Mask]:
        """The bytes of words from an offset on, and whether they are known."""
        words = reached.words(offset, width_bytes)
        if words is not None:
            values = self._pages.bytes.view(f"u{width_bytes}")[words].astype(np.int64)
            written, at = self._pages.written.reshape(-1, width_bytes), words
        else:
            at = reached.places(offset, width_bytes)
            raw = np.zeros((len(at), 8), dtype=np.uint8)
            raw[:, :width_bytes] = self._pages.bytes[at]
            values, written = raw.view(np.int64).reshape(-1), self._pages.written
        if self.is_known:
            return values, np.ones(len(values), dtype=np.bool_)
        return values, np.all(written[at] >= self._forgotten[reached.block][:, None], axis=1)

    def write(self, reached: Reached, offset: int, width_bytes: int, values: Array, known: Mask) -> None:
        """Write bytes of words from an offset on; of lanes with one address the last one stays."""
        self.is_known = self.is_known and np.count_nonzero(known) == len(known)
        now = 0 if self.is_known else np.where(known, self._forgotten[reached.block], _NEVER)[:, None]
        words = reached.words(offset, width_bytes)
        if words is not None:
            self._pages.bytes.view(f"u{width_bytes}")[words] = values.astype(f"u{width_bytes}")
            if not self.is_known:
                self._pages.written.reshape(-1, width_bytes)[words] = now
        else:
            at = reached.places(offset, width_bytes)
            raw = np.ascontiguousarray(values).view(np.uint8).reshape(-1, 8)
            self._pages.bytes[at] = raw[:, :width_bytes]
            self._pages.written[at] = now

    def copy(self, source: Array, into: Array, threads: Array, width_bytes: int) -> None:
        """Copy words between addresses that are multiples of their width. Errors as in `load`."""
        reached, written = (self._at(each, threads, width_bytes, width_bytes) for each in (source, into))
        step = min(8, width_bytes)
        parts = [(at, *self.read(reached, at, step)) for at in range(0, width_bytes, step)]
        for at, values, known in parts:
            self.write(written, at, step, values, known)

    def room(self, address: int) -> int:
        """The bytes from an address to the end of its region."""
        region = int(np.searchsorted(self._begins, address, side="right")) - 1
        return 0 if region < 0 else max(0, int(self._begins[region] + self._sizes[region]) - address)

    def forget(self, threads: Array) -> None:
        """Nothing is known any more of the blocks of some threads: one wrote to a place that is not known."""
        self.is_known = False
        self._forgotten[np.unique(threads // self._threads)] += 1

    def _at(self, addresses: Array, threads: Array, width_bytes: int, step: int = 1) -> Reached:
        """The words of threads at addresses, which are multiples of `step`."""
        block = threads // self._threads
        region = bisect_right(self._all_begins, int(addresses[0])) - 1 if len(addresses) else 0
        inside = addresses - self._begins[region]
        first: Array
        room = int(self._sizes[region]) - width_bytes
        if region < 0 or room < 0 or np.count_nonzero(inside.view(np.uint64) > room):
            # Not all of one region, as most instructions reach.
            regions = np.searchsorted(self._begins, addresses, side="right") - 1
            inside = addresses - self._begins[regions]
            outside = (regions < 0) | (inside + width_bytes > self._sizes[regions])
            if np.count_nonzero(outside):
                raise FaultError("an address is outside of what the launch has", threads[outside])
            first = self._first_pages[regions] * _PAGE + inside
            first += self._steps[regions] * (threads - block * self._threads)
            step = 1
        else:
            first = inside + self._first_pages[region] * _PAGE
            if self._steps[region]:  # each thread has bytes of its own
                first += self._steps[region] * (threads - block * self._threads)
            step = step if not any(each % step for each in (self._begins[region], self._steps[region], _PAGE)) else 1
        if step % width_bytes and np.count_nonzero((first ^ first + (width_bytes - 1)) >> _PAGE_BITS):
            places = first[:, None] + np.arange(width_bytes)
            return Reached(block, self._placed(block[:, None], places))
        return Reached(block, self._placed(block, first), step)

    def _placed(self, block: Array, places: Array) -> Array:
        """Where bytes of blocks are in the pages."""
        numbers = places >> _PAGE_BITS
        found = places + self._moves[block, numbers]
        if np.count_nonzero(found < 0):
            self._bring(block, numbers)
            found = places + self._moves[block, numbers]
        return found

    def _bring(self, block: Array, pages: Array) -> None:
        """Give blocks those pages that they do not have yet."""
        count = self._page_of.shape[1]
        keys, known = np.broadcast_arrays(block * count + pages, self._page_of[block, pages])
        missing = np.array(sorted(set(keys[known < 0].tolist())), dtype=np.int64)
        blocks, numbers = np.divmod(missing, count)
        new = self._pages.take(len(blocks))
        self._page_of[blocks, numbers] = new
        self._moves[blocks, numbers] = (new - numbers) * _PAGE
        regions: Array = np.searchsorted(self._first_pages, numbers, side="right") - 1
        offsets = (numbers - self._first_pages[regions]) * _PAGE
        places: list[int] = blocks.tolist()
        for at, of_block in enumerate(places):
            data = self._data[of_block][int(regions[at])]
            if data is not None:
                here = data[int(offsets[at]) : int(offsets[at]) + _PAGE]
                begin = int(new[at]) * _PAGE
                self._pages.bytes[begin : begin + len(here)] = here


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
