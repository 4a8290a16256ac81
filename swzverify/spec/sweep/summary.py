"""The results of a finished sweep: how many cases are free, the best one, what each axis does."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from swzverify.errors import SwzError, nearest
from swzverify.spec.sweep.arrow import File, column_names, read_numbers, read_row, read_values
from swzverify.spec.sweep.columns import STATUSES, Cell

MAX_AXIS_VALUES = 64
"""An axis with more values has no table."""
MAX_MAP_CELLS = 4096
Value = int | str
Truths = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class AxisLine:
    """The counts of one value of an axis.

    `cases` have the value, and `free` of these are free of conflicts. `wavefronts` are the fewest of a
    sound case, None if no case is sound.
    """

    value: Value
    cases: int
    free: int
    wavefronts: int | None


@dataclass(frozen=True, slots=True)
class Heatmap:
    """The fewest bank conflicts of a sound case for each pair of values of two axes.

    They are `cells[row][column]`, None if there is no sound case.
    """

    across: str
    down: str
    columns: tuple[Value, ...]
    rows: tuple[Value, ...]
    cells: tuple[tuple[int | None, ...], ...]


@dataclass(frozen=True, slots=True)
class Summary:
    """The cases by status, the best one with how many are as good, and a table for each axis.

    Best is: no bank conflict, then the fewest wavefronts, conflicts and bytes, then the lowest
    number. `claims` counts the cases by the outcome of their claims, where these were proved.
    """

    statuses: Mapping[str, int]
    best: Mapping[str, Cell] | None
    as_good: int
    axes: Mapping[str, tuple[AxisLine, ...]]
    heatmap: Heatmap | None = None
    claims: Mapping[str, int] | None = None

    @property
    def cases(self) -> int:
        """The number of cases."""
        return sum(self.statuses.values())


def summarize(file: File, axes: Mapping[str, Sequence[Value]], pair: tuple[str, str] | None = None) -> Summary:
    """The summary of the table in a Parquet file, with the heatmap of two axes if asked.

    Raises:
        SwzError: SWZ572 if there is no such axis, or more cells than a map shows.
    """
    proved = "claims" in column_names(file)
    columns = _Columns(file)
    best, ties = columns.best()
    told = {name: columns.lines(name, values) for name, values in axes.items() if len(values) <= MAX_AXIS_VALUES}
    return Summary(
        _counts(columns.status, STATUSES),
        None if best is None else read_row(file, best),
        ties,
        told,
        None if pair is None else columns.heatmap(*(_axis(name, axes) for name in pair)),
        _counts(read_values(file, "claims"), ()) if proved else None,
    )


def _axis(name: str, axes: Mapping[str, Sequence[Value]]) -> tuple[str, tuple[Value, ...]]:
    if name not in axes:
        hint = nearest(name, list(axes)) or f"axes are {', '.join(axes)}"
        raise SwzError("SWZ572", f"the sweep has no axis '{name}'", hint=hint)
    return name, tuple(axes[name])


def _counts(values: NDArray[Any], order: Sequence[str]) -> dict[str, int]:
    names, counts = np.unique(values.astype(np.str_), return_counts=True)
    found: dict[str, int] = dict(zip(names.tolist(), counts.tolist(), strict=True))
    return {each: found.pop(each) for each in order if each in found} | found


class _Columns:
    """The columns of a table as arrays; a missing number is larger than all others."""

    def __init__(self, file: File) -> None:
        self.file = file
        self.status = read_values(file, "status")
        self.free: Truths = self.status == "free"
        self.sound: Truths = self.free | (self.status == "conflicts")
        self.wavefronts, self.conflicts = read_numbers(file, "wavefronts"), read_numbers(file, "conflicts")
        self.bytes = read_numbers(file, "bytes")

    def best(self) -> tuple[int | None, int]:
        """The place of the best row, and how many are as good."""
        rows = np.flatnonzero(self.sound)
        for key in ((self.conflicts > 0).astype(np.int64), self.wavefronts, self.conflicts, self.bytes):
            if len(rows):
                rows = rows[key[rows] == key[rows].min()]
        return (int(rows[0]), len(rows)) if len(rows) else (None, 0)

    def lines(self, name: str, values: Sequence[Value]) -> tuple[AxisLine, ...]:
        """The table of an axis."""
        cells = read_values(self.file, name)
        found: list[AxisLine] = []
        for value in values:
            here: Truths = cells == value
            least = _least(self.wavefronts, here & self.sound)
            found.append(AxisLine(value, int(here.sum()), int((here & self.free).sum()), least))
        return tuple(found)

    def heatmap(self, across: tuple[str, tuple[Value, ...]], down: tuple[str, tuple[Value, ...]]) -> Heatmap:
        """The map of two axes.

        Raises:
            SwzError: SWZ572 for too many cells.
        """
        if len(across[1]) * len(down[1]) > MAX_MAP_CELLS:
            count = f"{len(across[1])} by {len(down[1])} cells"
            raise SwzError("SWZ572", f"a heatmap of {across[0]} and {down[0]} has {count}: at most {MAX_MAP_CELLS}")
        column, row = read_values(self.file, across[0]), read_values(self.file, down[0])
        cells: list[tuple[int | None, ...]] = []
        for value in down[1]:
            here: Truths = (row == value) & self.sound
            cells.append(tuple(_least(self.conflicts, here & (column == other)) for other in across[1]))
        return Heatmap(across[0], down[0], across[1], down[1], tuple(cells))


def _least(values: NDArray[np.int64], where: Truths) -> int | None:
    return int(values[where].min()) if where.any() else None
