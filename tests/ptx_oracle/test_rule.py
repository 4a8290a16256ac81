"""The cost rule against an H100's counters, and on patterns that can be counted by hand."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from . import Cost, cost

DATA = Path(__file__).parent.parent / "data"
MATRIX = {"ldmatrix": 16, "stmatrix": 16}
KINDS = {
    **{f"ld.shared.{name}": ("ld", width) for name, width in (("b8", 1), ("b16", 2), ("b32", 4), ("b64", 8))},
    **{f"st.shared.{name}": ("st", width) for name, width in (("b8", 1), ("b16", 2), ("b32", 4), ("b64", 8))},
    **{f"{op}.shared.v2.b32": (op, 8) for op in ("ld", "st")},
    **{f"{op}.shared.{name}": (op, 16) for op in ("ld", "st") for name in ("v4.b32", "v2.b64")},
    **{f"{op}.x{n}{t}": (op, 16) for op in MATRIX for n in (1, 2, 4) for t in ("", ".trans")},
    **{f"cp.async.{width}": ("cp.async.ca", width) for width in (4, 8)},
    "cp.async.ca.16": ("cp.async.ca", 16),
    "cp.async.16": ("cp.async.cg", 16),
    "atom.shared.add.u32": ("atom", 4),
}
"""Kind and bytes of a lane of each instruction of the calibration."""


@pytest.mark.parametrize("name", KINDS)
def test_the_chip_counted_the_same(name: str) -> None:
    kind, width = KINDS[name]
    with np.load(DATA / "h100_calibration.npz") as data:
        columns = [data[f"{name}/{part}"].tolist() for part in ("addresses", "masks", "wavefronts", "bank_conflicts")]
    rows = int(name.split(".x")[1][0]) * 8 if kind in MATRIX else 32
    for addresses, mask, wavefronts, conflicts in zip(*columns, strict=True):
        found = cost(kind, width, {lane: addresses[lane] for lane in range(rows) if mask >> lane & 1})
        assert found.wavefronts == wavefronts
        if conflicts >= 0:
            assert found.wavefronts - found.minimum == conflicts


def test_every_instruction_of_the_calibration_is_asked() -> None:
    with np.load(DATA / "h100_calibration.npz") as data:
        assert {name.split("/")[0] for name in data.files} - {"about"} == set(KINDS)


@pytest.mark.parametrize(
    ("kind", "width", "step", "expected"),
    [
        ("ld", 4, 4, Cost(1, 1, 1)),
        ("ld", 4, 128, Cost(32, 1, 32)),
        ("ld", 4, 132, Cost(1, 1, 1)),
        ("ld", 4, 0, Cost(1, 1, 1)),
        ("atom", 4, 0, Cost(32, 1, 32)),
        ("red", 4, 0, Cost(32, 1, 32)),
        ("atom.inc", 4, 0, Cost(1, 1, 1)),
        ("st", 1, 1, Cost(1, 1, 1)),
        ("ld", 8, 8, Cost(2, 2, 1)),
        ("ld", 8, 0, Cost(1, 1, 1)),
        ("st", 8, 0, Cost(2, 2, 1)),
        ("ld", 16, 16, Cost(4, 4, 1)),
        ("ld", 16, 128, Cost(32, 4, 8)),
        ("cp.async.ca", 16, 144, Cost(4, 4, 1)),
        ("cp.async.cg", 16, 16, Cost(4, 4, 1)),
    ],
)
def test_lanes_at_equal_steps(kind: str, width: int, step: int, expected: Cost) -> None:
    assert cost(kind, width, {lane: 1024 + lane * step for lane in range(32)}) == expected


def test_ways_are_counted_before_groups_join() -> None:
    """Lanes in pairs: two groups of 16 of an 8-byte load join, and only then two words meet."""
    lanes = {lane: 1024 + 8 * (lane // 2 % 8) + 128 * (lane // 16) for lane in range(32)}
    assert cost("ld", 8, lanes) == Cost(2, 1, 1)


def test_lanes_that_are_off_cost_nothing() -> None:
    assert cost("st", 16, {0: 0, 9: 64}) == Cost(2, 2, 1)
    assert cost("ld", 4, {}) == Cost(0, 0, 0)
