/* SPDX-License-Identifier: MIT */
/* Each file becomes one summary; by stream or range, each of these has a part of its rows. */
#include "report/trace/trace_profile.h"

#include <stdlib.h>

#include "report/sinks/per.h"
#include "report/trace/label_groups.h"
#include "report/trace/spans.h"
#include "report/trace/trace_options.h"
#include "report/trace/trace_sums.h"

/* A row's place in the summary: streams and ranges by their numbers, rows as they came. */
struct place {
    uint64_t group;
    uint32_t sum;
};

/* The summary made of one file. */
struct made {
    struct ct_summary summary;     /* its sections are its own */
    struct ct_merged_sizes *sizes; /* of its rows */
};

struct maker {
    const struct ct_timeline_file *f;
    bool per_range;
    struct ct_trace_sums sums;
    struct ct_key_table texts;
    struct ct_file_stack *stacks; /* of the summary, by row */
    struct made made;
};

/* The summaries of all files. */
struct profiles {
    struct ct_timeline *tl;
    struct made *made;
    struct ct_parts parts;
    struct ct_label_groups ranges;
};

/* Comes behind all ranges. */
#define IN_NO_RANGE UINT32_MAX

/* ---- sections ---- */

static uint32_t text(struct maker *m, const char *text)
{
    uint32_t number = ct_key_table_text(&m->texts, text);
    return (uint32_t)m->texts.entries[number].offset;
}

/* Room for a section, which is the summary's. */
static void *section(struct maker *m, enum ct_read_section which, size_t count, size_t bytes)
{
    return m->made.summary.grown[which] = ct_memory_array(count, bytes);
}

static void make_process(struct maker *m)
{
    const struct ct_trace_process *from = &m->f->t->process;
    struct ct_file_process *to = section(m, CT_READ_PROCESS, 1, sizeof(*to));
    *to = (struct ct_file_process){.pid = from->pid,
                                   .parent_pid = from->parent_pid,
                                   .start_unix_ns = from->start_unix_ns,
                                   .command = text(m, from->command),
                                   .host = text(m, from->host),
                                   .flags = m->f->ending ? 0 : CT_PROCESS_FINISHED};
    m->made.summary.process = to;
    m->made.summary.process_count = 1;
}

/* 0: it is, or nothing is known of it. */
static uint32_t attribute(const struct ct_trace_device *d, enum ct_trace_attribute which)
{
    uint32_t value;
    return ct_trace_says(d, which, &value) ? value : 0;
}

static void make_devices(struct maker *m)
{
    const struct ct_trace_reader *t = m->f->t;
    struct ct_file_device *to = section(m, CT_READ_DEVICES, t->devices.count, sizeof(*to));
    for (uint32_t i = 0; i < t->devices.count; i++) {
        const struct ct_trace_device *from = &t->devices.at[i];
        to[i].ordinal = from->ordinal;
        to[i].calibration = CT_CALIBRATION_TABLE; /* or another: times are durations */
        to[i].name = text(m, from->name);
        to[i].given_name = text(m, from->given_name);
        memcpy(to[i].uuid, from->uuid, sizeof(to[i].uuid));
        to[i].memory_bytes = from->memory_bytes;
        to[i].sm_count = attribute(from, CT_TRACE_MULTIPROCESSOR_COUNT);
        to[i].clock_khz = attribute(from, CT_TRACE_CLOCK_RATE);
        to[i].compute_major = attribute(from, CT_TRACE_COMPUTE_CAPABILITY_MAJOR);
        to[i].compute_minor = attribute(from, CT_TRACE_COMPUTE_CAPABILITY_MINOR);
        to[i].memory_mbs = (uint32_t)(ct_trace_memory_rate(from) / 1000000);
    }
    m->made.summary.devices = to;
    m->made.summary.devices_count = t->devices.count;
}

static int by_sum(const void *a, const void *b)
{
    const struct ct_trace_launches *x = a, *y = b;
    if (x->sum != y->sum)
        return x->sum < y->sum ? -1 : 1;
    return (x->shape > y->shape) - (x->shape < y->shape);
}

static void make_shapes(struct maker *m)
{
    struct ct_file_shape *to = section(m, CT_READ_SHAPES, m->sums.launch_keys.count, sizeof(*to));
    uint32_t count = 0;
    if (m->sums.launch_keys.count)
        qsort(m->sums.launches, m->sums.launch_keys.count, sizeof(*m->sums.launches), by_sum);
    for (uint32_t i = 0; i < m->sums.launch_keys.count; i++) {
        const struct ct_trace_launches *l = &m->sums.launches[i];
        const struct ct_trace_shape *from = &m->f->t->shapes.at[l->shape];
        struct ct_file_row *row = &m->sums.at[l->sum].figures;
        if (!from->id)
            continue;
        if (!row->shape_count++)
            row->shape_first = count;
        to[count] = (struct ct_file_shape){.dynamic_shared_bytes = from->dynamic_shared_bytes,
                                           .count = l->count};
        memcpy(to[count].grid, from->grid, sizeof(from->grid));
        memcpy(to[count].block, from->block, sizeof(from->block));
        count++;
    }
    m->made.summary.shapes = to;
    m->made.summary.shapes_count = count;
}

static void make_buckets(struct maker *m)
{
    size_t all = 0, count = 0;
    for (uint32_t i = 0; i < m->sums.keys.count; i++)
        all += m->sums.at[i].hist.count;
    for (uint32_t i = 0; i < m->sums.call_count; i++)
        all += m->sums.calls[i].hist.count;
    struct ct_file_bucket *to = section(m, CT_READ_BUCKETS, all, sizeof(*to));
    for (uint32_t i = 0; i < m->sums.keys.count; i++) {
        struct ct_trace_sum *s = &m->sums.at[i];
        s->figures.bucket_first = (uint32_t)count;
        s->figures.bucket_count = (uint32_t)s->hist.count;
        memcpy(to + count, s->hist.buckets, s->hist.count * sizeof(*to));
        count += s->hist.count;
    }
    for (uint32_t i = 0; i < m->sums.call_count; i++) {
        struct ct_trace_call_sum *s = &m->sums.calls[i];
        s->figures.bucket_first = (uint32_t)count;
        s->figures.bucket_count = (uint32_t)s->hist.count;
        if (s->hist.count)
            memcpy(to + count, s->hist.buckets, s->hist.count * sizeof(*to));
        count += s->hist.count;
    }
    m->made.summary.buckets = to;
    m->made.summary.buckets_count = count;
}

static int by_place(const void *a, const void *b)
{
    const struct place *x = a, *y = b;
    if (x->group != y->group)
        return x->group < y->group ? -1 : 1;
    return (x->sum > y->sum) - (x->sum < y->sum);
}

/* The rows' places in order, to be freed. */
static struct place *places_of(const struct maker *m)
{
    size_t count = m->sums.keys.count;
    struct place *places = ct_memory_array(count, sizeof(*places));
    for (uint32_t i = 0; i < count; i++)
        places[i] = (struct place){m->sums.per_stream ? m->f->t->streams.at[m->sums.at[i].group].id
                                                      : m->sums.at[i].group,
                                   i};
    qsort(places, count, sizeof(*places), by_place);
    return places;
}

/*
 * A trace knows nothing of failed calls and of brackets. A stream's device is its part's only one.
 */
static void make_row(struct maker *m, struct ct_file_row *to, const struct ct_trace_sum *s)
{
    const struct ct_trace_row *from = &m->f->t->rows.at[s->row];
    *to = s->figures;
    to->kind = from->kind;
    to->detail = from->detail;
    to->device = m->sums.per_stream ? 0 : from->device;
    to->name = text(m, from->name);
    to->registers = from->registers;
    to->static_shared_bytes = from->static_shared_bytes;
    to->errors = CT_MERGE_UNKNOWN;
}

static void make_rows(struct maker *m, const struct place *places)
{
    struct ct_file_row *to = section(m, CT_READ_ROWS, m->sums.keys.count, sizeof(*to));
    m->made.sizes = ct_memory_array(m->sums.keys.count, sizeof(*m->made.sizes));
    for (uint32_t i = 0; i < m->sums.keys.count; i++) {
        struct ct_trace_sum *s = &m->sums.at[places[i].sum];
        make_row(m, &to[i], s);
        m->made.sizes[i] = s->sizes;
        s->sizes = (struct ct_merged_sizes){0};
    }
    m->made.summary.rows = to;
    m->made.summary.rows_count = m->sums.keys.count;
}

/* Each frame with a line of its own, in their order: what called one comes before it. */
static void make_frames(struct maker *m)
{
    uint32_t count = m->f->t->frames.count, lines = 0;
    struct ct_key_table keys = {0};
    struct ct_file_line *line = section(m, CT_READ_LINES, count, sizeof(*line));
    struct ct_file_frame *to = section(m, CT_READ_FRAMES, count, sizeof(*to));
    for (uint32_t i = 1; i < count; i++) {
        const struct ct_trace_frame *from = &m->f->t->frames.at[i];
        struct ct_file_line own = {.line = from->line};
        own.file = text(m, from->file);
        own.function = text(m, from->function);
        uint32_t at = ct_key_table_add(&keys, &own, sizeof(own));
        line[at] = own;
        lines = keys.count;
        to[i - 1] = (struct ct_file_frame){.parent = from->caller, .line = at};
    }
    ct_key_table_free(&keys);
    m->made.summary.lines = line;
    m->made.summary.lines_count = lines;
    m->made.summary.frames = to;
    m->made.summary.frames_count = count ? count - 1 : 0;
}

static int by_row(const void *a, const void *b)
{
    const struct ct_file_stack *x = a, *y = b;
    if (x->row != y->row)
        return x->row < y->row ? -1 : 1;
    return (x->frame > y->frame) - (x->frame < y->frame);
}

static void make_stacks(struct maker *m, const struct place *places)
{
    size_t count = 0;
    uint32_t *row = ct_memory_array(m->sums.keys.count, sizeof(*row));
    m->stacks = section(m, CT_READ_STACKS, m->sums.stack_keys.count, sizeof(*m->stacks));
    for (uint32_t i = 0; i < m->sums.keys.count; i++)
        row[places[i].sum] = i;
    for (uint32_t i = 0; i < m->sums.stack_keys.count; i++) {
        const struct ct_trace_stack *from = &m->sums.stacks[i];
        if (from->frame)
            m->stacks[count++] = (struct ct_file_stack){.row = row[from->sum],
                                                        .frame = from->frame - 1,
                                                        .count = from->count,
                                                        .timed = from->count,
                                                        .total_ns = from->total_ns};
    }
    qsort(m->stacks, count, sizeof(*m->stacks), by_row);
    m->made.summary.stacks = m->stacks;
    m->made.summary.stacks_count = count;
    free(row);
}

static void make_apis(struct maker *m)
{
    struct ct_file_api *to = section(m, CT_READ_APIS, m->sums.call_count, sizeof(*to));
    size_t count = 0;
    for (uint32_t i = 0; i < m->sums.call_count; i++) {
        const struct ct_trace_api *from = &m->f->t->apis.at[i];
        if (!m->sums.calls[i].figures.calls)
            continue;
        to[count] = m->sums.calls[i].figures;
        to[count].name = text(m, from->name);
        to[count].flags = from->flags;
        to[count].timed = to[count].calls;
        count++;
    }
    m->made.summary.apis = to;
    m->made.summary.apis_count = count;
}

static void make_streams(struct maker *m)
{
    const struct ct_trace_reader *t = m->f->t;
    struct ct_file_stream *to = section(m, CT_READ_STREAMS, t->streams.count, sizeof(*to));
    for (uint32_t i = 0; i < t->streams.count; i++) {
        const struct ct_trace_stream *from = &t->streams.at[i];
        to[i] = (struct ct_file_stream){.id = from->id,
                                        .flags = from->flags,
                                        .priority = from->priority,
                                        .special = from->special,
                                        .name = text(m, from->name),
                                        .context_name = text(m, from->context_name)};
    }
    m->made.summary.streams = to;
}

/* Comes last: texts move while there are new ones. */
static void take_texts(struct maker *m)
{
    m->made.summary.strings = m->made.summary.grown[CT_READ_STRINGS] = m->texts.blob.data;
    m->made.summary.strings_count = m->texts.blob.len;
    m->texts.blob = (struct ct_string){0};
}

/* ---- parts ---- */

static struct ct_part *add_part(struct profiles *p, const struct maker *m)
{
    struct ct_parts *parts = &p->parts;
    parts->at = ct_memory_grow(parts->at, &parts->size, parts->count + 1, sizeof(*parts->at));
    struct ct_part *part = &parts->at[parts->count++];
    *part =
        (struct ct_part){.file = m->f->path, .summary = m->made.summary, .sizes = m->made.sizes};
    return part;
}

/* The stacks of some rows, which are counted from the first of these on. */
static void take_stacks(struct ct_summary *s, struct ct_file_stack *stacks, size_t first,
                        size_t end)
{
    size_t from = 0, to;
    while (from < s->stacks_count && stacks[from].row < first)
        from++;
    for (to = from; to < s->stacks_count && stacks[to].row < end; to++)
        stacks[to].row -= (uint32_t)first;
    s->stacks = stacks + from;
    s->stacks_count = to - from;
}

/* The rows of one stream or range; a stream's part has that one, and its device, alone. */
static void add_group(struct profiles *p, const struct maker *m, uint32_t group, size_t first,
                      size_t end)
{
    struct ct_part *part = add_part(p, m);
    struct ct_summary *s = &part->summary;
    s->rows += first;
    s->rows_count = end - first;
    if (m->stacks)
        take_stacks(s, m->stacks, first, end);
    part->sizes += first;
    if (m->sums.per_stream) {
        s->streams += group;
        s->streams_count = 1;
        s->devices += m->f->t->streams.at[group].device;
        s->devices_count = 1;
    } else {
        part->range =
            group == IN_NO_RANGE ? "(in no range)" : ct_label_groups_name(&p->ranges, group);
        part->range_number = group;
    }
}

/* One that has no rows is in no group. */
static void add_parts(struct profiles *p, const struct maker *m, const struct place *places)
{
    size_t count = m->sums.keys.count;
    bool has_groups = m->sums.per_stream || m->per_range;
    if (!has_groups || !count)
        add_part(p, m)->range_number = IN_NO_RANGE;
    for (size_t first = 0, end; has_groups && first < count; first = end) {
        for (end = first + 1; end < count && places[end].group == places[first].group; end++)
            ;
        add_group(p, m, m->sums.at[places[first].sum].group, first, end);
    }
}

/* ---- all of it ---- */

static void make_sections(struct maker *m, const struct place *places)
{
    text(m, "");
    make_process(m);
    make_devices(m);
    make_shapes(m);
    make_buckets(m);
    make_rows(m, places);
    if (m->sums.with_stacks) {
        make_frames(m);
        make_stacks(m, places);
    }
    make_apis(m);
    make_streams(m);
    take_texts(m);
}

static struct maker maker_of(const struct ct_options *o, const struct ct_timeline_file *f)
{
    return (struct maker){.f = f,
                          .per_range = o->per == CT_PER_RANGE,
                          .sums = {.per_stream = o->per == CT_PER_STREAM,
                                   .with_stacks = o->report->may & CT_PER_RANGE},
                          .made.summary.minor = CT_FILE_MINOR};
}

/* Its operations have been added up. */
static void finish(struct profiles *p, struct maker *m)
{
    if (m->f->t) {
        struct place *places = places_of(m);
        make_sections(m, places);
        add_parts(p, m, places);
        free(places);
    }
    p->made[m->f->index] = m->made;
    ct_trace_sums_free(&m->sums);
    ct_key_table_free(&m->texts);
}

static void make(struct profiles *p, const struct ct_options *options, struct ct_timeline_file *f)
{
    struct maker m = maker_of(options, f);
    const struct ct_event *e;
    while (ct_timeline_next_in(p->tl, f, &e))
        if (e->is_call)
            ct_trace_sums_call(&m.sums, &e->call);
        else
            ct_trace_sums_add(&m.sums, &e->op);
    finish(p, &m);
    ct_timeline_close_file(f);
}

static void free_made(struct made *made)
{
    for (size_t i = 0; i < made->summary.rows_count; i++)
        free(made->sizes[i].hist.buckets);
    free(made->sizes);
    ct_summary_free(&made->summary);
}

/* Calls are the host's: of no stream. */
static struct ct_timeline_options options_of(const struct ct_options *o)
{
    struct ct_timeline_options t = ct_trace_options(o);
    t.as_read = true;
    t.ops = true;
    t.calls = o->report->may & CT_MAY_CALLS && o->per != CT_PER_STREAM;
    return t;
}

/* ---- by range ---- */

struct ranges_reader {
    struct profiles *p;
    const struct ct_options *o;
    struct ct_spans spans;
    struct maker *makers; /* by file */
    size_t makers_size;
};

static struct maker *maker_at(struct ranges_reader *r, struct ct_timeline_file *f)
{
    size_t known = r->makers_size;
    r->makers =
        ct_memory_grow(r->makers, &r->makers_size, (size_t)f->index + 1, sizeof(*r->makers));
    for (size_t i = known; i < r->makers_size; i++)
        r->makers[i] = maker_of(r->o, NULL);
    r->makers[f->index].f = f;
    return &r->makers[f->index];
}

/* In each range once, also where one is in another of its name; the outermost is the first. */
static void take_op(void *user, const struct ct_event *e, const uint32_t *spans, size_t count)
{
    struct ranges_reader *r = user;
    struct maker *m = maker_at(r, e->file);
    uint32_t groups[CT_OPEN_RANGES_MOST];
    size_t n = 0;
    if (e->end_ns < r->o->since_ns || e->start_ns >= r->o->until_ns)
        return;
    for (size_t i = count; i-- > 0;) {
        uint32_t group =
            ct_label_groups_of(&r->p->ranges, &e->file->t->labels.at[r->spans.at[spans[i]].label]);
        bool is_new = true;
        for (size_t k = 0; k < n; k++)
            is_new &= groups[k] != group;
        if (is_new)
            groups[n++] = group;
    }
    if (!n)
        groups[n++] = IN_NO_RANGE;
    for (size_t i = 0; i < n; i++)
        ct_trace_sums_add_to(&m->sums, &e->op, groups[i]);
}

/* The operations in the window, though their calls and ranges may be before it. */
static void read_by_range(struct profiles *p, struct ranges_reader *r)
{
    struct ct_options whole = *r->o;
    whole.since_ns = 0;
    whole.until_ns = UINT64_MAX;
    p->tl = &r->spans.tl;
    ct_spans_read(&r->spans, &whole, take_op, r);
    p->made = ct_memory_array(p->tl->file_count, sizeof(*p->made));
}

static bool has_frames(const struct ct_timeline *tl)
{
    for (uint32_t i = 0; i < tl->file_count; i++)
        if (tl->files[i].t && tl->files[i].t->frames.count > 1)
            return true;
    return false;
}

/* ---- reports ---- */

static int report(struct profiles *p, const struct ct_input *in, struct ct_sink *sink, FILE *out)
{
    struct ct_string notes = {0};
    ct_timeline_notes(p->tl, "", &notes);
    p->parts.notes = notes.data;
    int status = p->tl->failed | ct_per_parts(in, sink, &p->parts, out);
    for (uint32_t i = 0; i < p->tl->file_count; i++)
        free_made(&p->made[i]);
    ct_label_groups_free(&p->ranges);
    free(p->made);
    free(p->parts.at);
    ct_string_free(&notes);
    return status;
}

/* Without a frame, ranges would only repeat that there is none. */
static int report_ranges(const struct ct_input *in, struct ct_sink *sink, FILE *out)
{
    struct profiles p = {0};
    struct ranges_reader r = {.p = &p, .o = in->o};
    struct ct_options o = *in->o;
    struct ct_input own = *in;
    read_by_range(&p, &r);
    own.o = &o;
    if (!has_frames(p.tl))
        o.per = CT_PER_NONE;
    for (uint32_t i = 0; i < p.tl->file_count; i++) {
        struct maker *m = maker_at(&r, &p.tl->files[i]);
        m->per_range = o.per == CT_PER_RANGE;
        finish(&p, m);
    }
    free(r.makers);
    int status = report(&p, &own, sink, out);
    ct_spans_free(&r.spans);
    return status;
}

int ct_trace_profile_rows(const struct ct_input *in, struct ct_sink *sink, FILE *out)
{
    struct ct_timeline tl;
    struct profiles p = {.tl = &tl};
    struct ct_timeline_options o = options_of(in->o);
    if (in->o->per == CT_PER_RANGE)
        return report_ranges(in, sink, out);
    ct_timeline_open(&tl, in->o->files, in->o->file_count, &o);
    p.made = ct_memory_array(tl.file_count, sizeof(*p.made));
    for (uint32_t i = 0; i < tl.file_count; i++)
        make(&p, in->o, &tl.files[i]);
    int status = report(&p, in, sink, out);
    ct_timeline_close(&tl);
    return status;
}
