"""Row-major and column-major arrays with a padded contiguous dimension.

An example is `__shared__ float t[R][C + pad]`.
"""

from __future__ import annotations

from itertools import accumulate
from operator import mul
from typing import Literal, cast

from swzverify.errors import SwzError
from swzverify.layout.int_tuple import check_int, check_int_tuple, depth
from swzverify.layout.layout import Layout


def padded_layout(shape: tuple[int, ...], order: Literal["row", "col"] = "row", pad: int = 0) -> tuple[Layout, int]:
    """The layout and the allocation of a padded C array, both in elements.

    In the order `row` the last index is fastest, in `col` the first. `pad` elements follow every run of
    the fastest index, also the last run: the allocation is R*(C + pad) for `row`.

    Raises:
        SwzError: SWZ201 for a negative value, SWZ202 for one that is not an int, SWZ203 for a zero
            extent, SWZ214 for a nested shape or an unknown order.

    >>> layout, allocation = padded_layout((32, 32), "row", 1)
    >>> print(layout, allocation)
    (32,32):(33,1) 1056
    >>> print(*padded_layout((32, 16), "col", 8))
    (32,16):(1,40) 640
    """
    shape = cast("tuple[int, ...]", check_int_tuple(shape, "shape", 1))
    pad = check_int(pad, "pad", 0)
    if depth(shape) != 1:
        raise SwzError("SWZ214", f"the shape {shape!r} of a padded array must be a flat tuple of ints")
    if order not in ("row", "col"):
        raise SwzError("SWZ214", f"the order {order!r} is unknown", hint="'row' (last index fastest) or 'col' (first)")
    fastest_first = shape[::-1] if order == "row" else shape
    padded = (fastest_first[0] + pad, *fastest_first[1:])
    *strides, allocation = accumulate(padded, mul, initial=1)
    return Layout(shape, tuple(strides[::-1] if order == "row" else strides)), allocation
