"""Certificates of costs over every choice: what they ask, wrong encodings, and forged witnesses."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swzrecheck import encode_cost, repetition, witness_choices
from swzrecheck.claim_file import read_claim
from swzrecheck.claim_write import claim_data
from swzrecheck.encode import parts
from swzrecheck.errors import CertificateError
from swzrecheck.kinds import goals_of, sentence_of
from swzrecheck.reader import Reader
from swzrecheck.statement import GatherCost, read_statement, write_statement
from swzrecheck.witness import WitnessError
from swzrecheck.witness_choices import check_choices, cover_size
from swzrecheck.witnesses import find_witness
from swzverify.certificates.make import describe
from swzverify.claims import ConflictFree, Wavefronts
from swzverify.claims.claim import Claim
from tests.certificates.judge import holds
from tests.engines.test_gather import BIN, CASES, access, worst

pytest.importorskip("bitwuzla")


def cost_of(claim: Claim) -> GatherCost:
    found = [asked.statement for asked in goals_of(describe(claim)).asked if asked.what == "cost"]
    assert isinstance(found[0], GatherCost)
    return found[0]


def limits(name: str) -> Iterator[tuple[Claim, bool]]:
    of = CASES[name]
    most, conflicts = worst(of)
    yield ConflictFree(of), conflicts == 0
    yield Wavefronts(of, most), True
    if most > 1:
        yield Wavefronts(of, most - 1), False


@pytest.mark.parametrize("name", CASES)
def test_formulas_and_witnesses_say_what_every_choice_says(name: str) -> None:
    for claim, wanted in limits(name):
        statement = cost_of(claim)
        assert read_statement(write_statement(statement)) == statement
        assert holds(statement) is wanted
        found = find_witness(statement)
        assert wanted or found is None
        if wanted and "sixteen" not in name and "join" not in name:
            assert found is not None
            check_choices(statement, json.loads(json.dumps(found[1])))


def test_the_statement_says_what_lanes_have_of_their_own() -> None:
    claim = describe(ConflictFree(CASES["lanes may agree"]))
    assert claim_data(claim)["accesses"][0]["lanes"] == [{"name": "bin", "start": 0, "stop": 3, "step": 1}]  # type: ignore[index]
    assert sentence_of(claim).startswith("conflict_free: every warp instruction")


@pytest.mark.parametrize(
    "lanes",
    [
        [{"name": "tid", "start": 0, "stop": 3, "step": 1}],
        [{"name": "bin", "start": 3, "stop": 3, "step": 1}],
        [{"name": "bin", "start": 0, "stop": 3, "step": 0}],
        [{"name": "other", "start": 0, "stop": 3, "step": 1}],
        [{"name": "bin", "start": 0, "stop": 3, "step": 1}, {"name": "idle", "start": 0, "stop": 3, "step": 1}],
        [{"name": "bin", "start": 0, "stop": 3, "step": 1, "more": 1}],
    ],
    ids=["a name of a thread", "no value", "no step", "nothing says what bin is", "nothing reads it", "a key too many"],
)
def test_a_statement_of_other_lanes_is_refused(lanes: list[dict[str, Any]]) -> None:
    data = json.loads(json.dumps(claim_data(describe(ConflictFree(CASES["lanes may agree"])))))
    data["accesses"][0]["lanes"] = lanes
    with pytest.raises(CertificateError, match="SWZ60"):
        read_claim(Reader(data, "claim"))


def test_lanes_beside_an_unbounded_loop_are_refused() -> None:
    data = json.loads(json.dumps(claim_data(describe(ConflictFree(CASES["lanes may agree"])))))
    data["accesses"][0]["loops"] = [{"name": "k", "start": 0, "stop": None, "step": 1}]
    with pytest.raises(CertificateError, match="without a bound"):
        read_claim(Reader(data, "claim"))


def test_one_copy_for_two_lanes_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A planted mistake: the lanes that are looked for have one value together."""
    refuted = cost_of(ConflictFree(CASES["lanes may agree"]))
    assert not holds(refuted)
    original = encode_cost._Warp.lane
    monkeypatch.setattr(encode_cost._Warp, "lane", lambda self, value, _: original(self, value, "same"))
    assert holds(refuted)
    assert find_witness(refuted) is None, "the witness does not share the mistake"


def test_a_lane_that_takes_two_places_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A planted mistake: one lane counts twice, with two of its values."""
    proved = cost_of(Wavefronts(CASES["one column for two lanes"], 2))
    assert holds(proved)
    original = encode_cost._Warp.same

    def same(self: encode_cost._Warp, a: int, b: int) -> int:
        of_lanes = self.out.lines[a].name.startswith("lane ")
        return self.out.const(0, 1) if of_lanes else original(self, a, b)

    monkeypatch.setattr(encode_cost._Warp, "same", same)
    assert not holds(proved)


def test_a_cover_that_leaves_units_out_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A planted mistake: matchings stop short, so covers would be too small."""
    monkeypatch.setattr(witness_choices, "_improve", lambda *_: False)
    reach = {0: {1, 2}, 1: {1}, 2: {3}}
    assert cover_size(reach) >= 3, "without a matching all units are the cover, which is large and right"


def test_a_period_of_a_lanes_own_value_is_no_period() -> None:
    statement = cost_of(ConflictFree(access("bin%2*128 + lane*4", BIN)))
    found = find_witness(statement)
    assert found is not None
    name, data = found
    assert name == "choices"
    forged = {**data, "periods": {**data["periods"], "bin": 1}}  # type: ignore[dict-item]
    with pytest.raises(WitnessError, match="another variable"):
        check_choices(statement, forged)
    assert set(repetition.repeating(statement)) == set(statement.free)


@pytest.mark.parametrize("field", ["points", "sha256", "most"])
def test_a_forged_witness_is_refused(field: str) -> None:
    statement = cost_of(Wavefronts(CASES["lanes may agree"], 3))
    found = find_witness(statement)
    assert found is not None
    with pytest.raises(WitnessError):
        check_choices(statement, {**found[1], field: 1})


def test_a_witness_of_another_statement_is_refused() -> None:
    found = find_witness(cost_of(Wavefronts(CASES["lanes may agree"], 3)))
    assert found is not None
    with pytest.raises(WitnessError):
        check_choices(cost_of(Wavefronts(CASES["lanes may agree"], 2)), found[1])


@given(st.dictionaries(st.integers(0, 6), st.sets(st.integers(0, 6), min_size=1, max_size=4), max_size=7))
def test_a_cover_is_as_small_as_a_matching_is_large(reach: dict[int, set[int]]) -> None:
    from itertools import product

    most = 0
    for choice in product(*([None, *units] for units in reach.values())):
        taken = [unit for unit in choice if unit is not None]
        most = max(most, len(taken) if len(set(taken)) == len(taken) else 0)
    assert cover_size(reach) == most


def test_many_groups_and_no_limit_ask_about_one_choice() -> None:
    names = [part.name for part in parts(cost_of(ConflictFree(CASES["a load whose groups may join"])))]
    assert names == ["a lane is misaligned", "two lanes of a group conflict"]
