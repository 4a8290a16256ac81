"""What the scan of compiled kernels found, as the rows of data frames: plain values, one for each column."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final

from swzverify.compiled.kinds import SCAN_CLAIMS
from swzverify.compiled.order.verdict import Pair, Participant
from swzverify.compiled.scan.measured import Measured
from swzverify.core.demangle import demangled
from swzverify.core.frames import Columns
from swzverify.report.scan import ScannedFile
from swzverify.report.scan_chip import verdict_word
from swzverify.report.scan_race_record import source_place
from swzverify.report.source_line import source_line

_PLACE: Final[Columns] = {"file": str, "origin": str, "kernel": str, "kernel_name": str}
_BLOCK: Final[Columns] = {"block_x_threads": int, "block_y_threads": int, "block_z_threads": int}
_SIDE: Final[Columns] = {"ptx_line": int, "opcode": str, "source_file": str, "source_line": int, "thread": int}

ACCESS_COLUMNS: Final[Columns] = {
    **_PLACE,
    **_BLOCK,
    "ptx_line": int,
    "source_file": str,
    "source_line": int,
    "instruction": str,
    "address": str,
    "verdict": str,
    "ptx_verdict": str,
    "ways": int,
    "ways_at_least": bool,
    "wavefronts_per_execution": int,
    "minimum_wavefronts_per_execution": int,
    "wasted_wavefronts_per_execution": int,
    "executions_per_warp": int,
    **{each.kind: str for each in SCAN_CLAIMS},
    "reason": str,
    "parameters": str,
    "assumptions": str,
    "engines": str,
    "counters": str,
    "counted_executions": int,
    "counted_wavefronts": int,
}
KERNEL_COLUMNS: Final[Columns] = {
    **_PLACE,
    "races": str,
    "reason": str,
    "free_pairs": int,
    "other_pairs": int,
    "barriers": int,
    "lockstep": bool,
    "assumptions": str,
}
RACE_COLUMNS: Final[Columns] = {
    **_PLACE,
    "verdict": str,
    "reason": str,
    "condition": str,
    "engines": str,
    **{f"{which}_{name}": of for which in ("first", "second") for name, of in _SIDE.items()},
    "array": str,
    "offset_bytes": int,
    "replayed": bool,
}


def access_rows(files: Iterable[ScannedFile]) -> Iterator[dict[str, object]]:
    """A row for each access, with the figures of the verdict that counts: that on the chip where it is known."""
    for file in files:
        for access, found in file.held:
            decision = access.settled
            lines = source_line(access.location, file.sources)
            yield {
                **_place(file, access.kernel),
                **dict(zip(_BLOCK, access.block or (None,) * len(_BLOCK), strict=True)),
                "ptx_line": access.line,
                "source_file": None if lines is None else lines.shown.file,
                "source_line": None if lines is None else lines.shown.line,
                "instruction": access.instruction,
                "address": access.address,
                "verdict": verdict_word(decision.verdict),
                "ptx_verdict": verdict_word(access.decision.verdict),
                "ways": decision.ways,
                "ways_at_least": decision.at_least,
                "wavefronts_per_execution": decision.wavefronts,
                "minimum_wavefronts_per_execution": decision.minimum,
                "wasted_wavefronts_per_execution": decision.wasted,
                "executions_per_warp": access.executions,
                **{each.kind: access.claim(each.kind).verdict.value for each in SCAN_CLAIMS},
                "reason": decision.reason,
                "parameters": ", ".join(decision.parameters),
                "assumptions": "; ".join(access.assumptions),
                "engines": " + ".join(decision.engines),
                **_counted(found),
            }


def kernel_rows(files: Iterable[ScannedFile]) -> Iterator[dict[str, object]]:
    """A row for each kernel, with the verdict on its races."""
    for file in files:
        for kernel, races in file.races.items():
            yield {
                **_place(file, kernel),
                "races": races.verdict.value,
                "reason": races.reason,
                "free_pairs": races.free_pairs,
                "other_pairs": len(races.pairs),
                "barriers": len(races.barriers),
                "lockstep": races.is_lockstep,
                "assumptions": "; ".join(races.assumptions),
            }


def race_rows(files: Iterable[ScannedFile]) -> Iterator[dict[str, object]]:
    """A row for each pair of accesses that was not proved free of races."""
    for file in files:
        for kernel, races in file.races.items():
            for pair in races.pairs:
                yield {**_place(file, kernel), **_pair(pair, file.sources)}


Rows = Callable[[Iterable[ScannedFile]], Iterator[dict[str, object]]]
TABLES: Final[Mapping[str, tuple[Columns, Rows]]] = {
    "accesses": (ACCESS_COLUMNS, access_rows),
    "kernels": (KERNEL_COLUMNS, kernel_rows),
    "races": (RACE_COLUMNS, race_rows),
}
"""The tables that a scan has, by what their rows are: the columns, and what makes the rows."""


def _place(file: ScannedFile, kernel: str) -> dict[str, object]:
    return {"file": file.name, "origin": file.origin, "kernel": kernel, "kernel_name": demangled(kernel).whole}


def _counted(found: Measured | None) -> dict[str, Any]:
    if found is None:
        return {}
    if not found.rows:
        return {"counters": found.status.value}
    return {
        "counters": found.status.value,
        "counted_executions": sum(each.counts.executed for each in found.rows),
        "counted_wavefronts": sum(each.counts.wavefronts for each in found.rows),
    }


def _pair(pair: Pair, sources: Mapping[int, str]) -> dict[str, object]:
    witness = pair.witness
    threads = (None, None) if witness is None else witness.threads
    return {
        "verdict": pair.verdict.value,
        "reason": pair.reason,
        "condition": pair.condition,
        "engines": " + ".join(pair.engines),
        **_side("first", pair.first, threads[0], sources),
        **_side("second", pair.second, threads[1], sources),
        "array": None if witness is None else witness.array,
        "offset_bytes": None if witness is None else witness.byte,
        "replayed": None if witness is None else witness.is_replayed,
    }


def _side(which: str, side: Participant, thread: int | None, sources: Mapping[int, str]) -> dict[str, object]:
    file, line = source_place(side.source, sources) or (None, None)
    values = (side.line, side.opcode, file, line, thread)
    return {f"{which}_{name}": value for name, value in zip(_SIDE, values, strict=True)}
