"""The bytes that a block sees: its shared memory, each thread's local one, arguments and buffers.

All of them are regions of one array. Global, constant and local addresses are generic ones;
those of shared memory begin at a window.
"""

from __future__ import annotations

from collections.abc import Iterable
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


MOST_BYTES: Final = 1 << 27
"""Bytes of all regions together, with those of each thread."""


class LimitError(Exception):
    """The launch needs more memory than a trial has."""


class FaultError(Exception):
    """The launch does what no launch may do: it says nothing about the kernel."""


@dataclass(frozen=True, slots=True)
class Region:
    """Addresses `begin` to `begin + size` - 1; with `per_thread` each thread has bytes of its own.
    Without `data` they hold zeros: what was not written may hold anything.
    """

    begin: int
    size: int
    data: Bytes | None = None
    per_thread: bool = False


class Memory:
    """The regions of one block of `threads` threads. A `LimitError` where they are too large.

    >>> memory = Memory([Region(64, 8, np.arange(8, dtype=np.uint8))], 1)
    >>> value, known = memory.load(np.array([66]), np.array([0]), 2)
    >>> hex(value[0]), bool(known[0])
    ('0x302', True)
    """

    def __init__(self, regions: Iterable[Region], threads: int) -> None:
        ordered = sorted(regions, key=lambda each: each.begin)
        self._begins = np.array([each.begin for each in ordered], dtype=np.int64)
        self._sizes = np.array([each.size for each in ordered], dtype=np.int64)
        self._steps = np.array([each.size if each.per_thread else 0 for each in ordered], dtype=np.int64)
        lengths = [each.size * (threads if each.per_thread else 1) for each in ordered]
        if sum(lengths) > MOST_BYTES:
            raise LimitError(f"it needs {sum(lengths)} bytes, more than a trial has")
        self._places = np.cumsum([0, *lengths], dtype=np.int64)[:-1]
        self._bytes = np.zeros(sum(lengths), dtype=np.uint8)
        self._known = np.ones(sum(lengths), dtype=np.bool_)
        for each, place in zip(ordered, self._places.tolist(), strict=True):
            if each.data is not None:
                self._bytes[place : place + each.size] = each.data

    def load(self, addresses: Array, threads: Array, width_bytes: int) -> tuple[Array, Mask]:
        """The words of some bytes at addresses, and whether they are known; a `FaultError`
        outside of all regions.
        """
        at = self._at(addresses, threads, width_bytes)
        raw = np.zeros((len(at), 8), dtype=np.uint8)
        raw[:, :width_bytes] = self._bytes[at]
        return raw.view(np.int64).reshape(-1), np.all(self._known[at], axis=1, keepdims=True).reshape(-1)

    def store(self, addresses: Array, threads: Array, width_bytes: int, values: Array, known: Mask) -> None:
        """Write words; of lanes with one address the last one stays. Errors as in `load`."""
        at = self._at(addresses, threads, width_bytes)
        raw = np.ascontiguousarray(values).view(np.uint8).reshape(-1, 8)
        self._bytes[at] = raw[:, :width_bytes]
        self._known[at] = known[:, None]

    def forget(self) -> None:
        """Nothing is known any more: something was written to a place that is not known."""
        self._known[:] = False

    def _at(self, addresses: Array, threads: Array, width_bytes: int) -> Array:
        region = np.searchsorted(self._begins, addresses, side="right") - 1
        inside = addresses - self._begins[region]
        if (region < 0).any() or (inside + width_bytes > self._sizes[region]).any():
            raise FaultError("an address is outside of what the launch has")
        first = self._places[region] + inside + self._steps[region] * threads
        return first[:, None] + np.arange(width_bytes)
