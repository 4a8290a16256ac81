"""The view `swizzle`: before and after the swizzle, side by side."""

from __future__ import annotations

from dataclasses import replace

from swzverify.errors import SwzError
from swzverify.explain.pictures.chosen import Chosen, at_point, chosen
from swzverify.explain.pictures.grid import View, grid_of
from swzverify.explain.pictures.picture import BANKS_SCALE, LANES_SCALE, Picture
from swzverify.explain.pictures.probe import probe_words
from swzverify.explain.pictures.views.groups import APART, CLASH, group_panels, worst_group
from swzverify.explain.pictures.views.logical import Numbers, logical_panel
from swzverify.explain.pictures.words import access_words, cost_words, map_words, part_words, tile_words
from swzverify.hardware import Target
from swzverify.subjects import Tile

BEFORE, AFTER = "without the swizzle", "with the swizzle"


def without_swizzle(tile: Tile) -> Tile:
    """The same tile without its swizzle.

    Raises:
        SwzError: SWZ581 if it has none.

    >>> from swzverify.layout import Layout, Swizzle
    >>> without_swizzle(Tile("A", 32, Layout((8, 8), (8, 1)), Swizzle(3, 0, 3))).swizzle is None
    True
    """
    if tile.swizzle is None:
        raise SwzError(
            "SWZ581",
            f"tile {tile.name} has no swizzle, so that there is no before and after",
            hint="--view logical draws it; `--sweep B,S` shows what swizzles would do",
        )
    return tile.relaid(tile.layout)


def swizzled_tile(
    tile: Tile, view: View | None = None, *, numbers: Numbers = "both", target: Target | None = None
) -> Picture:
    """The logical grid of a tile, twice.

    Raises:
        SwzError: SWZ581 if there is no swizzle; those of `grid_of`.
    """
    bare = without_swizzle(tile)
    after = grid_of(tile, view)
    before = grid_of(bare, replace(view or View(), vector=after.vector, rows=after.rows, columns=after.columns))
    told = [
        f"{name}: {words[:1].lower()}{words[1:]}"
        for name, each in ((BEFORE, bare), (AFTER, tile))
        for words in probe_words(each, after.vector, after.down, target)
    ]
    return Picture(
        f"{tile.name}: before and after the swizzle",
        (tile_words(tile, after.stage, after.base), *part_words(after), *map(_sentence, told)),
        (logical_panel(before, numbers, BEFORE), logical_panel(after, numbers, AFTER)),
        BANKS_SCALE,
    )


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]


def swizzled_access(run: Chosen) -> Picture:
    """A group of a warp instruction, twice: the one that is worst without the swizzle.

    Raises:
        SwzError: SWZ581 for an access without a tile, or a tile without a swizzle.
    """
    access = run.access
    if access.tile is None:
        raise SwzError("SWZ581", f"access {access.name} has no tile, so that there is no swizzle to leave out")
    bare = replace(access, tile=without_swizzle(access.tile))
    before = at_point(bare, run.point)
    which = worst_group(before.cost)
    return Picture(
        f"{access_words(access)}, before and after the swizzle",
        (
            f"The tile is {map_words(access.tile)}.",
            _sentence(f"{BEFORE}: {chosen(bare).every}"),
            _sentence(f"{AFTER}: {run.every}"),
            f"The picture shows {run.where}: {cost_words(before.cost)} {BEFORE}, {cost_words(run.cost)} {AFTER}.",
        ),
        (
            *group_panels(before, which, f"{BEFORE}, "),
            *group_panels(run, min(which, len(run.cost.groups) - 1), f"{AFTER}, "),
        ),
        LANES_SCALE,
        APART if access.instruction.by_octets else CLASH,
    )
