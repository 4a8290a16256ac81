"""Random specs, every verdict and worst case against the brute-force oracle, which shares no code with the package.

The ordinary run draws `ORDINARY_SPECS`; `SWZVERIFY_SPECS=100000 pytest -m nightly` is the long profile. A failure
prints the spec's seed, so that `random_spec(random.Random(seed))` draws it again.
"""

from __future__ import annotations

import json
import os
import random
from collections import defaultdict
from dataclasses import dataclass, field

import pytest

from swzverify.claims.verdict import Outcome, Verdict
from swzverify.prove import Options, prove
from swzverify.spec import SpecError
from swzverify.spec.load import parse_spec
from tests.oracle.brute_force import Judgement, OracleAmbiguousError, OracleError, judge
from tests.oracle.random_specs import random_spec

ORDINARY_SPECS = 2_000
CHUNK = 100
FIRST_SEED = 20_000
EVERY_ENGINE_EACH = 5
"""Every so many specs all engines are asked, not only the first that applies."""


@dataclass
class Comparison:
    """What came of some specs."""

    compared: int = 0
    refused: int = 0
    ambiguous: int = 0
    unknown: int = 0
    disagreements: list[str] = field(default_factory=list)


def compare(seed: int, outcome: Comparison) -> None:
    """One spec, both ways."""
    spec = random_spec(random.Random(seed))
    try:
        expected = judge(spec)
    except OracleAmbiguousError:
        outcome.ambiguous += 1
        return
    except OracleError as error:
        try:
            parse_spec(json.dumps(spec), path="random.swz.yaml")
        except SpecError:
            outcome.refused += 1
        else:
            outcome.disagreements.append(f"seed {seed}: the oracle refuses it ({error}), the tool does not")
        return
    try:
        parsed = parse_spec(json.dumps(spec), path="random.swz.yaml")
    except SpecError as error:
        outcome.disagreements.append(f"seed {seed}: the tool refuses it: {error}")
        return
    by_key: dict[tuple[object, ...], list[Judgement]] = defaultdict(list)
    for judgement in expected:
        by_key[judgement.kind, judgement.subject, judgement.case].append(judgement)
    options = Options(every_engine=seed % EVERY_ENGINE_EACH == 0)
    for claim in parsed.claims:
        varying = tuple(
            (name, value) for name, value in claim.case.items() if isinstance(spec["constants"][name], list)
        )
        # A cover's subject is the access and the tile here, the access alone to the oracle.
        subject = claim.subject.split(",")[0] if claim.kind == "covers" else claim.subject.replace(",", ", ")
        bare = subject.split("[")[0]
        wanted = by_key[claim.kind, bare, varying]
        if not wanted:
            outcome.disagreements.append(f"seed {seed}: {claim.id} is unknown to the oracle")
            continue
        judgement = wanted.pop(0) if len(wanted) > 1 else wanted[0]
        verdict = prove(claim.claim, options=options)
        outcome.compared += 1
        problem = difference(judgement, verdict)
        if problem == "unknown":
            outcome.unknown += 1
        elif problem:
            outcome.disagreements.append(f"seed {seed}: {claim.id}: {problem}")


def difference(judgement: Judgement, verdict: Verdict) -> str:
    """What the tool says otherwise; "unknown" where it gives no answer, which is honest but counted."""
    if verdict.outcome is Outcome.UNKNOWN and judgement.verdict != "unknown":
        return "unknown"
    if verdict.outcome != judgement.verdict:
        return f"the tool says {verdict.outcome} ({verdict.reason}), the oracle {judgement.verdict}"
    measure = verdict.measure
    if measure is not None and measure.exact and judgement.wavefronts is not None:
        if judgement.kind == "wavefronts" and measure.wavefronts != judgement.wavefronts:
            return f"worst case {measure.wavefronts} wavefronts, the oracle {judgement.wavefronts}"
        if judgement.kind == "conflict_free" and measure.bank_conflicts != judgement.most_bank_conflicts:
            return f"worst case {measure.bank_conflicts} conflicts, the oracle {judgement.most_bank_conflicts}"
    if judgement.smallest_base_alignment is not None and str(judgement.smallest_base_alignment) not in verdict.reason:
        return f"smallest alignment {judgement.smallest_base_alignment}, the tool: {verdict.reason}"
    return ""


def run(seeds: range) -> Comparison:
    """A range of seeds."""
    outcome = Comparison()
    for seed in seeds:
        compare(seed, outcome)
    return outcome


@pytest.mark.parametrize("start", range(FIRST_SEED, FIRST_SEED + ORDINARY_SPECS, CHUNK))
def test_every_verdict_is_the_oracles(start: int) -> None:
    outcome = run(range(start, start + CHUNK))
    assert not outcome.disagreements, "\n".join(outcome.disagreements)
    assert outcome.compared > CHUNK
    assert outcome.unknown <= outcome.compared // 50


@pytest.mark.nightly
def test_nightly_profile() -> None:
    count = int(os.environ.get("SWZVERIFY_SPECS", "100000"))
    outcome = run(range(1_000_000, 1_000_000 + count))
    assert not outcome.disagreements, "\n".join(outcome.disagreements)
