"""JUnit XML: valid against the two schemas in use, every claim a case, and no word of a spec is
markup.
"""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from datetime import UTC, datetime
from functools import cache
from pathlib import Path

import pytest
import xmlschema
from hypothesis import given, settings
from hypothesis import strategies as st

from swzverify.report.escape import prose, visible, xml_text
from swzverify.report.junit import render_junit
from swzverify.report.result import Report
from swzverify.report.story import headline
from tests.report.conftest import hostile_claim, hostile_problem

SCHEMAS = Path(__file__).parents[1] / "data" / "schemas"
TAGS = {"testsuites", "testsuite", "properties", "property", "testcase", "failure", "error", "skipped"}
TAGS |= {"system-out", "system-err"}


@cache
def schema(name: str) -> xmlschema.XMLSchema:
    return xmlschema.XMLSchema(SCHEMAS / name)


def parsed(report: Report, **options) -> ET.Element:
    """The document, read by a parser, after both schemas have taken it."""
    text = render_junit(report, **options)
    assert text.isascii()
    for name in ("windyroad-junit.xsd", "jenkins-junit-10.xsd"):
        schema(name).validate(text)
    root = ET.fromstring(text.encode("ascii"))  # noqa: S314 - our own
    assert {element.tag for element in root.iter()} <= TAGS
    return root


def squeezed(text: str) -> str:
    """A text without its white space and without the escapes that a log's lines get, which folding
    puts anywhere.
    """
    return re.sub(r"\s", "", text).replace("\\x3a:", "::").replace("\\x23#", "##")


def test_a_suite_a_file_and_a_case_a_claim(mixed):
    root = parsed(mixed, version="1.2", at=datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC))
    assert [suite.get("name") for suite in root] == [
        "specs/hopper.swz.yaml", "specs/b c.swz.yaml", "specs/a.swz.yaml", "no.swz.yaml",
    ]  # fmt: skip
    first = root[0]
    assert {key: first.get(key) for key in ("tests", "failures", "errors", "skipped", "timestamp", "package")} == {
        "tests": "7", "failures": "3", "errors": "1", "skipped": "0", "timestamp": "2026-01-02T03:04:05",
        "package": "specs",
    }  # fmt: skip
    assert [suite.get("id") for suite in root] == ["0", "1", "2", "3"]
    properties = {each.get("name"): each.get("value") for each in first.find("properties")}
    assert properties == {"swzverify.version": "1.2", "swzverify.exit_code": "2", "spec": "specs/hopper.swz.yaml"}
    assert first.find("testcase").attrib == {
        "classname": "specs/hopper.swz.yaml", "name": "read_A::conflict_free", "time": "1.200",
    }  # fmt: skip
    names = [case.get("name") for case in root.iter("testcase")]
    assert len(set(names)) == len(names) == 10


def test_each_kind_of_result(mixed):
    cases = {case.get("name").partition("::")[0]: case for case in parsed(mixed).iter("testcase")}
    found = {name: [(child.tag, child.get("type")) for child in case] for name, case in cases.items()}
    assert found == {
        "read_A": [],
        "naive_read": [("failure", "refuted")],
        "documented": [],
        "late": [("failure", "unknown")],
        "never": [("failure", "vacuous")],
        "broken": [("error", "error")],
        "open": [],
        "known": [("skipped", None)],
        "SWZ104 at 3:5": [("error", "SWZ104 an unknown or missing key")],
        "SWZ501": [("error", "SWZ501 no such file or folder")],
    }
    failure = cases["naive_read"][0]
    assert (
        failure.get("message") == "conflict_free naive_read: refuted, expected proved: 8 lanes read 8 words of bank 0"
    )
    assert "at        specs/hopper.swz.yaml:31\n" in failure.text
    assert re.search(r"^ +A +7 +\(7, 0\) +448 +1920 +0x780 +480 +0$", failure.text, re.MULTILINE)
    assert "did you mean 'tile'?" in cases["SWZ104 at 3:5"][0].text


def test_the_output_is_the_text_report_of_the_file(mixed):
    suites = parsed(mixed)
    assert suites[0].find("system-out").text.startswith("specs/hopper.swz.yaml\n")
    assert suites[1].find("system-out").text.startswith("specs/b c.swz.yaml\n")
    assert suites[2].find("system-err").text.startswith("specs/a.swz.yaml:3:5: SWZ104")


def test_no_claim_is_no_success_unless_it_is_allowed():
    root = parsed(Report(()))
    assert [(case.get("name"), case[0].tag) for case in root.iter("testcase")] == [("no claim found", "error")]
    assert root[0].get("errors") == "1"
    assert list(parsed(Report(()), exit_code=0)) == []


def test_it_is_dated_in_utc_and_now_without_a_date(make):
    zone = datetime.fromisoformat("2026-01-02T03:04:05+02:00")
    report = Report((make(),))
    assert parsed(report, at=zone)[0].get("timestamp") == "2026-01-02T01:04:05"
    stamp = datetime.fromisoformat(parsed(report)[0].get("timestamp")).replace(tzinfo=UTC)
    assert abs((datetime.now(UTC) - stamp).total_seconds()) < 3600


def test_a_stranger_s_words_are_text(hostile, evil):
    root = parsed(hostile)
    assert len(root) == 1
    cases = list(root.iter("testcase"))
    assert len(cases) == 3
    claim = hostile.results[0]
    for case, result in zip(cases, hostile.results, strict=False):
        assert case.get("classname") == root[0].get("name") == prose(evil)
        assert case.get("name") == prose(f"{evil}::injective")
        assert case[0].get("message") == xml_text(headline(result))
    assert cases[2][0].get("message") == xml_text(evil)
    for words in (claim.because, claim.verdict.scope, claim.source):
        assert squeezed(visible(" ".join(words.split()))) in squeezed(cases[0][0].text)


@settings(max_examples=25)
@given(st.text(st.characters(), min_size=1))
def test_any_text_makes_a_valid_document(text):
    root = parsed(Report((hostile_claim(text),), (hostile_problem(text),)))
    assert len(list(root.iter("testcase"))) == 2


@pytest.mark.parametrize("name", ["windyroad-junit.xsd", "jenkins-junit-10.xsd"])
def test_the_schemas_refuse_what_is_wrong(mixed, name):
    text = render_junit(mixed)
    for wrong in (text.replace("<testcase ", "<testkase "), text.replace(' tests="', ' test="')):
        assert wrong != text
        assert not schema(name).is_valid(re.sub(r"</testcase>", "</testkase>", wrong) if "testkase" in wrong else wrong)
