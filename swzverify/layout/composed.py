"""A layout under a swizzle, in CuTe's two forms: on element offsets, and on byte addresses.

`ComposedLayout` is position-independent: the swizzle sees offsets only. `PointerLayout` is what the
hardware's TMA does and what CuTe prints with `smem_ptr[..]`: the swizzle sees the absolute address.
The two agree exactly when the base address is a multiple of the swizzle's span in bytes, so neither
ever stands in for the other unasked. Source: NVIDIA CUTLASS, include/cute/layout_composed.hpp and
include/cute/pointer_swizzle.hpp.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import overload

from swzverify.core.shown import Drawn
from swzverify.errors import SwzError
from swzverify.layout.int_tuple import Array, Coord, Ints, IntTuple, check_index, check_int
from swzverify.layout.layout import Layout
from swzverify.layout.swizzle import Swizzle

MAX_ENUMERATED = 1 << 16


class _Swizzled(Drawn):
    """A layout under a swizzle, which has the layout's coordinates, and no strides."""

    __slots__ = ()
    layout: Layout

    @property
    def shape(self) -> IntTuple:
        """The layout's shape."""
        return self.layout.shape

    @property
    def extents(self) -> tuple[int, ...]:
        """The number of coordinates of every mode."""
        return self.layout.extents

    @property
    def size(self) -> int:
        """The number of coordinates."""
        return self.layout.size

    @property
    def rank(self) -> int:
        """The number of modes."""
        return self.layout.rank

    @property
    def depth(self) -> int:
        """The number of tuple levels of the shape."""
        return self.layout.depth


@dataclass(frozen=True, slots=True)
class ComposedLayout(_Swizzled):
    """The map c -> swizzle(offset + layout(c)), with offsets in elements.

    Raises:
        SwzError: SWZ201 or SWZ202 if `offset` is negative or not an int.

    >>> composed = ComposedLayout(Swizzle(3, 3, 3), 0, Layout((8, 64), (64, 1)))
    >>> print(composed, composed(1, 0), composed.size)
    Swizzle<3,3,3> o 0 o (8,64):(64,1) 72 512
    """

    swizzle: Swizzle
    offset: int
    layout: Layout

    def __post_init__(self) -> None:
        """Refuses an offset that is no int >= 0."""
        object.__setattr__(self, "offset", check_int(self.offset, "offset", 0))

    @overload
    def __call__(self, *coord: int) -> int: ...
    @overload
    def __call__(self, *coord: Array) -> Array: ...
    @overload
    def __call__(self, *coord: Coord) -> Ints: ...
    def __call__(self, *coord: Coord) -> Ints:
        """The swizzled offset in elements; coordinates and errors as for `Layout`."""
        return self.swizzle(self.offset + self.layout(*coord))

    @property
    def cosize(self) -> int:
        """One more than the largest swizzled offset, in elements.

        This is not CuTe's number: `cosize` of a swizzled layout is there the cosize of the layout *under*
        the swizzle (`cute_cosize`), which the swizzle can exceed.

        Raises:
            SwzError: SWZ213 beyond 65,536 coordinates (use `cosize_bound`), unless the swizzle is the
                identity.

        >>> tail = ComposedLayout(Swizzle(1, 0, 1), 0, Layout(3))
        >>> tail.cosize, tail.cute_cosize, tail.cosize_bound
        (4, 3, 4)
        """
        if self.swizzle.bits == 0:
            return self.offset + self.layout.cosize
        if self.size > MAX_ENUMERATED:
            raise SwzError(
                "SWZ213",
                f"the cosize of {self} takes {self.size} evaluations; {MAX_ENUMERATED} are allowed",
                hint="cosize_bound is an upper bound at no cost, cute_cosize is what CuTe calls cosize",
            )
        return 1 + max(self(index) for index in range(self.size))

    @property
    def cute_cosize(self) -> int:
        """What CuTe returns for `cosize`: that of the layout under the swizzle, without the offset.

        Source: NVIDIA CUTLASS, include/cute/swizzle_layout.hpp, cosize(ComposedLayout<Swizzle,
        Offset, LayoutB>).
        """
        return self.layout.cosize

    @property
    def cosize_bound(self) -> int:
        """An upper bound of `cosize`.

        A swizzle keeps each value inside its aligned block of `swizzle.block` values.
        """
        block = self.swizzle.block
        return -(-(self.offset + self.layout.cosize) // block) * block

    def __str__(self) -> str:
        """CuTe's notation, which `parse_notation` reads back."""
        return f"{self.swizzle} o {self.offset} o {self.layout}"


@dataclass(frozen=True, slots=True)
class PointerLayout(_Swizzled):
    """The map c -> swizzle(base + layout(c) * element bytes), all in bytes.

    It is CuTe's `Sw<..> o smem_ptr[..b](unset) o ..`. `element_bits` is a multiple of 8; the element's
    bytes are the consecutive ones from that address.

    Raises:
        SwzError: SWZ212 for elements that are no whole bytes, SWZ202 for a size that is not an int.

    >>> pointer = PointerLayout(Swizzle(3, 4, 3), 16, Layout((8, 64), (64, 1)))
    >>> print(pointer, pointer(1, 0), pointer(1, 0, base_bytes=128))
    Swizzle<3,4,3> o smem_ptr[16b](unset) o (8,64):(64,1) 144 288
    """

    swizzle: Swizzle
    element_bits: int
    layout: Layout

    def __post_init__(self) -> None:
        """Refuses elements that are no whole number of bytes."""
        object.__setattr__(self, "element_bits", check_int(self.element_bits, "element_bits", 1))
        if self.element_bits % 8:
            raise SwzError(
                "SWZ212",
                f"a swizzle of byte addresses needs elements of whole bytes, not of {self.element_bits} bits",
                hint="describe the tile in units of whole bytes, or put the swizzle on element offsets",
            )

    @property
    def element_bytes(self) -> int:
        """The bytes of one element."""
        return self.element_bits // 8

    @overload
    def __call__(self, *coord: int, base_bytes: int = 0) -> int: ...
    @overload
    def __call__(self, *coord: Array, base_bytes: Ints = 0) -> Array: ...
    @overload
    def __call__(self, *coord: Coord, base_bytes: Ints = 0) -> Ints: ...
    def __call__(self, *coord: Coord, base_bytes: Ints = 0) -> Ints:
        """The absolute byte address of an element, with the tile's base at `base_bytes`.

        Coordinates and errors are those of `Layout`.
        """
        base_bytes = check_index(base_bytes)
        return self.swizzle(base_bytes + self.layout(*coord) * self.element_bytes)

    def on_offsets(self) -> ComposedLayout:
        """The element form, equal to this one wherever the base is a multiple of `swizzle.span` bytes.

        Raises:
            SwzError: SWZ211 if the swizzle moves bits inside an element; SWZ212 if the number of bytes of an
                element is no power of two.

        Source: NVIDIA CUTLASS, include/cute/pointer_flagged.hpp, as_position_independent_swizzle_layout.

        >>> print(PointerLayout(Swizzle(3, 4, 3), 16, Layout((8, 64), (64, 1))).on_offsets())
        Swizzle<3,3,3> o 0 o (8,64):(64,1)
        """
        if self.element_bytes & (self.element_bytes - 1):
            raise SwzError("SWZ212", f"a swizzle cannot be counted in elements of {self.element_bytes} bytes")
        return ComposedLayout(self.swizzle.recast(self.element_bytes.bit_length() - 1), 0, self.layout)

    def __str__(self) -> str:
        """CuTe's notation, which `parse_notation` reads back."""
        return f"{self.swizzle} o smem_ptr[{self.element_bits}b](unset) o {self.layout}"
