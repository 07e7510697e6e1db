/* SPDX-License-Identifier: MIT */
/*
 * Trace Event JSON. Texts are escaped by jansson, each once; the lines that they go into are put
 * together here: as jansson's objects, ten million events would take a minute instead of seconds.
 */
#include <stdlib.h>
#include <string.h>

#include "report/digits.h"
#include "report/exports/export_tracks.h"
#include "report/names.h"
#include "report/reports.h"
#include "report/sinks/data.h"
#include "report/trace/event_names.h"
#include "report/trace/trace_options.h"

#define WRITE_BYTES 65536 /* at least, at a time */

struct chrome {
    FILE *out;
    struct ct_timeline tl;
    struct ct_event_names names;
    struct ct_tracks tracks;
    struct ct_string text; /* not written yet */
};

/* ---- parts of a line ---- */

static void put(struct chrome *c, const char *text)
{
    ct_string_put(&c->text, text);
}

static void put_count(struct chrome *c, const char *before, uint64_t value)
{
    char digits[32];
    put(c, before);
    ct_string_add(&c->text, digits, (size_t)(ct_digits_count(digits, value) - digits));
}

/* Nanoseconds are microseconds there, with decimals. */
static void put_time(struct chrome *c, const char *before, uint64_t ns)
{
    char digits[32];
    put(c, before);
    ct_string_add(&c->text, digits, (size_t)(ct_digits_scaled(digits, ns, 3) - digits));
}

static void begin_event(struct chrome *c, const char *phase, uint32_t pid, uint32_t tid)
{
    put(c, ",\n{\"ph\":\"");
    put(c, phase);
    put_count(c, "\",\"pid\":", pid);
    put_count(c, ",\"tid\":", tid);
}

/* ---- names of lines ---- */

static void put_name(struct chrome *c, const char *what, uint32_t pid, uint32_t tid,
                     const char *name, uint32_t rank)
{
    begin_event(c, "M", pid, tid);
    ct_string_printf(&c->text, ",\"name\":\"%s_name\",\"args\":{\"name\":", what);
    ct_data_quote(&c->text, name);
    put(c, "}}");
    begin_event(c, "M", pid, tid);
    ct_string_printf(&c->text, ",\"name\":\"%s_sort_index\",\"args\":{\"sort_index\":%u}}", what,
                     rank);
}

static uint32_t process_of(struct chrome *c, const struct ct_timeline_file *f)
{
    struct ct_track track = ct_track_process(&c->tracks, f);
    uint32_t pid = ct_track_pid(&c->tracks, f);
    if (track.is_new) {
        struct ct_string name = {0};
        ct_track_process_name(&name, f);
        put_name(c, "process", pid, 0, name.data, track.id);
        ct_string_free(&name);
    }
    return pid;
}

/* Devices are processes there, with streams for threads. */
#define DEVICE_PIDS 2000000000u

static uint32_t device_of(struct chrome *c, const struct ct_event *e, uint32_t device)
{
    process_of(c, e->file);
    struct ct_track track = ct_track_device(&c->tracks, e->file, device);
    if (track.is_new) {
        struct ct_string name = {0};
        ct_name_safe(&name, e->file->t->devices.at[device].name);
        ct_string_printf(&name, " (%u), process %u", e->file->t->devices.at[device].ordinal,
                         e->file->t->process.pid);
        put_name(c, "process", DEVICE_PIDS + track.id, 0, name.data, track.id);
        ct_string_free(&name);
    }
    return DEVICE_PIDS + track.id;
}

static uint32_t stream_of(struct chrome *c, const struct ct_event *e, uint32_t pid)
{
    struct ct_track track = ct_track_stream(&c->tracks, e->file, (uint32_t)e->op.stream);
    if (track.is_new) {
        struct ct_string name = {0};
        ct_track_stream_name(&name, e->file, (uint32_t)e->op.stream);
        put_name(c, "thread", pid, track.id, name.data, track.id);
        ct_string_free(&name);
    }
    return track.id;
}

static uint32_t thread_of(struct chrome *c, const struct ct_event *e, uint32_t pid)
{
    struct ct_track track = ct_track_thread(&c->tracks, e->file, e->call.thread);
    uint32_t tid = e->file->t->threads.at[e->call.thread].tid;
    if (track.is_new) {
        struct ct_string name = {0};
        ct_track_thread_name(&name, e->file, e->call.thread);
        put_name(c, "thread", pid, tid, name.data, track.id);
        ct_string_free(&name);
    }
    return tid;
}

/* ---- events ---- */

static void put_span(struct chrome *c, const struct ct_event *e, uint32_t pid, uint32_t tid,
                     const char *category, const char *name)
{
    begin_event(c, "X", pid, tid);
    put_time(c, ",\"ts\":", e->start_ns);
    put_time(c, ",\"dur\":", e->end_ns - e->start_ns);
    put(c, ",\"cat\":\"");
    put(c, category);
    put(c, "\",\"name\":");
    put(c, name);
    put_count(c,
              ",\"args\":{\"correlation\":", e->is_call ? e->call.correlation : e->op.correlation);
}

/* An arrow from a call to its operations: both ends have one number, which no other arrow has. */
static void put_arrow(struct chrome *c, const struct ct_event *e, const char *phase, uint32_t pid,
                      uint32_t tid)
{
    uint64_t correlation = e->is_call ? e->call.correlation : e->op.correlation;
    begin_event(c, phase, pid, tid);
    put_time(c, ",\"ts\":", e->start_ns);
    put(c, e->is_call ? ",\"cat\":\"flow\"" : ",\"cat\":\"flow\",\"bp\":\"e\"");
    put_count(c, ",\"name\":\"submit\",\"id\":", correlation * c->tl.file_count + e->file->index);
    put(c, "}");
}

static void put_extent(struct chrome *c, const char *before, const uint32_t extent[3])
{
    put_count(c, before, extent[0]);
    put_count(c, ",", extent[1]);
    put_count(c, ",", extent[2]);
    put(c, "]");
}

static void put_kernel(struct chrome *c, const struct ct_event *e, const struct ct_trace_row *row)
{
    const struct ct_trace_shape *shape = &e->file->t->shapes.at[e->op.shape];
    if (shape->id) {
        put_extent(c, ",\"grid\":[", shape->grid);
        put_extent(c, ",\"block\":[", shape->block);
        put_count(c, ",\"dynamic_shared_bytes\":", shape->dynamic_shared_bytes);
    }
    if (row->static_shared_bytes != UINT32_MAX)
        put_count(c, ",\"static_shared_bytes\":", row->static_shared_bytes);
    if (row->registers != UINT32_MAX)
        put_count(c, ",\"registers\":", row->registers);
}

static void put_move(struct chrome *c, const struct ct_event *e)
{
    const char *source = ct_event_source(e), *target = ct_event_target(e);
    put_count(c, ",\"bytes\":", e->op.bytes);
    if (source && target) {
        put(c, ",\"source\":\"");
        put(c, source);
        put(c, "\",\"target\":\"");
        put(c, target);
        put(c, "\"");
    }
}

static void put_op(struct chrome *c, const struct ct_event *e)
{
    const struct ct_trace_reader *t = e->file->t;
    const struct ct_trace_row *row = &t->rows.at[e->op.row];
    uint32_t pid = device_of(c, e, t->streams.at[e->op.stream].device);
    uint32_t tid = stream_of(c, e, pid);
    bool is_kernel = row->kind == CT_ROW_KERNEL;
    put_span(c, e, pid, tid,
             is_kernel                   ? "kernel"
             : row->kind == CT_ROW_GRAPH ? "graph"
                                         : "memory",
             ct_event_row(&c->names, e->file, e->op.row));
    if (is_kernel)
        put_kernel(c, e, row);
    else if (row->kind != CT_ROW_GRAPH)
        put_move(c, e);
    if (e->op.flags & CT_TRACE_OP_BOUND)
        put(c, ",\"upper_bound\":true");
    put(c, "}}");
    if (e->op.correlation)
        put_arrow(c, e, "f", pid, tid);
}

static void put_call(struct chrome *c, const struct ct_event *e)
{
    uint32_t pid = process_of(c, e->file), tid = thread_of(c, e, pid);
    put_span(c, e, pid, tid, "api", ct_event_api(&c->names, e->file, e->call.api));
    if (e->call.result)
        ct_string_printf(&c->text, ",\"result\":%d", e->call.result);
    put(c, "}}");
    if (ct_links_get(&e->file->links, e->call.correlation))
        put_arrow(c, e, "s", pid, tid);
}

/* ---- the document ---- */

static void write_text(struct chrome *c, size_t from_bytes)
{
    if (c->text.len < from_bytes)
        return;
    fwrite(c->text.data, 1, c->text.len, c->out);
    ct_string_clear(&c->text);
}

/* The first element stands for the comma before each other. */
static void put_document(struct chrome *c)
{
    const struct ct_event *e;
    struct ct_string notes = {0};
    ct_timeline_notes(&c->tl, "", &notes);
    put(c, "{\"displayTimeUnit\":\"ns\",\"otherData\":{\"creator\":\"cutrace\",\"notes\":");
    ct_data_quote(&c->text, notes.data ? notes.data : "");
    put_count(c, ",\"start_unix_ns\":\"", c->tl.zero_unix_ns);
    put(c, "\"},\"traceEvents\":[\n{\"ph\":\"M\",\"pid\":0,\"name\":\"cutrace\",\"args\":{}}");
    while (ct_timeline_next(&c->tl, &e)) {
        if (e->is_call)
            put_call(c, e);
        else
            put_op(c, e);
        write_text(c, WRITE_BYTES);
    }
    put(c, "\n]}\n");
    write_text(c, 0);
    ct_string_free(&notes);
}

int ct_export_chrome(const struct ct_input *in, FILE *out)
{
    struct chrome c = {.out = out,
                       .names = {.naming = ct_report_naming(in->o), .spell = ct_data_quote}};
    struct ct_timeline_options all = ct_trace_all(in->o);
    all.links = CT_TIMELINE_OPERATIONS;
    ct_timeline_open(&c.tl, in->o->files, in->o->file_count, &all);
    if (c.tl.file_count)
        put_document(&c);
    int status = c.tl.failed ? EXIT_FAILURE : EXIT_SUCCESS;
    ct_tracks_free(&c.tracks);
    ct_event_names_free(&c.names);
    ct_string_free(&c.text);
    ct_timeline_close(&c.tl);
    return status;
}
