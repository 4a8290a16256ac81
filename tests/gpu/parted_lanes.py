"""Asks a GPU's counters about loops that lanes leave by data: `python -m tests.gpu.parted_lanes --seeds 0-150`.

Each kernel has loops, some of them in others, whose loads have one address for all lanes that are in one trip, and
addresses in one bank for lanes of different trips. So a load of which the chip counts more wavefronts than
instructions had lanes of different trips. The kernels that `scan` calls free must have none: docs/hardware.md, "Lanes
that part". Half of the kernels load volatile words. It needs nvcc, ncu, and a GPU of compute capability 9.0.
The exit status is 1 if a verdict disagrees.
"""

from __future__ import annotations

import argparse
import csv
import random
import re
import subprocess
import tempfile
from collections.abc import Iterable
from pathlib import Path

from swzverify.compiled.ptx import read_module
from swzverify.compiled.scan import scan_function

ARCHITECTURE = "sm_90"
THREADS = 64
LEAVE = (
    "if ((x >> 25) > {n}0) break;",
    "if (((x >> 20) ^ t) % {n} == 0) break;",
    "if ((x >> 21) % {n} == 1 && y % 2) break;",
)
GO_ON = ("if ((x >> 22) % {n} == 2) y ^= x; else y += t;", "if ((x >> 22) % {n} == 0) y = y * 5 + x;", "")
KERNEL = """extern "C" __global__ void k{seed}(const unsigned *in, unsigned *out, int n) {{
  __shared__ {kind}unsigned s[2048];
  for (int i = threadIdx.x; i < 2048; i += {threads}) s[i] = in[i];
  __syncthreads();
  unsigned t = threadIdx.x, x = in[t] * 2654435761u + t * 40503u, y = 0;
  {body}
  out[t] = y + x;
}}
"""
MAIN = """int main() {{
  unsigned *in, *out, words[4096];
  for (unsigned i = 0; i < 4096; i++) words[i] = i * 747796405u + 2891336453u;
  cudaMalloc(&in, sizeof words); cudaMalloc(&out, sizeof words);
  cudaMemcpy(in, words, sizeof words, cudaMemcpyHostToDevice);
  {launches}
  return cudaDeviceSynchronize() != cudaSuccess;
}}
"""
NCU = (
    "ncu",
    "--clock-control",
    "none",
    "--csv",
    "--page",
    "source",
    "--print-source",
    "sass",
    "--section",
    "SourceCounters",
)
MORE = "L1 Wavefronts Shared Excessive"


def text_of(seed: int) -> str:
    """The kernel of a seed; those of even seeds load volatile words."""
    source = random.Random(seed)
    body = _loop(source, source.choice((0, 1, 1, 2)), [0])
    if source.random() < 0.3:
        body = f"for (int o = 0; o < 3; o++) {{ __syncthreads(); {body} }}"
    return KERNEL.format(seed=seed, kind="" if seed % 2 else "volatile ", threads=THREADS, body=body)


def _loop(source: random.Random, depth: int, made: list[int]) -> str:
    made[0] += 1
    trip = f"i{made[0]}"
    load = f"y += s[({trip} * 32) & 2047];"
    parts = [load, *(source.choice(each).format(n=source.randrange(3, 9)) for each in (LEAVE, GO_ON))]
    parts += [_loop(source, depth - 1, made)] if depth else []
    parts += [load] if source.random() < 0.5 else []
    source.shuffle(parts)
    body = f"x = x * 1664525u + 1013904223u + {trip}; {' '.join(parts)}"
    limit = source.choice(("n", "12", "min(n, 20)"))
    if source.random() < 0.7:
        return f"for (int {trip} = 0; {trip} < {limit}; {trip}++) {{ {body} }}"
    return f"{{ int {trip} = 0; do {{ {body} {trip}++; }} while ({trip} < {limit}); }}"


def program(seeds: Iterable[int]) -> str:
    """A CUDA program that launches some kernels, one after the other."""
    seeds = list(seeds)
    launches = "\n  ".join(f"k{seed}<<<1, {THREADS}>>>(in, out, 17);" for seed in seeds)
    return "".join(map(text_of, seeds)) + MAIN.format(launches=launches)


def free_kernels(ptx: str) -> set[str]:
    """The kernels of which `scan` calls every load of shared memory free, without a run."""
    module = read_module(ptx, "loops.ptx")
    return {
        function.name
        for function in module.functions
        if all(
            each.decision.verdict.value == "free"
            for each in scan_function(module, function, (THREADS, 1, 1), trials=0)
            if each.instruction.startswith("ld.")
        )
    }


def kernels_with_more(page: str) -> set[str]:
    """The kernels with a load of shared memory that took more wavefronts than needed, by ncu's source pages as CSV."""
    found: set[str] = set()
    name, head = "", list[str]()
    for row in csv.reader(line for line in page.splitlines() if line.startswith('"')):
        if row[0] == "Kernel Name":
            name = row[1]
        elif MORE in row:
            head = row
        elif head and re.search(r"\bLDS\b", " ".join(row[:3])) and int(row[head.index(MORE)]):
            found.add(name)
    return found


def main() -> int:
    """Compare, and say how many kernels were free, and which of them the chip contradicts."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--seeds", default="0-150", help="A-B: from A to B - 1")
    first, last = map(int, arguments.parse_args().seeds.split("-"))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "loops.cu").write_text(program(range(first, last)), "utf-8")
        nvcc = ("nvcc", "-w", "-lineinfo", f"-arch={ARCHITECTURE}", "loops.cu")
        for more in (("-o", "loops"), ("-ptx", "-o", "loops.ptx")):
            subprocess.run((*nvcc, *more), check=True, cwd=folder)
        page = subprocess.run((*NCU, "./loops"), check=True, cwd=folder, capture_output=True, text=True).stdout
        free, more_of = free_kernels((folder / "loops.ptx").read_text("utf-8")), kernels_with_more(page)
    print(f"{last - first} kernels: {len(free)} free, {len(more_of)} with lanes of different trips in one load")
    print(f"disagree: {', '.join(sorted(free & more_of)) or 'none'}")
    return int(bool(free & more_of))


if __name__ == "__main__":
    raise SystemExit(main())
