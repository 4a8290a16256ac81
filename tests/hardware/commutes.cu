// Whether the order of two sources matters, to the last bit: each operation on 2^27 random pairs, most with NaN.
// nvcc -arch=sm_90 -o commutes commutes.cu && ./commutes > ../data/h100_commutes.csv
#include <cstdint>
#include <cstdio>
#include <cuda_runtime.h>

constexpr int kMost = 64, kRounds = 256, kBlocks = 2048, kThreads = 256;

// What all operations do, in the order of the rows: FLOAT on words of f32, PAIR on words of two halves.
#define OPERATIONS                                                                                              \
  FLOAT("add.f32") FLOAT("add.ftz.f32") FLOAT("add.rz.f32") FLOAT("mul.f32") FLOAT("mul.ftz.f32")               \
  FLOAT("mul.sat.f32") FLOAT("min.f32") FLOAT("max.f32") FLOAT("min.ftz.f32") FLOAT("max.ftz.f32")              \
  FLOAT("min.NaN.f32") FLOAT("max.NaN.f32") PAIR("add.f16x2") PAIR("add.ftz.f16x2") PAIR("add.sat.f16x2")       \
  PAIR("mul.f16x2") PAIR("min.f16x2") PAIR("max.f16x2") PAIR("min.NaN.f16x2") PAIR("max.NaN.f16x2")             \
  PAIR("add.bf16x2") PAIR("mul.bf16x2") PAIR("min.bf16x2") PAIR("max.bf16x2") PAIR("min.NaN.bf16x2")            \
  PAIR("max.NaN.bf16x2")

__device__ unsigned long long different[kMost], nans[kMost];

__device__ unsigned next(unsigned& state) {
  state ^= state << 13;
  state ^= state >> 17;
  state ^= state << 5;
  return state;
}

__device__ unsigned draw(unsigned& state, bool is_pair) {
  unsigned word = next(state), kind = next(state) % 8;
  if (is_pair) {
    unsigned low = next(state) & 0xffff, high = next(state) & 0xffff;
    if (kind < 3) low = (low & 0x83ff) | 0x7c00;                   // NaN or infinity of f16
    if (kind == 1 || kind == 4) high = (high & 0x807f) | 0x7f80;  // of bf16
    if (kind == 5) low &= 0x8000;                                 // a zero
    return low | high << 16;
  }
  if (kind < 3) return (word & 0x807fffff) | 0x7f800000;
  if (kind == 3) return word & 0x80000000;
  return kind == 4 ? word & 0x807fffff : word;  // a denormal number, or anything
}

__device__ void count(int at, unsigned one, unsigned other, bool is_nan) {
  if (one != other) atomicAdd(&different[at], 1ull);
  if (is_nan) atomicAdd(&nans[at], 1ull);
}

__global__ void measure(unsigned seed) {
  unsigned state = seed + threadIdx.x * 977 + blockIdx.x * 7919 + 1;
  for (int i = 0; i < 64; i++) next(state);
  for (int round = 0; round < kRounds; round++) {
    int at = 0;
#define FLOAT(op)                                                                       \
  {                                                                                     \
    float a = __uint_as_float(draw(state, false)), b = __uint_as_float(draw(state, false)), x, y; \
    asm volatile(op " %0, %1, %2;" : "=f"(x) : "f"(a), "f"(b));                        \
    asm volatile(op " %0, %1, %2;" : "=f"(y) : "f"(b), "f"(a));                        \
    unsigned one = __float_as_uint(x), other = __float_as_uint(y);                     \
    count(at++, one, other, (one & 0x7fffffff) > 0x7f800000);                          \
  }
#define PAIR(op)                                                                        \
  {                                                                                     \
    unsigned a = draw(state, true), b = draw(state, true), one, other;                 \
    asm volatile(op " %0, %1, %2;" : "=r"(one) : "r"(a), "r"(b));                      \
    asm volatile(op " %0, %1, %2;" : "=r"(other) : "r"(b), "r"(a));                    \
    count(at++, one, other, (one & 0x7fff) > 0x7c00);                                  \
  }
    OPERATIONS
#undef FLOAT
#undef PAIR
  }
}

int main() {
  measure<<<kBlocks, kThreads>>>(12345);
  if (cudaError_t error = cudaDeviceSynchronize()) {
    printf("error %s\n", cudaGetErrorString(error));
    return 1;
  }
  unsigned long long wrong[kMost], found[kMost];
  cudaMemcpyFromSymbol(wrong, different, sizeof wrong);
  cudaMemcpyFromSymbol(found, nans, sizeof found);
#define FLOAT(op) op,
#define PAIR(op) op,
  const char* names[] = {OPERATIONS};
  printf("opcode,pairs,different,nan_results\n");
  for (int i = 0; i < int(sizeof names / sizeof *names); i++)
    printf("%s,%llu,%llu,%llu\n", names[i], 1ull * kBlocks * kThreads * kRounds, wrong[i], found[i]);
}
