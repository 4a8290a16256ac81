"""The sentences of pictures: what a tile is, what an access costs. Numbers are those of `costs`."""

from __future__ import annotations

from collections.abc import Mapping

from swzverify.core.words import binding_text, counted
from swzverify.explain.pictures.grid import Grid, row_period
from swzverify.hardware import AccessCost, evidence
from swzverify.search.costs import AccessCosts
from swzverify.subjects import Access, Tile


def map_words(tile: Tile) -> str:
    """A tile's map: its layout and its swizzle."""
    if tile.swizzle is None:
        return str(tile.layout)
    what = "element offsets" if tile.swizzle_on == "offset" else "byte addresses"
    return f"{tile.layout}, {tile.swizzle} on {what}"


def tile_words(tile: Tile, stage: int, base: int) -> str:
    """What is drawn of a tile."""
    size = " x ".join(map(str, tile.extents))
    of = f"stage {stage}, " if tile.stages > 1 else ""
    return f"{size} elements of {counted(tile.element_bits, 'bit')} at {map_words(tile)}, {of}base {base}"


def part_words(grid: Grid) -> list[str]:
    """What cells are, which of them are drawn, and after how many rows the banks repeat."""
    found: list[str] = []
    if grid.vector > 1:
        way = "down the rows" if grid.down else "along the columns"
        found.append(f"A cell is {grid.vector} elements {way}, which lie side by side in memory.")
    shown = (("rows", grid.rows, grid.all_rows), ("columns", grid.columns, grid.all_columns))
    cut = [f"{what} {first} to {end - 1} of {whole}" for what, (first, end), whole in shown if end - first < whole]
    if cut:
        found.append(f"The picture shows {' and '.join(cut)}.")
    period = row_period(grid.tile, grid.base)
    if period is not None:
        again = "Each row begins at the same banks" if period == 1 else f"The banks repeat every {period} rows"
        found.append(f"{again}.")
    return found


def price_words(costs: AccessCosts) -> str:
    """What the warp instructions of an access take at most."""
    return f"at most {counted(costs.wavefronts, 'wavefront')} per warp instruction, {_conflict_words(costs)}"


def cost_words(cost: AccessCost) -> str:
    """What one warp instruction takes."""
    return f"{counted(cost.wavefronts, 'wavefront')}, {_conflict_words(cost)}"


def _conflict_words(cost: AccessCost | AccessCosts) -> str:
    if cost.bank_conflicts == 0:
        return "no bank conflicts"
    return f"{cost.minimum} without conflicts: {counted(cost.bank_conflicts, 'bank conflict')}"


def at_words(binding: Mapping[str, int]) -> str:
    """Where a warp instruction runs."""
    return binding_text(binding) or "the only warp instruction"


def access_words(access: Access) -> str:
    """An access with its instruction, and how its cost is known."""
    known = evidence(access.target, access.instruction)
    return f"{access.name}: {access.instruction.name} on {access.target.name} ({known})"
