"""Costs by the slope of the clock: against 5,940 measured slopes, and where it must refuse."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from swzverify.gpu.cost_check import Clock, calibrated, ladder, ladder_wavefronts
from swzverify.hardware import INSTRUCTIONS, access_cost, find_instruction
from tests.measured import OPS

DATA = Path(__file__).parent.parent / "data" / "h100_patterns.npz"


@pytest.mark.parametrize("name", [name for name, row in INSTRUCTIONS.items() if not row.by_octets])
def test_the_ladder_costs_what_it_says(name: str) -> None:
    """No rule is needed to see it; the rule agrees."""
    row = find_instruction(name)
    rungs = ladder(row)
    for index, wanted in enumerate(ladder_wavefronts(row)):
        lanes = [
            int(a) if on else None for a, on in zip(rungs.addresses[index + 2], rungs.active[index + 2], strict=True)
        ]
        assert access_cost(row, lanes).wavefronts == wanted


@pytest.mark.parametrize("op", OPS)
def test_measured_slopes(op: str) -> None:
    """With the calibration that a device's own slopes give, whatever is told is what was counted."""
    with np.load(DATA) as file:
        mine = file["op"] == op
        slopes, counted = file["cycles"][mine], file["wavefronts"][mine].astype(int)
    known = (slopes / counted)[counted == counted.max()]
    # the floor: what patterns of the fewest wavefronts take at most
    clock = Clock(float(np.median(known)), float(slopes[counted == counted.min()].max()))
    told = [clock.wavefronts(float(slope)) for slope in slopes]
    assert all(t in (None, c) for t, c in zip(told, counted, strict=True))
    assert sum(t is not None for t in told) > 0.1 * len(told)


def test_a_calibration_that_is_no_line_is_none() -> None:
    row = find_instruction("ld.shared.b32")
    good = calibrated(row, np.array([1.1, 2.1, 8.0, 16.0], dtype=np.float32))
    assert good is not None
    assert (good.wavefronts(12.05), good.wavefronts(2.3)) == (12, None)
    for slopes in ([1, 2, 8, 24], [1, 2, 8, np.nan], [1, 2, 0, 0], [1, 2, -8, -16]):
        assert calibrated(row, np.array(slopes, dtype=np.float32)) is None


def test_copies_past_the_cache_are_not_told() -> None:
    """Whatever their slopes: that they follow the wavefronts was not measured."""
    slopes = np.array([4.0, 4.0, 32.0, 32.0], dtype=np.float32)
    assert calibrated(find_instruction("cp.async.ca.16"), slopes) is not None
    assert calibrated(find_instruction("cp.async.16"), slopes) is None


def test_wide_loads_below_the_way_back_are_not_told() -> None:
    """Two wavefronts or four: both take the four cycles of the way back to the registers."""
    row = find_instruction("ld.shared.v4.b32")
    clock = calibrated(row, np.array([4.0, 4.0, 32.0, 32.0], dtype=np.float32))
    assert clock is not None
    assert [clock.wavefronts(s) for s in (2.3, 4.0, 4.3, 5.0, 8.0)] == [None, None, None, 5, 8]
