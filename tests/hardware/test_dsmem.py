"""What docs/hardware.md says of distributed shared memory, replayed from the data."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from swzverify.hardware import LANES, CostArrays, cost_many
from tests.hardware.test_calibration import DATA

LOADS = {"ld.b32": 4, "ld.b64": 8, "ld.v2.b32": 8, "ld.v4.b32": 16}
STORES = {"st.b32": 4, "st.b64": 8, "st.v2.b32": 8, "st.v4.b32": 16}
ATOMICS = {"atom.add.u32": 4, "red.add.u32": 4}
ASYNC = {"st.async.b32": 4, "st.async.v4.b32": 16}
WIDTH_BYTES = LOADS | STORES | ATOMICS | ASYNC
SECTOR_BYTES = 32
CYCLES_A_SECTOR = 1.5


@dataclass(frozen=True, slots=True)
class Rows:
    """Columns of equal length."""

    columns: dict[str, np.ndarray]

    def __len__(self) -> int:
        return len(self["instruction"])

    def __getitem__(self, column: str) -> np.ndarray:
        return self.columns[column]

    def where(self, chosen: np.ndarray) -> Rows:
        return Rows({name: column[chosen] for name, column in self.columns.items()})

    def of(self, *names: str) -> Rows:
        return self.where(np.isin(self["instruction"], names))

    @property
    def active(self) -> np.ndarray:
        return (self["active_mask"][:, None] >> np.arange(LANES, dtype=np.uint32) & 1).astype(bool)

    def pieces(self, size: int) -> np.ndarray:
        """The different aligned pieces of that many bytes that each row's lanes touch."""
        found: list[int] = []
        for name, offsets, active in zip(
            self["instruction"], self["byte_offset"].astype(np.int64), self.active, strict=True
        ):
            ends = offsets[active][:, None] + np.arange(0, WIDTH_BYTES[str(name)], 4)
            found.append(len(np.unique(ends // size)))
        return np.array(found)

    def local_costs(self, name: str) -> CostArrays:
        """What the model says of one instruction's rows in a block's own memory."""
        plain = {"red.add.u32": "atom.shared.add.u32", "atom.add.u32": "atom.shared.add.u32"}
        row = plain.get(name, f"{name[:2]}.shared.{name[3:]}")
        return cost_many(row, self["byte_offset"].astype(np.int64), self.active)


def load(prefix: str = "") -> Rows:
    with np.load(DATA / "h100_dsmem.npz") as arrays:
        names = [
            key for key in arrays.files if key.startswith(prefix) and ("/" in key) == bool(prefix) and key != "about"
        ]
        return Rows({key.removeprefix(prefix): arrays[key] for key in names})


@pytest.fixture(scope="module")
def rows() -> Rows:
    return load()


@pytest.fixture(scope="module")
def other(rows: Rows) -> Rows:
    """Accesses to another block's memory, by one block of a cluster of two."""
    return rows.where((rows["window"] == "other") & (rows["cluster"] == 2))


def test_the_data_is_whole(rows: Rows, other: Rows) -> None:
    assert len(rows) == 5328
    assert set(rows["instruction"].tolist()) == set(WIDTH_BYTES)
    assert set(rows["cluster"].tolist()) == {2, 4, 8}
    assert set(rows["window"].tolist()) == {"own_cta", "own", "own_mapa", "other"}
    assert {name: len(other.of(name)) for name in WIDTH_BYTES} == dict.fromkeys(WIDTH_BYTES, 123)


@pytest.mark.parametrize("name", LOADS | STORES | ATOMICS)
def test_the_own_block_costs_what_the_model_says(rows: Rows, name: str) -> None:
    """With `.shared::cta`, with its plain address in `.shared::cluster`, and through `mapa`."""
    own = rows.of(name).where(rows.of(name)["window"] != "other")
    assert len(own) == 299
    costs = own.local_costs(name)
    np.testing.assert_array_equal(costs.wavefronts, own["wavefronts"])
    np.testing.assert_array_equal(costs.bank_conflicts, own["bank_conflicts"])
    assert costs.bank_conflicts.max() > 8


def test_the_bank_counters_see_nothing_of_another_blocks_memory(rows: Rows) -> None:
    far = rows.where(rows["window"] == "other")
    assert len(far) == 2092
    assert (far["bank_conflicts"] == 0).all()
    assert (far.of(*LOADS, *STORES, *ASYNC)["wavefronts"] == 0).all()
    assert (far.of(*ATOMICS)["wavefronts"] == 1).all()  # whatever the pattern


def test_what_the_issuing_side_counts_is_no_function_of_the_model(other: Rows) -> None:
    """The wavefronts of all memories: never below the model's, often above, and not always whole
    numbers.
    """
    equal = fractions = 0
    for name in LOADS | STORES:
        each = other.of(name)
        predicted = each.local_costs(name).wavefronts
        assert (each["lsu_wavefronts"] >= predicted).all()
        equal += int((each["lsu_wavefronts"] == predicted).sum())
        fractions += int((each["lsu_wavefronts"] % 1 != 0).sum())
    assert (equal, fractions) == (662, 147)


def test_sectors_are_counted_exactly(other: Rows) -> None:
    """32-byte sectors asked for: each once; and of loads they are what comes and goes over the
    network.
    """
    plain = other.of(*LOADS, *STORES)
    assert len(plain) == 984
    for column in ("sectors", "sectors_most"):  # all of them on one multiprocessor
        np.testing.assert_array_equal(plain[column], plain.pieces(SECTOR_BYTES))
    loads = other.of(*LOADS)
    for column in ("sectors_in", "sectors_in_most", "sectors_out", "sectors_out_most"):
        np.testing.assert_array_equal(loads[column], loads.pieces(SECTOR_BYTES))


def test_stores_send_at_least_sectors_and_at_most_halves(other: Rows) -> None:
    stores = other.of(*STORES)
    assert (stores["sectors_out"] >= stores.pieces(SECTOR_BYTES)).all()
    assert (stores["sectors_out"] <= stores.pieces(SECTOR_BYTES // 2)).all()
    np.testing.assert_array_equal(stores["sectors_out"], stores["sectors_in"])
    assert (stores["sectors_out"] > stores.pieces(SECTOR_BYTES)).any()


def test_time_goes_with_sectors(other: Rows) -> None:
    loads = other.of(*LOADS)
    many = loads.where(loads["sectors"] >= 5)
    ratio = many["cycles"] / (CYCLES_A_SECTOR * many["sectors"])
    assert len(many) == 321
    assert ratio.min() > 0.97
    assert int((abs(ratio - 1) < 0.1).sum()) == 308
    stores = other.of(*STORES)
    many = stores.where(stores["sectors_out"] >= 6)
    ratio = many["cycles"] / (CYCLES_A_SECTOR * many["sectors_out"])
    assert len(many) == 336
    assert ratio.min() > 0.97
    assert int((abs(ratio - 1) < 0.1).sum()) == 333


def test_what_a_single_sector_takes(other: Rows) -> None:
    medians = {
        name: float(np.median(other.of(name)["cycles"][other.of(name)["sectors"] == 1])) for name in LOADS | STORES
    }
    assert min(medians, key=medians.__getitem__) == "st.b32"
    assert max(medians, key=medians.__getitem__) == "ld.v4.b32"
    assert round(medians["st.b32"], 1) == 2.4
    assert round(medians["ld.v4.b32"], 1) == 7.2


def test_time_does_not_go_with_bank_conflicts(other: Rows) -> None:
    """32 sectors take 48 cycles, whether the model's wavefronts at home would be 1 or 32."""
    for name in ("ld.b32", "st.b32"):
        each = other.of(name)
        far = each.where(each.pieces(SECTOR_BYTES) == LANES)
        predicted = far.local_costs(name).wavefronts
        assert {1, 8, 32} <= set(predicted.tolist())
        for wavefronts in (1, 8, 32):
            assert np.median(far["cycles"][predicted == wavefronts]) == pytest.approx(48, abs=1)


def test_the_qualifier_volatile_changes_no_count() -> None:
    """What was launched was `.volatile`; four instructions also without."""
    weak = load("weak/")
    assert len(weak) == 984
    for name in ("ld.b32", "ld.v4.b32", "st.b32", "st.v4.b32"):
        each = weak.of(name)
        own, far = each.where(each["window"] == "own_mapa"), each.where(each["window"] == "other")
        costs = own.local_costs(name)
        np.testing.assert_array_equal(costs.wavefronts, own["wavefronts"])
        np.testing.assert_array_equal(costs.bank_conflicts, own["bank_conflicts"])
        assert (far["wavefronts"] == 0).all()
        assert (far["bank_conflicts"] == 0).all()
