/* SPDX-License-Identifier: MIT */
#include "page/page_timeline.h"

#include <stdlib.h>
#include <zlib.h>

#include "base/base.h"
#include "page/base64.h"
#include "page/json.h"
#include "report/file_error.h"
#include "report/names.h"
#include "report/reports.h"
#include "report/trace/open_ranges.h"
#include "report/trace/trace_options.h"

/* zlib counts in 32 bits. */
#define PIECE_BYTES ((size_t)1 << 30)

/* A table of a trace: numbers of ours by indices of its own, plus one. */
struct numbers {
    uint32_t *at;
    size_t size;
};

struct reading {
    struct ct_page_timeline *t;
    const struct ct_view_options *o;
    const struct ct_merged *m;
    const struct ct_timeline_file *file; /* the file that is read */
    struct numbers rows, apis, streams, threads, labels, shapes;
    struct ct_key_table whats; /* names: rows' behind a blank, labels' behind a color */
    struct ct_key_table lanes; /* lanes of ranges */
    struct ct_key_table known; /* shapes: grid, block, dynamic shared memory */
    struct numbers range_lanes;
    struct ct_open_ranges open;
    uint64_t end_ns;
    json_t *what_list;
    json_t *lane_list;
    json_t *file_list;
    json_t *shape_list;
    uint64_t resolution_ns;
    bool foreign; /* a trace is of none of m's processes */
};

/* The number of ours behind an index, made with `add` when it comes first. */
static uint32_t number_of(struct reading *r, struct numbers *n, uint32_t index,
                          uint32_t (*add)(struct reading *r, uint32_t index))
{
    n->at = ct_memory_grow(n->at, &n->size, (size_t)index + 1, sizeof(*n->at));
    if (!n->at[index])
        n->at[index] = add(r, index) + 1;
    return n->at[index] - 1;
}

static uint32_t add_what(struct reading *r, const char *name, bool is_call)
{
    struct ct_string key = {0};
    uint32_t known = r->whats.count;
    ct_string_printf(&key, "%s%s", is_call ? "" : " ", name);
    uint32_t what = ct_key_table_text(&r->whats, key.data);
    ct_string_free(&key);
    if (what == known) {
        json_t *to = ct_json_object();
        ct_json_text(to, "name", name);
        ct_json_flag(to, "call", is_call);
        ct_json_append(r->what_list, to);
    }
    return what;
}

static uint32_t add_row(struct reading *r, uint32_t index)
{
    const struct ct_trace_row *row = &r->file->t->rows.at[index];
    struct ct_string name = {0};
    ct_name_operation(&name, row->kind, row->detail, row->name,
                      r->o->grouped     ? CT_NAMES_GROUPED
                      : !r->o->demangle ? CT_NAMES_MANGLED
                      : r->o->base      ? CT_NAMES_BASE
                                        : CT_NAMES_DEMANGLED);
    uint32_t what = add_what(r, name.data, false);
    ct_string_free(&name);
    return what;
}

static uint32_t add_api(struct reading *r, uint32_t index)
{
    struct ct_string name = {0};
    ct_name_api(&name, r->file->t->apis.at[index].name);
    uint32_t what = add_what(r, name.data, true);
    ct_string_free(&name);
    return what;
}

/* Shapes are alike in files of one program. */
static uint32_t add_shape(struct reading *r, uint32_t index)
{
    const struct ct_trace_shape *s = &r->file->t->shapes.at[index];
    const uint64_t numbers[] = {s->grid[0],
                                s->grid[1],
                                s->grid[2],
                                s->block[0],
                                s->block[1],
                                s->block[2],
                                s->dynamic_shared_bytes};
    uint32_t known = r->known.count, shape = ct_key_table_add(&r->known, numbers, sizeof(numbers));
    if (shape == known) {
        json_t *to = ct_json_array();
        for (size_t i = 0; i < ct_countof(numbers); i++)
            ct_json_append_count(to, numbers[i]);
        ct_json_append(r->shape_list, to);
    }
    return shape;
}

static uint32_t add_label(struct reading *r, uint32_t index)
{
    const struct ct_trace_label *l = &r->file->t->labels.at[index];
    struct ct_string key = {0}, name = {0};
    uint32_t known = r->whats.count;
    ct_name_safe(&name, l->name);
    ct_string_printf(&key, "#%08x %s", l->color, name.data);
    uint32_t what = ct_key_table_text(&r->whats, key.data);
    if (what == known) {
        json_t *to = ct_json_object();
        ct_json_text(to, "name", name.data);
        ct_json_flag(to, "call", true);
        ct_json_flag(to, "range", true);
        ct_json_count(to, "color", l->color);
        ct_json_append(r->what_list, to);
    }
    ct_string_free(&name);
    ct_string_free(&key);
    return what;
}

static uint32_t add_lane(struct reading *r, json_t *facts)
{
    struct ct_page_timeline *t = r->t;
    t->lanes = ct_memory_grow(t->lanes, &t->lanes_size, t->lane_count + 1, sizeof(*t->lanes));
    t->lanes[t->lane_count].resolution_ns = r->resolution_ns;
    ct_json_count(facts, "file", json_array_size(r->file_list) - 1);
    ct_json_append(r->lane_list, facts);
    return (uint32_t)t->lane_count++;
}

static uint32_t add_stream(struct reading *r, uint32_t index)
{
    const struct ct_trace_stream *s = &r->file->t->streams.at[index];
    json_t *to = ct_json_object();
    ct_json_count(to, "stream", s->id);
    ct_json_count(to, "special", s->special);
    ct_json_safe(to, "name", s->name);
    if (s->device < r->file->t->devices.count) {
        ct_json_count(to, "device", r->file->t->devices.at[s->device].ordinal);
        ct_json_safe(to, "device_name", r->file->t->devices.at[s->device].name);
    }
    return add_lane(r, to);
}

static uint32_t add_thread(struct reading *r, uint32_t index)
{
    const struct ct_trace_thread *thread = &r->file->t->threads.at[index];
    json_t *to = ct_json_object();
    ct_json_count(to, "thread", thread->tid);
    ct_json_safe(to, "thread_name", thread->name);
    return add_lane(r, to);
}

/* Ranges that overlap have lanes of their own; a pushed range lies below the one around it. */
static uint32_t range_lane(struct reading *r, const struct ct_event *e, uint32_t lane)
{
    struct ct_string key = {0};
    ct_open_ranges_key(&key, e, lane);
    uint32_t index = ct_key_table_text(&r->lanes, key.data);
    ct_string_free(&key);
    struct numbers *n = &r->range_lanes;
    n->at = ct_memory_grow(n->at, &n->size, (size_t)index + 1, sizeof(*n->at));
    if (!n->at[index]) {
        json_t *to = ct_json_object();
        ct_json_count(to, "thread", r->file->t->threads.at[e->range.thread].tid);
        ct_json_safe(to, "thread_name", r->file->t->threads.at[e->range.thread].name);
        ct_json_flag(to, "ranges", true);
        ct_json_flag(to, "started", e->range.number != 0);
        ct_json_count(to, "depth", lane);
        ct_json_safe(to, "domain", r->file->t->labels.at[e->range.label].domain);
        n->at[index] = add_lane(r, to) + 1;
    }
    return n->at[index] - 1;
}

/* A range's lane and label in one number: the trace's tables may be gone when the range ends. */
static int64_t place_of(struct reading *r, const struct ct_event *e, uint32_t lane)
{
    uint32_t what = number_of(r, &r->labels, e->range.label, add_label);
    return (int64_t)range_lane(r, e, lane) << 32 | what;
}

static void add_range(struct reading *r, int64_t place, uint64_t start_ns, uint64_t end_ns)
{
    struct ct_lane_item item = {.start_ns = start_ns, .end_ns = end_ns, .what = (uint32_t)place};
    ct_lane_add(&r->t->lanes[place >> 32], &item);
}

static void take_range(struct reading *r, const struct ct_event *e)
{
    struct ct_range_span over[CT_OPEN_RANGES_MOST];
    if (e->range.phase == CT_TRACE_RANGE_MARKS) {
        add_range(r, place_of(r, e, 0), e->start_ns, e->end_ns);
    } else if (e->range.phase == CT_TRACE_RANGE_BEGINS) {
        struct ct_range_span *begun = ct_open_ranges_begin(&r->open, e);
        begun->own = place_of(r, e, begun->lane);
    } else {
        size_t count = ct_open_ranges_end(&r->open, e, over);
        for (size_t i = 0; i < count; i++)
            add_range(r, over[i].own, over[i].start_ns, e->end_ns);
    }
}

/* A range without an end lasts to the timeline's end. */
static void end_ranges(struct reading *r)
{
    struct ct_range_span range;
    while (r->file && ct_open_ranges_left(&r->open, r->file, &range))
        add_range(r, range.own, range.start_ns, r->end_ns);
}

static void add_event(struct reading *r, const struct ct_event *e)
{
    struct ct_lane_item item = {.start_ns = e->start_ns, .end_ns = e->end_ns};
    uint32_t lane;
    if (e->is_range) {
        take_range(r, e);
        return;
    }
    if (e->is_call) {
        lane = number_of(r, &r->threads, e->call.thread, add_thread);
        item.correlation = e->call.correlation;
        item.what = number_of(r, &r->apis, e->call.api, add_api);
    } else {
        lane = number_of(r, &r->streams, (uint32_t)e->op.stream, add_stream);
        item.correlation = e->op.correlation;
        item.bytes = e->op.bytes;
        item.what = number_of(r, &r->rows, e->op.row, add_row);
        if (e->op.shape)
            item.shape = number_of(r, &r->shapes, (uint32_t)e->op.shape, add_shape) + 1;
    }
    ct_lane_add(&r->t->lanes[lane], &item);
}

static void free_numbers(struct reading *r)
{
    struct numbers *tables[] = {&r->rows,    &r->apis,   &r->streams,
                                &r->threads, &r->labels, &r->shapes};
    for (size_t i = 0; i < ct_countof(tables); i++) {
        free(tables[i]->at);
        *tables[i] = (struct numbers){0};
    }
}

/* The trace's process among those of the profiles; NULL: it is none of them. */
static const struct ct_file_process *process_of(const struct reading *r,
                                                const struct ct_timeline_file *f)
{
    const struct ct_trace_process *p = &f->t->process;
    for (size_t i = 0; i < r->m->process_count; i++)
        if (r->m->processes[i].pid == p->pid &&
            r->m->processes[i].start_unix_ns == p->start_unix_ns)
            return &r->m->processes[i];
    return NULL;
}

/* The timeline of one program would stand beside the figures of another. */
static void refuse_foreign(struct reading *r, const struct ct_timeline_file *f)
{
    char reason[64];
    snprintf(reason, sizeof(reason), "is of process %u, and none of the profiles is",
             f->t->process.pid);
    ct_file_error(f->path, reason);
    r->foreign = true;
}

static void begin_file(struct reading *r, const struct ct_timeline_file *f)
{
    json_t *to = ct_json_object();
    const struct ct_file_process *process = process_of(r, f);
    end_ranges(r);
    if (!process)
        refuse_foreign(r, f);
    else if (process->rank)
        ct_json_count(to, "rank", process->rank - 1);
    ct_json_count(to, "pid", f->t->process.pid);
    ct_json_safe(to, "host", f->t->process.host);
    ct_json_append(r->file_list, to);
    free_numbers(r);
    r->file = f;
}

/* The span that the page has: a range that overlaps the window may go far beyond it. */
static uint64_t first_ns(const struct ct_timeline *tl)
{
    return ct_max(tl->facts.first_ns, tl->o.since_ns);
}

static uint64_t last_ns(const struct ct_timeline *tl)
{
    return ct_min(tl->facts.end_ns, tl->o.until_ns);
}

/*
 * So long that there are no more items than allowed: an item and the next in its lane together are
 * longer than the resolution, but for those that cross the begin or end of the span.
 */
static uint64_t choose_resolution(uint64_t most_items, const struct ct_timeline *tl)
{
    const struct ct_timeline_facts *f = &tl->facts;
    if (f->ops + f->calls + f->ranges <= most_items)
        return 0;
    uint64_t pairs = most_items / 2 / f->lanes;
    return (last_ns(tl) - first_ns(tl)) / (pairs > 2 ? pairs - 2 : 1) + 1;
}

static void add_facts(struct reading *r, const struct ct_timeline *tl)
{
    const struct ct_timeline_facts *f = &tl->facts;
    struct ct_page_timeline *t = r->t;
    json_t *to = t->facts = ct_json_object();
    for (size_t i = 0; i < t->lane_count; i++) {
        struct ct_lane *lane = &t->lanes[i];
        json_t *facts = json_array_get(r->lane_list, i), *bytes = ct_json_array();
        ct_lane_finish(lane);
        for (int k = 0; k < CT_LANE_COLUMNS; k++)
            ct_json_append_count(bytes, lane->columns[k].len);
        ct_json_count(facts, "items", lane->items);
        ct_json_count(facts, "records", lane->records);
        ct_json_count(facts, "busy", lane->busy_ns);
        ct_json_set(facts, "bytes", bytes);
    }
    ct_json_count(to, "first", first_ns(tl));
    ct_json_count(to, "last", last_ns(tl));
    ct_json_count(to, "records", f->ops + f->calls);
    ct_json_count(to, "resolution", r->resolution_ns);
    ct_json_set(to, "files", r->file_list);
    ct_json_set(to, "lanes", r->lane_list);
    ct_json_add_short(r->what_list, "name", "short");
    ct_json_set(to, "whats", r->what_list);
    ct_json_set(to, "shapes", r->shape_list);
}

static void take_all(struct reading *r, struct ct_timeline *tl)
{
    const struct ct_event *e;
    r->resolution_ns = choose_resolution(r->t->most_items, tl);
    r->end_ns = tl->facts.end_ns;
    r->what_list = ct_json_array();
    r->lane_list = ct_json_array();
    r->file_list = ct_json_array();
    r->shape_list = ct_json_array();
    while (ct_timeline_next(tl, &e)) {
        if (e->file != r->file)
            begin_file(r, e->file);
        add_event(r, e);
    }
    end_ranges(r);
    free_numbers(r);
    free(r->range_lanes.at);
    ct_open_ranges_free(&r->open);
    ct_key_table_free(&r->lanes);
    ct_key_table_free(&r->known);
    ct_key_table_free(&r->whats);
    add_facts(r, tl);
}

bool ct_page_timeline_read(struct ct_page_timeline *t, const struct ct_merged *m,
                           const struct ct_options *o)
{
    struct ct_view_options view = ct_report_view(o);
    struct ct_timeline_options all = ct_trace_all(o);
    struct reading r = {.t = t, .o = &view, .m = m};
    struct ct_timeline tl;
    char **traces = NULL;
    size_t size = 0;
    int count = 0;
    for (int i = 0; i < o->file_count; i++) {
        traces = ct_memory_grow(traces, &size, (size_t)count + 1, sizeof(*traces));
        traces[count] = o->files[i];
        count += ct_trace_is_file(o->files[i]);
    }
    all.as_read = true;
    ct_timeline_open(&tl, traces, count, &all);
    if (tl.facts.ops + tl.facts.calls + tl.facts.ranges)
        take_all(&r, &tl);
    ct_timeline_say_notes(&tl);
    ct_timeline_close(&tl);
    free(traces);
    return !tl.failed && !r.foreign;
}

static void deflate_to(struct ct_base64 *b, z_stream *z, const void *data, size_t bytes, int flush)
{
    uint8_t packed[16384];
    z->next_in = (uint8_t *)(uintptr_t)data;
    z->avail_in = (uInt)bytes;
    do {
        z->next_out = packed;
        z->avail_out = sizeof(packed);
        deflate(z, flush);
        ct_base64_put(b, packed, sizeof(packed) - z->avail_out);
    } while (!z->avail_out);
}

void ct_page_timeline_print(const struct ct_page_timeline *t, FILE *out)
{
    struct ct_base64 b = {.out = out};
    z_stream z = {0};
    if (!t->facts)
        return;
    if (deflateInit(&z, Z_DEFAULT_COMPRESSION) != Z_OK)
        ct_memory_fail();
    for (size_t i = 0; i < t->lane_count; i++) {
        for (int k = 0; k < CT_LANE_COLUMNS; k++) {
            const struct ct_string *column = &t->lanes[i].columns[k];
            for (size_t at = 0; at < column->len; at += PIECE_BYTES) {
                size_t left = column->len - at;
                deflate_to(&b, &z, column->data + at, left < PIECE_BYTES ? left : PIECE_BYTES,
                           Z_NO_FLUSH);
            }
        }
    }
    deflate_to(&b, &z, NULL, 0, Z_FINISH);
    deflateEnd(&z);
    ct_base64_end(&b);
}

void ct_page_timeline_free(struct ct_page_timeline *t)
{
    for (size_t i = 0; i < t->lane_count; i++)
        ct_lane_free(&t->lanes[i]);
    free(t->lanes);
    json_decref(t->facts);
}
