"""A device named as evidence: only for what it measured in full, on its own kind of chip, the rule
confirmed.
"""

from __future__ import annotations

import dataclasses

import pytest

from swzverify.claims import ConflictFree, Injective, Outcome, Wavefronts
from swzverify.gpu.evidence import by_calibration, by_recording
from swzverify.gpu.recording import RecordedCost, RecordedSubject, digest
from swzverify.hardware import find_instruction, find_target
from swzverify.ir.c_parse import parse
from swzverify.layout import Layout
from swzverify.prover import prove
from swzverify.subjects import Access, Tile
from swzverify.subjects.loop import Loop
from tests.gpu.test_calibration import ABOUT, honest
from tests.gpu.test_recording import GOOD, access, recording


def test_the_label() -> None:
    claim = ConflictFree(access())
    verdict = prove(claim)
    found = by_recording(claim, verdict, recording())
    assert verdict.outcome is found.outcome is Outcome.PROVED
    assert found.evidence == "measured on A GPU"
    assert "(measured on A GPU)" in found.scope


@pytest.mark.parametrize(
    "other",
    [access("tid*16 + 16"), access(instruction="ld.shared.v4.b32"), access(target="sm_80"), access("tid % 32 * 16")],
)
def test_another_access_has_no_label(other: Access) -> None:
    verdict = prove(ConflictFree(other))
    assert by_recording(ConflictFree(other), verdict, recording()) == verdict


@pytest.mark.parametrize(
    "subject",
    [
        RecordedSubject("a", "x", 64, 1024, False, True, GOOD),
        RecordedSubject("a", "x", 64, 1024, True, False, GOOD),
        RecordedSubject("a", "x", 64, 1024, True, True, None),
        RecordedSubject("a", "x", 64, 1024, True, True, RecordedCost(3, 2, 4, True)),
        RecordedSubject("a", "x", 64, 1024, True, True, RecordedCost(3, 3, 4, False)),
        RecordedSubject("a", "x", 64, 1024, True, True, RecordedCost(0, 0, 0, True)),
    ],
)
def test_what_was_not_measured_whole_has_no_label(subject: RecordedSubject) -> None:
    claim = ConflictFree(access())
    verdict = prove(claim)
    assert by_recording(claim, verdict, recording(subject)) == verdict


def test_another_chip_has_no_label() -> None:
    claim = ConflictFree(access())
    verdict = prove(claim)
    ampere = dataclasses.replace(recording(), capability=80)
    assert by_recording(claim, verdict, ampere) == verdict


def test_what_rests_on_no_cost_has_no_label() -> None:
    claim = Injective(Tile("A", 16, Layout((8, 8), (8, 1))))
    verdict = prove(claim)
    assert by_recording(claim, verdict, recording()) == verdict


def ampere(instruction: str = "ld.shared.v4.b32") -> tuple[ConflictFree, object]:
    claim = ConflictFree(access(instruction=instruction, target="sm_80"))
    return claim, prove(claim)


def calibration(capability: int = 80):
    return dataclasses.replace(honest(), about=dataclasses.replace(ABOUT, capability=capability))


def test_a_calibration_turns_assumed_into_measured() -> None:
    claim, verdict = ampere()
    assert verdict.evidence == "assumed"
    found = by_calibration(claim, verdict, calibration())
    assert found.evidence == "measured on A GPU"
    assert found.outcome is verdict.outcome
    worst = Wavefronts(claim.access, 4)
    assert by_calibration(worst, prove(worst), calibration()).evidence == "measured on A GPU"


def test_a_calibration_that_speaks_of_something_else() -> None:
    claim, verdict = ampere()
    assert by_calibration(claim, verdict, calibration(86)) == verdict
    other, its_verdict = ampere("ld.shared.v2.b32")
    assert by_calibration(other, its_verdict, calibration()) == its_verdict
    wrong = calibration()
    wrong.counted["ld.shared.v4.b32"].wavefronts[5] += 1
    assert by_calibration(claim, verdict, wrong) == verdict
    measured = ConflictFree(access(instruction="ld.shared.v4.b32"))
    assert by_calibration(measured, prove(measured), calibration(90)).evidence == "measured"


def test_an_assumption_less_is_another_access() -> None:
    """What ran under an assumption says nothing of the cases that it excluded."""
    loop = (Loop("k", 0, 4),)
    given = Access(
        "a", find_instruction("ld.shared.b32"), find_target("sm_90"), (32,), loop, address=parse("tid*4 + k*128"),
        bytes=1024, assume=(parse("k < 2"),),
    )  # fmt: skip
    assert digest(given) != digest(dataclasses.replace(given, assume=()))
