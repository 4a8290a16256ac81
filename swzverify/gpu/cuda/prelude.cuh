#ifndef __CUDACC_RTC__
#include <stdint.h>
#else
typedef unsigned char uint8_t;
typedef unsigned int uint32_t;
typedef unsigned long long uint64_t;
#endif

__device__ static inline uint32_t shared_begin(const uint8_t* shared) {
    return ((uint32_t)__cvta_generic_to_shared(shared) + 1023u) & ~1023u;
}
