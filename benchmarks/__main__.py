"""Prints one table: `python -m benchmarks [--quick] [--only NAME]`. It measures, it does not judge:
it exits with 0.
"""

from __future__ import annotations

import argparse
import os
import platform
import sys
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from benchmarks import (
    bijectivity,
    conflicts,
    exploring,
    library,
    nested,
    scanning,
    sweeping,
    synthesis,
    tensor_layouts_banks,
)
from benchmarks.measure import FULL, QUICK, Effort, Row

BENCHMARKS: Mapping[str, Callable[[Effort], list[Row]]] = {
    "bijectivity": bijectivity.rows,
    "conflicts": conflicts.rows,
    "nested": nested.rows,
    "tensor_layouts": tensor_layouts_banks.rows,
    "synthesis": synthesis.rows,
    "sweep": sweeping.rows,
    "scan": scanning.rows,
    "explore": exploring.rows,
    "library": library.rows,
}
HEADER = ("what", "ours", "theirs", "ratio", "target", "met")


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print; always 0."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="Measure swzverify against other ways.")
    parser.add_argument("--quick", action="store_true", help="fewer repeats and no 2^24 elements")
    parser.add_argument("--only", choices=BENCHMARKS, action="append", help="one benchmark; may be repeated")
    chosen = parser.parse_args(arguments)
    effort = QUICK if chosen.quick else FULL
    rows: list[Row] = []
    for name in chosen.only or BENCHMARKS:
        if sys.stderr.isatty():
            print(f"{name} ...", file=sys.stderr)
        rows += _measured(name, effort)
    print(facts(effort), table(rows), sep="\n\n")
    return 0


def _measured(name: str, effort: Effort) -> list[Row]:
    try:
        return BENCHMARKS[name](effort)
    except (RuntimeError, ImportError) as error:
        return [Row(f"{name}: not measured: {error}", "", "", 0, "")]


def facts(effort: Effort) -> str:
    """What the numbers depend on."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    versions = f"Python {platform.python_version()}, numpy {np.__version__}"
    return f"{cores} cores, {platform.system()} {platform.machine()}, {versions}; medians of {effort.repeats}, in turns"


def table(rows: Sequence[Row]) -> str:
    """The rows as a Markdown table with even columns.

    >>> print(table([Row("a", "1 s", "2 s", 2, "2.0x", 1, goal_shown=">= 1x")]))
    | what | ours | theirs | ratio | target | met |
    |------|------|--------|-------|--------|-----|
    | a    | 1 s  | 2 s    | 2.0x  | >= 1x  | yes |
    """
    lines = [HEADER, *(row.cells() for row in rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(HEADER))]

    def text(cells: Sequence[str]) -> str:
        return "| " + " | ".join(cell.ljust(width) for cell, width in zip(cells, widths, strict=True)) + " |"

    rule = "|" + "|".join("-" * (width + 2) for width in widths) + "|"
    return "\n".join([text(HEADER), rule, *(text(line) for line in lines[1:])])


if __name__ == "__main__":
    raise SystemExit(main())
