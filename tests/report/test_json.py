"""The shape of the JSON report."""

from __future__ import annotations

import json

import numpy as np
import pytest

from swzverify.claims.verdict import Counterexample, Measure, Row, WarpMeasure
from swzverify.errors import Problem
from swzverify.report.json import render_json
from swzverify.report.result import Report


def parsed(*results, problems=()):
    return json.loads(render_json(Report(tuple(results), tuple(problems), 3140.12345)))


def test_the_document(make, refuted):
    report = parsed(make(), refuted, make("refuted", expected="refuted"))
    assert list(report) == ["schema", "summary", "claims", "problems", "baseline", "wall_ms"]
    assert report["schema"] == "swzverify.report/1"
    assert report["summary"] == {
        "proved": 1, "refuted": 2, "unknown": 0, "vacuous": 0, "error": 0, "unexpected": 1, "accepted": 0,
    }  # fmt: skip
    assert report["problems"] == []
    assert report["baseline"] is None
    assert report["wall_ms"] == 3140.123


def test_a_claim(refuted):
    claim = parsed(refuted)["claims"][0]
    lanes = claim["counterexample"].pop("lanes")
    assert claim == {
        "id": "specs/hopper.swz.yaml::naive_read::conflict_free",
        "spec": "specs/hopper.swz.yaml",
        "line": 31,
        "kind": "conflict_free",
        "subject": "naive_read",
        "case": {},
        "verdict": "refuted",
        "expected": "proved",
        "ok": False,
        "accepted": False,
        "scope": refuted.verdict.scope,
        "engines": ["z3", "gf2"],
        "evidence": "measured",
        "time_ms": 12.346,
        "measure": {
            "wavefronts": 32,
            "minimum": 4,
            "bank_conflicts": 28,
            "where": {"warp": 1, "k": 16},
            "exact": True,
            "most_conflicts": {"wavefronts": 32, "minimum": 4, "where": {"warp": 1, "k": 16}},
        },
        "sectors": None,
        "counterexample": {
            "binding": {"warp": 1, "k": 16, "base": 1024},
            "note": "8 lanes read 8 words of bank 0",
        },
        "reason": "the row part of the address does not reach the bank bits",
        "notes": ["worst of 16 cases"],
        "because": "rows of 128 bytes",
        "source": "a paper",
        "cures": [],
        "deciding": [],
    }
    assert len(lanes) == 32
    assert lanes[3] == {
        "lane": 3, "coord": [3, 0], "offset": 192, "address": 1408, "word": 352, "bank": 0, "mark": "A",
    }  # fmt: skip
    assert lanes[8]["mark"] == ""


def test_what_does_not_apply_is_null(make):
    claim = parsed(make())["claims"][0]
    assert claim["measure"] is None
    assert claim["counterexample"] is None
    example = Counterexample({}, "inactive", ("lane", "address"), (Row((0, None)),))
    lanes = parsed(make("refuted", counterexample=example))["claims"][0]["counterexample"]["lanes"]
    assert lanes == [{"lane": 0, "address": None, "mark": ""}]


def test_problems(make):
    problem = Problem("SWZ104", "unknown key 'tle'", "did you mean 'tile'?", "a.yaml", 3, 5, "    tle: A", 3)
    assert parsed(make(), problems=[problem])["problems"] == [
        {
            "code": "SWZ104",
            "message": "unknown key 'tle'",
            "hint": "did you mean 'tile'?",
            "file": "a.yaml",
            "line": 3,
            "column": 5,
            "source_line": "    tle: A",
            "caret_length": 3,
        }
    ]


def test_hostile_text_survives_in_ascii(make):
    evil = "\x1b[31m\u202e\ud800\n漢"
    text = render_json(Report((make(because=evil),)))
    assert text.isascii()
    assert not set(text) & set(map(chr, range(0x20))) - {"\n"}
    assert json.loads(text)["claims"][0]["because"] == evil


def test_foreign_integers_are_numbers_and_other_objects_are_refused(make):
    measure = Measure.of_one(WarpMeasure(np.int64(4), 4, {"warp": np.uint8(3)}))
    claim = parsed(make(measure=measure))["claims"][0]
    assert (claim["measure"]["wavefronts"], claim["measure"]["where"]) == (4, {"warp": 3})
    with pytest.raises(TypeError):
        render_json(Report((make(scope=object()),)))
    with pytest.raises(ValueError, match="JSON"):
        render_json(Report((make(time_ms=float("nan")),)))
