"""Hypothesis strategies: swizzles, layouts, swizzled layouts and tiles, all of them legal.

They shrink to what is simplest: fewer modes, smaller extents, no gaps, no swizzle. This module
alone imports hypothesis, which swzverify does not depend on.
"""

from __future__ import annotations

from math import prod
from typing import Literal, TypeAlias, get_args

from swzverify.errors import SwzError
from swzverify.layout import ComposedLayout, Layout, Swizzle
from swzverify.layout.int_tuple import unflatten
from swzverify.layout.swizzle import MAX_SPAN_BITS
from swzverify.subjects import AlignedBase, Tile

try:
    from hypothesis import strategies as st
except ModuleNotFoundError as error:
    if error.name != "hypothesis":
        raise
    raise ModuleNotFoundError(
        "SWZ807: swzverify.testing.strategies needs hypothesis, which is not installed\n"
        "  install it: python -m pip install 'hypothesis>=6.100'",
        name="hypothesis",
    ) from None

Kind: TypeAlias = Literal["compact", "injective", "any"]
"""`compact`: a bijection onto 0..size-1; `injective`: with gaps; `any`: offsets may be shared."""

__all__ = ["composed_layouts", "layouts", "swizzles", "tiles"]


def swizzles(
    *, max_bits: int = 3, max_base: int = 5, max_shift: int = 5, negative_shifts: bool = True
) -> st.SearchStrategy[Swizzle]:
    """Legal swizzles with B, M and |S| up to the bounds; they shrink to `Swizzle<0,0,0>`.

    Raises:
        SwzError: SWZ105 for bounds that are negative or allow no legal swizzle.

    >>> from hypothesis import find
    >>> print(find(swizzles(), lambda swizzle: swizzle.bits == 2, random=__import__("random").Random(0)))
    Swizzle<2,0,2>
    """
    _check("max_bits", max_bits, 0, max_shift, "max_shift, since |S| >= B")
    _check("max_base", max_base, 0, MAX_SPAN_BITS - max_bits - max_shift, f"{MAX_SPAN_BITS} with the other two")
    return _swizzles(max_bits, max_base, max_shift, negative_shifts)


@st.composite
def _swizzles(draw: st.DrawFn, max_bits: int, max_base: int, max_shift: int, negative_shifts: bool) -> Swizzle:
    bits = draw(st.integers(0, max_bits))
    base = draw(st.integers(0, max_base))
    shift = draw(st.integers(bits, max_shift))
    sign = draw(st.sampled_from((1, -1) if negative_shifts else (1,)))
    return Swizzle(bits, base, sign * shift)


def layouts(
    *,
    kind: Kind = "any",
    max_modes: int = 3,
    max_leaves: int = 2,
    max_extent: int = 64,
    max_size: int = 4096,
    max_gap: int = 4,
    powers_of_two: bool = False,
) -> st.SearchStrategy[Layout]:
    """Layouts of up to `max_modes` modes, `max_leaves` extents in each, and `max_size` elements.

    `max_gap` is how many times as large as needed a stride may be (`injective`), or the largest stride
    in elements of `max_extent` (`any`). They shrink to `(1):(1)`.

    Raises:
        SwzError: SWZ105 for bounds that allow no layout.

    >>> from hypothesis import find
    >>> wide = find(layouts(kind="compact"), lambda layout: layout.size > 5, random=__import__("random").Random(0))
    >>> wide.size, wide.cosize
    (6, 6)
    """
    if kind not in get_args(Kind):
        raise SwzError("SWZ105", f"kind={kind!r}", hint=f"one of {', '.join(get_args(Kind))}")
    bounds = {"max_modes": max_modes, "max_leaves": max_leaves, "max_extent": max_extent, "max_size": max_size}
    for name, value in (bounds | {"max_gap": max_gap}).items():
        _check(name, value, 1, 1 << 20, "2^20")
    _check("max_modes * max_leaves", max_modes * max_leaves, 1, 64, "64")
    return _layouts(kind, max_modes, max_leaves, max_extent, max_size, max_gap, powers_of_two)


@st.composite
def _layouts(
    draw: st.DrawFn,
    kind: Kind,
    max_modes: int,
    max_leaves: int,
    max_extent: int,
    max_size: int,
    max_gap: int,
    powers_of_two: bool,
) -> Layout:
    profile = draw(st.lists(st.integers(1, max_leaves), min_size=1, max_size=max_modes))
    extents: list[int] = []
    for _ in range(sum(profile)):
        most = min(max_extent, max_size // prod(extents))
        power = st.integers(0, most.bit_length() - 1).map(lambda log: 1 << log)
        extents.append(draw(power if powers_of_two else st.integers(1, most)))
    strides = draw(_strides(tuple(extents), kind, max_extent, max_gap))
    nested = tuple(0 if leaves == 1 else (0,) * leaves for leaves in profile)
    return Layout(unflatten(tuple(extents), nested), unflatten(tuple(strides), nested))


@st.composite
def _strides(draw: st.DrawFn, extents: tuple[int, ...], kind: Kind, max_extent: int, max_gap: int) -> list[int]:
    """A stride per leaf, at least the reach of all smaller ones; for `compact` exactly that."""
    if kind == "any":
        return [draw(st.integers(0, max_extent * max_gap)) for _ in extents]
    order = draw(st.permutations(range(len(extents))))
    gaps = [1 if kind == "compact" else draw(st.integers(1, max_gap)) for _ in extents]
    steps = [extents[leaf] * gap for leaf, gap in zip(order, gaps, strict=True)]
    stride = 1 if kind == "compact" else draw(st.integers(1, max_gap))
    strides = [0] * len(extents)
    for leaf, step in zip(order, steps, strict=True):
        strides[leaf] = stride
        stride *= step
    return strides


def composed_layouts(
    layout: st.SearchStrategy[Layout] | None = None, swizzle: st.SearchStrategy[Swizzle] | None = None
) -> st.SearchStrategy[ComposedLayout]:
    """Swizzles of element offsets over layouts; by default compact layouts of powers of two.

    >>> from hypothesis import find
    >>> print(find(composed_layouts(), lambda composed: composed.size > 1, random=__import__("random").Random(0)))
    Swizzle<0,0,0> o 0 o (2):(1)
    """
    plain = layouts(kind="compact", powers_of_two=True) if layout is None else layout
    return st.builds(ComposedLayout, swizzles() if swizzle is None else swizzle, st.just(0), plain)


def tiles(
    layout: st.SearchStrategy[Layout] | None = None, swizzle: st.SearchStrategy[Swizzle] | None = None
) -> st.SearchStrategy[Tile]:
    """Tiles of whole-byte elements, at any alignment, in up to three stages, swizzled either way.

    >>> from hypothesis import find
    >>> find(tiles(), lambda tile: tile.stages > 1, random=__import__("random").Random(0)).total_bytes
    2
    """
    plain = layouts(kind="compact", powers_of_two=True) if layout is None else layout
    return st.builds(
        Tile,
        st.just("tile"),
        st.sampled_from((8, 16, 32, 64)),
        plain,
        swizzles() if swizzle is None else swizzle,
        st.sampled_from(("offset", "address")),
        st.integers(0, 10).map(lambda log: AlignedBase(1 << log)),
        st.integers(1, 3),
    )


def _check(name: str, value: object, least: int, most: int, why: str) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise SwzError("SWZ105", f"{name}={value!r}: an int from {least} to {most} ({why})")
