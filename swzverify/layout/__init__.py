"""CuTe layouts, swizzles, TMA modes, padding and their notation, as pure integer functions.

These functions are the definitions themselves. Every map is a plain formula on Python ints (int64
arrays too). Counterexamples are replayed with these maps, and exhaustive checks enumerate them, so
they share no code with the expressions that the provers read.

>>> from swzverify.layout import Layout, Swizzle, ComposedLayout, parse_notation
>>> tile = ComposedLayout(Swizzle(3, 3, 3), 0, Layout((8, 64), (64, 1)))
>>> tile == parse_notation("Sw<3,3,3> o 0 o (8,64):(64,1)")
True
"""

from swzverify.layout.algebra import coalesce, complement, composition, filter, left_inverse, make_layout, right_inverse
from swzverify.layout.composed import ComposedLayout, PointerLayout
from swzverify.layout.int_tuple import (
    Coord,
    Ints,
    IntTuple,
    compact_strides,
    congruent,
    crd2idx,
    depth,
    flatten,
    idx2crd,
    product,
    rank,
)
from swzverify.layout.layout import Layout
from swzverify.layout.notation import parse_layout, parse_notation, parse_swizzle
from swzverify.layout.padding import padded_layout
from swzverify.layout.swizzle import Swizzle
from swzverify.layout.tiling import (
    Tiler,
    blocked_product,
    logical_divide,
    logical_product,
    raked_product,
    tiled_divide,
    zipped_divide,
)
from swzverify.layout.tma import (
    TmaMode,
    check_tma_base,
    parse_tma_mode,
    tma_allocation_bytes,
    tma_layout,
    tma_pitch_bytes,
)

__all__ = [
    "ComposedLayout",
    "Coord",
    "IntTuple",
    "Ints",
    "Layout",
    "PointerLayout",
    "Swizzle",
    "Tiler",
    "TmaMode",
    "blocked_product",
    "check_tma_base",
    "coalesce",
    "compact_strides",
    "complement",
    "composition",
    "congruent",
    "crd2idx",
    "depth",
    "filter",
    "flatten",
    "idx2crd",
    "left_inverse",
    "logical_divide",
    "logical_product",
    "make_layout",
    "padded_layout",
    "parse_layout",
    "parse_notation",
    "parse_swizzle",
    "parse_tma_mode",
    "product",
    "raked_product",
    "rank",
    "right_inverse",
    "tiled_divide",
    "tma_allocation_bytes",
    "tma_layout",
    "tma_pitch_bytes",
    "zipped_divide",
]
