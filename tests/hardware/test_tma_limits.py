"""Tiles that a TMA can load, against what an H200 and its driver took:
`tests/hardware/tma_limits.cu` asked them.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path

import pytest

from swzverify.errors import SwzError
from swzverify.layout.tma import TmaMode, tma_layout
from swzverify.spec import SpecError, parse_spec

TABLE = Path(__file__).parent.parent / "data" / "h200_tma_limits.csv"


@dataclass(frozen=True)
class Load:
    """One tile load: elements of a byte, `rows` of `inner_bytes`, to an address in shared memory."""

    mode: str
    inner_bytes: int
    rows: int
    base: int
    driver: int
    load: str


def loads() -> list[Load]:
    with TABLE.open(newline="") as file:
        return [
            Load(
                row["mode"],
                int(row["inner_bytes"]),
                int(row["rows"]),
                int(row["base"]),
                int(row["driver"]),
                row["load"],
            )
            for row in csv.DictReader(file)
        ]


def test_the_table_has_both_sides_of_every_limit() -> None:
    found = loads()
    assert len(found) == 291
    assert {each.load for each in found} == {"loaded", "cudaErrorMisalignedAddress", "-"}
    assert {each.mode for each in found if each.load == "cudaErrorMisalignedAddress"} == {
        mode.value for mode in TmaMode
    }
    assert {each.rows for each in found} >= {256, 257}


def refused_shape(load: Load) -> bool:
    try:
        tma_layout(TmaMode(load.mode), load.rows, load.inner_bytes, 8)
    except SwzError:
        return True
    return False


def test_the_shapes_that_are_refused_are_the_driver_s() -> None:
    for load in loads():
        assert refused_shape(load) == (load.driver != 0), load


def test_a_load_faults_at_every_base_that_is_no_multiple_of_128() -> None:
    for load in loads():
        if load.driver == 0:
            assert (load.load == "loaded") == (load.base % 128 == 0), load


SPEC = """\
swzverify: 1
target: sm_90
tiles:
  A: {{bits: 8, tma: {{swizzle: "{mode}", box: [{rows}, {inner}]}}, base: {base}}}
claims:
  - injective: A
"""


@pytest.mark.parametrize("mode", [mode.value for mode in TmaMode])
def test_a_spec_takes_what_the_chip_takes(mode: str) -> None:
    for load in loads():
        if load.mode != mode:
            continue
        text = SPEC.format(mode=mode, rows=load.rows, inner=load.inner_bytes, base=load.base)
        if load.load == "loaded":
            assert parse_spec(text, path="a.swz.yaml").claims, load
        else:
            with pytest.raises(SpecError, match=r"SWZ22[0-9]"):
                parse_spec(text, path="a.swz.yaml")
