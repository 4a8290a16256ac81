"""Draws the picture of the page on `delivers`: `python docs/pictures/draw_delivers.py`.

It is made of the specs that stand on the page, good and bad side by side.
"""

from __future__ import annotations

import runpy
from collections.abc import Callable
from pathlib import Path

from swzverify.claims import Delivers
from swzverify.explain.pictures import Cell, Panel, Picture
from swzverify.explain.pictures.scale import BANKS_SCALE
from swzverify.explain.pictures.svg import render_svg
from swzverify.subjects import Operand

HERE = Path(__file__).parent
ROWS, CHUNK = 17, 8
"""Rows that are drawn, and elements of a cell."""


def delivers() -> str:
    """Where the first rows are read, in the first iteration."""
    both = runpy.run_path(str(HERE / "draw_claims.py"))["both"]
    titles = ("LBO 1024, SBO 128", "LBO 128, SBO 1024")
    panels = [_panel(case.operands["A"], title) for case, title in zip(both("delivers"), titles, strict=True)]
    return render_svg(
        Picture(
            "Where the tensor core reads an operand of 64 x 16 halfs",
            ("A cell has the byte address of 8 elements of a row; its colour is the bank of the first word.",),
            tuple(panels),
            BANKS_SCALE,
            "the tile has these elements elsewhere",
        )
    )


def _panel(operand: Operand, title: str) -> Panel:
    read, wanted = (side.first // 8 for side in Delivers(operand).sides_at(dict.fromkeys(("stage", "k", "base"), 0)))
    cells = [
        Cell(row, k // CHUNK, (str(read[row, k]),), int(read[row, k]) // 4 % 32, bool(read[row, k] != wanted[row, k]))
        for row in range(ROWS)
        for k in range(0, operand.columns, CHUNK)
    ]
    columns = tuple(str(k) for k in range(0, operand.columns, CHUNK))
    return Panel(title, "row", "k", tuple(map(str, range(ROWS))), columns, tuple(cells))


PICTURES: dict[str, Callable[[], str]] = {"delivers.svg": delivers}

if __name__ == "__main__":
    for name, make in PICTURES.items():
        (HERE / name).write_text(make(), encoding="utf-8")
