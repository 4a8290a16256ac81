"""The report of a calibration, as text and as JSON: instructions, patterns that break the rule, a summary."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from swzverify.gpu.calibration import About, RowResult
from swzverify.report.console import indented, rendered
from swzverify.report.escape import visible
from swzverify.report.plain import Json, json_text, members
from swzverify.report.style import TextStyle

SCHEMA = "swzverify.calibration-report/1"


def render_calibration_json(about: About, rows: Sequence[RowResult]) -> str:
    """The report on a calibration as JSON text with a line feed at its end."""
    document: dict[str, Json] = {
        "schema": SCHEMA,
        "device": {"name": about.device, **members(about, "capability", "driver", "date", "seed")},
        "holds": all(row.holds for row in rows),
        "instructions": [members(row, "instruction", "patterns", "kept", "holds", "differences") for row in rows],
    }
    return json_text(document)


def render_calibration(about: About, rows: Sequence[RowResult], style: TextStyle) -> str:
    """The report on a calibration as text.

    >>> about = About("GPU", 90, "13.0", "2026-01-01", 1)
    >>> print(render_calibration(about, [RowResult("ld.shared.b32", 4, 4)], TextStyle()).splitlines()[-1])
    GPU (sm_90, CUDA 13.0), 2026-01-01, seed 1: the rule holds for 4 of 4 patterns
    """
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    for column in ("instruction", "patterns", "keep the rule"):
        table.add_column(column, justify="left" if column == "instruction" else "right")
    for row in rows:
        colour = "green" if row.holds else "bold red"
        table.add_row(row.instruction, str(row.patterns), Text(str(row.kept), style=colour))
    blocks: list[RenderableType] = [table]
    for row in rows:
        blocks += [indented(Text(visible(text), overflow="fold"), 2) for text in row.differences]
    kept, every = sum(row.kept for row in rows), sum(row.patterns for row in rows)
    where = f"{about.device} (sm_{about.capability}, CUDA {about.driver}), {about.date}, seed {about.seed}"
    line = f"{visible(where)}: the rule holds for {kept} of {every} patterns"
    return rendered([*blocks, Text(line, style="bold green" if kept == every else "bold red", overflow="fold")], style)
