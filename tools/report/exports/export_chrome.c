/* SPDX-License-Identifier: MIT */
/*
 * Trace Event JSON. Texts are escaped by jansson, each once; the lines that they go into are put
 * together here: as jansson's objects, ten million events would take a minute instead of seconds.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report/digits.h"
#include "report/exports/chrome_color.h"
#include "report/exports/export_tracks.h"
#include "report/names.h"
#include "report/profile/key_table.h"
#include "report/reports.h"
#include "report/sinks/data.h"
#include "report/trace/event_names.h"
#include "report/trace/open_ranges.h"
#include "report/trace/trace_options.h"

#define EVENT_BYTES 1024 /* an operation and its arrow without names, at most */

struct chrome {
    FILE *out;
    struct ct_timeline tl;
    struct ct_event_names names;
    struct ct_tracks tracks;
    struct ct_open_ranges open;
    struct ct_string text; /* not written yet */
    struct ct_string name; /* of a copy or set */
    struct lanes *lanes;   /* by the stream's line */
    size_t lanes_size;
};

/* Lines of a stream: one of two operations that overlap goes to the next. */
#define MOST_LANES 16

struct lanes {
    uint64_t end_ns[MOST_LANES];
};

/* ---- parts of a line: each is put at `to`, and returns where the next one goes ---- */

static inline char *put_count(char *to, const char *before, uint64_t value)
{
    return ct_digits_count(stpcpy(to, before), value);
}

/* Nanoseconds are microseconds there, with decimals. */
static inline char *put_time(char *to, const char *before, uint64_t ns)
{
    return ct_digits_scaled(stpcpy(to, before), ns, 3);
}

static inline char *begin_event(char *to, char phase, uint32_t pid, uint32_t tid)
{
    to = stpcpy(to, ",\n{\"ph\":\"");
    *to++ = phase;
    return put_count(put_count(to, "\",\"pid\":", pid), ",\"tid\":", tid);
}

/* ---- names of lines ---- */

static void put_name(struct chrome *c, const char *what, uint32_t pid, uint32_t tid,
                     const char *name, uint32_t rank)
{
    static const char line[] =
        ",\n{\"ph\":\"M\",\"pid\":%u,\"tid\":%u,\"name\":\"%s_%s\",\"args\":";
    ct_string_printf(&c->text, line, pid, tid, what, "name");
    ct_string_put(&c->text, "{\"name\":");
    ct_data_quote(&c->text, name);
    ct_string_put(&c->text, "}}");
    ct_string_printf(&c->text, line, pid, tid, what, "sort_index");
    ct_string_printf(&c->text, "{\"sort_index\":%u}}", rank);
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
        const struct ct_trace_device *d = &e->file->t->devices.at[device];
        ct_name_safe(&name, d->name);
        ct_string_printf(&name, " (%u), process %u", d->ordinal, e->file->t->process.pid);
        ct_name_given(&name, d->given_name);
        put_name(c, "process", DEVICE_PIDS + track.id, 0, name.data, track.id);
        ct_string_free(&name);
    }
    return DEVICE_PIDS + track.id;
}

/*
 * Programmatic launches run into one another, and times have errors: readers take slices of a line
 * that overlap for calls in calls, and drop those that cross.
 */
static uint32_t lane_of(struct chrome *c, uint32_t stream, const struct ct_event *e)
{
    uint32_t lane = 0;
    c->lanes = ct_memory_grow(c->lanes, &c->lanes_size, (size_t)stream + 1, sizeof(*c->lanes));
    uint64_t *end_ns = c->lanes[stream].end_ns;
    while (lane < MOST_LANES - 1 && end_ns[lane] > e->start_ns)
        lane++;
    end_ns[lane] = ct_max(end_ns[lane], e->end_ns);
    return lane;
}

static uint32_t stream_of(struct chrome *c, const struct ct_event *e, uint32_t pid)
{
    struct ct_track stream = ct_track_stream(&c->tracks, e->file, (uint32_t)e->op.stream);
    uint32_t lane = lane_of(c, stream.id, e);
    struct ct_track track = lane ? ct_track_lane(&c->tracks, stream.id, lane) : stream;
    if (track.is_new) {
        struct ct_string name = {0};
        ct_track_stream_name(&name, e->file, (uint32_t)e->op.stream);
        if (lane)
            ct_string_printf(&name, " (%u)", lane + 1);
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

static char *put_span(char *to, const struct ct_event *e, uint32_t pid, uint32_t tid,
                      const char *category, const char *name)
{
    to = begin_event(to, 'X', pid, tid);
    to = put_time(to, ",\"ts\":", e->start_ns);
    to = put_time(to, ",\"dur\":", e->end_ns - e->start_ns);
    to = stpcpy(stpcpy(to, ",\"cat\":\""), category);
    to = stpcpy(stpcpy(to, "\",\"name\":"), name);
    return put_count(
        to, ",\"args\":{\"correlation\":", e->is_call ? e->call.correlation : e->op.correlation);
}

/* Readers of PyTorch's traces place operations by these arguments. */
static char *put_place(char *to, const struct ct_event *e)
{
    const struct ct_trace_stream *stream = &e->file->t->streams.at[e->op.stream];
    to = put_count(to, ",\"device\":", e->file->t->devices.at[stream->device].ordinal);
    to = put_count(to, ",\"context\":", stream->context);
    return put_count(to, ",\"stream\":", stream->id);
}

/* An arrow from a call to its operations: both ends have one number, which no other arrow has. */
static char *put_arrow(char *to, const struct chrome *c, const struct ct_event *e, uint32_t pid,
                       uint32_t tid)
{
    uint64_t correlation = e->is_call ? e->call.correlation : e->op.correlation;
    to = begin_event(to, e->is_call ? 's' : 'f', pid, tid);
    to = put_time(to, ",\"ts\":", e->start_ns);
    to = stpcpy(to, e->is_call ? ",\"cat\":\"flow\"" : ",\"cat\":\"flow\",\"bp\":\"e\"");
    to = put_count(to,
                   ",\"name\":\"submit\",\"id\":", correlation * c->tl.file_count + e->file->index);
    return stpcpy(to, "}");
}

static char *put_extent(char *to, const char *before, const uint32_t extent[3])
{
    to = put_count(to, before, extent[0]);
    to = put_count(to, ",", extent[1]);
    to = put_count(to, ",", extent[2]);
    return stpcpy(to, "]");
}

static char *put_kernel(char *to, const struct ct_event *e, const struct ct_trace_row *row)
{
    const struct ct_trace_shape *shape = &e->file->t->shapes.at[e->op.shape];
    if (shape->id) {
        to = put_extent(to, ",\"grid\":[", shape->grid);
        to = put_extent(to, ",\"block\":[", shape->block);
        to = put_count(to, ",\"dynamic_shared_bytes\":", shape->dynamic_shared_bytes);
    }
    if (row->static_shared_bytes != UINT32_MAX)
        to = put_count(to, ",\"static_shared_bytes\":", row->static_shared_bytes);
    if (row->registers != UINT32_MAX)
        to = put_count(to, ",\"registers per thread\":", row->registers);
    uint64_t shared = shape->id ? shape->dynamic_shared_bytes : 0;
    if (row->static_shared_bytes != UINT32_MAX)
        to = put_count(to, ",\"shared memory\":", shared + row->static_shared_bytes);
    return to;
}

static char *put_move(char *to, const struct ct_event *e)
{
    const char *source = ct_event_source(e), *target = ct_event_target(e);
    uint64_t ns = e->end_ns - e->start_ns;
    to = put_count(to, ",\"bytes\":", e->op.bytes);
    if (ns)
        to += sprintf(to, ",\"memory bandwidth (GB/s)\":%.3f", (double)e->op.bytes / (double)ns);
    if (!source || !target)
        return to;
    to = stpcpy(stpcpy(to, ",\"source\":\""), source);
    to = stpcpy(stpcpy(to, "\",\"target\":\""), target);
    return stpcpy(to, "\"");
}

/* Categories are those of PyTorch's traces. */
static const char *category_of(const struct ct_trace_row *row)
{
    static const char *const categories[] = {
        [CT_ROW_KERNEL] = "kernel",       [CT_ROW_COPY] = "gpu_memcpy",
        [CT_ROW_SET] = "gpu_memset",      [CT_ROW_GRAPH] = "cuda_graph",
        [CT_ROW_PREFETCH] = "gpu_memcpy",
    };
    bool known = row->kind < ct_countof(categories) && categories[row->kind];
    return known ? categories[row->kind] : "gpu_other";
}

/* Copies and sets, likewise: "Memcpy HtoD (Pinned -> Device)"; NULL: it is neither. */
static const char *name_of_move(struct chrome *c, const struct ct_event *e)
{
    static const char *const directions[] = {
#define X(id, text) text,
        CT_DIRECTIONS(X)
#undef X
    };
    const struct ct_trace_row *row = &e->file->t->rows.at[e->op.row];
    const char *source = ct_event_source(e), *target = ct_event_target(e);
    ct_string_clear(&c->name);
    if (row->kind == CT_ROW_SET && source)
        ct_string_printf(&c->name, "\"Memset (%s)\"", source);
    else if (row->kind == CT_ROW_SET)
        ct_string_put(&c->name, "\"Memset\"");
    else if (row->kind != CT_ROW_COPY || row->detail >= CT_DIRECTION_COUNT)
        return NULL;
    else if (source && target)
        ct_string_printf(&c->name, "\"Memcpy %s (%s -> %s)\"", directions[row->detail], source,
                         target);
    else
        ct_string_printf(&c->name, "\"Memcpy %s\"", directions[row->detail]);
    return c->name.data;
}

/* A frame's number among those of all files. */
static uint64_t frame_number(const struct chrome *c, const struct ct_timeline_file *f,
                             uint32_t frame)
{
    return (uint64_t)frame * c->tl.file_count + f->index;
}

static bool is_native(const struct ct_timeline_file *f, uint32_t frame)
{
    return f->t->frames.at[frame].address;
}

/* chrome://tracing shows the stack by the number, readers that do not the innermost line. */
static void put_stack(struct chrome *c, const struct ct_event *e)
{
    const char *line = ct_event_frame(&c->names, e->file, e->op.frame);
    char *to = ct_string_room(&c->text, EVENT_BYTES + strlen(line));
    to =
        stpcpy(stpcpy(to, is_native(e->file, e->op.frame) ? ",\"native\":" : ",\"python\":"), line);
    ct_string_end(&c->text, put_count(to, "},\"sf\":", frame_number(c, e->file, e->op.frame)));
}

static void put_op(struct chrome *c, const struct ct_event *e)
{
    const struct ct_trace_reader *t = e->file->t;
    const struct ct_trace_row *row = &t->rows.at[e->op.row];
    uint32_t pid = device_of(c, e, t->streams.at[e->op.stream].device);
    uint32_t tid = stream_of(c, e, pid);
    bool is_kernel = row->kind == CT_ROW_KERNEL;
    const char *moved = name_of_move(c, e);
    const char *name = moved ? moved : ct_event_row(&c->names, e->file, e->op.row);
    char *to = ct_string_room(&c->text, EVENT_BYTES + strlen(name));
    to = put_place(put_span(to, e, pid, tid, category_of(row), name), e);
    if (is_kernel)
        to = put_kernel(to, e, row);
    else if (row->kind != CT_ROW_GRAPH)
        to = put_move(to, e);
    if (e->op.flags & CT_TRACE_OP_BOUND)
        to = stpcpy(to, ",\"upper_bound\":true");
    ct_string_end(&c->text, to);
    if (e->op.frame)
        put_stack(c, e);
    to = stpcpy(ct_string_room(&c->text, EVENT_BYTES), e->op.frame ? "}" : "}}");
    if (e->op.correlation)
        to = put_arrow(to, c, e, pid, tid);
    ct_string_end(&c->text, to);
}

static void put_call(struct chrome *c, const struct ct_event *e)
{
    uint32_t pid = process_of(c, e->file), tid = thread_of(c, e, pid);
    const char *name = ct_event_api(&c->names, e->file, e->call.api);
    char *to = ct_string_room(&c->text, EVENT_BYTES + strlen(name));
    bool runtime = e->file->t->apis.at[e->call.api].flags & CT_API_RUNTIME;
    to = put_span(to, e, pid, tid, runtime ? "cuda_runtime" : "cuda_driver", name);
    if (e->call.result)
        to += sprintf(to, ",\"result\":%d", e->call.result);
    to = stpcpy(to, "}}");
    if (ct_links_get(&e->file->links, e->call.correlation))
        to = put_arrow(to, c, e, pid, tid);
    ct_string_end(&c->text, to);
}

/* ---- ranges ---- */

/*
 * Ranges get threads of their own beside the process's: a range that is started may end in the
 * midst of a call.
 */
#define RANGE_TIDS 2000000000u

static uint32_t line_of(struct chrome *c, const struct ct_event *e, uint32_t pid, uint32_t lane)
{
    struct ct_track track = ct_track_ranges(&c->tracks, e, lane);
    if (track.is_new) {
        struct ct_string name = {0};
        ct_track_ranges_name(&name, e, lane);
        put_name(c, "thread", pid, RANGE_TIDS + track.id, name.data, track.id);
        ct_string_free(&name);
    }
    return RANGE_TIDS + track.id;
}

static void put_text(struct chrome *c, const char *member, const char *text)
{
    struct ct_string safe = {0};
    ct_name_safe(&safe, text);
    ct_string_printf(&c->text, "%s", member);
    ct_data_quote(&c->text, safe.data);
    ct_string_free(&safe);
}

static void put_label(struct chrome *c, const struct ct_event *e, uint32_t label, bool has_ended)
{
    const struct ct_trace_label *l = &e->file->t->labels.at[label];
    const char *color = ct_chrome_color(l->color);
    ct_string_put(&c->text, ",\"name\":");
    ct_string_put(&c->text, ct_event_label(&c->names, e->file, label));
    if (color)
        ct_string_printf(&c->text, ",\"cname\":\"%s\"", color);
    ct_string_put(&c->text, ",\"args\":{");
    put_text(c, "\"domain\":", l->domain);
    if (l->color)
        ct_string_printf(&c->text, ",\"color\":\"#%06x\"", l->color & 0xffffff);
    if (l->category)
        ct_string_printf(&c->text, ",\"category\":%u", l->category);
    if (*l->category_name)
        put_text(c, ",\"category_name\":", l->category_name);
    ct_string_put(&c->text, has_ended ? "}}" : ",\"unfinished\":true}}");
}

static char *begin_at(struct chrome *c, char phase, const struct ct_event *e, uint32_t lane,
                      uint64_t start_ns)
{
    uint32_t pid = process_of(c, e->file), tid = line_of(c, e, pid, lane);
    char *to = ct_string_room(&c->text, EVENT_BYTES);
    to = begin_event(to, phase, pid, tid);
    to = put_time(to, ",\"ts\":", start_ns);
    return stpcpy(to, ",\"cat\":\"user_annotation\"");
}

/* One event for all of a range: not all readers find the two ends of one. */
static void put_whole(struct chrome *c, const struct ct_event *e, const struct ct_range_span *r,
                      uint64_t end_ns, bool has_ended)
{
    char *to = begin_at(c, 'X', e, r->lane, r->start_ns);
    ct_string_end(&c->text, put_time(to, ",\"dur\":", end_ns - r->start_ns));
    put_label(c, e, r->label, has_ended);
}

static void put_range(struct chrome *c, const struct ct_event *e)
{
    struct ct_range_span over[CT_OPEN_RANGES_MOST];
    if (e->range.phase == CT_TRACE_RANGE_MARKS) {
        char *to = begin_at(c, 'i', e, 0, e->start_ns);
        ct_string_end(&c->text, stpcpy(to, ",\"s\":\"t\""));
        put_label(c, e, e->range.label, true);
    } else if (e->range.phase == CT_TRACE_RANGE_BEGINS) {
        ct_open_ranges_begin(&c->open, e);
    } else {
        size_t count = ct_open_ranges_end(&c->open, e, over);
        for (size_t i = 0; i < count; i++)
            put_whole(c, e, &over[i], e->start_ns, true);
    }
}

/* Ranges that never end are drawn to the end of the timeline. */
static void put_unfinished(struct chrome *c)
{
    struct ct_range_span range;
    for (uint32_t i = 0; i < c->tl.file_count; i++)
        while (c->tl.files[i].t && ct_open_ranges_left(&c->open, &c->tl.files[i], &range)) {
            struct ct_event e = {
                .file = &c->tl.files[i],
                .is_range = true,
                .range = {.number = range.number, .label = range.label, .thread = range.thread}};
            put_whole(c, &e, &range, ct_max(c->tl.facts.end_ns, range.start_ns), false);
        }
}

/* ---- devices ---- */

/* As PyTorch's profiler has them. */
static void put_device(struct ct_string *to, const struct ct_trace_device *d)
{
    static const struct {
        const char *key;
        enum ct_trace_attribute which;
    } properties[] = {
        {"computeMajor", CT_TRACE_COMPUTE_CAPABILITY_MAJOR},
        {"computeMinor", CT_TRACE_COMPUTE_CAPABILITY_MINOR},
        {"maxThreadsPerBlock", CT_TRACE_MAX_THREADS_PER_BLOCK},
        {"maxThreadsPerMultiprocessor", CT_TRACE_MAX_THREADS_PER_MULTIPROCESSOR},
        {"regsPerBlock", CT_TRACE_MAX_REGISTERS_PER_BLOCK},
        {"warpSize", CT_TRACE_WARP_SIZE},
        {"sharedMemPerBlock", CT_TRACE_MAX_SHARED_MEMORY_PER_BLOCK},
        {"numSms", CT_TRACE_MULTIPROCESSOR_COUNT},
        {"regsPerMultiprocessor", CT_TRACE_MAX_REGISTERS_PER_MULTIPROCESSOR},
        {"sharedMemPerBlockOptin", CT_TRACE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN},
        {"sharedMemPerMultiprocessor", CT_TRACE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR},
    };
    struct ct_string name = {0};
    uint32_t value;
    ct_name_safe(&name, d->name);
    ct_string_printf(to, "\n{\"id\":%u,\"name\":", d->ordinal);
    ct_data_quote(to, name.data ? name.data : "");
    if (d->memory_bytes)
        ct_string_printf(to, ",\"totalGlobalMem\":%" PRIu64, d->memory_bytes);
    for (size_t i = 0; i < ct_countof(properties); i++)
        if (ct_trace_says(d, properties[i].which, &value))
            ct_string_printf(to, ",\"%s\":%u", properties[i].key, value);
    ct_string_put(to, "}");
    ct_string_free(&name);
}

/* Each once, though several processes may have used it. */
static void put_devices(struct chrome *c)
{
    struct ct_key_table seen = {0};
    for (uint32_t i = 0; i < c->tl.file_count; i++) {
        const struct ct_trace_reader *t = c->tl.files[i].t;
        for (uint32_t k = 0; t && k < t->devices.count; k++) {
            const struct ct_trace_device *d = &t->devices.at[k];
            char key[sizeof(d->uuid) + sizeof(d->ordinal)];
            uint32_t before = seen.count;
            memcpy(key, d->uuid, sizeof(d->uuid));
            memcpy(key + sizeof(d->uuid), &d->ordinal, sizeof(d->ordinal));
            ct_key_table_add(&seen, key, sizeof(key));
            if (seen.count == before)
                continue;
            ct_string_put(&c->text, before ? "," : "");
            put_device(&c->text, d);
        }
    }
    ct_key_table_free(&seen);
}

/* ---- frames ---- */

static void put_frames_of(struct chrome *c, const struct ct_timeline_file *f, const char **before)
{
    for (uint32_t i = 1; i < f->t->frames.count; i++) {
        uint32_t caller = f->t->frames.at[i].caller;
        ct_string_printf(&c->text, "%s\n\"%" PRIu64 "\":{\"category\":\"%s\",\"name\":", *before,
                         frame_number(c, f, i), is_native(f, i) ? "native" : "python");
        ct_string_put(&c->text, ct_event_frame(&c->names, f, i));
        if (caller)
            ct_string_printf(&c->text, ",\"parent\":\"%" PRIu64 "\"", frame_number(c, f, caller));
        ct_string_put(&c->text, "}");
        ct_string_write_much(&c->text, c->out);
        *before = ",";
    }
}

static void put_frames(struct chrome *c)
{
    const char *before = ",\"stackFrames\":{";
    for (uint32_t i = 0; i < c->tl.file_count; i++)
        if (c->tl.files[i].t)
            put_frames_of(c, &c->tl.files[i], &before);
    if (*before == ',' && !before[1])
        ct_string_put(&c->text, "}");
}

/* ---- the document ---- */

/* The first element stands for the comma before each other. */
static void put_document(struct chrome *c)
{
    const struct ct_event *e;
    struct ct_string notes = {0};
    ct_timeline_notes(&c->tl, "", &notes);
    ct_string_put(&c->text,
                  "{\"displayTimeUnit\":\"ns\",\"otherData\":{\"creator\":\"cutrace\",\"notes\":");
    ct_data_quote(&c->text, notes.data ? notes.data : "");
    ct_string_printf(&c->text,
                     ",\"start_unix_ns\":\"%" PRIu64 "\"},\"traceEvents\":["
                     "\n{\"ph\":\"M\",\"pid\":0,\"name\":\"cutrace\",\"args\":{}}",
                     c->tl.zero_unix_ns);
    while (ct_timeline_next(&c->tl, &e)) {
        if (e->is_range)
            put_range(c, e);
        else if (e->is_call)
            put_call(c, e);
        else
            put_op(c, e);
        ct_string_write_much(&c->text, c->out);
    }
    put_unfinished(c);
    ct_string_put(&c->text, "\n],\"schemaVersion\":1,\"deviceProperties\":[");
    put_devices(c);
    ct_string_put(&c->text, "\n]");
    put_frames(c);
    ct_string_put(&c->text, "}\n");
    ct_string_write(&c->text, c->out);
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
    free(c.lanes);
    ct_tracks_free(&c.tracks);
    ct_open_ranges_free(&c.open);
    ct_event_names_free(&c.names);
    ct_string_free(&c.text);
    ct_string_free(&c.name);
    ct_timeline_close(&c.tl);
    return status;
}
