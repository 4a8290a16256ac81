"""What the scan of compiled kernels found, as text and as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from swzverify.ptx import Location
from swzverify.report.escape import visible
from swzverify.scan import LaneRow, ScannedAccess, Verdict


@dataclass(frozen=True, slots=True)
class ScannedFile:
    """The accesses of one file, with the source files that its `.loc` lines number.

    `problems` are the parts of the file that could not be read.
    """

    name: str
    accesses: tuple[ScannedAccess, ...]
    sources: dict[int, str]
    problems: tuple[str, ...] = ()


def scan_json(files: Iterable[ScannedFile]) -> str:
    """All accesses as one JSON document."""
    given = list(files)
    rows = [_record(file, access) for file in given for access in file.accesses]
    problems = [{"file": file.name, "message": each} for file in given for each in file.problems]
    return json.dumps({"accesses": rows, "problems": problems}, indent=1) + "\n"


def _record(file: ScannedFile, access: ScannedAccess) -> dict[str, Any]:
    decision = access.decision
    return {
        "file": file.name,
        "kernel": access.kernel,
        "line": access.line,
        "calls": list(access.calls),
        "source": _source(file, access.location),
        "instruction": access.instruction,
        "address": access.address,
        "verdict": decision.verdict.value,
        "ways": decision.ways,
        "at_least": decision.at_least,
        "wavefronts": decision.wavefronts,
        "minimum": decision.minimum,
        "parameters": list(decision.parameters),
        "reason": decision.reason,
        "engines": list(decision.engines),
    }


def _source(file: ScannedFile, location: Location | None) -> dict[str, Any] | None:
    if location is None or not location.line:
        return None
    found: dict[str, Any] = {"file": file.sources.get(location.file, ""), "line": location.line}
    if location.inlined_at is not None:
        found["function"] = location.function_name
        found["inlined_at"] = _source(file, location.inlined_at)
    return found


def scan_text(files: Sequence[ScannedFile]) -> str:
    """All accesses as lines for people, the summary last."""
    lines: list[str] = []
    counts = dict.fromkeys(Verdict, 0)
    for file in files:
        lines += [f"{visible(file.name)}: {visible(each)}" for each in file.problems]
        kernel: str | None = None
        for access in file.accesses:
            if access.kernel != kernel:
                kernel = access.kernel
                kind = "kernel" if access.is_entry else "function"
                lines.append(f"{visible(file.name)}: {kind} {visible(kernel)}")
            counts[access.decision.verdict] += 1
            lines += _lines(file, access)
    parts = [f"{count} {verdict}" for verdict, count in counts.items() if count]
    lines.append(f"{sum(counts.values())} accesses: {', '.join(parts)}" if parts else "0 accesses")
    return "\n".join(lines) + "\n"


def _lines(file: ScannedFile, access: ScannedAccess) -> list[str]:
    decision = access.decision
    words = str(decision.verdict)
    if decision.verdict in (Verdict.CONFLICT, Verdict.DEPENDS) and decision.ways is not None:
        words += f": {'at least ' if decision.at_least else ''}{decision.ways}-way"
    if decision.wavefronts is not None:
        words += f", {decision.wavefronts} wavefronts of at least {decision.minimum}"
    place = ""
    source = _source(file, access.location)
    if source is not None:
        place = f" ({visible(str(source['file']))}:{source['line']})"
    through = "".join(f", called at line {line}" for line in reversed(access.calls))
    found = [f"  line {access.line}{through}{place}: {visible(access.instruction)}", f"    {words}"]
    if decision.reason:
        found.append(f"    {visible(decision.reason)}")
    if access.address:
        found.append(f"    address: {visible(access.address)}")
    if decision.lanes and decision.verdict is not Verdict.FREE:
        found += _table(decision.warp or 0, decision.lanes)
    return found


def _table(warp: int, lanes: Sequence[LaneRow]) -> list[str]:
    """The lanes of a warp; offsets are relative to the first lane's address."""
    found = [f"    warp {warp}:  lane  thread        offset  relative bank"]
    for row in lanes:
        thread = ",".join(map(str, row.thread))
        mark = "  x" if row.collides else ""
        found.append(f"             {row.lane:4}  {thread:<12}{row.offset:8}  {row.bank:4}{mark}")
    return found
