"""A finished sweep in words and tables, for people and for programs."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from swzverify.core.words import counted
from swzverify.report.escape import visible
from swzverify.report.plain import members, to_json

if TYPE_CHECKING:
    from swzverify.report.style import TextStyle
    from swzverify.spec.sweep.columns import Cell
    from swzverify.spec.sweep.summary import AxisLine, Heatmap, Summary


def render_sweep(path: str, folder: str, summary: Summary, style: TextStyle) -> str:
    """The summary: cases by status, the best case, a table per axis, and the heatmap if any."""
    rows = [f"{visible(path)}: {counted(summary.cases, 'case')}, in {visible(folder)}"]
    statuses = ", ".join(f"{count} {status}" for status, count in summary.statuses.items())
    rows += _fact("status", statuses or "no combination of the axes' values meets every condition")
    if summary.claims is not None:
        rows += _fact("claims", ", ".join(f"{count} {name or 'without'}" for name, count in summary.claims.items()))
    rows += _best(summary.best, summary)
    for name, lines in summary.axes.items():
        rows += ["", *_axis(name, lines)]
    if summary.heatmap is not None:
        rows += ["", *_heatmap(summary.heatmap, style)]
    return "\n".join(rows) + "\n"


def sweep_json(path: str, folder: str, manifest: Mapping[str, Any], summary: Summary) -> str:
    """The same for programs, in one JSON object."""
    return json.dumps(
        {
            "schema": "swzverify.spec.sweep-summary/1",
            "spec": path,
            "folder": folder,
            "manifest": dict(manifest),
            **members(summary, "cases", "statuses", "claims", "best", "as_good", "axes"),
            "heatmap": None if summary.heatmap is None else _heatmap_record(summary.heatmap),
        },
        indent=2,
    )


def _heatmap_record(found: Heatmap) -> dict[str, Any]:
    return {**members(found, "across", "down", "columns", "rows"), "conflicts": to_json(found.cells)}


def _fact(name: str, text: str) -> list[str]:
    return [f"  {name:<8} {text}"]


def _best(best: Mapping[str, Cell] | None, summary: Summary) -> list[str]:
    if best is None:
        return _fact("best", "none: no case is sound")
    names = [name for name in summary.axes if name in best]
    values = ", ".join(f"{name} = {visible(str(best[name]))}" for name in names)
    costs = f"{best['wavefronts']} wavefronts, {best['conflicts']} bank conflicts, {best['bytes']} bytes"
    others = summary.as_good - 1
    also = f"; {counted(others, 'other case')} as good" if others else ""
    return [*_fact("best", f"case {best['case']}: {values}"), *_fact("", f"{costs}{also}")]


def _axis(name: str, lines: tuple[AxisLine, ...]) -> list[str]:
    width = max(len(name), *(len(visible(str(line.value))) for line in lines))
    rows = [f"  {name:>{width}}  {'cases':>9}  {'free':>9}  least wavefronts"]
    for line in lines:
        least = "-" if line.wavefronts is None else str(line.wavefronts)
        rows.append(f"  {visible(str(line.value)):>{width}}  {line.cases:>9}  {line.free:>9}  {least:>16}")
    return rows


def _heatmap(found: Heatmap, style: TextStyle) -> list[str]:
    """The fewest bank conflicts, with 0 as a dot that catches the eye and no case as a blank."""
    free = "·" if style.unicode else "."
    cells = [["" if cell is None else str(cell or free) for cell in row] for row in found.cells]
    heads = [visible(str(value)) for value in found.columns]
    width = max(2, *(len(cell) for cell in [*heads, *(cell for row in cells for cell in row)]))
    side = max(len(found.down), *(len(visible(str(value))) for value in found.rows))
    rows = [f"  fewest bank conflicts ({free} none, blank: no sound case); {found.across} goes across"]
    rows.append(f"  {found.down:>{side}}  " + " ".join(f"{head:>{width}}" for head in heads))
    for value, row in zip(found.rows, cells, strict=True):
        rows.append(f"  {visible(str(value)):>{side}}  " + " ".join(f"{cell:>{width}}" for cell in row))
    return [row.rstrip() for row in rows]
