"""Scanned accesses as results of the reports that know claims."""

from __future__ import annotations

import json
import os
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
import xmlschema
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft4Validator

from swzverify.apps.commands.scan_reports import rendered
from swzverify.claims.verdict import Outcome
from swzverify.compiled.ptx import Location
from swzverify.compiled.sass import Opcode, SassInstruction, opcode_of
from swzverify.compiled.scan import (
    Claim,
    ClaimVerdict,
    LaneRow,
    OnChip,
    Relation,
    ScannedAccess,
    Verdict,
    Witness,
    WitnessLane,
)
from swzverify.compiled.scan.claim import not_known
from swzverify.compiled.scan.verdict import Decision, WarpTable
from swzverify.errors import Problem
from swzverify.hardware import Kind
from swzverify.report.formats import Format
from swzverify.report.result import ClaimResult, Report
from swzverify.report.scan import ScannedFile
from swzverify.report.scan_claims import KIND, place_of, report_of
from swzverify.report.scan_text import Detail
from tests.report.test_sinks import NASTY

SCHEMAS = Path(__file__).parents[1] / "data" / "schemas"
SARIF = Draft4Validator(json.loads((SCHEMAS / "sarif-schema-2.1.0.json").read_text(encoding="utf-8")))
LANES = tuple(LaneRow(lane, (lane, 0, 0), 8 * lane, 2 * lane % 32, lane % 16 == 0) for lane in range(32))
CONFLICT = Decision(Verdict.CONFLICT, "", 2, 2, 1, engines=("exhaustion",), table=WarpTable(1, LANES))
DEPENDS = Decision(
    Verdict.DEPENDS, "free for n = 1", 32, 32, 1, at_least=True, parameters=("n",), table=WarpTable(0, LANES)
)
FREE = Decision(Verdict.FREE, "", 1, 1, 1, engines=("z3", "exhaustion"))
UNKNOWN = Decision(Verdict.UNKNOWN, "not decided")
PROVED = Claim(ClaimVerdict.PROVED, engines=("z3", "exhaustion"))
REACHED = Decision(Verdict.CONFLICT, "", 3, engines=("exhaustion", "z3"))


def access(decision: Decision, line: int = 7, location: Location | None = None, **words: str) -> ScannedAccess:
    told = {"kernel": "k", "instruction": "ld.shared.u32 %r1, [%r2]", "address": "s + tid.x*8", **words}
    return ScannedAccess(
        kernel=told["kernel"],
        instruction=told["instruction"],
        address=told["address"],
        is_entry=True,
        line=line,
        location=location,
        opcode="ld.shared.u32",
        decision=decision,
        block=(64, 1, 1),
        claims=(PROVED, outside(told["address"])),
    )


def outside(words: str) -> Claim:
    """A claim that a lane breaks for some values of a parameter."""
    lanes = (WitnessLane(31, 1, (63, 0, 0), 8316),)
    return Claim(ClaimVerdict.DEPENDS, words, ("z3",), Witness(lanes, {words: 3}), (words,), (words,))


def file(*accesses: ScannedAccess, name: str = "k.ptx", **sources: str) -> ScannedFile:
    return ScannedFile(name, accesses, {int(number[1:]): path for number, path in sources.items()})


def on_chip(decision: Decision, relation: Relation, chip: Decision) -> ScannedAccess:
    """An access with machine code that has another verdict."""
    code = SassInstruction("LDS.128", opcode_of("LDS.128") or Opcode(Kind.LOAD, 128), None)
    return replace(access(decision), chip=OnChip(relation, ((code, 1),), chip))


def of_kind(report: Report, kind: str) -> list[ClaimResult]:
    return [result for result in report.results if result.kind == kind]


def test_claims_are_results_where_they_are_decided() -> None:
    one = access(FREE)
    one = replace(
        one, claims=(one.aligned, not_known("the size of z is not known: give the dynamic shared memory by --smem"))
    )
    report = report_of([file(access(FREE), one)])
    assert [each.verdict.outcome for each in of_kind(report, "aligned")] == [Outcome.PROVED, Outcome.PROVED]
    (found,) = of_kind(report, "in_bounds")
    assert found.verdict.outcome is Outcome.REFUTED
    assert "for some values of s + tid.x*8" in found.verdict.scope
    assert found.verdict.counterexample is not None
    assert found.verdict.counterexample.rows[0].cells == (1, 31, (63, 0, 0), 8316)


def test_outcomes_and_costs() -> None:
    report = report_of([file(*map(access, (CONFLICT, DEPENDS, FREE, UNKNOWN, REACHED)))])
    report = replace(report, results=tuple(of_kind(report, KIND)))
    outcomes = [result.verdict.outcome for result in report.results]
    refuted, proved = Outcome.REFUTED, Outcome.PROVED
    assert outcomes == [refuted, refuted, proved, Outcome.UNKNOWN, refuted]
    costs = [result.verdict.measure for result in report.results]
    assert [None if cost is None else (cost.wavefronts, cost.exact) for cost in costs] == [
        (2, True), (32, False), (1, True), None, None
    ]  # fmt: skip
    # Without a measure the scope tells a worse conflict apart.
    assert "3-way conflict" in report.results[4].verdict.scope
    assert "for some values of n" in report.results[1].verdict.scope


def test_names_have_no_line_and_no_register_and_are_different() -> None:
    one = report_of([file(access(CONFLICT, 7), access(CONFLICT, 9, address="s + loop@8*4"))])
    moved = access(CONFLICT, 17, instruction="ld.shared.u32 %r9, [%r8]")
    other = report_of([file(moved, access(CONFLICT, 19, address="s + loop@18*4"))])
    assert [each.id for each in one.results] == [each.id for each in other.results]
    same = report_of([file(access(CONFLICT), access(CONFLICT)), file(access(CONFLICT), name="b.ptx")])
    assert len({each.id for each in same.results}) == 9


@pytest.mark.parametrize(
    ("location", "place"),
    [
        (None, ("k.ptx", 7)),
        (Location(1, 5, 0), ("src/k.cu", 5)),
        (Location(1, 0, 0), ("k.ptx", 7)),
        (Location(9, 5, 0), ("k.ptx", 7)),  # a file that no `.file` numbers
        (Location(2, 5, 0), ("/usr/include/cub.h", 5)),
        (Location(2, 5, 0, "f", Location(1, 6, 0)), ("src/k.cu", 6)),
        (Location(3, 5, 0, "f", Location(1, 6, 0)), ("src/k.h", 5)),
        (Location(2, 5, 0, "f", Location(2, 6, 0)), ("/usr/include/cub.h", 5)),
        (Location(2, 5, 0, "f", Location(2, 6, 0, "g", Location(1, 8, 0))), ("src/k.cu", 8)),
    ],
)
def test_places(
    location: Location | None, place: tuple[str, int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    found = file(_1=f"{tmp_path}/src/k.cu", _2="/usr/include/cub.h", _3=os.path.join("src", "k.h"))
    assert place_of(found, access(CONFLICT, 7, location)) == place


def harmless(found: Sequence[ScannedFile]) -> tuple[str, list[str]]:
    """The report as text, and the commands of that for GitHub.

    Each format must be readable, and no hidden character may get through.
    """
    report = report_of(found)
    texts = {form: rendered(found, report, 1, form) for form in Format}
    SARIF.validate(json.loads(texts[Format.SARIF]))
    json.loads(texts[Format.JSON])
    for line in texts[Format.JSONL].splitlines():
        json.loads(line)
    shown = set(texts[Format.TEXT]) - {"\n"}
    assert not [each for each in shown if unicodedata.category(each) in ("Cc", "Cf", "Cs", "Zl", "Zp")]
    commands = [line for line in texts[Format.GITHUB].split("\n") if re.match(r"\s*(::|##\[|##vso|##teamcity)", line)]
    assert all(line.startswith(("::error ", "::warning ")) for line in commands)
    return texts[Format.TEXT], commands


@settings(deadline=None, max_examples=40)
@given(NASTY, NASTY, NASTY, st.sampled_from([CONFLICT, DEPENDS, UNKNOWN, REACHED]))
def test_hostile_names_in_every_format(name: str, source: str, words: str, decision: Decision) -> None:
    one = access(decision, 7, Location(1, 3, 0), kernel=words, instruction=words, address=words)
    found = [
        ScannedFile(name, (one,), {1: source}, (Problem("SWZ532", words, line=3, file=name),), words, {words: (words,)})
    ]
    _, commands = harmless(found)
    assert len(commands) == 3


def test_junit_is_valid() -> None:
    found = [file(*map(access, (CONFLICT, FREE, UNKNOWN)))]
    text = rendered(found, report_of(found), 1, Format.JUNIT)
    names = sorted(SCHEMAS.glob("*.xsd"))
    assert names
    for name in names:
        xmlschema.XMLSchema(name).validate(text)


WIDE = Decision(Verdict.FREE, "", 1, 4, 4, engines=("z3", "exhaustion"))


@pytest.mark.parametrize(
    ("ptx", "relation", "chip", "outcome"),
    [
        (CONFLICT, Relation.MERGED, WIDE, Outcome.PROVED),
        (DEPENDS, Relation.MERGED, WIDE, Outcome.PROVED),
        (FREE, Relation.SAME, CONFLICT, Outcome.REFUTED),
        (FREE, Relation.SPLIT, DEPENDS, Outcome.REFUTED),
        (UNKNOWN, Relation.MERGED, CONFLICT, Outcome.REFUTED),
        # What the machine code leaves open is as the PTX says.
        (CONFLICT, Relation.NONE, UNKNOWN, Outcome.REFUTED),
        (FREE, Relation.NONE, UNKNOWN, Outcome.PROVED),
        (UNKNOWN, Relation.UNKNOWN, UNKNOWN, Outcome.UNKNOWN),
    ],
)
def test_machine_code_has_the_last_word(ptx: Decision, relation: Relation, chip: Decision, outcome: Outcome) -> None:
    files = [file(on_chip(ptx, relation, chip))]
    report = report_of(files)
    (found,) = of_kind(report, KIND)
    assert found.verdict.outcome is outcome
    settled = ptx if chip is UNKNOWN else chip
    assert (found.verdict.measure is None) == (settled.wavefronts is None)
    differs = settled is not ptx
    assert any("in the PTX:" in note for note in found.verdict.notes) == differs
    results = json.loads(rendered(files, report, 0, Format.SARIF))["runs"][0]["results"]
    level = {Outcome.PROVED: None, Outcome.REFUTED: "error", Outcome.UNKNOWN: "warning"}[outcome]
    assert [each["level"] for each in results if each["ruleId"] == KIND and each["level"] != "none"] == (
        [level] if level else []
    )
    github = rendered(files, report, 0, Format.GITHUB)
    assert ("::error title=bank_conflicts" in github) == (level == "error")
    assert json.loads(rendered(files, report, 0, Format.JSON))["accesses"][0]["settled"] == settled.verdict.value
    shown = rendered(files, report, 0, Format.TEXT, detail=Detail(-1))
    assert (f"with the machine code: 1 {settled.verdict}" in shown) == (chip is not UNKNOWN)
