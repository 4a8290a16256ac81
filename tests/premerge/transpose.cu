extern "C" __global__ void transpose(float *out, const float *in, int width)
{
    __shared__ float tile[32][32];
    int x = 32 * blockIdx.x + threadIdx.x;
    int y = 32 * blockIdx.y + threadIdx.y;
    tile[threadIdx.y][threadIdx.x] = in[y * width + x];
    __syncthreads();
    x = 32 * blockIdx.y + threadIdx.x;
    y = 32 * blockIdx.x + threadIdx.y;
    out[y * width + x] = tile[threadIdx.x][threadIdx.y];
}
