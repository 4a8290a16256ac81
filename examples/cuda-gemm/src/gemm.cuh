// C = A * B^T for fp16 matrices in rows: A is M x K, B is N x K, C is M x N in fp32. M and N are multiples of 64, K of BK.
// Two stages of shared memory: cp.async fills one while the tensor cores read the other.
#pragma once

#include <cstdint>
#include <cuda_fp16.h>

namespace gemm {

constexpr int BM = 64, BN = 64, BK = 64;
constexpr int kThreads = 128;
constexpr int kStages = 2;
constexpr int kChunk = 8;  // halves in the 16 bytes of a cp.async, or of one row of ldmatrix

// Where element (row, col) of a tile lies, in halves from the tile's start: the 16-byte chunks of a row are XORed with it.
__device__ inline int offset_of(int row, int col) {
  int chunk = col / kChunk ^ row % 8;
  return row * BK + chunk * kChunk + col % kChunk;
}

// swz:begin
// swzverify: 1
// title: fp16 GEMM, 64 x 64 x 64, two stages
// target: sm_90
// from_source: {BM: gemm::BM, BN: gemm::BN, BK: gemm::BK, THREADS: gemm::kThreads, STAGES: gemm::kStages}
// tiles:
//   A: {element: f16, layout: "(BM,BK):(BK,1)", swizzle: "Swizzle<3,3,3>", stages: STAGES, base: {align: 128}}
//   B: {element: f16, layout: "(BN,BK):(BK,1)", swizzle: "Swizzle<3,3,3>", stages: STAGES, base: {align: 128}}
//   one_stage: {element: f16, layout: "(BM,BK):(BK,1)", swizzle: "Swizzle<3,3,3>", base: {align: 128}}
// maps:
//   offset_of: {over: {row: BM, col: BK}, value: [base + 2*(row*BK + (col/8 ^ row%8)*8 + col%8)]}  # the code above, in bytes
// claims:
//   - bijective: A
//   - bijective: B
//   - contiguous: {tile: A, elements: 8}
//   - contiguous: {tile: B, elements: 8}
//   - equivalent: [one_stage, offset_of]
//   - disjoint: A
//   - disjoint: B
// swz:end

__device__ inline uint32_t shared_address(const void* pointer) {
  return static_cast<uint32_t>(__cvta_generic_to_shared(pointer));
}

__device__ inline void copy_16_bytes(half* to, const half* from) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;\n" ::"r"(shared_address(to)), "l"(from));
}

// One stage of one operand: a row is BK halves, of which eight threads take 16 bytes each.
//
// swz:begin
// accesses:
//   write_A: {tile: A, instruction: cp.async.16, threads: THREADS, for: {i: BM*BK/8/THREADS}, coord: [i*THREADS/8 + tid/8, tid%8*8]}
//   write_B: {tile: B, instruction: cp.async.16, threads: THREADS, for: {i: BN*BK/8/THREADS}, coord: [i*THREADS/8 + tid/8, tid%8*8]}
// claims:
//   - covers: {access: write_A, tile: A}
//   - covers: {access: write_B, tile: B}
//   - conflict_free: write_A
//   - conflict_free: write_B
// swz:end
template <int Rows>
__device__ inline void load_stage(half* tile, const half* global, int stride) {
  int row = threadIdx.x / (BK / kChunk), col = threadIdx.x % (BK / kChunk) * kChunk;
  for (int i = 0; i < Rows * BK / kChunk / kThreads; ++i) {
    int r = i * (kThreads * kChunk / BK) + row;
    copy_16_bytes(tile + offset_of(r, col), global + static_cast<int64_t>(r) * stride + col);
  }
}

__device__ inline void load_matrices(uint32_t (&fragment)[4], const half* row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];\n"
               : "=r"(fragment[0]), "=r"(fragment[1]), "=r"(fragment[2]), "=r"(fragment[3])
               : "r"(shared_address(row)));
}

__device__ inline void multiply(float (&c)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};\n"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

// Four warps, two by two, each 32 x 32 of C.
template <int Stages = kStages>
__global__ void __launch_bounds__(kThreads) kernel(const half* a, const half* b, float* c, int n, int k) {
  __shared__ alignas(128) half tile_a[Stages][BM * BK];
  __shared__ alignas(128) half tile_b[Stages][BN * BK];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int warp_m = warp % 2 * 32, warp_n = warp / 2 * 32;
  const half* block_a = a + static_cast<int64_t>(blockIdx.y) * BM * k;
  const half* block_b = b + static_cast<int64_t>(blockIdx.x) * BN * k;
  float sum[2][4][4] = {};

  auto load = [&](int step) {
    load_stage<BM>(tile_a[step % Stages], block_a + step * BK, k);
    load_stage<BN>(tile_b[step % Stages], block_b + step * BK, k);
  };
  load(0);
  asm volatile("cp.async.commit_group;\n");
  for (int step = 0; step < k / BK; ++step) {
    if (step + 1 < k / BK) load(step + 1);
    asm volatile("cp.async.commit_group;\n");
    asm volatile("cp.async.wait_group 1;\n");
    __syncthreads();
    const half* stage_a = tile_a[step % Stages];
    const half* stage_b = tile_b[step % Stages];
    for (int kk = 0; kk < BK; kk += 16) {
      // swz:begin
      // accesses:
      //   read_A:
      //     tile: A
      //     instruction: ldmatrix.x4
      //     threads: THREADS
      //     for: {m: 2, kk: {start: 0, stop: BK, step: 16}}
      //     coord: [warp%2*32 + m*16 + lane%16, kk + lane/16*8]
      //   read_B:
      //     tile: B
      //     instruction: ldmatrix.x4
      //     threads: THREADS
      //     for: {p: 2, kk: {start: 0, stop: BK, step: 16}}
      //     coord: [warp/2*32 + p*16 + lane/16*8 + lane%8, kk + lane/8%2*8]
      // claims:
      //   - in_bounds: read_A
      //   - in_bounds: read_B
      //   - conflict_free: read_A
      //   - conflict_free: read_B
      //   - covers: {access: read_A, tile: A, times: 2}
      //   - covers: {access: read_B, tile: B, times: 2}
      // swz:end
      uint32_t of_a[2][4], of_b[2][4];
      for (int m = 0; m < 2; ++m)
        load_matrices(of_a[m], stage_a + offset_of(warp_m + m * 16 + lane % 16, kk + lane / 16 * 8));
      for (int p = 0; p < 2; ++p)
        load_matrices(of_b[p], stage_b + offset_of(warp_n + p * 16 + lane / 16 * 8 + lane % 8, kk + lane / 8 % 2 * 8));
      for (int m = 0; m < 2; ++m)
        for (int q = 0; q < 4; ++q) multiply(sum[m][q], of_a[m], of_b[q / 2][q % 2 * 2], of_b[q / 2][q % 2 * 2 + 1]);
    }
    __syncthreads();
  }

  for (int m = 0; m < 2; ++m)
    for (int q = 0; q < 4; ++q)
      for (int part = 0; part < 4; ++part) {
        int row = blockIdx.y * BM + warp_m + m * 16 + lane / 4 + part / 2 * 8;
        int col = blockIdx.x * BN + warp_n + q * 8 + lane % 4 * 2 + part % 2;
        c[static_cast<int64_t>(row) * n + col] = sum[m][q][part];
      }
}

}  // namespace gemm
