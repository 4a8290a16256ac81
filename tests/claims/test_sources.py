"""Copies that say where they read: what a verdict names, what is refused, and what does not go that way."""

from __future__ import annotations

import pytest

from swzverify.apps.diff.change import Direction
from swzverify.apps.diff.subjects import access_changes
from swzverify.certificates.make import Claimed, certify
from swzverify.claims import Aligned, ConflictFree
from swzverify.claims.wavefronts import Wavefronts
from swzverify.errors import SwzError
from swzverify.gpu.plan import not_run
from swzverify.prover import judge, prove
from swzverify.search.costs import cost
from swzverify.spec import SpecError
from swzverify.spec.load import parse_spec
from swzverify.subjects import Access

SPEC = """swzverify: 1
target: sm_90
accesses:
  copy: {{instruction: {instruction}, threads: 32, address: lane*32, {more}}}
claims:
  - conflict_free: copy
"""
SAME = "source: {address: lane*32, base: 0}"


def read(more: str, instruction: str = "cp.async.16") -> Access:
    return parse_spec(SPEC.format(more=more, instruction=instruction), path="k.swz.yaml").cases[0].accesses["copy"]


def code(more: str, instruction: str = "cp.async.16") -> str:
    with pytest.raises(SpecError) as caught:
        read(more, instruction)
    return caught.value.problems[0].code


def test_the_source_decides_and_the_scope_names_it() -> None:
    assert prove(Wavefronts(read(SAME), exactly=8)).outcome.value == "proved"
    verdict = prove(Wavefronts(read("weight: 1"), exactly=32))
    assert verdict.outcome.value == "proved"
    assert verdict.scope.endswith("assuming that each octet reads one 128-byte line in order")
    assert prove(Wavefronts(read(SAME), exactly=8)).scope.endswith("sources at lane*32, base 0")


def test_without_a_base_the_array_begins_anywhere() -> None:
    verdict = prove(ConflictFree(read("source: lane*32")))
    assert verdict.counterexample is not None
    assert verdict.counterexample.columns[-1] == "source"
    assert verdict.counterexample.binding["source.base"] % 16 == 0
    assert prove(Wavefronts(read("source: lane*32"), exactly=8)).outcome.value == "refuted"


def test_lanes_that_read_one_chunk_leave_it_open() -> None:
    # lanes l and l + 16 read one chunk: at least 8, and the rest is not known
    access = read("source: {address: lane%16*32, base: 0}")
    verdict = prove(Wavefronts(access, at_most=31))
    assert verdict.outcome.value == "unknown"
    assert "read the same 16 bytes" in verdict.reason
    assert prove(Wavefronts(access, at_most=32)).outcome.value == "proved"
    refuted = prove(Wavefronts(access, at_most=4))
    assert refuted.outcome.value == "refuted"
    assert "at least" in refuted.reason


def test_a_misaligned_source_faults() -> None:
    access = read("source: {address: lane*8, base: 0}")
    for claim in (Aligned(access), ConflictFree(access)):
        verdict = prove(claim)
        assert verdict.outcome.value == "refuted"
        assert "lane 1's source 8 is no multiple of 16" in verdict.reason


@pytest.mark.parametrize(
    ("more", "instruction", "wanted"),
    [
        ("source: lane*8", "cp.async.8", "SWZ105"),
        ("source: lane*16", "ld.shared.v4.b32", "SWZ105"),
        ("source: b*16, lanes: {b: 2}", "cp.async.16", "SWZ206"),
        ("source: lane*16 - 16", "cp.async.16", "SWZ306"),
        ("source: lanes*16", "cp.async.16", "SWZ301"),
        ("source: {address: lane*16, base: {align: 24}}", "cp.async.16", "SWZ105"),
    ],
)
def test_what_is_refused(more: str, instruction: str, wanted: str) -> None:
    assert code(more, instruction) == wanted


def test_what_knows_destinations_only_refuses_or_says_so(tmp_path) -> None:
    access = read(SAME)
    with pytest.raises(SwzError, match="depends on where it reads"):
        cost(access)
    claim = Wavefronts(access, at_most=8)
    assert "says where it reads" in not_run(claim)
    assert not not_run(Wavefronts(read("weight: 1"), at_most=32))
    with pytest.raises(SwzError, match="says where a copy reads"):
        certify(str(tmp_path), Claimed("k", "k", "", 1, {}), judge(claim), {})


def test_a_change_of_the_source() -> None:
    before, other, none = read(SAME), read("source: {address: lane*16, base: 0}"), read("weight: 1")
    assert [each.direction for each in access_changes(before, other, "conflict_free")] == [Direction.NEITHER]
    assert [each.direction for each in access_changes(before, none, "conflict_free")] == [Direction.WEAKER]
    assert not access_changes(before, read(SAME), "conflict_free")
