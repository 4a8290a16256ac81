__device__ static inline uint8_t token_byte(uint64_t token, uint32_t pass) {
    return (uint8_t)(token >> (8u * pass));
}

__device__ static inline uint32_t token_word(uint64_t first, uint32_t pass) {
    return token_byte(first, pass) | (uint32_t)token_byte(first + 1, pass) << 8 | (uint32_t)token_byte(first + 2, pass) << 16 |
           (uint32_t)token_byte(first + 3, pass) << 24;
}
