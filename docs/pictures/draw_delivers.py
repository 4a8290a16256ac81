"""Draws operands of the tensor core: `python docs/pictures/draw_delivers.py`.

The pictures are made of the specs that stand on the pages.
"""

from __future__ import annotations

import runpy
from collections.abc import Callable
from pathlib import Path

from swzverify.claims import Delivers
from swzverify.explain.pictures import Cell, Panel, Picture
from swzverify.explain.pictures.picture import BANKS_SCALE
from swzverify.explain.pictures.svg import render_svg
from swzverify.explain.pictures.views.operand import operand_view
from swzverify.subjects import Operand

HERE = Path(__file__).parent
ROWS, CHUNK = 17, 8
"""Rows that are drawn, and elements of a cell."""
_CASES = runpy.run_path(str(HERE / "draw_claims.py"))
"""What finds the specs of a page."""


def delivers() -> str:
    """Where the first rows are read, in the first iteration."""
    both = _CASES["both"]
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


def operand() -> str:
    """The operand of the page on pictures, as its command shows it."""
    return render_svg(operand_view(_CASES["case_of"]("show.md", "operand.swz.yaml").operands["Vt"], {"k": 1}))


PICTURES: dict[str, Callable[[], str]] = {"delivers.svg": delivers, "operand.svg": operand}

if __name__ == "__main__":
    for name, make in PICTURES.items():
        (HERE / name).write_text(make(), encoding="utf-8")
