"""How a counterexample's table is cut."""

from __future__ import annotations

from swzverify.claims.verdict import Counterexample, Row
from swzverify.report.table import cut_rows, remainder


def rows_of(marks):
    return tuple(Row((index,), mark) for index, mark in enumerate(marks))


def shown(cut):
    return [row.cells[0] for row in cut.shown]


def test_a_short_table_keeps_its_order():
    cut = cut_rows(rows_of(["", "B", "", "A"]), 4)
    assert (shown(cut), cut.hidden) == ([0, 1, 2, 3], 0)


def test_a_long_table_groups_what_collides():
    cut = cut_rows(rows_of(["B", "A", "", "B", "A", ""]), 4)
    assert (shown(cut), cut.hidden, cut.hidden_marked) == ([0, 3, 1, 4], 2, 0)


def test_marked_rows_beyond_the_limit_are_counted():
    rows = rows_of(["A"] * 32)
    assert shown(cut_rows(rows, 16)) == list(range(16))
    assert remainder(Counterexample({}, "", ("lane",), rows), 16) == "16 more lanes, 16 of them marked"


def test_without_marks_the_first_rows_are_shown():
    rows = rows_of([""] * 17)
    assert shown(cut_rows(rows, 16)) == list(range(16))
    assert remainder(Counterexample({}, "", ("offset",), rows), 16) == "1 more row"


def test_no_limit_shows_all():
    assert len(cut_rows(rows_of([""] * 100), None).shown) == 100
