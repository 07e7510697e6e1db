/* SPDX-License-Identifier: MIT */
#include "traces.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "format/trace_write.h"
#include "trace_pieces.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))
#define T0 1000000000ull
#define STREAM 7
#define TID 4712

static const struct ct_trace_process process = {
    .pid = 4711,
    .start_unix_ns = 1700000000000000000,
    .zero_unix_ns = 1700000000000000000,
    .command = "./app arg",
    .host = "node1",
};

static void define_all(struct ct_trace_writer *w, const char *device)
{
    ct_trace_begin(w);
    ct_trace_define_device(w, &(struct ct_trace_device){.name = device});
    ct_trace_define_stream(
        w, &(struct ct_trace_stream){.id = STREAM, .context = 1, .flags = 0, .special = 1});
    ct_trace_define_thread(w, &(struct ct_trace_thread){.tid = TID, .name = "app"});
}

static void define_row(struct ct_trace_writer *w, uint32_t id, uint32_t kind, uint32_t detail)
{
    ct_trace_begin(w);
    ct_trace_define_row(w, &(struct ct_trace_row){.id = id,
                                                  .kind = kind,
                                                  .detail = detail,
                                                  .registers = UINT32_MAX,
                                                  .static_shared_bytes = UINT32_MAX,
                                                  .name = ""});
}

static void define_kernel(struct ct_trace_writer *w, uint32_t id, const char *name,
                          uint32_t registers, uint32_t static_bytes)
{
    ct_trace_begin(w);
    ct_trace_define_row(w, &(struct ct_trace_row){.id = id,
                                                  .kind = CT_ROW_KERNEL,
                                                  .registers = registers,
                                                  .static_shared_bytes = static_bytes,
                                                  .name = name});
}

/* Times as data/README.md has them. */
static struct ct_trace_op op_at(uint32_t row, uint64_t correlation, int64_t start, uint64_t ns)
{
    return (struct ct_trace_op){.start_ns = T0 + (uint64_t)start,
                                .end_ns = T0 + (uint64_t)start + ns,
                                .operations = 1,
                                .correlation = correlation,
                                .stream = STREAM,
                                .row = row};
}

static void put_kernel(struct ct_trace_writer *w, uint32_t row, uint64_t correlation, int64_t start,
                       uint64_t ns, const struct ct_trace_shape *shape)
{
    struct ct_trace_op op = op_at(row, correlation, start, ns);
    ct_trace_begin(w);
    op.shape = ct_trace_define_shape(w, shape);
    ct_trace_put_op(w, &op);
}

static void put_copy(struct ct_trace_writer *w, uint32_t row, uint64_t correlation, int64_t start,
                     uint64_t ns, uint64_t bytes, enum ct_memory source, enum ct_memory target)
{
    struct ct_trace_op op = op_at(row, correlation, start, ns);
    op.bytes = bytes;
    op.source = (uint8_t)source;
    op.target = (uint8_t)target;
    ct_trace_begin(w);
    ct_trace_put_op(w, &op);
}

static void put_call(struct ct_trace_writer *w, uint32_t api, const char *name,
                     uint64_t correlation, int64_t start, uint64_t ns)
{
    ct_trace_begin(w);
    ct_trace_define_api(w, &(struct ct_trace_api){.id = api, .name = name});
    ct_trace_put_call(w, &(struct ct_trace_call){.start_ns = T0 + (uint64_t)start,
                                                 .end_ns = T0 + (uint64_t)start + ns,
                                                 .correlation = correlation,
                                                 .api = api});
}

enum { VEC_ADD, FOO1, HTOD, DTOH, DTOD, SET };

static void put_basic_ops(struct ct_trace_writer *w)
{
    static const struct ct_trace_shape vec = {.grid = {3907, 1, 1}, .block = {256, 1, 1}};
    static const struct ct_trace_shape foo = {
        .grid = {65535, 2, 3}, .block = {32, 16, 2}, .dynamic_shared_bytes = 49152};
    put_copy(w, SET, 109, 50, 1050, 4096, CT_MEMORY_DEVICE, CT_MEMORY_UNKNOWN);
    put_copy(w, HTOD, 105, 100, 1000, 720000, CT_MEMORY_PAGEABLE, CT_MEMORY_DEVICE);
    put_copy(w, DTOD, 108, 3100, 500, 1044480, CT_MEMORY_DEVICE, CT_MEMORY_DEVICE);
    put_copy(w, HTOD, 106, 1200, 40000, 1048576, CT_MEMORY_PINNED, CT_MEMORY_DEVICE);
    put_copy(w, DTOH, 107, 50000, 310117, 4194304, CT_MEMORY_DEVICE, CT_MEMORY_PAGEABLE);
    put_kernel(w, VEC_ADD, 101, 5000, 521270, &vec);
    put_kernel(w, VEC_ADD, 102, 605000, 521271, &vec);
    put_kernel(w, VEC_ADD, 103, 1205000, 521272, &vec);
    put_kernel(w, FOO1, 104, 3000000, 999, &foo);
}

/* Out of order, as records of several streams and threads may be. */
static void put_basic(struct ct_trace_writer *w)
{
    define_all(w, "NVIDIA H200");
    define_kernel(w, VEC_ADD, "_Z6vecAddPKfS0_Pfi", 16, 0);
    define_kernel(w, FOO1, "_Z4foo1IfLi32EEvPT_i", 255, 720);
    define_row(w, HTOD, CT_ROW_COPY, CT_HTOD);
    define_row(w, DTOH, CT_ROW_COPY, CT_DTOH);
    define_row(w, DTOD, CT_ROW_COPY, CT_DTOD);
    define_row(w, SET, CT_ROW_SET, 0);
    put_basic_ops(w);
    put_call(w, 0, "cudaMalloc", 110, -200000, 123456);
    put_call(w, 1, "cudaMemcpy", 111, 200000, 100000);
    put_call(w, 1, "cudaMemcpy", 112, 320000, 100001);
    put_call(w, 2, "cudaLaunchKernel", 113, 310000, 5999);
    put_call(w, 3, "cudaFree", 114, 400000, 351);
    put_call(w, 3, "cudaFree", 115, 500000, 352);
    put_call(w, 4, "cuDeviceGet", 116, -300000, 500);
}

static void put_none(struct ct_trace_writer *w)
{
    define_all(w, "NVIDIA H200");
}

/* Names that would be something else to a terminal, a browser, a database or a spreadsheet. */
static void put_hostile(struct ct_trace_writer *w)
{
    static const char *const names[] = {
        "\"quote\"",
        "'); DROP TABLE StringIds;--",
        "<script>alert(1)</script>",
        "line\nbreak\ttab",
        "\x1b[31mred",
        "bad \xff\xfe utf",
        "=1+1",
        "back\\slash",
    };
    define_all(w, "<b>\"GPU\"\n'--");
    for (uint32_t i = 0; i < COUNT(names); i++) {
        static const struct ct_trace_shape shape = {.grid = {1, 1, 1}, .block = {32, 1, 1}};
        define_kernel(w, i, names[i], UINT32_MAX, UINT32_MAX);
        put_call(w, i, names[i], i + 1, 1000 * i, 500);
        put_kernel(w, i, i + 1, 1000 * i + 700, 200, &shape);
    }
    w->losses.dropped_ops = 3;
    w->losses.untimed[CT_LOSS_NO_EVENT] = 1;
}

/* Calls and what they submitted, on two streams: arrows, waits, and a kernel without its call. */
static void put_pairs(struct ct_trace_writer *w)
{
    static const struct ct_trace_shape shape = {.grid = {8, 1, 1}, .block = {64, 1, 1}};
    define_all(w, "NVIDIA H200");
    define_kernel(w, 0, "_Z6vecAddPKfS0_Pfi", 16, 0);
    define_row(w, 1, CT_ROW_COPY, CT_HTOD);
    put_call(w, 0, "cudaLaunchKernel", 1, 0, 1000);
    put_call(w, 0, "cudaLaunchKernel", 2, 2000, 1000);
    put_call(w, 1, "cudaMemcpyAsync", 3, 4000, 500);
    put_call(w, 2, "cudaDeviceSynchronize", 4, 5000, 9000);
    put_copy(w, 1, 3, 6000, 3000, 65536, CT_MEMORY_PINNED, CT_MEMORY_DEVICE);
    put_kernel(w, 0, 1, 900, 2000, &shape);
    put_kernel(w, 0, 2, 3500, 1500, &shape);
    put_kernel(w, 0, 77, 10000, 1500, &shape);
}

/* What the program called its device, context, streams and thread, one of them meanwhile. */
static void put_named(struct ct_trace_writer *w)
{
    static const struct ct_trace_shape shape = {.grid = {8, 1, 1}, .block = {64, 1, 1}};
    struct ct_trace_stream other = {.id = STREAM + 1, .context = 1, .context_name = "main"};
    struct ct_trace_op op = op_at(0, 2, 500, 700);
    define_all(w, "NVIDIA H200");
    ct_trace_define_device(
        w, &(struct ct_trace_device){
               .name = "NVIDIA H200",
               .given_name = "trainer",
               .memory_bytes = 150121545728,
               .attribute = {[CT_TRACE_MULTIPROCESSOR_COUNT] = 132 + 1,
                             [CT_TRACE_CLOCK_RATE] = 1980000 + 1,
                             [CT_TRACE_MEMORY_CLOCK_RATE] = 3201000 + 1,
                             [CT_TRACE_GLOBAL_MEMORY_BUS_WIDTH] = 6144 + 1,
                             [CT_TRACE_COMPUTE_CAPABILITY_MAJOR] = 9 + 1,
                             [CT_TRACE_COMPUTE_CAPABILITY_MINOR] = 0 + 1,
                             [CT_TRACE_PCI_DOMAIN_ID] = 0 + 1,
                             [CT_TRACE_PCI_BUS_ID] = 0xcb + 1,
                             [CT_TRACE_PCI_DEVICE_ID] = 0 + 1,
                             [CT_TRACE_INTEGRATED] = 0 + 1,
                             [CT_TRACE_WARP_SIZE] = 32 + 1,
                             [CT_TRACE_MAX_GRID_DIM_X] = 2147483647u + 1,
                             [CT_TRACE_MAX_THREADS_PER_MULTIPROCESSOR] = 2048 + 1}});
    ct_trace_define_stream(w, &(struct ct_trace_stream){.id = STREAM,
                                                        .context = 1,
                                                        .special = 1,
                                                        .name = "compute \x1b \"1\"",
                                                        .context_name = "main"});
    ct_trace_define_stream(w, &other);
    define_kernel(w, 0, "_Z6vecAddPKfS0_Pfi", 16, 0);
    put_call(w, 0, "cudaLaunchKernel", 1, 0, 1000);
    put_kernel(w, 0, 1, 900, 2000, &shape);
    other.name = "copies";
    ct_trace_define_stream(w, &other);
    op.stream = other.id;
    ct_trace_put_op(w, &op);
}

/* Kernels on two streams, of which the second has the lower number. */
static void put_streams(struct ct_trace_writer *w)
{
    static const struct ct_trace_shape shape = {.grid = {8, 1, 1}, .block = {64, 1, 1}};
    struct ct_trace_op op = op_at(0, 3, 9000, 400);
    define_all(w, "NVIDIA H200");
    ct_trace_define_stream(w, &(struct ct_trace_stream){.id = STREAM - 1, .context = 1});
    define_kernel(w, 0, "_Z6vecAddPKfS0_Pfi", 16, 0);
    define_kernel(w, 1, "_Z4foo1IfLi32EEvPT_i", 255, 720);
    for (uint32_t i = 0; i < 3; i++)
        put_call(w, 0, "cudaLaunchKernel", i + 1, 2000 * i, 1000);
    put_kernel(w, 0, 1, 900, 2000, &shape);
    put_kernel(w, 1, 2, 3500, 1500, &shape);
    op.stream = STREAM - 1;
    ct_trace_put_op(w, &op);
}

/* Behind as many kernels as a table is measured by, a large grid and a copy. */
static void put_late(struct ct_trace_writer *w)
{
    static const struct ct_trace_shape shape = {.grid = {8, 1, 1}, .block = {64, 1, 1}};
    static const struct ct_trace_shape large = {.grid = {123456789, 1, 1}, .block = {64, 1, 1}};
    define_all(w, "NVIDIA H200");
    define_kernel(w, 0, "_Z6vecAddPKfS0_Pfi", 16, 0);
    define_row(w, 1, CT_ROW_COPY, CT_HTOD);
    for (uint32_t i = 1; i <= 4096; i++)
        put_kernel(w, 0, i, 1000 * i, 900, &shape);
    put_kernel(w, 0, 4097, 4500000, 900, &large);
    put_copy(w, 1, 4098, 5000000, 3000, 65536, CT_MEMORY_PINNED, CT_MEMORY_DEVICE);
}

/* An operation that nothing says what it is, behind one that is right. */
static void put_broken(struct ct_trace_writer *w)
{
    struct ct_trace_op op = op_at(99, 2, 4000, 1000);
    put_none(w);
    define_kernel(w, 0, "_Z6vecAddPKfS0_Pfi", 16, 0);
    put_kernel(w, 0, 1, 900, 2000, &(struct ct_trace_shape){.grid = {1, 1, 1}, .block = {1, 1, 1}});
    ct_trace_begin(w);
    ct_trace_put_op(w, &op);
}

static void put_range(struct ct_trace_writer *w, uint32_t label, uint32_t phase, uint64_t number,
                      int64_t at)
{
    ct_trace_begin(w);
    ct_trace_put_range(
        w, &(struct ct_trace_range){
               .at_ns = T0 + (uint64_t)at, .number = number, .label = label, .phase = phase});
}

enum { STEP, FORWARD, TRANSFER, CHECKPOINT };

static const struct ct_trace_label labels[] = {
    {.id = STEP, .color = 0xff007f00, .domain = "", .name = "step"},
    {.id = FORWARD, .domain = "", .name = "for\x1bward", .category = 7, .category_name = "model"},
    {.id = TRANSFER, .style = CT_RANGE_START_END, .domain = "io", .name = "transfer"},
    {.id = CHECKPOINT, .style = CT_RANGE_MARK, .domain = "io", .name = "checkpoint", .category = 7},
};

/* Pushed ones in each other, two that are started and overlap, a mark, and one that has no end. */
static void put_ranges(struct ct_trace_writer *w)
{
    put_pairs(w);
    for (size_t i = 0; i < COUNT(labels); i++)
        ct_trace_define_label(w, &labels[i]);
    put_range(w, STEP, CT_TRACE_RANGE_BEGINS, 0, 0);
    put_range(w, FORWARD, CT_TRACE_RANGE_BEGINS, 0, 0);
    put_range(w, TRANSFER, CT_TRACE_RANGE_BEGINS, 5, 3900);
    put_range(w, FORWARD, CT_TRACE_RANGE_ENDS, 0, 4600);
    put_range(w, TRANSFER, CT_TRACE_RANGE_BEGINS, 6, 4700);
    put_range(w, TRANSFER, CT_TRACE_RANGE_ENDS, 5, 4900);
    put_range(w, CHECKPOINT, CT_TRACE_RANGE_MARKS, 0, 5000);
    put_range(w, STEP, CT_TRACE_RANGE_ENDS, 0, 14500);
    put_range(w, TRANSFER, CT_TRACE_RANGE_ENDS, 6, 14600);
    put_range(w, STEP, CT_TRACE_RANGE_BEGINS, 0, 15000);
}

/* A launch from a frame, 100 ns before its kernel of 1,000 ns. */
static void put_launch(struct ct_trace_writer *w, uint32_t row, uint32_t frame,
                       uint64_t correlation, int64_t start)
{
    struct ct_trace_op op = op_at(row, correlation, start, 1000);
    op.frame = frame;
    put_call(w, 0, "cudaLaunchKernel", correlation, start - 100, 50);
    ct_trace_put_op(w, &op);
}

/*
 * Two steps of a training: a kernel in the model's forward range, which is in the step's, one by
 * the optimizer in the step's alone, from lines of which main() is above; then one in no range, and
 * one from no known line.
 */
static void put_launched(struct ct_trace_writer *w)
{
    enum { MAIN = 1, MODEL, LINEAR, ADAM };
    static const struct ct_trace_frame frames[] = {
        {.id = MAIN, .caller = 0, .line = 30, .function = "main", .file = "/home/me/train.py"},
        {.id = MODEL,
         .caller = MAIN,
         .line = 12,
         .function = "Net.forward",
         .file = "/home/me/train.py"},
        {.id = LINEAR,
         .caller = MODEL,
         .line = 5,
         .function = "linear",
         .file = "/usr/lib/python3.11/site-packages/nn.py"},
        {.id = ADAM,
         .caller = MAIN,
         .line = 9,
         .function = "step",
         .file = "/usr/lib/python3.11/site-packages/nn.py"},
    };
    static const struct ct_trace_label own[] = {
        {.id = 1, .domain = "", .name = "step 1"},
        {.id = 2, .domain = "", .name = "step 2"},
        {.id = 3, .domain = "model", .name = "forward"},
    };
    define_all(w, "NVIDIA H200");
    define_kernel(w, 0, "_Z4gemmv", 16, 0);
    define_kernel(w, 1, "_Z4adamv", 16, 0);
    for (size_t i = 0; i < COUNT(frames); i++)
        ct_trace_define_frame(w, &frames[i]);
    for (size_t i = 0; i < COUNT(own); i++)
        ct_trace_define_label(w, &own[i]);
    for (uint32_t i = 0; i < 2; i++) {
        int64_t at = 10000 * i;
        put_range(w, 1 + i, CT_TRACE_RANGE_BEGINS, 0, at);
        put_range(w, 3, CT_TRACE_RANGE_BEGINS, 0, at + 100);
        put_launch(w, 0, LINEAR, 1 + 3 * i, at + 1000);
        put_launch(w, 0, MODEL, 2 + 3 * i, at + 2000);
        put_range(w, 3, CT_TRACE_RANGE_ENDS, 0, at + 3000);
        put_launch(w, 1, ADAM, 3 + 3 * i, at + 4000);
        put_range(w, 1 + i, CT_TRACE_RANGE_ENDS, 0, at + 6000);
    }
    put_launch(w, 0, MAIN, 7, 30000);
    put_launch(w, 0, 0, 8, 32000);
}

/* Of a process that did nothing on the GPU. */
static void put_idle(struct ct_trace_writer *w)
{
    ct_trace_begin(w);
    ct_trace_define_thread(w, &(struct ct_trace_thread){.tid = 4712, .name = "app"});
    ct_trace_define_label(w, &labels[STEP]);
    put_call(w, 0, "cudaGetDeviceCount", 1, 0, 1000);
    put_range(w, STEP, CT_TRACE_RANGE_BEGINS, 0, 0);
    put_range(w, STEP, CT_TRACE_RANGE_ENDS, 0, 1500);
}

/* clang-format off */
#define TRACES(X)                                                                                  \
    X(basic) X(none) X(hostile) X(pairs) X(named) X(ranges) X(streams) X(broken) X(late) X(idle) X(launched)
/* clang-format on */

static const char *const names[] = {
#define X(name) #name,
    TRACES(X)
#undef X
};

static bool save(struct ct_trace_writer *w, const char *path)
{
    struct ct_trace_header header = ct_trace_header(w);
    const struct ct_trace_out *out = ct_trace_seal(w) ? ct_trace_take(w) : NULL;
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    bool good = fd >= 0 && write(fd, &header, sizeof(header)) == sizeof(header);
    good &= trace_pieces_write(fd, out);
    if (fd >= 0)
        good &= !close(fd);
    return good;
}

bool ct_golden_trace_write(const char *name, const char *path)
{
    static void (*const put[])(struct ct_trace_writer *) = {
#define X(name) put_##name,
        TRACES(X)
#undef X
    };
    for (size_t i = 0; i < COUNT(put); i++) {
        if (strcmp(names[i], name))
            continue;
        struct ct_trace_writer *w = calloc(1, sizeof(*w));
        if (!w)
            return false;
        ct_trace_start(w, &process, 0);
        put[i](w);
        w->losses.finished = 1;
        bool good = save(w, path);
        free(w);
        return good;
    }
    return false;
}
