"""Workflow commands: an annotation a finding, and nothing else in the log that the runner would
obey.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from hypothesis import given, settings
from hypothesis import strategies as st

from swzverify.claims.verdict import Outcome
from swzverify.report.escape import prose, shortened, visible, visible_lines
from swzverify.report.github import render_github
from swzverify.report.problems import render_problems
from swzverify.report.result import Report
from swzverify.report.story import headline
from swzverify.report.style import TextStyle
from swzverify.report.text import render_text
from tests.report.conftest import hostile_claim, hostile_problem

_DATA = {"%25": "%", "%0D": "\r", "%0A": "\n"}
_PROPERTY = {**_DATA, "%3A": ":", "%2C": ","}


@dataclass(frozen=True)
class Command:
    name: str
    properties: dict[str, str]
    message: str


def unescaped(text: str, codes: dict[str, str]) -> str:
    return re.sub("|".join(codes), lambda found: codes[found[0]], text)


def read_log(log: str) -> list[Command]:
    """What the runner takes from a log, by its page on workflow commands.

    A line whose first characters, white space aside, are `::`, then a name, properties parted by
    commas, `::` and the message; or the older `##[name properties]message` anywhere in a line.
    """
    commands: list[Command] = []
    for line in re.split(r"\r\n|[\n\r]", log):
        text = line.lstrip()
        found = re.match(r"::([^\s:]+)(?:\s([^:]*))?::(.*)", text)
        if found is not None:
            pairs = [pair.partition("=") for pair in (found[2] or "").split(",") if pair]
            properties = {name.strip(): unescaped(value, _PROPERTY) for name, _, value in pairs}
            commands.append(Command(found[1], properties, unescaped(found[3], _DATA)))
        elif re.search(r"##\[[^\]]+\]", text):
            commands.append(Command("##", {}, text))
    return commands


def test_the_reader_reads_what_the_runner_would():
    assert read_log("x\n  ::error file=a%3Ab.c,line=3::100 %25%0Ab\n::endgroup::\r::group::g\nx ##[error]y") == [
        Command("error", {"file": "a:b.c", "line": "3"}, "100 %\nb"),
        Command("endgroup", {}, ""),
        Command("group", {}, "g"),
        Command("##", {}, "x ##[error]y"),
    ]


def test_an_annotation_a_finding_and_the_gravest_first(mixed):
    found = read_log(render_github(mixed))
    assert [(each.name, each.properties["title"], each.properties["file"]) for each in found] == [
        ("error", "SWZ104 an unknown or missing key", "specs/a.swz.yaml"),
        ("error", "SWZ501 no such file or folder", "no.swz.yaml"),
        ("error", "conflict_free broken error", "specs/hopper.swz.yaml"),
        ("error", "conflict_free naive_read refuted", "specs/hopper.swz.yaml"),
        ("warning", "conflict_free late unknown", "specs/hopper.swz.yaml"),
        ("warning", "conflict_free never vacuous", "specs/hopper.swz.yaml"),
        ("notice", "conflict_free open unknown", "specs/hopper.swz.yaml"),
        ("notice", "conflict_free known refuted", "specs/b c.swz.yaml"),
    ]
    assert found[0].message == "unknown key 'tle'\ndid you mean 'tile'?"
    assert (found[0].properties["line"], found[0].properties["col"]) == ("3", "5")
    assert "line" not in found[1].properties
    assert found[3].properties["line"] == "31"
    assert found[3].message.splitlines()[0] == headline(mixed.results[1])
    assert "cost: 32 wavefronts (minimum 4), 28 bank conflicts, at warp = 1, k = 16" in found[3].message
    assert "known failure" in found[7].message


def test_the_text_report_follows(mixed):
    style = TextStyle(width=90)
    rest = [line for line in render_github(mixed, style).splitlines(keepends=True) if not line.startswith("::")]
    assert "".join(rest) == render_problems(mixed.problems, style) + render_text(mixed, style)


def test_no_claim_is_told_unless_it_is_allowed(make):
    assert [each.message for each in read_log(render_github(Report(())))] == ["no claim found"]
    assert read_log(render_github(Report(()), exit_code=0)) == []
    assert read_log(render_github(Report((make(),)))) == []


def test_a_stranger_s_words_are_the_message_s(hostile, evil):
    problem, refuted, undecided = read_log(render_github(hostile))
    lines = visible_lines(evil)
    assert problem.message == "\n".join([*lines, *lines])
    assert refuted.message.startswith(headline(hostile.results[0]) + "\n")
    assert f"because: {prose(evil)}" in refuted.message
    for each in (problem, refuted, undecided):
        assert each.properties["file"] == visible(evil)
    assert (problem.name, refuted.name, undecided.name) == ("error", "error", "warning")


def test_long_texts_are_cut_and_a_file_s_name_is_not(make):
    name = "d/" * 300 + "a.swz.yaml"
    result = make("unknown", subject="s" * 500, spec=name, reason="r" * 9000)
    (found,) = read_log(render_github(Report((result,))))
    assert found.properties["file"] == name
    assert found.properties["title"].endswith("characters left out)")
    assert len(found.message) < 4100
    assert re.search(r"\(\d+ characters left out\)$", found.message)
    assert shortened("abc", 2) == "ab... (1 characters left out)"


@settings(max_examples=60)
@given(st.text(st.sampled_from(list("a \n\r\t:#[]%,=0ADd")) | st.characters(), min_size=1))
def test_any_text_makes_three_commands_and_no_other(text):
    report = Report((hostile_claim(text), hostile_claim(text, Outcome.VACUOUS)), (hostile_problem(text),))
    found = read_log(render_github(report))
    assert [each.name for each in found] == ["error", "error", "warning"]
    assert {each.properties["file"] for each in found} == {visible(text)}
