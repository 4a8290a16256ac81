"""What an H200's counters say of tensor copies into shared memory, and where its shared window begins."""

import csv
from pathlib import Path

from swzverify.compiled.kernel.symbols import WINDOW_ALIGN_BYTES
from swzverify.hardware import BANK_WORD_BYTES
from swzverify.layout.tma import TmaMode

with (Path(__file__).parent.parent / "data" / "h200_tma_counters.csv").open() as _file:
    ROWS = list(csv.DictReader(_file))


def test_tensor_copies_have_no_conflicts_and_no_wavefronts_in_any_mode() -> None:
    """So scan gives no verdict on banks: the launch without a copy has the same numbers."""
    assert {row["mode"] for row in ROWS} == {mode.value for mode in TmaMode}
    assert {row["boxes"] for row in ROWS} == {"0", "1", "2"}
    assert {(row["bank_conflicts"], row["wavefronts"]) for row in ROWS} == {("0", "6")}


def test_each_word_of_a_box_is_written_once() -> None:
    """A launch without a copy writes two words."""
    for row in ROWS:
        assert int(row["bank_writes"]) == 2 + int(row["boxes"]) * int(row["box_bytes"]) // BANK_WORD_BYTES


def test_the_shared_window_begins_where_it_is_taken_to() -> None:
    windows = [int(row["window"], 16) for row in ROWS if row["window"]]
    assert windows
    assert all(each % WINDOW_ALIGN_BYTES == 0 for each in windows)
