"""JSON Lines: a line per claim, a line per problem, a last line; held against the schema that docs/
publishes.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from swzverify.report.json import render_json
from swzverify.report.jsonl import render_jsonl
from swzverify.report.result import BaselineUse, Report

SCHEMAS = Path(__file__).parents[2] / "docs" / "schemas"


@cache
def schema(name: str) -> Draft202012Validator:
    text = json.loads((SCHEMAS / f"{name}-1.schema.json").read_text(encoding="utf-8"))
    Draft202012Validator.check_schema(text)
    return Draft202012Validator(text)


def lines(report: Report, exit_code: int | None = None) -> list[dict[str, object]]:
    text = render_jsonl(report, exit_code)
    assert text.isascii()
    assert text.endswith("\n")
    return [json.loads(line) for line in text.splitlines()]


def test_claims_then_problems_then_the_summary(mixed):
    found = lines(mixed)
    assert [line["type"] for line in found] == ["claim"] * 8 + ["problem"] * 2 + ["summary"]
    assert {line["schema"] for line in found} == {"swzverify.report.line/1"}
    assert found[-1]["summary"]["unexpected"] == mixed.summary.unexpected
    assert (found[-1]["problems"], found[-1]["wall_ms"], found[-1]["exit_code"]) == (2, 3140.0, 2)


def test_claims_and_problems_are_those_of_the_json_report(mixed):
    document = json.loads(render_json(mixed))
    bare = [{key: value for key, value in line.items() if key not in {"schema", "type"}} for line in lines(mixed)]
    assert bare[:8] == document["claims"]
    assert bare[8:10] == document["problems"]


def test_a_run_without_claims_is_one_line_and_the_command_s_exit_code_counts():
    assert [line["type"] for line in lines(Report(()))] == ["summary"]
    assert lines(Report(()))[0]["exit_code"] == 5
    assert lines(Report(()), 0)[0]["exit_code"] == 0


def validate(report: Report) -> None:
    for line in lines(report):
        schema("report-line").validate(line)
    schema("report").validate(json.loads(render_json(report)))


def test_every_line_and_the_document_are_valid(mixed):
    for report in (mixed, Report(mixed.results, mixed.problems, 1.0, BaselineUse(("a",), ("b",), ("c",))), Report(())):
        validate(report)


def test_a_stranger_s_words_are_valid(hostile):
    validate(hostile)


def test_the_schemas_name_every_key_and_agree(mixed):
    whole, line = schema("report").schema, schema("report-line").schema
    assert whole["$defs"] == line["$defs"]
    document = json.loads(render_json(mixed))
    assert list(document) == list(whole["properties"])
    for kind, values in (("claim", document["claims"][1]), ("problem", document["problems"][0])):
        assert sorted(values) == sorted(whole["$defs"][kind]["properties"])
    assert sorted(document["summary"]) == sorted(whole["$defs"]["summary"]["properties"])
    assert sorted(lines(mixed)[-1]) == sorted(line["oneOf"][2]["properties"])


@pytest.mark.parametrize("change", [{"line": 0}, {"verdict": "fine"}, {"ok": None}, {"type": "other"}])
def test_the_schema_refuses_what_is_no_line(mixed, change):
    good = lines(mixed)[1]
    assert schema("report-line").is_valid(good)
    assert not schema("report-line").is_valid({**good, **change})
    assert not schema("report-line").is_valid({key: good[key] for key in good if key != "verdict"})


def test_a_stranger_s_words_come_back_as_they_were(hostile, evil):
    claim, _, problem, _ = lines(hostile)
    for key in ("spec", "subject", "because", "source", "scope", "reason", "evidence"):
        assert claim[key] == evil
    assert (claim["notes"], claim["case"]) == ([evil], {evil: 64})
    assert claim["counterexample"]["lanes"][0][evil] == evil
    assert (problem["message"], problem["hint"], problem["file"], problem["source_line"]) == (evil,) * 4
