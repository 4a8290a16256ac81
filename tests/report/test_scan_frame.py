"""Data frames of a scan, in pandas and in polars: every row and value against the scan's own objects."""

from __future__ import annotations

import importlib.util
import sys
from typing import Any

import pytest

import swzverify
from swzverify.core import frames
from swzverify.errors import SwzError
from swzverify.report.scan_frame import TABLES
from tests.scan.texts import SKEWED, strided, text_of

BOTH = text_of(".loc 1 7 3\n" + strided(8) + strided(4, "st.shared.u32 [%r20], %r1;")) + '\n.file 1 "k.cu"\n'
SCAN = swzverify.scan(BOTH, block=(32, 2))
INSTALLED = [each for each in ("pandas", "polars") if importlib.util.find_spec(each) is not None]
libraries = pytest.mark.parametrize(
    "library",
    [pytest.param(each, marks=pytest.mark.skipif(each not in INSTALLED, reason=f"{each} is not installed"))
     for each in ("pandas", "polars")],
)  # fmt: skip


def values(frame: Any) -> list[dict[str, Any]]:
    """The rows as plain values; what is missing is None."""
    if type(frame).__module__.startswith("polars"):
        return frame.to_dicts()
    return frame.astype(object).where(frame.notna(), None).to_dict("records")


@libraries
def test_a_row_for_each_access(library: str) -> None:
    rows = values(SCAN.to_dataframe(library=library))
    assert [row["ptx_line"] for row in rows] == [each.line for each in SCAN.accesses]
    first, second = rows
    assert (first["verdict"], first["ptx_verdict"], first["ways"], first["ways_at_least"]) == (
        "conflict",
        "conflict",
        2,
        False,
    )
    figures = ("wavefronts_per_execution", "minimum_wavefronts_per_execution", "wasted_wavefronts_per_execution")
    assert [first[name] for name in figures] == [2, 1, 1]
    assert [second[name] for name in figures] == [1, 1, 0]
    assert (first["source_file"], first["source_line"]) == ("k.cu", 7)
    assert [first[f"block_{axis}_threads"] for axis in "xyz"] == [32, 2, 1]
    assert (first["executions_per_warp"], first["aligned"], first["counters"]) == (1, "proved", None)
    assert (first["kernel"], first["kernel_name"], first["file"]) == ("k", "k", "the PTX text")
    assert first["instruction"] == SCAN.accesses[0].instruction
    assert first["engines"] == " + ".join(SCAN.accesses[0].decision.engines)


@libraries
def test_what_is_not_known_is_missing(library: str) -> None:
    of_two_dimensions = text_of("mov.u32 %r4, %tid.y; add.u32 %r1, %r1, %r4; " + SKEWED)
    (row,) = values(swzverify.scan(of_two_dimensions).to_dataframe(library=library))
    assert (row["verdict"], row["block_x_threads"], row["ways"], row["source_line"]) == ("unknown", None, None, None)
    (row,) = values(swzverify.scan(text_of(SKEWED), block=64).to_dataframe(library=library))
    assert (row["verdict"], row["parameters"]) == ("depends", "n")


@libraries
def test_a_row_for_each_pair_that_is_not_free(library: str) -> None:
    (kernel,) = values(SCAN.to_dataframe("kernels", library))
    races = SCAN.races["k"]
    assert (kernel["races"], kernel["other_pairs"], kernel["free_pairs"]) == (
        "race",
        len(races.pairs),
        races.free_pairs,
    )
    rows = values(SCAN.to_dataframe("races", library))
    assert [row["verdict"] for row in rows] == [each.verdict.value for each in races.pairs]
    pair, row = races.pairs[0], rows[0]
    assert pair.witness is not None
    assert (row["first_ptx_line"], row["second_ptx_line"]) == (pair.first.line, pair.second.line)
    assert (row["first_thread"], row["second_thread"]) == pair.witness.threads
    assert (row["array"], row["offset_bytes"], row["replayed"]) == (pair.witness.array, pair.witness.byte, True)


@libraries
@pytest.mark.parametrize("rows", TABLES)
def test_an_empty_frame_has_the_columns_and_types_of_a_full_one(rows: str, library: str) -> None:
    full, empty = SCAN.to_dataframe(rows, library), swzverify.scan(text_of("")).to_dataframe(rows, library)
    none = empty[:0]
    assert list(full.columns) == list(none.columns) == list(TABLES[rows][0])
    assert list(full.dtypes) == list(none.dtypes)


def test_every_value_has_the_type_of_its_column() -> None:
    for columns, rows in TABLES.values():
        for row in rows(SCAN.files):
            assert set(row) <= set(columns)
            for name, value in row.items():
                assert value is None or type(value) is columns[name], name


def test_which_library(monkeypatch: pytest.MonkeyPatch) -> None:
    for wanted in ("numpy", True, "Pandas"):
        with pytest.raises(SwzError, match="SWZ105"):
            SCAN.to_dataframe(library=wanted)  # type: ignore[arg-type]
    with pytest.raises(SwzError, match=r"rows: accesses, kernels, races"):
        SCAN.to_dataframe("pairs")
    for each in ("pandas", "polars"):
        monkeypatch.setitem(sys.modules, each, None)
        with pytest.raises(SwzError, match=rf"SWZ611: {each} is not installed"):
            SCAN.to_dataframe(library=each)
    monkeypatch.setattr(frames, "find_spec", lambda _: None)
    with pytest.raises(SwzError, match=r"swzverify\[pandas\]"):
        SCAN.to_dataframe()


def test_the_one_that_is_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    for only in INSTALLED:
        monkeypatch.setattr(frames, "find_spec", lambda name, only=only: object() if name == only else None)
        assert type(SCAN.to_dataframe()).__module__.startswith(only)


def test_the_report_is_its_text() -> None:
    text = str(SCAN)
    assert "2-way" in text
    assert repr(SCAN) != text
