"""A claim on kernels needs a row of the registry and its own file: the scan's text, JSON, reports and
rules have it then.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from types import ModuleType

import pytest

from swzverify.compiled import kinds
from swzverify.compiled.kinds import SCAN_CLAIMS, ScanClaim
from swzverify.compiled.ptx import read_module
from swzverify.compiled.scan import Claim, ClaimVerdict, ScannedAccess, claims
from swzverify.compiled.scan.subject import Subject
from swzverify.report import scan, scan_claims, scan_text
from swzverify.report.sarif import render_sarif
from swzverify.report.scan import ScannedFile, scan_json
from tests.scan.whole import scan_module

TEXT = """\
.version 8.3
.target sm_90
.address_size 64
.shared .align 8 .b8 s[512];
.entry k() {
  .reg .b32 %r<5>;
  mov.u32 %r1, %tid.x;
  shl.b32 %r1, %r1, 3;
  mov.u32 %r2, s;
  add.u32 %r2, %r2, %r1;
  ld.shared.u32 %r3, [%r2];
  ld.shared.v2.u32 {%r3, %r4}, [%r2];
  ret;
}
"""
NARROW = ScanClaim(
    "narrow", "narrow", "wide", ("narrow", "is_narrow"), "Each lane touches 4 bytes at most.", "Use a narrower type."
)


def is_narrow(subject: Subject) -> Claim:
    if subject.width <= 4:
        return Claim(ClaimVerdict.PROVED, engines=("width",))
    return Claim(ClaimVerdict.REFUTED, f"each lane touches {subject.width} bytes")


@pytest.fixture
def add(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    def put() -> None:
        module = ModuleType("swzverify.compiled.scan.narrow")
        vars(module)["is_narrow"] = is_narrow
        monkeypatch.setitem(sys.modules, module.__name__, module)
        for each in (kinds, claims, scan, scan_text):
            monkeypatch.setattr(each, "SCAN_CLAIMS", (*SCAN_CLAIMS, NARROW))
        monkeypatch.setattr(ScannedAccess, "kinds", (*SCAN_CLAIMS, NARROW))
        monkeypatch.setattr(scan_claims, "SCAN_CLAIMS", (*SCAN_CLAIMS, NARROW))

    return put


def test_a_new_row_is_judged_and_shown_everywhere(add: Callable[[], None]) -> None:
    before = scan_module(read_module(TEXT, "k.ptx"), (32, 1, 1))
    assert "narrow" not in scan_text.scan_text([ScannedFile("k.ptx", tuple(before), {})])
    add()
    found = scan_module(read_module(TEXT, "k.ptx"), (32, 1, 1))
    assert [each.claim("narrow").verdict.value for each in found] == ["proved", "refuted"]
    assert [(each.aligned, each.in_bounds) for each in found] == [(each.aligned, each.in_bounds) for each in before]
    file = ScannedFile("k.ptx", tuple(found), {})
    text = scan_text.scan_text([file])
    assert "not narrow: each lane touches 8 bytes" in text
    assert "narrow: 1 proved, 1 refuted" in text
    records = json.loads(scan_json([file]))["accesses"]
    assert [each["narrow"]["verdict"] for each in records] == ["proved", "refuted"]
    report = scan_claims.report_of([file])
    told = [(each.kind, each.verdict.outcome.value) for each in report.results if each.kind == "narrow"]
    assert told == [("narrow", "proved"), ("narrow", "refuted")]


def test_reports_that_list_rules_have_those_of_the_registry() -> None:
    file = ScannedFile("k.ptx", tuple(scan_module(read_module(TEXT, "k.ptx"), (64, 1, 1))), {})
    run = json.loads(render_sarif(scan_claims.report_of([file]), vocabulary=scan_claims.VOCABULARY))["runs"][0]
    rules = {each["id"]: each["shortDescription"]["text"] for each in run["tool"]["driver"]["rules"]}
    assert {each.kind: each.meaning for each in SCAN_CLAIMS}.items() <= rules.items()
    assert {each.failure: each.kind for each in SCAN_CLAIMS}.items() <= scan_claims.KINDS.items()
