"""The report for people: what is on which line, what is left out, and that nothing in it can do
harm.
"""

from __future__ import annotations

import dataclasses
import re

import pytest
from rich.cells import cell_len

from swzverify.claims.verdict import Counterexample, Measure, Row, WarpMeasure
from swzverify.report.result import Report
from swzverify.report.style import TextStyle
from swzverify.report.text import render_text

WIDE = TextStyle(width=140)


def lines_of(results, style=WIDE, wall_ms=3140.0):
    return render_text(Report(tuple(results), (), wall_ms), style).splitlines()


def line_with(lines, *parts):
    found = [line for line in lines if all(part in line for part in parts)]
    assert len(found) == 1, (parts, lines)
    return found[0]


def test_a_proved_claim_is_one_line_with_its_scope_below(make):
    lines = lines_of([make(measure=Measure.of_one(WarpMeasure(4, 4, {})))])
    assert lines[0] == "specs/hopper.swz.yaml"
    assert re.fullmatch(r"  ✓ proved  conflict_free  read_A  4 wavefronts \(minimum 4\)  z3 \+ gf2 +12 ms", lines[1])
    assert lines[2].strip() == make().verdict.scope
    assert lines[-1] == "1 proved, 0 unexpected in 3.1 s"


def test_a_documented_failure_is_quiet_and_fine(make, refuted):
    documented = dataclasses.replace(refuted, expected=refuted.verdict.outcome)
    lines = lines_of([make(), documented])
    assert line_with(lines, "naive_read").endswith("as expected")
    assert line_with(lines, "naive_read").startswith("  ✓ refuted")
    assert "      rows of 128 bytes" in lines
    assert not any("bank 0" in line or "Not as expected" in line for line in lines)
    assert lines[-1] == "1 proved, 1 refuted as expected, 0 unexpected in 3.1 s"


def test_an_unexpected_outcome_tells_the_whole_story_at_the_end(make, refuted):
    lines = lines_of([refuted, make()])
    assert line_with(lines[:5], "naive_read", "✗ refuted").endswith("expected proved")
    story = lines[lines.index("Not as expected:") :]
    facts = {line.split()[0]: line.strip().split(maxsplit=1)[1] for line in story[2:12]}
    assert facts == {
        "at": "specs/hopper.swz.yaml:31",
        "because": "rows of 128 bytes",
        "source": "a paper",
        "scope": refuted.verdict.scope,
        "reason": "the row part of the address does not reach the bank bits",
        "cost": "32 wavefronts (minimum 4), 28 bank conflicts, at warp = 1, k = 16",
        "engines": "z3 + gf2, 12 ms",
        "evidence": "measured",
        "note": "worst of 16 cases",
        "found": "8 lanes read 8 words of bank 0",
    }
    assert line_with(story, "where").endswith("warp = 1, k = 16, base = 1024")
    assert lines[-1] == "1 proved, 1 unexpected (1 refuted) in 3.1 s"


def test_a_long_table_shows_the_colliding_lanes_then_how_many_more(refuted):
    lines = lines_of([refuted])
    header = next(index for index, line in enumerate(lines) if line.split()[:1] == ["lane"])
    assert lines[header].split() == ["lane", "coord", "offset", "address", "hex", "word", "bank"]
    table = [line.split() for line in lines[header + 1 : header + 9]]
    assert [row[:2] for row in table] == [["A", str(lane)] for lane in range(8)]
    assert table[3] == ["A", "3", "(3,", "0)", "192", "1408", "0x580", "352", "0"]
    assert lines[header + 9].strip() == "… 24 more lanes"


def test_verbose_shows_every_story_and_the_whole_table(make, refuted):
    lines = lines_of([make(), refuted], dataclasses.replace(WIDE, verbosity=1))
    assert sum(line.strip().startswith("at ") for line in lines) == 2
    assert line_with(lines, "(31, 0)").split()[0] == "31"
    assert not any("more lanes" in line for line in lines)


def test_quiet_shows_only_what_is_unexpected(make, refuted):
    style = dataclasses.replace(WIDE, verbosity=-1)
    assert lines_of([make(), make("vacuous", expected="vacuous")], style) == [
        "1 proved, 1 vacuous as expected, 0 unexpected in 3.1 s"
    ]
    lines = lines_of([make(), refuted], style)
    assert "naive_read" in lines[0]
    assert not any("read_A" in line for line in lines)


@pytest.mark.parametrize(("outcome", "mark"), [("unknown", "?"), ("vacuous", "?"), ("error", "!"), ("refuted", "✗")])
def test_marks(make, outcome, mark):
    assert lines_of([make(outcome, reason="so it is")])[1].startswith(f"  {mark} {outcome}")


def test_what_rests_on_less_says_so(make):
    lines = lines_of([make(evidence="documented"), make(subject="alone", engines=("z3",), reason="only Z3 applies")])
    assert "[documented]" in line_with(lines, "read_A")
    assert "      only Z3 applies" in lines
    assert lines[-1].startswith("2 proved (1 by one engine only), 0 unexpected")


def test_a_case_that_need_not_be_the_worst_tells_the_least(make):
    lines = lines_of([make(measure=Measure.of_one(WarpMeasure(8, 4, {}), exact=False))])
    assert "at least 8 wavefronts (minimum 4)" in lines[1]


def test_cases_are_told_apart(make):
    lines = lines_of([make(case={"BK": 32}, scope="k in 0..31"), make(case={"BK": 64}, scope="k in 0..63")])
    assert "read_A [BK=32]" in lines[1]
    assert "read_A [BK=64]" in lines[3]


def test_cases_that_read_the_same_are_told_once(make, refuted):
    cases = [{"MB": value} for value in (1, 2, 3, 4)]
    lines = lines_of([make(case=case) for case in cases])
    assert "read_A [MB = 1..4: the same]" in lines[1]
    assert lines[-1].startswith("4 proved, 0 unexpected")
    failing = [dataclasses.replace(refuted, case=case) for case in cases]
    lines = lines_of(failing)
    assert sum("naive_read [MB = 1..4: the same]" in line for line in lines) == 2, "its line and its story"
    assert sum("reason" in line for line in lines) == 1


def test_a_reason_is_not_said_twice(refuted):
    note = "8 lanes read 8 words of bank 0"
    same = dataclasses.replace(refuted, verdict=dataclasses.replace(refuted.verdict, reason=note))
    lines = lines_of([same])
    assert sum(note in line for line in lines) == 1
    assert line_with(lines, note).split()[0] == "reason"


def test_costs_of_cases_are_a_table(make):
    def cost(wavefronts, subject, **case):
        measure = Measure.of_one(WarpMeasure(wavefronts, 4, {}))
        return make(case=case, subject=subject, measure=measure, scope=str(case))

    results = [cost(8 if case == 32 else 4, name, BK=case) for name in ("read", "write") for case in (32, 64, 128)]
    lines = lines_of(results)
    at = next(index for index, line in enumerate(lines) if "wavefronts/minimum" in line)
    assert [line.split() for line in lines[at : at + 3]] == [
        ["wavefronts/minimum", "read", "write"],
        ["BK", "=", "32", "8/4", "8/4"],
        ["BK", "=", "64", "or", "128", "4/4", "4/4"],
    ]


def test_claims_come_under_their_spec(make):
    lines = lines_of([make(spec="b.swz.yaml"), make(spec="a.swz.yaml"), make(spec="a.swz.yaml", subject="other")])
    assert [line for line in lines if line.endswith(".yaml")] == ["b.swz.yaml", "a.swz.yaml"]


@pytest.mark.parametrize("width", [40, 60, 80, 120])
def test_no_line_is_wider_than_the_terminal(make, refuted, width):
    results = [make(subject="s" * 90, spec="p/" * 60), refuted, make(subject="漢字" * 20, because="w" * 200)]
    for verbosity in (0, 1):
        lines = lines_of(results, TextStyle(width=width, verbosity=verbosity))
        assert max(cell_len(line) for line in lines) <= width


def test_a_narrow_terminal_loses_no_fact(make):
    lines = lines_of([make(measure=Measure.of_one(WarpMeasure(4, 4, {})), evidence="assumed")], TextStyle(width=44))
    text = " ".join(" ".join(lines).split())
    for fact in ("4 wavefronts (minimum 4)", "z3 + gf2", "12 ms", "[assumed]"):
        assert fact in text


def test_plain_text_has_no_escape_codes_and_colour_has(make, refuted):
    plain = render_text(Report((make(), refuted)), WIDE)
    coloured = render_text(Report((make(), refuted)), dataclasses.replace(WIDE, colour=True))
    assert "\x1b" not in plain
    assert "\x1b[" in coloured
    assert [line.rstrip() for line in re.sub(r"\x1b\[[0-9;]*m", "", coloured).splitlines()] == plain.splitlines()


def test_the_environment_changes_nothing_here(make, refuted, monkeypatch):
    report = Report((make(), refuted))
    before = render_text(report, WIDE)
    for name, value in (("FORCE_COLOR", "1"), ("COLUMNS", "50"), ("NO_COLOR", "1"), ("TERM", "dumb")):
        monkeypatch.setenv(name, value)
        assert render_text(report, WIDE) == before


def test_ascii_only(make, refuted):
    text = render_text(Report((make(), refuted)), dataclasses.replace(WIDE, unicode=False))
    assert text.isascii()
    assert "... 24 more lanes" in text


EVIL = "[bold red]x[/] \x1b[31m\x1b]8;;http://evil\x07 \u202egnp\u2066 \r\x08\x9b2J :smile: \ud800"


def test_nothing_from_the_input_acts_on_the_terminal(make):
    evil_row = Row((0, EVIL), EVIL)
    example = Counterexample({EVIL: 1}, EVIL, ("lane", EVIL), (evil_row,))
    fields = dict.fromkeys(("subject", "kind", "spec", "because", "source", "evidence", "reason", "scope"), EVIL)
    result = make(
        "refuted", **fields, case={EVIL: 1}, engines=(EVIL,), notes=(EVIL,), counterexample=example,
        measure=Measure.of_one(WarpMeasure(4, 4, {EVIL: 1})),
    )  # fmt: skip
    for verbosity in (-1, 0, 1):
        for expected in (result.expected, result.verdict.outcome):
            shown = dataclasses.replace(result, expected=expected)
            text = render_text(Report((shown,)), TextStyle(width=2000, verbosity=verbosity))
            assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]", text)
            if not shown.ok or verbosity >= 0:
                assert "[bold red]x[/]" in text
                assert r"\x1b[31m" in text
                assert r"\u202egnp\u2066" in text
                assert ":smile:" in text


def test_a_reason_keeps_its_lines(make):
    lines = lines_of([make("error", reason="SWZ301: unknown name\n  tidd/8\n  ^^^^")])
    at = next(index for index, line in enumerate(lines) if "SWZ301" in line)
    assert lines[at + 1].index("tidd") == lines[at + 2].index("^^^^")
