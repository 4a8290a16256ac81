"""What an H200's counters say of bulk copies, stores and reductions."""

import csv
from pathlib import Path

from swzverify.hardware import BANK_WORD_BYTES
from swzverify.layout.tma import TmaMode

with (Path(__file__).parent.parent / "data" / "h200_bulk_counters.csv").open() as _file:
    ROWS = list(csv.DictReader(_file))


def test_bulk_operations_have_no_conflicts_and_no_wavefronts() -> None:
    """So scan gives no verdict on banks: the launch without one has the same numbers."""
    kinds = {"store", "load", "add.u32", "add.noftz.f16", "tensor store", "tensor add.f16", "tensor load"}
    assert {row["kind"] for row in ROWS} == kinds
    assert {row["mode"] for row in ROWS} >= {mode.value for mode in TmaMode}
    assert {row["copies"] for row in ROWS} == {"0", "1", "2"}
    assert len({(row["bank_conflicts"], row["wavefronts"]) for row in ROWS}) == 1


def test_each_word_is_read_or_written_once() -> None:
    """A launch without a bulk operation reads four words."""
    for row in ROWS:
        words = int(row["copies"]) * int(row["bytes"]) // BANK_WORD_BYTES
        is_load = row["kind"] in ("load", "tensor load")
        assert int(row["bank_reads"]) == 4 + (0 if is_load else words), row
        assert int(row["bank_writes"]) == (words if is_load else 0), row
