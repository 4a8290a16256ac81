"""Counts the sectors of global memory that warp instructions touch, on the GPU at hand.

usage: python tests/hardware/measure_sectors.py OUTPUT.csv.gz    needs nvcc and ncu

A line per warp instruction, with its name, the sectors that Nsight
Compute counted, and the 32 lanes' byte offsets (-1: the lane did nothing).
"""

from __future__ import annotations

import csv
import gzip
import random
import subprocess
import sys
import tempfile
from pathlib import Path

NAMES = [
    f"{op}.global.{kind}" for op in ("ld", "st") for kind in ("b8", "b16", "b32", "v2.b32", "b64", "v4.b32", "v2.b64")
]
WIDTHS = dict(zip(("b8", "b16", "b32", "v2.b32", "b64", "v4.b32", "v2.b64"), (1, 2, 4, 8, 8, 16, 16), strict=True))
PATTERNS = 60
COUNTER = "l1tex__t_sectors_pipe_lsu_mem_global_op_{}.sum"


def pattern(width: int, draw: random.Random) -> list[int]:
    """32 offsets that are multiples of the width: strides, permutations, scattered and shared ones."""
    base = draw.choice([0, 0, width, draw.randrange(64) * width])
    kind = draw.randrange(6)
    if kind == 0:
        step = draw.choice([1, 1, 2, 3, 4, 8, 17, 32, 64])
        lanes = [lane * step for lane in range(32)]
    elif kind == 1:
        lanes = draw.sample(range(draw.choice([32, 32, 48, 64])), 32)
    elif kind == 2:
        lanes = [draw.randrange(draw.choice([16, 64, 256, 4096])) for _ in range(32)]
    elif kind == 3:
        few = [draw.randrange(512) for _ in range(draw.choice([1, 2, 3, 8]))]
        lanes = [draw.choice(few) for _ in range(32)]
    elif kind == 4:
        step, rows = draw.choice([16, 33, 64, 100]), draw.choice([2, 4, 8, 16])
        lanes = [lane % rows * step + lane // rows for lane in range(32)]
    else:
        lanes = [lane ^ draw.choice([0, 1, 4, 16]) for lane in range(32)]
    on = draw.choice([range(32), range(32), range(16), range(0, 32, 2), draw.sample(range(32), draw.randrange(1, 32))])
    return [base + width * lane if place in set(on) else -1 for place, lane in enumerate(lanes)]


def main() -> None:
    """Draw, run under the profiler, and write the file."""
    draw = random.Random(1)
    here = Path(__file__).parent
    patterns = [(which, pattern(WIDTHS[name[10:]], draw)) for which, name in enumerate(NAMES) for _ in range(PATTERNS)]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        lines = (" ".join(map(str, (which, *lanes))) for which, lanes in patterns)
        (folder / "patterns.txt").write_text("\n".join(lines) + "\n")
        program = folder / "measure"
        subprocess.run(["nvcc", "-w", "-arch=sm_90", "-o", program, here / "sectors.cu"], check=True)
        counters = ",".join(COUNTER.format(op) for op in ("ld", "st"))
        profiler = ["ncu", "--clock-control", "none", "--metrics", counters, "--csv"]
        done = subprocess.run([*profiler, program, folder / "patterns.txt"], check=True, capture_output=True, text=True)
    rows = csv.DictReader(line for line in done.stdout.splitlines() if line.startswith('"'))
    counted = {(int(row["ID"]), row["Metric Name"]): int(float(row["Metric Value"])) for row in rows}
    with gzip.open(sys.argv[1], "wt", newline="") as file:
        out = csv.writer(file)
        out.writerow(["instruction", "sectors", *(f"lane {lane}" for lane in range(32))])
        for launch, (which, lanes) in enumerate(patterns):
            out.writerow([NAMES[which], counted[launch, COUNTER.format(NAMES[which][:2])], *lanes])


if __name__ == "__main__":
    main()
