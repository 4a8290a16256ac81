"""A run over several files: a line a file, and everything of what came out wrong."""

from __future__ import annotations

from dataclasses import replace

from rich.cells import cell_len

from swzverify.claims.verdict import Measure, WarpMeasure
from swzverify.report.result import Report
from swzverify.report.style import TextStyle
from swzverify.report.text import render_text

STYLE = TextStyle(width=120, by_file=True)


def lines_of(results, style=STYLE):
    return render_text(Report(tuple(results)), style).splitlines()


def test_each_file_is_a_line(make):
    cost = Measure.of_one(WarpMeasure(32, 4, {}))
    lines = lines_of(
        [
            make(spec="a.swz.yaml"),
            make("refuted", expected="refuted", spec="a.swz.yaml", subject="plain", measure=cost, case={"K": 2}),
            make(spec="folder/b.swz.yaml", engines=("z3",), evidence="assumed"),
        ]
    )
    assert lines[0] == "✓ a.swz.yaml         1 proved, 1 refuted as expected           worst 32/4 plain [K=2]"
    assert lines[1] == "✓ folder/b.swz.yaml  1 proved, 1 by one engine only [assumed]"
    assert lines[-1].startswith("2 proved (1 by one engine only), 1 refuted as expected, 0 unexpected")


def test_what_failed_is_told_in_full(make, refuted):
    lines = lines_of([make(spec="a.swz.yaml"), refuted])
    assert lines[1].startswith("✗ specs/hopper.swz.yaml")
    assert "1 refuted unexpectedly" in lines[1]
    assert "Not as expected:" in lines
    assert any("the row part of the address" in line for line in lines)


def test_the_mark_is_that_of_the_gravest(make, refuted):
    def mark(*results):
        return lines_of([*results, make(spec="other.swz.yaml")])[0][0]

    assert mark(make(), make("unknown"), make()) == "?"
    assert mark(refuted, make("unknown")) == "?", "what has no verdict outweighs what is known to be wrong"
    assert mark(make(), replace(refuted, accepted=True)) == "~"
    assert mark(make("error", reason="x"), refuted) == "!"


def test_one_file_has_a_line_a_claim(make):
    assert (
        lines_of([make(), make(subject="B")])
        == render_text(Report((make(), make(subject="B"))), TextStyle(width=120)).splitlines()
    )


def test_verbose_and_quiet_are_as_ever(make, refuted):
    results = (make(spec="a.swz.yaml"), refuted)
    for verbosity in (-1, 1):
        style = TextStyle(width=120, verbosity=verbosity)
        assert lines_of(results, replace(style, by_file=True)) == lines_of(results, style)


def test_no_line_is_wider_than_the_terminal(make):
    results = [make(spec="p/" * 60), make(spec="b", subject="漢字" * 20, measure=Measure.of_one(WarpMeasure(2, 1, {})))]
    for width in (40, 80):
        assert max(cell_len(line) for line in lines_of(results, replace(STYLE, width=width))) <= width
