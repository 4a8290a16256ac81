"""The view `ownership`: which thread of the block touches each element, and as which of its values.

For a matrix instruction it is the thread that gives the address of the row: which thread holds a
value afterwards depends on the fragment, not on the address.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from itertools import product
from math import prod

import numpy as np

from swzverify.core.words import counted
from swzverify.errors import SwzError
from swzverify.explain.pictures.chosen import Chosen
from swzverify.explain.pictures.grid import Grid, View, every_position, grid_of, is_whole
from swzverify.explain.pictures.picture import LANES_SCALE, Cell, Panel, Picture
from swzverify.explain.pictures.words import access_words, at_words, part_words, tile_words
from swzverify.hardware import LANES
from swzverify.subjects import Tile
from swzverify.subjects.loop import STAGE, WARP

Owner = tuple[int, int]
"""A thread of the block, and the place among the values that it touches."""
Owners = Mapping[int, list[Owner]]
"""The threads that touch each element, by the unit of the stage where the element begins."""
_SHOWN = 8
MAX_INSTRUCTIONS = 1 << 11
"""Warp instructions whose values are all drawn."""


def ownership(run: Chosen, view: View | None = None, fixed: Collection[str] = ()) -> Picture:
    """The logical grid with a thread and a value in each cell, of all warps and iterations.

    Loops of `fixed` stay at their values in `run`, and so do the stage and the base; all loops do where
    there are too many iterations. Values are numbered through the iterations.

    Raises:
        SwzError: SWZ581 for an access without a tile, and those of `grid_of`.
    """
    tile = run.access.tile
    if tile is None:
        raise SwzError(
            "SWZ581",
            f"access {run.access.name} has an address and no tile, so that no element has an owner",
            hint="--view groups draws it; `tile:` and `coord:` in the spec say which element a lane touches",
        )
    view = replace(view or View(), stage=_stage(run), base=run.access.origin.at(run.point))
    iterations = _iterations(run, fixed)
    owners = _owners(run, tile, view, iterations)
    grid = grid_of(tile, replace(view, vector=_vector(run, tile, view, owners)))
    several = sum(len(each) > 1 for each in owners.values())
    matrix = ["Its thread gives the address of a row, and may hold other values of it."]
    return Picture(
        f"{access_words(run.access)}, threads and their values",
        (
            tile_words(tile, grid.stage, grid.base),
            *part_words(grid),
            _every(run, iterations),
            run.every,
            f"{counted(len(owners), 'element')} of {tile.size} touched, {several} by several threads.",
            *(matrix if run.access.instruction.warp_wide else []),
        ),
        (_panel(grid, owners),),
        LANES_SCALE,
        "several threads touch it",
    )


def _stage(run: Chosen) -> int:
    """The stage that the first active lane is in."""
    access = run.access
    if access.tile is None or access.tile.stages == 1:
        return 0
    if access.stage is None:
        return run.point.get(STAGE, 0)
    shaped = {name: np.asarray([value]) for name, value in run.point.items()}
    shaped |= {node.name: np.zeros(1, dtype=np.int64) for node in access.variables if node.name not in shaped}
    lane = next(each.lane for each in run.lanes if each.address_bytes is not None)
    env = access.environment({**shaped, WARP: np.asarray([run.point.get(WARP, 0)]), "lane": np.asarray([lane])})
    return int(access.stage.at_many(env)[0])


def _iterations(run: Chosen, fixed: Collection[str]) -> list[Mapping[str, int]]:
    """The points of all iterations that are drawn, in the order of the loops."""
    access = run.access
    free = {
        loop.name: limit
        for loop, limit in zip(access.loops, access.loop_limits, strict=True)
        if loop.name not in fixed and loop.name in run.point
    }
    if access.is_unbounded or prod(free.values()) * access.warps > MAX_INSTRUCTIONS:
        return [run.point]
    points = [{**run.point, **dict(zip(free, values, strict=True))} for values in product(*map(range, free.values()))]
    return [point for point in points if access.assumed_at(point)]


def _every(run: Chosen, iterations: Sequence[Mapping[str, int]]) -> str:
    moved = {name for name in run.point if len({point[name] for point in iterations}) > 1}
    where = {name: value for name, value in run.access.binding(run.point).items() if name not in {WARP, *moved}}
    many = f", {len(iterations)} iterations" if moved else ""
    at = f" at {at_words(where)}" if where else ""
    return f"T is a thread of the block, V the place among its values; all {run.access.threads} threads{many}{at}."


def _owners(run: Chosen, tile: Tile, view: View, iterations: Sequence[Mapping[str, int]]) -> Owners:
    """The threads of all warps and iterations, from the access's own addresses."""
    access, step, width = run.access, tile.element_units, run.access.width_units
    starts = np.unique(every_position(tile, view.stage, view.base or 0))
    each = max(1, width // step)
    found: dict[int, list[Owner]] = {}
    for place, point in enumerate(iterations):
        for warp in range(access.warps):
            for lane in access.lanes_at({**point, WARP: warp} if WARP in point else point):
                if lane.address_bytes is None:
                    continue
                first = lane.address_bytes * tile.units_per_byte + lane.bit
                begin = np.searchsorted(starts, first - step, "right")
                end = np.searchsorted(starts, first + width, "left")
                owner = warp * LANES + lane.lane
                for value, unit in enumerate(starts[begin:end].tolist()):
                    found.setdefault(unit, []).append((owner, place * each + value))
    return found


def _vector(run: Chosen, tile: Tile, view: View, owners: Owners) -> int:
    """The vector that is asked for; else what a lane touches, where each vector is one lane's."""
    if view.vector is not None:
        return view.vector
    wide = run.access.width_units // tile.element_units
    down = tile.layout.rank == 2 and tile.contiguous_mode == 0 and tile.extents[0] > 1
    base = view.base or 0
    if wide > 1 and wide & (wide - 1) == 0 and is_whole(tile, wide, down, base):
        grid = grid_of(tile, replace(view, vector=wide))
        if all(_shared(grid, owners, int(at)) is not None for at in grid.position.ravel()):
            return wide
    return 1


def _shared(grid: Grid, owners: Owners, position: int) -> list[Owner] | None:
    """The owners of a cell's first element, if all its elements have the same, in order; else None."""
    first, step = owners.get(position, []), grid.tile.element_units
    for index in range(1, grid.vector):
        if owners.get(position + index * step, []) != [(thread, value + index) for thread, value in first]:
            return None
    return first


def _panel(grid: Grid, owners: Owners) -> Panel:
    cells: list[Cell] = []
    for row, column in zip(*(each.tolist() for each in grid.present.nonzero()), strict=True):
        held = _shared(grid, owners, int(grid.position[row, column]))
        where = ",".join(map(str, grid.coordinate(row, column)))
        if held is None:
            cells.append(Cell(row, column, ("...",), tip=f"({where}): elements of the cell have different owners"))
        elif held:
            thread, value = held[0]
            values = f"V{value}" if grid.vector == 1 else f"V{value}-{value + grid.vector - 1}"
            more = f"+{len(held) - 1}" if len(held) > 1 else ""
            names = ", ".join(f"thread {each}" for each, _ in held[:_SHOWN])
            tip = f"({where}): {names}{', ...' if len(held) > _SHOWN else ''}"
            cells.append(Cell(row, column, (f"T{thread}{more}", values), thread % LANES, len(held) > 1, tip))
        else:
            cells.append(Cell(row, column, ("-",), tip=f"({where}): no thread"))
    return Panel("", grid.row_name, "column", grid.row_heads, grid.column_heads, tuple(cells))
