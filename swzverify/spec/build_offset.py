"""From `shape:` with `offset:` or `address:` of a tile to its map, in one case of the constants."""

from __future__ import annotations

from swzverify.spec.tile_models import TilePart
from swzverify.spec.values import Broken, Values
from swzverify.subjects import OffsetMap
from swzverify.subjects.loop import NOT_FOR_MAPS
from swzverify.subjects.offset_map import MODE_NAMES

EXAMPLE = "shape: [64, 8], and offset: i*8 + (j ^ i%8)"


def build_offset(name: str, part: TilePart, values: Values) -> OffsetMap:
    """The map of a tile with one of the three keys.

    Raises:
        Broken: Something is wrong with it; the problem is noted before.
    """
    key = "offset" if part.address is None else "address"
    value = part.offset if part.address is None else part.address
    _check_keys(part, values)
    over = _modes(part, values)
    if value is None:
        raise Broken
    formula = values.expression(value, [mode for mode, _ in over], key)
    values.require_sound()
    with values.noted(values.at(key)):
        return OffsetMap(over, formula, in_bytes=key == "address", constants=values.constants, name=name)
    raise Broken


def _check_keys(part: TilePart, values: Values) -> None:
    if part.offset is not None and part.address is not None:
        hint = "offset: counts elements, address: counts bytes"
        values.fail("SWZ105", "a tile has `offset` or `address`, not both", values.key("address"), hint)
    stated = next(key for key in ("offset", "address", "shape") if getattr(part, key) is not None)
    if part.offset is None and part.address is None:
        hint = f"an expression of the coordinate goes with it: {EXAMPLE}\na layout has its own: layout: {{shape: ...}}"
        values.fail("SWZ104", "the key 'offset' is missing", values.key("shape"), hint)
    elif part.shape is None:
        message = f"the key 'shape' is missing: nothing says over which coordinates `{stated}` goes"
        values.fail("SWZ104", message, values.key(stated), EXAMPLE)
    for other in ("layout", "tma", "swizzle"):
        if getattr(part, other) is not None:
            hint = "write the XOR into the expression" if other == "swizzle" else "keep one of the two"
            message = f"`{other}` cannot stand beside `{stated}`, which says where each element lies"
            values.fail("SWZ105", message, values.key(other), hint)


def _modes(part: TilePart, values: Values) -> tuple[tuple[str, int], ...]:
    """Names and extents of the modes."""
    if isinstance(part.shape, dict):
        found = [(mode, values.number(extent, "shape", mode, least=1)) for mode, extent in part.shape.items()]
    else:
        stated = enumerate(part.shape or ())
        found = [(MODE_NAMES[at], values.number(extent, "shape", at, least=1)) for at, extent in stated]
    for mode, _ in found:
        where = values.key("shape", mode) if isinstance(part.shape, dict) else values.at("shape")
        hint = "give the modes names of their own: shape: {row: 64, chunk: 8}"
        values.refuse_taken(mode, where, NOT_FOR_MAPS, hint, let_hint=hint)
    return tuple(found)
