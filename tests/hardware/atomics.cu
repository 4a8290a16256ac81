// Runs one shared atomic of one warp, `op` of the list below, for each pattern of lane addresses in a file.
// usage: atomics PATTERNS OP    PATTERNS: for each pattern 32 offsets in bytes and a mask of lanes, all u32
// A kernel launch is one pattern; its counters are the atomic's alone.
#include <cstdio>
#include <cstdlib>
#include <vector>

#define U32(NAME, TEXT) \
    __global__ void NAME(const unsigned *p, unsigned *out) { \
        extern __shared__ char s[]; \
        unsigned at = (unsigned)__cvta_generic_to_shared(s) + p[threadIdx.x], v = p[33], w = p[34], r = 0; \
        if (p[32] >> threadIdx.x & 1) asm volatile(TEXT : "=r"(r) : "r"(at), "r"(v), "r"(w) : "memory"); \
        out[threadIdx.x] = r; \
    }
#define U64(NAME, TEXT) \
    __global__ void NAME(const unsigned *p, unsigned *out) { \
        extern __shared__ char s[]; \
        unsigned at = (unsigned)__cvta_generic_to_shared(s) + p[threadIdx.x]; \
        unsigned long long v = p[33], w = p[34], r = 0; \
        if (p[32] >> threadIdx.x & 1) asm volatile(TEXT : "=l"(r) : "r"(at), "l"(v), "l"(w) : "memory"); \
        out[threadIdx.x] = (unsigned)r; \
    }
#define ATOM32(OP, TYPE) U32(atom_##OP##_##TYPE, "atom.shared." #OP "." #TYPE " %0, [%1], %2;")
#define RED32(OP, TYPE) U32(red_##OP##_##TYPE, "red.shared." #OP "." #TYPE " [%1], %2; mov.u32 %0, 0;")
#define ATOM64(OP, TYPE) U64(atom_##OP##_##TYPE, "atom.shared." #OP "." #TYPE " %0, [%1], %2;")
#define BOTH(OP, TYPE) ATOM32(OP, TYPE) RED32(OP, TYPE)
BOTH(add, u32) BOTH(add, s32) BOTH(min, u32) BOTH(min, s32) BOTH(max, u32) BOTH(max, s32)
BOTH(and, b32) BOTH(or, b32) BOTH(xor, b32) BOTH(inc, u32) BOTH(dec, u32) BOTH(add, f32)
ATOM32(exch, b32)
U32(atom_cas_b32, "atom.shared.cas.b32 %0, [%1], %2, %3;")
U32(red_add_f16x2, "red.shared.add.noftz.f16x2 [%1], %2; mov.u32 %0, 0;")
ATOM64(add, u64) ATOM64(min, u64) ATOM64(and, b64) ATOM64(exch, b64)
U64(atom_add_f64, "{ .reg .f64 a, b; mov.b64 b, %2; atom.shared.add.f64 a, [%1], b; mov.b64 %0, a; }")
U64(atom_cas_b64, "atom.shared.cas.b64 %0, [%1], %2, %3;")

struct Op { const char *name; void (*run)(const unsigned *, unsigned *); int bytes; };
#define ROW4(NAME) {#NAME, NAME, 4},
#define ROW8(NAME) {#NAME, NAME, 8},
#define ROWS(OP, TYPE) ROW4(atom_##OP##_##TYPE) ROW4(red_##OP##_##TYPE)
const Op ops[] = {
    ROWS(add, u32) ROWS(add, s32) ROWS(min, u32) ROWS(min, s32) ROWS(max, u32) ROWS(max, s32)
    ROWS(and, b32) ROWS(or, b32) ROWS(xor, b32) ROWS(inc, u32) ROWS(dec, u32) ROWS(add, f32)
    ROW4(atom_exch_b32) ROW4(atom_cas_b32) ROW4(red_add_f16x2)
    ROW8(atom_add_u64) ROW8(atom_min_u64) ROW8(atom_and_b64) ROW8(atom_exch_b64) ROW8(atom_add_f64) ROW8(atom_cas_b64)
};

int main(int argc, char **argv) {
    if (argc < 2) {
        for (const Op &op : ops) printf("%s %d\n", op.name, op.bytes);
        return 0;
    }
    const Op &op = ops[atoi(argv[2])];
    FILE *file = fopen(argv[1], "rb");
    std::vector<unsigned> all;
    unsigned row[33];
    while (file && fread(row, 4, 33, file) == 33) {
        for (int lane = 0; lane < 32; lane++) all.push_back(row[lane] * (op.bytes / 4));
        all.push_back(row[32]);
        all.push_back(3);
        all.push_back(5);
    }
    unsigned *patterns, *out;
    cudaMalloc(&patterns, all.size() * 4);
    cudaMalloc(&out, 128);
    cudaMemcpy(patterns, all.data(), all.size() * 4, cudaMemcpyHostToDevice);
    const int bytes = 160 * 1024;
    cudaFuncSetAttribute(op.run, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
    for (size_t at = 0; at < all.size(); at += 35) op.run<<<1, 32, bytes>>>(patterns + at, out);
    return cudaDeviceSynchronize() != cudaSuccess;
}
