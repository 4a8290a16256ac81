// Loads COPIES boxes of 8 KiB by TMA in each swizzle mode, and prints where the shared window begins.
//
// nvcc -arch=sm_90a -DCOPIES=1 tma_counters.cu -lcuda, then under ncu with the metrics that tests/data/README.md names.
#include <cstdint>
#include <cstdio>
#include <cuda.h>

#ifndef COPIES
#define COPIES 1
#endif

constexpr int box_bytes = 8192;

__global__ void load(const __grid_constant__ CUtensorMap map, uint64_t *window) {
    extern __shared__ __align__(1024) char tile[];
    __shared__ uint64_t barrier;
    if (threadIdx.x != 0) return;
    uint32_t to = __cvta_generic_to_shared(tile), full = __cvta_generic_to_shared(&barrier);
    asm volatile("mbarrier.init.shared.b64 [%0], 1; fence.proxy.async;" ::"r"(full));
    asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(full), "r"(box_bytes * COPIES));
    for (int i = 0; i < COPIES; ++i)
        asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
                     "[%0], [%1, {%2, %2}], [%3];" ::"r"(to), "l"(&map), "r"(0), "r"(full));
    asm volatile("{ .reg .pred done; WAIT: mbarrier.try_wait.parity.shared.b64 done, [%0], 0; @!done bra WAIT; }" ::"r"(full));
    *window = reinterpret_cast<uint64_t>(__cvta_shared_to_generic(0));
}

int main() {
    for (unsigned mode = 0; mode < 4; ++mode) {
        CUtensorMap map;
        void *matrix;
        uint64_t *window, found;
        cudaMalloc(&matrix, 1 << 20);
        cudaMalloc(&window, 8);
        cuuint64_t extents[2] = {256, 256}, strides[1] = {512};
        cuuint32_t inner = mode ? 8u << mode : 64, box[2] = {inner, 4096 / inner}, steps[2] = {1, 1};
        CUresult encoded = cuTensorMapEncodeTiled(
            &map, CU_TENSOR_MAP_DATA_TYPE_UINT16, 2, matrix, extents, strides, box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE,
            static_cast<CUtensorMapSwizzle>(mode), CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
        load<<<1, 32, 16384>>>(map, window);
        cudaMemcpy(&found, window, 8, cudaMemcpyDeviceToHost);
        printf("mode %u, driver %d, %s, window 0x%llx\n", mode, encoded, cudaGetErrorString(cudaGetLastError()),
               static_cast<unsigned long long>(found));
    }
}
