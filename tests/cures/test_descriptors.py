"""What mends an operand that reads other elements: the cure that the library names, and only proved ones."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from swzverify.claims import Delivers, Outcome
from swzverify.prover import prove
from swzverify.search.cures import descriptors, find_operand_cures
from swzverify.search.cures.work import Work
from swzverify.spec import load_spec
from swzverify.spec.build import SpecClaim

FOLDER = Path(__file__).parents[2] / "specs" / "operands"
MISTAKES = [
    claim
    for path in sorted(FOLDER.glob("mistake_*.swz.yaml"))
    for claim in load_spec(path).claims
    if claim.expected is Outcome.REFUTED
]


def _named(claim: SpecClaim) -> list[str]:
    """The cure at the end of the library's reason."""
    found = re.search(r"; cure: (.*)$", claim.because)
    return [] if found is None else [found[1]]


@pytest.mark.parametrize("claim", MISTAKES, ids=[claim.subject for claim in MISTAKES])
def test_the_cure_that_the_library_names_is_found(claim: SpecClaim) -> None:
    assert isinstance(claim.claim, Delivers)
    changes = [
        re.sub(" and (?=sbo)", ", ", cure.change.removesuffix(", the two exchanged"))
        for cure in find_operand_cures(claim.claim)
    ]
    for named in _named(claim):
        assert named in changes
    if not _named(claim):
        assert changes == []  # steps along K are the kernel's expression


def test_there_are_mistakes_with_a_cure_and_without() -> None:
    assert {bool(_named(claim)) for claim in MISTAKES} == {True, False}
    assert len(MISTAKES) >= 9


@pytest.mark.parametrize("claim", MISTAKES, ids=[claim.subject for claim in MISTAKES])
def test_what_is_not_proved_is_no_cure(claim: SpecClaim, monkeypatch: pytest.MonkeyPatch) -> None:
    assert isinstance(claim.claim, Delivers)
    monkeypatch.setattr(Work, "proves", lambda *_: False)
    assert find_operand_cures(claim.claim) == ()


def test_each_cure_is_proved_again(monkeypatch: pytest.MonkeyPatch) -> None:
    taken: list[Delivers] = []
    sound = Work.proves

    def noted(self: Work, claim: Delivers) -> bool:
        holds = sound(self, claim)
        if holds:
            taken.append(claim)
        return holds

    monkeypatch.setattr(descriptors.Work, "proves", noted)
    of_operands = [claim.claim for claim in MISTAKES if isinstance(claim.claim, Delivers)]
    cures = [cure for claim in of_operands for cure in find_operand_cures(claim)]
    assert len(taken) == len(cures) >= 6
    assert all(prove(claim).outcome is Outcome.PROVED for claim in taken)
