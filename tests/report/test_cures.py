"""What would help, and the constants that decide: in every format, at their lines."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from swzverify.report.github import render_github
from swzverify.report.json import render_json
from swzverify.report.markdown import render_markdown
from swzverify.report.result import Report
from swzverify.report.sarif import render_sarif
from swzverify.report.style import TextStyle
from swzverify.report.text import render_text
from swzverify.search.cures import Cure
from swzverify.spec.deciding import DecidingConstant

CURE = Cure("A", "pad 1 after every 32 elements", "1 wavefront (minimum 1) instead of 32", "124 bytes more")
SAID = "A: pad 1 after every 32 elements: 1 wavefront (minimum 1) instead of 32; 124 bytes more"


@pytest.fixture
def report(refuted):
    return Report((replace(refuted, cures=(CURE,), deciding=(DecidingConstant("PAD", 0, 4, "A"),)),))


def test_text_says_what_would_help(report):
    lines = [line.split(maxsplit=1) for line in render_text(report, TextStyle(width=140)).splitlines()]
    assert ["cure", SAID] in lines
    assert ["decides", "PAD = 0 at line 4, in the layout of A"] in lines


def test_an_annotation_says_it_too(report):
    command = render_github(report).splitlines()[0]
    assert "line=31" in command
    assert "decides: PAD = 0 at line 4, in the layout of A%0Acure: A: pad 1" in command


def test_sarif_points_at_the_constant(report):
    (result,) = json.loads(render_sarif(report))["runs"][0]["results"]
    (place,) = result["relatedLocations"]
    assert place["physicalLocation"]["region"] == {"startLine": 4}
    assert place["message"]["text"].startswith("PAD = 0")
    assert "cure" in result["message"]["text"]


def test_json_and_markdown_have_both(report):
    (claim,) = json.loads(render_json(report))["claims"]
    assert claim["cures"][0]["gives"] == CURE.gives
    assert claim["deciding"] == [{"name": "PAD", "value": 0, "line": 4, "tile": "A"}]
    assert "cure" in render_markdown(report)
