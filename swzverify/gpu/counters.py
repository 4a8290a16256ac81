"""Nsight Compute's counters of cost patterns: the command to run, and what its table says.

Source: Nsight Compute 2025.3; the counters are those of docs/hardware.md.
"""

from __future__ import annotations

import csv
import io
import math
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from swzverify.core.processes import command_of
from swzverify.errors import SwzError
from swzverify.gpu.cost_worker import save_patterns
from swzverify.gpu.costs import UNROLL, Patterns, kernel_name

WAVEFRONTS = "l1tex__data_pipe_lsu_wavefronts_mem_shared"
CONFLICTS = "l1tex__data_bank_conflicts_pipe_lsu_mem_shared"
BYPASS = "sm__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ldgsts_cache_bypass"
BYPASSING = frozenset({"cp.async.16"})
"""Instructions that go around the first-level cache, which the other counters do not count."""
TIMEOUT_S = 1800
_CLOCKS = "time the accesses instead: swzverify crosscheck --cost clocks"


@dataclass(frozen=True, slots=True)
class Counted:
    """Wavefronts and bank conflicts per warp instruction of each pattern; -1: not counted."""

    wavefronts: NDArray[np.float64]
    bank_conflicts: NDArray[np.float64]


def count(folder: Path, by_name: Mapping[str, Patterns]) -> dict[str, Counted]:
    """Run the patterns under the profiler.

    Raises:
        SwzError: SWZ711 if there is no profiler, SWZ712 if it may not read the counters, SWZ713 if it
            failed otherwise.
    """
    found: dict[str, Counted] = {}
    for names, metrics in (
        ([name for name in by_name if name not in BYPASSING], (WAVEFRONTS, CONFLICTS)),
        ([name for name in by_name if name in BYPASSING], (BYPASS,)),
    ):
        if names:
            some = {name: by_name[name] for name in names}
            found |= read_counts(_profile(folder, some, metrics), some, metrics)
    return found


def _profile(folder: Path, by_name: Mapping[str, Patterns], metrics: Sequence[str]) -> str:
    program = shutil.which("ncu")
    if program is None:
        raise SwzError("SWZ711", "Nsight Compute (ncu) is not on the path", hint=f"install it, or {_CLOCKS}")
    folder.mkdir(parents=True, exist_ok=True)
    save_patterns(folder, dict(by_name))
    wanted = ",".join(f"{metric}.sum" for metric in metrics)
    command = [program, "--clock-control", "none", "--cache-control", "none", "--csv", "--page", "raw"]
    command += ["--print-units", "base", "--metrics", wanted]
    command += command_of("swzverify.gpu.worker", "counts", str(folder))
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT_S, check=False)  # noqa: S603
    except subprocess.TimeoutExpired as error:
        raise SwzError("SWZ713", f"ncu did not end within {TIMEOUT_S} s") from error
    if "ERR_NVGPUCTRPERM" in done.stdout + done.stderr:
        raise SwzError(
            "SWZ712",
            "ncu may not read the GPU's counters (ERR_NVGPUCTRPERM)",
            hint=f"run as root or set NVreg_RestrictProfilingToAdminUsers=0, or {_CLOCKS}",
        )
    if done.returncode:
        refused = folder / "refused"
        why = refused.read_text() if refused.exists() else (done.stderr or done.stdout).strip()[-500:]
        raise SwzError("SWZ713", f"counting failed: {why}")
    return done.stdout


def read_counts(table: str, by_name: Mapping[str, Patterns], metrics: Sequence[str]) -> dict[str, Counted]:
    """What the profiler's table says of each pattern; launches are in the worker's order.

    Raises:
        SwzError: SWZ713 for a table that does not hold them all.
    """
    rows = _rows(table)
    at = 0
    found: dict[str, Counted] = {}
    for name, each in by_name.items():
        kernel = kernel_name("counted", each.instruction)
        mine = rows[at : at + 1 + len(each)]
        if len(mine) != 1 + len(each) or any(row.get("Kernel Name", "").split("(")[0] != kernel for row in mine):
            raise SwzError("SWZ713", f"ncu's table has {len(mine)} launches where {1 + len(each)} of {kernel} belong")
        at += len(mine)
        columns: list[NDArray[np.float64]] = []
        for metric in metrics:
            values = np.asarray([_number(row, f"{metric}.sum") for row in mine])
            # The first launch ran the first pattern twice as often as the second: what does not
            # double, every launch counts by itself.
            columns.append((values[1:] - (2 * values[1] - values[0])) / UNROLL)
        wavefronts = columns[0]
        found[name] = Counted(wavefronts, columns[1] if len(columns) > 1 else np.full(len(each), -1.0))
    return found


def _rows(table: str) -> list[dict[str, str]]:
    """The rows below the header, without the row of units and other output."""
    lines = [line for line in table.replace("\0", "").splitlines() if line.startswith('"')]
    rows = list(csv.DictReader(io.StringIO("\n".join(lines))))
    return [row for row in rows if (row.get("ID") or "").isdigit()]


def _number(row: Mapping[str, str], column: str) -> float:
    text = (row.get(column) or "").replace(",", "")
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise SwzError("SWZ713", f"ncu has no number for {column}: {text!r}")
    return value
