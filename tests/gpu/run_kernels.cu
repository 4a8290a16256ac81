// Launches kernels one after the other: each line of the list has a cubin, an entry, a block, and the parameter n.
//
// nvcc -o run run_kernels.cu, then: run LIST. It prints each entry before its launch, and ends with code 1 at the first
// that fails: the context is lost then.
#include <cstdint>
#include <cstdio>
#include <cuda_runtime.h>

int failed(const char *what, cudaError_t error) {
    if (error != cudaSuccess) printf("%s: %s\n", what, cudaGetErrorString(error));
    return error != cudaSuccess;
}

int main(int, char **words) {
    FILE *list = fopen(words[1], "r");
    char cubin[4096], entry[256];
    dim3 block;
    unsigned n;
    uint64_t wide = 0x100000003;
    void *data;
    if (!list || failed("allocation", cudaMalloc(&data, 1 << 16)) || failed("fill", cudaMemset(data, 0, 1 << 16))) return 1;
    while (fscanf(list, "%4095s %255s %u %u %u %u", cubin, entry, &block.x, &block.y, &block.z, &n) == 6) {
        cudaLibrary_t library;
        cudaKernel_t kernel;
        void *values[] = {&n, &wide, &data};
        printf("%s\n", entry);
        fflush(stdout);
        if (failed("load", cudaLibraryLoadFromFile(&library, cubin, nullptr, nullptr, 0, nullptr, nullptr, 0)) ||
            failed("find", cudaLibraryGetKernel(&kernel, library, entry)) ||
            failed("launch", cudaLaunchKernel(reinterpret_cast<const void *>(kernel), dim3(2), block, values, 0, 0)) ||
            failed("run", cudaDeviceSynchronize()))
            return 1;
    }
    printf("all\n");
    return 0;
}
