"""Sectors of global memory: the scalar count, the sorted one, and a count of this file's own; and the
table of instructions.
"""

from __future__ import annotations

import csv
import gzip
import random
from collections import Counter

import numpy as np
import pytest

from swzverify.errors import SwzError
from swzverify.hardware import (
    GLOBAL_INSTRUCTIONS,
    INSTRUCTIONS,
    Evidence,
    access_cost,
    cost_many,
    evidence,
    find_any_instruction,
    find_instruction,
    require,
    sector_cost,
    sectors_many,
    turn_bytes,
)
from tests.hardware.test_calibration import DATA

WIDTHS = {
    f"{opcode}.global.{suffix}": width
    for opcode in ("ld", "st")
    for suffix, width in (
        ("b8", 1), ("b16", 2), ("b32", 4), ("b64", 8), ("v2.b32", 8), ("v4.b32", 16), ("v2.b64", 16)
    )
}  # fmt: skip
"""The table again, from the manual."""

SPELLINGS = {
    "ld.global.f32": "ld.global.b32",
    "ld.global.u8": "ld.global.b8",
    "ld.global.bf16": "ld.global.b16",
    "ld.global.v4.b8": "ld.global.b32",
    "ld.global.v4.f16x2": "ld.global.v4.b32",
    "ld.global.v4.b16": "ld.global.v2.b32",
    "ld.global.b128": "ld.global.v2.b64",
    "ld.global.nc.f32": "ld.global.b32",
    "ld.global.ca.nc.v2.f32": "ld.global.v2.b32",
    "ld.global.cv.u32": "ld.global.b32",
    "ld.global.L1::evict_first.L2::cache_hint.L2::256B.v4.u32": "ld.global.v4.b32",
    "ld.volatile.global.f64 %fd1, [%rd1];": "ld.global.b64",
    "ld.relaxed.gpu.global.v2.f64": "ld.global.v2.b64",
    "st.global.wt.v4.f32 [%rd1], {%f1, %f2, %f3, %f4};": "st.global.v4.b32",
    "st.release.sys.global.u32": "st.global.b32",
    " st.global.L1::no_allocate.f32 ": "st.global.b32",
}
NONE_OF_THE_TABLE = {
    "ld.global.v8.f32": "256 bits per lane",
    "st.global.v4.f64": "256 bits per lane",
    "ld.global.v8.b16": "unknown instruction",
    "ld.global.wt.f32": "unknown instruction",
    "st.global.nc.f32": "unknown instruction",
    "ld.global": "unknown instruction",
    "LD.GLOBAL.F32": "unknown instruction",
    "ld.global::foo.f32": "unknown instruction",
    "atom.global.add.u32": "touches global memory",
    "prefetch.global.L2": "touches global memory",
    "LDG.E.128": "goes to global memory",
    "ld.local.f32": "touches local memory",
}


def test_the_rows_are_the_manuals() -> None:
    assert {name: row.width_bytes for name, row in GLOBAL_INSTRUCTIONS.items()} == WIDTHS
    for name, row in GLOBAL_INSTRUCTIONS.items():
        assert (row.is_global, row.group_lanes, row.address_lanes, row.warp_wide) == (True, 32, 32, False)
        assert (row.unit_bytes, row.slots, turn_bytes(row)) == (32, 1, 32)
        assert not set(GLOBAL_INSTRUCTIONS) & set(INSTRUCTIONS)
        require("sm_70", row)
        assert evidence("sm_90", row) is Evidence.MEASURED
        assert evidence("sm_70", row) is Evidence.DOCUMENTED
        assert find_any_instruction(name) is row


@pytest.mark.parametrize(("spelling", "name"), SPELLINGS.items())
def test_spellings(spelling: str, name: str) -> None:
    assert find_any_instruction(spelling).name == name


@pytest.mark.parametrize(("spelling", "why"), NONE_OF_THE_TABLE.items())
def test_what_is_no_row(spelling: str, why: str) -> None:
    with pytest.raises(SwzError, match=why) as found:
        find_any_instruction(spelling)
    assert found.value.code == "SWZ401"
    assert found.value.hint


@pytest.mark.parametrize("name", [*WIDTHS, *SPELLINGS])
def test_the_table_of_shared_memory_has_none_of_them(name: str) -> None:
    with pytest.raises(SwzError, match="global memory") as found:
        find_instruction(name)
    assert found.value.code == "SWZ401"


def test_shared_ones_are_found_as_ever() -> None:
    for name, row in INSTRUCTIONS.items():
        assert find_any_instruction(name) is row
        assert not row.is_global


@pytest.mark.parametrize("name", WIDTHS)
def test_no_count_of_the_other_memory(name: str) -> None:
    row = GLOBAL_INSTRUCTIONS[name]
    shared = find_instruction(f"{name[:2]}.shared.b32")
    addresses = [16 * lane for lane in range(32)]
    table, on = np.array([addresses]), np.ones((1, 32), dtype=np.bool_)
    for count in (
        lambda: access_cost(row, addresses),
        lambda: cost_many(row, table, on),
        lambda: sector_cost(shared, addresses),
        lambda: sectors_many(shared, table, on),
    ):
        with pytest.raises(SwzError) as found:
            count()
        assert found.value.code == "SWZ409"


@pytest.mark.parametrize(
    ("name", "addresses", "sectors", "minimum"),
    [
        ("ld.global.b8", range(32), 1, 1),
        ("ld.global.b16", range(0, 64, 2), 2, 2),
        ("ld.global.b32", range(0, 128, 4), 4, 4),
        ("ld.global.b32", range(28, 156, 4), 5, 4),
        ("ld.global.b64", range(0, 256, 8), 8, 8),
        ("ld.global.v4.b32", range(0, 512, 16), 16, 16),
        ("ld.global.v4.b32", range(16, 528, 16), 17, 16),
        ("ld.global.b32", [64] * 32, 1, 4),
        ("ld.global.v4.b32", [64] * 32, 1, 16),
        ("st.global.b32", range(0, 4096, 128), 32, 4),
        ("st.global.v4.b32", range(0, 1024, 32), 32, 16),
        ("st.global.b32", [lane * 4 if lane % 2 else None for lane in range(32)], 4, 2),
        ("st.global.b32", [None] * 31 + [2**40], 1, 1),
        ("st.global.b32", [None] * 32, 0, 0),
        ("ld.global.b8", [31, 32] + [None] * 30, 2, 1),
    ],
)
def test_known_patterns(name: str, addresses: list[int | None], sectors: int, minimum: int) -> None:
    found = sector_cost(name, [*addresses])
    assert (found.sectors, found.minimum) == (sectors, minimum)
    active = np.array([[each is not None for each in addresses]])
    table = np.array([[0 if each is None else each for each in addresses]])
    assert [each.tolist() for each in sectors_many(name, table, active)] == [[sectors], [minimum]]


def test_two_counts_and_a_third_one_agree() -> None:
    rng = random.Random(5)
    for name, width in WIDTHS.items():
        rows: list[list[int | None]] = []
        for _ in range(60):
            reach, idle = rng.choice((2, 8, 64, 1000)), rng.choice((0, 0, 0.3, 0.95))
            rows.append([None if rng.random() < idle else width * rng.randrange(reach) for _ in range(32)])
        active = np.array([[each is not None for each in row] for row in rows])
        # An inactive lane's address counts nowhere, whatever it is.
        table = np.array([[-7 if each is None else each for each in row] for row in rows])
        many = sectors_many(name, table, active)
        for at, row in enumerate(rows):
            marked = bytearray(4 + width * 1000 // 32)
            for each in row:
                for byte in range(width if each is not None else 0):
                    marked[((each or 0) + byte) // 32] = 1
            lanes = sum(each is not None for each in row)
            wanted = (sum(marked), next(n for n in range(513) if 32 * n >= lanes * width))
            found = sector_cost(name, row)
            assert (found.sectors, found.minimum) == wanted
            assert (int(many[0][at]), int(many[1][at])) == wanted


@pytest.mark.parametrize(
    ("name", "addresses"),
    [("ld.global.b32", [2] * 32), ("ld.global.b32", [-4] * 32), ("ld.global.v4.b32", [8] * 32)],
)
def test_addresses_that_fault(name: str, addresses: list[int]) -> None:
    for count in (
        lambda: sector_cost(name, addresses),
        lambda: sectors_many(name, np.array([addresses]), np.ones((1, 32), dtype=np.bool_)),
    ):
        with pytest.raises(SwzError, match="multiple of") as found:
            count()
        assert found.value.code == "SWZ404"


def test_a_warp_has_32_lanes() -> None:
    for count in (
        lambda: sector_cost("ld.global.b32", [0] * 31),
        lambda: sectors_many("ld.global.b32", np.zeros((1, 31), dtype=np.int64), np.ones((1, 31), dtype=np.bool_)),
    ):
        with pytest.raises(SwzError) as found:
            count()
        assert found.value.code == "SWZ404"


def test_an_h200_counts_what_the_rule_says() -> None:
    seen: Counter[str] = Counter()
    with gzip.open(DATA / "h200_sectors.csv.gz", "rt", encoding="utf-8") as file:
        for line in csv.DictReader(file):
            offsets = [int(line[f"lane {lane}"]) for lane in range(32)]
            addresses = [None if offset < 0 else offset for offset in offsets]
            counted = sector_cost(find_any_instruction(line["instruction"]), addresses).sectors
            assert counted == int(line["sectors"]), line
            seen[line["instruction"]] += 1
    assert seen == dict.fromkeys(WIDTHS, 60)
