struct __align__(64) TensorMap { uint64_t opaque[16]; };

extern "C" __global__ void tma_load(const __grid_constant__ TensorMap map, uint32_t destination, uint32_t box_bytes, uint32_t window_bytes, uint8_t* image) {
    extern __shared__ uint8_t raw[];
    __shared__ __align__(8) uint64_t barrier;
    const uint32_t begin = shared_begin(raw);
    uint8_t* shared = raw + (begin - (uint32_t)__cvta_generic_to_shared(raw));
    for (uint32_t o = threadIdx.x; o < window_bytes; o += blockDim.x) shared[o] = 0;
    const uint32_t b = (uint32_t)__cvta_generic_to_shared(&barrier);
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.init.shared.b64 [%0], 1;" :: "r"(b) : "memory");
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" :: "r"(b), "r"(box_bytes) : "memory");
        asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];"
                     :: "r"(begin + destination), "l"(&map), "r"(0), "r"(0), "r"(b) : "memory");
    }
    uint32_t done = 0;
    while (!done)
        asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], 0; selp.u32 %0, 1, 0, p; }" : "=r"(done) : "r"(b) : "memory");
    __syncthreads();
    for (uint32_t o = threadIdx.x; o < window_bytes; o += blockDim.x) image[o] = shared[o];
}
