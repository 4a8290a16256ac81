// @INSTRUCTION@: eight a burst. `zero` is 0, which the assembler cannot know, so that it merges none of them. Copies
// take each time what no copy before took: one whose source is in the first-level cache costs other wavefronts.
__device__ static inline uint32_t burst_@NAME@(uint32_t at, const uint8_t* from, bool active, uint32_t bursts, uint32_t zero) {
    uint32_t r[4] = {zero, zero, zero, zero}, sum = 0;
    @BEFORE@
    if (@CONDITION@)
        for (uint32_t i = 0; i < bursts; ++i)
#pragma unroll
            for (uint32_t u = 0; u < @UNROLL@u; ++u) {
                @STATEMENT@
                sum ^= r[0] ^ r[1] ^ r[2] ^ r[3];
                at += zero;
                @ADVANCE@
            }
    @AFTER@
    return sum;
}

extern "C" __global__ void counted_@NAME@(const __grid_constant__ Offsets offsets, uint32_t mask, uint32_t bursts, uint32_t zero,
                                          const uint8_t* source, uint32_t* sink) {
    extern __shared__ uint8_t raw[];
    const uint32_t lane = threadIdx.x % 32u;
    const uint32_t at = shared_begin(raw) + offsets.at[lane];
    const uint32_t sum = burst_@NAME@(at, source + lane * @WIDTH@u, mask >> lane & 1u, bursts, zero);
    if (sum == 0x12345679u) *sink = sum;
}

extern "C" __global__ void timed_@NAME@(const Offsets* offsets, const uint32_t* masks, uint32_t zero, const uint8_t* source,
                                        float* slopes, uint32_t* sink) {
    extern __shared__ uint8_t raw[];
    const uint32_t lane = threadIdx.x % 32u;
    const uint32_t at = shared_begin(raw) + offsets[blockIdx.x].at[lane];
    const uint8_t* from = source + lane * @WIDTH@u;
    const bool active = masks[blockIdx.x] >> lane & 1u;
    uint32_t sum = burst_@NAME@(at, from, active, 4, zero);
    long long best[2] = {1ll << 60, 1ll << 60};
    for (int trial = 0; trial < 3; ++trial)
#pragma unroll 1
        for (int j = 0; j < 2; ++j) {
            __syncthreads();
            const long long began = clock64();
            sum ^= burst_@NAME@(at, from, active, j ? @LONG@u : @SHORT@u, zero);
            __syncthreads();
            const long long took = clock64() - began;
            if (took < best[j]) best[j] = took;
        }
    if (sum == 0x12345679u) *sink = sum;
    if (threadIdx.x == 0) slopes[blockIdx.x] = (float)(best[1] - best[0]) / (float)@TIMED@;
}
