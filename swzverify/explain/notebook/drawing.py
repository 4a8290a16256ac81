"""How notebooks show a value as a picture: one function per kind of value, chosen by its type.

Layouts, costs and judgements say only that they are `Drawn`; the package tells `shown` to ask this
file. So their folders need not import pictures.
"""

from __future__ import annotations

from functools import singledispatch

from swzverify.claims.cost_claim import CostClaim
from swzverify.errors import SwzError
from swzverify.explain.pictures.chosen import chosen
from swzverify.explain.pictures.grid import View
from swzverify.explain.pictures.picture import Picture
from swzverify.explain.pictures.svg import render_svg
from swzverify.explain.pictures.views.groups import groups
from swzverify.explain.pictures.views.logical import logical
from swzverify.explain.pictures.views.offsets import offsets, swizzled_offsets
from swzverify.explain.pictures.views.refuted import refuted
from swzverify.explain.pictures.views.waves import waves
from swzverify.layout import ComposedLayout, Layout, PointerLayout, Swizzle
from swzverify.prover import Judgement
from swzverify.search.costs import Locality
from swzverify.subjects import Access, Tile

MOST_ROWS = 32
"""Rows of a tile's cells: a notebook keeps every picture in its file."""


def svg_of(value: object) -> str | None:
    """The picture of a value as SVG; None where it has none, such as an access that cannot be priced.

    >>> from swzverify import Layout
    >>> "offset % 32" in svg_of(Layout("(4,8):(8,1)"))
    True
    """
    try:
        picture = picture_of(value)
    except SwzError:
        return None
    return None if picture is None else render_svg(picture)


@singledispatch
def picture_of(value: object) -> Picture | None:
    """The picture that a notebook draws of a value; None for no picture; errors are those of the views.

    >>> picture_of("(4,8):(8,1)") is None
    True
    """
    del value
    return None


@picture_of.register
def _(value: Picture) -> Picture:
    return value


picture_of.register(Layout | ComposedLayout, offsets)
picture_of.register(Swizzle, swizzled_offsets)


@picture_of.register
def _(value: PointerLayout) -> Picture:
    tile = Tile(str(value), value.element_bits, value.layout, value.swizzle, "address")
    return logical(tile, View(most_rows=MOST_ROWS))


@picture_of.register
def _(value: Tile) -> Picture:
    return logical(value, View(most_rows=MOST_ROWS))


@picture_of.register
def _(value: Access) -> Picture:
    return groups(chosen(value))


@picture_of.register
def _(value: Locality) -> Picture:
    return waves([value])


@picture_of.register
def _(value: Judgement) -> Picture | None:
    found = value.verdict.counterexample
    if not isinstance(value.claim, CostClaim) or value.verdict.measure is None or found is None or found.point is None:
        return None
    return refuted(value.claim.access, found.point)
