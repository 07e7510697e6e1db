/* SPDX-License-Identifier: MIT */
/* Each file becomes one summary; by stream, each stream has a part of its rows. */
#include "report/trace/trace_profile.h"

#include <stdlib.h>

#include "report/sinks/per.h"
#include "report/trace/trace_options.h"
#include "report/trace/trace_sums.h"

/* A row's place in the summary: streams by their numbers, rows as they came. */
struct place {
    uint64_t stream;
    uint32_t sum;
};

/* The summary made of one file. */
struct made {
    struct ct_summary summary;     /* its sections are its own */
    struct ct_merged_sizes *sizes; /* of its rows */
};

struct maker {
    const struct ct_timeline_file *f;
    struct ct_trace_sums sums;
    struct ct_key_table texts;
    struct made made;
};

/* The summaries of all files. */
struct profiles {
    struct ct_timeline tl;
    struct made *made;
    struct ct_parts parts;
};

/* ---- sections ---- */

static uint32_t text(struct maker *m, const char *text)
{
    uint32_t number = ct_key_table_text(&m->texts, text);
    return (uint32_t)m->texts.entries[number].offset;
}

/* Room for a section, which is the summary's. */
static void *section(struct maker *m, enum ct_read_section which, size_t count, size_t bytes)
{
    size_t none = 0;
    return m->made.summary.grown[which] = ct_memory_grow(NULL, &none, count + 1, bytes);
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
    if (x->stream != y->stream)
        return x->stream < y->stream ? -1 : 1;
    return (x->sum > y->sum) - (x->sum < y->sum);
}

/* The rows' places in order, to be freed. */
static struct place *places_of(const struct maker *m)
{
    size_t none = 0, count = m->sums.keys.count;
    struct place *places = ct_memory_grow(NULL, &none, count + 1, sizeof(*places));
    for (uint32_t i = 0; i < count; i++)
        places[i] = (struct place){
            m->sums.per_stream ? m->f->t->streams.at[m->sums.at[i].stream].id : 0, i};
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
    size_t none = 0;
    m->made.sizes = ct_memory_grow(NULL, &none, m->sums.keys.count, sizeof(*m->made.sizes));
    for (uint32_t i = 0; i < m->sums.keys.count; i++) {
        struct ct_trace_sum *s = &m->sums.at[places[i].sum];
        make_row(m, &to[i], s);
        m->made.sizes[i] = s->sizes;
        s->sizes = (struct ct_merged_sizes){0};
    }
    m->made.summary.rows = to;
    m->made.summary.rows_count = m->sums.keys.count;
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
    *part = (struct ct_part){m->f->path, m->made.summary, m->made.sizes};
    return part;
}

/* One stream's rows, and of streams and devices the one that these refer to. */
static void add_stream(struct profiles *p, const struct maker *m, uint32_t stream, size_t first,
                       size_t end)
{
    struct ct_part *part = add_part(p, m);
    struct ct_summary *s = &part->summary;
    s->rows += first;
    s->rows_count = end - first;
    s->streams += stream;
    s->streams_count = 1;
    s->devices += m->f->t->streams.at[stream].device;
    s->devices_count = 1;
    part->sizes += first;
}

static void add_parts(struct profiles *p, const struct maker *m, const struct place *places)
{
    size_t count = m->sums.keys.count;
    if (!m->sums.per_stream || !count)
        add_part(p, m);
    for (size_t first = 0, end; m->sums.per_stream && first < count; first = end) {
        for (end = first + 1; end < count && places[end].stream == places[first].stream; end++)
            ;
        add_stream(p, m, m->sums.at[places[first].sum].stream, first, end);
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
    make_apis(m);
    make_streams(m);
    take_texts(m);
}

static void make(struct profiles *p, struct ct_timeline_file *f, bool per_stream)
{
    struct maker m = {.f = f, .sums.per_stream = per_stream, .made.summary.minor = CT_FILE_MINOR};
    const struct ct_event *e;
    while (ct_timeline_next_in(&p->tl, f, &e))
        if (e->is_call)
            ct_trace_sums_call(&m.sums, &e->call);
        else
            ct_trace_sums_add(&m.sums, &e->op);
    if (f->t) {
        struct place *places = places_of(&m);
        make_sections(&m, places);
        add_parts(p, &m, places);
        free(places);
    }
    p->made[f->index] = m.made;
    ct_trace_sums_free(&m.sums);
    ct_key_table_free(&m.texts);
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

int ct_trace_profile_rows(const struct ct_input *in, struct ct_sink *sink, FILE *out)
{
    struct profiles p = {0};
    struct ct_timeline_options o = options_of(in->o);
    struct ct_string notes = {0};
    size_t none = 0;
    ct_timeline_open(&p.tl, in->o->files, in->o->file_count, &o);
    p.made = ct_memory_grow(NULL, &none, p.tl.file_count, sizeof(*p.made));
    for (uint32_t i = 0; i < p.tl.file_count; i++)
        make(&p, &p.tl.files[i], in->o->per == CT_PER_STREAM);
    ct_timeline_notes(&p.tl, "", &notes);
    p.parts.notes = notes.data;
    int status = p.tl.failed | ct_per_parts(in, sink, &p.parts, out);
    for (uint32_t i = 0; i < p.tl.file_count; i++)
        free_made(&p.made[i]);
    free(p.made);
    free(p.parts.at);
    ct_string_free(&notes);
    ct_timeline_close(&p.tl);
    return status;
}
