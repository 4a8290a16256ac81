"""Rows as Parquet and CSV files, through pyarrow, an extra that only sweeps need.

pyarrow has no types, so only this file uses it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from importlib import import_module
from io import BytesIO
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from swzverify.errors import SwzError
from swzverify.spec.sweep.columns import Cell, Column

MISSING = int(np.iinfo(np.int64).max)
"""Stands for a missing number, in the arrays of `read_numbers`."""
File = str | PathLike[str]


def require_pyarrow() -> None:
    """Check that pyarrow is installed.

    Raises:
        SwzError: SWZ573 if it is not.
    """
    try:
        import_module("pyarrow")
    except ImportError as error:
        raise SwzError(
            "SWZ573", "pyarrow is not installed, which writes the results", hint="pip install 'swzverify[sweep]'"
        ) from error


def parquet_bytes(rows: Iterable[Mapping[str, Cell]], columns: Sequence[Column]) -> bytes:
    """A Parquet file with these rows."""
    arrow, parquet = import_module("pyarrow"), import_module("pyarrow.parquet")
    kept, schema = list(rows), _schema(columns, None)
    arrays = [arrow.array([row[each.name] for row in kept], type=schema.field(each.name).type) for each in columns]
    buffer = BytesIO()
    parquet.write_table(arrow.Table.from_arrays(arrays, schema=schema), buffer)
    return buffer.getvalue()


def join_files(
    files: Iterable[File], columns: Sequence[Column], metadata: Mapping[str, str], table: File, lines: File
) -> int:
    """Join Parquet files into one Parquet file and one CSV file; returns the number of rows.

    One file is in memory at a time.
    """
    parquet, csv = import_module("pyarrow.parquet"), import_module("pyarrow.csv")
    schema = _schema(columns, metadata)
    rows = 0
    with parquet.ParquetWriter(table, schema) as one, csv.CSVWriter(lines, schema) as other:
        for file in files:
            part = parquet.read_table(file).cast(schema)
            rows += int(part.num_rows)
            one.write_table(part)
            other.write_table(part)
    return rows


def column_names(file: File) -> list[str]:
    """The names of a Parquet file's columns."""
    return list(import_module("pyarrow.parquet").read_schema(file).names)


def read_numbers(file: File, name: str) -> NDArray[np.int64]:
    """A column of integers, `MISSING` where a row has none."""
    column = import_module("pyarrow.parquet").read_table(file, columns=[name]).column(0)
    return np.asarray(column.fill_null(MISSING).to_numpy(), dtype=np.int64)


def read_values(file: File, name: str) -> NDArray[Any]:
    """A column of integers or of texts that has no missing cell."""
    column = import_module("pyarrow.parquet").read_table(file, columns=[name]).column(0)
    return np.asarray(column.to_numpy(zero_copy_only=False))


def read_row(file: File, place: int) -> dict[str, Cell]:
    """The row at a place; reads its row group only.

    Raises:
        IndexError: The place is beyond the last row.
    """
    with import_module("pyarrow.parquet").ParquetFile(file) as source:
        for number in range(source.num_row_groups):
            count = int(source.metadata.row_group(number).num_rows)
            if place < count:
                return dict(source.read_row_group(number).slice(place, 1).to_pylist()[0])
            place -= count
    raise IndexError(place)


def _schema(columns: Sequence[Column], metadata: Mapping[str, str] | None) -> Any:
    arrow = import_module("pyarrow")
    return arrow.schema([(each.name, arrow.type_for_alias(each.kind)) for each in columns], metadata=metadata)
