"""Counts what each shared atomic takes on the GPU at hand, for the patterns of one that is known.

usage: python tests/hardware/measure_atomics.py OUTPUT.npz    needs nvcc, ncu and numpy
"""

from __future__ import annotations

import csv
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

HERE = Path(__file__).parent
COUNTERS = ("wavefronts", "bank_conflicts")
METRICS = ("l1tex__data_pipe_lsu_wavefronts_mem_shared.sum", "l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum")
PATTERNS = 48


def main(output: str) -> None:
    with np.load(HERE.parent / "data" / "h100_variants.npz") as arrays:
        every = len(arrays["atom.shared.exch.b32/masks"]) // PATTERNS
        addresses = arrays["atom.shared.exch.b32/addresses"][::every][:PATTERNS].astype(np.uint32)
        masks = arrays["atom.shared.exch.b32/masks"][::every][:PATTERNS]
    with tempfile.TemporaryDirectory() as folder:
        program, patterns = f"{folder}/atomics", f"{folder}/patterns"
        subprocess.run(["nvcc", "-std=c++17", "-arch=sm_90a", "-o", program, str(HERE / "atomics.cu")], check=True)
        np.column_stack([addresses, masks]).astype(np.uint32).tofile(patterns)
        listed = subprocess.run([program], check=True, capture_output=True, text=True).stdout.split("\n")
        found: dict[str, np.ndarray] = {"masks": masks}
        for number, line in enumerate(filter(None, listed)):
            name, width = line.split()
            found[f"{name}/addresses"] = (addresses * (int(width) // 4)).astype(np.uint32)
            for metric, values in zip(COUNTERS, counted(program, patterns, number), strict=True):
                found[f"{name}/{metric}"] = np.array(values, dtype=np.float32)
            print(name, found[f"{name}/wavefronts"][:12], flush=True)
    np.savez_compressed(output, **found)


def counted(program: str, patterns: str, number: int) -> tuple[list[float], list[float]]:
    """The two counters of every launch, in order."""
    command = ["ncu", "--csv", "--page", "raw", "--clock-control", "none", "--metrics", ",".join(METRICS)]
    ended = subprocess.run([*command, program, patterns, str(number)], check=False, capture_output=True, text=True)
    text = ended.stdout
    if ended.returncode:
        raise SystemExit(f"ncu ended with {ended.returncode}: {text[-2000:]} {ended.stderr[-2000:]}")
    lines = text[text.index('"ID"') :].splitlines()
    rows = list(csv.DictReader(lines))[1:]
    return tuple([float(row[metric].replace(",", "")) for row in rows] for metric in METRICS)  # type: ignore[return-value]


if __name__ == "__main__":
    main(sys.argv[1])
