"""What a row of the table may hold: every value at the edge of a rule, and beside it."""

from __future__ import annotations

import dataclasses

import pytest

from swzverify.hardware import INSTRUCTIONS, Kind

LOAD = INSTRUCTIONS["ld.shared.v4.b32"]


@pytest.mark.parametrize("width_bytes", range(20))
def test_widths_are_powers_of_two_up_to_16(width_bytes: int) -> None:
    if width_bytes in {1, 2, 4, 8, 16}:
        assert dataclasses.replace(LOAD, width_bytes=width_bytes).width_bytes == width_bytes
        return
    with pytest.raises(
        ValueError, match=f"^ld.shared.v4.b32: width_bytes is {width_bytes}, not a power of two up to 16$"
    ):
        dataclasses.replace(LOAD, width_bytes=width_bytes)


@pytest.mark.parametrize(
    ("address_lanes", "group_lanes"), [(-8, 8), (0, 1), (1, 1), (8, 8), (9, 8), (32, 32), (33, 33), (33, 1)]
)
def test_address_lanes_are_whole_groups_of_a_warp(address_lanes: int, group_lanes: int) -> None:
    change = {"address_lanes": address_lanes, "group_lanes": group_lanes, "joins": False}
    if (address_lanes, group_lanes) in {(1, 1), (8, 8), (32, 32)}:
        assert dataclasses.replace(LOAD, **change).group_count == 1
        return
    said = f"^ld.shared.v4.b32: {address_lanes} lanes do not split into groups of {group_lanes}$"
    with pytest.raises(ValueError, match=said):
        dataclasses.replace(LOAD, **change)


@pytest.mark.parametrize("kind", Kind)
@pytest.mark.parametrize("group_lanes", [8, 16, 32])
def test_only_plain_loads_of_more_than_one_group_join(kind: Kind, group_lanes: int) -> None:
    change = {"kind": kind, "group_lanes": group_lanes, "joins": True}
    if kind is Kind.LOAD and group_lanes < 32:
        assert dataclasses.replace(LOAD, **change).joined_group_lanes == 2 * group_lanes
        return
    with pytest.raises(ValueError, match=r"^ld.shared.v4.b32: only plain loads of more than one group join$"):
        dataclasses.replace(LOAD, **change)


MEASURED = "measured on an H100: tests/data/h100_patterns.npz, op "
CALIBRATED = "measured on an H100: tests/data/h100_calibration.npz"
SOURCES = {
    **{
        f"{op}.shared.b{bits}": f"{MEASURED}{code}{bits}"
        for op, code in (("ld", "LDS"), ("st", "STS"))
        for bits in (8, 16, 32)
    },
    **{
        f"{op}.shared.v{n}.b32": f"{MEASURED}{code}{32 * n}"
        for op, code in (("ld", "LDS"), ("st", "STS"))
        for n in (2, 4)
    },
    **{f"{op}.shared.{suffix}": CALIBRATED for op in ("ld", "st") for suffix in ("b64", "v2.b64")},
    **{f"ldmatrix.x{n}": f"{MEASURED}LDSM{n}" for n in (1, 2, 4)},
    **{f"ldmatrix.x{n}.trans": f"{MEASURED}LDSM{n}T" for n in (1, 2, 4)},
    **{f"stmatrix.x{n}": f"{MEASURED}STSM{n}" for n in (1, 2, 4)},
    **{f"stmatrix.x{n}.trans": CALIBRATED for n in (1, 2, 4)},
    "cp.async.4": f"{MEASURED}CPASYNC4",
    "cp.async.8": f"{MEASURED}CPASYNC8",
    "cp.async.16": "cp.async.cg, measured on an H100: tests/data/h100_cp_async16_rule.npz",
    "cp.async.ca.16": CALIBRATED,
    "atom.shared.add.u32": f"{MEASURED}ATOMS_ADD",
}


def test_where_each_row_is_from() -> None:
    assert {name: row.source for name, row in INSTRUCTIONS.items()} == SOURCES


KINDS = {
    "ld": "load",
    "st": "store",
    "ldmatrix": "ldmatrix",
    "stmatrix": "stmatrix",
    "cp": "cp.async",
    "atom": "atomic",
}
WIDTHS = {
    "b8": 1,
    "b16": 2,
    "b32": 4,
    "b64": 8,
    "v2.b32": 8,
    "v4.b32": 16,
    "v2.b64": 16,
    "u32": 4,
    "4": 4,
    "8": 8,
    "16": 16,
}


@pytest.mark.parametrize("name", INSTRUCTIONS)
def test_kind_and_width_are_those_of_the_name(name: str) -> None:
    row = INSTRUCTIONS[name]
    op, _, rest = name.partition(".")
    suffix = rest.removeprefix("shared.").removeprefix("add.").removeprefix("async.").removeprefix("ca.")
    assert row.kind.value == KINDS[op]
    assert row.width_bytes == (16 if "matrix" in op else WIDTHS[suffix])
    assert [type(v) for v in (row.joins, row.counts_equal_words, row.warp_wide, row.by_octets)] == [bool] * 4
    assert (row.name, type(row.group_lanes)) == (name, int)
