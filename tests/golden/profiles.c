/* SPDX-License-Identifier: MIT */
#include "profiles.h"

#include <string.h>

#include "base/hist.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

/* A row of operations with the given durations. */
static void add_row(struct ct_build *b, struct ct_file_row row, const uint64_t *ns, size_t count)
{
    for (size_t i = 0; i < count; i++)
        ct_build_time(&row, ns[i]);
    ct_build_add(b, CT_SECTION_ROWS, &row);
}

#define ROW(b, kind, detail, device, name, ...)                                                    \
    do {                                                                                           \
        const uint64_t ns[] = {__VA_ARGS__};                                                       \
        uint32_t text = *(name) ? ct_build_text(b, name) : 0;                                      \
        add_row(b, ct_build_row(kind, detail, device, text), ns, COUNT(ns));                       \
    } while (0)
#define KERNEL(b, device, name, ...) ROW(b, CT_ROW_KERNEL, 0, device, name, __VA_ARGS__)
#define COPY(b, device, way, ...) ROW(b, CT_ROW_COPY, CT_##way, device, "", __VA_ARGS__)
#define API(b, name, ...)                                                                          \
    do {                                                                                           \
        const uint64_t ns[] = {__VA_ARGS__};                                                       \
        ct_build_api(b, name, ns, COUNT(ns));                                                      \
    } while (0)

static void fill_basic(struct ct_build *b)
{
    KERNEL(b, 0, "_Z6vecAddPKfS0_Pfi", 521270, 521271, 521272);
    KERNEL(b, 0, "_Z4foo1IfLi32EEvPT_i", 999);
    COPY(b, 0, HTOD, 1000, 40000);
    COPY(b, 0, DTOH, 310117);
    COPY(b, 0, DTOD, 500);
    ROW(b, CT_ROW_SET, 0, 0, "", 1050);
    API(b, "cudaMalloc", 123456);
    API(b, "cudaMemcpy", 100000, 100001);
    API(b, "cudaLaunchKernel", 5999);
    API(b, "cudaFree", 351, 352);
    API(b, "cuDeviceGet", 500);
}

static void fill_names(struct ct_build *b)
{
    static const char *const kernels[] = {
        "f",
        "ab",
        "abc",
        "abcd",
        ("_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_"
         "11FillFunctorIfEESt5arrayIPcLm1EEEEvi"
         "fT0_"),
    };
    static const char *const apis[] = {
        "__cudaLaunchKernel",
        "cudaLaunchKernel_ptsz",
        "cudaMalloc",
        "cudaMemcpy_ptds",
        "cudaMemcpyAsync",
        "cudaDeviceSynchronize",
        "cudaGetLastError",
        "cudaLaunch",
        "cudaDeviceGetAttribute",
        "cudaWaitExternalSemaphoresAsync_v2_ptsz",
        "cudaLaunchKernelExC",
    };
    static const char *const driver[] = {
        "cuDeviceGet",
        "cuInit",
        "cuMemcpyHtoD_v2",
        "cuMemcpyHtoDAsync_v2",
        "cuMemcpyDtoH_v2_ptds",
        "cuLaunchKernel",
        "cuLaunchKernelEx",
        "cuMemcpyDtoHAsync_v2_ptsz",
        "cuSignalExternalSemaphoresAsync",
        "cuLaunchKernel_ptsz",
        "cuGraphLaunch",
        "cuGraphLaunch_ptsz",
    };
    for (size_t i = 0; i < COUNT(kernels); i++)
        KERNEL(b, 0, kernels[i], 10000 - i);
    KERNEL(b, 0, "loop", 511);
    for (uint32_t way = 0; way < CT_DIRECTION_COUNT; way++)
        ROW(b, CT_ROW_COPY, way, 0, "", 501 + way);
    for (size_t i = 0; i < COUNT(apis); i++)
        API(b, apis[i], 90 - i);
    for (size_t i = 0; i < COUNT(driver); i++)
        API(b, driver[i], 70 - i);
}

static void fill_none(struct ct_build *b)
{
    (void)b;
}

static void fill_gpuonly(struct ct_build *b)
{
    KERNEL(b, 0, "_Z1fv", 1000);
}

static void fill_apionly(struct ct_build *b)
{
    API(b, "cudaMalloc", 1000);
}

static void fill_multi(struct ct_build *b)
{
    ct_build_device(b, 1, "Tesla V100-SXM2-16GB");
    KERNEL(b, 1, "_Z6kernelPf", 2000, 4000);
    KERNEL(b, 0, "_Z6kernelPf", 1000, 2000);
    for (uint32_t device = 0; device < 2; device++) {
        COPY(b, device, HTOD, 40000);
        COPY(b, device, PTOP, 6710800);
    }
    API(b, "cudaMemcpy", 500, 501, 502);
}

/* What nvprof has no text for, for cutrace-report's other tests: something in every section. */
static void fill_full(struct ct_build *b)
{
    struct ct_file_shape shape = {{3907, 1, 1}, {256, 1, 1}, 1024, 3};
    struct ct_file_bucket bucket = {900, 3};
    struct ct_file_row row = ct_build_row(CT_ROW_KERNEL, 0, 0, ct_build_text(b, "_Z1fv"));
    for (int i = 0; i < 3; i++)
        ct_build_time(&row, 5000);
    row.lost[CT_LOSS_CAPTURED] = 1;
    row.lost[CT_LOSS_SAMPLED] = 4;
    row.errors = 2;
    row.registers = UINT32_MAX;
    row.shape_other = 1;
    row.shape_first = ct_build_add(b, CT_SECTION_SHAPES, &shape);
    row.bucket_first = ct_build_add(b, CT_SECTION_BUCKETS, &bucket);
    row.shape_count = row.bucket_count = 1;
    ct_build_add(b, CT_SECTION_ROWS, &row);
    ROW(b, CT_ROW_PREFETCH, 0, 0, "", 700);
    for (uint32_t i = 0; i < 2; i++) {
        row = ct_build_row(CT_ROW_GRAPH, 4, 0, ct_build_text(b, i ? "2" : "1"));
        ct_build_time(&row, 9000);
        struct ct_file_node node = {.graph_row = ct_build_add(b, CT_SECTION_ROWS, &row),
                                    .name = ct_build_text(b, i ? "_Z1gv" : "_Z1hv"),
                                    .count = 3};
        ct_build_add(b, CT_SECTION_NODES, &node);
        struct ct_file_stream stream = {
            .id = 1 + i, .operations = 4, .waits = 1, .flags = i, .priority = -1, .special = i};
        stream.name = i ? ct_build_text(b, "copies \x1b[1m") : 0;
        stream.context_name = i ? ct_build_text(b, "main") : 0;
        ct_build_add(b, CT_SECTION_STREAMS, &stream);
        struct ct_file_note note = {CT_NOTE_WARNING + i, ct_build_text(b, "cuNewCall"), 2};
        ct_build_add(b, CT_SECTION_NOTES, &note);
    }
    API(b, "cudaGraphLaunch", 5000, 6000);
}

/* Durations in ascending order, each in a bucket of its own, and what each may be wrong by. */
static void add_measured(struct ct_build *b, struct ct_file_row row, uint64_t doubt_ns,
                         const uint64_t *ns, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct ct_file_bucket bucket = {ct_hist_bucket(ns[i]), 1};
        uint32_t at = ct_build_add(b, CT_SECTION_BUCKETS, &bucket);
        row.bucket_first = i ? row.bucket_first : at;
        row.bucket_count++;
        row.doubt_ns += doubt_ns;
    }
    for (size_t i = 0; i < count; i++) {
        struct ct_file_bucket bucket = {ct_hist_bucket(ns[i] + CT_BUILD_BIAS_NS), 1};
        uint32_t at = ct_build_add(b, CT_SECTION_BUCKETS, &bucket);
        row.raw_bucket_first = i ? row.raw_bucket_first : at;
        row.raw_bucket_count++;
    }
    add_row(b, row, ns, count);
}

#define MEASURED(b, row, doubt_ns, ...)                                                            \
    do {                                                                                           \
        const uint64_t ns[] = {__VA_ARGS__};                                                       \
        add_measured(b, row, doubt_ns, ns, COUNT(ns));                                             \
    } while (0)

/*
 * Averages that are uncertain: in all, on one device only, and one which is just not, being twice
 * what it may be wrong by. Rows that rest on upper bounds, which count for more, for every reason.
 */
static void fill_uncertain(struct ct_build *b)
{
    ct_build_device(b, 1, "Tesla V100-SXM2-16GB");
    struct ct_file_row row = ct_build_row(CT_ROW_KERNEL, 0, 0, ct_build_text(b, "_Z4longv"));
    row.lost[CT_LOSS_PROGRAMMATIC] = 1;
    MEASURED(b, row, 300, 5000, 5100, 5200, 9000);
    row = ct_build_row(CT_ROW_KERNEL, 0, 0, ct_build_text(b, "_Z5shortPKc"));
    MEASURED(b, row, 500, 400, 420);
    row = ct_build_row(CT_ROW_KERNEL, 0, 0, ct_build_text(b, "_Z6sharedv"));
    row.marked = row.overlapped = 1;
    MEASURED(b, row, 30, 3000, 3100);
    row = ct_build_row(CT_ROW_KERNEL, 0, 0, ct_build_text(b, "_Z5twicev"));
    MEASURED(b, row, 500, 800, 1200);
    uint32_t other = ct_build_text(b, "_Z5otherv");
    MEASURED(b, ct_build_row(CT_ROW_KERNEL, 0, 0, other), 400, 10000);
    MEASURED(b, ct_build_row(CT_ROW_KERNEL, 0, 1, other), 400, 700);
    MEASURED(b, ct_build_row(CT_ROW_COPY, CT_HTOD, 0, 0), 0, 40000);
    row = ct_build_row(CT_ROW_SET, 0, 0, 0);
    row.marked = 3;
    row.legacy_waits = 2;
    MEASURED(b, row, 900, 0, 150, 200);
    API(b, "cudaMalloc", 1);
}

/* Two kernels of which only some launches were timed, one of them with a long tail, and their
 * calls. */
static void fill_sampled(struct ct_build *b)
{
    struct ct_file_row row = ct_build_row(CT_ROW_KERNEL, 0, 0, ct_build_text(b, "_Z4manyv"));
    row.lost[CT_LOSS_SAMPLED] = 996;
    row.estimated = 1000;
    row.estimated_ns = 5.2e6;
    row.estimated_square_ns2 = 2.71e10;
    row.variance_ns2 = 4e8;
    row.freedom_ns4 = 4e8 * 4e8 / 40;
    MEASURED(b, row, 300, 5000, 5100, 5200, 5500);
    row = ct_build_row(CT_ROW_KERNEL, 0, 0, ct_build_text(b, "_Z4tailv"));
    row.lost[CT_LOSS_SAMPLED] = 95;
    row.lost[CT_LOSS_DEEP_QUEUE] = 5;
    row.estimated = 98;
    row.estimated_ns = 9.8e5;
    row.estimated_square_ns2 = 1.2e10;
    row.variance_ns2 = 1e10;
    row.third_ns3 = 1.5e15;
    row.freedom_ns4 = 5e19;
    MEASURED(b, row, 300, 8000, 9000, 40000);
    MEASURED(b, ct_build_row(CT_ROW_COPY, CT_HTOD, 0, 0), 0, 40000);
    struct ct_file_api launch = {.name = ct_build_text(b, "cuLaunchKernel"),
                                 .calls = 1103,
                                 .total_ns = 2206000,
                                 .min_ns = 1500,
                                 .max_ns = 9000,
                                 .sampled = 1103,
                                 .square_ns2 = 4.5e9,
                                 .timed = 180};
    ct_build_add(b, CT_SECTION_APIS, &launch);
    API(b, "cudaMalloc", 1);
}

/* More of everything than a line or a row has room for, and calls of which only some were timed. */
static void fill_many(struct ct_build *b)
{
    struct ct_file_row row = ct_build_row(CT_ROW_KERNEL, 0, 0, ct_build_text(b, "_Z1fv"));
    ct_build_time(&row, 5000);
    for (uint32_t i = 0; i < 70; i++) {
        struct ct_file_shape shape = {{i + 1, 1, 1}, {32, 1, 1}, 0, 1};
        uint32_t at = ct_build_add(b, CT_SECTION_SHAPES, &shape);
        row.shape_first = i ? row.shape_first : at;
    }
    row.shape_count = 70;
    ct_build_add(b, CT_SECTION_ROWS, &row);
    for (uint32_t i = 0; i < 10; i++) {
        char name[] = "cuNew0";
        name[5] = (char)('0' + i);
        struct ct_file_note note = {CT_NOTE_NOT_WRAPPED, ct_build_text(b, name), 1};
        ct_build_add(b, CT_SECTION_NOTES, &note);
    }
    struct ct_file_api api = {.name = ct_build_text(b, "cuLaunchKernel"),
                              .calls = 100,
                              .sampled = 10,
                              .total_ns = 100000,
                              .min_ns = 900,
                              .max_ns = 1100,
                              .square_ns2 = 1.01e7,
                              .timed = 10};
    ct_build_add(b, CT_SECTION_APIS, &api);
}

#define HOSTILE                                                                                    \
    "\033]0;x\a\033[31m\n==1== \t\r<script>alert(1)</script>'); DROP TABLE x;--\",=1+1,\"&\\"      \
    "\u202e\302\233\377"

/* Texts that would do something to who prints them as they are, wherever a file has text. */
static void fill_hostile(struct ct_build *b)
{
    static const char *const texts[] = {HOSTILE, "=cmd|' /C calc'!A0", "@SUM(A1)", "a\nb;=1", ""};
    ct_build_device(b, 1, HOSTILE);
    for (uint32_t i = 0; i < COUNT(texts); i++) {
        uint32_t text = *texts[i] ? ct_build_text(b, texts[i]) : 0;
        struct ct_file_row row = ct_build_row(CT_ROW_KERNEL, 0, i % 2, text);
        struct ct_file_shape shape = {{i + 1, 1, 1}, {32, 1, 1}, 0, 1};
        struct ct_file_note note = {CT_NOTE_WARNING + i % 2, text, 2};
        row.shape_first = ct_build_add(b, CT_SECTION_SHAPES, &shape);
        row.shape_count = 1;
        add_row(b, row, (const uint64_t[]){1000 + i}, 1);
        row = ct_build_row(CT_ROW_GRAPH, i + 1, 0, text);
        ct_build_time(&row, 9000 + i);
        struct ct_file_node node = {
            .graph_row = ct_build_add(b, CT_SECTION_ROWS, &row), .name = text, .count = 3};
        ct_build_add(b, CT_SECTION_NODES, &node);
        ct_build_add(b, CT_SECTION_NOTES, &note);
        API(b, texts[i], 500 + i);
    }
}

/* Two processes as one file, neither of a rank; names of the hosts that are no better. */
static void fill_merged(struct ct_build *b)
{
    struct ct_file_process process = {.pid = 4711, .host = ct_build_text(b, HOSTILE)};
    struct ct_file_total total = {.gpu_ns = 2000, .compute_ns = 2000, .api_ns = 500};
    struct ct_file_spread spread = {.section = CT_SECTION_ROWS,
                                    .most = 1,
                                    .processes = 2,
                                    .min_ns = 1000,
                                    .max_ns = 3000,
                                    .total_ns = 4000,
                                    .square_ns2 = 1e7,
                                    .mean_ns = 4000,
                                    .mean_square_ns2 = 1e7};
    KERNEL(b, 0, "_Z3sumPKfPfi", 1000, 3000);
    API(b, "cudaMalloc", 400, 600);
    for (uint32_t i = 0; i < 2; i++) {
        process.rank = i * 5;
        ct_build_add(b, CT_SECTION_PROCESSES, &process);
        ct_build_add(b, CT_SECTION_TOTALS, &total);
    }
    ct_build_add(b, CT_SECTION_SPREADS, &spread);
    spread.section = CT_SECTION_APIS;
    ct_build_add(b, CT_SECTION_SPREADS, &spread);
}

/* Bytes that moved, the most in what took the least time; and what came while recording was off. */
static void fill_moved(struct ct_build *b)
{
    static const struct {
        uint32_t kind, detail;
        uint64_t bytes, ns[2];
    } moves[] = {
        {CT_ROW_COPY, CT_HTOD, 1500000, {90000, 110000}},
        {CT_ROW_COPY, CT_DTOH, 64000000, {1000, 3000}},
        {CT_ROW_SET, 0, 3000, {500, 700}},
        {CT_ROW_PREFETCH, 0, 5000000, {7000, 9000}},
    };
    for (size_t i = 0; i < COUNT(moves); i++) {
        struct ct_file_row row = ct_build_row(moves[i].kind, moves[i].detail, 0, 0);
        row.bytes = row.timed_bytes = moves[i].bytes;
        add_row(b, row, moves[i].ns, 2);
    }
    ((struct ct_file_process *)b->parts[CT_SECTION_PROCESS].data)->off_operations = 5;
}

/* What a model runs: instances, tiles and numbered kernels, on two devices. */
static void fill_families(struct ct_build *b)
{
    static const char *const kernels[] = {
        "_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_"
        "11FillFunctorIfEESt5arrayIPcLm1EEEEvifT0"
        "_",
        "_ZN2at6native29vectorized_elementwise_kernelILi8ENS0_"
        "11FillFunctorIfEESt5arrayIPcLm1EEEEvifT0"
        "_",
        "nvjet_sm90_tst_64x128_64x8_2x1_v_bz_NTN",
        "nvjet_sm90_tst_256x128_64x4_1x2_h_bz_coopA_bias_TNT",
        "ampere_sgemm_128x64_tn",
        "triton_poi_fused_add_0",
        "triton_poi_fused_add_1",
        "triton_poi_fused_mul_2",
        "plain",
    };
    ct_build_device(b, 1, "Tesla V100-SXM2-16GB");
    for (uint32_t i = 0; i < COUNT(kernels); i++) {
        struct ct_file_shape shape = {{i, 1, 1}, {64, 1, 1}, 0, 2};
        uint32_t text = ct_build_text(b, kernels[i]);
        struct ct_file_row row = ct_build_row(CT_ROW_KERNEL, 0, i % 3 == 1, text);
        row.registers = i < 4 ? 32 : 32 + i;
        row.shape_first = ct_build_add(b, CT_SECTION_SHAPES, &shape);
        row.shape_count = 1;
        add_row(b, row, (const uint64_t[]){10000 + 1000 * i, 20000 + 3000 * i}, 2);
    }
    struct ct_file_row row = ct_build_row(CT_ROW_GRAPH, 3, 0, ct_build_text(b, "1"));
    ct_build_time(&row, 90000);
    struct ct_file_node node = {.graph_row = ct_build_add(b, CT_SECTION_ROWS, &row), .count = 1};
    for (size_t i = 5; i < 8; i++) {
        node.name = ct_build_text(b, kernels[i]);
        ct_build_add(b, CT_SECTION_NODES, &node);
    }
    node.kind = CT_ROW_COPY, node.detail = CT_DTOH, node.bytes = 3 << 20;
    node.name = ct_build_text(b, "[CUDA memcpy DtoH]");
    ct_build_add(b, CT_SECTION_NODES, &node);
    node.kind = CT_ROW_SET, node.detail = 0, node.bytes = 8;
    node.name = ct_build_text(b, "[CUDA memset]");
    ct_build_add(b, CT_SECTION_NODES, &node);
    API(b, "cudaLaunchKernel", 5999);
}

/* What was allocated, and what is left: a peak, a failure, sizes that are not listed. */
static void fill_allocated(struct ct_build *b)
{
    static const struct ct_file_memory memory[] = {
        {.kind = CT_ALLOCATION_ON_DEVICE,
         .allocations = 12,
         .bytes = 5000000,
         .failed = 1,
         .failed_most_bytes = (uint64_t)1 << 40,
         .frees = 7,
         .ended = 1,
         .held = 4,
         .held_bytes = 3000000,
         .peak_bytes = 4500000},
        {.kind = CT_ALLOCATION_DEVICE,
         .allocations = 9,
         .bytes = 4000000,
         .failed = 1,
         .failed_most_bytes = (uint64_t)1 << 40,
         .frees = 6,
         .held = 3,
         .held_bytes = 2000000,
         .peak_bytes = 4000000},
        {.kind = CT_ALLOCATION_POOL,
         .allocations = 3,
         .bytes = 1000000,
         .frees = 1,
         .ended = 1,
         .held = 1,
         .held_bytes = 1000000,
         .peak_bytes = 1000000},
        {.device = 1,
         .kind = CT_ALLOCATION_PINNED,
         .allocations = 2,
         .bytes = 8192,
         .unknown_frees = 3,
         .unfollowed = 1,
         .unfollowed_bytes = 4096,
         .held = 1,
         .held_bytes = 4096,
         .peak_bytes = 4096},
    };
    static const struct ct_file_block blocks[] = {
        {0, CT_ALLOCATION_DEVICE, 1500000, 1},
        {0, CT_ALLOCATION_POOL, 1000000, 1},
        {1, CT_ALLOCATION_PINNED, 4096, 1},
        {0, CT_ALLOCATION_ON_DEVICE, 500000, 2},
    };
    ct_build_device(b, 1, "Tesla V100-SXM2-16GB");
    for (size_t i = 0; i < COUNT(memory); i++)
        ct_build_add(b, CT_SECTION_MEMORY, &memory[i]);
    for (size_t i = 0; i < COUNT(blocks); i++)
        ct_build_add(b, CT_SECTION_BLOCKS, &blocks[i]);
}

static uint32_t add_range(struct ct_build *b, uint32_t parent, const char *domain, const char *name,
                          uint64_t count, uint64_t total_ns, uint64_t each_ns)
{
    struct ct_file_range r = {.parent = parent,
                              .domain = *domain ? ct_build_text(b, domain) : 0,
                              .name = ct_build_text(b, name),
                              .count = count,
                              .total_ns = total_ns,
                              .min_ns = each_ns,
                              .max_ns = each_ns};
    return ct_build_add(b, CT_SECTION_RANGES, &r) + 1;
}

static void add_cell(struct ct_build *b, uint32_t range, uint32_t section, uint32_t index,
                     uint64_t count, uint64_t each_ns)
{
    struct ct_file_cell c = {.range = range - 1,
                             .section = section,
                             .index = index,
                             .count = count,
                             .total_ns = count * each_ns,
                             .min_ns = each_ns,
                             .max_ns = each_ns,
                             .square_ns2 = (double)count * (double)each_ns * (double)each_ns};
    ct_build_add(b, CT_SECTION_CELLS, &c);
}

/* Three times step, and in it fwd and of a domain of its own bwd. */
static void fill_nvtx(struct ct_build *b)
{
    struct ct_file_thread thread = {4242, ct_build_text(b, "main"), 1};
    KERNEL(b, 0, "_Z3bwdPf", 2000000, 2000000, 2000000);
    KERNEL(b, 0, "_Z3fwdPf", 1000000, 1000000, 1000000);
    COPY(b, 0, DTOH, 1500, 1500, 1500);
    API(b, "cudaLaunchKernel", 5000, 5000, 5000, 5000, 5000, 5000);
    API(b, "cudaMemcpy", 7000, 7000, 7000);
    ct_build_add(b, CT_SECTION_THREADS, &thread);
    uint32_t step = add_range(b, 0, "", "step", 3, 27000000, 9000000);
    uint32_t fwd = add_range(b, step, "", "fwd", 3, 11999700, 3999900);
    uint32_t bwd = add_range(b, step, "mydomain", "bwd", 3, 11700000, 3900000);
    add_cell(b, bwd, CT_SECTION_ROWS, 0, 3, 2000000);
    add_cell(b, fwd, CT_SECTION_ROWS, 1, 3, 1000000);
    add_cell(b, step, CT_SECTION_ROWS, 2, 3, 1500);
    add_cell(b, bwd, CT_SECTION_APIS, 0, 3, 5000);
    add_cell(b, fwd, CT_SECTION_APIS, 0, 3, 5000);
    add_cell(b, step, CT_SECTION_APIS, 1, 3, 7000);
}

static void fill_nvtx_empty(struct ct_build *b)
{
    struct ct_file_thread thread = {4242, 0, 1};
    struct ct_file_range unclosed = {.name = ct_build_text(b, "unclosed"), .unclosed = 1};
    KERNEL(b, 0, "_Z1fv", 10);
    API(b, "cudaLaunchKernel", 10);
    ct_build_add(b, CT_SECTION_THREADS, &thread);
    add_range(b, 0, "", "empty range", 1, 1000, 1000);
    ct_build_add(b, CT_SECTION_RANGES, &unclosed);
}

/* NCCL's: known and not, alone and in groups, of one rank, failed and captured ones. */
static void fill_nccl(struct ct_build *b)
{
    static const struct ct_file_collective rows[] = {
        {.collective = CT_COLLECTIVE_ALL_REDUCE,
         .datatype = 8,
         .ranks = 8,
         .octave = 24,
         .calls = 120,
         .bytes = (uint64_t)120 << 24,
         .timed = 100,
         .timed_bytes = (uint64_t)100 << 24,
         .total_ns = 10000000,
         .min_ns = 80000,
         .max_ns = 200000},
        {.collective = CT_COLLECTIVE_ALL_GATHER,
         .datatype = 10,
         .ranks = 4,
         .octave = 20,
         .calls = 7,
         .captured = 3,
         .bytes = 7 << 20,
         .timed = 4,
         .shared = 2,
         .timed_bytes = 4 << 20,
         .total_ns = 4000000,
         .min_ns = 900000,
         .max_ns = 1100000},
        {.collective = CT_COLLECTIVE_SEND_RECV, .octave = 12, .calls = 2, .bytes = 8192},
        {.collective = CT_COLLECTIVE_BROADCAST,
         .datatype = 1,
         .ranks = 1,
         .octave = 10,
         .calls = 1,
         .bytes = 1024,
         .timed = 1,
         .timed_bytes = 1024,
         .total_ns = 2000,
         .min_ns = 2000,
         .max_ns = 2000},
        {.collective = CT_COLLECTIVE_REDUCE, .failed = 5},
    };
    for (size_t i = 0; i < COUNT(rows); i++)
        ct_build_add(b, CT_SECTION_COLLECTIVES, &rows[i]);
}

/* Two processors' memory, and faults of either. */
static void fill_um(struct ct_build *b)
{
    static const struct ct_file_unified moved[] = {
        {.kind = CT_UNIFIED_HTOD,
         .count = 3,
         .bytes = 384 << 10,
         .min_bytes = 64 << 10,
         .max_bytes = 192 << 10,
         .cause_bytes = {[CT_UNIFIED_CAUSE_FAULT] = 64 << 10, [CT_UNIFIED_CAUSE_AHEAD] = 320 << 10},
         .timed = 3,
         .total_ns = 1500,
         .min_ns = 400,
         .max_ns = 600,
         .first_address = 0x7f0000000000,
         .last_address = 0x7f000005ffff},
        {.kind = CT_UNIFIED_DTOH,
         .count = 2,
         .bytes = 2 << 20,
         .min_bytes = 1 << 20,
         .max_bytes = 1 << 20,
         .cause_bytes = {[CT_UNIFIED_CAUSE_ASKED] = 2 << 20},
         .timed = 2,
         .total_ns = 1000,
         .min_ns = 500,
         .max_ns = 500,
         .first_address = 0x7f0000000000,
         .last_address = 0x7f00001fffff},
        {.kind = CT_UNIFIED_GPU_FAULTS,
         .count = 1,
         .faults = 24,
         .timed = 1,
         .total_ns = 2000,
         .min_ns = 2000,
         .max_ns = 2000,
         .first_address = 0x7f0000010000,
         .last_address = 0x7f0000010000},
        {.kind = CT_UNIFIED_CPU_FAULTS,
         .count = 1,
         .first_address = 0x7f0000000000,
         .last_address = 0x7f0000000000},
    };
    KERNEL(b, 0, "_Z1fv", 1000);
    for (size_t i = 0; i < COUNT(moved); i++)
        ct_build_add(b, CT_SECTION_UNIFIED, &moved[i]);
}

static void fill_models(struct ct_build *b)
{
    uint32_t second = ct_build_device(b, 1, "NVIDIA H200");
    ((struct ct_file_device *)b->parts[CT_SECTION_DEVICES].data)[second].beside_ns = 600;
    KERNEL(b, 0, "_Z6kernelPf", 3000);
    KERNEL(b, 1, "_Z6kernelPf", 1000);
    KERNEL(b, 1, "_Z1fv", 1000);
}

#define fill_steps ct_fill_steps

static uint32_t put_line(struct ct_build *b, const char *file, const char *function, uint32_t line)
{
    struct ct_file_line l = {.line = line};
    l.file = ct_build_text(b, file);
    l.function = ct_build_text(b, function);
    return ct_build_add(b, CT_SECTION_LINES, &l);
}

static uint32_t put_module(struct ct_build *b, uint32_t parent, const char *type, uint32_t number)
{
    struct ct_file_module f = {parent, ct_build_text(b, type), number, 0};
    return ct_build_add(b, CT_SECTION_MODULES, &f) + 1;
}

static uint32_t put_frame_in(struct ct_build *b, uint32_t parent, uint32_t line, uint32_t module)
{
    struct ct_file_frame f = {.parent = parent, .line = line, .module = module};
    return ct_build_add(b, CT_SECTION_FRAMES, &f) + 1;
}

static uint32_t put_frame(struct ct_build *b, uint32_t parent, uint32_t line)
{
    return put_frame_in(b, parent, line, 0);
}

static void put_stack(struct ct_build *b, uint32_t row, uint32_t frame, uint64_t count,
                      uint64_t timed, uint64_t total_ns)
{
    struct ct_file_stack s = {row, frame - 1, count, timed, total_ns};
    ct_build_add(b, CT_SECTION_STACKS, &s);
}

/*
 * main calls step twice, which calls itself once; some of its launches have no time, or were in no
 * stack, and one function has a name that is to be escaped.
 */
static void fill_stacks(struct ct_build *b)
{
    struct ct_file_row f = ct_build_row(CT_ROW_KERNEL, 0, 0, ct_build_text(b, "_Z1fv"));
    struct ct_file_row g = ct_build_row(CT_ROW_KERNEL, 0, 0, ct_build_text(b, "_Z1gv"));
    struct ct_file_row graph = ct_build_row(CT_ROW_GRAPH, 3, 0, ct_build_text(b, "graph"));
    for (int i = 0; i < 8; i++)
        ct_build_time(&f, 1000);
    f.lost[CT_LOSS_RING_FULL] = 2;
    ct_build_time(&g, 3000);
    ct_build_time(&g, 5000);
    ct_build_time(&graph, 4000);
    ct_build_add(b, CT_SECTION_ROWS, &f);
    ct_build_add(b, CT_SECTION_ROWS, &g);
    ct_build_add(b, CT_SECTION_ROWS, &graph);
    uint32_t top = put_frame(b, 0, put_line(b, "/home/me/train.py", "<module>", 30));
    uint32_t step_line = put_line(b, "/home/me/train.py", "step", 12);
    uint32_t step = put_frame(b, top, step_line), inner = put_frame(b, step, step_line);
    uint32_t last = put_frame(b, inner, put_line(b, "a;b\n.py", "Net.forward;\x1b", 7));
    uint32_t other = put_frame(b, top, put_line(b, "/home/me/train.py", "<lambda>", 0));
    put_stack(b, 0, step, 3, 2, 2000);
    put_stack(b, 0, last, 4, 4, 4000);
    put_stack(b, 1, last, 1, 1, 5000);
    put_stack(b, 1, other, 1, 0, 0);
    put_stack(b, 2, other, 1, 1, 4000);
}

static void put_inside(struct ct_build *b, uint32_t node, uint32_t frame, uint64_t count,
                       uint64_t timed, uint64_t total_ns)
{
    struct ct_file_inside s = {node, frame - 1, count, timed, total_ns};
    ct_build_add(b, CT_SECTION_INSIDE, &s);
}

/*
 * The program of "stacks", and nodes of its graph: a kernel that has times at one of its lines
 * alone, where it is launched without a graph as well, and a set without any.
 */
static void fill_inside(struct ct_build *b)
{
    enum { STEP = 2, LAST = 4 };
    struct ct_file_node f = {.graph_row = 2, .count = 4, .kind = CT_ROW_KERNEL};
    struct ct_file_node set = {.graph_row = 2, .count = 1, .kind = CT_ROW_SET, .bytes = 4096};
    fill_stacks(b);
    f.name = ct_build_text(b, "_Z1fv");
    set.name = ct_build_text(b, "[CUDA memset]");
    f.timed = 4;
    f.total_ns = f.raw_total_ns = 2000;
    f.min_ns = f.max_ns = 500;
    uint32_t kernel = ct_build_add(b, CT_SECTION_NODES, &f);
    put_inside(b, kernel, LAST, 3, 2, 1400);
    put_inside(b, kernel, STEP, 1, 0, 0);
    put_inside(b, ct_build_add(b, CT_SECTION_NODES, &set), STEP, 1, 0, 0);
}

/*
 * The program of "stacks" after an edit: its lines have moved, step launches from another line,
 * too, a function is gone, another is new.
 */
static void fill_edited(struct ct_build *b)
{
    struct ct_file_row f = ct_build_row(CT_ROW_KERNEL, 0, 0, ct_build_text(b, "_Z1fv"));
    for (int i = 0; i < 12; i++)
        ct_build_time(&f, 2000);
    struct ct_file_row g = ct_build_row(CT_ROW_KERNEL, 0, 0, ct_build_text(b, "_Z1fi"));
    ct_build_time(&g, 1000);
    ct_build_add(b, CT_SECTION_ROWS, &f);
    ct_build_add(b, CT_SECTION_ROWS, &g);
    uint32_t top = put_frame(b, 0, put_line(b, "/home/me/train.py", "<module>", 33));
    uint32_t step = put_frame(b, top, put_line(b, "/home/me/train.py", "step", 12));
    uint32_t other = put_frame(b, top, put_line(b, "/home/me/train.py", "step", 14));
    uint32_t last = put_frame(b, step, put_line(b, "a;b\n.py", "Net.forward;\x1b", 9));
    uint32_t new = put_frame(b, top, put_line(b, "/home/me/train.py", "evaluate", 20));
    put_stack(b, 0, step, 2, 2, 4000);
    put_stack(b, 0, other, 1, 1, 2000);
    put_stack(b, 0, last, 7, 7, 14000);
    put_stack(b, 0, new, 2, 2, 4000);
    put_stack(b, 1, last, 1, 1, 1000);
}

/* Launches from inside packages: one that the program called, and one that nothing of its own did.
 */
static void fill_packaged(struct ct_build *b)
{
    struct ct_file_row f = ct_build_row(CT_ROW_KERNEL, 0, 0, ct_build_text(b, "_Z1fv"));
    struct ct_file_row g = ct_build_row(CT_ROW_KERNEL, 0, 0, ct_build_text(b, "_Z1gv"));
    for (int i = 0; i < 4; i++)
        ct_build_time(&f, 2000);
    ct_build_time(&g, 1000);
    ct_build_add(b, CT_SECTION_ROWS, &f);
    ct_build_add(b, CT_SECTION_ROWS, &g);
    uint32_t top = put_frame(b, 0, put_line(b, "<frozen runpy>", "_run_code", 88));
    uint32_t train = put_frame(b, top, put_line(b, "/home/me/train.py", "forward", 7));
    uint32_t later = put_frame(b, top, put_line(b, "/home/me/train.py", "forward", 8));
    uint32_t line =
        put_line(b, "/opt/venv/lib64/python3.12/site-packages/torch/nn/linear.py", "forward", 134);
    put_stack(b, 0, put_frame(b, train, line), 3, 3, 6000);
    put_stack(b, 0, put_frame(b, later, line), 1, 1, 2000);
    put_stack(b, 1, put_frame(b, top, line), 1, 1, 1000);
}

/*
 * Two layers of one class, of which the second has the more time, behind one line; one of these has
 * two parts of a class, one of them the others of a class with too many objects, and a name that is
 * to be escaped.
 */
static void fill_modules(struct ct_build *b)
{
    struct ct_file_row f = ct_build_row(CT_ROW_KERNEL, 0, 0, ct_build_text(b, "_Z1fv"));
    for (int i = 0; i < 20; i++)
        ct_build_time(&f, 1000);
    ct_build_add(b, CT_SECTION_ROWS, &f);
    uint32_t model = put_module(b, 0, "Model", 0);
    uint32_t layers[] = {put_module(b, model, "Layer", 0), put_module(b, model, "Layer", 1)};
    uint32_t linear[] = {put_module(b, layers[1], "Linear", 0),
                         put_module(b, layers[1], "Linear", 1)};
    uint32_t others = put_module(b, model, "Loss", CT_FILE_MODULE_OTHERS);
    put_module(b, model, "Unused", 0);
    uint32_t top = put_frame(b, 0, put_line(b, "train.py", "<module>", 30));
    uint32_t forward = put_line(b, "model.py", "Layer.forward", 7);
    uint32_t outer = put_frame_in(b, top, put_line(b, "model.py", "Model.forward", 12), model);
    put_stack(b, 0, top, 1, 1, 1000);
    put_stack(b, 0, put_frame_in(b, outer, forward, layers[0]), 5, 5, 5000);
    uint32_t second = put_frame_in(b, outer, forward, layers[1]);
    put_stack(b, 0, second, 1, 1, 1000);
    for (uint32_t i = 0; i < 2; i++)
        put_stack(b, 0,
                  put_frame_in(b, second, put_line(b, "linear.py", "Linear.forward", 3), linear[i]),
                  4 + i, 4, 4000);
    put_stack(b, 0, put_frame_in(b, outer, put_line(b, "loss.py", "Loss.forward", 3), others), 3, 3,
              3000);
}

/* The program of "modules" after an edit: a layer is slower, one has lost a part, a class is new.
 */
static void fill_remodelled(struct ct_build *b)
{
    struct ct_file_row f = ct_build_row(CT_ROW_KERNEL, 0, 0, ct_build_text(b, "_Z1fv"));
    for (int i = 0; i < 12; i++)
        ct_build_time(&f, 1500);
    ct_build_add(b, CT_SECTION_ROWS, &f);
    uint32_t model = put_module(b, 0, "Model", 0);
    uint32_t layers[] = {put_module(b, model, "Layer", 0), put_module(b, model, "Layer", 1)};
    uint32_t linear = put_module(b, layers[1], "Linear", 0), head = put_module(b, model, "Head", 0);
    uint32_t top = put_frame(b, 0, put_line(b, "train.py", "<module>", 30));
    uint32_t forward = put_line(b, "model.py", "forward", 7);
    uint32_t outer = put_frame_in(b, top, put_line(b, "model.py", "Model.forward", 12), model);
    put_stack(b, 0, put_frame_in(b, outer, forward, layers[0]), 5, 5, 10000);
    uint32_t second = put_frame_in(b, outer, forward, layers[1]);
    put_stack(b, 0, second, 1, 1, 1000);
    put_stack(b, 0, put_frame_in(b, second, forward, linear), 4, 4, 3000);
    put_stack(b, 0, put_frame_in(b, outer, forward, head), 2, 2, 4000);
}

static void put_sensor(struct ct_build *b, struct ct_file_sensor s, double mean)
{
    s.processes = 1;
    s.calls = s.samples = 20;
    s.time_ns = 10000000000;
    s.call_ns = 20 * 12000;
    s.longest_call_ns = 40000;
    s.sum = mean * (double)s.time_ns;
    ct_build_add(b, CT_SECTION_SENSORS, &s);
}

/* A device that is under its power cap for a third of the time, and one that is not read. */
static void fill_sensors(struct ct_build *b)
{
    struct ct_file_sensor none = {.device = ct_build_device(b, 1, "NVIDIA H200"),
                                  .state = CT_SENSORS_NO_LIBRARY,
                                  .processes = 1};
    KERNEL(b, 0, "_Z1fv", 1000);
    put_sensor(b,
               (struct ct_file_sensor){
                   .kind = CT_SENSOR_SM_CLOCK, .least = 1395, .most = 1980, .limit = 1980},
               1786.2);
    put_sensor(
        b,
        (struct ct_file_sensor){.kind = CT_SENSOR_POWER, .least = 95.5, .most = 701, .limit = 700},
        652);
    put_sensor(b, (struct ct_file_sensor){.kind = CT_SENSOR_ENERGY, .least = 650, .most = 650},
               650);
    put_sensor(b,
               (struct ct_file_sensor){
                   .kind = CT_SENSOR_MEMORY, .least = 1e9, .most = 2e10, .limit = 8e10},
               1.5e10);
    put_sensor(b,
               (struct ct_file_sensor){
                   .kind = CT_SENSOR_DRAM_ACTIVITY, .least = 2, .most = 93, .limit = 100},
               87);
    put_sensor(b,
               (struct ct_file_sensor){
                   .kind = CT_SENSOR_POWER_CAP, .most = 1, .clock_sum = 1410 * 0.34e10},
               0.34);
    put_sensor(b, (struct ct_file_sensor){.kind = CT_SENSOR_HOT}, 0);
    ct_build_add(b, CT_SECTION_SENSORS, &none);
}

/* clang-format off */
#define PROFILES(X)                                                                                \
    X(basic) X(names) X(none) X(gpuonly) X(apionly) X(multi) X(full) X(uncertain) X(sampled) X(many)  \
    X(hostile) X(merged) X(moved) X(families) X(allocated) X(nccl) X(nvtx) X(nvtx_empty) X(um) \
    X(models) X(steps) X(stacks) X(inside) X(edited) X(packaged) X(modules) X(remodelled) X(sensors)
/* clang-format on */

const char *const ct_profile_names[] = {
#define X(name) #name,
    PROFILES(X)
#undef X
        NULL};

bool ct_profile_fill(struct ct_build *b, const char *name)
{
    static void (*const fill[])(struct ct_build *) = {
#define X(name) fill_##name,
        PROFILES(X)
#undef X
    };
    uint32_t pid = strcmp(name, "multi") ? 4711 : 4712; /* reported beside another one */
    ct_build_process(b, pid, strcmp(name, "hostile") ? "./app arg" : HOSTILE);
    ct_build_device(b, 0, strcmp(name, "um") ? "Tesla V100-SXM2-16GB" : "NVIDIA H200");
    for (size_t i = 0; i < COUNT(fill); i++) {
        if (!strcmp(ct_profile_names[i], name)) {
            fill[i](b);
            return true;
        }
    }
    return false;
}
