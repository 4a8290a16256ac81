"""The HTML report: what stands where, that it is one safe file, and that it stays small.

`python -m tests.report.html.test_page` writes the golden outline again; look at what changes.
"""

from __future__ import annotations

import re
from base64 import b64encode
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import pytest
from hypothesis import given

from swzverify.claims.verdict import Counterexample, Measure, Outcome, Row, Verdict, WarpMeasure
from swzverify.errors import Problem
from swzverify.explain.pictures import Cell, Panel, Picture
from swzverify.explain.pictures.picture import LANES_SCALE
from swzverify.report.escape import visible_lines
from swzverify.report.html.page import render_html
from swzverify.report.matrix import matrix
from swzverify.report.result import BaselineUse, ClaimResult, Report
from tests.report.conftest import hostile_claim, hostile_problem
from tests.report.html.reading import Element, outline, read
from tests.report.test_sinks import NASTY

GOLDEN = Path(__file__).parent / "page.outline.txt"
PICTURE = Picture(
    "ld.shared.b32: 2 wavefronts",
    ("A column is a bank.",),
    (
        Panel("group 0", "word", "bank", ("1", "2"), ("0", "1", "2"), (
            Cell(0, 0, ("0",), 0, True, "bank 0, byte 0: lane 0", (0,)),
            Cell(1, 0, ("1-2",), 1, True, "bank 0, byte 128: lanes 1-2", (1, 2)),
            Cell(1, 2, ("3",), 3, False, "", (3,)),
        )),
    ),
    LANES_SCALE,
    "another word of the same bank",
)  # fmt: skip


def conflict(case: dict[str, int], wavefronts: int, outcome: str = "refuted", subject: str = "read") -> ClaimResult:
    """An access to a tile whose rows depend on a constant."""
    rows = tuple(Row((lane, (lane, 0), 32 * lane, 128 * lane, 0), "x" * (lane < 2)) for lane in range(3))
    found = Counterexample({"warp": 0}, "lanes meet", ("lane", "coord", "offset", "address", "bank"), rows)
    refuted = outcome == "refuted"
    return ClaimResult(
        f"a.swz.yaml::{subject}::conflict_free{case}",
        "a.swz.yaml",
        7,
        "conflict_free",
        subject,
        Outcome.PROVED,
        Verdict(
            Outcome(outcome),
            "the warp",
            ("gf2", "z3"),
            "measured",
            measure=Measure.of_one(WarpMeasure(wavefronts, 1, {})),
            counterexample=found if refuted else None,
            time_ms=2.0,
        ),
        case=case,
        picture=PICTURE if refuted else None,
    )


def small() -> Report:
    """Two cases of an access, one of which has conflicts, a claim of another file, and a problem."""
    proved = Verdict(Outcome.PROVED, "all elements", ("gf2", "z3"), time_ms=1.0)
    other = ClaimResult("b.swz.yaml::A::bijective", "b.swz.yaml", 3, "bijective", "A", Outcome.PROVED, proved)
    problem = Problem("SWZ104", "unknown key 'tle'", "did you mean 'tile'?", "c.swz.yaml", 3, 5, "  tle: A", 3)
    results = (conflict({"PAD": 0}, 32), conflict({"PAD": 1}, 1, "proved"), conflict({"PAD": 2}, 1, "proved"), other)
    return Report(results, (problem,), 20.0, BaselineUse(fixed=("b.swz.yaml::A::injective",)))


def claims(page: Element) -> list[Element]:
    return page.find("details", "claim")


def test_the_structure_is_as_before() -> None:
    body = read(render_html(small())).find("body")[0]
    assert outline(body) == GOLDEN.read_text("utf-8").splitlines()


def test_every_result_is_in_it(mixed: Report) -> None:
    page = read(render_html(mixed))
    shown = [(each.attributes["data-outcome"], each.attributes["data-state"]) for each in claims(page)]
    states = [
        (result.verdict.outcome.value, "expected" if result.ok else "unexpected" if result.failing else "known")
        for result in mixed.results
    ]
    assert sorted(shown) == sorted(states)
    said = page.text
    for result in mixed.results:
        assert result.subject in said
        assert result.verdict.reason in said
    for problem in mixed.problems:
        assert problem.message in said
    opened = {each.attributes["data-state"] for each in claims(page) if "open" in each.attributes}
    assert opened == {"unexpected"}
    linked = [each.attributes["href"][1:] for each in page.find("a")]
    unexpected = [each.attributes["id"] for each in claims(page) if each.attributes["data-state"] == "unexpected"]
    assert set(unexpected) <= set(linked) <= {each.attributes.get("id") for each in page.walk()}


def test_cases_that_read_the_same_are_one_claim_with_their_number() -> None:
    page = read(render_html(small()))
    counts = [each.attributes.get("data-count", "1") for each in claims(page)]
    assert counts == ["1", "2", "1"]
    assert "read [PAD = 1 or 2: the same]" in claims(page)[1].text


def test_the_costs_by_case_are_those_of_the_other_reports() -> None:
    report = small()
    (table,) = read(render_html(report)).find("table", "costs")
    rows = [[each.text for each in row.inside if isinstance(each, Element)] for row in table.find("tr")]
    costs = matrix(report.results)
    assert costs is not None
    assert rows[0] == ["case", *costs.accesses]
    assert [(row[0], tuple(cell.removeprefix("\u2717 ") for cell in row[1:])) for row in rows[1:]] == [*costs.rows]
    assert [cell.text for cell in table.find("td", "x")] == ["\u2717 32/1"]


def test_one_row_where_all_cases_cost_the_same() -> None:
    report = Report((conflict({"PAD": 1}, 1, "proved"), conflict({"PAD": 3}, 1, "proved")))
    (table,) = read(render_html(report)).find("table", "costs")
    assert [each.text for each in table.find("th")] == ["case", "read", "PAD = 1 or 3"]
    assert not read(render_html(Report((conflict({}, 1, "proved"),)))).find("table", "costs")


def test_the_picture_has_every_cell_where_it_belongs() -> None:
    (figure,) = read(render_html(small())).find("figure")
    (panel,) = PICTURE.panels
    drawn: dict[tuple[int, int], Element] = {}
    for row, line in enumerate(figure.find("tbody")[0].find("tr")):
        column = 0
        for cell in line.find("td"):
            drawn[row, column] = cell
            column += int(cell.attributes.get("colspan", "1"))
        assert column == len(panel.column_heads)
    full = {place: cell for place, cell in drawn.items() if cell.text}
    assert set(full) == {(cell.row, cell.column) for cell in panel.cells}
    for cell in panel.cells:
        shown = full[cell.row, cell.column]
        assert shown.text == cell.lines[0] + "*" * cell.marked
        assert shown.attributes["data-lanes"] == " ".join(map(str, cell.lanes))
        assert ("x" in shown.attributes["class"].split()) is cell.marked
        assert cell.value is not None
        assert f"s{LANES_SCALE.shade(cell.value)}" in shown.attributes["class"].split()


def test_the_policy_allows_the_style_and_the_script_of_the_page_and_nothing_else() -> None:
    page = read(render_html(small()))
    (policy,) = [each.attributes["content"] for each in page.find("meta") if "http-equiv" in each.attributes]
    (style,), (script,) = page.find("style"), page.find("script")
    hashes = [b64encode(sha256(each.raw.encode()).digest()).decode() for each in (style, script)]
    assert policy.split("; ") == [
        "default-src 'none'",
        f"style-src 'sha256-{hashes[0]}'",
        f"script-src 'sha256-{hashes[1]}'",
        "base-uri 'none'",
        "form-action 'none'",
    ]
    assert script.attributes == style.attributes == {}
    # a reference is not read in these two
    assert (style.raw + script.raw).isascii()
    # what would end them early, or begin a comment in which tags count
    assert not re.search(r"</(script|style)|<!--|<script", script.raw + style.raw)


def harmless(page: Element) -> None:
    """Nothing is fetched, linked or run from an attribute."""
    assert len(page.find("script")) == len(page.find("style")) == 1
    ids = [each.attributes["id"] for each in page.walk() if "id" in each.attributes]
    assert len(ids) == len(set(ids))
    for each in page.walk():
        assert each.tag not in {"link", "img", "iframe", "object", "embed", "base", "svg", "template"}
        for name, value in each.attributes.items():
            assert not name.startswith("on")
            assert name not in {"style", "src", "srcset", "action", "formaction", "xlink:href"}
            assert name != "href" or re.fullmatch(r"#[cs]-[0-9a-f-]+", value)
    assert "@import" not in page.find("style")[0].raw
    assert "url(" not in page.find("style")[0].raw


def same_shape(first: Element, second: Element) -> None:
    assert first.tag == second.tag
    assert list(first.attributes) == list(second.attributes)
    one, other = ([each for each in side.inside if isinstance(each, Element)] for side in (first, second))
    assert len(one) == len(other)
    for each, its in zip(one, other, strict=True):
        same_shape(each, its)


def stranger(text: str) -> Report:
    """A report in which a stranger had every word, those of a picture too."""
    cell = Cell(0, 0, (text,), 1, True, text, (0,))
    picture = Picture(text, (text,), (Panel(text, text, text, (text,), (text,), (cell,)),), LANES_SCALE, text)
    results = (replace(hostile_claim(text), picture=picture), hostile_claim(text, "unknown"))
    return Report(results, (hostile_problem(text),), 12.0, BaselineUse((text,), (text,), (text,)))


def test_a_stranger_s_words_are_text(evil: str) -> None:
    page = read(render_html(stranger(evil)))
    harmless(page)
    same_shape(page, read(render_html(stranger("a"))))
    for line in visible_lines(evil):
        assert line.strip() in page.text


@given(NASTY.filter(bool))
def test_any_words_are_text(text: str) -> None:
    page = render_html(stranger(text))
    assert page.isascii()
    harmless(read(page))
    assert len(read(page).find("script")) == 1


def test_no_line_of_a_page_is_a_command(evil: str) -> None:
    """A page on standard output goes to the log of a CI service."""
    page = render_html(replace(stranger(evil), results=(replace(hostile_claim(evil), spec=evil),)))
    plain = render_html(replace(stranger("a"), results=(replace(hostile_claim("a"), spec="a"),)))
    assert page.count("\n") == plain.count("\n")
    commands = [re.findall(r"^\s*::|##(?:\[|[A-Za-z]+\[)", each, re.MULTILINE) for each in (page, plain)]
    assert commands[0] == commands[1]  # the style sheet has some: `::before`


def test_very_long_words_are_cut() -> None:
    assert len(render_html(stranger("ab" * 1_000_000))) < 1_000_000


def test_the_same_report_makes_the_same_page(mixed: Report) -> None:
    assert render_html(mixed) == render_html(mixed)
    page = render_html(Report((small().results[0],) * 3))
    harmless(read(page))


def test_counterexamples_have_a_limit_of_size_those_of_findings_first() -> None:
    known = tuple(replace(conflict({}, 2, subject=f"known_{n}"), accepted=True) for n in range(5))
    report = Report((*known, conflict({}, 2, subject="new")))
    whole = read(render_html(report))
    assert len(whole.find("table", "lanes")) == 6
    cut = read(render_html(report, evidence_bytes=3000))
    assert len(claims(cut)) == 6
    (kept,) = [each for each in claims(cut) if each.find("table", "lanes")]
    assert "new" in kept.text
    assert cut.text.count("The counterexample is left out: the page has a limit of size.") == 5


@pytest.mark.parametrize(("code", "tone", "sign"), [(0, "good", "\u2713"), (3, "open", "?"), (1, "bad", "\u2717")])
def test_the_head_says_how_the_run_came_out(make, code: int, tone: str, sign: str) -> None:
    page = read(render_html(Report((make(),)), exit_code=code))
    (head,) = page.find("header")[0].find("span")
    assert (head.attributes["class"], head.text[0]) == (tone, sign)
    assert f"(exit code {code})" in page.find("header")[0].text


def test_a_scan_that_found_something_is_not_green(make) -> None:
    page = read(render_html(Report((make("refuted"),)), exit_code=0))
    assert page.find("header")[0].find("span")[0].attributes["class"] == "open"


if __name__ == "__main__":
    GOLDEN.write_text("\n".join(outline(read(render_html(small())).find("body")[0])) + "\n", encoding="utf-8")
