"""The oracle against facts: measured configurations, measured rows, and what is known of TMA."""

from __future__ import annotations

import pytest

from .brute_force import Judgement, judge
from .hardware import read_instruction, warp_cost
from .judgement import Verdict
from .measured_rows import MEASURED_ROWS
from .one_claim import only
from .yaml_values import Spec, Yaml

LDSM4: dict[str, Yaml] = {
    "instruction": "ldmatrix.x4",
    "threads": 32,
    "for": {"k": {"stop": 56, "step": 8}},
    "coord": ["lane%16", "k + lane/16*8"],
}
COLUMN: dict[str, Yaml] = {"instruction": "ld.shared.b32", "threads": 32, "coord": ["tid", 0]}
WIDE: dict[str, Yaml] = {"instruction": "ld.shared.v4.b32", "threads": 32, "coord": ["tid%8", "tid/8*8"]}

# Source: runs on an H100 under Nsight Compute; element, layout, swizzle, access, wavefronts,
# minimum.
CONFIGURATIONS: dict[str, tuple[str, Yaml, str | None, dict[str, Yaml], int, int]] = {
    "gemm atom": ("f16", "(64,64):(64,1)", "Swizzle<3,3,3>", {**LDSM4}, 4, 4),
    "gemm unswizzled": ("f16", "(64,64):(64,1)", None, {**LDSM4}, 32, 4),
    "gemm 32 wide": (
        "f16",
        "(64,32):(32,1)",
        "Swizzle<2,3,3>",
        {**LDSM4, "for": {"k": {"stop": 24, "step": 8}}},
        4,
        4,
    ),
    "gemm 128 wide, wrong bits": ("f16", "(64,128):(128,1)", "Swizzle<3,3,3>", {**LDSM4}, 8, 4),
    "gemm 128 wide": ("f16", "(64,128):(128,1)", "Swizzle<3,3,4>", {**LDSM4}, 4, 4),
    "gemm padded": ("f16", {"shape": [64, 64], "order": "row", "pad": 8}, None, {**LDSM4}, 4, 4),
    "M major": (
        "f16",
        "(64,8):(1,64)",
        "Swizzle<3,3,3>",
        {"instruction": "ldmatrix.x4.trans", "threads": 32, "coord": ["lane/8*8", "lane%8"]},
        4,
        4,
    ),
    "f32 column 5,0,6": ("f32", "(32,64):(64,1)", "Swizzle<5,0,6>", {**COLUMN}, 1, 1),
    "f32 column 5,0,8": ("f32", "(32,64):(64,1)", "Swizzle<5,0,8>", {**COLUMN}, 4, 1),
    "f32 column 5,2,6": ("f32", "(32,64):(64,1)", "Swizzle<5,2,6>", {**COLUMN}, 4, 1),
    "f32 column 5,2,8": ("f32", "(32,64):(64,1)", "Swizzle<5,2,8>", {**COLUMN}, 16, 1),
    "int8": ("i8", "(8,128):(128,1)", "Swizzle<3,4,3>", {**WIDE, "coord": ["tid%8", "tid/8*16"]}, 4, 4),
    "f16 vectors": ("f16", "(8,64):(64,1)", "Swizzle<3,3,3>", {**WIDE}, 4, 4),
    "f16 vectors unswizzled": ("f16", "(8,64):(64,1)", None, {**WIDE}, 32, 4),
    "16 wide 4,0,4": ("f32", "(32,16):(16,1)", "Swizzle<4,0,4>", {**COLUMN}, 2, 1),
    "16 wide 4,0,5": ("f32", "(32,16):(16,1)", "Swizzle<4,0,5>", {**COLUMN}, 1, 1),
    "16 wide 3,0,4": ("f32", "(32,16):(16,1)", "Swizzle<3,0,4>", {**COLUMN}, 4, 1),
    "f64 column": ("f64", "(32,32):(32,1)", None, {**COLUMN, "instruction": "ld.shared.v2.b32"}, 32, 2),
    "f64 column 4,0,5": (
        "f64",
        "(32,32):(32,1)",
        "Swizzle<4,0,5>",
        {**COLUMN, "instruction": "ld.shared.v2.b32"},
        2,
        2,
    ),
    "f64 column 5,0,5": (
        "f64",
        "(32,32):(32,1)",
        "Swizzle<5,0,5>",
        {**COLUMN, "instruction": "ld.shared.v2.b32"},
        2,
        2,
    ),
    "f32 padded": ("f32", {"shape": [32, 32], "pad": 1}, None, {**COLUMN}, 1, 1),
    "f32 square": ("f32", "(32,32):(32,1)", None, {**COLUMN}, 32, 1),
    # Over all columns: the odd ones take 2 wavefronts, the even ones 1.
    "f16 padded by one": (
        "f16",
        {"shape": [32, 32], "pad": 1},
        None,
        {"instruction": "ld.shared.b16", "threads": 32, "for": {"c": 32}, "coord": ["tid", "c"]},
        2,
        1,
    ),
    "sgemm 128": (
        "f32",
        "(128,8):(1,128)",
        None,
        {"instruction": "st.shared.b32", "threads": 32, "coord": ["tid/8", "tid%8"]},
        8,
        1,
    ),
    "sgemm 129": (
        "f32",
        "(128,8):(1,129)",
        None,
        {"instruction": "st.shared.b32", "threads": 32, "coord": ["tid/8", "tid%8"]},
        4,
        1,
    ),
    "sgemm 132": (
        "f32",
        "(128,8):(1,132)",
        None,
        {"instruction": "st.shared.b32", "threads": 32, "coord": ["tid/8", "tid%8"]},
        1,
        1,
    ),
}

READ_A, READ_B = "((tid >> 1) & 7) << 4", "(((tid & 0x30) >> 3) | (tid & 1)) << 4"
ADDRESSES = {
    "linear": ("ld.shared.v4.b32", "16*tid", 4, 4),
    "maxas writeS": ("st.shared.v4.b32", "((tid & 15)*16 + ((tid >> 4) & 1)*256)", 4, 4),
    "maxas readAs": ("ld.shared.v4.b32", READ_A, 2, 2),
    "maxas readBs": ("ld.shared.v4.b32", f"({READ_B}) + 2048", 2, 2),
    "maxas writeCs": ("st.shared.v4.b32", f"({READ_B})/4*64 + ({READ_A})", 8, 4),
    "maxas readCs": ("ld.shared.b32", "(((tid & 32) << 3) + (tid & 31)) << 2", 1, 1),
}


def measure(judgement: Judgement) -> tuple[Verdict, int | None, int | None]:
    return judgement.verdict, judgement.wavefronts, judgement.minimum


@pytest.mark.parametrize("row", CONFIGURATIONS.values(), ids=CONFIGURATIONS)
def test_measured_configuration(row: tuple[str, Yaml, str | None, dict[str, Yaml], int, int]) -> None:
    element, layout, swizzle, access, wavefronts, minimum = row
    tile: dict[str, Yaml] = {"element": element, "layout": layout}
    if swizzle:
        tile["swizzle"] = swizzle
    spec: Spec = {
        "tiles": {"T": tile},
        "accesses": {"X": {"tile": "T", **access}},
        "claims": [{"conflict_free": "X"}],
    }
    expected = "proved" if wavefronts == minimum else "refuted"
    assert measure(only(spec)) == (expected, wavefronts, minimum)


@pytest.mark.parametrize("row", ADDRESSES.values(), ids=ADDRESSES)
def test_measured_address(row: tuple[str, str, int, int]) -> None:
    instruction, address, wavefronts, minimum = row
    access: Yaml = {"instruction": instruction, "threads": 32, "address": address}
    exact = only({"accesses": {"X": access}, "claims": [{"wavefronts": {"access": "X", "at_most": wavefronts}}]})
    below = only({"accesses": {"X": access}, "claims": [{"wavefronts": {"access": "X", "at_most": wavefronts - 1}}]})
    assert measure(exact) == ("proved", wavefronts, minimum)
    assert measure(below) == ("refuted", wavefronts, minimum)


def lanes(mask: int, offsets: str, count: int = 32) -> list[int | None]:
    values = [int(text) for text in offsets.split()]
    return [value if mask >> lane & 1 and lane < count else None for lane, value in enumerate(values)]


@pytest.mark.parametrize("row", MEASURED_ROWS)
def test_measured_row(row: tuple[str, int, str, int, int]) -> None:
    name, mask, offsets, wavefronts, conflicts = row
    instruction = read_instruction(name)
    cost = warp_cost(instruction, lanes(mask, offsets, instruction.lanes))
    assert (cost.wavefronts, cost.wavefronts - cost.minimum) == (wavefronts, conflicts)


@pytest.mark.parametrize(
    ("mode", "pitch", "swizzle", "alignment"),
    [
        ("128B", 64, "Swizzle<3,3,3>", 1024),
        ("64B", 32, "Swizzle<2,3,3>", 512),
        ("32B", 16, "Swizzle<1,3,3>", 256),
    ],
)
def test_tma_and_swizzle_agree_from_the_span_on(mode: str, pitch: int, swizzle: str, alignment: int) -> None:
    def spec(align: int) -> Spec:
        base: Yaml = {"align": align}
        tma: Yaml = {"element": "f16", "tma": {"swizzle": mode, "box": [32, pitch]}, "base": base}
        plain: Yaml = {
            "element": "f16",
            "layout": f"(32,{pitch}):({pitch},1)",
            "swizzle": swizzle,
            "base": base,
        }
        return {"tiles": {"P": tma, "Q": plain}, "claims": [{"equivalent": ["P", "Q"]}]}

    assert only(spec(alignment)).verdict == "proved"
    below = only(spec(alignment // 2))
    assert (below.verdict, below.smallest_base_alignment) == ("refuted", alignment)


def test_reader_with_row_and_7_on_64_byte_rows_is_wrong() -> None:
    tile: Yaml = {"element": "f16", "tma": {"swizzle": "64B", "box": [16, 32]}}
    wrong: Yaml = {"over": {"r": 16, "c": 32}, "value": "base + r*64 + ((c/8 ^ r) & 3)*16 + c%8*2"}
    right: Yaml = {"over": {"r": 16, "c": 32}, "value": "base + r*64 + ((c/8 ^ r/2) & 3)*16 + c%8*2"}
    spec: Spec = {
        "tiles": {"T": tile},
        "maps": {"W": wrong, "R": right},
        "claims": [{"equivalent": ["T", "W"]}, {"equivalent": ["T", "R"]}],
    }
    first, second = judge(spec)
    assert (first.verdict, first.smallest_base_alignment, second.verdict) == ("refuted", None, "proved")
