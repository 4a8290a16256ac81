"""`Layout`: the map from logical coordinates to offsets that CuTe calls by the same name."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import overload

from swzverify.core.shown import Drawn
from swzverify.errors import SwzError
from swzverify.layout.int_tuple import (
    MAX_VALUE,
    Array,
    Coord,
    Ints,
    IntTuple,
    check_int_tuple,
    compact_strides,
    congruent,
    crd2idx,
    depth,
    flatten,
    product,
    rank,
)
from swzverify.layout.source_text import layout_text


def cute_text(value: IntTuple) -> str:
    """`value` as CuTe prints it: no spaces, and no comma after a lone entry.

    >>> cute_text(((2, 4), 8)), cute_text((5,))
    ('((2,4),8)', '(5)')
    """
    return str(value) if isinstance(value, int) else "(" + ",".join(cute_text(entry) for entry in value) + ")"


@dataclass(frozen=True, slots=True, init=False, repr=False)
class Layout(Drawn):
    """A map from coordinates to offsets in elements: `shape` and `stride`, nested alike, strides >= 0.

    Without `stride` it is the compact column-major layout of `shape`, as in CuTe. One text in CuTe's
    notation stands for both.

    Raises:
        SwzError: SWZ200 if the text is no layout, SWZ201 for a negative value, SWZ202 for one that is
            not an integer, SWZ203 for a zero extent, SWZ204 if shape and stride are nested differently,
            SWZ206 if it is too large.

    >>> row_major = Layout((8, 64), (64, 1))
    >>> print(row_major, row_major(1, 2), row_major.size, row_major.cosize)
    (8,64):(64,1) 66 512 512
    >>> Layout("(8,64):(64,1)") == row_major
    True
    """

    shape: IntTuple
    stride: IntTuple

    @overload
    def __init__(self, shape: str) -> None: ...
    @overload
    def __init__(self, shape: IntTuple, stride: IntTuple | None = None) -> None: ...
    def __init__(self, shape: IntTuple | str, stride: IntTuple | None = None) -> None:
        """Checks and stores both; see the class."""
        if isinstance(shape, str):
            shape, stride = _from_text(shape, stride)
        shape = check_int_tuple(shape, "shape", 1)
        stride = compact_strides(shape) if stride is None else check_int_tuple(stride, "stride", 0)
        if not congruent(shape, stride):
            raise SwzError(
                "SWZ204",
                f"the shape {cute_text(shape)} and the stride {cute_text(stride)} are nested differently",
                hint="give every integer of the shape exactly one stride, in the same parentheses",
            )
        object.__setattr__(self, "shape", shape)
        object.__setattr__(self, "stride", stride)
        if max(self.size, self.cosize) > MAX_VALUE:
            raise SwzError("SWZ206", f"the layout {self} spans more than 2^62 elements")

    @overload
    def __call__(self, *coord: int) -> int: ...
    @overload
    def __call__(self, *coord: Array) -> Array: ...
    @overload
    def __call__(self, *coord: Coord) -> Ints: ...
    def __call__(self, *coord: Coord) -> Ints:
        """The offset in elements of a coordinate.

        `coord` is one value per mode, each an int or a tuple nested like that mode; or a single value for
        the whole layout: a linear index (first leaf fastest), or the tuple of the modes' values. Within a
        mode an int is split over the leaves, the last leaf taking the quotient without a bound, so a
        coordinate outside the shape has an offset too. int64 arrays may stand for ints and give an array.

        Raises:
            SwzError: SWZ205 for a coordinate of another nesting, SWZ202 for one that is not an integer,
                SWZ306 for a negative one.

        >>> nested = Layout(((2, 4), 8), ((1, 16), 2))
        >>> nested(3, 5), nested((1, 1), 5), nested(43), nested((3, 5))
        (27, 27, 27, 27)
        """
        modes = self.mode_pairs
        if len(coord) == 1 and len(modes) > 1:
            return crd2idx(coord[0], self.shape, self.stride)
        if len(coord) != len(modes):
            raise SwzError(
                "SWZ205",
                f"the layout {self} has {len(modes)} modes, but the coordinate has {len(coord)} values: {coord!r}",
                hint="give one value per mode, or a single linear index",
            )
        total: Ints = 0
        for value, (shape, stride) in zip(coord, modes, strict=True):
            total = total + crd2idx(value, shape, stride)
        return total

    def offsets(self) -> list[int]:
        """The offsets of all `size` linear indices in order; much quicker than one call for each.

        >>> Layout((2, 3), (1, 4)).offsets()
        [0, 1, 4, 5, 8, 9]
        """
        found = [0]
        for extent, stride in self.leaves:
            found = [digit * stride + inner for digit in range(extent) for inner in found]
        return found

    @property
    def mode_pairs(self) -> tuple[tuple[IntTuple, IntTuple], ...]:
        """The (shape, stride) of every mode; one pair where the shape is an int."""
        if isinstance(self.shape, int) or isinstance(self.stride, int):
            return ((self.shape, self.stride),)
        return tuple(zip(self.shape, self.stride, strict=True))

    @property
    def modes(self) -> tuple[Layout, ...]:
        """Every mode as a layout of its own.

        >>> Layout((8, (4, 2))).modes
        (Layout(8, 1), Layout((4, 2), (8, 32)))
        """
        return tuple(Layout(shape, stride) for shape, stride in self.mode_pairs)

    @property
    def leaves(self) -> tuple[tuple[int, int], ...]:
        """The flattened (shape, stride) pairs, in order.

        >>> Layout(((2, 4), 8)).leaves
        ((2, 1), (4, 2), (8, 8))
        """
        return leaves_of(self.shape, self.stride)

    @property
    def extents(self) -> tuple[int, ...]:
        """The number of coordinates of every mode.

        >>> Layout(((2, 4), 8)).extents
        (8, 8)
        """
        return tuple(product(shape) for shape, _ in self.mode_pairs)

    @property
    def size(self) -> int:
        """The number of coordinates."""
        return product(self.shape)

    @property
    def cosize(self) -> int:
        """One more than the largest offset inside the shape, in elements."""
        return 1 + sum((extent - 1) * stride for extent, stride in self.leaves)

    @property
    def rank(self) -> int:
        """The number of modes."""
        return rank(self.shape)

    @property
    def depth(self) -> int:
        """The number of tuple levels of the shape; 0 for `8:1`."""
        return depth(self.shape)

    def __str__(self) -> str:
        """CuTe's notation, which `parse_layout` reads back."""
        return f"{cute_text(self.shape)}:{cute_text(self.stride)}"

    def __repr__(self) -> str:
        """Python that makes an equal layout."""
        return f"Layout({self.shape!r}, {self.stride!r})"


def _from_text(text: str, stride: object) -> tuple[IntTuple, IntTuple | None]:
    """Shape and stride of CuTe's notation, which has both."""
    if stride is not None:
        hint = f'Layout("{text}:...") with the strides in the text, or two tuples'
        raise SwzError("SWZ202", f"the shape is the text {text!r}, and the stride {stride!r} beside it", hint=hint)
    return layout_text(text)


@lru_cache(maxsize=4096)
def leaves_of(shape: IntTuple, stride: IntTuple) -> tuple[tuple[int, int], ...]:
    """The flattened (shape, stride) pairs, kept: every reading of a layout asks for them again and again."""
    return tuple(zip(flatten(shape), flatten(stride), strict=True))
