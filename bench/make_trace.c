/* SPDX-License-Identifier: MIT */
/*
 * make_trace [-o] OPERATIONS FILE [BYTES]: writes a trace as a training program leaves it, for
 * measuring the encoder and cutrace-report: two streams of work and one of copies, 160 kernels in a
 * step with durations that scatter, a copy now and then, a runtime call for each operation and
 * others between; -o: operations alone, as without calls in the trace. BYTES bounds the file. Says
 * what an operation takes, on disk and to encode.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "format/trace_write.h"
#include "system/mem.h"

#define KERNELS 160
#define STEP 1000 /* operations */
#define STREAMS 3
#define APIS 6

enum { LAUNCH, COPY, GET_LAST_ERROR, GET_DEVICE, RECORD, SYNCHRONIZE };

struct maker {
    struct ct_trace_writer *w;
    int fd;
    uint64_t random;
    uint64_t written_bytes;
    bool no_calls;
    uint32_t row_in[KERNELS + 2]; /* segment that it is defined in */
    uint32_t stream_in[STREAMS];
    uint32_t api_in[APIS];
    uint32_t thread_in;
    uint64_t correlation;
    uint64_t host_ns;
    uint64_t free_ns[STREAMS]; /* when what was given to a stream is done */
    struct ct_trace_shape shape[KERNELS];
    uint64_t usual_ns[KERNELS];
};

static uint64_t draw(struct maker *m, uint64_t limit)
{
    m->random ^= m->random << 13;
    m->random ^= m->random >> 7;
    m->random ^= m->random << 17;
    return (m->random >> 20) % limit;
}

/* More often short than long, as times are. */
static uint64_t scatter(struct maker *m, uint64_t ns)
{
    return ns - ns / 16 + draw(m, ns / 32 + 1) + draw(m, 16) * draw(m, ns / 256 + 1);
}

static void save(struct maker *m)
{
    const struct ct_trace_out *out = ct_trace_take(m->w);
    for (unsigned i = 0; out && i < out->count; i++) {
        size_t bytes = out->piece[i].bytes;
        if (pwrite(m->fd, out->piece[i].data, bytes, (off_t)out->piece[i].offset) !=
            (ssize_t)bytes) {
            perror("make_trace");
            exit(1);
        }
        m->written_bytes += bytes;
    }
}

static void begin(struct maker *m)
{
    while (!ct_trace_begin(m->w))
        save(m);
}

/* Whether a thing has to be defined in this segment; it is from now on. */
static bool is_new(const struct maker *m, uint32_t *segment)
{
    bool is = *segment != m->w->segment;
    *segment = m->w->segment;
    return is;
}

static void define_row(struct maker *m, uint32_t row)
{
    static char name[128];
    struct ct_trace_row r = {.id = row, .name = name, .registers = 32 + row % 64};
    if (!is_new(m, &m->row_in[row]))
        return;
    ct_trace_define_device(m->w, &(struct ct_trace_device){.name = "Bench GPU"});
    snprintf(name, sizeof(name), "_ZN2at6native13kernel_no_%03uILi%uENS_7FunctorIffEEEEvT1_PKfPfl",
             row, row);
    r.kind = CT_ROW_KERNEL;
    if (row >= KERNELS) {
        r.kind = CT_ROW_COPY;
        r.detail = row == KERNELS ? CT_HTOD : CT_DTOH;
        r.registers = r.static_shared_bytes = UINT32_MAX;
        name[0] = '\0';
    }
    ct_trace_define_row(m->w, &r);
}

static void define_stream(struct maker *m, unsigned stream)
{
    if (is_new(m, &m->stream_in[stream]))
        ct_trace_define_stream(m->w, &(struct ct_trace_stream){.id = stream + 1, .flags = 1});
}

/* An operation begins when it was submitted and its stream is free. */
static void put_op(struct maker *m, unsigned stream, uint32_t row, uint64_t bytes)
{
    uint64_t *free_ns = &m->free_ns[stream];
    uint64_t ready_ns = m->host_ns + 1500 + draw(m, 200);
    uint64_t start_ns = *free_ns + 700 > ready_ns ? *free_ns + 700 + draw(m, 60) : ready_ns;
    bool is_kernel = row < KERNELS;
    begin(m);
    define_row(m, row);
    define_stream(m, stream);
    *free_ns = start_ns + scatter(m, is_kernel ? m->usual_ns[row] : 1300 + bytes / 24);
    ct_trace_put_op(m->w, &(struct ct_trace_op){
                              .start_ns = start_ns,
                              .end_ns = *free_ns,
                              .bytes = bytes,
                              .operations = 1,
                              .correlation = m->correlation,
                              .stream = stream + 1,
                              .shape = is_kernel ? ct_trace_define_shape(m->w, &m->shape[row]) : 0,
                              .row = row,
                              .source = is_kernel ? 0 : CT_MEMORY_PINNED,
                              .target = is_kernel ? 0 : CT_MEMORY_DEVICE,
                          });
}

static void put_call(struct maker *m, uint32_t api, uint64_t ns)
{
    static const char *const names[APIS] = {"cudaLaunchKernel", "cudaMemcpyAsync",
                                            "cudaGetLastError", "cudaGetDevice",
                                            "cudaEventRecord",  "cudaStreamSynchronize"};
    uint64_t start_ns = m->host_ns + 40 + draw(m, 1500);
    m->host_ns = start_ns + ns;
    m->correlation++;
    if (m->no_calls)
        return;
    begin(m);
    if (is_new(m, &m->thread_in))
        ct_trace_define_thread(m->w, &(struct ct_trace_thread){1, 4711, "train"});
    if (is_new(m, &m->api_in[api]))
        ct_trace_define_api(m->w, &(struct ct_trace_api){api, CT_API_RUNTIME, names[api]});
    ct_trace_put_call(m->w, &(struct ct_trace_call){.start_ns = start_ns,
                                                    .end_ns = m->host_ns,
                                                    .correlation = m->correlation,
                                                    .api = api,
                                                    .thread = 1});
}

static void put_one(struct maker *m, uint64_t i)
{
    uint64_t at = i % STEP;
    if (at % 50 == 49) {
        put_call(m, COPY, 1500 + draw(m, 400));
        put_op(m, 2, KERNELS + (at / 50 & 1), (1 + at % 7) << 16);
    } else {
        put_call(m, LAUNCH, 1700 + draw(m, 500));
        put_op(m, at % 10 == 9, (uint32_t)(at % KERNELS), 0);
    }
    if (at % 4 == 0)
        put_call(m, GET_LAST_ERROR, 30 + draw(m, 10));
    if (at % 8 == 3)
        put_call(m, GET_DEVICE, 40 + draw(m, 20));
    if (at % 100 == 60)
        put_call(m, RECORD, 900 + draw(m, 200));
    if (at == STEP - 1)
        put_call(m, SYNCHRONIZE, m->free_ns[0] > m->host_ns ? m->free_ns[0] - m->host_ns : 500);
}

static void start(struct maker *m, uint64_t most_bytes)
{
    struct ct_trace_process p = {.pid = 4711,
                                 .parent_pid = 4710,
                                 .start_unix_ns = 1767225600000000000u,
                                 .zero_unix_ns = 1767225600000000000u - 2000000,
                                 .command = "./train --steps 1000",
                                 .host = "bench"};
    ct_trace_start(m->w, &p, most_bytes);
    for (unsigned i = 0; i < KERNELS; i++) {
        m->shape[i] = (struct ct_trace_shape){.grid = {1 + (uint32_t)draw(m, 4096), 1, 1},
                                              .block = {128u << draw(m, 3), 1, 1},
                                              .dynamic_shared_bytes = draw(m, 4) << 12};
        m->usual_ns[i] = 1200 + draw(m, 50) * draw(m, 60) * draw(m, 4);
    }
    struct ct_trace_header h = ct_trace_header(m->w);
    if (pwrite(m->fd, &h, sizeof(h), 0) != sizeof(h)) {
        perror("make_trace");
        exit(1);
    }
}

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int main(int argc, char **argv)
{
    struct maker m = {.random = 88172645463325252u};
    m.no_calls = argc > 1 && !strcmp(argv[1], "-o");
    argc -= m.no_calls;
    argv += m.no_calls;
    uint64_t operations = argc >= 3 ? strtoull(argv[1], NULL, 10) : 0;
    if (!operations || argc > 4) {
        fputs("usage: make_trace [-o] OPERATIONS FILE [BYTES]\n", stderr);
        return 2;
    }
    m.w = ct_map(sizeof(*m.w));
    m.fd = open(argv[2], O_RDWR | O_CREAT | O_TRUNC, 0666);
    if (!m.w || m.fd < 0) {
        perror(argv[2]);
        return 1;
    }
    start(&m, argc > 3 ? strtoull(argv[3], NULL, 10) : 0);
    double before = seconds();
    for (uint64_t i = 0; i < operations; i++)
        put_one(&m, i);
    m.w->losses.finished = 1;
    while (!ct_trace_seal(m.w))
        save(&m);
    save(&m);
    double taken = seconds() - before;
    printf("%.2f bytes an operation with its calls, %.2f million operations a second\n",
           (double)m.written_bytes / (double)operations, (double)operations / taken / 1e6);
    return 0;
}
