"""The address spaces: where each window lies, and how lanes load from and store to flat memories.

A generic address tells its space by its upper bits. The low bits of a generic address of shared
memory are the address in the block's window, as on the chip (the window is aligned far beyond its
size), so a swizzle of generic addresses does the same as one of shared addresses.
"""

from __future__ import annotations

import numpy as np

from .errors import FaultError

SHARED_BASE = 1024
"""The driver keeps the first 1024 bytes of the window for itself, on sm_90."""
SHARED_SPAN = 1 << 24
"""Reserved for the shared window, and for each of the other windows too."""
GENERIC = {"shared": 0x7000_0000_0000, "local": 0x7100_0000_0000, "const": 0x7200_0000_0000, "param": 0x7300_0000_0000}
"""Generic address of the start of each window; everything else is global."""
WINDOW_BITS = np.uint64(40)
GLOBAL_BASE = 0x10_0000_0000
PAGE_BITS = 8
UINT = {1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64}
Array = np.ndarray


def round_up(value: int, align: int) -> int:
    """The next multiple of `align`."""
    return -(-value // max(1, align)) * max(1, align)


class Flat:
    """Bytes that lanes reach through byte indices.

    `lenient` ones count what is outside or misaligned.

    A lenient load there gives 0, and a lenient store does nothing; otherwise both are faults.
    """

    def __init__(self, size: int, what: str, *, lenient: bool = False) -> None:
        self.size = size
        self.bytes = np.zeros(round_up(size, 64) + 64, np.uint8)
        self.what = what
        self.lenient = lenient
        self.outside = 0
        self._views = {width: self.bytes.view(kind) for width, kind in UINT.items()}

    def bad(self, index: Array, width: int) -> Array | None:
        """Say which lanes are outside; None if no lane is.

        A negative index has wrapped to a huge one.
        """
        outside = index > np.uint64(max(0, self.size - width)) if self.size >= width else np.ones(index.shape, bool)
        return outside if outside.any() else None

    def _sound(self, index: Array, width: int) -> tuple[Array, Array | None]:
        """Check bounds and alignment; give safe indices, and which lanes are bad."""
        bad, odd = self.bad(index, width), (index & np.uint64(width - 1)) != 0
        if odd.any():
            if not self.lenient:
                raise FaultError(f"misaligned {self.what} address for {width} bytes")
            bad = odd if bad is None else bad | odd
        if bad is not None:
            if not self.lenient:
                first = int(index[bad][0])
                raise FaultError(f"{self.what} access outside of its {self.size} bytes: at {first:#x}")
            self.outside += int(bad.sum())
            index = np.where(bad, np.uint64(0), index)
        return index, bad

    def elements(self, index: Array, width: int) -> tuple[Array, list[int]]:
        """Give the memory as numbers of `width` bytes, and each lane's place (outside: -1)."""
        index, bad = self._sound(index, width)
        places = (index // np.uint64(width)).astype(np.int64)
        return self._views[width], (places if bad is None else np.where(bad, -1, places)).tolist()

    def load(self, index: Array, width: int) -> Array:
        """Give each lane's `width` bytes as an unsigned number."""
        index, bad = self._sound(index, width)
        value = self._views[width][index // np.uint64(width)]
        return value if bad is None else np.where(bad, value.dtype.type(0), value)

    def store(self, index: Array, value: Array) -> None:
        """Store each lane's unsigned number; of several lanes at one place the last one wins."""
        width = value.dtype.itemsize
        index, bad = self._sound(index, width)
        if bad is not None:
            index, value = index[~bad], np.broadcast_to(value, index.shape)[~bad]
        self._views[width][index // np.uint64(width)] = value


class Shared(Flat):
    """The shared windows of the blocks of a cluster, by rank; addresses below the base are not the kernel's."""

    def __init__(self, size: int, what: str, *, lenient: bool = False, ranks: int = 1) -> None:
        super().__init__((ranks - 1) * SHARED_SPAN + size, what, lenient=lenient)
        self.room, self.ranks = size, ranks

    def bad(self, index: Array, width: int) -> Array | None:
        """Say which lanes are outside; None if no lane is."""
        inside, rank = index, np.zeros_like(index)
        if self.ranks > 1:
            inside, rank = index % np.uint64(SHARED_SPAN), index // np.uint64(SHARED_SPAN)
        outside = (inside > np.uint64(max(0, self.room - width))) | (inside < np.uint64(SHARED_BASE))
        outside |= rank >= np.uint64(self.ranks)
        return outside if outside.any() else None


class Arena(Flat):
    """Global memory: buffers with gaps between them; indices are addresses less GLOBAL_BASE."""

    def __init__(self, *, lenient: bool = False) -> None:
        super().__init__(0, "global", lenient=lenient)
        self._parts: list[tuple[int, np.ndarray]] = []
        self._next = 1 << PAGE_BITS

    def add(self, content: Array) -> int:
        """Place a buffer; give its address."""
        at = self._next
        self._parts.append((at, content))
        self._next = round_up(at + len(content) + 4096, 1 << max(PAGE_BITS, 12))
        return GLOBAL_BASE + at

    def close(self) -> None:
        """Lay out all buffers that were added."""
        parts = self._parts
        super().__init__(self._next, "global", lenient=self.lenient)
        self._page = np.zeros((self._next >> PAGE_BITS) + 2, bool)
        for at, content in parts:
            self.bytes[at : at + len(content)] = content
            self._page[at >> PAGE_BITS : (at + len(content) + (1 << PAGE_BITS) - 1) >> PAGE_BITS] = True

    def bad(self, index: Array, width: int) -> Array | None:
        """Say which lanes are outside of all buffers (to the next 256 bytes); None if none is."""
        page = np.minimum(index >> np.uint64(PAGE_BITS), np.uint64(len(self._page) - 1))
        outside = ~self._page[page] | (index > np.uint64(self.size - width))
        return outside if outside.any() else None


class PerLane:
    """Memory of which each lane has its own: local memory and parameters."""

    def __init__(self, lanes: int, stride: int, what: str) -> None:
        self.lanes = lanes
        self.stride = round_up(max(stride, 16), 16)
        self.what = what
        self.flat = Flat(self.lanes * self.stride, what)

    def grow(self, stride: int) -> None:
        """Give each lane more room; what is there stays."""
        if stride <= self.stride:
            return
        old, width = self.rows(), self.stride
        self.stride = round_up(stride, 16)
        self.flat = Flat(self.lanes * self.stride, self.what)
        self.rows()[:, :width] = old

    def rows(self) -> Array:
        """The bytes of each lane as a row."""
        return self.flat.bytes[: self.lanes * self.stride].reshape(self.lanes, self.stride)

    def _index(self, lanes: Array, address: Array, width: int) -> Array:
        if (address > np.uint64(self.stride - width)).any():
            raise FaultError(f"{self.what} access outside of its {self.stride} bytes per lane")
        return lanes.astype(np.uint64) * np.uint64(self.stride) + address

    def load(self, lanes: Array, address: Array, width: int) -> Array:
        """Give `width` bytes of each of the lanes named."""
        return self.flat.load(self._index(lanes, address, width), width)

    def store(self, lanes: Array, address: Array, value: Array) -> None:
        """Store a number of each of the lanes named."""
        self.flat.store(self._index(lanes, address, value.dtype.itemsize), value)
