"""Problems as text: place, caret, hint; safe and aligned whatever the file holds."""

from __future__ import annotations

from rich.cells import cell_len

from swzverify.errors import Problem
from swzverify.report.problems import render_problems
from swzverify.report.style import TextStyle


def lines_of(problem, width=100):
    return render_problems([problem], TextStyle(width=width)).splitlines()


def test_place_caret_and_hint():
    problem = Problem("SWZ104", "unknown key 'tle'", "did you mean 'tile'?", "a.yaml", 3, 5, "    tle: A", 3)
    assert lines_of(problem) == [
        "a.yaml:3:5: SWZ104 unknown key 'tle'",
        "      tle: A",
        "      ^^^",
        "  did you mean 'tile'?",
    ]


def test_a_file_as_a_whole_has_no_line():
    assert lines_of(Problem("SWZ101", "the file is empty", file="a.yaml")) == ["a.yaml: SWZ101 the file is empty"]
    assert lines_of(Problem("SWZ501", "no such file")) == ["SWZ501 no such file"]


def test_carets_stand_under_wide_and_escaped_characters_and_tabs():
    problem = Problem("SWZ104", "x", "", "a.yaml", 1, 5, "\t漢\x1b\u202ebad: 1", 3)
    _, source, carets = lines_of(problem)
    assert source == r"   漢\x1b\u202ebad: 1"
    assert cell_len(source[: source.index("bad")]) == carets.index("^")
    assert carets.strip() == "^^^"


def test_a_long_source_line_is_cut_around_the_caret():
    line = "x" * 5000 + "bad" + "y" * 5000
    _, source, carets = lines_of(Problem("SWZ104", "x", "", "a.yaml", 1, 5001, line, 3))
    assert len(source) < 130
    at = carets.index("^")
    assert source[at : at + 3] == "bad"


def test_a_narrow_terminal_does_not_break_source_and_caret_apart():
    _, source, carets = lines_of(Problem("SWZ104", "x", "", "a.yaml", 1, 61, " " * 60 + "bad: 1", 3), width=40)
    assert carets.index("^") == source.index("bad")


def test_a_message_of_several_lines_keeps_its_own_carets():
    lines = lines_of(Problem("SWZ301", "unknown name\ntidd/8\n^^^^", "one\ntwo", "a.yaml"))
    assert lines == ["a.yaml: SWZ301 unknown name", "  tidd/8", "  ^^^^", "  one", "  two"]


def test_markup_and_control_characters_are_spelled_out():
    text = "\n".join(lines_of(Problem("SWZ1\x07", "[red]\x1b[2J", "[/]\u2066", "\x1b.yaml")))
    assert text == "\\x1b.yaml: SWZ1\\x07 [red]\\x1b[2J\n  [/]\\u2066"
