// A block of 128 threads copies a tile of 64 x 64 halfs into shared memory, swizzled, and turns it. The contract says
// where elements lie and what each access does; `compiled:` compares both accesses with what nvcc made of them.
//
// swz:begin
// swzverify: 1
// target: sm_90
// tiles:
//   tile: {element: f16, layout: "(64,64):(64,1)", swizzle: "Swizzle<3,3,3>", base: {align: 1024}}
// accesses:
//   write: {tile: tile, instruction: st.shared.v4.b32, threads: 128, for: {i: 4}, coord: [tid/8 + i*16, tid%8*8]}
//   write_in_code:
//     instruction: st.shared.v4.b32
//     threads: 128
//     for: {i: 4}
//     compiled: {file: build/rows.ptx, source: 36}
//     base: {align: 1024}
//   read: {tile: tile, instruction: ld.shared.v4.b32, threads: 128, for: {k: 4}, coord: [tid%64, (k*2 + tid/64)*8]}
//   read_in_code:
//     instruction: ld.shared.v4.b32
//     threads: 128
//     for: {k: 4}
//     compiled: {file: build/rows.ptx, source: 40}
//     base: {align: 1024}
// claims:
//   - standard
//   - equivalent: [write_in_code, write]
//   - equivalent: [read_in_code, read]
// swz:end

constexpr int CHUNKS = 8;  // of 16 bytes, in a row

extern "C" __global__ void rows(const uint4 *in, uint4 *out) {
    __shared__ __align__(1024) uint4 tile[64 * CHUNKS];
    const int row = threadIdx.x / CHUNKS, chunk = threadIdx.x % CHUNKS;
#pragma unroll
    for (int i = 0; i < 4; ++i) tile[(row + i * 16) * CHUNKS + (chunk ^ row % CHUNKS)] = in[i * 128 + threadIdx.x];
    __syncthreads();
#pragma unroll 1
    for (int k = 0, r = threadIdx.x % 64; k < 4; ++k)
        out[k * 128 + threadIdx.x] = tile[r * CHUNKS + (k * 2 + threadIdx.x / 64 ^ r % CHUNKS)];
}
