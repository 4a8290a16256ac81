"""Counts bulk copies and reductions.

usage: python tests/hardware/measure_bulk.py OUTPUT.csv    needs nvcc, ncu and a GPU of compute capability 9.0

The counters are those of `tests/data/h200_tma_counters.csv`, and the reads of banks.
"""

from __future__ import annotations

import csv
import io
import re
import subprocess
import sys
import tempfile
from pathlib import Path

KINDS = ("store", "load", "add.u32", "add.noftz.f16", "tensor store", "tensor add.f16", "tensor load")
FIRST_TENSOR = KINDS.index("tensor store")
MODES = ("none", "32B", "64B", "128B", "none, rows of 16")
METRICS = {
    "bank_conflicts": "l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum",
    "wavefronts": "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum",
    "bank_reads": "l1tex__data_bank_reads.sum",
    "bank_writes": "l1tex__data_bank_writes.sum",
}
NAME = re.compile(r"bulkILi(\d+)ELi(\d+)ELi(\d+)E")


def main() -> None:
    """Compile, count, write."""
    with tempfile.TemporaryDirectory() as folder:
        program, report = f"{folder}/bulk", f"{folder}/bulk.ncu-rep"
        source = Path(__file__).with_name("bulk_counters.cu")
        subprocess.run(["nvcc", "-arch=sm_90a", "-o", program, str(source)], check=True)
        plain = subprocess.run([program], check=True, capture_output=True, text=True, timeout=60).stdout
        print("\n".join(line for line in plain.splitlines() if not line.endswith(": 0, no error")))
        names = ",".join(METRICS.values())
        ncu = ["ncu", "--clock-control", "none", "--metrics", names, "--export", report, program]
        subprocess.run(ncu, check=True, capture_output=True, timeout=300)
        page = ["--csv", "--print-kernel-base", "mangled", "--print-units", "base", "--page", "raw"]
        raw = subprocess.run(["ncu", "--import", report, *page], check=True, capture_output=True, text=True).stdout
    lines = "\n".join(line for line in raw.splitlines() if line.startswith('"'))
    with Path(sys.argv[1]).open("w", newline="") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(("kind", "mode", "copies", "bytes", *METRICS))
        for row in csv.DictReader(io.StringIO(lines)):
            if found := NAME.search(row.get("Kernel Name") or ""):
                kind, mode, copies = map(int, found.groups())
                size = 4096 if MODES[mode] == MODES[-1] else 8192
                counts = [row[metric].replace(",", "") for metric in METRICS.values()]
                out.writerow((KINDS[kind], MODES[mode] if kind >= FIRST_TENSOR else "", copies, size, *counts))
    print(Path(sys.argv[1]).read_text())


if __name__ == "__main__":
    main()
