"""A claim of the page: a line that opens to its facts, its table and its picture.

A picture as tables: numbers on colours, which a screen reader reads and a pointer follows.

A report has many pictures; as a table one takes a quarter of the bytes that SVG takes.
"""

from __future__ import annotations

import re

from swzverify.claims.verdict import Counterexample, Row
from swzverify.explain.pictures import Cell, Panel, Picture
from swzverify.explain.pictures.table import cell_classes, cell_text, figure, panel_table
from swzverify.report import words
from swzverify.report.cases import Told
from swzverify.report.escape import html_text, shortened
from swzverify.report.finding import severity
from swzverify.report.marks import mark
from swzverify.report.result import ClaimResult
from swzverify.report.story import expectation, facts, subject_words
from swzverify.report.style import TextStyle
from swzverify.report.table import cells, cut_rows, header, remainder

ROWS = 64
"""Rows of a counterexample's table: two warps."""
_LONGEST = 4000
"""Characters of one text of a spec."""
_HINT = "Point at a row, or move with the arrow keys, to follow it."
_STYLE = TextStyle()


def claim_block(told: Told, name: str, evidence: str | None) -> str:
    """The claim with the id `name`.

    `evidence` is the result of `evidence_block` for its counterexample; None if that is left out for its
    size.
    """
    result = told.result
    known = "".join(f"<dt>{label}</dt><dd>{text(value)}</dd>" for label, value in facts(result))
    if evidence is None:
        evidence = '<p class="case">The counterexample is left out: the page has a limit of size.</p>\n'
    outcome, count = result.verdict.outcome.value, f' data-count="{told.count}"' if told.count > 1 else ""
    opened = " open" if result.failing else ""
    return (
        f'<details class="claim" id="{name}" data-outcome="{outcome}" data-state="{state(result)}" '
        f'data-kind="{text(result.kind)}"{count}{opened}>\n'
        f"<summary>{headline(told)}</summary>\n<dl>{known}</dl>\n{evidence}</details>\n"
    )


def headline(told: Told) -> str:
    """The claim in a line: how it came out, what it says, of what, and the cost."""
    result = told.result
    spent = words.cost_of(result.verdict)
    expected = expectation(result)
    verdict = f"{mark(result, _STYLE)} {result.verdict.outcome.value}{f', {expected}' if expected else ''}"
    cost = f'<span class="cost">{text(spent)}</span>' if spent else ""
    return (
        f'<span class="verdict {tone(result)}">{text(verdict)}</span> <code class="kind">{text(result.kind)}</code> '
        f'<span class="subject">{text(subject_words(result, told.words))}</span> {cost}'
    )


def state(result: ClaimResult) -> str:
    """Whether a claim came out as expected, for the filter."""
    return "expected" if result.ok else "unexpected" if result.failing else "known"


def tone(result: ClaimResult) -> str:
    """The class of a verdict's colour; its sign says the same."""
    grade = severity(result)
    return "good" if grade is None else "bad" if grade.value == "error" else "open"


def evidence_block(result: ClaimResult) -> str:
    """The table and the picture of a counterexample; empty where there is neither."""
    found = result.verdict.counterexample
    picture = "" if result.picture is None else picture_figure(result.picture)
    table = "" if found is None or not found.rows else _table(found)
    if not table and not picture:
        return ""
    trace = f'<p class="trace" data-hint="{_HINT}" aria-live="polite" hidden></p>\n' if table else ""
    return f'<div class="case">\n{trace}{table}{picture}</div>\n'


def _table(found: Counterexample) -> str:
    heads = "".join(f'<th scope="col">{text(name)}</th>' for name in ("mark", *header(found.columns)))
    rows = "".join(_row(found.columns, row) for row in cut_rows(found.rows, ROWS).shown)
    more = remainder(found, ROWS)
    rest = f'<p class="faint">{text(more)} not shown</p>\n' if more else ""
    return (
        '<div class="scroll" role="group" aria-label="counterexample" tabindex="0"><table class="lanes">'
        f"<thead><tr>{heads}</tr></thead>\n<tbody>\n{rows}</tbody></table>{rest}</div>\n"
    )


def _row(columns: tuple[str, ...], row: Row) -> str:
    marked = ' class="m"' if row.marked else ""
    lane = row.cells[columns.index("lane")] if "lane" in columns else None
    place = f' data-lane="{lane}"' if isinstance(lane, int) else ""
    shown = "".join(f"<td>{text(each)}</td>" for each in (row.mark, *cells(columns, row)))
    return f"<tr{marked}{place}>{shown}</tr>\n"


def text(words: str) -> str:
    """Text of a spec for the page, shortened where it is very long."""
    return html_text(shortened(words, _LONGEST))


_EMPTY = "<td></td>"


def picture_figure(picture: Picture) -> str:
    """The picture, its words above it; marked cells have a star, and a sentence says what it means."""
    words = [picture.title, *picture.captions]
    if picture.has_marks:
        words.append(f"* {picture.marks}.")
    if picture.scale is not None and picture.scale.name == "lane":
        words.append("Numbers in cells are lanes.")
    return figure(words, [_panel(panel, picture) for panel in picture.panels], html_text)


def _panel(panel: Panel, picture: Picture) -> str:
    """A panel; empty cells that lie side by side are one."""
    table = panel_table(panel, lambda cell: _cell(cell, picture), panel.title or picture.title, escape=html_text)
    return re.sub(f"(?:{_EMPTY}){{2,}}", lambda run: f'<td colspan="{len(run[0]) // len(_EMPTY)}"></td>', table)


def _cell(cell: Cell, picture: Picture) -> str:
    classes = cell_classes(cell, picture.scale)
    attributes = f' class="{" ".join(classes)}"' if classes else ""
    if cell.lanes:
        attributes += f' data-lanes="{" ".join(map(str, cell.lanes))}"'
    if cell.tip:
        attributes += f' title="{html_text(cell.tip)}"'
    return f"<td{attributes}>{cell_text(cell, escape=html_text)}</td>"
