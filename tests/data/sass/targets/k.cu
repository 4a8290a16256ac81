__device__ __noinline__ float f(const float* s, int i) { return s[i]; }

extern "C" __global__ void k(float4* out, const float4* in, int n) {
    __shared__ float4 s[256];
    __shared__ unsigned count;
    s[threadIdx.x] = in[threadIdx.x];
    atomicAdd(&count, threadIdx.x);
#if __CUDA_ARCH__ >= 800
    unsigned to = __cvta_generic_to_shared(s + threadIdx.x);
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;\n cp.async.wait_all;" ::"r"(to), "l"(in + 64) : "memory");
#endif
    __syncthreads();
    unsigned row = __cvta_generic_to_shared(s + threadIdx.x * 2), a, b;
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];" : "=r"(a), "=r"(b) : "r"(row) : "memory");
#if __CUDA_ARCH__ >= 900
    asm volatile("stmatrix.sync.aligned.m8n8.x2.shared.b16 [%0], {%1, %2};" ::"r"(row), "r"(b), "r"(a) : "memory");
#endif
    float4 v = s[threadIdx.x ^ 5];
    v.x += count + f((const float*)s, threadIdx.x * n) + a + b;
    out[threadIdx.x] = v;
}
