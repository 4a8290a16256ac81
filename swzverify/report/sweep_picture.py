"""The heatmap of a sweep as a picture."""

from __future__ import annotations

from typing import TYPE_CHECKING

from swzverify.explain.pictures import Cell, Panel, Picture, Scale

if TYPE_CHECKING:
    from swzverify.spec.sweep.summary import Heatmap


def heatmap_picture(path: str, found: Heatmap) -> Picture:
    """The fewest bank conflicts for each pair of values; cells without any are marked.

    >>> from swzverify.spec.sweep.summary import Heatmap
    >>> picture = heatmap_picture("a.yaml", Heatmap("B", "S", (0, 1), (3,), ((4, 0),)))
    >>> [(cell.lines, cell.marked) for cell in picture.panels[0].cells]
    [(('4',), False), (('0',), True)]
    """
    cells = tuple(
        Cell(row, column, (str(count),), count, count == 0, _tip(found, row, column, count))
        for row, line in enumerate(found.cells)
        for column, count in enumerate(line)
        if count is not None
    )
    most = max((cell.value or 0 for cell in cells), default=0)
    rows, columns = (tuple(map(str, values)) for values in (found.rows, found.columns))
    return Picture(
        f"{path}: fewest bank conflicts by {found.across} and {found.down}",
        ("A cell has the fewest bank conflicts of a sound case; empty cells have no sound case.",),
        (Panel("", found.down, found.across, rows, columns, cells),),
        Scale("bank conflicts", 0, max(1, most)),
        "no bank conflict",
    )


def _tip(found: Heatmap, row: int, column: int, count: int) -> str:
    return f"{found.down} = {found.rows[row]}, {found.across} = {found.columns[column]}: {count}"
