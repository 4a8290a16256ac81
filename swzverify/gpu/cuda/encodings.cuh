// Small whole numbers as elements of each type, at a shared address.
__device__ static inline void put_2(uint32_t at, uint32_t bits) { asm volatile("st.shared.b16 [%0], %1;" :: "r"(at), "h"((unsigned short)bits) : "memory"); }
__device__ static inline void put_s8(uint32_t at, uint32_t v) { asm volatile("st.shared.b8 [%0], %1;" :: "r"(at), "r"(v) : "memory"); }
__device__ static inline void put_u8(uint32_t at, uint32_t v) { put_s8(at, v); }
__device__ static inline void put_tf32(uint32_t at, uint32_t v) { asm volatile("st.shared.f32 [%0], %1;" :: "r"(at), "f"((float)v) : "memory"); }
__device__ static inline void put_bf16(uint32_t at, uint32_t v) { put_2(at, __float_as_uint((float)v) >> 16); }
__device__ static inline void put_f16(uint32_t at, uint32_t v) {
    unsigned short bits;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"((float)v));
    put_2(at, bits);
}
// Eight-bit floats: exponent and mantissa of a number that has at most `mantissa` bits behind its first one.
__device__ static inline uint32_t small_float(uint32_t v, uint32_t mantissa, uint32_t bias) {
    if (v == 0) return 0;
    const uint32_t exponent = 31u - __clz(v);
    return (exponent + bias) << mantissa | ((v << mantissa >> exponent) & ((1u << mantissa) - 1u));
}
__device__ static inline void put_e4m3(uint32_t at, uint32_t v) { put_s8(at, small_float(v, 3, 7)); }
__device__ static inline void put_e5m2(uint32_t at, uint32_t v) { put_s8(at, small_float(v, 2, 15)); }
