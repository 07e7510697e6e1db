/* SPDX-License-Identifier: MIT */
/*
 * nsys's cuda_kern_exec_sum: of each kernel how long its calls took (A), how long it waited behind
 * them (Q), how long it ran (K), and all of it (T), in all or for each stream. A call and its
 * kernel come in any order: the first of the two waits for the other.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hist.h"
#include "report/profile/key_table.h"
#include "report/profile/merged_hist.h"
#include "report/reports.h"
#include "report/trace/event_names.h"
#include "report/trace/trace_options.h"

/* ---- columns ---- */

#define MEASURE(X, id)                                                                             \
    X(id##_AVG, #id "Avg (ns)", NUMBER, NONE)                                                      \
    X(id##_MED, #id "Med (ns)", NUMBER, NONE)                                                      \
    X(id##_MIN, #id "Min (ns)", COUNT, NONE)                                                       \
    X(id##_MAX, #id "Max (ns)", COUNT, NONE)                                                       \
    X(id##_DEV, #id "StdDev (ns)", NUMBER, NONE)

/*
 * The last argument: the fold of a column where each stream is by itself. STREAM is there only
 * then.
 */
#define COLUMNS(X)                                                                                 \
    X(STREAM, "Strm", COUNT, GROUP)                                                                \
    X(PID, "PID", COUNT, GROUP)                                                                    \
    X(TID, "TID", COUNT, NONE)                                                                     \
    X(DEVICE, "DevId", COUNT, NONE)                                                                \
    X(PAIRS, "Count", COUNT, NONE)                                                                 \
    X(QCOUNT, "QCount", COUNT, NONE)                                                               \
    MEASURE(X, T)                                                                                  \
    MEASURE(X, A)                                                                                  \
    MEASURE(X, Q)                                                                                  \
    MEASURE(X, K)                                                                                  \
    X(API, "API Name", NAME, NONE)                                                                 \
    X(KERNEL, "Kernel Name", NAME, NONE)

enum column {
#define X(id, heading, type, fold) COLUMN_##id,
    COLUMNS(X)
#undef X
        COLUMN_COUNT
};

static const struct ct_column columns[] = {
#define X(id, heading, type, fold) {heading, heading, CT_CELL_##type, CT_FOLD_NONE, 1},
    COLUMNS(X)
#undef X
};

static const struct ct_column stream_columns[] = {
#define X(id, heading, type, fold) {heading, heading, CT_CELL_##type, CT_FOLD_##fold, 1},
    COLUMNS(X)
#undef X
};

#define NAME "cuda_kern_exec_sum"
#define TITLE "CUDA Kernel Launch & Exec Time Summary (" NAME ")"

static const struct ct_relation relation = {NAME, TITLE, columns + 1, COLUMN_COUNT - 1};
static const struct ct_relation stream_relation = {NAME, TITLE, stream_columns, COLUMN_COUNT};

/* ---- groups ---- */

/* Times of one kind: number, bounds and sums, and how often each bucket of hist.h was hit. */
struct times {
    uint64_t count;
    uint64_t least_ns;
    uint64_t most_ns;
    double total_ns;
    double square_ns2;
    uint64_t *octaves[CT_HIST_OCTAVES + 1];
};

enum measure { MEASURE_ALL, MEASURE_API, MEASURE_QUEUE, MEASURE_KERNEL, MEASURES };

/* Pairs of one key are a group; its bytes are compared, so all of it is set. */
struct key {
    uint32_t file;
    uint32_t thread;
    uint32_t device;
    uint32_t api;
    uint32_t row;
    uint32_t stream; /* 0 unless each is by itself */
};

struct group {
    struct key key;
    struct times times[MEASURES];
};

/* One half of a pair. */
struct half {
    uint64_t start_ns;
    uint64_t end_ns;
    bool is_call;
    uint32_t ids[3];    /* of a call: thread, api; of a kernel: device, row, stream */
    uint32_t next_free; /* in a free place: the next free one, as below */
};

struct summary {
    struct ct_timeline tl;
    struct ct_event_names names;
    struct ct_key_table shown; /* names of kernels by file, where those of several are the same */
    uint32_t *first_rows;      /* the first row that is shown so */
    size_t first_rows_size;
    struct ct_key_table keys;
    struct group *groups;
    size_t groups_size;
    struct half *halves;
    size_t halves_size;
    uint32_t half_count;
    uint32_t free_half;      /* places are indices and 1; 0: none */
    struct ct_links *places; /* by file, of the half that waits under a correlation */
    uint64_t pairs;
    bool per_stream;
};

static void add_time(struct times *t, uint64_t ns)
{
    uint32_t bucket = ct_hist_bucket(ns);
    uint64_t **octave = &t->octaves[bucket / CT_HIST_STEPS];
    if (!*octave)
        *octave = ct_memory_array(CT_HIST_STEPS, sizeof(**octave));
    (*octave)[bucket % CT_HIST_STEPS]++;
    t->least_ns = t->count && t->least_ns < ns ? t->least_ns : ns;
    t->most_ns = ns > t->most_ns ? ns : t->most_ns;
    t->total_ns += (double)ns;
    t->square_ns2 += (double)ns * (double)ns;
    t->count++;
}

/* The time of that rank, from 1 on: the middle of its bucket, so within 0.4 %. */
static double ranked_ns(const struct times *t, uint64_t rank)
{
    uint64_t before = 0;
    for (uint32_t b = 0; b < CT_HIST_BUCKETS; b++) {
        const uint64_t *octave = t->octaves[b / CT_HIST_STEPS];
        before += octave ? octave[b % CT_HIST_STEPS] : 0;
        if (before >= rank)
            return fmin(fmax((double)ct_hist_middle(b), (double)t->least_ns), (double)t->most_ns);
    }
    return (double)t->most_ns;
}

/* An even number has the mean of the two in the middle. */
static double median_ns(const struct times *t)
{
    return (ranked_ns(t, (t->count + 1) / 2) + ranked_ns(t, t->count / 2 + 1)) / 2;
}

static struct group *group_of(struct summary *s, const struct key *key)
{
    uint32_t number = ct_key_table_add(&s->keys, key, sizeof(*key));
    s->groups = ct_memory_grow(s->groups, &s->groups_size, (size_t)number + 1, sizeof(*s->groups));
    s->groups[number].key = *key;
    return &s->groups[number];
}

static void add_pair(struct summary *s, uint32_t file, const struct half *call,
                     const struct half *kernel)
{
    uint32_t stream = s->per_stream ? kernel->ids[2] : 0;
    struct key key = {file, call->ids[0], kernel->ids[0], call->ids[1], kernel->ids[1], stream};
    struct group *g = group_of(s, &key);
    uint64_t begin_ns = ct_min(call->start_ns, kernel->start_ns);
    add_time(&g->times[MEASURE_ALL], ct_max(call->end_ns, kernel->end_ns) - begin_ns);
    add_time(&g->times[MEASURE_API], call->end_ns - call->start_ns);
    add_time(&g->times[MEASURE_KERNEL], kernel->end_ns - kernel->start_ns);
    if (kernel->start_ns > call->end_ns)
        add_time(&g->times[MEASURE_QUEUE], kernel->start_ns - call->end_ns);
}

/* ---- pairs ---- */

static uint32_t keep(struct summary *s, const struct half *half)
{
    uint32_t place = s->free_half;
    if (place) {
        s->free_half = s->halves[place - 1].next_free;
    } else {
        place = ++s->half_count;
        s->halves = ct_memory_grow(s->halves, &s->halves_size, place, sizeof(*s->halves));
    }
    s->halves[place - 1] = *half;
    return place;
}

static void drop(struct summary *s, uint32_t place)
{
    s->halves[place - 1].next_free = s->free_half;
    s->free_half = place;
}

/* The row that kernels of the same name are counted in. */
static uint32_t row_of(struct summary *s, const struct ct_event *e)
{
    struct ct_string key = {0};
    if (s->names.naming != CT_NAMES_GROUPED && s->names.naming != CT_NAMES_BASE)
        return e->op.row;
    ct_string_printf(&key, "%u %s", e->file->index, ct_event_row(&s->names, e->file, e->op.row));
    uint32_t known = s->shown.count, at = ct_key_table_add(&s->shown, key.data, key.len);
    s->first_rows =
        ct_memory_grow(s->first_rows, &s->first_rows_size, at + 1, sizeof(*s->first_rows));
    if (at == known)
        s->first_rows[at] = e->op.row;
    ct_string_free(&key);
    return s->first_rows[at];
}

static struct half half_of(struct summary *s, const struct ct_event *e)
{
    struct half h = {.start_ns = e->start_ns, .end_ns = e->end_ns, .is_call = e->is_call};
    const struct ct_trace_reader *t = e->file->t;
    h.ids[0] = e->is_call ? e->call.thread : t->streams.at[e->op.stream].device;
    h.ids[1] = e->is_call ? e->call.api : row_of(s, e);
    h.ids[2] = e->is_call ? 0 : (uint32_t)e->op.stream;
    return h;
}

static void take_half(struct summary *s, const struct ct_event *e, uint64_t correlation)
{
    uint32_t *place = ct_links_at(&s->places[e->file->index], correlation);
    struct half own = half_of(s, e);
    if (!place)
        return;
    if (!*place) {
        *place = keep(s, &own);
        return;
    }
    struct half other = s->halves[*place - 1];
    if (other.is_call == own.is_call)
        return;
    add_pair(s, e->file->index, own.is_call ? &own : &other, own.is_call ? &other : &own);
    s->pairs++;
    drop(s, *place);
    *place = 0;
}

/* Takes kernels, and calls that launched one. */
static void take_event(struct summary *s, const struct ct_event *e)
{
    if (e->is_call && ct_links_get(&e->file->links, e->call.correlation))
        take_half(s, e, e->call.correlation);
    else if (!e->is_call && e->file->t->rows.at[e->op.row].kind == CT_ROW_KERNEL)
        take_half(s, e, e->op.correlation);
}

/* ---- rows ---- */

static void set_times(struct ct_cell *cells, const struct times *t)
{
    if (!t->count)
        return;
    cells[0] = ct_cell_number(t->total_ns / (double)t->count);
    cells[1] = ct_cell_number(median_ns(t));
    cells[2] = ct_cell_count(t->least_ns);
    cells[3] = ct_cell_count(t->most_ns);
    cells[4] =
        ct_cell_number(ct_merged_hist_deviation((double)t->count, t->total_ns, t->square_ns2));
}

static void put_group(struct summary *s, struct ct_sink *sink, const struct group *g)
{
    static const enum column first[] = {COLUMN_T_AVG, COLUMN_A_AVG, COLUMN_Q_AVG, COLUMN_K_AVG};
    struct ct_cell cells[COLUMN_COUNT] = {{0}};
    const struct ct_timeline_file *f = &s->tl.files[g->key.file];
    cells[COLUMN_STREAM] = ct_cell_count(f->t->streams.at[g->key.stream].id);
    cells[COLUMN_PID] = ct_cell_count(f->t->process.pid);
    cells[COLUMN_TID] = ct_cell_count(f->t->threads.at[g->key.thread].tid);
    cells[COLUMN_DEVICE] = ct_cell_count(f->t->devices.at[g->key.device].ordinal);
    cells[COLUMN_PAIRS] = ct_cell_count(g->times[MEASURE_ALL].count);
    cells[COLUMN_QCOUNT] = ct_cell_count(g->times[MEASURE_QUEUE].count);
    for (int m = 0; m < MEASURES; m++)
        set_times(&cells[first[m]], &g->times[m]);
    cells[COLUMN_API] = ct_cell_text(ct_event_api(&s->names, f, g->key.api));
    cells[COLUMN_KERNEL] = ct_cell_text(ct_event_row(&s->names, f, g->key.row));
    ct_sink_row(sink, s->per_stream ? cells : cells + 1);
}

static int by_total(const void *a, const void *b)
{
    const struct group *x = a, *y = b;
    double tx = x->times[MEASURE_ALL].total_ns, ty = y->times[MEASURE_ALL].total_ns;
    return (tx < ty) - (tx > ty);
}

/* Order: by process, then by the stream's number. */
static int by_stream(const void *a, const void *b, void *timeline)
{
    const struct key *x = &((const struct group *)a)->key, *y = &((const struct group *)b)->key;
    const struct ct_timeline *tl = timeline;
    if (x->file != y->file)
        return x->file < y->file ? -1 : 1;
    uint64_t number = tl->files[x->file].t->streams.at[x->stream].id;
    uint64_t other = tl->files[y->file].t->streams.at[y->stream].id;
    if (number != other)
        return number < other ? -1 : 1;
    return by_total(a, b);
}

static void put_note(struct summary *s, struct ct_sink *sink)
{
    char text[128];
    uint64_t alone = s->tl.facts.kernels - s->pairs;
    snprintf(text, sizeof(text),
             "%" PRIu64 " of %" PRIu64 " kernels are not counted: "
             "their calls are not in the trace",
             alone, s->tl.facts.kernels);
    if (alone)
        ct_sink_note(sink, text);
}

static void put_groups(struct summary *s, struct ct_sink *sink)
{
    ct_sink_begin(sink, s->per_stream ? &stream_relation : &relation);
    if (s->keys.count && s->per_stream)
        qsort_r(s->groups, s->keys.count, sizeof(*s->groups), by_stream, &s->tl);
    else if (s->keys.count)
        qsort(s->groups, s->keys.count, sizeof(*s->groups), by_total);
    for (uint32_t i = 0; i < s->keys.count; i++)
        put_group(s, sink, &s->groups[i]);
    put_note(s, sink);
    ct_sink_end(sink);
}

static void free_all(struct summary *s)
{
    for (uint32_t i = 0; i < s->keys.count; i++)
        for (int m = 0; m < MEASURES; m++)
            for (size_t o = 0; o <= CT_HIST_OCTAVES; o++)
                free(s->groups[i].times[m].octaves[o]);
    for (uint32_t i = 0; i < s->tl.file_count; i++)
        ct_links_free(&s->places[i]);
    free(s->places);
    free(s->groups);
    free(s->first_rows);
    ct_key_table_free(&s->shown);
    free(s->halves);
    ct_key_table_free(&s->keys);
    ct_event_names_free(&s->names);
    ct_timeline_close(&s->tl);
}

int ct_report_exec_sum(const struct ct_input *in, struct ct_sink *sink)
{
    struct summary s = {.names = {.naming = ct_report_naming(in->o)},
                        .per_stream = in->o->per == CT_PER_STREAM};
    struct ct_timeline_options all = ct_trace_all(in->o);
    const struct ct_event *e;
    all.ranges = false;
    all.links = CT_TIMELINE_KERNELS;
    ct_timeline_open(&s.tl, in->o->files, in->o->file_count, &all);
    s.places = ct_memory_array(s.tl.file_count, sizeof(*s.places));
    while (ct_timeline_next(&s.tl, &e))
        take_event(&s, e);
    put_groups(&s, sink);
    int status = s.tl.failed;
    free_all(&s);
    return status;
}
