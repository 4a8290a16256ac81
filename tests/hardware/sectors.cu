// Runs one warp instruction on global memory per pattern, for a profiler to count its sectors.
//
// Each pattern is a launch of one block of 32 threads. A lane's offset comes from constant memory, so
// that the launch makes no other access to global memory; a lane whose offset is -1 does nothing.
// Patterns come from a file: a line per launch, with the number of an instruction and 32 offsets in
// bytes. measure_sectors.py writes the file and reads the counters.
//
//   nvcc -w -arch=sm_90 -o sectors sectors.cu && ./sectors patterns.txt
#include <cstdint>
#include <cstdio>

#define CHECK(call)                                                                    \
    do {                                                                               \
        cudaError_t status = (call);                                                   \
        if (status != cudaSuccess) {                                                   \
            std::fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(status));       \
            return 1;                                                                  \
        }                                                                              \
    } while (0)

constexpr int LANES = 32;
constexpr uint32_t NOWHERE = 0xffffffffu;
constexpr size_t ARRAY_BYTES = 1 << 20;

__constant__ uint32_t offsets[LANES];

// volatile asm: the compiler neither splits nor merges the instruction; what is loaded goes to shared
// memory, for ptxas drops loads that nothing reads
#define KERNEL(name, body)                                                             \
    __global__ void name(uint8_t *base) {                                              \
        __shared__ volatile uint64_t held[LANES];                                      \
        const uint32_t offset = offsets[threadIdx.x];                                  \
        if (offset != NOWHERE) {                                                       \
            uint8_t *at = base + offset;                                               \
            body                                                                       \
        }                                                                              \
    }

KERNEL(ld_b8, uint32_t a; asm volatile("ld.global.b8 %0, [%1];" : "=r"(a) : "l"(at) : "memory"); held[threadIdx.x] = a;)
KERNEL(ld_b16, uint16_t a; asm volatile("ld.global.b16 %0, [%1];" : "=h"(a) : "l"(at) : "memory"); held[threadIdx.x] = a;)
KERNEL(ld_b32, uint32_t a; asm volatile("ld.global.b32 %0, [%1];" : "=r"(a) : "l"(at) : "memory"); held[threadIdx.x] = a;)
KERNEL(ld_v2_b32, uint32_t a; uint32_t b;
       asm volatile("ld.global.v2.b32 {%0, %1}, [%2];" : "=r"(a), "=r"(b) : "l"(at) : "memory"); held[threadIdx.x] = a ^ b;)
KERNEL(ld_b64, uint64_t a; asm volatile("ld.global.b64 %0, [%1];" : "=l"(a) : "l"(at) : "memory"); held[threadIdx.x] = a;)
KERNEL(ld_v4_b32, uint32_t a; uint32_t b; uint32_t c; uint32_t d;
       asm volatile("ld.global.v4.b32 {%0, %1, %2, %3}, [%4];" : "=r"(a), "=r"(b), "=r"(c), "=r"(d) : "l"(at) : "memory"); held[threadIdx.x] = a ^ b ^ c ^ d;)
KERNEL(ld_v2_b64, uint64_t a; uint64_t b;
       asm volatile("ld.global.v2.b64 {%0, %1}, [%2];" : "=l"(a), "=l"(b) : "l"(at) : "memory"); held[threadIdx.x] = a ^ b;)
KERNEL(st_b8, asm volatile("st.global.b8 [%0], %1;" ::"l"(at), "r"(offset) : "memory");)
KERNEL(st_b16, asm volatile("st.global.b16 [%0], %1;" ::"l"(at), "h"((uint16_t)offset) : "memory");)
KERNEL(st_b32, asm volatile("st.global.b32 [%0], %1;" ::"l"(at), "r"(offset) : "memory");)
KERNEL(st_v2_b32, asm volatile("st.global.v2.b32 [%0], {%1, %1};" ::"l"(at), "r"(offset) : "memory");)
KERNEL(st_b64, asm volatile("st.global.b64 [%0], %1;" ::"l"(at), "l"((uint64_t)offset) : "memory");)
KERNEL(st_v4_b32, asm volatile("st.global.v4.b32 [%0], {%1, %1, %1, %1};" ::"l"(at), "r"(offset) : "memory");)
KERNEL(st_v2_b64, asm volatile("st.global.v2.b64 [%0], {%1, %1};" ::"l"(at), "l"((uint64_t)offset) : "memory");)

using Kernel = void (*)(uint8_t *);
constexpr Kernel KERNELS[] = {ld_b8, ld_b16, ld_b32, ld_v2_b32, ld_b64, ld_v4_b32, ld_v2_b64,
                              st_b8, st_b16, st_b32, st_v2_b32, st_b64, st_v4_b32, st_v2_b64};

int main(int count, char **words) {
    std::FILE *file = count == 2 ? std::fopen(words[1], "r") : nullptr;
    if (file == nullptr) {
        std::fprintf(stderr, "usage: sectors patterns.txt\n");
        return 2;
    }
    uint8_t *array = nullptr;
    CHECK(cudaMalloc(&array, ARRAY_BYTES));
    int which = 0;
    while (std::fscanf(file, "%d", &which) == 1) {
        uint32_t lanes[LANES];
        for (uint32_t &lane : lanes) {
            long long offset = 0;
            if (std::fscanf(file, "%lld", &offset) != 1 || offset + 16 > (long long)ARRAY_BYTES) return 2;
            lane = offset < 0 ? NOWHERE : (uint32_t)offset;
        }
        CHECK(cudaMemcpyToSymbol(offsets, lanes, sizeof lanes));
        KERNELS[which]<<<1, LANES>>>(array);
        CHECK(cudaDeviceSynchronize());
    }
    std::fclose(file);
    CHECK(cudaFree(array));
    return 0;
}
