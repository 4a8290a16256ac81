"""Random specs, every verdict and worst case against the brute-force oracle, which shares no code
with the package.

The ordinary run draws `ORDINARY_SPECS`; `python -m tests.differential` is the long profile,
`docs/attacks.md` its record. A failure prints the spec's seed:
`tests.differential.comparison.drawn(seed)` draws it again.
"""

from __future__ import annotations

import os

import pytest

from tests.differential.comparison import Comparison, compare_seed
from tests.nightly import SPARSER, share

SPECS = 1_000
ORDINARY_SPECS = 50
CHUNK = 50
FIRST_SEED = 20_000


def run(seeds: range, *, starve: bool = True) -> Comparison:
    """A range of seeds; the starved prover takes as long again as the ordinary one."""
    outcome = Comparison()
    for seed in seeds:
        outcome.add(compare_seed(seed, starve=starve))
    return outcome


def said(outcome: Comparison) -> str:
    return "\n".join(f"seed {each.seed}: {each.claim}: {each.problem}" for each in outcome.disagreements)


EVERY = SPECS // ORDINARY_SPECS // SPARSER


@pytest.mark.parametrize("start", share(range(FIRST_SEED, FIRST_SEED + SPECS, CHUNK), EVERY))
def test_every_verdict_is_the_oracles(start: int) -> None:
    outcome = run(range(start, start + CHUNK), starve=False)
    assert not outcome.disagreements, said(outcome)
    assert outcome.claims > CHUNK
    assert outcome.unknown <= outcome.claims // 50
    assert sum(outcome.ambiguous.values()) <= CHUNK // 20


LEAST_UNKNOWN = 0.05
OFTEN_OPEN = (
    "injective",
    "bijective",
    "in_bounds",
    "conflict_free",
    "wavefronts",
    "covers",
    "equivalent",
    "disjoint",
    "permutation",
)
"""Kinds that Z3 has to search for; `aligned` and `contiguous` it mostly sees through before any
budget counts.
"""


@pytest.mark.nightly
def test_unknown_has_its_share() -> None:
    """A starved prover has no answer, or the oracle's: with it `unknown`, too, is a good part of
    the verdicts.

    One test for all kinds: in several, two processes would each draw and judge the specs.
    """
    starved = run(range(FIRST_SEED + SPECS, FIRST_SEED + SPECS + 200))
    assert not starved.disagreements, said(starved)
    shares = {kind: starved.verdicts[kind]["unknown"] / starved.verdicts[kind].total() for kind in OFTEN_OPEN}
    assert min(shares.values()) >= LEAST_UNKNOWN, shares


@pytest.mark.nightly
def test_nightly_profile() -> None:
    count = int(os.environ.get("SWZVERIFY_SPECS", "100000"))
    outcome = run(range(1_000_000, 1_000_000 + count))
    assert not outcome.disagreements, said(outcome)
