"""Asks a GPU whether lanes run together behind loops in which they may wait: `python -m tests.gpu.parted_waits`.

For each kind of instruction in the loop, two kernels leave the loop by a word that each lane loads: in one of them at
different trips, in the other at one trip. Further kernels really wait until another warp goes on: all lanes for one
thing, or half of them for another one, which comes later. In a last group, a part of the lanes executes an instruction
in no loop. The load behind the loop is the only one of 64 bits, so
ncu's count of its executions, for the 32 lanes of one warp, says whether they ran together: docs/hardware.md, "Lanes
that part". It needs nvcc, ncu, and a GPU of compute capability 9.0. It prints the counts; the exit status is 1 where
lanes that leave at one trip did not run together, or others did not on which `scan` relies.
"""

from __future__ import annotations

import csv
import re
import subprocess
import tempfile
from pathlib import Path
from typing import Final

from tests.gpu.parted_lanes import NCU

ARCHITECTURE: Final = "sm_90a"
TRIPS: Final = 24
OTHERS: Final = {
    "plain": "y += w[i & 63];",
    "red_global": 'asm volatile("red.global.add.u32 [%0], 1;" :: "l"(out + 64) : "memory");',
}
"""Instructions that make no loop a wait."""
WAITS: Final = {
    "volatile": "y += *(volatile unsigned *)&w[i & 63];",
    "atomic": "y += atomicAdd(&w[i & 63], 0u);",
    "red_shared": 'asm volatile("red.shared.add.u32 [%0], 1;" :: "r"(at) : "memory");',
    "acquire": (
        "{ unsigned v; "
        'asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(v) : "l"(in + i) : "memory"); y += v; }'
    ),
    "test_wait": (
        '{ unsigned v; asm volatile("{ .reg .pred p; mbarrier.test_wait.parity.shared.b64 p, [%1], 0; '
        'selp.u32 %0, 1, 0, p; }" : "=r"(v) : "r"(object) : "memory"); y += v; }'
    ),
    "try_wait": (
        '{ unsigned v; asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], 1; '
        'selp.u32 %0, 1, 0, p; }" : "=r"(v) : "r"(object) : "memory"); y += v; }'
    ),
    "arrive": (
        "{ unsigned long long v; "
        'asm volatile("mbarrier.arrive.shared.b64 %0, [%1];" : "=l"(v) : "r"(object) : "memory"); }'
    ),
    "nanosleep": "__nanosleep(20);",
    "called": "y += called(w, i);",
}
PARTING: Final = ("nanosleep", "called")
"""Those that part lanes in no loop."""
LIMITED: Final = WAITS["try_wait"].replace("[%1], 1;", "[%1], 0, 50;")
PURE: Final = "y += pure(w, i);"
BEGIN: Final = """{{
  __shared__ unsigned w[64];
  __shared__ unsigned long long s[2048], objects[2];
  unsigned t = threadIdx.x, y = 0;
  unsigned at = (unsigned)__cvta_generic_to_shared(w), object = (unsigned)__cvta_generic_to_shared(objects);
  for (int i = t; i < 2048; i += blockDim.x) s[i] = in[i & 63];
  if (t < 64) w[t] = 0;
  if (t < 2) asm volatile("mbarrier.init.shared.b64 [%0], {count};" :: "r"(object + 8 * t) : "memory");
  __syncthreads();
"""
END: Final = "  out[t] = y; ((unsigned long long *)out)[64 + t] = s[(t * 32 + y) & 2047];\n}}\n"
BY_WORDS: Final = (
    'extern "C" __global__ void {name}(const unsigned *in, unsigned *out)\n'
    + BEGIN
    + "  #pragma unroll 1\n"
    + "  for (unsigned i = 0; ; i++) {{ {body} y += w[i & 63]; if ((in[{word}] | y >> 31) == 0) break; }}\n"
    + END
)
REAL: Final = (
    'extern "C" __global__ void {name}(const unsigned *in, unsigned *out)\n'
    + BEGIN
    + """  unsigned half = {parts} ? t / 16 : 0;
  if (t >= 32) {{
    if (t == 32) for (unsigned each = 0; each < 2; each++) {{
      for (long long start = clock64(); clock64() - start < 20000;);
      {signal}
    }}
    return;
  }}
  {wait}
"""
    + END
)
ALONE: Final = (
    'extern "C" __global__ void {name}(const unsigned *in, unsigned *out)\n'
    + BEGIN
    + "  if (in[192 + t]) {{ unsigned i = 3; {body} y += w[1]; }}\n"
    + END
)
"""The word is 0 for 8 of the lanes."""
ARRIVE: Final = 'asm volatile("mbarrier.arrive.shared.b64 _, [%0];" :: "r"(object + 8 * each) : "memory");'
POLL: Final = (
    'for (unsigned done = 0; !done;) asm volatile("{{ .reg .pred p; mbarrier.{kind}.parity.shared.b64 p, [%1], 0; '
    'selp.u32 %0, 1, 0, p; }}" : "=r"(done) : "r"(object + 8 * half) : "memory");'
)
SIGNALS: Final = {
    "flag": ("*(volatile unsigned *)&w[each] = 1;", "while (*(volatile unsigned *)&w[half] == 0);"),
    "test_wait": (ARRIVE, POLL.format(kind="test_wait")),
    "try_wait": (ARRIVE, POLL.format(kind="try_wait")),
}
MAIN: Final = """int main() {{
  unsigned *in, *out, words[64 * {trips}] = {{0}};
  for (unsigned i = 0; i < 64 * {trips}; i++) words[i] = i / 64 < (i % 64 < 32 ? 2 + i % 16 : 5);
  cudaMalloc(&in, sizeof words); cudaMalloc(&out, 8 * 128);
  cudaMemcpy(in, words, sizeof words, cudaMemcpyHostToDevice);
  {launches}
  return cudaDeviceSynchronize() != cudaSuccess;
}}
"""
CALLED: Final = (
    "__device__ __noinline__ unsigned called(unsigned *w, unsigned i) { return atomicAdd(&w[i & 63], 0u); }\n"
    "__device__ __noinline__ unsigned pure(unsigned *w, unsigned i) { return w[i & 63]; }\n"
)


def program() -> str:
    """A CUDA program that launches all kernels, one after the other."""
    texts, launches = [CALLED], list[str]()
    for kind, body in (OTHERS | WAITS).items():
        for way, word in (("apart", "i * 64 + t % 32"), ("at_one_trip", "i * 64 + 32 + t % 32")):
            name = f"{kind}_{way}"
            texts.append(BY_WORDS.format(name=name, body=body, word=word, count=1 << 19))
            launches.append(f"{name}<<<1, 32>>>(in, out);")
    for kind, (signal, wait) in SIGNALS.items():
        for parts in (0, 1):
            name = f"real_{kind}_{'two' if parts else 'one'}"
            texts.append(REAL.format(name=name, parts=parts, signal=signal, wait=wait, count=1))
            launches.append(f"{name}<<<1, 64>>>(in, out);")
    for kind, body in (OTHERS | WAITS | {"limited_try": LIMITED, "pure_call": PURE}).items():
        name = f"alone_{kind}"
        texts.append(ALONE.format(name=name, body=body, count=1 << 19))
        launches.append(f"{name}<<<1, 32>>>(in, out);")
    return "".join(texts) + MAIN.format(trips=TRIPS, launches="\n  ".join(launches))


def executions(page: str) -> dict[str, int]:
    """How often each kernel executed its loads of 64 bits, by ncu's source pages as CSV, which may come twice."""
    found: dict[str, dict[str, int]] = {}
    name, column = "", -1
    for row in csv.reader(line for line in page.splitlines() if line.startswith('"')):
        if row[0] == "Kernel Name":
            name = row[1].partition("(")[0]
        elif "Instructions Executed" in row:
            column = row.index("Instructions Executed")
        elif column >= 0 and re.search(r"\bLDS(?:\.U)?\.64\b", row[1]):
            found.setdefault(name, {})[row[0]] = int(row[column])
    return {name: sum(counts.values()) for name, counts in found.items()}


def are_wrong(counts: dict[str, int]) -> list[str]:
    """The kernels whose lanes have to run together behind the loop or choice and do not."""
    alone = (f"alone_{each}" for each in ("pure_call", *OTHERS, *WAITS) if each not in PARTING)
    together = ("_at_one_trip", *(f"{each}_apart" for each in OTHERS), *alone)
    return [name for name, count in counts.items() if name.endswith(together) and count != 1]


def main() -> int:
    """Print how often the load was executed for one warp."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "waits.cu").write_text(program(), "utf-8")
        nvcc = ("nvcc", "-w", "-lineinfo", f"-arch={ARCHITECTURE}", "waits.cu", "-o", "waits")
        subprocess.run(nvcc, check=True, cwd=folder)
        page = subprocess.run((*NCU, "./waits"), check=True, cwd=folder, capture_output=True, text=True).stdout
    counts = executions(page)
    for kernel, count in counts.items():
        print(f"{kernel}: {count}")
    wrong = are_wrong(counts)
    print(f"disagree: {', '.join(wrong) or 'none'}")
    return int(bool(wrong) or len(counts) != 3 * len(OTHERS | WAITS) + 2 * len(SIGNALS) + 2)


if __name__ == "__main__":
    raise SystemExit(main())
