"""What the comparison lets pass: `unknown`, which is honest, and nothing else."""

from __future__ import annotations

from dataclasses import replace

import pytest

from swzverify.claims.verdict import Measure, Outcome, Verdict, WarpMeasure
from swzverify.prover import Options, prove
from tests.differential import comparison
from tests.differential.comparison import STARVED_RLIMIT, compare, difference
from tests.oracle.judgement import Judgement
from tests.oracle.judgement import Verdict as Oracles
from tests.oracle.yaml_values import Spec

SWAPPED: Spec = {
    "swzverify": 1,
    "target": "sm_90",
    "accesses": {"X": {"instruction": "cp.async.16", "threads": 32, "address": "(lane ^ (lane/2 & 1))*16"}},
    "claims": [{"conflict_free": "X"}, {"wavefronts": {"access": "X", "at_most": 8}}],
}
"""Each octet has its halves in order in two sectors, and swapped in the two others: 8 wavefronts, 4
too many.
"""


def judged(kind: str, verdict: Oracles, alignment: int | None = None) -> Judgement:
    return Judgement(kind, "X", (), verdict, 8, 4, 4, 4, alignment, "access", ((8, 4),), ((8, 4),))


def said(outcome: Outcome, wavefronts: int = 8, *, exact: bool = True, reason: str = "") -> Verdict:
    measure = Measure.of_one(WarpMeasure(wavefronts, 4, {}), exact=exact)
    return Verdict(outcome, "", measure=measure, reason=reason)


@pytest.mark.parametrize("kind", ["conflict_free", "wavefronts"])
def test_costs_are_exact(kind: str) -> None:
    oracle = judged(kind, "refuted")
    assert difference(oracle, said(Outcome.REFUTED)) == ""
    assert "the tool says proved" in difference(oracle, said(Outcome.PROVED))
    assert "worst case" in difference(oracle, said(Outcome.REFUTED, 9))
    # A case that was met on the way need not be the worst one.
    assert difference(oracle, said(Outcome.REFUTED, 7, exact=False)) == ""
    # Who leaves a claim open may still say what the worst case is, and must then be right.
    assert difference(oracle, said(Outcome.UNKNOWN)) == ""
    assert "worst case" in difference(oracle, said(Outcome.UNKNOWN, 9))


def test_both_worst_cases_are_compared() -> None:
    """Several warps can be the slowest, and others the ones with the most conflicts: a report may
    name any of them.
    """
    oracle = replace(judged("conflict_free", "refuted"), slowest=((8, 4), (8, 8)), clashing=((8, 4), (6, 2)))
    whole, partial, wrong = WarpMeasure(8, 8, {}), WarpMeasure(6, 2, {}), WarpMeasure(4, 2, {})

    def measured(*both: WarpMeasure) -> Verdict:
        return Verdict(Outcome.REFUTED, "", measure=Measure(*both))

    assert difference(oracle, measured(whole, partial)) == ""
    assert "4 of 2" in difference(oracle, measured(whole, wrong))
    assert "6 of 2" in difference(oracle, measured(partial, partial))


def test_a_starved_prover_may_name_no_alignment_but_no_wrong_one() -> None:
    oracle = judged("equivalent", "refuted", 256)
    named = "they are equal for every base that is a multiple of {}, and for no smaller power of two"
    none = "no base alignment up to 2^20 makes them equal"
    for starved in (False, True):
        assert difference(oracle, said(Outcome.REFUTED, reason=named.format(256)), starved=starved) == ""
        assert "smallest alignment 256" in difference(
            oracle, said(Outcome.REFUTED, reason=named.format(128)), starved=starved
        )
        assert "smallest alignment 256" in difference(oracle, said(Outcome.REFUTED, reason=none), starved=starved)
    assert difference(oracle, said(Outcome.REFUTED, reason="lane 0 differs"), starved=True) == ""
    assert "smallest alignment 256" in difference(oracle, said(Outcome.REFUTED, reason="lane 0 differs"))


def test_every_claim_is_judged_by_a_starved_prover_too(monkeypatch: pytest.MonkeyPatch) -> None:
    budgets: list[int] = []

    def noted(claim: object, *, options: Options) -> Verdict:
        budgets.append(options.rlimit)
        return prove(claim, options=options)  # type: ignore[arg-type]  # as it came

    monkeypatch.setattr(comparison, "prove", noted)
    outcome = compare(SWAPPED, 1, 5_000_000)
    assert budgets == [5_000_000, STARVED_RLIMIT] * 2
    assert not outcome.disagreements
    assert outcome.claims == 4
    assert outcome.unknown == 0
    assert outcome.verdicts["conflict_free"] == {"refuted": 2}
    assert outcome.verdicts["wavefronts"]["proved"] >= 1
    assert set(outcome.verdicts["wavefronts"]) <= {"proved", "unknown"}


def test_a_starved_prover_that_is_wrong_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def credulous(claim: object, *, options: Options) -> Verdict:
        """Whatever it has no budget for is proved."""
        if options.rlimit == STARVED_RLIMIT:
            return Verdict(Outcome.PROVED, "")
        return prove(claim, options=options)  # type: ignore[arg-type]  # as it came

    monkeypatch.setattr(comparison, "prove", credulous)
    [found] = compare(SWAPPED, 1).disagreements
    assert "conflict_free" in found.claim
    assert found.problem.endswith("the oracle refuted (on a tiny budget)")
