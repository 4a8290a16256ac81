"""Every pattern measured on an H100 (tests/data/README.md), by the scalar rule and by the
vectorised one.

Those of 16-byte cp.async.cg are in test_octets.py.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

from swzverify.hardware import access_cost, cost_many
from tests.measured import OPS, warps_of

DATA = Path(__file__).parent.parent / "data"
# rows that ptxas turns into a measured row's machine instruction, so that the same counts must come
# out
SAME_CODE = {
    "ld.shared.b64": "LDS64",
    "ld.shared.v2.b64": "LDS128",
    "st.shared.b64": "STS64",
    "st.shared.v2.b64": "STS128",
}
CASES = [(name, op) for op, name in OPS.items()] + list(SAME_CODE.items())


class Measured(NamedTuple):
    op: np.ndarray
    addresses: np.ndarray
    active: np.ndarray
    wavefronts: np.ndarray
    bank_conflicts: np.ndarray

    def of(self, op: str) -> Measured:
        rows = self.op == op
        return Measured(*(column[rows] for column in self))

    def warps(self) -> list[list[int | None]]:
        return warps_of(self.addresses, self.active)


def load(name: str) -> Measured:
    with np.load(DATA / name) as file:
        wavefronts = file["wavefronts"].astype(np.int64)
        return Measured(
            file["op"],
            file["byte_offset"].astype(np.int64),
            (file["active_mask"][:, None] >> np.arange(32, dtype=np.uint32) & 1).astype(bool),
            wavefronts,
            file["bank_conflicts"].astype(np.int64),
        )


@pytest.fixture(scope="module")
def patterns() -> Measured:
    return load("h100_patterns.npz")


def test_the_data_is_whole(patterns: Measured) -> None:
    assert len(patterns.wavefronts) == 5940
    assert {op: int((patterns.op == op).sum()) for op in np.unique(patterns.op)} == dict.fromkeys(sorted(OPS), 270)
    # conflicts, joins and partial warps must all be in it, or agreement would prove little
    assert patterns.wavefronts.max() == 32
    assert (patterns.of("LDS128").wavefronts == 2).any()
    assert (~patterns.active).any()


@pytest.mark.parametrize(("name", "op"), CASES, ids=[name for name, _ in CASES])
def test_scalar_rule_reproduces_every_pattern(patterns: Measured, name: str, op: str) -> None:
    rows = patterns.of(op)
    costs = [access_cost(name, warp) for warp in rows.warps()]
    assert [cost.wavefronts for cost in costs] == rows.wavefronts.tolist()
    assert [cost.bank_conflicts for cost in costs] == rows.bank_conflicts.tolist()


@pytest.mark.parametrize(("name", "op"), CASES, ids=[name for name, _ in CASES])
def test_vectorised_rule_reproduces_every_pattern(patterns: Measured, name: str, op: str) -> None:
    rows = patterns.of(op)
    costs = cost_many(name, rows.addresses, rows.active)
    np.testing.assert_array_equal(costs.wavefronts, rows.wavefronts)
    np.testing.assert_array_equal(costs.bank_conflicts, rows.bank_conflicts)


def test_dropping_the_join_never_undercounts(patterns: Measured) -> None:
    """In the groups of a store, which never join, a load never costs less than was measured."""
    for width, store in (("LDS64", "st.shared.v2.b32"), ("LDS128", "st.shared.v4.b32")):
        rows = patterns.of(width)
        unjoined = cost_many(store, rows.addresses, rows.active).wavefronts
        assert (unjoined >= rows.wavefronts).all()
        assert (unjoined > rows.wavefronts).any()
