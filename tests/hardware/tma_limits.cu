// What the driver and the chip take for one TMA tile load. Each load is a process of its own: a fault ends it.
//
// usage: tma_limits MODE INNER_BYTES ROWS BASE     modes: 0 none, 1 32B, 2 64B, 3 128B; elements are bytes
// prints: mode,inner_bytes,rows,base,driver,load   driver: CUresult of the encoding; load: "loaded", the name of
// the CUDA error, or "-" where the driver refused. Shared memory begins at a multiple of 1024.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <cuda.h>
#include <cuda_runtime.h>

static const int kRoom = 160 * 1024;

__global__ void load_tile(const __grid_constant__ CUtensorMap tile, int base, int bytes) {
  extern __shared__ __align__(1024) uint8_t memory[];
  uint32_t start = (uint32_t)__cvta_generic_to_shared(memory);
  uint32_t barrier = start + kRoom;
  if (threadIdx.x != 0) return;
  asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(barrier));
  asm volatile("fence.mbarrier_init.release.cluster;");
  asm volatile("fence.proxy.async.shared::cta;");
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes));
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %2}], [%3];" ::"r"(
          start + base),
      "l"(&tile), "r"(0), "r"(barrier)
      : "memory");
  for (int done = 0; !done;)
    asm volatile(
        "{.reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], 0; selp.s32 %0, 1, 0, p;}"
        : "=r"(done)
        : "r"(barrier)
        : "memory");
}

int main(int count, char** values) {
  if (count != 5) return 2;
  static const char* const names[] = {"none", "32B", "64B", "128B"};
  const int mode = atoi(values[1]), inner = atoi(values[2]), rows = atoi(values[3]), base = atoi(values[4]);
  void* found = nullptr;
  cudaDriverEntryPointQueryResult answer;
  if (cudaFree(nullptr) ||
      cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &found, 12000, cudaEnableDefault, &answer))
    return 3;
  const auto encode = reinterpret_cast<decltype(&cuTensorMapEncodeTiled)>(found);
  void* memory = nullptr;
  const cuuint64_t pitch = (inner + 15) / 16 * 16;
  if (cudaMalloc(&memory, pitch * rows)) return 3;
  const cuuint64_t extents[2] = {(cuuint64_t)inner, (cuuint64_t)rows}, strides[1] = {pitch};
  const cuuint32_t box[2] = {(cuuint32_t)inner, (cuuint32_t)rows}, steps[2] = {1, 1};
  CUtensorMap tile;
  const CUresult taken = encode(&tile, CU_TENSOR_MAP_DATA_TYPE_UINT8, 2, memory, extents, strides, box, steps,
                                CU_TENSOR_MAP_INTERLEAVE_NONE, (CUtensorMapSwizzle)mode,
                                CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  const char* load = "-";
  if (taken == CUDA_SUCCESS) {
    cudaFuncSetAttribute(load_tile, cudaFuncAttributeMaxDynamicSharedMemorySize, kRoom + 16);
    load_tile<<<1, 32, kRoom + 16>>>(tile, base, inner * rows);
    const cudaError_t ended = cudaDeviceSynchronize();
    load = ended == cudaSuccess ? "loaded" : cudaGetErrorName(ended);
  }
  printf("%s,%d,%d,%d,%d,%s\n", names[mode], inner, rows, base, (int)taken, load);
  return 0;
}
