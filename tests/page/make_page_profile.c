/* SPDX-License-Identifier: MIT */
/*
 * make_page_profile KIND FILE: a profile for the page to show.
 *
 *     torch     a training run as PyTorch makes them: many kernels with long names, of which few
 *               matter
 *     changed   the same run, where one kernel takes longer, one less, one is new and one is gone
 *     rankN     the same run as rank N of 4, of which the third is slower
 *     hostile   names that would be HTML, script, JSON or another encoding, if they were let
 *     python... programs in Python, see python_profile.h
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hist.h"
#include "python_profile.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

struct generator {
    struct ct_build b;
    uint64_t random;
    bool changed;
    unsigned rank; /* one more than its number; 0: none */
};

/* In [0, 1). */
static double next_random(struct generator *g)
{
    g->random = g->random * 6364136223846793005u + 1442695040888963407u;
    return (double)(g->random >> 11) / 9007199254740992.0;
}

/* Around a median with a tail to the right; `tail` is the share of twice as long ones. */
static uint64_t next_ns(struct generator *g, double median_ns, double spread, double tail)
{
    double sum = 0;
    for (int i = 0; i < 12; i++)
        sum += next_random(g);
    double x = median_ns * exp(spread * (sum - 6));
    return (uint64_t)(next_random(g) < tail ? 2.1 * x : x) + 1;
}

static int by_value(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* The buckets of sorted durations; *count is how many those are, the result the first. */
static uint32_t add_buckets(struct ct_build *b, const uint64_t *ns, size_t n, uint32_t *count)
{
    uint32_t first = 0;
    *count = 0;
    for (size_t i = 0, end; i < n; i = end) {
        struct ct_file_bucket bucket = {ct_hist_bucket(ns[i]), 0};
        for (end = i; end < n && ct_hist_bucket(ns[end]) == bucket.bucket; end++)
            bucket.count++;
        uint32_t at = ct_build_add(b, CT_SECTION_BUCKETS, &bucket);
        first = *count ? first : at;
        (*count)++;
    }
    return first;
}

/* How a kind of operation behaves. */
struct habit {
    unsigned calls;
    double median_ns;
    double spread;
    double tail;
    uint64_t bytes; /* of each */
};

static uint32_t add_row(struct generator *g, struct ct_file_row row, const struct habit *h)
{
    uint64_t *ns = calloc(h->calls, sizeof(*ns));
    if (!ns)
        abort();
    for (unsigned i = 0; i < h->calls; i++) {
        ns[i] = next_ns(g, h->median_ns, h->spread, h->tail);
        ct_build_time(&row, ns[i]);
    }
    qsort(ns, h->calls, sizeof(*ns), by_value);
    row.bucket_first = add_buckets(&g->b, ns, h->calls, &row.bucket_count);
    row.bytes = row.timed_bytes = h->bytes * h->calls;
    row.doubt_ns = 180u * (uint64_t)h->calls;
    free(ns);
    return ct_build_add(&g->b, CT_SECTION_ROWS, &row);
}

static struct ct_file_row kernel_row(struct generator *g, const char *name, uint32_t blocks)
{
    struct ct_file_row row = ct_build_row(CT_ROW_KERNEL, 0, 0, ct_build_text(&g->b, name));
    struct ct_file_shape shapes[] = {{{blocks, 1, 1}, {128, 1, 1}, 0, 700},
                                     {{blocks / 2 + 1, 8, 1}, {256, 1, 1}, 49152, 300}};
    row.shape_first = ct_build_add(&g->b, CT_SECTION_SHAPES, &shapes[0]);
    ct_build_add(&g->b, CT_SECTION_SHAPES, &shapes[1]);
    row.shape_count = 2;
    row.registers = 32 + blocks % 96;
    row.static_shared_bytes = 1024;
    return row;
}

static void add_api(struct generator *g, const char *name, unsigned calls, double median_ns)
{
    uint64_t *ns = calloc(calls, sizeof(*ns));
    struct ct_file_api a = {.name = ct_build_text(&g->b, name), .min_ns = UINT64_MAX};
    if (!ns)
        abort();
    a.flags = strncmp(name, "cuda", 4) ? 0 : CT_API_RUNTIME;
    a.calls = a.sampled = calls;
    for (unsigned i = 0; i < calls; i++) {
        ns[i] = next_ns(g, median_ns, 0.4, 0.02);
        a.total_ns += ns[i];
        a.square_ns2 += (double)ns[i] * (double)ns[i];
    }
    qsort(ns, calls, sizeof(*ns), by_value);
    a.min_ns = ns[0];
    a.max_ns = ns[calls - 1];
    a.bucket_first = add_buckets(&g->b, ns, calls, &a.bucket_count);
    ct_build_add(&g->b, CT_SECTION_APIS, &a);
    free(ns);
}

static void add_base(struct generator *g, const char *command, const char *device)
{
    struct ct_file_process p = {.pid = 4711 + g->rank,
                                .rank = g->rank,
                                .ranks = g->rank ? 4 : 0,
                                .parent_pid = 4700,
                                .start_unix_ns = 1767225600000000000,
                                .duration_ns = 2410000000,
                                .command = ct_build_text(&g->b, command),
                                .host = ct_build_text(&g->b, "gpu-node-07"),
                                .flags = CT_PROCESS_FINISHED,
                                .driver_version = 13000,
                                .written = 25};
    struct ct_file_device d = {.name = ct_build_text(&g->b, device),
                               .memory_bytes = 150754820096,
                               .sm_count = 132,
                               .clock_khz = 1980000,
                               .compute_major = 9,
                               .memory_mbs = 4916736,
                               .link_mbs = 63015,
                               .calibration = CT_CALIBRATION_TABLE,
                               .bias_busy_ns = 2910,
                               .gap_busy_ns = 1280,
                               .uncertainty_ns = 180,
                               .idle_uncertainty_ns = 240};
    ct_build_add(&g->b, CT_SECTION_PROCESS, &p);
    ct_build_add(&g->b, CT_SECTION_DEVICES, &d);
}

/* A part of a row's copies: so many of 2^octave bytes, at so many GB/s. */
static void add_transfer(struct generator *g, uint32_t row, enum ct_memory from, enum ct_memory to,
                         uint32_t octave, uint64_t timed, double rate)
{
    struct ct_file_transfer t = {
        .row = row, .octave = octave, .from = from, .to = to, .timed = timed};
    t.bytes = timed << octave;
    t.total_ns = (uint64_t)((double)t.bytes / rate);
    ct_build_add(&g->b, CT_SECTION_TRANSFERS, &t);
}

static void add_copies(struct generator *g)
{
    static const struct habit to_device = {640, 41000, 0.25, 0.05, 2097152},
                              from_device = {210, 9800, 0.5, 0.1, 262144},
                              inside = {1180, 2600, 0.3, 0.01, 4194304},
                              set = {900, 1450, 0.1, 0, 65536};
    uint32_t row = add_row(g, ct_build_row(CT_ROW_COPY, CT_HTOD, 0, 0), &to_device);
    add_transfer(g, row, CT_MEMORY_PAGEABLE, CT_MEMORY_DEVICE, 12, 200, 1.9);
    add_transfer(g, row, CT_MEMORY_PAGEABLE, CT_MEMORY_DEVICE, 21, 60, 11.4);
    add_transfer(g, row, CT_MEMORY_PINNED, CT_MEMORY_DEVICE, 21, 340, 50.2);
    add_transfer(g, row, CT_MEMORY_PINNED, CT_MEMORY_DEVICE, 24, 40, 53.9);
    row = add_row(g, ct_build_row(CT_ROW_COPY, CT_DTOH, 0, 0), &from_device);
    add_transfer(g, row, CT_MEMORY_DEVICE, CT_MEMORY_PINNED, 18, 210, 26.1);
    row = add_row(g, ct_build_row(CT_ROW_COPY, CT_DTOD, 0, 0), &inside);
    add_transfer(g, row, CT_MEMORY_DEVICE, CT_MEMORY_DEVICE, 22, 1180, 1502);
    add_row(g, ct_build_row(CT_ROW_SET, 0, 0, 0), &set);
}

/* When the device was busy, and why it was not. */
static void add_activity(struct generator *g)
{
    struct ct_file_activity a = {.operations = 56038,
                                 .first_ns = 12000000,
                                 .last_ns = 2390000000,
                                 .busy_ns = 1655000000,
                                 .compute_ns = 1640000000,
                                 .copy_ns = 34000000,
                                 .both_ns = 19000000,
                                 .beside_ns = 88000000,
                                 .gaps = 9120,
                                 .longest_gap_ns = 41000000};
    a.idle_ns[CT_IDLE_HOST] = 512000000;
    a.idle_ns[CT_IDLE_SYNC] = 121000000;
    a.idle_ns[CT_IDLE_QUEUED] = 62000000;
    a.idle_ns[CT_IDLE_MEASURING] = 28000000;
    ct_build_add(&g->b, CT_SECTION_ACTIVITIES, &a);
    struct ct_file_gap gap = {.octave = 15, .count = 9100};
    gap.idle_ns[CT_IDLE_HOST] = 470000000;
    ct_build_add(&g->b, CT_SECTION_GAPS, &gap);
    gap = (struct ct_file_gap){.octave = 25, .count = 20};
    gap.idle_ns[CT_IDLE_HOST] = 42000000;
    ct_build_add(&g->b, CT_SECTION_GAPS, &gap);
}

#define ELEMENTWISE(functor)                                                                       \
    "_ZN2at6native29vectorized_elementwise_kernelILi4E" functor "St5arrayIPcLm3EEEEviT0_T1_"

static void add_kernels(struct generator *g)
{
    static const struct {
        const char *name;
        struct habit habit;
    } kernels[] = {
        {"sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64_warpgroupsize1x1x1_execute_"
         "segment_k_off_kernel__5x_cublas",
         {4800, 118000, 0.08, 0, 0}},
        {"sm90_xmma_gemm_bf16bf16_bf16f32_f32_nt_n_tilesize128x256x64_warpgroupsize2x1x1_execute_"
         "segment_k_off_kernel__5x_cublas",
         {2400, 141000, 0.06, 0.01, 0}},
        {"_ZN18pytorch_flash_attn16flash_fwd_kernelI23Flash_fwd_kernel_traitsEEvP16Flash_fwd_"
         "params",
         {1200, 96000, 0.12, 0, 0}},
        {"_ZN18pytorch_flash_attn16flash_bwd_kernelI23Flash_bwd_kernel_traitsEEvP16Flash_bwd_"
         "params",
         {600, 214000, 0.1, 0.02, 0}},
        {ELEMENTWISE("NS0_15CUDAFunctor_addIfEE"), {9600, 5200, 0.35, 0.08, 0}},
        {ELEMENTWISE("NS0_15CUDAFunctor_addIN3c108BFloat16EEE"), {4800, 4100, 0.3, 0.05, 0}},
        {ELEMENTWISE("NS0_13BinaryFunctorIfffNS0_15binary_internal10MulFunctorIfEEEE"),
         {7200, 4700, 0.3, 0.05, 0}},
        {"_ZN2at6native12_GLOBAL__N_125multi_tensor_apply_kernelINS1_"
         "18TensorListMetadataILi4EEEEEvT_",
         {96, 480000, 0.05, 0, 0}},
        {"_ZN2at6native13reduce_kernelILi512ELi1ENS0_8ReduceOpIfNS0_7MeanOpsEEEEEvT1_",
         {2400, 8800, 0.2, 0.1, 0}},
        {"triton_poi_fused_add_gelu_mul_3", {1200, 21000, 0.15, 0, 0}},
        {"triton_red_fused_native_layer_norm_7", {2400, 12600, 0.2, 0, 0}},
        {"ncclDevKernel_AllReduce_Sum_bf16_RING_LL", {192, 690000, 0.4, 0.12, 0}},
        {"_ZN2at6native18dropout_kernel_vecIfffLi1ELi4EEEvPKfPfPhl", {2400, 6100, 0.2, 0, 0}},
        {"softmax_warp_forward", {1200, 9300, 0.1, 0, 0}},
        {"_ZN8cublasLt19splitKreduce_kernelILi32ELi16EifLb1EEEvPKT0_", {3600, 2300, 0.2, 0.04, 0}},
        {"indexSelectLargeIndex", {400, 3900, 0.2, 0, 0}},
    };
    static const double changes[COUNT(kernels)] = {[1] = 1.5, [4] = 0.8};
    for (size_t i = 0; i < COUNT(kernels) - g->changed; i++) {
        struct ct_file_row row = kernel_row(g, kernels[i].name, 264 + 40 * (uint32_t)i);
        struct habit habit = kernels[i].habit;
        habit.median_ns *= g->changed && changes[i] > 0 ? changes[i] : 1;
        if (i == 6) {
            row.marked = 41;
            row.overlapped = 30;
            row.legacy_waits = 11;
        }
        if (i == 11)
            row.lost[CT_LOSS_DEEP_QUEUE] = 9;
        if (g->rank == 3 && i == 2)
            habit.median_ns *= 1.9;
        add_row(g, row, &habit);
    }
    if (g->changed)
        add_row(g, kernel_row(g, "triton_per_fused_new_33", 128),
                &(struct habit){300, 31000, 0.2, 0, 0});
    for (unsigned i = 0; i < 40; i++) {
        char name[96];
        snprintf(name, sizeof(name), "triton_poi_fused_%u_clone_view_%u", 10 + i, i % 7);
        struct habit h = {300 - 6 * i, 1200 + 150 * i, 0.2, 0.02, 0};
        add_row(g, kernel_row(g, name, 64 + i), &h);
    }
}

/* One launch in 4 was timed: what all took is an estimate. */
static void add_sampled(struct generator *g)
{
    struct ct_file_row row = kernel_row(g, "_ZN2at6native11fill_kernelIfEEvPT_l", 99);
    row.lost[CT_LOSS_SAMPLED] = 1500;
    row.estimated = 2000;
    row.estimated_ns = 2000 * 1900.0;
    row.estimated_square_ns2 = 2000 * 1900.0 * 1950;
    row.variance_ns2 = 4e9;
    row.freedom_ns4 = 3e16;
    add_row(g, row, &(struct habit){500, 1850, 0.25, 0.02, 0});
    row = kernel_row(g, "_ZN2at6native10tiny_cmp_eqEPKlPb", 1);
    row.doubt_ns = 900 * 220;
    add_row(g, row, &(struct habit){800, 190, 0.3, 0, 0});
}

static void fill_torch(struct generator *g)
{
    add_base(g, "python3 train.py --model gpt-small --batch 32 --compile --steps 48",
             "NVIDIA H200");
    add_kernels(g);
    add_sampled(g);
    add_copies(g);
    add_activity(g);
    add_api(g, "cudaLaunchKernel", 31000, 3400);
    add_api(g, "cuLaunchKernelEx", 14200, 2900);
    add_api(g, "cudaMemcpyAsync", 2030, 7400);
    add_api(g, "cudaStreamSynchronize", 260, 690000);
    add_api(g, "cudaMemsetAsync", 900, 2100);
    add_api(g, "cudaEventRecord", 5200, 900);
    add_api(g, "cudaStreamIsCapturing", 9000, 160);
    add_api(g, "cudaMalloc", 44, 210000);
    for (uint32_t i = 0; i < 4; i++) {
        struct ct_file_stream s = {.id = 1 + i,
                                   .operations = 40000u >> (2 * i),
                                   .waits = i * 40,
                                   .flags = 1,
                                   .priority = i == 2 ? -1 : 0,
                                   .special = i == 0,
                                   .timed = 39000u >> (2 * i),
                                   .first_ns = 12000000 + 4000000 * i,
                                   .last_ns = 2390000000 - 3000000 * i,
                                   .busy_ns = 1500000000 >> (2 * i),
                                   .beside_ns = 40000000 >> (2 * i),
                                   .gaps = 9000 >> i,
                                   .longest_gap_ns = 41000000};
        ct_build_add(&g->b, CT_SECTION_STREAMS, &s);
    }
    struct ct_file_note note = {CT_NOTE_NOT_WRAPPED, ct_build_text(&g->b, "cuLogsRegisterCallback"),
                                1};
    ct_build_add(&g->b, CT_SECTION_NOTES, &note);
}

/* More than there can be, and nothing at all. */
static void add_impossible(struct generator *g)
{
    const uint64_t most = UINT64_MAX;
    const struct ct_file_collective operations[] = {{.collective = CT_COLLECTIVE_ALL_REDUCE,
                                                     .datatype = 99,
                                                     .ranks = UINT32_MAX,
                                                     .calls = most,
                                                     .bytes = most,
                                                     .timed = 1,
                                                     .timed_bytes = most,
                                                     .total_ns = 1,
                                                     .min_ns = most,
                                                     .max_ns = most,
                                                     .failed = most,
                                                     .shared = most,
                                                     .captured = most},
                                                    {.collective = CT_COLLECTIVE_ALL_GATHER}};
    const struct ct_file_memory memory[] = {{.kind = CT_ALLOCATION_DEVICE,
                                             .allocations = most,
                                             .bytes = most,
                                             .failed = most,
                                             .failed_most_bytes = most,
                                             .frees = most,
                                             .held = most,
                                             .held_bytes = most,
                                             .peak_bytes = most,
                                             .unknown_frees = most},
                                            {.kind = CT_ALLOCATION_POOL}};
    const struct ct_file_block blocks[] = {{0, CT_ALLOCATION_DEVICE, most, most}, {0, 0, 0, 0}};
    const struct ct_file_unified moved[] = {
        {.kind = CT_UNIFIED_HTOD,
         .count = 1,
         .bytes = most,
         .min_bytes = most,
         .max_bytes = most,
         .cause_bytes = {most, most, most, most, most, most, most, most},
         .timed = 1,
         .total_ns = 1,
         .min_ns = most,
         .max_ns = most},
        {.kind = CT_UNIFIED_DTOH}};
    for (int i = 0; i < 2; i++) {
        ct_build_add(&g->b, CT_SECTION_COLLECTIVES, &operations[i]);
        ct_build_add(&g->b, CT_SECTION_MEMORY, &memory[i]);
        ct_build_add(&g->b, CT_SECTION_BLOCKS, &blocks[i]);
        ct_build_add(&g->b, CT_SECTION_UNIFIED, &moved[i]);
    }
}

static void fill_hostile(struct generator *g)
{
    static const char *const hostile[] = {
        "</script><script>window.hacked=1</script>",
        "<img src=x onerror=\"window.hacked=2\">",
        "<!--<script>",
        "</title><body onload=window.hacked=3>",
        "\"};window.hacked=4;//",
        "__proto__",
        "constructor",
        "javascript:window.hacked=5",
        "line one\nline two\r\ttab",
        "bad \xff\xfe utf-8 \xc3",
        "turned \xe2\x80\xae round \xe2\x80\xa8 separated",
        "'; DROP TABLE kernels; --",
        "${window.hacked=6}{{window.hacked=7}}",
        "\\u003cimg src=x onerror=window.hacked=8\\u003e",
    };
    add_base(g, "./a.out '</script><script>window.hacked=9</script>'", "<b>GPU</b> & \"co\"");
    for (size_t i = 0; i < COUNT(hostile); i++) {
        struct habit h = {40 - (unsigned)i, 5000, 0.3, 0, 0};
        add_row(g, kernel_row(g, hostile[i], 8), &h);
        add_api(g, hostile[i], 5, 900);
    }
    char *endless = calloc(1, 20001);
    if (!endless)
        abort();
    memset(endless, 'x', 20000);
    add_row(g, kernel_row(g, endless, 8), &(struct habit){3, 900, 0.1, 0, 0});
    free(endless);
    ct_fill_hostile_stack(&g->b, 0, hostile, COUNT(hostile));
    add_impossible(g);
    struct ct_file_note note = {CT_NOTE_WARNING,
                                ct_build_text(&g->b, "<svg onload=window.hacked=10>"), 1};
    ct_build_add(&g->b, CT_SECTION_NOTES, &note);
}

int main(int argc, char **argv)
{
    struct generator g = {.random = 42};
    const char *kind = argc == 3 ? argv[1] : "";
    ct_build_start(&g.b);
    g.changed = !strcmp(kind, "changed");
    if (!strncmp(kind, "rank", 4))
        g.rank = 1 + (unsigned)strtoul(kind + 4, NULL, 10);
    if (!strcmp(kind, "torch") || g.changed || g.rank)
        fill_torch(&g);
    else if (!strcmp(kind, "hostile"))
        fill_hostile(&g);
    else if (!ct_fill_python(&g.b, kind))
        return fputs("usage: make_page_profile torch|changed|rankN|hostile|python... FILE\n",
                     stderr),
               2;
    bool saved = ct_build_save(&g.b, argv[2]);
    ct_build_free(&g.b);
    return saved ? 0 : 1;
}
