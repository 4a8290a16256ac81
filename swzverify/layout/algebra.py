"""The algebra of layouts: coalesce, filter, composition, complement and the two inverses.

Every operation is defined by a law on offsets, stated in its docstring and holding at every
coordinate; where no layout obeys the law the operation raises SWZ208 instead of returning something
near. Source for the names and the shapes of the results: NVIDIA CUTLASS, include/cute/layout.hpp.
"""

from __future__ import annotations

from collections.abc import Iterable

from swzverify.errors import SwzError
from swzverify.layout.int_tuple import IntTuple, check_int
from swzverify.layout.layout import Layout

Leaf = tuple[int, int]
"""A (shape, stride) pair."""


def make_layout(*modes: Layout) -> Layout:
    """The layout whose modes are the given layouts.

    >>> print(make_layout(Layout(8, 64), Layout((4, 2))))
    (8,(4,2)):(64,(1,4))
    """
    return Layout(tuple(mode.shape for mode in modes), tuple(mode.stride for mode in modes))


def coalesce(layout: Layout, profile: IntTuple | None = None) -> Layout:
    """The layout with the fewest leaves that has the same offset at every linear index.

    Linear indices are those inside the size. With a tuple `profile`, each of the first modes is
    coalesced on its own, so that the rank stays.

    Raises:
        SwzError: SWZ209 if `profile` has more modes than the layout.

    >>> print(coalesce(Layout((2, (1, 6)), (1, (6, 2)))))
    12:1
    >>> print(coalesce(Layout((2, (1, 6)), (1, (6, 2))), (1, 1)))
    (2,6):(1,2)
    """
    if profile is None or isinstance(profile, int):
        return from_leaves(_merged(leaf for leaf in layout.leaves if leaf[0] != 1))
    modes = [coalesce(mode, part) for mode, part in pair_modes(layout, profile)]
    return make_layout(*modes, *layout.modes[len(profile) :])


def filter(layout: Layout, profile: IntTuple | None = None) -> Layout:  # CuTe's name
    """The coalesced layout without its broadcast leaves (stride 0); the set of offsets is the same.

    >>> print(filter(Layout((2, 4, 8), (1, 0, 2))))
    16:1
    """
    if profile is None or isinstance(profile, int):
        return from_leaves(_merged((shape, stride) for shape, stride in layout.leaves if shape != 1 and stride != 0))
    modes = [filter(mode, part) for mode, part in pair_modes(layout, profile)]
    return make_layout(*modes, *layout.modes[len(profile) :])


def composition(outer: Layout, inner: Layout) -> Layout:
    """The layout R, nested like `inner`, with R(c) = outer(inner(c)) at every coordinate c of `inner`.

    Offsets of `inner` may lie beyond the size of `outer`: the last leaf of `outer` has no bound.

    Raises:
        SwzError: SWZ208 if a stride or extent of `inner` does not divide along the leaves of `outer`,
            or if offsets of different modes of `inner` add up with a carry over a leaf of `outer`. In
            the second case no layout fulfils the law, which CuTe does not check.

    >>> print(composition(Layout((10, 2), (16, 4)), Layout((5, 4), (1, 5))))
    (5,(2,2)):(16,(80,4))
    >>> composition(Layout((4, 2), (1, 100)), Layout((4, 2), (1, 2)))
    Traceback (most recent call last):
    swzverify.errors.SwzError: SWZ208: (4,2):(1,100) o (4,2):(1,2) is no layout: modes of the right layout add up to ...
    """
    targets = _merged(leaf for i, leaf in enumerate(outer.leaves) if leaf[0] != 1 or i == len(outer.leaves) - 1)
    highest = [0] * len(targets)  # per target leaf, the largest sum of what the leaves of `inner` put there
    shape, stride = _compose_tree(targets, highest, inner.shape, inner.stride, f"{outer} o {inner}")
    for (extent, _), top in zip(targets[:-1], highest[:-1], strict=True):
        if top >= extent:
            raise SwzError(
                "SWZ208",
                f"{outer} o {inner} is no layout: modes of the right layout add up to {top} in a leaf of extent "
                f"{extent}, and the carry is not linear",
            )
    return Layout(shape, stride)


def _compose_tree(
    targets: list[Leaf], highest: list[int], shape: IntTuple, stride: IntTuple, what: str
) -> tuple[IntTuple, IntTuple]:
    if isinstance(shape, int) or isinstance(stride, int):
        if not (isinstance(shape, int) and isinstance(stride, int)):
            raise TypeError("a Layout holds shape and stride of one profile")
        pieces = _compose_leaf(targets, highest, shape, stride, what)
        if len(pieces) == 1:
            return pieces[0]
        return tuple(piece[0] for piece in pieces), tuple(piece[1] for piece in pieces)
    parts = [_compose_tree(targets, highest, s, d, what) for s, d in zip(shape, stride, strict=True)]
    return tuple(part[0] for part in parts), tuple(part[1] for part in parts)


def _compose_leaf(targets: list[Leaf], highest: list[int], count: int, step: int, what: str) -> list[Leaf]:
    """Cut `count` indices, `step` apart, where they cross from one target leaf to the next."""
    if step == 0:
        return [(count, 0)]
    pieces: list[Leaf] = []
    for i, (extent, stride) in enumerate(targets[:-1]):
        if step % extent == 0:
            step //= extent
            continue
        if (count - 1) * step < extent:
            take = count
        elif extent % step == 0 and count % (extent // step) == 0:
            take = extent // step
        else:
            raise SwzError(
                "SWZ208",
                f"{what} is no layout: {count} indices {step} apart do not divide over a leaf of extent {extent}",
            )
        pieces.append((take, step * stride))
        highest[i] += (take - 1) * step
        count //= take
        step = 1
        if count == 1:
            return pieces
    return [*pieces, (count, step * targets[-1][1])]


def complement(layout: Layout, cotarget: int | None = None) -> Layout:
    """The layout C that fills the gaps of `layout` up to `cotarget` (default: its cosize).

    C is increasing, and layout(i) + C(j) takes no value twice (broadcast leaves apart); where every
    stride is a multiple of what the leaves below it span, the sums are exactly 0, 1, 2, ... up to at
    least `cotarget` - 1.

    Raises:
        SwzError: SWZ208 if leaves overlap.

    >>> print(complement(Layout(4, 2), 16), complement(Layout((2, 2), (1, 6)), 12))
    (2,2):(1,8) 3:2
    """
    target = layout.cosize if cotarget is None else cotarget
    target = check_int(target, "cotarget", 1)
    gaps: list[Leaf] = []
    filled = 1
    for stride, shape in sorted((step, extent) for extent, step in layout.leaves if extent != 1 and step != 0):
        if stride < filled:
            raise SwzError(
                "SWZ208", f"{layout} has no complement: the leaf {shape}:{stride} overlaps the ones of smaller stride"
            )
        gaps.append((stride // filled, filled))
        filled = shape * stride
    gaps.append((-(-target // filled), filled))
    return from_leaves(_merged(leaf for leaf in gaps if leaf[0] != 1))


def right_inverse(layout: Layout) -> Layout:
    """The layout R with layout(R(i)) = i for every i below R's size.

    It takes the leaves in the order of their strides while they fit. Leaves that continue each other are
    joined first. If leaves overlap, R need not be the largest such layout.

    >>> print(right_inverse(Layout((8, 64), (64, 1))), right_inverse(Layout(4, 2)))
    (64,8):(8,1) 1:0
    """
    inverse: list[Leaf] = []
    reached = 1
    for stride, shape, weight in sorted(_weighted(coalesce(layout))):
        if stride == reached:
            inverse.append((shape, weight))
            reached = shape * stride
    return from_leaves(_merged(inverse))


def left_inverse(layout: Layout) -> Layout:
    """The layout L with L(layout(i)) = i for every linear index i of a layout without broadcast leaves.

    Broadcast leaves (stride 0) come back as coordinate 0, so layout(L(layout(i))) = layout(i) holds
    always.

    Raises:
        SwzError: SWZ208 if leaves overlap or a stride is no multiple of the next smaller one.

    >>> print(left_inverse(Layout((8, 4), (5, 1))), left_inverse(Layout(4, 2)))
    (5,8):(8,1) (2,4):(0,1)
    """
    inverse: list[Leaf] = []
    weight_below, stride_below, reached = 0, 1, 1
    for stride, shape, weight in sorted(_weighted(coalesce(layout))):
        if stride == 0:
            continue
        if stride < reached or stride % stride_below:
            raise SwzError(
                "SWZ208",
                f"{layout} has no left inverse: the leaf {shape}:{stride} overlaps the ones of smaller stride, or its "
                f"stride is no multiple of {stride_below}",
            )
        inverse.append((stride // stride_below, weight_below))
        weight_below, stride_below, reached = weight, stride, shape * stride
    inverse.append((reached // stride_below, weight_below))
    return from_leaves(_merged(leaf for leaf in inverse if leaf[0] != 1))


def from_leaves(leaves: list[Leaf]) -> Layout:
    """The flat layout with these (shape, stride) leaves; `1:0` for none.

    >>> print(from_leaves([(8, 1), (4, 16)]), from_leaves([(8, 2)]), from_leaves([]))
    (8,4):(1,16) 8:2 1:0
    """
    if not leaves:
        return Layout(1, 0)
    if len(leaves) == 1:
        return Layout(*leaves[0])
    return Layout(tuple(shape for shape, _ in leaves), tuple(stride for _, stride in leaves))


def pair_modes(layout: Layout, parts: tuple[IntTuple, ...]) -> list[tuple[Layout, IntTuple]]:
    """The first modes of `layout`, each with its entry of `parts`.

    Raises:
        SwzError: SWZ209 if there are more parts than modes.

    >>> pair_modes(Layout((8, 64)), (2,))
    [(Layout(8, 1), 2)]
    """
    if len(parts) > layout.rank:
        raise SwzError("SWZ209", f"{len(parts)} modes are asked for, but the layout {layout} has {layout.rank}")
    return list(zip(layout.modes, parts, strict=False))


def _merged(leaves: Iterable[Leaf]) -> list[Leaf]:
    """Joins neighbours where the second goes on exactly where the first ends."""
    merged: list[Leaf] = []
    for shape, stride in leaves:
        if merged and merged[-1][0] * merged[-1][1] == stride:
            merged[-1] = (merged[-1][0] * shape, merged[-1][1])
        else:
            merged.append((shape, stride))
    return merged


def _weighted(layout: Layout) -> list[tuple[int, int, int]]:
    """The (stride, shape, weight) of every leaf but those of extent 1.

    A weight is the leaf's place value in a linear index.
    """
    weighted: list[tuple[int, int, int]] = []
    weight = 1
    for shape, stride in layout.leaves:
        if shape != 1:
            weighted.append((stride, shape, weight))
        weight *= shape
    return weighted
