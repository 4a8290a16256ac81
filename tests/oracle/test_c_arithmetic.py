"""The oracle's parts: what is an error, C's arithmetic, and why few bases are enough."""

from __future__ import annotations

import pytest

from .base_shift import Box, shift_in_base
from .brute_force import OracleAmbiguousError, OracleError, judge
from .c_expr import evaluate, parse
from .layout import Swizzle, read_layout
from .one_claim import ONE, ROWS
from .random_parts import seeded, swizzle_numbers
from .random_specs import random_spec
from .subjects import BASES_BELOW, Base
from .yaml_values import Yaml


@pytest.mark.parametrize(
    "address",
    [
        "tid >> tid",
        "tid << -1",
        "tid / (lane & 1)",
        "tid < 0 ? 1 % lane : 0",
        "(tid + 1) << 31",
        "tid*4 + 010",
        "nobody",
        "tid +",
        "tid * 200000000",
        "(-1 - tid) * 2147483648",
        "0 && 1/lane",
        "min(tid)",
        "3x",
    ],
)
def test_expression_that_is_an_error(address: str) -> None:
    with pytest.raises(OracleError):
        judge(
            {
                "accesses": {"X": {"instruction": "ld.shared.b8", "threads": 64, "address": address}},
                "claims": [],
            }
        )


BAD_TILES: dict[str, dict[str, Yaml]] = {
    "shift below bits": {"element": "f16", "layout": "(8,8):(8,1)", "swizzle": "Swizzle<3,3,2>"},
    "half bytes on addresses": {
        "element": "f4",
        "layout": "(8,8):(8,1)",
        "swizzle": {"bits": 1, "base": 4, "shift": 1, "on": "address"},
    },
    "box wider than pitch": {"element": "f16", "tma": {"swizzle": "64B", "box": [8, 64]}},
    "box of 8 bytes": {"element": "f16", "tma": {"swizzle": "none", "box": [8, 4]}},
    "unaligned TMA": {"element": "f16", "tma": {"swizzle": "64B", "box": [8, 32]}, "base": {"align": 64}},
    "too large": {"element": "f32", "layout": "65536:1"},
    "profiles": {"element": "f32", "layout": "(8,8):8"},
}


@pytest.mark.parametrize("tile", BAD_TILES.values(), ids=BAD_TILES)
def test_tile_that_is_an_error(tile: dict[str, Yaml]) -> None:
    with pytest.raises(OracleError):
        judge({"tiles": {"T": tile}, "claims": []})


@pytest.mark.parametrize(
    "access",
    [
        {**ONE, "coord": ["tid - 1", 0]},
        {**ONE, "coord": ["tid"]},
        {**ONE, "instruction": "ldmatrix.x4", "if": "tid < 9"},
        {**ONE, "instruction": "ldmatrix.x4", "threads": 40},
        {**ONE, "tile": "U"},
        {**ONE, "tile": "Narrow"},
    ],
)
def test_access_that_is_an_error(access: dict[str, Yaml]) -> None:
    narrow: Yaml = {"element": "f16", "layout": "(32,4):(8,1)"}
    with pytest.raises(OracleError):
        judge({"tiles": {"T": ROWS, "Narrow": narrow}, "accesses": {"X": access}, "claims": []})


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("-7/2", -3),
        ("-7%2", -1),
        ("7/-2", -3),
        ("7%-2", 1),
        ("-7 >> 1", -4),
        ("~0", -1),
        ("-1 & 6", 6),
        ("1 << 4 + 1", 32),
        ("1 | 2 == 2", 1),
        ("5 & 4 == 4", 1),
        ("1 ? 2 : 0 ? 3 : 4", 2),
        ("0 ? 2 : 0 ? 3 : 4", 4),
        ("10 - 4 - 3", 3),
        ("!3 + 1", 1),
        ("2 ^ 3 & 1", 3),
        ("0x1Fu + 0b11", 34),
        ("max(1, min(9, 4), 2)", 4),
        ("3 > 2 > 1", 0),
        ("- -3", 3),
        ("4294967295", 2**32 - 1),
        ("-2147483648", -(2**31)),
        ("2 && 4", 1),
        ("0 || -1", 1),
    ],
)
def test_c_expression(text: str, value: int) -> None:
    assert evaluate(parse(text), {}, 1) == [value]


def test_last_leaf_takes_the_quotient_without_a_bound() -> None:
    layout, _ = read_layout("((4,2),3):((1,100),10)", {})
    assert [layout.mode_offset(0, c) for c in (3, 4, 7, 8, 13)] == [3, 100, 103, 200, 301]
    assert layout.mode_offset(1, 5) == 50


def test_swizzle_moves_with_multiples_of_its_span_and_is_an_involution() -> None:
    rng = seeded(1)
    for _ in range(200):
        swizzle = Swizzle(*swizzle_numbers(rng, 4, 12))
        x, k = rng.randrange(1 << 16), rng.randrange(64)
        assert swizzle(swizzle(x)) == x
        assert swizzle(x + k * swizzle.span) == swizzle(x) + k * swizzle.span
        assert swizzle.shifted([x], 5) == [swizzle(x + 5)]


@pytest.mark.parametrize(("align", "period"), [(16, 128), (128, 128), (1024, 128), (128, 1024), (64, 96), (1, 24)])
def test_few_bases_meet_every_residue(align: int, period: int) -> None:
    few = {value % period for value in Base(align, 0, align).free_values(period)}
    assert few == {value % period for value in range(0, BASES_BELOW, align)}


@pytest.mark.parametrize(
    "text",
    [
        "base + c*2",
        "(base + c ^ (base + c >> 3) & 112) + 5",
        "(base | 7) - (base & 3)",
        "base*3 % 64 + base/32",
        "c",
        "base % 8 * (base >> 2 & 3)",
        "(base << 1) + 2*base",
        "min(base & 15, c)",
    ],
)
def test_map_moves_with_the_base(text: str) -> None:
    columns = {"c": [0, 1, 9, 30]}
    tree = parse(text)
    found = shift_in_base(tree, Box(columns, 4))
    assert found is not None
    period, shift = found
    for base in (0, 1, 17, 1000, 4095, 70_001):
        here = evaluate(tree, {**columns, "base": [base] * 4}, 4)
        there = evaluate(tree, {**columns, "base": [base + period] * 4}, 4)
        assert there == [value + shift for value in here]


@pytest.mark.parametrize(
    ("seeds", "least"),
    [(range(1000, 1025), 18), pytest.param(range(1025, 1080), 40, marks=pytest.mark.nightly)],
)
def test_more_bases_change_nothing(monkeypatch: pytest.MonkeyPatch, seeds: range, least: int) -> None:
    def many(base: Base, period: int) -> list[int]:
        if base.align is None:
            return [0]
        top = max(2 * period, 2048, 3 * base.align)
        return [*range(0, top, base.align), BASES_BELOW - base.align]

    compared = 0
    for seed in seeds:
        spec = random_spec(seeded(seed))
        try:
            few = judge(spec)
        except (OracleError, OracleAmbiguousError):
            continue
        with monkeypatch.context() as patch:
            patch.setattr(Base, "free_values", many)
            assert judge(spec) == few
        compared += 1
    assert compared > least


def test_random_specs_are_repeatable_and_mostly_judged() -> None:
    declined = 0
    for seed in range(30):
        spec = random_spec(seeded(seed))
        assert spec == random_spec(seeded(seed))
        try:
            assert judge(spec)
        except (OracleError, OracleAmbiguousError):
            declined += 1
    assert declined < 5
