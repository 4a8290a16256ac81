"""A tile, an access and a map of one name are three subjects: in claims, in `standard`, in ids and
in comparisons.
"""

from __future__ import annotations

import pytest

from swzverify.prover import prove
from swzverify.spec import SpecError
from swzverify.spec.load import parse_spec

SUBJECTS = """\
swzverify: 1
tiles:
  A: {element: f32, layout: "(8,32):(32,1)"}
accesses:
  A: {tile: A, instruction: ld.shared.b32, threads: 32, coord: [9, lane]}
claims: CLAIMS
"""


def outcomes(claims: str) -> dict[str, str]:
    spec = parse_spec(SUBJECTS.replace("CLAIMS", claims), path="a.yaml")
    return {claim.id.removeprefix("a.yaml::"): prove(claim.claim).outcome.value for claim in spec.claims}


EVERY = {
    "tile:A::injective": "proved",
    "tile:A::in_bounds": "proved",
    "access:A::aligned": "proved",
    "access:A::in_bounds": "refuted",  # it reads row 9 of 8
    "access:A::conflict_free": "proved",
}


@pytest.mark.parametrize("claims", ["standard", "[standard]", "[{in_bounds: {tile: A}}, standard]"])
def test_standard_stands_for_the_claims_of_both(claims: str) -> None:
    assert outcomes(claims) == EVERY


def test_what_is_stated_of_one_leaves_the_other_in() -> None:
    stated = outcomes("[standard, {in_bounds: {access: A}, expect: refuted}]")
    assert stated == EVERY
    assert list(outcomes("[{in_bounds: {access: A}}, standard]")) == [
        "access:A::in_bounds",
        *(name for name in EVERY if name != "access:A::in_bounds"),
    ]


def test_a_name_alone_does_not_say_which() -> None:
    with pytest.raises(SpecError, match=r"SWZ106.*a tile and an access"):
        outcomes("[{in_bounds: A}]")


def test_names_that_one_subject_has_stay_as_they_are() -> None:
    spec = parse_spec(SUBJECTS.replace("  A: {tile", "  B: {tile").replace("CLAIMS", "standard"), path="a.yaml")
    assert [claim.id for claim in spec.claims][:3] == [
        "a.yaml::A::injective",
        "a.yaml::A::in_bounds",
        "a.yaml::B::aligned",
    ]
