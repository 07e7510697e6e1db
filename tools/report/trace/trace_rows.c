/* SPDX-License-Identifier: MIT */
/* Traces as relations: ours, and nsys's. */
#include <string.h>

#include "report/names.h"
#include "report/reports.h"
#include "report/reports/line_figures.h"
#include "report/trace/event_names.h"
#include "report/trace/trace_options.h"

/* ---- ours ---- */

#define COLUMNS(X)                                                                                 \
    X(TYPE, "type", "Type", TEXT)                                                                  \
    X(START, "start_ns", "Start", STAMP_NS)                                                        \
    X(DURATION, "duration_ns", "Duration", TIME_NS)                                                \
    X(GRID_X, "grid_x", "Grid X", COUNT)                                                           \
    X(GRID_Y, "grid_y", "Y", COUNT)                                                                \
    X(GRID_Z, "grid_z", "Z", COUNT)                                                                \
    X(BLOCK_X, "block_x", "Block X", COUNT)                                                        \
    X(BLOCK_Y, "block_y", "Y", COUNT)                                                              \
    X(BLOCK_Z, "block_z", "Z", COUNT)                                                              \
    X(REGISTERS, "registers", "Regs", COUNT)                                                       \
    X(STATIC, "static_shared_bytes", "SSMem", BYTES)                                               \
    X(DYNAMIC, "dynamic_shared_bytes", "DSMem", BYTES)                                             \
    X(BYTES, "bytes", "Size", BYTES)                                                               \
    X(RATE, "throughput", "Throughput", RATE)                                                      \
    X(SOURCE, "source", "Source", TEXT)                                                            \
    X(TARGET, "target", "Target", TEXT)                                                            \
    X(OPERATIONS, "operations", "Operations", COUNT)                                               \
    X(BOUND, "upper_bound", "Bound", TEXT)                                                         \
    X(DEVICE, "device", "Device", TEXT)                                                            \
    X(DEVICE_NAME, "device_name", "Device name", TEXT)                                             \
    X(CONTEXT, "context", "Context", COUNT)                                                        \
    X(CONTEXT_NAME, "context_name", "Context name", TEXT)                                          \
    X(STREAM, "stream", "Stream", COUNT)                                                           \
    X(STREAM_NAME, "stream_name", "Stream name", TEXT)                                             \
    X(PROCESS, "pid", "Process", COUNT)                                                            \
    X(THREAD, "tid", "Thread", COUNT)                                                              \
    X(RESULT, "result", "Result", COUNT)                                                           \
    X(CORRELATION, "correlation", "Correlation", COUNT)                                            \
    X(NAME, "name", "Name", NAME)

enum column {
#define X(id, key, heading, type) COLUMN_##id,
    COLUMNS(X)
#undef X
        COLUMN_COUNT
};

static const struct ct_column columns[] = {
#define X(id, key, heading, type) {key, heading, CT_CELL_##type, CT_FOLD_NONE, 0},
    COLUMNS(X)
#undef X
};

static const struct ct_relation relation = {"trace", "Trace", columns, COLUMN_COUNT};

static const char *type_of(uint32_t kind)
{
    static const char *const types[] = {
        [CT_ROW_KERNEL] = "kernel", [CT_ROW_COPY] = "copy",         [CT_ROW_SET] = "set",
        [CT_ROW_GRAPH] = "graph",   [CT_ROW_PREFETCH] = "prefetch",
    };
    return kind < ct_countof(types) && types[kind] ? types[kind] : "other";
}

static struct ct_cell optional(const char *text)
{
    return text ? ct_cell_text(text) : ct_cell_none();
}

static struct ct_cell rate_of(const struct ct_event *e)
{
    uint64_t ns = e->end_ns - e->start_ns;
    double rate = ns ? (double)e->op.bytes * 1e9 / (double)ns : -1;
    return rate >= 0 && rate < 1.8e19 ? ct_cell_count((uint64_t)(rate + 0.5)) : ct_cell_none();
}

static void set_kernel(struct ct_cell *cells, const struct ct_event *e)
{
    const struct ct_trace_row *row = &e->file->t->rows.at[e->op.row];
    const struct ct_trace_shape *shape = &e->file->t->shapes.at[e->op.shape];
    cells[COLUMN_REGISTERS] = ct_figures_known(row->registers);
    cells[COLUMN_STATIC] = ct_figures_known(row->static_shared_bytes);
    if (!shape->id)
        return;
    for (int i = 0; i < 3; i++) {
        cells[COLUMN_GRID_X + i] = ct_cell_count(shape->grid[i]);
        cells[COLUMN_BLOCK_X + i] = ct_cell_count(shape->block[i]);
    }
    cells[COLUMN_DYNAMIC] = ct_cell_count(shape->dynamic_shared_bytes);
}

static void set_move(struct ct_cell *cells, const struct ct_event *e)
{
    cells[COLUMN_BYTES] = ct_cell_count(e->op.bytes);
    cells[COLUMN_RATE] = rate_of(e);
    cells[COLUMN_SOURCE] = optional(ct_event_source(e));
    cells[COLUMN_TARGET] = optional(ct_event_target(e));
    cells[COLUMN_OPERATIONS] = ct_cell_count(e->op.operations);
}

static void set_op(struct ct_cell *cells, const struct ct_event *e, struct ct_event_names *names)
{
    const struct ct_trace_reader *t = e->file->t;
    const struct ct_trace_row *row = &t->rows.at[e->op.row];
    const struct ct_trace_stream *stream = &t->streams.at[e->op.stream];
    cells[COLUMN_TYPE] = ct_cell_text(type_of(row->kind));
    cells[COLUMN_DEVICE] = ct_cell_text(ct_event_device(names, e->file, stream->device));
    cells[COLUMN_DEVICE_NAME] = optional(ct_event_device_name(names, e));
    cells[COLUMN_CONTEXT] = ct_cell_count(stream->context);
    cells[COLUMN_CONTEXT_NAME] = optional(ct_event_context_name(names, e));
    cells[COLUMN_STREAM] = ct_cell_count(stream->id);
    cells[COLUMN_STREAM_NAME] = optional(ct_event_stream_name(names, e));
    cells[COLUMN_CORRELATION] = ct_cell_count(e->op.correlation);
    cells[COLUMN_BOUND] = ct_cell_text(e->op.flags & CT_TRACE_OP_BOUND ? "yes" : "no");
    cells[COLUMN_NAME] = ct_cell_text(ct_event_row(names, e->file, e->op.row));
    if (row->kind == CT_ROW_KERNEL)
        set_kernel(cells, e);
    else if (row->kind != CT_ROW_GRAPH)
        set_move(cells, e);
}

static void set_call(struct ct_cell *cells, const struct ct_event *e, struct ct_event_names *names)
{
    cells[COLUMN_TYPE] = ct_cell_text("call");
    cells[COLUMN_THREAD] = ct_cell_count(e->file->t->threads.at[e->call.thread].tid);
    cells[COLUMN_CORRELATION] = ct_cell_count(e->call.correlation);
    cells[COLUMN_RESULT] = ct_cell_count((uint32_t)e->call.result);
    cells[COLUMN_NAME] = ct_cell_text(ct_event_api(names, e->file, e->call.api));
}

static void put_notes(const struct ct_timeline *tl, struct ct_sink *sink)
{
    struct ct_string lines = {0};
    ct_timeline_notes(tl, "", &lines);
    ct_sink_notes(sink, lines.data);
    ct_string_free(&lines);
}

typedef void set_cells(struct ct_cell *cells, const struct ct_event *e,
                       struct ct_event_names *names);

static int put_events(const struct ct_input *in, struct ct_sink *sink,
                      const struct ct_timeline_options *o, const struct ct_relation *r,
                      set_cells *set)
{
    struct ct_cell cells[CT_RELATION_COLUMNS];
    struct ct_event_names names = {.naming = ct_report_naming(in->o)};
    struct ct_timeline tl;
    const struct ct_event *e;
    ct_timeline_open(&tl, in->o->files, in->o->file_count, o);
    ct_sink_begin(sink, r);
    while (ct_timeline_next(&tl, &e)) {
        memset(cells, 0, r->count * sizeof(*cells));
        set(cells, e, &names);
        ct_sink_row(sink, cells);
    }
    put_notes(&tl, sink);
    ct_sink_end(sink);
    int status = tl.failed;
    ct_event_names_free(&names);
    ct_timeline_close(&tl);
    return status;
}

static void set_own(struct ct_cell *cells, const struct ct_event *e, struct ct_event_names *names)
{
    cells[COLUMN_START] = ct_cell_count(e->start_ns);
    cells[COLUMN_DURATION] = ct_cell_count(e->end_ns - e->start_ns);
    cells[COLUMN_PROCESS] = ct_cell_count(e->file->t->process.pid);
    if (e->is_call)
        set_call(cells, e, names);
    else
        set_op(cells, e, names);
}

int ct_report_trace(const struct ct_input *in, struct ct_sink *sink)
{
    struct ct_timeline_options o = ct_trace_options(in->o);
    return put_events(in, sink, &o, &relation, set_own);
}

/* ---- nsys's ---- */

#define NSYS_COLUMNS(X)                                                                            \
    X(START, "Start (ns)", COUNT, 0)                                                               \
    X(DURATION, "Duration (ns)", COUNT, 0)                                                         \
    X(CORRELATION, "CorrId", COUNT, 0)                                                             \
    X(GRID_X, "GrdX", COUNT, 0)                                                                    \
    X(GRID_Y, "GrdY", COUNT, 0)                                                                    \
    X(GRID_Z, "GrdZ", COUNT, 0)                                                                    \
    X(BLOCK_X, "BlkX", COUNT, 0)                                                                   \
    X(BLOCK_Y, "BlkY", COUNT, 0)                                                                   \
    X(BLOCK_Z, "BlkZ", COUNT, 0)                                                                   \
    X(REGISTERS, "Reg/Trd", COUNT, 0)                                                              \
    X(STATIC, "StcSMem (MB)", NUMBER, 3)                                                           \
    X(DYNAMIC, "DymSMem (MB)", NUMBER, 3)                                                          \
    X(BYTES, "Bytes (MB)", NUMBER, 3)                                                              \
    X(RATE, "Throughput (MB/s)", NUMBER, 3)                                                        \
    X(SOURCE, "SrcMemKd", TEXT, 0)                                                                 \
    X(TARGET, "DstMemKd", TEXT, 0)                                                                 \
    X(DEVICE, "Device", TEXT, 0)                                                                   \
    X(CONTEXT, "Ctx", COUNT, 0)                                                                    \
    X(GREEN_CONTEXT, "GreenCtx", COUNT, 0)                                                         \
    X(STREAM, "Strm", COUNT, 0)                                                                    \
    X(NAME, "Name", NAME, 0)

enum nsys_column {
#define X(id, heading, type, decimals) NSYS_##id,
    NSYS_COLUMNS(X)
#undef X
        NSYS_COUNT
};

static const struct ct_column nsys_columns[] = {
#define X(id, heading, type, decimals) {heading, heading, CT_CELL_##type, CT_FOLD_NONE, decimals},
    NSYS_COLUMNS(X)
#undef X
};

static const struct ct_relation nsys_relation = {
    "cuda_gpu_trace", "CUDA GPU Trace (cuda_gpu_trace)", nsys_columns, NSYS_COUNT};

/* nsys's megabytes are 10^6 bytes. */
static struct ct_cell megabytes(double bytes)
{
    return ct_cell_number(bytes * 1e-6);
}

static void set_nsys_kernel(struct ct_cell *cells, const struct ct_event *e)
{
    const struct ct_trace_row *row = &e->file->t->rows.at[e->op.row];
    const struct ct_trace_shape *shape = &e->file->t->shapes.at[e->op.shape];
    cells[NSYS_REGISTERS] = ct_figures_known(row->registers);
    if (row->static_shared_bytes != UINT32_MAX)
        cells[NSYS_STATIC] = megabytes(row->static_shared_bytes);
    if (!shape->id)
        return;
    for (int i = 0; i < 3; i++) {
        cells[NSYS_GRID_X + i] = ct_cell_count(shape->grid[i]);
        cells[NSYS_BLOCK_X + i] = ct_cell_count(shape->block[i]);
    }
    cells[NSYS_DYNAMIC] = megabytes((double)shape->dynamic_shared_bytes);
}

static void set_nsys_move(struct ct_cell *cells, const struct ct_event *e)
{
    uint64_t ns = e->end_ns - e->start_ns;
    cells[NSYS_BYTES] = megabytes((double)e->op.bytes);
    if (ns)
        cells[NSYS_RATE] = megabytes((double)e->op.bytes * 1e9 / (double)ns);
    cells[NSYS_SOURCE] = optional(ct_event_source(e));
    cells[NSYS_TARGET] = optional(ct_event_target(e));
}

static void set_nsys(struct ct_cell *cells, const struct ct_event *e, struct ct_event_names *names)
{
    const struct ct_trace_reader *t = e->file->t;
    const struct ct_trace_row *row = &t->rows.at[e->op.row];
    const struct ct_trace_stream *stream = &t->streams.at[e->op.stream];
    cells[NSYS_START] = ct_cell_count(e->start_ns);
    cells[NSYS_DURATION] = ct_cell_count(e->end_ns - e->start_ns);
    cells[NSYS_CORRELATION] = ct_cell_count(e->op.correlation);
    cells[NSYS_DEVICE] = ct_cell_text(ct_event_device(names, e->file, stream->device));
    cells[NSYS_CONTEXT] = ct_cell_count(stream->context);
    cells[NSYS_STREAM] = ct_cell_count(stream->id);
    cells[NSYS_NAME] = ct_cell_text(ct_event_row(names, e->file, e->op.row));
    if (row->kind == CT_ROW_KERNEL)
        set_nsys_kernel(cells, e);
    else if (row->kind != CT_ROW_GRAPH)
        set_nsys_move(cells, e);
}

int ct_report_gpu_trace(const struct ct_input *in, struct ct_sink *sink)
{
    struct ct_timeline_options o = ct_trace_options(in->o);
    o.ops = true;
    o.calls = false;
    return put_events(in, sink, &o, &nsys_relation, set_nsys);
}
