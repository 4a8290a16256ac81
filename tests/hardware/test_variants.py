"""What was counted of variants that the table leaves out, and what docs/hardware.md says of them."""

from __future__ import annotations

import csv

import numpy as np
import pytest

from swzverify.hardware import cost_many
from tests.hardware.test_calibration import DATA, rows_of

FILE = "h100_variants.npz"
SAME = {
    "exited_ld.shared.b32": "ld.shared.b32",
    "exited_ld.shared.v2.b32": "ld.shared.v2.b32",
    "exited_ld.shared.v4.b32": "ld.shared.v4.b32",
    "exited_st.shared.b8": "st.shared.b8",
    "exited_st.shared.v4.b32": "st.shared.v4.b32",
    "exited_atom.shared.add.u32": "atom.shared.add.u32",
    "exited_cp.async.4": "cp.async.4",
    "exited_cp.async.8": "cp.async.8",
    "cp.async.4_same_line": "cp.async.4",
    "cp.async.8_same_line": "cp.async.8",
    "red.shared.add.u32": "atom.shared.add.u32",
    "atom.shared.exch.b32": "atom.shared.add.u32",
    "atom.shared.max.s32": "atom.shared.add.u32",
}


@pytest.mark.parametrize(("variant", "row"), SAME.items(), ids=SAME)
def test_costs_what_the_row_costs(variant: str, row: str) -> None:
    found = rows_of(FILE, variant)
    costs = cost_many(row, found.addresses, found.active)
    np.testing.assert_array_equal(costs.wavefronts, found.wavefronts)
    np.testing.assert_array_equal(costs.bank_conflicts, found.bank_conflicts)


def test_compare_and_swap_goes_twice() -> None:
    """Twice the wavefronts of an add; 64 bits in groups of 16 lanes, as 8-byte cp.async has them."""
    for variant, row in (("atom.shared.cas.b32", "atom.shared.add.u32"), ("atom.shared.cas.b64", "cp.async.8")):
        found = rows_of(FILE, variant)
        costs = cost_many(row, found.addresses, found.active)
        np.testing.assert_array_equal(2 * costs.wavefronts, found.wavefronts)
        np.testing.assert_array_equal(costs.bank_conflicts, found.bank_conflicts)


@pytest.mark.parametrize("variant", ["cp.async.4", "cp.async.8"])
@pytest.mark.parametrize("lines", [0, 1, 2])
def test_scattered_sources_cost_more_and_never_less(variant: str, lines: int) -> None:
    stride = [32, 128, 132 if variant.endswith("4") else 136][lines]
    found = rows_of(FILE, f"{variant}_global_stride_{stride}")
    costs = cost_many(variant, found.addresses, found.active)
    assert (found.wavefronts >= costs.wavefronts).all()
    assert (found.wavefronts > costs.wavefronts).mean() > 0.5


@pytest.mark.parametrize("stride", [32, 128, 144])
def test_scattered_sources_cost_more_than_the_octet_rule_says(stride: int) -> None:
    """Why the page says that the global side must be coalesced."""
    found = rows_of(FILE, f"cp.async.16_global_stride_{stride}")
    costs = cost_many("cp.async.16", found.addresses, found.active)
    assert (found.wavefronts > costs.wavefronts).any()


@pytest.mark.parametrize("variant", ["red.shared.add.f32", "red.shared.add.u64", "atom.shared.add.u64"])
def test_loops_in_software_cost_more(variant: str) -> None:
    """ptxas makes compare-and-swap loops of them, whose turns depend on who meets whom: no rule is
    claimed.
    """
    found = rows_of(FILE, variant)
    like = "atom.shared.add.u32" if "32" in variant else "cp.async.8"
    assert (found.wavefronts > cost_many(like, found.addresses, found.active).wavefronts).all()


def test_tensor_cores_read_128_bytes_a_wavefront_in_every_layout() -> None:
    with (DATA / "h100_wgmma.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert len({(row["operand"], row["layout"]) for row in rows}) == 30
    for row in rows:
        read_bytes = 16 * 2 * (64 + int(row["n"]))
        assert float(row["wavefronts"]) == int(row["repeats"]) * read_bytes / 128
        assert float(row["bank_conflicts"]) == 0
