"""What one spec asks of the device, as a file: kernels and launches."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from swzverify.gpu.launch import Box, Launch
from swzverify.gpu.products import ENCODINGS
from swzverify.gpu.source import PRELUDE, TMA_KERNEL, TOKENS


@dataclass(frozen=True, slots=True)
class Job:
    """Kernels and the launches of them."""

    source: str
    launches: tuple[Launch, ...]


def whole_source(kernels: Sequence[str]) -> str:
    """Kernels with what they need."""
    return "\n".join([PRELUDE, TOKENS, ENCODINGS, TMA_KERNEL, *kernels])


def save_job(folder: Path, name: str, job: Job) -> None:
    """Write NAME.cu, NAME.json and NAME.npz."""
    (folder / f"{name}.cu").write_text(job.source)
    fields = [{**asdict(launch), "rows": None} for launch in job.launches]
    (folder / f"{name}.json").write_text(json.dumps(fields))
    np.savez(folder / f"{name}.npz", *(launch.rows for launch in job.launches))


def load_job(folder: Path, name: str) -> Job:
    """Read what `save_job` wrote."""
    launches: list[Launch] = []
    described: list[dict[str, Any]] = json.loads((folder / f"{name}.json").read_text())
    with np.load(folder / f"{name}.npz") as rows:
        for i, fields in enumerate(described):
            fields["rows"] = rows[f"arr_{i}"]
            fields["box"] = Box(**fields["box"]) if fields["box"] else None
            launches.append(Launch(**fields))
    return Job((folder / f"{name}.cu").read_text(), tuple(launches))
