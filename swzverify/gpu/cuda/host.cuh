#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>
#include <cuda.h>
#include <cuda_runtime.h>

static void check(cudaError_t status, const char* what) {
    if (status == cudaSuccess) return;
    fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(status));
    exit(2);
}

typedef CUresult (*Encode)(CUtensorMap*, CUtensorMapDataType, cuuint32_t, void*, const cuuint64_t*, const cuuint64_t*, const cuuint32_t*,
                           const cuuint32_t*, CUtensorMapInterleave, CUtensorMapSwizzle, CUtensorMapL2promotion, CUtensorMapFloatOOBfill);

// The driver's function, found through the runtime so that nothing but that is linked.
static Encode tensor_map_encoder() {
    void* found = 0;
    cudaDriverEntryPointQueryResult how;
    check(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &found, 12000, cudaEnableDefault, &how), "tensor maps");
    return (Encode)found;
}

// Status 0, or the error of the launch; what it left behind goes to the vectors.
static uint32_t run(const Launch& l, std::vector<uint64_t>& places, std::vector<uint32_t>& values, std::vector<uint8_t>& image) {
    const uint32_t shared = l.window_bytes + 1024u;
    uint64_t *rows = 0, *places_at = 0;
    uint32_t* values_at = 0;
    uint8_t *image_at = 0, *source = 0;
    const size_t row_bytes = sizeof(uint64_t) * l.row_count * l.row_columns;
    const size_t box_bytes = (size_t)l.box_rows * l.box_inner * l.box_element_bytes;
    check(cudaMalloc(&rows, row_bytes + 8), "memory");
    check(cudaMalloc(&places_at, 8 * l.places + 8), "memory");
    check(cudaMalloc(&values_at, 4 * l.values_words + 8), "memory");
    check(cudaMalloc(&image_at, l.window_bytes + 8), "memory");
    check(cudaMalloc(&source, (l.swizzle < 0 ? l.source_bytes : box_bytes) + 8), "memory");
    if (row_bytes) check(cudaMemcpy(rows, l.rows, row_bytes, cudaMemcpyHostToDevice), "copy");
    check(cudaMemset(places_at, 0xff, 8 * l.places + 8), "fill");
    const size_t image_bytes = l.image ? l.window_bytes : 0;
    places.assign(l.places, 0);
    values.assign((size_t)l.passes * l.values_words, 0);
    image.assign((size_t)l.passes * image_bytes, 0);
    cudaError_t status = cudaSuccess;
    for (uint32_t pass = 0; pass < l.passes && status == cudaSuccess; ++pass) {
        if (l.swizzle < 0) {
            check(cudaFuncSetAttribute((const void*)l.kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared), "shared memory");
            l.kernel<<<1, l.threads, shared>>>(rows, l.row_count, l.base, l.window, l.window_bytes, pass, l.touch, places_at, values_at, image_at, source);
        } else {
            std::vector<uint8_t> tensor(box_bytes);
            for (size_t o = 0; o < box_bytes; ++o) tensor[o] = (uint8_t)((o + 1) >> (8 * pass));
            check(cudaMemcpy(source, tensor.data(), box_bytes, cudaMemcpyHostToDevice), "copy");
            const CUtensorMapDataType types[] = {CU_TENSOR_MAP_DATA_TYPE_UINT8, CU_TENSOR_MAP_DATA_TYPE_UINT16, CU_TENSOR_MAP_DATA_TYPE_UINT32, CU_TENSOR_MAP_DATA_TYPE_FLOAT64};
            const int log = l.box_element_bytes == 1 ? 0 : l.box_element_bytes == 2 ? 1 : l.box_element_bytes == 4 ? 2 : 3;
            const cuuint64_t dims[2] = {l.box_inner, l.box_rows}, strides[1] = {(cuuint64_t)l.box_inner * l.box_element_bytes};
            const cuuint32_t box[2] = {l.box_inner, l.box_rows}, steps[2] = {1, 1};
            CUtensorMap map;
            const CUresult made = tensor_map_encoder()(&map, types[log], 2, source, dims, strides, box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE,
                                                        (CUtensorMapSwizzle)l.swizzle, CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
            if (made != CUDA_SUCCESS) return (uint32_t)made;
            TensorMap plain;
            memcpy(&plain, &map, sizeof plain);
            check(cudaFuncSetAttribute(tma_load, cudaFuncAttributeMaxDynamicSharedMemorySize, shared), "shared memory");
            tma_load<<<1, l.threads, shared>>>(plain, l.box_destination, (uint32_t)box_bytes, l.window_bytes, image_at);
        }
        status = cudaGetLastError();
        if (status == cudaSuccess) status = cudaDeviceSynchronize();
        if (status != cudaSuccess) break;
        if (l.values_words) check(cudaMemcpy(values.data() + (size_t)pass * l.values_words, values_at, 4 * l.values_words, cudaMemcpyDeviceToHost), "copy");
        if (image_bytes) check(cudaMemcpy(image.data() + (size_t)pass * image_bytes, image_at, image_bytes, cudaMemcpyDeviceToHost), "copy");
    }
    if (status != cudaSuccess) return (uint32_t)status;
    if (l.places) check(cudaMemcpy(places.data(), places_at, 8 * l.places, cudaMemcpyDeviceToHost), "copy");
    cudaFree(rows), cudaFree(places_at), cudaFree(values_at), cudaFree(image_at), cudaFree(source);
    return 0;
}

static void put(FILE* file, const void* data, size_t bytes) {
    if (bytes && fwrite(data, 1, bytes, file) != bytes) { perror("writing"); exit(2); }
}

// A launch that is there to fail takes the device's context with it, so another process runs it.
static uint32_t run_apart(const char* program, uint32_t number) {
    char command[4096];
    snprintf(command, sizeof command, "'%s' --fault %u", program, number);
    FILE* pipe = popen(command, "r");
    unsigned status = 999;
    if (!pipe || fscanf(pipe, "%u", &status) != 1) status = 999;
    if (pipe) pclose(pipe);
    return status;
}

int main(int argc, char** argv) {
    std::vector<uint64_t> places;
    std::vector<uint32_t> values;
    std::vector<uint8_t> image;
    if (argc == 3 && !strcmp(argv[1], "--fault")) {
        printf("%u\n", run(LAUNCHES[atoi(argv[2])], places, values, image));
        return 0;
    }
    if (argc != 2) { fprintf(stderr, "usage: %s FILE\n", argv[0]); return 2; }
    cudaDeviceProp device;
    check(cudaGetDeviceProperties(&device, 0), "no usable GPU");
    int driver = 0;
    check(cudaDriverGetVersion(&driver), "driver");
    FILE* file = fopen(argv[1], "wb");
    if (!file) { perror(argv[1]); return 2; }
    fprintf(file, "SWZEMIT1\n{\"name\": \"%s\", \"capability\": %d, \"driver\": \"%d.%d\", \"shared_bytes_per_block\": %zu, \"program\": \"%s\"}\n",
            device.name, 10 * device.major + device.minor, driver / 1000, driver % 1000 / 10, device.sharedMemPerBlockOptin, PROGRAM);
    put(file, "SWZANS01", 8);
    for (uint32_t i = 0; i < LAUNCH_COUNT; ++i) {
        const Launch& l = LAUNCHES[i];
        const uint32_t status = l.faults ? run_apart(argv[0], i) : run(l, places, values, image);
        if (status) places.clear(), values.clear(), image.clear();
        const uint32_t head[2] = {status, l.passes};
        const uint64_t sizes[3] = {places.size(), values.size(), image.size()};
        put(file, head, sizeof head);
        put(file, sizes, sizeof sizes);
        put(file, places.data(), 8 * places.size());
        put(file, values.data(), 4 * values.size());
        put(file, image.data(), image.size());
        places.clear(), values.clear(), image.clear();
    }
    for (uint32_t i = 0; i < TIMED_COUNT; ++i) {
        const Timed& t = TIMED[i];
        Offsets* offsets; uint32_t *masks, *sink; float* slopes; uint8_t* source;
        check(cudaMalloc(&offsets, sizeof(Offsets) * t.count), "memory");
        check(cudaMalloc(&masks, 4 * t.count), "memory");
        check(cudaMalloc(&slopes, 4 * t.count), "memory");
        check(cudaMalloc(&source, 1 << 18), "memory");
        check(cudaMalloc(&sink, 4), "memory");
        check(cudaMemcpy(offsets, t.offsets, sizeof(Offsets) * t.count, cudaMemcpyHostToDevice), "copy");
        check(cudaMemcpy(masks, t.masks, 4 * t.count, cudaMemcpyHostToDevice), "copy");
        check(cudaMemset(source, 1, 1 << 18), "fill");
        const int shared = (int)device.sharedMemPerBlockOptin;
        check(cudaFuncSetAttribute((const void*)t.kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared), "shared memory");
        t.kernel<<<t.count, 256, shared>>>(offsets, masks, 0, source, slopes, sink);
        check(cudaDeviceSynchronize(), "timing");
        std::vector<float> found(t.count);
        check(cudaMemcpy(found.data(), slopes, 4 * t.count, cudaMemcpyDeviceToHost), "copy");
        put(file, found.data(), 4 * found.size());
        cudaFree(offsets), cudaFree(masks), cudaFree(slopes), cudaFree(source), cudaFree(sink);
    }
    if (fclose(file)) { perror(argv[1]); return 2; }
    return 0;
}
