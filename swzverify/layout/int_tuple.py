"""Nested tuples of integers: the shapes, strides and coordinates of layouts.

Everything here takes Python ints; wherever a coordinate or an index goes in, an int64 numpy array
may go in instead and an array comes out. numpy itself is needed for the type annotations only.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import accumulate
from math import prod
from operator import mul
from typing import TYPE_CHECKING, TypeAlias, cast

from swzverify.errors import SwzError
from swzverify.ir.whole import required, whole

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

IntTuple: TypeAlias = "int | tuple[IntTuple, ...]"
Array: TypeAlias = "npt.NDArray[np.int64]"
Ints: TypeAlias = "int | Array"
Coord: TypeAlias = "int | Array | tuple[Coord, ...]"

MAX_LEAVES = 256
MAX_DEPTH = 16
MAX_VALUE = 2**62  # sums and shifts of values below this stay inside int64, so arrays cannot wrap


def check_int_tuple(value: object, what: str, minimum: int) -> IntTuple:
    """Check that `value` is a nested tuple of ints, each at least `minimum` and below 2^62.

    Numpy's integers become ints. `what` names the object in messages ("shape").

    Raises:
        SwzError: SWZ201 for a negative entry, SWZ202 for one that is not an int, SWZ203 for zero or an
            empty tuple, SWZ206 if it is too deep, has too many leaves or is too large.

    >>> check_int_tuple((8, (4, 2)), "shape", 1)
    (8, (4, 2))
    >>> check_int_tuple((8, 0), "shape", 1)
    Traceback (most recent call last):
    swzverify.errors.SwzError: SWZ203: shape (8, 0) has a 0; every extent is at least 1
    """
    count, is_plain = 0, True
    stack: list[tuple[object, int]] = [(value, 0)]
    while stack:
        node, level = stack.pop()
        if isinstance(node, tuple):
            entries = cast("tuple[object, ...]", node)
            if not entries:
                raise SwzError("SWZ203", f"{what} {value!r} has an empty tuple; every mode has at least one extent")
            if level >= MAX_DEPTH:
                raise SwzError("SWZ206", f"{what} is nested more than {MAX_DEPTH} deep")
            stack.extend((entry, level + 1) for entry in entries)
        else:
            _check_leaf(node, value, what, minimum)
            is_plain &= type(node) is int
            count += 1
        if count + len(stack) > MAX_LEAVES:
            raise SwzError("SWZ206", f"{what} has more than {MAX_LEAVES} leaves")
    return cast("IntTuple", value if is_plain else _plain(value))


def _plain(value: object) -> IntTuple:
    """A checked value, with numpy's integers turned into Python ints."""
    if isinstance(value, tuple):
        return tuple([_plain(entry) for entry in cast("tuple[object, ...]", value)])
    return required(value, "an entry")


def check_int(value: object, what: str, minimum: int) -> int:
    """Check that `value` is one int, at least `minimum` and below 2^62; errors as `check_int_tuple`.

    >>> check_int(True, "pad", 0)
    Traceback (most recent call last):
    swzverify.errors.SwzError: SWZ202: pad True holds True (bool); only ints and tuples of them are allowed
      divide with //, not with /, and turn lists into tuples
    """
    if isinstance(value, tuple):
        raise SwzError("SWZ202", f"{what} is the tuple {value!r}; it must be one int")
    return _check_leaf(value, value, what, minimum)


def _check_leaf(given: object, around: object, what: str, minimum: int) -> int:
    leaf = whole(given)
    if leaf is None:
        raise SwzError(
            "SWZ202",
            f"{what} {around!r} holds {given!r} ({type(given).__name__}); only ints and tuples of them are allowed",
            hint="divide with //, not with /, and turn lists into tuples",
        )
    if leaf < 0:
        raise SwzError("SWZ201", f"{what} {around!r} has the negative value {leaf}; tiles need values >= 0")
    if leaf < minimum:
        raise SwzError("SWZ203", f"{what} {around!r} has a {leaf}; every extent is at least {minimum}")
    if leaf >= MAX_VALUE:
        raise SwzError("SWZ206", f"{what} has the value {leaf}, which is not below 2^62")
    return leaf


def check_index(value: Ints) -> Ints:
    """Check that a coordinate, index or offset is a non-negative int or a non-negative int64 array.

    One of numpy's integers becomes an int.

    Raises:
        SwzError: SWZ202 for a bool, a float or an array of another type (narrow types would wrap without
            a message); SWZ306 for a negative value.

    >>> check_index(7)
    7
    >>> check_index(-1)
    Traceback (most recent call last):
    swzverify.errors.SwzError: SWZ306: the coordinate -1 is negative
    """
    if isinstance(value, bool):
        raise SwzError("SWZ202", f"{value!r} is a truth value, not a coordinate")
    number = whole(value)
    smallest = _smallest_of_array(cast("Array", value)) if number is None else number
    if smallest < 0:
        raise SwzError("SWZ306", f"the coordinate {smallest} is negative")
    return value if number is None else number


def _smallest_of_array(value: Array) -> int:
    kind = str(getattr(value, "dtype", type(value).__name__))
    if kind != "int64":
        raise SwzError(
            "SWZ202",
            f"a coordinate of type {kind} is neither an int nor an int64 array",
            hint="convert the array with .astype(np.int64); narrower types wrap in silence",
        )
    return int(value.min()) if value.size else 0


def flatten(value: IntTuple) -> tuple[int, ...]:
    """The integers of `value` in order, as one flat tuple.

    >>> flatten(((2, 4), 8)), flatten(5)
    ((2, 4, 8), (5,))
    """
    if isinstance(value, int):
        return (value,)
    flat: list[int] = []
    for entry in value:
        if isinstance(entry, int):
            flat.append(entry)
        else:
            flat += flatten(entry)
    return tuple(flat)


def product(value: IntTuple) -> int:
    """The product of all integers of `value`.

    >>> product((8, (4, 2)))
    64
    """
    return prod(flatten(value))


def rank(value: IntTuple) -> int:
    """The number of top-level entries; 1 for an int.

    >>> rank(((2, 4), 8)), rank(5)
    (2, 1)
    """
    return 1 if isinstance(value, int) else len(value)


def depth(value: IntTuple) -> int:
    """The number of tuple levels; 0 for an int.

    >>> depth(((2, 4), 8)), depth(5)
    (2, 0)
    """
    return 0 if isinstance(value, int) else 1 + max(depth(entry) for entry in value)


def congruent(first: IntTuple, second: IntTuple) -> bool:
    """Whether both have the same nesting, whatever their integers.

    >>> congruent(((2, 4), 8), ((1, 2), 64)), congruent((2, 4), 8)
    (True, False)
    """
    if isinstance(first, int) or isinstance(second, int):
        return isinstance(first, int) and isinstance(second, int)
    return len(first) == len(second) and all(congruent(a, b) for a, b in zip(first, second, strict=True))


def unflatten(leaves: tuple[int, ...], profile: IntTuple) -> IntTuple:
    """The integers `leaves`, nested as `profile` is; as many integers as `profile` has leaves.

    >>> unflatten((1, 2, 3), ((0, 0), 0))
    ((1, 2), 3)
    """
    return _take(iter(leaves), profile)


def _take(leaves: Iterator[int], profile: IntTuple) -> IntTuple:
    if isinstance(profile, int):
        return next(leaves)
    return tuple([_take(leaves, entry) for entry in profile])


def compact_strides(shape: IntTuple) -> IntTuple:
    """The strides of the compact column-major layout of `shape`.

    Each is the product of all extents before it. CuTe gives a *static* extent of 1 the stride 0
    instead; inside the shape both mean the same.

    Source: NVIDIA CUTLASS, include/cute/stride.hpp, compact_col_major.

    >>> compact_strides((8, (4, 2)))
    (1, (8, 32))
    """
    *strides, _ = accumulate(flatten(shape), mul, initial=1)
    return unflatten(tuple(strides), shape)


def idx2crd(index: Ints, shape: IntTuple) -> Coord:
    """The coordinate in `shape` of a linear index, first leaf fastest.

    The last leaf takes the quotient without a bound.

    >>> idx2crd(37, (8, (4, 2)))
    (5, (0, 1))
    >>> idx2crd(64, (8, (4, 2)))
    (0, (0, 2))
    """
    return _split(check_index(index), shape)


def _split(index: Ints, shape: IntTuple) -> Coord:
    if isinstance(shape, int):
        return index
    digits: list[Coord] = []
    for mode in shape[:-1]:
        extent = product(mode)
        digits.append(_split(index % extent, mode))
        index = index // extent
    digits.append(_split(index, shape[-1]))
    return tuple(digits)


def crd2idx(coord: Coord, shape: IntTuple, stride: IntTuple | None = None) -> Ints:
    """The offset of a coordinate: the sum of digit * stride.

    Without `stride` it is the linear index, first leaf fastest. `coord` is nested like `shape`, or has
    one integer for a whole nested part. That integer is split over the part's leaves, and the last leaf
    takes the quotient without a bound.

    Raises:
        SwzError: SWZ205 if the nesting does not fit.

    >>> crd2idx((5, (0, 1)), (8, (4, 2)))
    37
    >>> crd2idx((5, 4), (8, (4, 2)), (1, (8, 100)))
    105
    """
    strides = compact_strides(shape) if stride is None else stride
    if not isinstance(coord, tuple):
        return _dot(check_index(coord), flatten(shape), flatten(strides))
    if isinstance(shape, int) or isinstance(strides, int) or len(coord) != len(shape):
        raise SwzError(
            "SWZ205",
            f"the coordinate {coord!r} does not fit the shape {shape!r}",
            hint="give one integer, or a tuple with one entry for each entry of the shape",
        )
    total: Ints = 0
    for entry, mode, mode_stride in zip(coord, shape, strides, strict=True):
        total = total + crd2idx(entry, mode, mode_stride)
    return total


def _dot(index: Ints, shapes: tuple[int, ...], strides: tuple[int, ...]) -> Ints:
    total: Ints = 0
    for extent, stride in zip(shapes[:-1], strides[:-1], strict=True):
        total = total + index % extent * stride
        index = index // extent
    return total + index * strides[-1]
