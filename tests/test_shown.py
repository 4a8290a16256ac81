"""What Python and notebooks show: readable, and harmless whatever a person wrote."""

from __future__ import annotations

from html.parser import HTMLParser

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from IPython.lib.pretty import pretty

from swzverify import Layout, Spec, Tile, access_cost, prove
from swzverify.claims import ConflictFree, Counterexample, Injective, Measure, Outcome, Row, Verdict, WarpMeasure
from swzverify.core.shown import html_facts, html_table, html_text, text_facts, text_table
from swzverify.prover import judge

EVIL = "<script>alert(1)</script>\x1b[31m\u202e&'\""
TAGS = {"p", "strong", "table", "thead", "tbody", "tr", "th", "td"}


class Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.words: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        assert attrs in ([], [("style", "font-weight: bold")])

    def handle_data(self, data: str) -> None:
        self.words.append(data)


def read(html: str) -> Tags:
    tags = Tags()
    tags.feed(html)
    tags.close()
    assert tags.tags <= TAGS
    return tags


def test_the_verdict_of_a_failure_is_readable() -> None:
    read_column = Tile("A", 32, Layout("(32,32):(32,1)")).read("ld.shared.b32", coord=["lane", 0], threads=32)
    verdict = prove(ConflictFree(read_column))
    lines = str(verdict).splitlines()
    assert lines[0] == "refuted"
    assert any("32 wavefronts (minimum 1), 31 bank conflicts" in line for line in lines)
    assert any(line.endswith("at  warp = 0, base = 0") for line in lines)
    assert sum(line.startswith("x") for line in lines) == 32
    words = read(verdict._repr_html_()).words
    assert "refuted" in words
    assert words.count("x") == 32


def test_what_a_verdict_shows_is_what_it_holds() -> None:
    verdict = prove(Injective(Tile("A", 16, Layout("(8,64):(64,1)"))))
    assert str(verdict).splitlines()[0] == "proved"
    assert verdict.scope in str(verdict)
    assert " + ".join(verdict.engines) in str(verdict)
    assert verdict.scope in read(verdict._repr_html_()).words


def test_what_people_wrote_is_escaped_everywhere() -> None:
    table = Counterexample({EVIL: 1}, EVIL, (EVIL, "coord"), (Row((EVIL, (1, 2)), EVIL), Row((None, None))))
    measure = Measure.of_one(WarpMeasure(2, 1, {EVIL: 0}), exact=False)
    verdict = Verdict(Outcome.REFUTED, EVIL, (EVIL,), EVIL, EVIL + "!", measure, table, notes=(EVIL,))
    for html in (verdict._repr_html_(), table._repr_html_(), html_facts(EVIL, [(EVIL, EVIL)])):
        read(html)
        assert "<script" not in html
    for text in (str(verdict), str(table), text_facts(EVIL, [("a", EVIL)])):
        assert "\x1b" not in text
        assert "\u202e" not in text
    assert "at least 2 wavefronts (minimum 1), at least 1 bank conflict" in str(verdict)


def test_a_spec_with_hostile_names_shows_no_markup() -> None:
    text = 'swzverify: 1\ntitle: "</td><script>x"\ntiles: {A: {bits: 8, layout: "8:1"}}\nclaims: [{injective: A}]\n'
    spec = Spec.from_text(text, path="<img src=x>")
    read(spec._repr_html_())


@settings(deadline=None)
@given(st.text(), st.text())
def test_no_text_is_markup(one: str, other: str) -> None:
    found = read(html_table((one,), [(other, (one, None))]))
    assert found.tags == {"table", "thead", "tbody", "tr", "th", "td"}
    assert "\x1b" not in html_text(one)


def test_a_long_table_says_what_is_left_out_and_shows_the_marked_rows() -> None:
    rows = tuple(Row((index,), "x" if index in (50, 99) else "") for index in range(100))
    shown = str(Counterexample({}, "note", ("element",), rows))
    assert "... 68 more lines" in shown
    assert [line for line in shown.splitlines() if line.startswith("x")] == ["x       50", "x       99"]
    assert "68 more lines" in Counterexample({}, "note", ("element",), rows)._repr_html_()


@pytest.mark.parametrize(("count", "told"), [(32, []), (33, ["... 1 more line"]), (34, ["... 2 more lines"])])
def test_how_many_lines_are_left_out(count: int, told: list[str]) -> None:
    lines = text_table(("n",), [("", (index,)) for index in range(count)]).splitlines()
    assert len(lines) == 1 + min(count, 32) + len(told)
    assert lines[33:] == told


def test_a_counterexample_without_rows_is_its_note() -> None:
    assert str(Counterexample({}, "nothing to list")) == "nothing to list"


def test_the_costs_are_readable() -> None:
    costs = Tile("A", 32, Layout("(32,32):(32,1)")).read("ld.shared.b32", coord=["lane", "warp"], threads=64).cost()
    assert str(costs).splitlines()[:3] == [
        "32 wavefronts (minimum 1), 31 bank conflicts",
        "  warp instructions  2",
        "  wavefronts         64 in all; 2 take 32",
    ]
    assert "64 in all; 2 take 32" in read(costs._repr_html_()).words


def test_the_cost_of_one_warp_instruction_is_readable() -> None:
    found = access_cost("ld.shared.v4.b32", [16 * lane if lane != 3 else None for lane in range(32)])
    lines = str(found).splitlines()
    assert lines[0] == "ld.shared.v4.b32: 4 wavefronts (minimum 4), 0 bank conflicts"
    assert [line.split() for line in lines[2:4]] == [
        ["0-2,", "4-7", "1", "0", "banks", "0-11,", "16-31:", "1"],
        ["8-15", "1", "0", "banks", "0-31:", "1"],
    ]
    assert "0-2, 4-7" in read(found._repr_html_()).words
    assert str(access_cost("ld.shared.b32", [None] * 32)).startswith("ld.shared.b32: 0 wavefronts (minimum 0)")


def test_ipython_shows_what_print_does() -> None:
    read = Tile("A", 32, Layout("(32,32):(32,1)")).read("ld.shared.b32", coord=["lane", "warp"], threads=64)
    judged = judge(ConflictFree(read))
    for each in (
        access_cost("ld.shared.b32", [None] * 32),
        Counterexample({}, "note"),
        Spec.from_text("swzverify: 1"),
        read.cost(),
        judged.verdict,
        judged,
    ):
        assert pretty(each) == str(each)
        assert pretty([each]) == f"[{each}]"
        assert repr(each) != str(each)
