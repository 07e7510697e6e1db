/* SPDX-License-Identifier: MIT */
/*
 * make_page_trace FILE [STEPS [RANK]]: a trace beside `make_page_profile torch`: steps of a
 * training run on a compute, a communication and a copy stream, with the names of that profile and
 * one hostile.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "format/trace_write.h"
#include "system/mem.h"
#include "trace_pieces.h"

enum { COMPUTE = 1, REDUCE, COPY };
enum { LAUNCH = 1, MEMCPY, WAIT };
enum { GEMM = 1, GEMM_BACK, FLASH, ADD, NORM, ALL_REDUCE, HTOD, DTOH, HOSTILE };

static const struct {
    uint32_t row;
    uint32_t kind;
    uint32_t detail;
    uint32_t ns;
    const char *name;
} rows[] = {
    {GEMM, CT_ROW_KERNEL, 0, 118000,
     "sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64_warpgroupsize1x1x1_execute_"
     "segment_k_off_kernel__5x_cublas"},
    {GEMM_BACK, CT_ROW_KERNEL, 0, 141000,
     "sm90_xmma_gemm_bf16bf16_bf16f32_f32_nt_n_tilesize128x256x64_warpgroupsize2x1x1_execute_"
     "segment_k_off_kernel__5x_cublas"},
    {FLASH, CT_ROW_KERNEL, 0, 96000,
     "_ZN18pytorch_flash_attn16flash_fwd_kernelI23Flash_fwd_kernel_traitsEEvP16Flash_fwd_params"},
    {ADD, CT_ROW_KERNEL, 0, 5200,
     "_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_15CUDAFunctor_addIfEESt5arrayIPcLm3EE"
     "EEviT0_T1_"},
    {NORM, CT_ROW_KERNEL, 0, 12600, "triton_red_fused_native_layer_norm_7"},
    {ALL_REDUCE, CT_ROW_KERNEL, 0, 690000, "ncclDevKernel_AllReduce_Sum_bf16_RING_LL"},
    {HTOD, CT_ROW_COPY, CT_HTOD, 41000, ""},
    {DTOH, CT_ROW_COPY, CT_DTOH, 9800, ""},
    {HOSTILE, CT_ROW_KERNEL, 0, 30000, "<img src=x onerror=\"window.hacked=11\">"},
};

struct maker {
    struct ct_trace_writer *w;
    int fd;
    uint64_t random;
    uint64_t host_ns;
    uint64_t free_ns[COPY + 1];
    uint64_t correlation;
    uint64_t shape;
};

static uint64_t around(struct maker *m, uint64_t ns)
{
    m->random = m->random * 6364136223846793005u + 1442695040888963407u;
    return ns - ns / 10 + (m->random >> 33) % (ns / 5 + 1);
}

static void save(struct maker *m)
{
    if (!trace_pieces_write(m->fd, ct_trace_take(m->w)))
        abort();
}

static void begin(struct maker *m)
{
    while (!ct_trace_begin(m->w))
        save(m);
}

static void call(struct maker *m, uint32_t api, uint64_t ns)
{
    begin(m);
    uint64_t start_ns = m->host_ns + around(m, 400);
    m->host_ns = start_ns + ns;
    ct_trace_put_call(m->w, &(struct ct_trace_call){.start_ns = start_ns,
                                                    .end_ns = m->host_ns,
                                                    .correlation = ++m->correlation,
                                                    .api = api,
                                                    .thread = 1});
}

static void run(struct maker *m, uint64_t stream, uint32_t row, uint64_t bytes)
{
    uint64_t *free_ns = &m->free_ns[stream];
    call(m, bytes ? MEMCPY : LAUNCH, around(m, 3400));
    begin(m);
    uint64_t ready_ns = m->host_ns + 1500;
    uint64_t start_ns = *free_ns + 900 > ready_ns ? *free_ns + 900 : ready_ns;
    *free_ns = start_ns + around(m, rows[row - 1].ns);
    ct_trace_put_op(m->w, &(struct ct_trace_op){.start_ns = start_ns,
                                                .end_ns = *free_ns,
                                                .bytes = bytes,
                                                .operations = 1,
                                                .correlation = m->correlation,
                                                .stream = stream,
                                                .shape = bytes ? 0 : m->shape,
                                                .row = row});
}

static void step(struct maker *m, unsigned number)
{
    run(m, COPY, HTOD, 2097152);
    for (int layer = 0; layer < 12; layer++) {
        run(m, COMPUTE, NORM, 0);
        for (int i = 0; i < 4; i++) {
            run(m, COMPUTE, GEMM, 0);
            run(m, COMPUTE, ADD, 0);
        }
        run(m, COMPUTE, FLASH, 0);
    }
    for (int layer = 0; layer < 12; layer++) {
        for (int i = 0; i < 4; i++) {
            run(m, COMPUTE, GEMM_BACK, 0);
            run(m, COMPUTE, ADD, 0);
        }
        if (layer % 4 == 3) {
            m->free_ns[REDUCE] = m->free_ns[COMPUTE];
            run(m, REDUCE, ALL_REDUCE, 0);
        }
    }
    run(m, COMPUTE, number % 8 ? ADD : HOSTILE, 0);
    run(m, COPY, DTOH, 262144);
    call(m, WAIT, m->free_ns[REDUCE] > m->host_ns ? m->free_ns[REDUCE] - m->host_ns : 900);
}

static void define(struct maker *m)
{
    static const char *const apis[] = {"", "cudaLaunchKernel", "cudaMemcpyAsync",
                                       "cudaStreamSynchronize"};
    begin(m);
    ct_trace_define_device(m->w, &(struct ct_trace_device){.name = "NVIDIA H200"});
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        ct_trace_define_row(m->w, &(struct ct_trace_row){.id = rows[i].row,
                                                         .kind = rows[i].kind,
                                                         .detail = rows[i].detail,
                                                         .name = rows[i].name});
    for (uint32_t i = COMPUTE; i <= COPY; i++)
        ct_trace_define_stream(m->w, &(struct ct_trace_stream){.id = i, .special = i == COMPUTE});
    for (uint32_t i = LAUNCH; i <= WAIT; i++)
        ct_trace_define_api(m->w, &(struct ct_trace_api){i, CT_API_RUNTIME, apis[i]});
    m->shape = ct_trace_define_shape(m->w, &(struct ct_trace_shape){.grid = {264, 8, 1},
                                                                    .block = {256, 1, 1},
                                                                    .dynamic_shared_bytes = 49152});
    ct_trace_define_thread(m->w, &(struct ct_trace_thread){1, 4711, "python3"});
}

int main(int argc, char **argv)
{
    uint32_t rank = argc > 3 ? 1 + (uint32_t)strtoul(argv[3], NULL, 10) : 0;
    const struct ct_trace_process process = {.pid = 4711 + rank,
                                             .start_unix_ns = 1767225600000000000,
                                             .zero_unix_ns = 1767225600000000000,
                                             .command = "python3 train.py",
                                             .host = "gpu-node-07"};
    struct maker m = {.w = ct_map(sizeof(*m.w)), .random = 42, .host_ns = 3000000};
    m.fd = argc >= 2 ? open(argv[1], O_RDWR | O_CREAT | O_TRUNC, 0666) : -1;
    if (!m.w || m.fd < 0)
        return fputs("usage: make_page_trace FILE [STEPS [RANK]]\n", stderr), 2;
    ct_trace_start(m.w, &process, 0);
    struct ct_trace_header h = ct_trace_header(m.w);
    if (pwrite(m.fd, &h, sizeof(h), 0) != sizeof(h))
        abort();
    define(&m);
    for (unsigned i = 0; i < (argc > 2 ? strtoul(argv[2], NULL, 10) : 48); i++)
        step(&m, i);
    m.w->losses.finished = 1;
    while (!ct_trace_seal(m.w))
        save(&m);
    save(&m);
    return 0;
}
