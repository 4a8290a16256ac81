"""Asks a GPU whether lanes of a warp that test a barrier object get one result: `python -m tests.gpu.waiting_lanes`.

Eight warps test one object together until its phase ends, which another warp ends at odd times. In half of the kernels
each lane has the object's address in a register of its own. Two more kernels ask whether the lanes of a warp get tokens
of one phase while other warps arrive, and read one clock: docs/hardware.md, "What lanes get together". It needs nvcc,
and a GPU of compute capability 9.0. The exit status is 1 if some lanes differ.
"""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path
from typing import Final

ARCHITECTURE: Final = "sm_90"
SOURCE: Final = r"""
#include <cstdio>
typedef unsigned long long Long;
template <bool TRIES> __device__ unsigned test(unsigned object, unsigned parity) {
  unsigned found;
  if (TRIES) asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
      : "=r"(found) : "r"(object), "r"(parity) : "memory");
  else asm volatile("{ .reg .pred p; mbarrier.test_wait.parity.shared.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
      : "=r"(found) : "r"(object), "r"(parity) : "memory");
  return found;
}
template <bool TRIES, bool OWN> __global__ void tests(Long *counts, int phases) {
  __shared__ Long place;
  unsigned object = (unsigned)__cvta_generic_to_shared(&place), t = threadIdx.x;
  unsigned state = t / 32 * 7919u + blockIdx.x * 104729u + 1;
  if (t == 0) asm volatile("mbarrier.init.shared.b64 [%0], 1;" :: "r"(object));
  __syncthreads();
  if (OWN) object += ((const volatile unsigned *)counts)[1000 + t % 32];
  Long differ = 0, ends = 0;
  for (int phase = 0; phase < phases; phase++) {
    if (t / 32 == 8) {
      state = state * 1664525u + 1013904223u;
      for (Long end = clock64() + (state >> 23); clock64() < end;);
      if (t % 32 == 0) asm volatile("mbarrier.arrive.shared.b64 _, [%0];" :: "r"(object) : "memory");
    } else
      for (;;) {
        unsigned lanes = __ballot_sync(~0u, test<TRIES>(object, phase & 1));
        if (lanes == ~0u) { ends++; break; }
        differ += lanes != 0;
      }
    __syncthreads();
  }
  if (t % 32 == 0 && t < 256) { atomicAdd(counts, differ); atomicAdd(counts + 1, ends); }
}
__global__ void tokens(Long *counts, int phases, unsigned count) {
  __shared__ Long place;
  unsigned object = (unsigned)__cvta_generic_to_shared(&place);
  if (threadIdx.x == 0) asm volatile("mbarrier.init.shared.b64 [%0], %1;" :: "r"(object), "r"(count));
  __syncthreads();
  Long differ = 0, token;
  for (int phase = 0; phase < phases; phase++) {
    asm volatile("mbarrier.arrive.shared.b64 %0, [%1];" : "=l"(token) : "r"(object) : "memory");
    // The highest bit of a token changes with the phase.
    Long phases_of = __ballot_sync(~0u, token >> 63);
    differ += phases_of != 0 && phases_of != ~0u;
  }
  if (threadIdx.x % 32 == 0) { atomicAdd(counts, differ); atomicAdd(counts + 1, (Long)phases); }
}
__global__ void clocks(Long *counts, int reads) {
  Long differ = 0;
  for (int read = 0; read < reads; read++) {
    Long clock = clock64(), timer;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(timer));
    bool is_one = clock == __shfl_sync(~0u, clock, 0) && timer == __shfl_sync(~0u, timer, 0);
    differ += !__all_sync(~0u, is_one);
  }
  if (threadIdx.x % 32 == 0) { atomicAdd(counts, differ); atomicAdd(counts + 1, (Long)reads); }
}
#define ASK(...) cudaMemset(counts, 0, 65536); __VA_ARGS__; cudaMemcpy(found, counts, 16, cudaMemcpyDeviceToHost); \
  printf("%llu of %llu differ: %s\n", found[0], found[1], #__VA_ARGS__)
int main() {
  Long *counts, found[2];
  cudaMalloc(&counts, 65536);
  ASK(tests<false, false><<<264, 288>>>(counts, 20000));
  ASK(tests<false, true><<<264, 288>>>(counts, 20000));
  ASK(tests<true, false><<<264, 288>>>(counts, 20000));
  ASK(tests<true, true><<<264, 288>>>(counts, 20000));
  ASK(tokens<<<132, 64>>>(counts, 20000, 32));
  ASK(tokens<<<132, 64>>>(counts, 20000, 64));
  ASK(tokens<<<132, 1024>>>(counts, 20000, 32));
  ASK(tokens<<<132, 512>>>(counts, 20000, 96));
  ASK(clocks<<<264, 256>>>(counts, 20000));
  return cudaDeviceSynchronize() != cudaSuccess;
}
"""


def main() -> int:
    """Compile and run the kernels, and print their counts."""
    with tempfile.TemporaryDirectory() as name:
        source, program = Path(name, "waiting.cu"), Path(name, "waiting")
        source.write_text(SOURCE)
        subprocess.run(["nvcc", f"-arch={ARCHITECTURE}", "-o", program, source], check=True)
        found = subprocess.run([program], check=True, capture_output=True, text=True).stdout
    print(found, end="")
    lines = found.splitlines()
    return int(not lines or any(not each.startswith("0 of ") or each.startswith("0 of 0 ") for each in lines))


if __name__ == "__main__":
    raise SystemExit(main())
