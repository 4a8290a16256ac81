typedef void (*Kernel)(const uint64_t*, uint32_t, uint64_t, uint64_t, uint32_t, uint32_t, uint32_t, uint64_t*, uint32_t*, uint8_t*, uint8_t*);
typedef void (*TimedKernel)(const Offsets*, const uint32_t*, uint32_t, const uint8_t*, float*, uint32_t*);
struct Launch {
    Kernel kernel;
    const uint64_t* rows;
    uint64_t base, window, places, values_words, source_bytes;
    uint32_t threads, row_count, row_columns, window_bytes, passes, touch, image, faults;
    int swizzle;
    uint32_t box_rows, box_inner, box_element_bytes, box_destination;
};
struct Timed { TimedKernel kernel; const Offsets* offsets; const uint32_t* masks; uint32_t count; };
