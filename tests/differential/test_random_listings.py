"""Random listings, every verdict and both counts against the oracle's."""

from __future__ import annotations

import json
import random
from collections import Counter
from dataclasses import dataclass, field

import pytest

from swzverify.claims.listing_claim import ListingClaim
from swzverify.prover import Options, prove
from swzverify.spec.load import parse_spec
from tests.nightly import share
from tests.oracle.listings import conflicts_of, verdict_of
from tests.oracle.random_listings import listing_spec
from tests.oracle.yaml_values import Spec, as_dict

SPECS = 400
CHUNK = 50


@dataclass
class Outcome:
    """What came of some specs: the verdicts, and in words whatever differs."""

    verdicts: Counter[str] = field(default_factory=Counter[str])
    differing: list[str] = field(default_factory=list[str])


def drawn(seed: int) -> Spec:
    return listing_spec(random.Random(seed), has_places=seed % 4 == 3)


def compared(seeds: range, *, every_engine_each: int = 10) -> Outcome:
    """The tool and the oracle on random specs; every so many of them all engines are asked."""
    outcome = Outcome()
    for seed in seeds:
        spec = drawn(seed)
        options = Options(every_engine=seed % every_engine_each == 0)
        try:
            read = parse_spec(json.dumps(spec))
        except Exception as error:  # noqa: BLE001 - a planted mistake may break anything
            outcome.differing.append(f"seed {seed}: {error}")
            continue
        for each in read.claims:
            claim = each.claim
            assert isinstance(claim, ListingClaim)
            found = conflicts_of(as_dict(spec["listings"])[claim.listing.name], "sm_90")
            wanted = verdict_of(found, claim.limit)
            try:
                said = prove(claim, options=options).outcome.value
            except Exception as error:  # noqa: BLE001 - as above
                said = f"{type(error).__name__}: {error}"
            outcome.verdicts[said] += 1
            counts = (claim.listing.most, claim.listing.least)
            if said != wanted or counts != (found.most, found.least):
                outcome.differing.append(f"seed {seed}, {each.id}: {said} {counts}, not {wanted} {found}")
    return outcome


@pytest.mark.parametrize("start", share(range(0, SPECS, CHUNK), 8))
def test_every_verdict_is_the_oracles(start: int) -> None:
    outcome = compared(range(start, start + CHUNK))
    assert not outcome.differing, "\n".join(outcome.differing[:5])
    total = outcome.verdicts.total()
    for verdict, least in (("proved", 0.2), ("refuted", 0.15), ("unknown", 0.1)):
        assert outcome.verdicts[verdict] > least * total, outcome.verdicts
