"""Start addresses in shared memory: fixed, any multiple of an alignment, or a place in a memory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias, assert_never

from swzverify.errors import SwzError
from swzverify.ir import integers as ints
from swzverify.ir.expr import Var, var
from swzverify.ir.integers import Integer
from swzverify.ir.whole import keep_whole

ADDRESS_LIMIT_BYTES = 1 << 24
"""Bases below this; shared-memory windows, distributed ones included, are smaller."""
BASE = "base"
DEFAULT_ALIGN_BYTES = 1024


def _check_align(align_bytes: int) -> None:
    if align_bytes < 1 or align_bytes & (align_bytes - 1) or align_bytes > ADDRESS_LIMIT_BYTES:
        raise SwzError("SWZ105", f"an alignment is a power of two up to 2^24, not {align_bytes}")


def _check_address(what: str, address_bytes: int) -> None:
    if not 0 <= address_bytes < ADDRESS_LIMIT_BYTES:
        raise SwzError("SWZ105", f"{what} must lie in 0..2^24-1, not {address_bytes}")


@dataclass(frozen=True, slots=True)
class Memory:
    """A block of shared memory that several tiles lie in: its size, and a base that they share."""

    name: str
    bytes: int
    align_bytes: int | None = DEFAULT_ALIGN_BYTES
    base_bytes: int | None = None

    def __post_init__(self) -> None:
        """Refuse what is no memory."""
        keep_whole(self, f"memory {self.name}", "bytes", optional=("align_bytes", "base_bytes"))
        if self.bytes < 1:
            raise SwzError("SWZ105", f"memory {self.name} has {self.bytes} bytes: at least 1")
        if self.base_bytes is not None:
            _check_address(f"the base of memory {self.name}", self.base_bytes)
        else:
            _check_align(self.align_bytes or 1)

    @property
    def alignment_bytes(self) -> int:
        """The alignment of the pitch of tiles in this memory, and of its base if that is open."""
        return self.align_bytes or 1


@dataclass(frozen=True, slots=True)
class FixedBase:
    """One byte address."""

    address_bytes: int

    def __post_init__(self) -> None:
        """Refuse addresses that no memory has."""
        keep_whole(self, "a base", "address_bytes")
        _check_address("a base", self.address_bytes)


@dataclass(frozen=True, slots=True)
class AlignedBase:
    """Every multiple of `align_bytes` below 2^24."""

    align_bytes: int

    def __post_init__(self) -> None:
        """Refuse alignments that are no power of two."""
        keep_whole(self, "a base", "align_bytes")
        _check_align(self.align_bytes)


@dataclass(frozen=True, slots=True)
class MemoryBase:
    """`offset_bytes` into a memory, wherever that lies."""

    memory: Memory
    offset_bytes: int

    def __post_init__(self) -> None:
        """Refuse a place before the memory."""
        keep_whole(self, f"a base in memory {self.memory.name}", "offset_bytes")
        if self.offset_bytes < 0:
            raise SwzError("SWZ105", f"the offset into memory {self.memory.name} is negative: {self.offset_bytes}")


Base: TypeAlias = FixedBase | AlignedBase | MemoryBase


@dataclass(frozen=True, slots=True)
class Origin:
    """A base as `index * unit + start` bytes, 0 <= index < count.

    `index` is the variable that engines see.

    Raises:
        SwzError: SWZ105 for a base without a value or below 0, SWZ202 for a value that is no int.
    """

    start_bytes: int
    unit_bytes: int
    count: int
    name: str = BASE

    def __post_init__(self) -> None:
        """Refuse a base that has no value."""
        keep_whole(self, "a base", "start_bytes", "unit_bytes", "count")
        if self.start_bytes < 0 or self.unit_bytes < 1 or self.count < 1:
            raise SwzError(
                "SWZ105", f"{self} is no base", hint="it starts at 0 or later; unit_bytes and count are at least 1"
            )

    @property
    def variable(self) -> Var | None:
        """The base's variable; None for a fixed base."""
        return var(self.name, self.count) if self.count > 1 else None

    def address(self) -> Integer:
        """The base address, over the variable."""
        start = ints.integer(self.start_bytes)
        node = self.variable
        if node is None:
            return start
        return ints.add(ints.multiply(ints.variable(node), ints.integer(self.unit_bytes)), start)

    def at(self, point: Mapping[str, int]) -> int:
        """The base address in bytes at a point; the first one where the point does not say."""
        index = point.get(self.name, 0) if self.count > 1 else 0
        return self.start_bytes + self.unit_bytes * index

    def describe(self) -> str:
        """Every base in words.

        >>> Origin(16, 1, 1).describe(), Origin(16, 1024, 4).describe()
        ('base 16', 'base in 16..3088 step 1024')
        """
        if self.count == 1:
            return f"base {self.start_bytes}"
        last = self.start_bytes + self.unit_bytes * (self.count - 1)
        step = f" step {self.unit_bytes}" if self.unit_bytes > 1 else ""
        return f"base in {self.start_bytes}..{last}{step}"

    def renamed(self, name: str) -> Origin:
        """The same base under another variable, independent of the first."""
        return Origin(self.start_bytes, self.unit_bytes, self.count, name)


def origin(base: Base) -> Origin:
    """A base's variable form.

    >>> origin(AlignedBase(1024))
    Origin(start_bytes=0, unit_bytes=1024, count=16384, name='base')
    """
    match base:
        case FixedBase(address_bytes=address):
            return Origin(address, 1, 1)
        case AlignedBase(align_bytes=align):
            return Origin(0, align, ADDRESS_LIMIT_BYTES // align)
        case MemoryBase(memory=memory, offset_bytes=offset):
            if memory.base_bytes is not None:
                return Origin(memory.base_bytes + offset, 1, 1)
            align = memory.alignment_bytes
            return Origin(offset, align, ADDRESS_LIMIT_BYTES // align)
        case _:
            assert_never(base)


def pitch_alignment_bytes(base: Base) -> int:
    """What the pitch between stages is rounded up to: the base's own alignment, 1 for a fixed one."""
    match base:
        case FixedBase():
            return 1
        case AlignedBase(align_bytes=align):
            return align
        case MemoryBase(memory=memory):
            return memory.alignment_bytes
        case _:
            assert_never(base)


def base_text(base: Base) -> str:
    """The base in words."""
    match base:
        case FixedBase(address_bytes=address):
            return f"base {address}"
        case AlignedBase(align_bytes=align):
            return f"any base that is a multiple of {align}"
        case MemoryBase(memory=memory, offset_bytes=offset):
            where = f"{offset} bytes into {memory.name}"
            if memory.base_bytes is not None:
                return f"{where} at {memory.base_bytes}"
            return f"{where}, at any multiple of {memory.alignment_bytes}"
        case _:
            assert_never(base)
