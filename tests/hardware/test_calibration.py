"""Every pattern of the H100's calibration (tests/data/README.md), by the scalar rule and by the
vectorised one.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

from swzverify.hardware import INSTRUCTIONS, Evidence, access_cost, cost_many, evidence
from tests.measured import warps_of

DATA = Path(__file__).parent.parent / "data"


class Rows(NamedTuple):
    addresses: np.ndarray
    active: np.ndarray
    wavefronts: np.ndarray
    bank_conflicts: np.ndarray

    def warps(self) -> list[list[int | None]]:
        return warps_of(self.addresses, self.active)


def rows_of(file: str, name: str) -> Rows:
    with np.load(DATA / file) as arrays:
        masks = arrays[f"{name}/masks"]
        active = (masks[:, None] >> np.arange(32, dtype=np.uint32) & 1).astype(bool)
        addresses = arrays[f"{name}/addresses"].astype(np.int64)
        return Rows(addresses, active, arrays[f"{name}/wavefronts"], arrays[f"{name}/bank_conflicts"])


def test_the_data_is_whole() -> None:
    with np.load(DATA / "h100_calibration.npz") as arrays:
        names = {key.removesuffix("/masks") for key in arrays.files if key.endswith("/masks")}
        assert sum(len(arrays[f"{name}/masks"]) for name in names) == 20_150
    assert names == set(INSTRUCTIONS)


@pytest.mark.parametrize("name", [name for name, row in INSTRUCTIONS.items() if not row.by_octets])
def test_both_rules_reproduce_every_pattern(name: str) -> None:
    rows = rows_of("h100_calibration.npz", name)
    costs = [access_cost(name, warp) for warp in rows.warps()]
    assert [cost.wavefronts for cost in costs] == rows.wavefronts.tolist()
    assert [cost.bank_conflicts for cost in costs] == rows.bank_conflicts.tolist()
    many = cost_many(name, rows.addresses, rows.active)
    np.testing.assert_array_equal(many.wavefronts, rows.wavefronts)
    np.testing.assert_array_equal(many.bank_conflicts, rows.bank_conflicts)
    assert len(np.unique(rows.wavefronts)) > 4


def test_copies_drawn_after_the_rule_was_in_the_model() -> None:
    rows = rows_of("h100_cp_async16_model.npz", "cp.async.16")
    costs = [access_cost("cp.async.16", warp) for warp in rows.warps()]
    assert [cost.wavefronts for cost in costs] == rows.wavefronts.tolist()
    many = cost_many("cp.async.16", rows.addresses, rows.active)
    np.testing.assert_array_equal(many.wavefronts, rows.wavefronts)
    assert len(rows.wavefronts) == 3000
    assert set(range(1, 33)) == set(rows.wavefronts.tolist())


def test_everything_measured_is_called_so() -> None:
    assert {evidence("sm_90", name) for name in INSTRUCTIONS} == {Evidence.MEASURED}
