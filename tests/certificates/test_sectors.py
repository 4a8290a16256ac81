"""Certificates of sectors of global memory: the statement, its formulas and witnesses against a count
of this file's own, statements that are false or say nothing, and planted mistakes in the rechecker.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest

from swzrecheck import encode_cost, repetition, warp_rule, witness_choices
from swzrecheck.claim_file import read_claim
from swzrecheck.claim_write import claim_data
from swzrecheck.draft import MeaninglessError
from swzrecheck.errors import CertificateError
from swzrecheck.kinds import goals_of, sentence_of
from swzrecheck.reader import Reader
from swzrecheck.statement import Cost, GatherCost, Statement, read_statement, write_statement
from swzrecheck.warp_rule import filled, warp_cost
from swzrecheck.witnesses import CHECKERS, find_witness
from swzverify.certificates.make import describe
from swzverify.claims import Claim
from swzverify.hardware import GLOBAL_INSTRUCTIONS
from swzverify.spec.load import parse_spec
from tests.certificates.judge import holds

pytest.importorskip("bitwuzla")

CASES: dict[str, tuple[str, int, bool]] = {
    "a row": ("{instruction: ld.global.f32, threads: 64, base: {align: 32}, address: tid*4}", 4, True),
    "a row of vectors": ("{instruction: st.global.v4.f32, threads: 64, base: {align: 32}, address: tid*16}", 16, True),
    "anywhere": ("{instruction: ld.global.b64, threads: 32, address: tid*8}", 9, False),
    "some lanes": ("{instruction: ld.global.f32, threads: 40, if: lane < 9, base: 0, address: tid*4}", 2, True),
    "one address": ("{instruction: ld.global.f32, threads: 32, base: {align: 32}, address: 4}", 1, True),
    "strided": ("{instruction: ld.global.f32, threads: 32, for: {i: 3}, base: 0, address: (lane*3 + i)*4}", 12, False),
    "data": ("{instruction: ld.global.f32, threads: 8, lanes: {b: 3}, base: 0, address: (lane/2*4 + b*8)*4}", 4, False),
    "near data":
    ("{instruction: ld.global.f32, threads: 32, lanes: {b: 2}, base: 0, address: (lane/2 + b)*4}", 3, True),
    "data and idle lanes":
    ("{instruction: ld.global.f32, threads: 32, lanes: {b: 2}, if: b > 0, base: 0, address: lane*4}", 4, False),
}  # fmt: skip
"""An access, the sectors of its worst warp instruction, and whether none has more than its lanes fill."""


def claim(access: str, words: str = "coalesced: x") -> Claim:
    text = f"swzverify: 1\naccesses:\n  x: {access}\nclaims:\n  - {words}\n"
    return parse_spec(text, path="a.yaml").claims[0].claim


def bounded(access: str, at_most: int | None) -> Claim:
    return claim(access, "coalesced: x" if at_most is None else f"coalesced: {{access: x, at_most: {at_most}}}")


def cost_of(of: Claim) -> Statement:
    (found,) = [asked.statement for asked in goals_of(describe(of)).asked if asked.what == "cost"]
    assert isinstance(found, Cost | GatherCost)
    return found


@pytest.mark.parametrize("name", CASES)
def test_formulas_and_witnesses_say_what_is_so(name: str) -> None:
    access, most, least = CASES[name]
    for at_most, wanted in ((None, least), (most, True), (most - 1, False), (33, True)):
        if at_most == 0:
            continue
        statement = cost_of(bounded(access, at_most))
        assert read_statement(write_statement(statement)) == statement
        assert holds(statement) is wanted, at_most
        found = find_witness(statement)
        assert (found is not None) is wanted, at_most
        if found is not None:
            CHECKERS[found[0]](statement, json.loads(json.dumps(found[1])))


def test_the_statement_in_words_and_as_a_file() -> None:
    access = CASES["a row"][0]
    words = {at_most: sentence_of(describe(bounded(access, at_most))) for at_most in (None, 4)}
    assert "as many sectors as the bytes of its active lanes fill of 32 bytes" in words[None]
    assert "at most 4 sectors of 32 bytes of global memory" in words[4]
    for at_most in (None, 4):
        stated = describe(bounded(access, at_most))
        data = claim_data(stated)
        assert data.get("at_most") == at_most
        assert read_claim(Reader(data, "claim")) == stated


@pytest.mark.parametrize(
    "change",
    [
        lambda data: data.update(at_most=0),
        lambda data: data.update(at_most=None),
        lambda data: data.update(at_most="4"),
        lambda data: data.update(limit=4),
        lambda data: data["accesses"][0].update(instruction="ld.global.v8.b32"),
        lambda data: data["accesses"][0].update(instruction="ld.global.f32"),
        lambda data: data["accesses"][0]["base"].update(memory="m"),
    ],
)
def test_a_file_that_says_nothing_is_refused(change: Callable[[dict[str, object]], None]) -> None:
    data = json.loads(json.dumps(claim_data(describe(bounded(CASES["a row"][0], 4)))))
    read_claim(Reader(json.loads(json.dumps(data)), "claim"))
    change(data)
    with pytest.raises(CertificateError, match="claim"):
        read_claim(Reader(data, "claim"))


@pytest.mark.parametrize(
    ("kind", "instruction", "numbers"),
    [
        ("conflict_free", "ld.global.b32", {}),
        ("wavefronts", "ld.global.b32", {"at_most": 32}),
        ("coalesced", "ld.shared.b32", {}),
        ("coalesced", "ldmatrix.x4", {"at_most": 32}),
    ],
)
def test_claims_of_the_other_memory_say_nothing(kind: str, instruction: str, numbers: dict[str, int]) -> None:
    stated = describe(bounded(CASES["a row"][0], 4))
    access = replace(stated.accesses["x"], instruction=instruction)
    with pytest.raises(MeaninglessError, match="memory"):
        goals_of(replace(stated, kind=kind, numbers=numbers, accesses={"x": access}))


def test_two_memories_are_not_compared() -> None:
    text = "swzverify: 1\naccesses:\n  x: {a}\n  y: {a}\nclaims:\n  - equivalent: [x, y]\n"
    stated = describe(parse_spec(text.replace("{a}", CASES["a row"][0]), path="a.yaml").claims[0].claim)
    goals_of(stated)
    other = replace(stated.accesses["y"], instruction="ld.shared.b32")
    with pytest.raises(MeaninglessError, match="different memories"):
        goals_of(replace(stated, accesses={**stated.accesses, "y": other}))


@pytest.mark.parametrize("name", GLOBAL_INSTRUCTIONS)
def test_the_rule_is_the_tables(name: str) -> None:
    row, rule = GLOBAL_INSTRUCTIONS[name], warp_rule.warp_rule(name)
    assert (rule.width_bytes, rule.unit_bytes, rule.slots, rule.address_lanes) == (row.width_bytes, 32, 1, 32)
    assert rule.sectors
    assert (rule.joins, rule.repeats, rule.octets, rule.whole_warps) == (False,) * 4
    addresses: Sequence[int | None] = [None, *(64 * lane for lane in range(31))]
    assert warp_cost(rule, addresses) == (31, -(-31 * row.width_bytes // 32))
    assert [filled(rule, lanes) for lanes in (0, 1, 32)] == [0, 1, row.width_bytes]


def _wrong_sectors(patch: pytest.MonkeyPatch) -> None:
    """Each lane's own bytes tell lanes apart, not sectors."""
    patch.setattr(warp_rule, "SECTOR_BYTES", 4)


def _sectors_hold_twice_as_much(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(encode_cost, "SECTOR_BYTES", 64)


def _idle_lanes_are_first(patch: pytest.MonkeyPatch) -> None:
    sound = encode_cost._firsts
    patch.setattr(
        encode_cost, "_firsts", lambda warp, lanes: sound(warp, [(at, warp.out.const(1, 1)) for at, _ in lanes])
    )


def _one_value_of_a_base_is_enough(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(repetition, "SECTOR_BYTES", 4)


def _every_lane_is_always_active(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(witness_choices, "filled", lambda rule, _: filled(rule, 32))


@pytest.mark.parametrize(
    ("plant", "name", "at_most", "by_formula"),
    [
        (_wrong_sectors, "a row", None, True),
        (_sectors_hold_twice_as_much, "a row", None, True),
        (_idle_lanes_are_first, "some lanes", 2, True),
        (_one_value_of_a_base_is_enough, "anywhere", 8, False),
        (_every_lane_is_always_active, "data and idle lanes", None, False),
    ],
)
def test_a_planted_mistake_shows(
    monkeypatch: pytest.MonkeyPatch,
    plant: Callable[[pytest.MonkeyPatch], None],
    name: str,
    at_most: int | None,
    by_formula: bool,
) -> None:
    """A formula that is wrong says another thing; a witness that is wrong shows what is not so."""
    access, most, least = CASES[name]
    wanted = least if at_most is None else at_most >= most
    statement = cost_of(bounded(access, at_most))
    assert holds(statement) is wanted
    assert (find_witness(statement) is not None) is wanted
    plant(monkeypatch)
    if by_formula:
        assert holds(statement) is not wanted
    else:
        assert not wanted
        assert find_witness(statement) is not None
