"""Panels and tables as HTML; each cell has its lanes, banks and groups for the page to follow.

Each number that the page shows is in its text: the script compares lists, and computes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache

from swzverify.apps.explorer.board import Board, lane_bits, words_of
from swzverify.claims.verdict import Counterexample
from swzverify.core.shown import html_text
from swzverify.explain.pictures import Cell, Picture
from swzverify.explain.pictures.chosen import Chosen
from swzverify.explain.pictures.table import cell_classes, cell_text, figure, panel_table
from swzverify.hardware import BANKS
from swzverify.report.table import cells, header

_text = lru_cache(maxsize=1 << 14)(html_text)
"""The cells of one state repeat most texts of the state before."""


def group_of_lane(run: Chosen) -> dict[int, int]:
    """The group that each lane that counts goes in."""
    return {lane: index for index, group in enumerate(run.cost.groups) for lane in group.lanes}


def board_html(board: Board, groups: Mapping[int, int]) -> str:
    """The picture of the tile, with its words."""

    def words(cell: Cell) -> str:
        held = f"; lane{'s' * (len(cell.lanes) > 1)} {', '.join(map(str, cell.lanes))}" if cell.lanes else ""
        return f"{cell.tip}{held}"

    return _figure(board.picture, groups, board.banks.__getitem__, words)


def groups_html(picture: Picture, run: Chosen) -> str:
    """The groups of the warp instruction, one panel each."""
    across = max(1, BANKS // max(1, len(picture.panels[0].column_heads))) if picture.panels else 1

    def banks(cell: Cell) -> range:
        return range(cell.column * across, (cell.column + 1) * across)

    return _figure(picture, group_of_lane(run), banks, lambda cell: cell.tip)


def _figure(
    picture: Picture,
    groups: Mapping[int, int],
    banks_of: Callable[[Cell], Iterable[int]],
    words_of: Callable[[Cell], str],
) -> str:
    """A picture whose cells the page's script follows."""

    def cell_html(cell: Cell) -> str:
        classes = " ".join([*cell_classes(cell, picture.scale), *(["t"] if cell.lanes else [])])
        inside = sorted({groups[lane] for lane in cell.lanes if lane in groups})
        return (
            f'<td class="{classes}" data-l="{_list(cell.lanes)}" data-b="{_list(banks_of(cell))}" '
            f'data-g="{_list(inside)}" data-say="{_text(words_of(cell))}">{cell_text(cell, "<br>", _text)}</td>'
        )

    words = [*picture.captions, *([f"* {picture.marks}"] if picture.has_marks else [])]
    tables = [panel_table(each, cell_html, each.title, is_grid=True, escape=_text) for each in picture.panels]
    return figure(words, tables, _text)


def lanes_html(table: Counterexample, run: Chosen) -> str:
    """The lanes of the warp instruction: coordinate, offset, address, word and bank."""
    groups, touched = group_of_lane(run), lane_bits(run)
    heads = "".join(f'<th scope="col">{_text(name)}</th>' for name in (*header(table.columns), "group"))
    place = table.columns.index("lane")
    lines: list[str] = []
    for row in table.rows:
        lane = row.cells[place]
        assert isinstance(lane, int)  # noqa: S101 - the number of a lane
        banks = [word % BANKS for word in words_of(touched.get(lane, range(0)))]
        own = [groups[lane]] if lane in groups else []
        texts = [*cells(table.columns, row), _list(own) or "-"]
        named = zip((*header(table.columns), "group"), texts, strict=True)
        steps = [f"({text})" if name == "hex" else f"→ {name} {text}" for name, text in named if text not in ("", "-")]
        said = " ".join(steps).removeprefix("→ ")
        shown = "".join(f"<td>{_text(each)}</td>" for each in texts)
        lines.append(
            f'<tr data-l="{lane}" data-b="{_list(banks)}" data-g="{_list(own)}" data-say="{_text(said)}">{shown}</tr>\n'
        )
    return (
        f'<div class="scroll"><table class="lanes" role="grid" aria-label="lanes"><thead><tr>{heads}</tr></thead>\n'
        f"<tbody>\n{''.join(lines)}</tbody></table></div>\n"
    )


def _list(numbers: Iterable[int]) -> str:
    return " ".join(map(str, numbers))
