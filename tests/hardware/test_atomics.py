"""What was counted of each shared atomic on an H200 (tests/data/README.md), against the rule."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from swzverify.compiled.kernel.atomics import row_of_parts
from swzverify.hardware import cost_many, find_instruction
from tests.hardware.test_calibration import DATA

LAUNCH = 1
"""Each launch counts one wavefront besides those of its atomic."""
ONCE = ["add.u32", "add.s32", "min.u32", "min.s32", "max.u32", "max.s32", "and.b32", "or.b32", "xor.b32", "inc.u32"]
ONCE += ["dec.u32", "exch.b32"]
IN_PARTS = {"cas.b32": 4, "add.f32": 4, "cas.b64": 8, "exch.b64": 8, "add.u64": 8, "and.b64": 8, "add.f64": 8}


def counted(name: str) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Addresses and active lanes with wavefronts and conflicts, of `atom` and, where there is one,
    `red`.
    """
    with np.load(DATA / "h200_atomics.npz") as arrays:
        active = (arrays["masks"][:, None] >> np.arange(32, dtype=np.uint32) & 1).astype(bool)
        for kind in ("atom", "red"):
            key = f"{kind}_{name.replace('.', '_')}"
            if f"{key}/wavefronts" in arrays.files:
                counters = np.stack([arrays[f"{key}/wavefronts"] - LAUNCH, arrays[f"{key}/bank_conflicts"]])
                yield arrays[f"{key}/addresses"].astype(np.int64), active, counters


@pytest.mark.parametrize("name", ONCE)
def test_operations_on_words_cost_what_an_add_costs(name: str) -> None:
    row = find_instruction(f"atom.shared.{name}")
    assert row is find_instruction("atom.shared.add.u32")
    seen = 0
    for addresses, active, (wavefronts, conflicts) in counted(name):
        costs = cost_many(row, addresses, active)
        np.testing.assert_array_equal(costs.wavefronts, wavefronts)
        np.testing.assert_array_equal(costs.bank_conflicts, conflicts)
        seen += len(np.unique(wavefronts))
    assert seen > 8


@pytest.mark.parametrize("name", IN_PARTS)
def test_atomics_in_parts_take_their_fewest_wavefronts_where_no_lanes_meet(name: str) -> None:
    row = row_of_parts(f"atom.shared.{name}")
    assert row is not None
    assert row.width_bytes == IN_PARTS[name]
    for addresses, active, (wavefronts, _) in counted(name):
        costs = cost_many(row, addresses, active)
        is_free = costs.wavefronts == costs.minimum
        full = active.all(axis=1)
        assert is_free[full].any()
        assert (~is_free[full]).any()
        assert (wavefronts[full & is_free] == wavefronts[full].min()).all()
        assert (wavefronts[full & ~is_free] > wavefronts[full].min()).all()


def test_a_minimum_of_64_bits_that_changes_nothing_is_a_load() -> None:
    """Its patterns hold zeros: only the loads of its loop run, and nothing is to be learned."""
    ((addresses, active, (wavefronts, _)),) = counted("min.u64")
    np.testing.assert_array_equal(cost_many("ld.shared.b64", addresses, active).wavefronts, wavefronts)
