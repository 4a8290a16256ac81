"""Data frames of nsight-python, and their CSV files: the wavefronts of whole launches.

nsight-python reads the metrics of a launch, not those of an instruction. A row has one metric. A raw frame has a row
for each run with its `Value`; a processed one has `MinValue` and `MaxValue` of all runs.

Source: NVIDIA/nsight-python 1.1.0, nsight/extraction.py (`extract_df_from_data`) and nsight/transformation.py
(`aggregate_data`). That the metrics of a launch are the sums of those of its instructions was measured on an H100 with
Nsight Compute 2025.3: for the kernels `columns` of tests/data/profiler both are 1056 and 64, and 64 and 64.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, cast

from swzverify.errors import SwzError, graphic

WAVEFRONTS: Final = "memory_l1_wavefronts_shared"
IDEAL: Final = "memory_l1_wavefronts_shared_ideal"
_NEEDED: Final = ("Annotation", "Metric", "Kernel")
_FIGURES: Final = frozenset(
    {"Value", "Metric", "Unit", "AvgValue", "StdDev", "MinValue", "MaxValue", "NumRuns", "CI95_Lower", "CI95_Upper"}
    | {"RelativeStdDevPct", "StableMeasurement", "Geomean", "NormalizationValue", "Normalized", ""}
)
"""Columns that are of one metric; the others name the launch: annotation, kernel, GPU, parameters."""
_HINT: Final = f'@nsight.analyze.kernel(metrics=["{WAVEFRONTS}", "{IDEAL}"])'
_SHOWN: Final = 60


@dataclass(frozen=True, slots=True)
class Total:
    """The wavefronts of a launch in shared memory, and how many they would be without a conflict.

    `kernel` is the name that nsight-python has, without template arguments and parameters.
    """

    kernel: str
    wavefronts: int
    ideal: int
    device: str = ""


@dataclass(frozen=True, slots=True)
class Totals:
    """The launches of a frame, and in words what was left out."""

    name: str
    launches: tuple[Total, ...]
    notes: tuple[str, ...] = ()


def is_csv_of_nsight(data: bytes) -> bool:
    r"""Whether a file has the titles of such a frame in its first line.

    >>> is_csv_of_nsight(b"Annotation,Value,Metric,Kernel\nrun,1,m,k\n")
    True
    """
    head = data[:4096].partition(b"\n")[0].decode("utf-8-sig", "replace")
    return set(_NEEDED) <= {each.strip().strip('"') for each in head.split(",")}


def totals_of_csv(data: bytes, name: str) -> Totals:
    """A file that nsight-python wrote with `output_csv=True`, or that `to_csv` of a frame wrote.

    Errors are those of `totals_of_rows`.
    """
    return totals_of_rows(csv.DictReader(io.StringIO(data.decode("utf-8-sig", "replace"), newline="")), name)


def totals_of_frame(frame: object) -> Totals:
    """A frame of pandas, or the results of `nsight.analyze.kernel`, which have `to_dataframe()`.

    Raises:
        SwzError: SWZ544 if the object is no such frame; those of `totals_of_rows`.
    """
    make = getattr(frame, "to_dataframe", None)
    found: Any = make() if callable(make) else frame
    columns = [str(each) for each in getattr(found, "columns", ())]
    if not set(_NEEDED) <= set(columns) or not callable(getattr(found, "to_dict", None)):
        words = f"{type(frame).__name__} is no data frame of nsight-python"
        raise SwzError("SWZ544", words, hint="give the result of a function under @nsight.analyze.kernel, or a path")
    return totals_of_rows(cast("Iterable[Mapping[str, object]]", found.to_dict("records")), "the data frame")


def totals_of_rows(rows: Iterable[Mapping[str, object]], name: str) -> Totals:
    """The launches that rows are of.

    Raises:
        SwzError: SWZ544 if a metric is missing, or a value is no whole number.

    >>> row = {"Annotation": "run", "Kernel": "k", "GPU": "H100", "n": 32}
    >>> rows = [{**row, "Metric": WAVEFRONTS, "Value": 64.0}, {**row, "Metric": IDEAL, "Value": 32}]
    >>> totals_of_rows(rows, "k.csv").launches
    (Total(kernel='k', wavefronts=64, ideal=32, device='H100'),)
    """
    found: dict[tuple[str, ...], dict[str, list[int]]] = {}
    launched: dict[tuple[str, ...], tuple[str, str]] = {}
    notes: dict[str, None] = {}
    seen: set[str] = set()
    for row in rows:
        metric = str(row.get("Metric"))
        seen.add(metric)
        if metric not in (WAVEFRONTS, IDEAL):
            continue
        kernel = graphic(str(row.get("Kernel")))
        values = _values(row, name)
        if "|" in kernel:
            notes[f"{kernel}: several kernels in one annotation are not told apart"] = None
        elif len(set(values)) > 1:
            notes[f"{kernel}: the runs differ, and the frame has no row for each: give the raw data"] = None
        elif values:
            key = tuple(f"{title}={row[title]!r}" for title in row if title not in _FIGURES)
            launched[key] = kernel, graphic(str(row.get("GPU") or ""))
            found.setdefault(key, {}).setdefault(metric, []).append(values[0])
    if lacking := [each for each in (WAVEFRONTS, IDEAL) if each not in seen]:
        words = f"{graphic(name[:_SHOWN])} has no metric {' and no metric '.join(lacking)}"
        raise SwzError("SWZ544", words, hint=_HINT)
    launches: list[Total] = []
    for key, of in found.items():
        kernel, device = launched[key]
        both = of.get(WAVEFRONTS, []), of.get(IDEAL, [])
        if len(both[0]) != len(both[1]):
            notes[f"{kernel}: a launch has one metric and lacks the other"] = None
            continue
        launches += [Total(kernel, *pair, device) for pair in zip(*both, strict=True)]
    return Totals(name, tuple(launches), tuple(notes))


def _values(row: Mapping[str, object], name: str) -> Sequence[int]:
    """The value of a run, or the least and the greatest of several; none where nothing was counted."""
    titles = ("Value",) if "Value" in row else ("MinValue", "MaxValue")
    found = [_whole(row.get(title), title, name) for title in titles]
    return [each for each in found if each is not None]


def _whole(value: object, title: str, name: str) -> int | None:
    text = "" if value is None else str(value).strip()
    if text.lower() in ("", "nan", "<na>", "none"):
        return None
    try:
        number = float(text)
    except ValueError:
        number = -1.0
    if number < 0 or not number.is_integer():
        where = f"{graphic(name[:_SHOWN])} has no whole number as {title!r}"
        raise SwzError("SWZ544", f"{where}: {graphic(text[:_SHOWN])!r}", hint=_HINT)
    return int(number)
