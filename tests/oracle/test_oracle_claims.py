"""The oracle on cases that are small enough to do by hand, claim by claim."""

from __future__ import annotations

import pytest

from .brute_force import judge
from .judgement import Verdict
from .one_claim import ONE, ROWS, only
from .yaml_values import Spec, Yaml

SMALL: dict[str, Yaml] = {"element": "f32", "layout": "(4,2):(2,1)"}
PADDED: dict[str, Yaml] = {"element": "f32", "layout": {"shape": [4, 2], "pad": 1}}
CLASH: dict[str, Yaml] = {"element": "f32", "layout": "(4,2):(1,1)"}
SPILL: dict[str, Yaml] = {
    "element": "i8",
    "layout": "(2,3):(3,1)",
    "swizzle": "Swizzle<1,0,2>",
}  # 4 becomes 5, 5 becomes 4
OUT: dict[str, Yaml] = {
    "element": "i8",
    "layout": "(2,3):(3,1)",
    "swizzle": "Swizzle<1,0,-2>",
}  # 1 becomes 5, but 3 becomes 7
TILE_CLAIMS: list[tuple[str, dict[str, Yaml], Yaml, Verdict]] = [
    ("injective", {**SMALL}, "T", "proved"),
    ("injective", {**PADDED}, "T", "proved"),
    ("injective", {**CLASH}, "T", "refuted"),
    ("injective", {"element": "f6", "layout": "5:1"}, "T", "proved"),
    # 8-byte elements whose address bit 2 is flipped by bit 3: the second one runs over the third.
    (
        "injective",
        {"element": "f64", "layout": "4:1", "swizzle": {"bits": 1, "base": 2, "shift": 1, "on": "address"}},
        "T",
        "refuted",
    ),
    ("bijective", {**SMALL}, "T", "proved"),
    ("bijective", {**PADDED}, "T", "refuted"),
    ("bijective", {**CLASH}, "T", "refuted"),
    ("bijective", {**SPILL}, "T", "proved"),
    ("bijective", {**OUT}, "T", "refuted"),
    ("bijective", {"element": "f6", "layout": "5:1"}, "T", "refuted"),  # 30 bits in 4 bytes
    ("bijective", {"element": "f6", "layout": "4:1"}, "T", "proved"),
    ("in_bounds", {**PADDED}, "T", "proved"),
    ("in_bounds", {**SPILL}, "T", "proved"),
    ("in_bounds", {**OUT}, "T", "refuted"),
    ("in_bounds", {**SMALL, "bytes": 31}, "T", "refuted"),
    ("contiguous", {**SMALL}, {"tile": "T", "elements": 2}, "proved"),
    ("contiguous", {**PADDED}, {"tile": "T", "elements": 2}, "refuted"),  # the second row starts at 3
    ("contiguous", {**SMALL}, {"tile": "T", "elements": 2, "mode": 0}, "refuted"),
    ("contiguous", {**SMALL}, {"tile": "T", "elements": 4}, "vacuous"),
    (
        "contiguous",
        {"element": "f16", "layout": "(8,64):(64,1)", "swizzle": "Swizzle<3,3,3>"},
        {"tile": "T", "elements": 8},
        "proved",
    ),
    (
        "contiguous",
        {"element": "f16", "layout": "(8,64):(64,1)", "swizzle": "Swizzle<3,2,3>"},
        {"tile": "T", "elements": 8},
        "refuted",
    ),
    (
        "contiguous",
        {"element": "f16", "tma": {"swizzle": "128B", "box": [8, 64]}},
        {"tile": "T", "elements": 8},
        "proved",
    ),
    (
        "contiguous",
        {"element": "f16", "tma": {"swizzle": "128B", "box": [8, 64]}},
        {"tile": "T", "elements": 16},
        "refuted",
    ),
    ("disjoint", {**SMALL, "stages": {"count": 2, "pitch": 32}}, "T", "proved"),
    ("disjoint", {**SMALL, "stages": {"count": 2, "pitch": 31}}, "T", "refuted"),
]


@pytest.mark.parametrize(("kind", "tile", "argument", "verdict"), TILE_CLAIMS)
def test_tile_claim(kind: str, tile: dict[str, Yaml], argument: Yaml, verdict: Verdict) -> None:
    assert only({"tiles": {"T": tile}, "claims": [{kind: argument}]}).verdict == verdict


ACCESS_CLAIMS: list[tuple[str, dict[str, Yaml], Verdict]] = [
    ("aligned", {**ONE}, "proved"),
    ("aligned", {**ONE, "coord": ["tid", 1]}, "refuted"),
    ("aligned", {**ONE, "coord": ["tid", "tid == 5"], "if": "tid != 5"}, "proved"),
    ("aligned", {**ONE, "if": "tid > 31"}, "vacuous"),
    ("aligned", {**ONE, "for": {"i": 4}, "assume": ["i > 3"]}, "vacuous"),
    ("aligned", {**ONE, "for": {"i": 4}, "coord": ["tid", "i"], "assume": ["i < 1"]}, "proved"),
    ("in_bounds", {**ONE}, "proved"),
    ("in_bounds", {**ONE, "threads": 64}, "refuted"),
    ("in_bounds", {**ONE, "coord": [0, "tid*8"], "if": "tid < 1"}, "proved"),
    ("in_bounds", {**ONE, "coord": [0, "tid*8"], "if": "tid < 2"}, "refuted"),  # row 1, but not its name
    ("in_bounds", {**ONE, "coord": [31, 4]}, "refuted"),  # 8 bytes too far
    ("conflict_free", {**ONE}, "proved"),
    ("conflict_free", {**ONE, "coord": ["tid*8%32", 0]}, "refuted"),  # four lanes in eight of one row's bank
    ("conflict_free", {**ONE, "coord": ["tid", 1]}, "refuted"),  # misaligned
    ("conflict_free", {**ONE, "instruction": "cp.async.16"}, "proved"),
    ("conflict_free", {**ONE, "instruction": "cp.async.16", "coord": ["tid*5%32", 0]}, "refuted"),
    ("conflict_free", {**ONE, "instruction": "cp.async.16", "coord": ["tid^1", 0]}, "proved"),  # halves, all swapped
    ("conflict_free", {**ONE, "instruction": "cp.async.16", "coord": ["tid^(tid/2&1)", 0]}, "refuted"),  # every other
    ("conflict_free", {**ONE, "instruction": "cp.async.16", "coord": ["tid%8", 0]}, "proved"),  # 24 lanes repeat 8
    ("conflict_free", {**ONE, "instruction": "st.shared.b32", "coord": ["tid%8", 0]}, "proved"),
    ("conflict_free", {**ONE, "instruction": "atom.shared.add.u32", "coord": ["tid%8", 0]}, "refuted"),
    ("conflict_free", {**ONE, "if": "tid < 0"}, "vacuous"),
]


@pytest.mark.parametrize(("kind", "access", "verdict"), ACCESS_CLAIMS)
def test_access_claim(kind: str, access: dict[str, Yaml], verdict: Verdict) -> None:
    assert only({"tiles": {"T": ROWS}, "accesses": {"X": access}, "claims": [{kind: "X"}]}).verdict == verdict


COVERS: list[tuple[dict[str, Yaml], int, Verdict]] = [
    ({**ONE}, 1, "proved"),
    ({**ONE}, 2, "refuted"),
    ({**ONE, "for": {"i": 2}}, 2, "proved"),
    ({**ONE, "if": "tid != 7"}, 1, "refuted"),
    ({**ONE, "if": "tid == 77"}, 1, "vacuous"),
    (
        {**ONE, "instruction": "st.shared.b8", "for": {"i": 8}, "coord": ["tid", "i"]},
        1,
        "proved",
    ),  # half of each
    ({**ONE, "coord": ["tid^1", 0]}, 1, "proved"),
    ({**ONE, "coord": ["tid | 1", 0]}, 1, "refuted"),
]


@pytest.mark.parametrize(("access", "times", "verdict"), COVERS)
@pytest.mark.parametrize("stages", [1, 2])
def test_covers(access: dict[str, Yaml], times: int, verdict: Verdict, stages: int) -> None:
    spec: Spec = {
        "tiles": {"T": {**ROWS, "stages": stages}},
        "accesses": {"X": access},
        "claims": [{"covers": {"access": "X", "tile": "T", "times": times}}],
    }
    assert only(spec).verdict == verdict


def test_covers_counts_each_stage_apart() -> None:
    access: Yaml = {**ONE, "for": {"i": 3}, "stage": "i%2"}
    spec: Spec = {
        "tiles": {"T": {**ROWS, "stages": 2}},
        "accesses": {"X": access},
        "claims": [{"covers": {"access": "X", "tile": "T"}}],
    }
    assert only(spec).verdict == "refuted"
    assert only({**spec, "accesses": {"X": {**ONE, "for": {"i": 2}, "stage": "i%2"}}}).verdict == "proved"


ROW_16: dict[str, Yaml] = {"element": "f16", "layout": "(4,8):(64,1)", "base": {"align": 128}}
IN_M: dict[str, Yaml] = {"in": "m", "offset": 16}
DISJOINT: list[tuple[Yaml, Yaml, Verdict]] = [
    ({**ROW_16, "base": 0}, {**ROW_16, "base": 16}, "proved"),
    ({**ROW_16, "base": 0}, {**ROW_16, "base": 15}, "refuted"),
    ({**ROW_16, "base": {"in": "m"}}, {**ROW_16, "base": IN_M}, "proved"),
    ({**ROW_16, "base": {"in": "m", "offset": 128}}, {**ROW_16, "base": {"in": "m"}}, "refuted"),
    ({**ROW_16}, {**ROW_16}, "refuted"),
    ({**ROW_16}, {**ROW_16, "base": IN_M}, "proved"),  # multiples of 128, and 16 bytes further
    ({**ROW_16}, {**ROW_16, "base": {"in": "m", "offset": 8}}, "refuted"),
    ({**ROW_16}, {**ROW_16, "base": 16}, "proved"),
    ({**ROW_16}, {**ROW_16, "base": 120}, "refuted"),
]


@pytest.mark.parametrize(("p", "q", "verdict"), DISJOINT)
def test_disjoint(p: Yaml, q: Yaml, verdict: Verdict) -> None:
    spec: Spec = {"memories": {"m": {"bytes": 4096, "align": 128}}, "tiles": {"P": p, "Q": q}}
    assert only({**spec, "claims": [{"disjoint": ["P", "Q"]}]}).verdict == verdict
    assert only({**spec, "claims": [{"disjoint": ["Q", "P"]}]}).verdict == verdict


MAPS: dict[str, Yaml] = {
    "grouped": {"over": {"bid": 128}, "value": ["bid%8 + bid/64*8", "bid/8%8"], "onto": [16, 8]},
    "not_onto": {"over": {"bid": 4}, "value": ["bid*2"], "onto": [8]},
    "not_one_to_one": {"over": {"bid": 4}, "value": ["bid/2"], "onto": [4]},
    "outside": {"over": {"bid": 4}, "value": ["bid + 1"], "onto": [4]},
    "negative": {"over": {"bid": 4}, "value": ["bid - 1"], "onto": [4]},
    "xor": {"over": {"x": 8, "y": 8}, "value": ["x ^ y", "y"], "onto": [8, 8]},
    "sum": {"over": {"x": 8, "y": 8}, "value": ["x + y - 2*(x & y)", "y"]},
    "or": {"over": {"x": 8, "y": 8}, "value": ["x | y", "y"]},
}


@pytest.mark.parametrize(
    ("claim", "verdict"),
    [({"permutation": name}, "proved") for name in ("grouped", "xor")]
    + [({"permutation": name}, "refuted") for name in ("not_onto", "not_one_to_one", "outside", "negative")]
    + [({"equivalent": ["xor", "sum"]}, "proved"), ({"equivalent": ["xor", "or"]}, "refuted")],
)
def test_map_claim(claim: Yaml, verdict: Verdict) -> None:
    assert only({"maps": MAPS, "claims": [claim]}).verdict == verdict


EQUIVALENT: list[tuple[dict[str, Yaml], Verdict]] = [
    ({**ONE, "coord": ["31 - (~tid & 31)", 0]}, "proved"),
    ({**ONE, "coord": ["tid", "(tid == 3)*8"]}, "refuted"),
    ({**ONE, "coord": ["tid - (tid == 3)", "(tid == 3)*8"]}, "proved"),  # past the end of row 2 is row 3
    ({**ONE, "if": "tid != 3"}, "refuted"),
    ({**ONE, "threads": 31}, "refuted"),
    ({**ONE, "for": {"i": 2}}, "refuted"),
    (
        {"instruction": "ld.shared.v4.b32", "threads": 32, "address": "tid*16", "base": {"align": 1024}},
        "proved",
    ),
]


@pytest.mark.parametrize(("other", "verdict"), EQUIVALENT)
def test_equivalent_accesses(other: dict[str, Yaml], verdict: Verdict) -> None:
    accesses: Yaml = {"X": {**ONE}, "Y": other}
    assert only({"tiles": {"T": ROWS}, "accesses": accesses, "claims": [{"equivalent": ["X", "Y"]}]}).verdict == verdict


BYTE: dict[str, Yaml] = {"instruction": "ld.shared.b8", "threads": 4}
TWOS: Yaml = {"bits": 2, "layout": "16:1"}
NIBBLES: Yaml = {"element": "u4", "layout": "16:1"}
INSIDE_BYTES: list[tuple[Yaml, str, Yaml, str, Verdict]] = [
    (TWOS, "tid", TWOS, "tid", "proved"),
    (TWOS, "tid*4 + 1", TWOS, "tid*4 + 2", "refuted"),  # bits 2 and 4 of each byte
    (TWOS, "tid*4", TWOS, "tid*4 + 1", "refuted"),  # only one of them begins at a byte
    (TWOS, "tid*2", NIBBLES, "tid", "proved"),
    (TWOS, "tid*2 + (tid == 3)", NIBBLES, "tid", "refuted"),
    (NIBBLES, "tid*2", {"element": "u8", "layout": "16:1"}, "tid", "proved"),
]


@pytest.mark.parametrize(("left", "here", "right", "there", "verdict"), INSIDE_BYTES)
def test_equivalent_accesses_to_the_bit(left: Yaml, here: str, right: Yaml, there: str, verdict: Verdict) -> None:
    accesses: Yaml = {"X": {**BYTE, "tile": "P", "coord": [here]}, "Y": {**BYTE, "tile": "Q", "coord": [there]}}
    spec: Spec = {"tiles": {"P": left, "Q": right}, "accesses": accesses}
    assert only({**spec, "claims": [{"equivalent": ["X", "Y"]}]}).verdict == verdict
    assert only({**spec, "claims": [{"equivalent": ["Y", "X"]}]}).verdict == verdict


RING: Yaml = {**ROWS, "stages": 2}
STILL: Yaml = {**ROWS, "stages": {"count": 2, "pitch": 0}}
STAGES: list[tuple[Yaml, dict[str, Yaml], Verdict]] = [
    (RING, {"tile": "T"}, "proved"),
    (RING, {"tile": "T", "stage": 0}, "refuted"),
    (RING, {"tile": "one"}, "refuted"),
    (RING, {"tile": "more"}, "refuted"),  # three stages
    (STILL, {"tile": "T", "stage": "tid%2"}, "proved"),  # both stages in one place
    (STILL, {"tile": "one"}, "proved"),
    (STILL, {"tile": "more"}, "refuted"),
]


@pytest.mark.parametrize(("tile", "other", "verdict"), STAGES)
def test_equivalent_accesses_in_other_stages(tile: Yaml, other: dict[str, Yaml], verdict: Verdict) -> None:
    tiles: Yaml = {"T": tile, "one": ROWS, "more": {**ROWS, "stages": {"count": 3, "pitch": 0}}}
    spec: Spec = {"tiles": tiles, "accesses": {"X": {**ONE}, "Y": {**ONE, **other}}}
    assert only({**spec, "claims": [{"equivalent": ["X", "Y"]}]}).verdict == verdict
    assert only({**spec, "claims": [{"equivalent": ["Y", "X"]}]}).verdict == verdict


def test_cases_and_standard_come_in_order() -> None:
    spec: Spec = {
        "constants": {"R": [4, 8], "E": 2, "C": [8, 16]},
        "tiles": {"T": {"element": "f16", "layout": "(R,C):(C,1)"}},
        "accesses": {
            "X": {"tile": "T", "instruction": "ld.shared.b32", "threads": 32, "coord": ["tid/4", "tid%4*E"]},
            "Y": {"instruction": "ld.shared.b32", "threads": 32, "address": "tid*4"},
        },
        "claims": "standard",
    }
    found = judge(spec)
    kinds = [
        "injective T",
        "in_bounds T",
        "aligned X",
        "in_bounds X",
        "conflict_free X",
        "aligned Y",
        "conflict_free Y",
    ]
    assert [f"{j.kind} {j.subject}" for j in found[::4]] == kinds
    assert [j.case for j in found[:4]] == [(("R", r), ("C", c)) for r in (4, 8) for c in (8, 16)]
    assert [j.verdict for j in found[12:16]] == ["refuted", "refuted", "proved", "proved"]
