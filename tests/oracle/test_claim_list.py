"""`standard` beside stated claims, and several subjects of one name, by hand."""

from __future__ import annotations

import pytest

from .brute_force import OracleError, expand_claims, judge
from .yaml_values import Spec, Yaml

# The tile is sound. The access reaches past its end, and meets in a bank: row 16 of 8 floats lies
# 512 bytes off.
TILE: dict[str, Yaml] = {"element": "f32", "layout": "(16,8):(8,1)"}
ACCESS: dict[str, Yaml] = {"tile": "A", "instruction": "ld.shared.b32", "threads": 32, "coord": ["tid", 0]}
BARE: dict[str, Yaml] = {"instruction": "ld.shared.b32", "threads": 32, "address": "tid*4", "bytes": 128}
MAP: dict[str, Yaml] = {"over": {"x": 4}, "value": ["x ^ 1"], "onto": [4]}
BOTH: Spec = {"tiles": {"A": TILE}, "accesses": {"A": ACCESS}}
ALL: Spec = {**BOTH, "maps": {"A": MAP}, "memories": {"A": {"bytes": 4096}}}


def said(spec: Spec) -> list[tuple[str, str, str, str]]:
    return [(each.kind, each.subject_kind, each.subject, each.verdict) for each in judge(spec)]


STANDARD = [
    ("injective", "tile", "A", "proved"),
    ("in_bounds", "tile", "A", "proved"),
    ("aligned", "access", "A", "proved"),
    ("in_bounds", "access", "A", "refuted"),
    ("conflict_free", "access", "A", "refuted"),
]


@pytest.mark.parametrize("claims", ["standard", ["standard"]])
def test_standard_of_a_tile_and_an_access_of_one_name(claims: Yaml) -> None:
    assert said({**BOTH, "claims": claims}) == STANDARD


@pytest.mark.parametrize("at", range(5))
def test_what_is_stated_is_left_out_by_kind_and_subject(at: int) -> None:
    kind, sort, name, _ = STANDARD[at]
    stated: Yaml = {kind: {sort: name}}
    others = STANDARD[:at] + STANDARD[at + 1 :]
    assert said({**BOTH, "claims": ["standard", stated]}) == [*others, STANDARD[at]]
    assert said({**BOTH, "claims": [stated, "standard"]}) == [STANDARD[at], *others]


def test_what_is_stated_otherwise_stays() -> None:
    """Another kind, or another subject of the same name, leaves nothing out."""
    stated: list[Yaml] = [{"bijective": {"tile": "A"}}, {"wavefronts": {"access": "A", "at_most": 8}}]
    assert len(judge({**BOTH, "claims": [*stated, "standard"]})) == 2 + len(STANDARD)
    claims: Yaml = ["standard", {"in_bounds": {"access": "A"}}]
    expanded = expand_claims({**BOTH, "claims": claims})
    assert expanded.count(("in_bounds", {"tile": "A"})) == 1
    assert expanded.count(("in_bounds", {"access": "A"})) == 1


def test_a_bare_name_leaves_out_what_it_means() -> None:
    spec: Spec = {"tiles": {"A": TILE}, "accesses": {"X": ACCESS}, "claims": ["standard", {"in_bounds": "X"}]}
    kinds = [("injective", "A"), ("in_bounds", "A"), ("aligned", "X"), ("conflict_free", "X"), ("in_bounds", "X")]
    assert [(each.kind, each.subject) for each in judge(spec)] == kinds


def test_standard_claims_bounds_only_where_there_are_some() -> None:
    spec: Spec = {"accesses": {"X": BARE, "Y": {**BARE}}, "claims": "standard"}
    accesses = spec["accesses"]
    assert isinstance(accesses, dict)
    accesses["Y"] = {key: value for key, value in BARE.items() if key != "bytes"}
    found = [(each.kind, each.subject) for each in judge(spec)]
    assert ("in_bounds", "X") in found
    assert ("in_bounds", "Y") not in found


# Every kind with the subject that it names, and what comes of it.
NAMED: list[tuple[Yaml, str, str]] = [
    ({"injective": {"tile": "A"}}, "tile", "proved"),
    ({"bijective": {"tile": "A"}}, "tile", "proved"),
    ({"contiguous": {"tile": "A", "elements": 8}}, "tile", "proved"),
    ({"aligned": {"access": "A"}}, "access", "proved"),
    ({"in_bounds": {"tile": "A"}}, "tile", "proved"),
    ({"in_bounds": {"access": "A"}}, "access", "refuted"),
    ({"conflict_free": {"access": "A"}}, "access", "refuted"),
    ({"wavefronts": {"access": "A", "at_most": 8}}, "access", "proved"),
    ({"covers": {"access": "A", "tile": "A"}}, "access", "refuted"),
    ({"covers": {"access": "A"}}, "access", "refuted"),
    ({"permutation": {"map": "A"}}, "map", "proved"),
    ({"equivalent": {"tiles": ["A", "B"]}}, "tile, tile", "refuted"),
    ({"equivalent": {"accesses": ["A", "B"]}}, "access, access", "proved"),
    ({"equivalent": {"maps": ["A", "B"]}}, "map, map", "refuted"),
    ({"disjoint": {"tiles": ["A", "B"]}}, "tile, tile", "refuted"),
    ({"disjoint": {"tile": "B"}}, "tile", "proved"),
]


@pytest.mark.parametrize(("claim", "sort", "verdict"), NAMED)
def test_every_kind_says_which_subject_it_means(claim: Yaml, sort: str, verdict: str) -> None:
    """A and B are a tile, an access, a map and a memory each."""
    spec: Spec = {
        "memories": {"A": {"bytes": 4096}, "B": {"bytes": 4096}},
        "tiles": {"A": TILE, "B": {**TILE, "layout": "(8,16):(16,1)", "stages": 2}},
        "accesses": {"A": ACCESS, "B": {**ACCESS, "coord": ["lane", 0]}},
        "maps": {"A": MAP, "B": {**MAP, "value": ["x ^ 2"]}},
        "claims": [claim],
    }
    [found] = judge(spec)
    assert (found.subject_kind, found.verdict) == (sort, verdict)
    assert set(found.subject) <= set("A, B")


@pytest.mark.parametrize("claim", [{"in_bounds": "A"}, {"equivalent": ["A", "A"]}])
def test_a_bare_name_of_several_fitting_subjects_is_refused(claim: Yaml) -> None:
    with pytest.raises(OracleError) as caught:
        judge({**ALL, "claims": [claim]})
    assert caught.value.code == "SWZ106"


def test_a_bare_name_of_several_subjects_means_the_one_that_fits() -> None:
    for kind, sort in (("injective", "tile"), ("aligned", "access"), ("permutation", "map")):
        [(_, found, name, _)] = said({**ALL, "claims": [{kind: "A"}]})
        assert (found, name) == (sort, "A")


def test_a_second_standard_adds_nothing() -> None:
    once, twice = (said({**ALL, "claims": ["standard"] * count}) for count in (1, 2))
    assert once == twice


def test_a_memory_is_no_subject_and_takes_no_name_away() -> None:
    tile: Yaml = {**TILE, "base": {"in": "A"}}
    spec: Spec = {"memories": {"A": {"bytes": 4096}}, "tiles": {"A": tile}, "claims": [{"in_bounds": "A"}]}
    assert said(spec) == [("in_bounds", "tile", "A", "proved")]


def test_covers_of_the_accesss_own_tile_by_default() -> None:
    access: Yaml = {**ACCESS, "tile": "T", "coord": ["tid/2", "tid%2*4"], "instruction": "st.shared.v4.b32"}
    spec: Spec = {"tiles": {"T": TILE, "A": TILE}, "accesses": {"X": access}, "claims": [{"covers": {"access": "X"}}]}
    assert said(spec) == [("covers", "access", "X", "proved")]
    with pytest.raises(OracleError):
        judge({"accesses": {"X": BARE}, "claims": [{"covers": {"access": "X"}}]})
