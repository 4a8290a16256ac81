"""The thread maps that have names: what each lane accesses, as expressions of a spec."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from swzverify.apps.explorer.state import State
from swzverify.apps.options.values import coordinate_parts, loop_in
from swzverify.errors import SwzError
from swzverify.hardware import LANES, Instruction, find_instruction
from swzverify.spec.elements import element_bits

MOST_LOOPS = 4
MOST_LANES = 1 << 17
"""Lanes of all warps, times iterations."""
MAP_WORDS: Mapping[str, str] = MappingProxyType(
    {
        "rows": "along rows, a vector each",
        "columns": "down columns, a row each",
        "matrix": "8 x 8 matrices, as ldmatrix",
        "own": "own expressions",
    }
)
"""The maps as the page calls them."""
_LOOPS = re.compile(r"[\s,;]+")


@dataclass(frozen=True, slots=True)
class ThreadMap:
    """The expressions of a coordinate, the loops around it, and a condition; empty for none."""

    coord: tuple[str, ...]
    loops: Mapping[str, range] = field(default_factory=dict[str, range])
    condition: str = ""


def thread_map(state: State, extents: tuple[int, ...]) -> ThreadMap:
    """The map of a state, for a tile of these extents.

    Raises:
        SwzError: SWZ597 for a named map that does not fit the tile, loops that are none or too many.
    """
    if state.map == "own":
        return ThreadMap(coordinate_parts(state.coord), _own_loops(state))
    if len(extents) != 2:
        raise SwzError(
            "SWZ597",
            f"the map '{state.map}' needs rows and columns, and the layout has {len(extents)} modes",
            hint="own expressions, one for each mode",
        )
    rows, columns = extents
    row = find_instruction(state.instruction)
    vector = max(1, 8 * row.width_bytes // element_bits(state.element))
    if columns % vector:
        raise SwzError(
            "SWZ597",
            f"rows of {columns} elements are no whole number of vectors of {vector}, which a lane takes",
            hint=f"columns a multiple of {vector}, or a narrower instruction",
        )
    shape = (vector, rows, columns)
    found = _matrices(state, row, *shape) if state.map == "matrix" else _vectors(state, *shape)
    _refuse_many(state.threads, found.loops)
    return found


def _vectors(state: State, vector: int, rows: int, columns: int) -> ThreadMap:
    """A vector for each thread, along rows or down columns, in passes of all threads."""
    threads, across = state.threads, columns // vector
    passes = -(-rows * across // threads)
    index = "tid" if passes == 1 else f"(i*{threads} + tid)"
    if state.map == "columns":
        row, place = f"{index} % {rows}", f"{index} / {rows}"
    else:
        row, place = (f"{index} / {across}", f"{index} % {across}") if across > 1 else (index, "0")
    return ThreadMap(
        (row, place if vector == 1 or place == "0" else f"{place} * {vector}"),
        {} if passes == 1 else {"i": range(passes)},
        f"{index} < {rows * across}" if rows * across % threads else "",
    )


def _matrices(state: State, row: Instruction, vector: int, rows: int, columns: int) -> ThreadMap:
    """The thread map of a matrix instruction: each lane has the address of a row of 8 elements.

    Elements have 16 bits. Lanes go down 8 or 16 rows; with 32 lanes the second half starts one vector
    further on.
    """
    lanes = row.address_lanes if row.warp_wide else LANES
    high = min(lanes, 16)
    wide = 2 * vector if lanes == 32 else vector
    if rows % high or columns % wide:
        raise SwzError(
            "SWZ597",
            f"{rows} x {columns} elements are no whole number of {high} x {wide}, which one {row.name} takes",
            hint=f"rows a multiple of {high}, columns a multiple of {wide}",
        )
    warps = -(-state.threads // LANES)
    down = f"lane % {high}"
    loops: dict[str, range] = {}
    if warps > 1:
        down = f"warp*{high} + {down}"
    if warps * high > rows:
        down = f"({down}) % {rows}"
    elif warps * high < rows:
        loops["m"] = range(0, rows, warps * high)
        down = f"m + {down}"
    across = f"lane / 16 * {vector}" if lanes == 32 else ""
    if columns > wide:
        loops["k"] = range(0, columns, wide)
        across = f"k + {across}" if across else "k"
    if "m" in loops and rows % (warps * high):
        raise SwzError(
            "SWZ597",
            f"{rows} rows are no whole number of {warps * high}, which {warps} warps take",
            hint=f"rows a multiple of {warps * high}, or other threads",
        )
    return ThreadMap((down, across or "0"), loops)


def _own_loops(state: State) -> Mapping[str, range]:
    found: dict[str, range] = {}
    for text in filter(None, _LOOPS.split(state.loops)):
        loop = loop_in(text)
        if loop is None or loop[0] in found:
            raise SwzError("SWZ597", f"'{text}' is no loop, or is there twice", hint="such as k=4 or k=0:64:16 i=4")
        found[loop[0]] = loop[1]
    _refuse_many(state.threads, found)
    return found


def _refuse_many(threads: int, loops: Mapping[str, range]) -> None:
    lanes = -(-threads // LANES) * LANES
    for values in loops.values():
        lanes *= max(1, len(values))
    if len(loops) > MOST_LOOPS or lanes > MOST_LANES:
        raise SwzError(
            "SWZ597",
            f"{threads} threads in {len(loops)} loops: {lanes} lanes in all iterations, more than a page follows",
            hint=f"at most {MOST_LOOPS} loops and {MOST_LANES} lanes; more threads, or `swzverify prove` of a spec",
        )


def loop_words(loops: Mapping[str, range]) -> str:
    """Loops as the page's field has them.

    >>> loop_words({"k": range(0, 64, 16), "i": range(4)})
    'k=0:64:16 i=4'
    """
    return " ".join(f"{name}={_span(values)}" for name, values in loops.items())


def _span(values: range) -> str:
    if values.step != 1:
        return f"{values.start}:{values.stop}:{values.step}"
    return f"{values.start}:{values.stop}" if values.start else str(values.stop)
