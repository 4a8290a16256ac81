// Runs 0, 1 or 2 bulk copies and reductions of 8 KiB between shared and global memory.
//
// nvcc -arch=sm_90a bulk_counters.cu; tests/hardware/measure_bulk.py runs it under ncu. Kinds from `first_tensor` on move a box
// of a tensor map: in each swizzle mode, and without one a box of 128 and a box of 16 bytes in a row.
#include <cstdint>
#include <cstdio>
#include <cuda.h>
#include <cuda_runtime.h>

enum Kind { store, load, add_u32, add_f16, tensor_store, tensor_add, tensor_load };
constexpr Kind first_tensor = tensor_store;
constexpr int box_bytes = 8192;
__host__ __device__ constexpr bool is_waited(int kind) { return kind == load || kind == tensor_load; }
// Mode 4 is that without a swizzle, with rows of 16 bytes, of which a box has at most 256.
__host__ __device__ constexpr int bytes_of(int kind, int mode) {
    return kind >= first_tensor && mode == 4 ? box_bytes / 2 : box_bytes;
}

template <int kind, int mode, int copies>
__global__ void bulk(const __grid_constant__ CUtensorMap map, char *matrix) {
    constexpr int expected = is_waited(kind) ? bytes_of(kind, mode) * copies : 0;
    extern __shared__ __align__(1024) char tile[];
    __shared__ uint64_t barrier;
    if (threadIdx.x != 0) return;
    uint32_t at = __cvta_generic_to_shared(tile), full = __cvta_generic_to_shared(&barrier);
    uint64_t global = __cvta_generic_to_global(matrix);
    asm volatile("mbarrier.init.shared.b64 [%0], 1; fence.proxy.async;" ::"r"(full));
    asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(full), "r"(expected));
#pragma unroll
    for (int i = 0; i < copies; ++i) {
        if (kind == store)
            asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(global), "r"(at), "n"(box_bytes));
        if (kind == load)
            asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(at),
                         "l"(global), "n"(box_bytes), "r"(full));
        if (kind == add_u32)
            asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%0], [%1], %2;" ::"l"(global), "r"(at),
                         "n"(box_bytes));
        if (kind == add_f16)
            asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.noftz.f16 [%0], [%1], %2;" ::"l"(global),
                         "r"(at), "n"(box_bytes));
        if (kind == tensor_store)
            asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%1, %1}], [%2];" ::"l"(&map), "r"(0),
                         "r"(at));
        if (kind == tensor_add)
            asm volatile("cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile.bulk_group [%0, {%1, %1}], [%2];" ::"l"(
                             &map),
                         "r"(0), "r"(at));
        if (kind == tensor_load)
            asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
                         "[%0], [%1, {%2, %2}], [%3];" ::"r"(at),
                         "l"(&map), "r"(0), "r"(full));
    }
    asm volatile("cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;");
    asm volatile("{ .reg .pred done; WAIT: mbarrier.try_wait.parity.shared.b64 done, [%0], 0; @!done bra WAIT; }" ::"r"(full));
}

using Encode = decltype(&cuTensorMapEncodeTiled);

template <int kind, int mode, int copies> void run(Encode encode, char *matrix) {
    CUtensorMap map{};
    cuuint64_t extents[2] = {256, 1024}, strides[1] = {512};
    cuuint32_t inner = mode == 4 ? 8 : mode ? 8u << mode : 64, steps[2] = {1, 1};
    cuuint32_t rows = 4096 / inner, box[2] = {inner, rows < 256 ? rows : 256};
    CUresult told = encode(&map, CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 2, matrix, extents, strides, box, steps,
                           CU_TENSOR_MAP_INTERLEAVE_NONE, static_cast<CUtensorMapSwizzle>(mode % 4),
                           CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    bulk<kind, mode, copies><<<1, 32, box_bytes + 1024>>>(map, matrix);
    printf("kind %d mode %d copies %d box %u of %d: %d, %s\n", kind, mode, copies, 2 * box[0] * box[1], bytes_of(kind, mode),
           told, cudaGetErrorString(cudaDeviceSynchronize()));
    fflush(stdout);
}

template <int kind, int mode> void counts(Encode encode, char *matrix) {
    run<kind, mode, 0>(encode, matrix);
    run<kind, mode, 1>(encode, matrix);
    run<kind, mode, 2>(encode, matrix);
}

template <int kind> void modes(Encode encode, char *matrix) {
    counts<kind, 0>(encode, matrix);
    if constexpr (kind >= first_tensor) {
        counts<kind, 1>(encode, matrix);
        counts<kind, 2>(encode, matrix);
        counts<kind, 3>(encode, matrix);
        counts<kind, 4>(encode, matrix);
    }
}

int main() {
    char *matrix;
    void *found;
    cudaDriverEntryPointQueryResult result;
    cudaMalloc(&matrix, 1 << 20);
    cudaMemset(matrix, 0, 1 << 20);
    cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &found, 12000, cudaEnableDefault, &result);
    Encode encode = reinterpret_cast<Encode>(found);
    modes<store>(encode, matrix);
    modes<load>(encode, matrix);
    modes<add_u32>(encode, matrix);
    modes<add_f16>(encode, matrix);
    modes<tensor_store>(encode, matrix);
    modes<tensor_add>(encode, matrix);
    modes<tensor_load>(encode, matrix);
}
