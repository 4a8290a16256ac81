template <int PAD>
__global__ void columns(float *out, const float *in) {
    __shared__ float tile[32][32 + PAD];
    for (int row = threadIdx.y; row < 32; row += 8)
        tile[row][threadIdx.x] = in[row * 32 + threadIdx.x];
    __syncthreads();
    for (int row = threadIdx.y; row < 32; row += 8)
        out[row * 32 + threadIdx.x] = tile[threadIdx.x][row];
}
template __global__ void columns<0>(float *, const float *);
template __global__ void columns<1>(float *, const float *);

extern "C" __global__ void mixed(float *out, const int *in, int pitch, int never) {
    __shared__ float wide[1024];
    __shared__ int bins[64];
    __shared__ alignas(16) short tile[32 * 64];
    int t = threadIdx.x;
    for (int j = 0; j < 4; ++j) wide[4 * t + j] = in[4 * t + j];
    if (t < 64) bins[t] = 0;
    for (int j = t; j < 2048; j += 64) tile[j] = in[j];
    __syncthreads();
    atomicAdd(&bins[in[t] & 63], in[t + 1]);
    unsigned a, b, c, d;
    unsigned at = __cvta_generic_to_shared(&tile[t % 16 * 64 + t % 32 / 16 * 8]);
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(a), "=r"(b), "=r"(c), "=r"(d) : "r"(at) : "memory");
    float sum = wide[(t * pitch) & 1023];
    if (never) wide[(t * 2) & 1023] = sum;
    __syncthreads();
    out[t] = sum + bins[t] + (a ^ b ^ c ^ d) + wide[(t * 3) & 1023];
}
