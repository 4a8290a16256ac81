"""The cost of a tile without accesses: a warp that reads along rows, and one that reads down columns.

They are ordinary accesses, priced by `costs`, so that a picture of a bare layout can say how many
wavefronts they take.
"""

from __future__ import annotations

from collections.abc import Iterator

from swzverify.errors import SwzError
from swzverify.explain.pictures.grid import extents_of
from swzverify.explain.pictures.words import price_words
from swzverify.hardware import LANES, Target, evidence, find_instruction, find_target
from swzverify.ir.c_formula import CFormula
from swzverify.ir.c_parse import expression
from swzverify.search.costs import AccessCosts, cost
from swzverify.subjects import Access, Loop, Tile

_LOADS = {1: "ld.shared.b8", 2: "ld.shared.b16", 4: "ld.shared.b32", 8: "ld.shared.b64", 16: "ld.shared.v4.b32"}
DEFAULT_TARGET = "sm_90"


def probes(tile: Tile, vector: int, down: bool, target: Target | None = None) -> Iterator[Access]:
    """The two accesses, in which each lane reads one vector.

    There is only the first one if the tile has a single row or column, and none if no plain load has the
    width of a vector.
    """
    width, rest = divmod(vector * tile.element_bits, 8)
    if rest or width not in _LOADS:
        return
    rows, columns = extents_of(tile)
    if tile.layout.rank == 1:
        rows, columns = 1, tile.size
    rows, columns = (rows // vector, columns) if down else (rows, columns // vector)
    count = rows * columns
    scale = (vector, 1) if down else (1, vector)
    index = f"(j * {LANES} + lane)"
    ways = (("along rows", f"{index} / {columns}", f"{index} % {columns}"),
            ("down columns", f"{index} % {rows}", f"{index} / {rows}"))  # fmt: skip
    for name, row, column in ways if min(rows, columns) > 1 else ways[:1]:
        yield Access(
            name,
            find_instruction(_LOADS[width]),
            target or find_target(DEFAULT_TARGET),
            (LANES,),
            loops=(Loop("j", 0, -(-count // LANES)),),
            tile=tile,
            coord=_coordinate(tile, f"({row}) * {scale[0]}", f"({column}) * {scale[1]}"),
            predicate=expression(f"{index} < {count}") if count % LANES else None,
        )


def _coordinate(tile: Tile, row: str, column: str) -> tuple[CFormula, ...]:
    if len(tile.extents) == 1:
        return (expression(column),)
    parts = [column]
    for extent in reversed(tile.extents[1:-1]):
        parts.append(f"({row}) % {extent}")
        row = f"({row}) / {extent}"
    return tuple(expression(each) for each in (row, *reversed(parts)))


def priced(access: Access) -> AccessCosts | SwzError:
    """What an access costs, or why its cost is not known."""
    try:
        return cost(access)
    except SwzError as error:
        return error


def probe_words(tile: Tile, vector: int, down: bool, target: Target | None = None) -> list[str]:
    """A sentence for each of the two accesses, or one that says why there is none."""
    found: list[str] = []
    try:
        for access in probes(tile, vector, down, target):
            row = access.instruction
            known = evidence(access.target, row)
            costs = priced(access)
            said = f"no price, since {costs.message}" if isinstance(costs, SwzError) else price_words(costs)
            load = f"{row.name}, {row.width_bytes} bytes per lane, {access.target.name}, {known}"
            found.append(f"A warp that reads {access.name} ({load}): {said}.")
    except SwzError as error:
        return [f"Wavefronts are not counted: {error.message}."]
    return found or [f"Wavefronts are not counted: no load reads a cell of {vector * tile.element_bits} bits."]
