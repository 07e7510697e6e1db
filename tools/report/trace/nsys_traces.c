/* SPDX-License-Identifier: MIT */
/* nsys's reports of single calls, launches and copies. */
#include <stdlib.h>
#include <string.h>

#include "report/names.h"
#include "report/reports.h"
#include "report/trace/event_names.h"
#include "report/trace/trace_options.h"

#define COLUMN(text, type, decimals)                                                               \
    {                                                                                              \
        text, text, CT_CELL_##type, CT_FOLD_NONE, decimals                                         \
    }
#define SHAPE_BYTES 48

static const struct ct_column api_columns[] = {
    COLUMN("Start (ns)", COUNT, 0), COLUMN("Duration (ns)", COUNT, 0),
    COLUMN("Name", NAME, 0),        COLUMN("Result", COUNT, 0),
    COLUMN("CorrID", COUNT, 0),     COLUMN("Pid", COUNT, 0),
    COLUMN("Tid", COUNT, 0),        COLUMN("T-Pri", COUNT, 0),
    COLUMN("Thread Name", TEXT, 0),
};
static const struct ct_relation api_trace = {"cuda_api_trace", "CUDA API Trace (cuda_api_trace)",
                                             api_columns, 9};

static const struct ct_column exec_columns[] = {
    COLUMN("API Start (ns)", COUNT, 0),
    COLUMN("API Dur (ns)", COUNT, 0),
    COLUMN("Queue Start (ns)", COUNT, 0),
    COLUMN("Queue Dur (ns)", COUNT, 0),
    COLUMN("Kernel Start (ns)", COUNT, 0),
    COLUMN("Kernel Dur (ns)", COUNT, 0),
    COLUMN("Total Dur (ns)", COUNT, 0),
    COLUMN("PID", COUNT, 0),
    COLUMN("TID", COUNT, 0),
    COLUMN("DevId", COUNT, 0),
    COLUMN("API Function", TEXT, 0),
    COLUMN("GridXYZ", TEXT, 0),
    COLUMN("BlockXYZ", TEXT, 0),
    COLUMN("Kernel Name", NAME, 0),
};
static const struct ct_relation exec_trace = {
    "cuda_kern_exec_trace", "CUDA Kernel Launch & Exec Time Trace (cuda_kern_exec_trace)",
    exec_columns, 14};

static const struct ct_column size_columns[] = {
    COLUMN("Start (ns)", COUNT, 0),
    COLUMN("Bytes (MB)", NUMBER, 3),
    COLUMN("Throughput (MB/s)", NUMBER, 3),
    COLUMN("SrcMemKd", TEXT, 0),
    COLUMN("DstMemKd", TEXT, 0),
    COLUMN("Device", TEXT, 0),
    COLUMN("Ctx", COUNT, 0),
    COLUMN("Strm", COUNT, 0),
    COLUMN("Operation", NAME, 0),
};
static const struct ct_relation size_trace = {
    "cuda_gpu_mem_size_trace", "CUDA GPU MemOps Trace (by Size) (cuda_gpu_mem_size_trace)",
    size_columns, 9};

struct call {
    uint64_t start_ns;
    uint64_t end_ns;
    uint32_t thread;
    uint32_t api;
};

struct writer {
    struct ct_timeline tl;
    struct ct_event_names names;
    struct ct_sink *sink;
    struct ct_links *places; /* by file: a call's place plus one */
    struct call *calls;
    size_t count;
    size_t size;
    uint64_t alone; /* kernels without a call */
};

static struct ct_cell optional(const char *text)
{
    return text ? ct_cell_text(text) : ct_cell_none();
}

static void put_call(struct writer *w, const struct ct_event *e)
{
    const struct ct_trace_thread *thread = &e->file->t->threads.at[e->call.thread];
    struct ct_string name = {0};
    ct_name_safe(&name, thread->name);
    struct ct_cell cells[9] = {
        ct_cell_count(e->start_ns),
        ct_cell_count(e->end_ns - e->start_ns),
        ct_cell_text(ct_event_api(&w->names, e->file, e->call.api)),
        ct_cell_count((uint32_t)e->call.result),
        ct_cell_count(e->call.correlation),
        ct_cell_count(e->file->t->process.pid),
        ct_cell_count(thread->tid),
    };
    cells[8] = ct_cell_text(name.data);
    ct_sink_row(w->sink, cells);
    ct_string_free(&name);
}

static void keep_call(struct writer *w, const struct ct_event *e)
{
    uint32_t *place = ct_links_get(&e->file->links, e->call.correlation)
                          ? ct_links_at(&w->places[e->file->index], e->call.correlation)
                          : NULL;
    if (!place)
        return;
    w->calls = ct_memory_grow(w->calls, &w->size, w->count + 1, sizeof(*w->calls));
    w->calls[w->count++] = (struct call){e->start_ns, e->end_ns, e->call.thread, e->call.api};
    *place = (uint32_t)w->count;
}

static void spell_shape(char text[SHAPE_BYTES], const uint32_t xyz[3])
{
    snprintf(text, SHAPE_BYTES, "%4u %4u %4u", xyz[0], xyz[1], xyz[2]);
}

/* The queue's time lies between the end of the call and the start of the kernel. */
static void put_kernel(struct writer *w, const struct ct_event *e, const struct call *call)
{
    const struct ct_trace_reader *t = e->file->t;
    const struct ct_trace_shape *shape = &t->shapes.at[e->op.shape];
    char grid[SHAPE_BYTES], block[SHAPE_BYTES];
    spell_shape(grid, shape->grid);
    spell_shape(block, shape->block);
    struct ct_cell cells[14] = {ct_cell_count(call->start_ns),
                                ct_cell_count(call->end_ns - call->start_ns)};
    if (e->start_ns > call->end_ns) {
        cells[2] = ct_cell_count(call->end_ns);
        cells[3] = ct_cell_count(e->start_ns - call->end_ns);
    }
    cells[4] = ct_cell_count(e->start_ns);
    cells[5] = ct_cell_count(e->end_ns - e->start_ns);
    cells[6] = ct_cell_count(ct_max(e->end_ns, call->end_ns) - ct_min(e->start_ns, call->start_ns));
    cells[7] = ct_cell_count(t->process.pid);
    cells[8] = ct_cell_count(t->threads.at[call->thread].tid);
    cells[9] = ct_cell_count(t->devices.at[t->streams.at[e->op.stream].device].ordinal);
    cells[10] = ct_cell_text(ct_event_api(&w->names, e->file, call->api));
    if (shape->id) {
        cells[11] = ct_cell_text(grid);
        cells[12] = ct_cell_text(block);
    }
    cells[13] = ct_cell_text(ct_event_row(&w->names, e->file, e->op.row));
    ct_sink_row(w->sink, cells);
}

static void put_launch(struct writer *w, const struct ct_event *e)
{
    if (e->is_call) {
        keep_call(w, e);
        return;
    }
    if (e->file->t->rows.at[e->op.row].kind != CT_ROW_KERNEL)
        return;
    uint32_t place = ct_links_get(&w->places[e->file->index], e->op.correlation);
    if (place)
        put_kernel(w, e, &w->calls[place - 1]);
    else
        w->alone++;
}

static void put_size(struct writer *w, const struct ct_event *e)
{
    const struct ct_trace_reader *t = e->file->t;
    const struct ct_trace_stream *stream = &t->streams.at[e->op.stream];
    uint32_t kind = t->rows.at[e->op.row].kind;
    uint64_t ns = e->end_ns - e->start_ns;
    if (e->is_call || kind == CT_ROW_KERNEL || kind == CT_ROW_GRAPH)
        return;
    struct ct_cell cells[9] = {
        ct_cell_count(e->start_ns),
        ct_cell_number((double)e->op.bytes * 1e-6),
        ns ? ct_cell_number((double)e->op.bytes * 1e3 / (double)ns) : ct_cell_none(),
        optional(ct_event_source(e)),
        optional(ct_event_target(e)),
        ct_cell_text(ct_event_device(&w->names, e->file, stream->device)),
        ct_cell_count(stream->context),
        ct_cell_count(stream->id),
        ct_cell_text(ct_event_row(&w->names, e->file, e->op.row)),
    };
    ct_sink_row(w->sink, cells);
}

static void put_notes(struct writer *w)
{
    struct ct_string lines = {0};
    char text[96];
    ct_timeline_notes(&w->tl, "", &lines);
    ct_sink_notes(w->sink, lines.data);
    snprintf(text, sizeof(text), "%llu kernels are not there: their calls are not in the trace",
             (unsigned long long)w->alone);
    if (w->alone)
        ct_sink_note(w->sink, text);
    ct_string_free(&lines);
}

static int put_all(const struct ct_input *in, struct ct_sink *sink, const struct ct_relation *r,
                   const struct ct_timeline_options *o,
                   void (*put)(struct writer *, const struct ct_event *))
{
    struct writer w = {.sink = sink, .names = {.naming = ct_report_naming(in->o)}};
    const struct ct_event *e;
    ct_timeline_open(&w.tl, in->o->files, in->o->file_count, o);
    w.places = ct_memory_array(w.tl.file_count, sizeof(*w.places));
    ct_sink_begin(sink, r);
    while (ct_timeline_next(&w.tl, &e))
        put(&w, e);
    put_notes(&w);
    ct_sink_end(sink);
    int status = w.tl.failed;
    for (uint32_t i = 0; i < w.tl.file_count; i++)
        ct_links_free(&w.places[i]);
    free(w.places);
    free(w.calls);
    ct_event_names_free(&w.names);
    ct_timeline_close(&w.tl);
    return status;
}

int ct_report_cuda_api_trace(const struct ct_input *in, struct ct_sink *sink)
{
    struct ct_timeline_options o = ct_trace_all(in->o);
    o.ops = o.ranges = false;
    return put_all(in, sink, &api_trace, &o, put_call);
}

int ct_report_cuda_kern_exec_trace(const struct ct_input *in, struct ct_sink *sink)
{
    struct ct_timeline_options o = ct_trace_all(in->o);
    o.ranges = false;
    o.links = CT_TIMELINE_KERNELS;
    return put_all(in, sink, &exec_trace, &o, put_launch);
}

int ct_report_cuda_gpu_mem_size_trace(const struct ct_input *in, struct ct_sink *sink)
{
    struct ct_timeline_options o = ct_trace_all(in->o);
    o.calls = o.ranges = false;
    return put_all(in, sink, &size_trace, &o, put_size);
}
