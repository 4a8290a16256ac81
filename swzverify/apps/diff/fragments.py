"""The differences between the fragments of two accesses."""

from __future__ import annotations

from collections.abc import Iterator

from swzverify.apps.diff.canonical import spelled
from swzverify.apps.diff.change import Aspect, Change, Direction
from swzverify.claims import Delivers
from swzverify.claims.tile_points import describe
from swzverify.subjects import Access


def fragment_changes(before: Access, after: Access, kind: str) -> Iterator[Change]:
    """What the registers should hold; only `delivers` reads it.

    The coordinates are the kernel's own, as those of an operand; another instruction, role or order of
    the modes is another claim.
    """
    for what, old, new in zip(("fragment", "coordinates"), _words(before), _words(after), strict=True):
        if old != new:
            is_claim = kind == Delivers.kind and what == "fragment"
            aspect, way = (Aspect.STATEMENT, Direction.WEAKER) if is_claim else (Aspect.SUBJECT, Direction.NEITHER)
            yield Change(aspect, way, f"{what} of {before.name}", old, new)


def _words(access: Access) -> tuple[str, str]:
    """The fragment and its coordinates, with the constants' values."""
    fragment = access.fragment
    if fragment is None:
        return "none", "none"
    at = ", ".join(spelled(each, access) for each in fragment.at)
    tile = fragment.tile
    place = "" if tile is None else f", tile {tile.name}: {describe(tile)}, {tile.describe_base()}"
    stage = "" if fragment.stage is None else f", stage {spelled(fragment.stage, access)}"
    return (
        f"{fragment.described()}, {'x'.join(fragment.modes)}{place}",
        f"[{at}]{stage}, register {spelled(fragment.register, access)}",
    )
