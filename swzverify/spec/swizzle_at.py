"""The swizzle of a tile for given constants, without building the tile."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from swzverify.ir.c_eval import evaluate
from swzverify.ir.c_parse import expression
from swzverify.layout import Swizzle, parse_swizzle
from swzverify.spec.tile_models import SwizzlePart, TilePart


def swizzle_at(part: TilePart, constants: Mapping[str, int]) -> tuple[Swizzle, Literal["offset", "address"]]:
    """The swizzle that a tile states, and what it acts on.

    Raises:
        SwzError: SWZ2xx and SWZ3xx, as the notation and expressions.

    >>> part = TilePart(element="f16", layout="(8,64):(64,1)", swizzle="Swizzle<B,3,3>")
    >>> str(swizzle_at(part, {"B": 2})[0])
    'Swizzle<2,3,3>'
    """
    stated = part.swizzle
    if isinstance(stated, SwizzlePart):
        numbers = (stated.bits, stated.base, stated.shift)
        fields = (each if isinstance(each, int) else evaluate(expression(each), constants) for each in numbers)
        return Swizzle(*fields), stated.on
    return (Swizzle(0, 0, 0) if stated is None else parse_swizzle(stated, constants)), "offset"
