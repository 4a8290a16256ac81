"""A layout placed in shared memory: element size, swizzle, base and stages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from types import NoneType
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from swzverify.errors import SwzError
from swzverify.ir import integers as ints
from swzverify.ir.integers import Integer
from swzverify.ir.whole import required
from swzverify.layout import Layout, Swizzle, flatten
from swzverify.layout.int_tuple import Ints
from swzverify.layout.layout import leaves_of
from swzverify.subjects.memory import (
    ADDRESS_LIMIT_BYTES,
    AlignedBase,
    Base,
    FixedBase,
    MemoryBase,
    Origin,
    base_text,
    origin,
    pitch_alignment_bytes,
)
from swzverify.subjects.offset_map import OffsetMap

DEFAULT_BASE = AlignedBase(1024)
MAX_POSITION_BITS = 1 << 60
"""Positions stay far below what an int64 holds."""
SwizzleOn = Literal["offset", "address"]


@dataclass(frozen=True)
class Tile:
    """Elements of `element_bits` at layout(coordinate), swizzled, from `base` on, `stages` times.

    Positions count in *units*: bytes, or bits if an element is no whole number of bytes.

    Attributes:
        name: The name.
        element_bits: The size of an element in bits.
        layout: The layout, or an `OffsetMap`, which is a C expression and has no swizzle beside it.
        swizzle: The swizzle; None for none.
        swizzle_on: What the swizzle acts on: the element offset inside a stage, or the absolute byte
            address.
        base: The start address of the tile.
        stages: The number of stages.
        allocation_bytes: The bytes of one stage.
        pitch_bytes: The distance of two stages in bytes.

    Raises:
        SwzError: SWZ105 if a number is out of range, SWZ206 if the greatest value of an expression is not
            found, SWZ212 for byte addresses of elements that are no whole bytes.

    >>> tile = Tile("A", 16, Layout((8, 64), (64, 1)), Swizzle(3, 3, 3))
    >>> tile.extents, tile.allocation_bytes, tile.position((1, 0), stage=0, base=2048)
    ((8, 64), 1024, 2192)
    """

    name: str
    element_bits: int
    layout: Layout | OffsetMap
    swizzle: Swizzle | None = None
    swizzle_on: SwizzleOn = "offset"
    base: Base = DEFAULT_BASE
    stages: int = 1
    allocation_bytes: int = 0
    pitch_bytes: int = 0

    def __init__(
        self,
        name: str,
        element_bits: int,
        layout: Layout | OffsetMap,
        swizzle: Swizzle | None = None,
        swizzle_on: SwizzleOn = "offset",
        base: Base = DEFAULT_BASE,
        stages: int = 1,
        allocation_bytes: int | None = None,
        pitch_bytes: int | None = None,
    ) -> None:
        _check_parts(name, layout, swizzle, swizzle_on, base)
        element_bits = required(element_bits, f"tile {name}: element_bits")
        stages = required(stages, f"tile {name}: stages")
        if allocation_bytes is not None:
            allocation_bytes = required(allocation_bytes, f"tile {name}: allocation_bytes")
        if pitch_bytes is not None:
            pitch_bytes = required(pitch_bytes, f"tile {name}: pitch_bytes")
        if element_bits < 1 or stages < 1:
            raise SwzError(
                "SWZ105", f"tile {name}: {element_bits} bits per element and {stages} stages; at least 1 each"
            )
        if swizzle is not None and swizzle.bits == 0:
            swizzle = None
        if swizzle is not None and swizzle_on == "address" and element_bits % 8:
            raise SwzError(
                "SWZ212",
                f"tile {name}: a swizzle of byte addresses needs elements of whole bytes, not of {element_bits} bits",
                hint="put the swizzle on element offsets, or describe the tile in bytes",
            )
        if swizzle is not None and not swizzle.is_legal:
            raise SwzError("SWZ210", f"tile {name}: {swizzle} is not a legal swizzle")
        if isinstance(layout, OffsetMap):
            _check_map(name, layout, element_bits, swizzle)
        allocation = _room_bytes(layout, element_bits) if allocation_bytes is None else allocation_bytes
        align = pitch_alignment_bytes(base)
        pitch = -(-allocation // align) * align if pitch_bytes is None else pitch_bytes
        if allocation < 1 or pitch < 0:
            raise SwzError("SWZ105", f"tile {name}: an allocation of {allocation} bytes, {pitch} bytes per stage")
        reach = (
            layout.room_bits_at_most(element_bits) if isinstance(layout, OffsetMap) else layout.cosize * element_bits
        )
        farthest = 8 * (ADDRESS_LIMIT_BYTES + stages * pitch + allocation) + reach
        if max(farthest, 0 if swizzle is None else swizzle.span * element_bits) >= MAX_POSITION_BITS:
            raise SwzError("SWZ206", f"tile {name} reaches beyond bit 2^60: not modelled")
        fields = (name, element_bits, layout, swizzle, swizzle_on, base, stages, allocation, pitch)
        for field, value in zip(self.__dataclass_fields__, fields, strict=True):
            object.__setattr__(self, field, value)

    def __eq__(self, other: object) -> bool:
        """Whether another tile has the same fields; what it can do besides does not count."""
        if not isinstance(other, Tile):
            return NotImplemented
        return self._fields == other._fields

    def __hash__(self) -> int:
        return hash(self._fields)

    @property
    def _fields(self) -> tuple[object, ...]:
        return tuple(getattr(self, name) for name in self.__dataclass_fields__)

    @property
    def extents(self) -> tuple[int, ...]:
        """The extent of each mode."""
        return self.layout.extents

    @property
    def size(self) -> int:
        """The number of elements."""
        return self.layout.size

    @property
    def total_bytes(self) -> int:
        """From the first stage's start to the last one's end."""
        return (self.stages - 1) * self.pitch_bytes + self.allocation_bytes

    @property
    def unit_bits(self) -> int:
        """Bits of the units in which positions count: 8, or 1 for elements that are no whole bytes."""
        return 1 if self.element_bits % 8 else 8

    @property
    def element_units(self) -> int:
        """The number of units in an element."""
        return self.element_bits // self.unit_bits

    @property
    def units_per_byte(self) -> int:
        """The number of units in a byte."""
        return 8 // self.unit_bits

    @property
    def origin(self) -> Origin:
        """The base as a variable."""
        return origin(self.base)

    @property
    def address_swizzle(self) -> Swizzle | None:
        """The swizzle, if it acts on addresses."""
        return self.swizzle if self.swizzle_on == "address" else None

    @property
    def offsets_decide(self) -> bool:
        """Whether claims on vectors are about offsets, whatever the start of the stage.

        They are about addresses if a swizzle acts on addresses or an expression gives addresses.
        """
        return self.address_swizzle is None and not self.counts_bytes

    @property
    def counts_bytes(self) -> bool:
        """Whether an expression gives byte addresses, from the start of the stage."""
        return isinstance(self.layout, OffsetMap) and self.layout.in_bytes

    @property
    def step_units(self) -> int:
        """Units from one offset to the next: an element, or a byte where an expression counts those."""
        return 1 if self.counts_bytes else self.element_units

    @property
    def digit_extents(self) -> tuple[int, ...]:
        """The number of values of each variable by which engines see a coordinate.

        The variables are the leaves of a layout, or the modes of an expression.
        """
        if isinstance(self.layout, OffsetMap):
            return self.layout.extents
        return tuple(extent for extent, _ in self.layout.leaves)

    @property
    def contiguous_mode(self) -> int:
        """The mode that holds the first leaf of stride 1 and extent > 1; mode 0 if there is none.

        For an expression it is the last mode.
        """
        if isinstance(self.layout, OffsetMap):
            return self.layout.rank - 1
        for index, mode in enumerate(self.layout.modes):
            if any(stride == 1 and extent > 1 for extent, stride in mode.leaves):
                return index
        return 0

    @property
    def run_elements(self) -> int | None:
        """The number of elements that are contiguous without the swizzle; None for an expression.

        These are the leaves that continue each other from stride 1 on.
        """
        if isinstance(self.layout, OffsetMap):
            return None
        run = 1
        for extent, stride in sorted(self.layout.leaves, key=lambda leaf: leaf[1]):
            if stride == run and extent > 1:
                run *= extent
        return run

    def relaid(
        self, layout: Layout | OffsetMap, swizzle: Swizzle | None = None, swizzle_on: SwizzleOn = "offset"
    ) -> Tile:
        """The tile with another layout or swizzle, and the same base, stages, allocation and pitch.

        Errors are those of a tile.

        >>> tile = Tile("A", 16, Layout((8, 64), (64, 1)), Swizzle(3, 3, 3))
        >>> tile.relaid(tile.layout).swizzle is None, tile.relaid(tile.layout).allocation_bytes
        (True, 1024)
        """
        kept = (self.base, self.stages, self.allocation_bytes, self.pitch_bytes)
        on = swizzle_on if swizzle is not None else "offset"
        return Tile(self.name, self.element_bits, layout, swizzle, on, *kept)

    def offset(self, coord: Sequence[Ints]) -> Ints:
        """The element offset inside a stage, swizzled if the swizzle acts on offsets.

        It is a byte offset if an expression gives bytes. Coordinates are ints or int64 arrays.
        """
        plain = self.layout(*coord)
        if self.swizzle is None or self.swizzle_on == "address":
            return plain
        return self.swizzle(plain)

    def position(self, coord: Sequence[Ints], *, stage: Ints, base: Ints) -> Ints:
        """The element's first unit, `base` being the base address in bytes. Ints or int64 arrays."""
        return self.position_of(self.offset(coord), stage=stage, base=base)

    def position_of(self, offset: Ints, *, stage: Ints, base: Ints) -> Ints:
        """The position of the element at an offset."""
        start = base + stage * self.pitch_bytes
        raw = start * self.units_per_byte + offset * self.step_units
        swizzle = self.address_swizzle
        return raw if swizzle is None else swizzle(raw)

    def lower_offset(self, coord: Sequence[Integer]) -> Integer:
        """`offset` over expressions; of an `OffsetMap` at coordinates inside the shape only."""
        if isinstance(self.layout, OffsetMap):
            return self.layout.lower(coord)
        total = ints.total(
            [_lower_mode(leaves_of(*mode), value) for mode, value in zip(self.layout.mode_pairs, coord, strict=True)]
        )
        if self.swizzle is None or self.swizzle_on == "address":
            return total
        return lower_swizzle(self.swizzle, total)

    def lower_position(self, coord: Sequence[Integer], stage: Integer, place: Origin | None = None) -> Integer:
        """`position` over expressions; of an `OffsetMap` at coordinates inside the shape only."""
        return self.lower_position_of(self.lower_offset(coord), stage, place)

    def lower_position_of(self, offset: Integer, stage: Integer, place: Origin | None = None) -> Integer:
        """`position_of` as an expression."""
        start = self.lower_start(stage, place)
        raw = ints.add(start, ints.multiply(offset, ints.integer(self.step_units)))
        swizzle = self.address_swizzle
        return raw if swizzle is None else lower_swizzle(swizzle, raw)

    def lower_start(self, stage: Integer, place: Origin | None = None) -> Integer:
        """The first unit of a stage's allocation."""
        base = (place or self.origin).address()
        start = ints.add(base, ints.multiply(stage, ints.integer(self.pitch_bytes)))
        return ints.multiply(start, ints.integer(self.units_per_byte))

    def describe_base(self) -> str:
        """The base and the stages in words."""
        stages = f"all {self.stages} stages, " if self.stages > 1 else ""
        return stages + base_text(self.base)


def _check_parts(name: str, layout: object, swizzle: object, swizzle_on: object, base: object) -> None:
    """Refuse, by SWZ105, a text or a number where an object is wanted."""
    wanted = (
        ("layout", layout, (Layout, OffsetMap), 'Layout("(64,64):(64,1)")'),
        ("swizzle", swizzle, (Swizzle, NoneType), 'Swizzle("Swizzle<3,3,3>")'),
        ("base", base, (AlignedBase, FixedBase, MemoryBase), "AlignedBase(1024)"),
    )
    for what, value, kinds, example in wanted:
        if not isinstance(value, kinds):
            shown = f"{value!r} ({type(value).__name__})"
            raise SwzError("SWZ105", f"tile {name}: {shown} is no {what}", hint=f"such as {example}")
    if swizzle_on not in ("offset", "address"):
        raise SwzError("SWZ105", f"tile {name}: swizzle_on={swizzle_on!r}", hint='"offset" or "address"')


def _check_map(name: str, layout: OffsetMap, element_bits: int, swizzle: Swizzle | None) -> None:
    """Refuse what an expression has no meaning with."""
    if swizzle is not None:
        raise SwzError(
            "SWZ105",
            f"tile {name}: a swizzle moves a layout's offsets, and this tile has an expression",
            hint=f"write it into the expression, such as x ^ ((x >> {swizzle.shift}) & ...)",
        )
    if layout.in_bytes and element_bits % 8:
        raise SwzError(
            "SWZ212",
            f"tile {name}: a byte address needs elements of whole bytes, not of {element_bits} bits",
            hint="give `offset:`, which counts elements",
        )


def _room_bytes(layout: Layout | OffsetMap, element_bits: int) -> int:
    """The bytes up to the end of the last element."""
    bits = layout.room_bits(element_bits) if isinstance(layout, OffsetMap) else layout.cosize * element_bits
    return -(-bits // 8)


def lower_swizzle(swizzle: Swizzle, value: Integer) -> Integer:
    """The swizzle x ^ ((x & yyy) >> shift) over expressions; `value` is not negative.

    Source: NVIDIA CUTLASS, include/cute/swizzle.hpp.
    """
    picked = ints.bit_and(value, ints.integer(swizzle.yyy_mask))
    factor = ints.integer(1 << abs(swizzle.shift))
    moved = ints.divide(picked, factor) if swizzle.shift >= 0 else ints.multiply(picked, factor)
    return ints.bit_xor(value, moved)


def _lower_mode(leaves: Sequence[tuple[int, int]], value: Integer) -> Integer:
    """One mode's integer split over its leaves, first leaf fastest, the last taking the quotient."""
    parts: list[Integer] = []
    rest = value
    for index, (extent, stride) in enumerate(leaves):
        if index == len(leaves) - 1:
            digit = rest
        else:
            digit = ints.remainder(rest, ints.integer(extent))
            rest = ints.divide(rest, ints.integer(extent))
        parts.append(ints.multiply(digit, ints.integer(stride)))
    return ints.total(parts)


def leaf_offsets(tile: Tile, digits: Sequence[Integer]) -> Integer:
    """The unswizzled offset from one digit per leaf, or one per mode of an expression.

    A layout is a sum of digits times strides.
    """
    if isinstance(tile.layout, OffsetMap):
        return tile.layout.lower(digits)
    strides = [stride for _, stride in tile.layout.leaves]
    return ints.total([ints.multiply(d, ints.integer(s)) for d, s in zip(digits, strides, strict=True)])


def coordinate_of_digits(tile: Tile, digits: Sequence[NDArray[np.int64]]) -> tuple[NDArray[np.int64], ...]:
    """The coordinate, one integer per mode, that some leaf digits make up."""
    if isinstance(tile.layout, OffsetMap):
        return tuple(digits)
    result: list[NDArray[np.int64]] = []
    position = 0
    for mode in tile.layout.modes:
        total, weight = np.zeros(1, dtype=np.int64), 1
        for extent in flatten(mode.shape):
            total = total + digits[position] * weight
            weight *= extent
            position += 1
        result.append(total)
    return tuple(result)
