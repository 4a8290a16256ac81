"""Counters of whole launches, as nsight-python 1.1 has them: columns and rows are those of its own code, the values
those that an H100 counted for kernels of tests/data/profiler, as `ncu_report` of Nsight Compute 2025.3 reads them.
"""

from __future__ import annotations

import csv
import importlib.util
import io
import json
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import swzverify
from swzverify import Scan
from swzverify.apps.run.scan_check import checked, counters_of
from swzverify.compiled.profiler.nsight import IDEAL, WAVEFRONTS, Totals, totals_of_csv, totals_of_frame, totals_of_rows
from swzverify.errors import SwzError
from swzverify.report.scan import ScannedFile
from tests.profiler.recorded import DATA, PADDED, ROWS, source_page
from tests.scan.test_command import run
from tests.scan.texts import strided, text_of

RAW = ("Annotation", "Value", "Metric", "Kernel", "GPU", "Host", "ComputeClock", "MemoryClock", "Unit", "pad")
COUNTED = {0: (1056, 64), 1: (64, 64)}
PTX = (DATA / "checked.ptx").read_text(encoding="utf-8")


def raw(*launches: tuple[int, str, int, int]) -> list[dict[str, object]]:
    """Rows as `extract_df_from_data` makes them: for each launch one per metric."""
    rows: list[dict[str, object]] = []
    for pad, kernel, *values in launches:
        for metric, value in zip((WAVEFRONTS, IDEAL), values, strict=True):
            row = (
                "columns",
                value,
                metric,
                kernel,
                "NVIDIA H100 80GB HBM3",
                "host",
                1980000000,
                2619000000,
                "sectors",
                pad,
            )
            rows.append(dict(zip(RAW, row, strict=True)))
    return rows


def processed(rows: list[dict[str, object]], least: int = 0) -> list[dict[str, object]]:
    """The same rows as `aggregate_data` makes them; the least value is lower by so much."""
    found: list[dict[str, object]] = []
    for row in rows:
        value = row["Value"]
        assert isinstance(value, int)
        statistics = {
            "AvgValue": float(value),
            "StdDev": 0.0,
            "MinValue": value - least,
            "MaxValue": value,
            "NumRuns": 3,
        }
        found.append({**{title: each for title, each in row.items() if title != "Value"}, **statistics})
    return found


def as_csv(rows: list[dict[str, object]]) -> bytes:
    text = io.StringIO()
    writer = csv.DictWriter(text, [*rows[0]])
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue().encode()


BOTH = raw(*((pad, "columns", *COUNTED[pad]) for pad in COUNTED))


def test_the_totals_of_a_launch_are_the_sums_of_its_instructions() -> None:
    sums: dict[str, list[int]] = {}
    for page in source_page().split('"Kernel Name",')[1:]:
        name, _, rest = page.partition("\n")
        rows = [each for each in csv.DictReader(io.StringIO(rest)) if each["L1 Wavefronts Shared"].isdigit()]
        titles = ("L1 Wavefronts Shared", "L1 Wavefronts Shared Ideal")
        sums[name.strip('",')] = [sum(int(each[title]) for each in rows) for title in titles]
    assert {0: tuple(sums[ROWS]), 1: tuple(sums[PADDED])} == COUNTED


@pytest.mark.parametrize("rows", [BOTH, processed(BOTH), [*BOTH[::2], *BOTH[1::2]]], ids=["raw", "processed", "sorted"])
def test_frames_and_files(rows: list[dict[str, object]]) -> None:
    frame = SimpleNamespace(columns=list(rows[0]), to_dict=lambda _: rows)
    for found in (
        totals_of_csv(as_csv(rows), "k.csv"),
        totals_of_csv(b"\xef\xbb\xbf" + as_csv(rows), "k.csv"),
        totals_of_frame(frame),
        totals_of_frame(SimpleNamespace(to_dataframe=lambda: frame)),
    ):
        assert [(each.kernel, each.wavefronts, each.ideal) for each in found.launches] == [
            ("columns", *COUNTED[pad]) for pad in COUNTED
        ]
        assert {each.device for each in found.launches} == {"NVIDIA H100 80GB HBM3"}


@pytest.mark.skipif(importlib.util.find_spec("pandas") is None, reason="pandas is not installed")
def test_a_frame_of_pandas(tmp_path: Path) -> None:
    import pandas

    frame = pandas.DataFrame(BOTH)
    assert totals_of_frame(frame) == Totals("the data frame", totals_of_rows(BOTH, "").launches)
    frame.to_csv(tmp_path / "a.csv")
    assert totals_of_csv((tmp_path / "a.csv").read_bytes(), "a.csv").launches == totals_of_frame(frame).launches


def test_rows_that_say_less() -> None:
    assert "give the raw data" in totals_of_rows(processed(BOTH, least=1), "k.csv").notes[0]
    several = totals_of_rows(raw((0, "a|b", 1, 1)), "k.csv")
    assert (several.launches, len(several.notes)) == ((), 1)
    odd = totals_of_rows([*BOTH, BOTH[0]], "k.csv")
    assert ([each.wavefronts for each in odd.launches], len(odd.notes)) == ([64], 1)
    nothing = [{**row, "Value": "nan"} for row in BOTH]
    assert totals_of_rows(nothing, "k.csv").launches == ()
    for wrong, words in (
        ([{**BOTH[0], "Value": 1.5}], "no whole number as 'Value': '1.5'"),
        ([{**BOTH[0], "Value": "many"}], "no whole number"),
        ([{**BOTH[0], "Value": -1}], "no whole number"),
        (BOTH[:1], f"no metric {IDEAL}"),
        (
            [{**row, "Metric": "gpu__time_duration.sum"} for row in BOTH],
            f"no metric {WAVEFRONTS} and no metric {IDEAL}",
        ),
    ):
        with pytest.raises(SwzError, match="SWZ544") as error:
            totals_of_rows(wrong, "k.csv")
        assert words in str(error.value)
    for other in (3, SimpleNamespace(columns=["a"]), None):
        with pytest.raises(SwzError, match="is no data frame of nsight-python"):
            totals_of_frame(other)


@cache
def files_of(kernel: str) -> tuple[ScannedFile, ...]:
    return swzverify.scan(PTX, kernel=kernel, block=(32, 8)).files


def scanned(kernel: str, rows: list[dict[str, object]]) -> Scan:
    files, check = checked(files_of(kernel), counters_of(totals_of_rows(rows, "frame")), "")
    return Scan(tuple(files), check)


def statuses(scan: Scan) -> list[tuple[str, str]]:
    """The verdicts with the statuses that accesses of them have; an unknown one is never anything but open."""
    (file,) = scan.files
    pairs = zip(file.accesses, file.measured, strict=True)
    found = {(access.settled.verdict.value, each.status.value) for access, each in pairs}
    return sorted(found - {("unknown", "open"), ("unknown", "not seen")})


def test_they_agree_or_leave_it_open() -> None:
    assert statuses(scanned(PADDED, BOTH[2:])) == [("free", "agrees")]
    assert statuses(scanned(PADDED, BOTH[:2])) == [("free", "open")]
    assert statuses(scanned(ROWS, BOTH[:2])) == [("conflict", "agrees"), ("free", "open")]
    # What the total is not beyond may hide a conflict: nothing is contradicted.
    assert statuses(scanned(ROWS, BOTH[2:])) == [("conflict", "open"), ("free", "agrees")]
    assert statuses(scanned(ROWS, raw((0, "columns", 0, 0)))) == [("conflict", "not seen"), ("free", "not seen")]
    # One launch of several that is beyond it is enough.
    assert statuses(scanned(PADDED, BOTH)) == [("free", "open")]


def test_the_kernel_is_found_by_its_name() -> None:
    head, _, entry = text_of(strided(4)).partition(".entry k(")
    two = head + "".join(f".entry {name}({entry}" for name in (ROWS, PADDED, "mixed"))
    frame = SimpleNamespace(columns=list(BOTH[0]), to_dict=lambda _: raw((0, "mixed", 2, 2)))
    files = swzverify.scan(two, block=64, counters=frame).files
    assert [each.status.value for each in files[0].measured] == ["not seen", "not seen", "agrees"]
    for name, words in (("columns", "several kernels have this name: give --kernel"), ("column", "no kernel that was")):
        frame.to_dict = lambda _, name=name: raw((0, name, 1, 1))
        with pytest.raises(SwzError, match=rf"SWZ545.*{words}"):
            swzverify.scan(two, block=64, counters=frame)


def test_what_a_scan_in_python_says_of_it() -> None:
    found = scanned(PADDED, BOTH[2:])
    assert found.check is not None
    assert (found.check.devices, found.check.launches) == (("NVIDIA H100 80GB HBM3",), {PADDED: 1})
    assert "counters: 8 agree, 0 disagree, 0 not seen, 2 open" in str(found)
    assert "64 wavefronts, ideal 64 in a launch" in str(found)


def test_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("k.ptx").write_text(PTX, encoding="utf-8")
    Path("counters.csv").write_bytes(as_csv(BOTH[:2]))
    Path("source.csv").write_text(source_page(), encoding="utf-8")
    words = ("k.ptx", "--kernel", ROWS, "--block", "32,8", "--no-suggest", "--check", "counters.csv")
    result = run(*words, "--format", "json")
    assert result.exit_code == 0, result.output
    document: Any = json.loads(result.stdout)
    assert document["check"]["disagrees"] == 0
    assert document["check"]["sources"] == ["counters.csv"]
    assert {each["measured"]["status"] for each in document["accesses"]} == {"agrees", "open"}
    assert "1056 wavefronts, ideal 64 in a launch" in run(*words).stdout
    both = run(*words, "--check", "source.csv")
    assert both.exit_code == 2
    assert "do not go together" in both.output


def test_a_path_in_python(tmp_path: Path) -> None:
    (tmp_path / "counters.csv").write_bytes(as_csv(BOTH[2:]))
    found = swzverify.scan(PTX, kernel=PADDED, block=(32, 8), counters=tmp_path / "counters.csv")
    assert statuses(found) == [("free", "agrees")]


@pytest.mark.skipif(importlib.util.find_spec("nsight") is None, reason="nsight-python is not installed")
@pytest.mark.filterwarnings("ignore")
def test_the_frames_that_nsight_python_makes() -> None:
    import numpy as np
    from nsight import extraction, transformation, utils

    def columns(pad: int) -> None:
        """The function that is profiled, with its parameter."""

    quiet = next(iter(utils.VerbosityLevel))
    launches = [
        utils.ActionData("columns", np.array(COUNTED[pad]), 1980, 2619, "NVIDIA H100", ["sectors"] * 2)
        for pad in COUNTED
    ]
    frame = extraction.extract_df_from_data(
        {"columns": launches}, [WAVEFRONTS, IDEAL], [(pad,) for pad in COUNTED], 1, columns, None, quiet
    )
    assert set(frame.columns) == set(RAW)
    for each in (frame, transformation.aggregate_data(frame, columns, None, quiet)):
        for found in (totals_of_frame(each), totals_of_csv(each.to_csv().encode(), "k.csv")):
            assert [(of.wavefronts, of.ideal) for of in found.launches] == [*COUNTED.values()]
