"""SARIF: valid against OASIS's schema, a result a finding, within the limits of code scanning."""

from __future__ import annotations

import gzip
import json
import re
from dataclasses import replace
from functools import cache
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft4Validator
from markdown_it import MarkdownIt

from swzverify.claims import KINDS
from swzverify.core.error_codes import TITLES
from swzverify.report.escape import visible, visible_lines
from swzverify.report.result import Report
from swzverify.report.rules import claim_rules
from swzverify.report.sarif import GITHUB, Limits, render_sarif
from swzverify.report.story import headline
from tests.report.conftest import hostile_claim, hostile_problem

SCHEMA = Path(__file__).parents[1] / "data" / "schemas" / "sarif-schema-2.1.0.json"


@cache
def schema() -> Draft4Validator:
    return Draft4Validator(json.loads(SCHEMA.read_text(encoding="utf-8")))


def run_of(report: Report, **options) -> dict[str, object]:
    """The log's only run, after the schema has taken the log."""
    text = render_sarif(report, **options)
    assert text.isascii()
    log = json.loads(text)
    schema().validate(log)
    assert log["version"] == "2.1.0"
    assert log["$schema"] == schema().schema["id"]
    (run,) = log["runs"]
    rules = run["tool"]["driver"]["rules"]
    for result in run["results"]:
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
    return run


def unescaped(text: str) -> str:
    """A message as a viewer shows it."""
    assert not re.search(r"(?<!\{)\{\d+\}(?!\})", text.replace("{{", "").replace("}}", ""))
    return text.replace("{{", "{").replace("}}", "}")


def test_a_result_a_finding_and_none_for_what_came_out_as_expected(mixed):
    run = run_of(mixed, version="1.2")
    assert [(each["ruleId"], each["level"], each.get("properties", {}).get("verdict")) for each in run["results"]] == [
        ("SWZ104", "error", None),
        ("SWZ501", "error", None),
        ("conflict_free", "error", "error"),
        ("conflict_free", "error", "refuted"),
        ("conflict_free", "warning", "unknown"),
        ("conflict_free", "warning", "vacuous"),
        ("conflict_free", "note", "unknown"),
        ("conflict_free", "note", "refuted"),
    ]
    assert all(each.get("kind", "fail") == "fail" for each in run["results"])
    assert ["suppressions" in each for each in run["results"]] == [False] * 7 + [True]
    assert run["properties"]["claims"] == {
        "proved": 1, "refuted": 3, "unknown": 2, "vacuous": 1, "error": 1, "unexpected": 4, "accepted": 1,
    }  # fmt: skip
    assert run["tool"]["driver"]["version"] == "1.2"


def test_places(mixed):
    results = run_of(mixed)["results"]
    places = [each["locations"][0]["physicalLocation"] for each in results]
    assert places[0] == {
        "artifactLocation": {"uri": "specs/a.swz.yaml", "uriBaseId": "%SRCROOT%"},
        "region": {"startLine": 3, "startColumn": 5, "endColumn": 8},
    }
    assert places[1]["region"] == {"startLine": 1}
    assert places[3]["region"] == {"startLine": 31}
    assert places[7]["artifactLocation"]["uri"] == "specs/b%20c.swz.yaml"
    assert all(len(each["locations"]) == 1 for each in results)
    nowhere = replace(mixed.problems[0], file="", line=0)
    (result,) = run_of(Report((), (nowhere,)))["results"]
    assert result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "."


def test_the_message_has_the_counterexample_as_text_and_as_a_table(refuted):
    (result,) = run_of(Report((refuted,)))["results"]
    lines = result["message"]["text"].splitlines()
    assert lines[0] == "conflict_free naive_read: refuted, expected proved: 8 lanes read 8 words of bank 0"
    assert any(re.fullmatch(r" +A +7 +\(7, 0\) +448 +1920 +0x780 +480 +0", line) for line in lines)
    tokens = MarkdownIt("commonmark").enable("table").parse(unescaped(result["message"]["markdown"]))
    cells = [token.content for token in tokens if token.type == "inline"]
    assert cells[1:9] == ["", "lane", "coord", "offset", "address", "hex", "word", "bank"]
    assert sum(token.type == "tr_open" for token in tokens) == 1 + 8


def test_fingerprints_are_the_claim_s_whatever_its_line(make):
    one, moved = make("refuted"), replace(make("refuted"), line=99)
    case = replace(one, id=one.id.replace("read_A", "read_A[K=32]"), case={"K": 32})
    prints = [
        run_of(Report((each,)))["results"][0]["partialFingerprints"]["primaryLocationLineHash"]
        for each in (one, moved, case)
    ]
    assert prints[0] == prints[1] == f"{one.fingerprint}:1"
    assert prints[2] != prints[0]


def test_the_rules_are_the_claims_and_the_codes_that_occur(mixed):
    rules = {rule["id"]: rule for rule in run_of(mixed)["tool"]["driver"]["rules"]}
    assert list(rules) == [*[rule.name for rule in claim_rules()], "SWZ104", "SWZ501"]
    assert sorted(rule.name for rule in claim_rules()) == sorted(KINDS)
    assert rules["SWZ501"]["shortDescription"]["text"].lower() == f"{TITLES['SWZ501']}.".lower()
    for rule in rules.values():
        for key in ("shortDescription", "fullDescription", "help"):
            assert 10 < len(rule[key]["text"]) <= 1024


@pytest.mark.parametrize(
    ("outcome", "exit_code", "successful"), [("proved", 0, True), ("refuted", 1, True), ("unknown", 3, True)]
)
def test_a_run_that_decided_every_spec_was_successful(make, outcome, exit_code, successful):
    (invocation,) = run_of(Report((make(outcome),)))["invocations"]
    assert (invocation["exitCode"], invocation["executionSuccessful"]) == (exit_code, successful)


def test_a_run_without_all_verdicts_was_not(make, mixed):
    for report, exit_code in ((Report(()), 5), (Report((make("error"),)), 2), (Report((make(),), mixed.problems), 2)):
        (invocation,) = run_of(report)["invocations"]
        assert (invocation["exitCode"], invocation["executionSuccessful"]) == (exit_code, False)
    (invocation,) = run_of(Report(()), exit_code=0)["invocations"]
    assert (invocation["exitCode"], invocation["executionSuccessful"]) == (0, True)


def test_beyond_the_limit_of_results_the_gravest_stay_and_the_rest_is_counted(make, mixed):
    report = Report(tuple(make("unknown", subject=f"s{index}") for index in range(30)), mixed.problems)
    assert len(run_of(report, limits=Limits(results=32))["results"]) == 32
    run = run_of(report, limits=Limits(results=31))
    assert [each["ruleId"] for each in run["results"][:2]] == ["SWZ104", "SWZ501"]
    last = run["results"][-1]
    assert (len(run["results"]), last["ruleId"], last["level"]) == (31, "report-cut", "error")
    assert last["message"]["text"].startswith("2 of 32 findings are left out of this file.")
    assert run["invocations"][0]["exitCode"] == 2


@pytest.mark.parametrize("most_bytes", [3000, 6000, 12_000])
def test_beyond_the_limit_of_bytes_too(make, most_bytes):
    results = [make("unknown", subject=f"{index * 7919**9:x}", reason=f"{index * 104729**9:x}") for index in range(400)]
    text = render_sarif(Report(tuple(results)), limits=Limits(gzip_bytes=most_bytes))
    assert len(gzip.compress(text.encode())) <= most_bytes * 1.02
    found = json.loads(text)["runs"][0]["results"]
    left_out = int(found[-1]["message"]["text"].split()[0])
    assert len(found) - 1 + left_out == 400
    assert len(found) > 1


def test_the_limits_are_those_of_code_scanning():
    assert (GITHUB.results, GITHUB.gzip_bytes <= 10 * 1024 * 1024) == (25_000, True)


def test_a_stranger_s_words_are_neither_links_nor_placeholders(hostile, evil):
    problem, refuted, _ = run_of(hostile)["results"]
    words = "\n".join([*visible_lines(evil), *visible_lines(evil)])
    assert unescaped(problem["message"]["text"]) == words.replace("](", "] (")
    first = unescaped(refuted["message"]["text"]).splitlines()[0]
    assert first == headline(hostile.results[0]).replace("](", "] (")
    for result in (problem, refuted):
        uri = result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
        assert re.fullmatch(r"[A-Za-z0-9_.~%/-]+", uri)
        assert (urlsplit(uri).scheme, urlsplit(uri).netloc) == ("", "")
        plain = evil.replace("\\", "/").lstrip("/")
        assert unquote(uri) == plain.encode("utf-8", "backslashreplace").decode()
    tokens = MarkdownIt("commonmark").enable("table").parse(unescaped(refuted["message"]["markdown"]))
    kinds = {child.type for token in tokens for child in token.children or ()}
    assert kinds <= {"text", "text_special", "html_inline"}
    html = {child.content for token in tokens for child in token.children or () if child.type == "html_inline"}
    assert html <= {"<!-- -->"}
    assert sum(token.type == "tr_open" for token in tokens) == 1 + 2


@settings(max_examples=40)
@given(st.text(st.sampled_from(list("a{}[]()0 \n\\")) | st.characters(), min_size=1))
def test_any_text_makes_a_valid_log(text):
    run = run_of(Report((hostile_claim(text),), (hostile_problem(text),)))
    assert len(run["results"]) == 2
    assert (
        unescaped(run["results"][1]["message"]["text"])
        .splitlines()[0]
        .startswith(f"injective {visible(text)}".replace("](", "] (").split("\n")[0])
    )


@pytest.mark.parametrize("wrong", [("level", "bad"), ("ruleIndex", "1"), ("locations", {})])
def test_the_schema_refuses_what_is_wrong(refuted, wrong):
    log = json.loads(render_sarif(Report((refuted,))))
    assert schema().is_valid(log)
    log["runs"][0]["results"][0][wrong[0]] = wrong[1]
    assert not schema().is_valid(log)
