"""A state as a spec: this text is judged, and the page lets people copy it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from math import prod

from swzverify.apps.explorer.state import FieldError, State, WrongStateError, of_error
from swzverify.apps.explorer.thread_maps import ThreadMap, thread_map
from swzverify.errors import Problem, SwzError
from swzverify.layout import Layout, parse_notation

TILE, ACCESS = "A", "access"
"""The names of the tile and of the access in the spec."""
MOST_ELEMENTS = 1 << 16


@dataclass(frozen=True, slots=True)
class SpecText:
    """The text, for each of its lines the field that gave it, and the thread map."""

    text: str
    fields: tuple[str, ...]
    map: ThreadMap

    def error_of(self, problem: Problem) -> FieldError:
        """A problem of the text, at the field of its line."""
        field = self.fields[problem.line - 1] if 0 < problem.line <= len(self.fields) else ""
        shown = problem.source_line[problem.column - 1 :][: problem.caret_length] if problem.line else ""
        told = shown.strip('"')  # behind an expression's end its quote stands in the spec
        message = problem.message if not told or told in problem.message else f"{problem.message}, at '{told}'"
        return FieldError(field, problem.code, message, problem.hint)


def spec_text(state: State) -> SpecText:
    """The spec of a state.

    Raises:
        WrongStateError: The layout or the thread map cannot be.

    >>> print(spec_text(State(map="own", loops="k=0:64:16", coord="lane, k")).text)
    swzverify: 1
    target: sm_90
    <BLANKLINE>
    tiles:
      A:
        element: f16
        layout: {shape: [64, 64], order: row}
    <BLANKLINE>
    accesses:
      access:
        tile: A
        instruction: ldmatrix.x4
        threads: 128
        for: {k: {start: 0, stop: 64, step: 16}}
        coord: ["lane", "k"]
    <BLANKLINE>
    claims:
      - injective: A
      - in_bounds: access
      - aligned: access
      - conflict_free: access
    <BLANKLINE>
    """
    extents = _extents(state)
    try:
        found = thread_map(state, extents)
    except SwzError as error:
        field = "loops" if state.map == "own" else "map"
        raise WrongStateError(of_error(field, error)) from error
    of_tile = "layout" if state.order == "layout" else "rows"
    of_coord = "coord" if state.map == "own" else "map"
    loops = ", ".join(f"{name}: {_loop(values)}" for name, values in found.loops.items())
    lines = [
        ("", "swzverify: 1"),
        ("target", f"target: {state.target}"),
        ("", ""),
        ("", "tiles:"),
        (of_tile, f"  {TILE}:"),
        ("element", f"    element: {state.element}"),
        (of_tile, f"    layout: {_layout(state)}"),
        *([] if state.swizzle == "none" else [("swizzle", f"    swizzle: {_swizzle(state)}")]),
        ("", ""),
        ("", "accesses:"),
        ("instruction", f"  {ACCESS}:"),
        ("", f"    tile: {TILE}"),
        ("instruction", f"    instruction: {state.instruction}"),
        ("threads", f"    threads: {state.threads}"),
        *([("loops", f"    for: {{{loops}}}")] if loops else []),
        (of_coord, f"    coord: [{', '.join(map(_quoted, found.coord))}]"),
        *([(of_coord, f"    if: {_quoted(found.condition)}")] if found.condition else []),
        ("", ""),
        ("", "claims:"),
        (of_tile, f"  - injective: {TILE}"),
        (of_coord, f"  - in_bounds: {ACCESS}"),
        ("instruction", f"  - aligned: {ACCESS}"),
        ("", f"  - conflict_free: {ACCESS}"),
    ]
    return SpecText("".join(f"{line}\n" for _, line in lines), tuple(field for field, _ in lines), found)


def _extents(state: State) -> tuple[int, ...]:
    """The modes' extents.

    Raises:
        WrongStateError: The layout cannot be read or is too large.
    """
    if state.order != "layout":
        return state.rows, state.columns
    try:
        found = parse_notation(state.layout)
    except SwzError as error:
        raise WrongStateError(of_error("layout", error)) from error
    layout = found if isinstance(found, Layout) else found.layout
    extents = tuple(mode.size for mode in layout.modes)
    if prod(extents) > MOST_ELEMENTS:
        message = f"the layout has {prod(extents)} elements; the page takes {MOST_ELEMENTS}"
        raise WrongStateError(
            FieldError("layout", "SWZ596", message, "a smaller tile of the same layout: banks repeat")
        )
    return extents


def _layout(state: State) -> str:
    if state.order == "layout":
        return _quoted(state.layout)
    pad = f", pad: {state.pad}" if state.pad else ""
    order = "row" if state.order == "row" else "col"
    return f"{{shape: [{state.rows}, {state.columns}], order: {order}{pad}}}"


def _swizzle(state: State) -> str:
    if state.swizzle == "offset":
        return f"Swizzle<{state.bits},{state.base},{state.shift}>"
    return f"{{bits: {state.bits}, base: {state.base}, shift: {state.shift}, on: address}}"


def _loop(values: range) -> str:
    if values.step == 1 and values.start == 0:
        return str(values.stop)
    return f"{{start: {values.start}, stop: {values.stop}, step: {values.step}}}"


def _quoted(text: str) -> str:
    """Text in double quotes: for ASCII, YAML reads what JSON writes."""
    return json.dumps(text)
