"""`wavefronts` with `exactly`: both halves, each refuted by itself, and what it is about."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from swzverify.claims import Wavefronts
from swzverify.engines.obligations import Answer, Finding
from swzverify.errors import SwzError
from swzverify.prover import judgement, prove
from swzverify.prover.panel import Panel
from swzverify.spec.load import parse_spec

SPEC = """\
swzverify: 1
accesses:
  pairs: {{instruction: ld.shared.b32, threads: 64, address: tid*8}}
  halves: {{instruction: ld.shared.b32, threads: 64, address: "warp ? tid*4 : tid*32"}}
  loop: {{instruction: ld.shared.b32, threads: 32, for: {{s: [1, 2, 4, 8]}}, address: tid*4*s}}
  own: {{instruction: ld.shared.b32, threads: 32, lanes: {{b: 4}}, address: b*128 + lane*4}}
  table: {{instruction: ld.shared.b32, threads: 32, lanes: {{b: 4}}, address: b*128}}
  wide: {{instruction: ld.shared.v4.b32, threads: 32, address: tid*16}}
  odd: {{instruction: ld.shared.b32, threads: 32, address: tid*2}}
  idle: {{instruction: ld.shared.b32, threads: 32, if: tid < 0, address: tid*8}}
  one: {{instruction: ld.shared.b32, threads: 1, for: {{s: any}}, address: tid*4}}
claims: [wavefronts: {{access: {access}, exactly: {number}}}]
"""


def verdict(access: str, number: int) -> Any:
    [entry] = parse_spec(SPEC.format(access=access, number=number)).claims
    return prove(entry.claim)


@pytest.mark.parametrize(
    ("access", "number"),
    [("pairs", 2), ("halves", 8), ("loop", 8), ("own", 1), ("table", 4), ("wide", 4), ("one", 1)],
)
def test_the_worst_case_is_the_number(access: str, number: int) -> None:
    found = verdict(access, number)
    assert found.outcome.value == "proved", found.reason
    assert found.measure.wavefronts == number
    fewer, more = verdict(access, number - 1) if number > 1 else None, verdict(access, number + 1)
    if fewer is not None:
        assert fewer.outcome.value == "refuted"
        assert f"where exactly {number - 1} are claimed" in fewer.reason
        assert fewer.counterexample.rows
    assert more.outcome.value == "refuted"
    assert more.reason == f"no warp instruction takes {number + 1} wavefronts: the worst takes {number}"


def test_more_than_lanes_can_take_is_never_reached() -> None:
    found = verdict("pairs", 33)
    assert (found.outcome.value, found.measure.wavefronts) == ("refuted", 2)


def test_what_never_runs_is_vacuous_and_what_faults_is_refuted() -> None:
    assert verdict("idle", 1).outcome.value == "vacuous"
    assert verdict("odd", 1).outcome.value == "refuted"
    assert "multiple" in verdict("odd", 1).reason


def engines_say(monkeypatch: pytest.MonkeyPatch, access: str, number: int, answer: Answer, point: Any) -> Any:
    """The verdict where no measure is known, and every engine says so of the other half."""
    monkeypatch.setattr(judgement, "_measure", lambda *_: None)
    original_smt, original_natives = Panel.smt, Panel.natives

    def changed(finding: Finding, obligation: Any) -> Finding:
        if getattr(obligation, "at_most", None) == number - 1:
            return replace(finding, answer=answer, point=point)
        return finding

    monkeypatch.setattr(Panel, "smt", lambda self, goal: changed(original_smt(self, goal), goal))
    monkeypatch.setattr(
        Panel, "natives", lambda self, goal: [changed(each, goal) for each in original_natives(self, goal)]
    )
    return verdict(access, number)


def test_without_a_measure_the_other_half_is_a_question_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(judgement, "_measure", lambda *_: None)
    assert [verdict("halves", number).outcome.value for number in (7, 8, 9)] == ["refuted", "proved", "refuted"]


def test_an_open_half_is_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    found = engines_say(monkeypatch, "halves", 8, Answer.UNDECIDED, None)
    assert found.outcome.value == "unknown"
    assert "at most 8 is proved" in found.reason


@pytest.mark.parametrize("point", [{"warp": 1}, {"warp": 0}])
def test_a_point_that_does_not_take_so_many_is_a_fault(monkeypatch: pytest.MonkeyPatch, point: dict[str, int]) -> None:
    """Warp 1 takes one wavefront, whatever an engine says; warp 0 takes eight."""
    found = engines_say(monkeypatch, "halves", 8, Answer.FAILS, point)
    assert found.outcome.value == ("error" if point["warp"] else "proved")


def test_a_claim_has_one_number() -> None:
    [entry] = parse_spec(SPEC.format(access="pairs", number=2)).claims
    access = entry.claim.subjects[0]
    for numbers, code in (({}, "SWZ104"), ({"at_most": 2, "exactly": 2}, "SWZ105"), ({"exactly": 0}, "SWZ105")):
        with pytest.raises(SwzError) as caught:
            Wavefronts(access, **numbers)  # type: ignore[arg-type]
        assert caught.value.code == code


@pytest.mark.parametrize(
    ("before", "after", "way"),
    [
        ({"at_most": 4}, {"exactly": 4}, "stronger"),
        ({"at_most": 4}, {"exactly": 5}, "weaker"),
        ({"exactly": 4}, {"at_most": 4}, "weaker"),
        ({"exactly": 4}, {"at_most": 2}, "weaker"),
        ({"exactly": 4}, {"exactly": 2}, "weaker"),
        ({"at_most": 4}, {"at_most": 2}, "stronger"),
        ({"at_most": 2}, {"at_most": 4}, "weaker"),
    ],
)
def test_what_another_number_says(before: dict[str, int], after: dict[str, int], way: str) -> None:
    [entry] = parse_spec(SPEC.format(access="pairs", number=2)).claims
    access = entry.claim.subjects[0]
    [change] = Wavefronts(access, **before).number_changes(Wavefronts(access, **after))  # type: ignore[arg-type]
    assert change.direction.value == way
