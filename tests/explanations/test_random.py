"""Every statement of the explanations of random specs, by brute force."""

from __future__ import annotations

import pytest

from swzverify.explain.explanations import explain_access, explain_tile
from swzverify.explain.explanations import statements as said
from swzverify.spec import SpecError
from swzverify.spec.load import parse_spec
from tests.differential.comparison import as_yaml
from tests.explanations.judge import Judge, check
from tests.nightly import share
from tests.oracle.random_parts import seeded
from tests.oracle.random_specs import random_spec

SPECS = 40
"""In each part of the test."""


@pytest.mark.parametrize("first", share(range(0, 6 * SPECS, SPECS), 6))
def test_what_is_said_of_random_specs_is_so(first: int) -> None:
    kinds: set[type] = set()
    for seed in range(first, first + SPECS):
        try:
            case = parse_spec(as_yaml(random_spec(seeded(seed))), path="random.swz.yaml").cases[0]
        except SpecError:
            continue  # some are spoilt on purpose
        for access in case.accesses.values():
            found = explain_access(access)
            check(Judge(access, None, seed), found)
            kinds |= {type(each) for each in found.statements}
        for tile in case.tiles.values():
            check(Judge(None, tile, seed), explain_tile(tile))
    assert kinds >= {said.Cost, said.BankBit, said.Rank, said.SwizzleBits, said.Period, said.Pitch, said.Change}
