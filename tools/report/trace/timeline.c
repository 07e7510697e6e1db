/* SPDX-License-Identifier: MIT */
#include "report/trace/open_ranges.h"
#include "report/trace/timeline_part.h"

#include <math.h>
#include <stdlib.h>

#include "report/file_error.h"
#include "report/profile/key_table.h"
#include "report/progress.h"

/* ---- records that are shown ---- */

static bool is_shown(const struct ct_timeline *tl, struct ct_timeline_part *p,
                     const struct ct_trace_record *r)
{
    if (r->range && p->shown)
        return ct_timeline_shows_range(p, p->range++);
    bool is_asked_for = r->op ? tl->o.ops : r->call ? tl->o.calls : tl->o.ranges;
    return is_asked_for && ct_timeline_end_ns(r) >= p->since_ns &&
           ct_timeline_start_ns(r) < p->until_ns;
}

/* Says why a file cannot be read, once. */
static void fail(struct ct_timeline *tl, struct ct_timeline_file *f, const char *reason)
{
    if (tl->progress)
        ct_progress_hide(tl->progress);
    if (!f->part->broken)
        ct_file_error(f->path, reason);
    f->part->broken = tl->failed = true;
}

bool ct_timeline_read(struct ct_timeline *tl, struct ct_timeline_file *f, struct ct_trace_record *r)
{
    struct ct_read_error error;
    int rc;
    do
        rc = ct_trace_next(f->t, r, &error);
    while (rc > 0 && !is_shown(tl, f->part, r));
    if (rc < 0)
        fail(tl, f, error.text);
    return rc > 0;
}

bool ct_timeline_open_file(struct ct_timeline *tl, struct ct_timeline_file *f)
{
    struct ct_read_error error;
    if (ct_trace_open(&f->t, f->path, &error)) {
        fail(tl, f, error.text);
        return false;
    }
    f->t->since_ns = f->part->since_ns;
    f->t->until_ns = f->part->until_ns;
    f->t->all_ranges = f->part->shown;
    f->part->range = 0;
    return true;
}

void ct_timeline_close_file(struct ct_timeline_file *f)
{
    if (f->t)
        ct_trace_close(f->t);
    f->t = NULL;
}

/* ---- first reading ---- */

static void raise(uint64_t *most, uint64_t value)
{
    if (value > *most)
        *most = value;
}

static void link_op(struct ct_timeline *tl, struct ct_timeline_file *f,
                    const struct ct_trace_op *op)
{
    bool is_kernel = f->t->rows.at[op->row].kind == CT_ROW_KERNEL;
    if (!tl->o.links || (tl->o.links == CT_TIMELINE_KERNELS && !is_kernel))
        return;
    uint32_t *link = ct_links_at(&f->links, op->correlation);
    if (!link)
        return;
    if (tl->o.links == CT_TIMELINE_KERNELS)
        *link = op->row + 1;
    else if (*link < UINT32_MAX)
        ++*link;
}

static void count_op(struct ct_timeline_facts *facts, const struct ct_trace_reader *t,
                     const struct ct_trace_op *op)
{
    const struct ct_trace_row *row = &t->rows.at[op->row];
    uint64_t duration_ns = op->end_ns - op->start_ns;
    facts->ops++;
    if (row->kind == CT_ROW_KERNEL) {
        facts->kernels++;
        if (row->static_shared_bytes != UINT32_MAX)
            raise(&facts->most_static_bytes, row->static_shared_bytes);
        raise(&facts->most_dynamic_bytes, t->shapes.at[op->shape].dynamic_shared_bytes);
    } else if (row->kind != CT_ROW_GRAPH) {
        facts->moves++;
        raise(&facts->most_bytes, op->bytes);
        if (duration_ns)
            facts->most_rate =
                fmax(facts->most_rate, (double)op->bytes * 1e9 / (double)duration_ns);
    }
}

struct ct_range_lanes {
    struct ct_open_ranges open;
    struct ct_key_table keys;
};

/* Counts each lane of ranges once: readers as_read keep a drawing state for each. */
static void count_range(struct ct_timeline *tl, struct ct_timeline_file *f,
                        const struct ct_trace_range *range)
{
    struct ct_range_lanes *lanes = tl->range_lanes;
    struct ct_event e = {.file = f, .is_range = true, .range = *range};
    struct ct_range_span over[CT_OPEN_RANGES_MOST];
    struct ct_string key = {0};
    uint32_t lane = 0, known = lanes->keys.count;
    if (range->phase == CT_TRACE_RANGE_ENDS) {
        ct_open_ranges_end(&lanes->open, &e, over);
        return;
    }
    if (range->phase == CT_TRACE_RANGE_BEGINS)
        lane = ct_open_ranges_begin(&lanes->open, &e)->lane;
    ct_open_ranges_key(&key, &e, lane);
    ct_key_table_text(&lanes->keys, key.data);
    ct_string_free(&key);
    tl->facts.lanes += lanes->keys.count - known;
}

/* Facts are of the clock of the file that began first until all have been read. */
static void count_record(struct ct_timeline *tl, struct ct_timeline_file *f,
                         const struct ct_trace_record *r)
{
    struct ct_timeline_facts *facts = &tl->facts;
    uint64_t start_ns = ct_timeline_start_ns(r), end_ns = ct_timeline_end_ns(r);
    raise(&facts->longest_ns, end_ns - start_ns);
    raise(&facts->last_start_ns, start_ns + f->part->shift_ns);
    raise(&facts->end_ns, end_ns + f->part->shift_ns);
    facts->calls += r->call != NULL;
    facts->ranges += r->range != NULL;
    if (r->range && tl->o.as_read)
        count_range(tl, f, r->range);
    if (!r->op)
        return;
    count_op(facts, f->t, r->op);
    link_op(tl, f, r->op);
}

static void note_start(struct ct_timeline_part *p, uint64_t start_ns)
{
    if (p->records % CT_TIMELINE_CHUNK == 0) {
        p->after_ns = ct_memory_grow(p->after_ns, &p->after_size, p->chunks + 1, sizeof(uint64_t));
        p->after_ns[p->chunks++] = start_ns;
    }
    if (start_ns < p->after_ns[p->chunks - 1])
        p->after_ns[p->chunks - 1] = start_ns;
    p->records++;
}

/* Turns the earliest start of each chunk into that of all chunks behind it. */
static void finish_starts(struct ct_timeline_part *p)
{
    uint64_t least_ns = UINT64_MAX;
    for (size_t i = p->chunks; i--;) {
        uint64_t own_ns = p->after_ns[i];
        p->after_ns[i] = least_ns;
        least_ns = ct_min(least_ns, own_ns);
    }
    p->first_ns = least_ns;
}

/* A file that was cut may have nothing to show, which is no empty timeline. */
static void check_rest(struct ct_timeline *tl, const struct ct_timeline_file *f)
{
    if (!f->ending || f->t->has_records || tl->failed)
        return;
    ct_file_error(f->path, "has nothing to show: the file ends before its first record");
    tl->failed = true;
}

static void scan(struct ct_timeline *tl, struct ct_timeline_file *f)
{
    struct ct_timeline_part *p = f->part;
    struct ct_trace_record r;
    uint64_t told_bytes = 0;
    p->records = p->chunks = 0;
    if (!ct_timeline_open_file(tl, f))
        return;
    while (ct_timeline_read(tl, f, &r)) {
        if (f->t->read_bytes != told_bytes) /* once a block */
            ct_progress_add(tl->progress, f->t->read_bytes - told_bytes);
        told_bytes = f->t->read_bytes;
        note_start(p, ct_timeline_start_ns(&r));
        count_record(tl, f, &r);
    }
    finish_starts(p);
    tl->facts.lanes += f->t->streams.count + f->t->threads.count;
    f->losses = f->t->losses;
    f->ending = ct_trace_ending(f->t);
    check_rest(tl, f);
    ct_timeline_close_file(f);
}

/*
 * Progress is shown during the first reading alone: in the second one lines are printed, perhaps on
 * the same terminal.
 */
static void scan_all(struct ct_timeline *tl)
{
    struct ct_progress progress;
    struct ct_range_lanes lanes = {0};
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < tl->file_count; i++)
        bytes += tl->files[i].bytes;
    ct_progress_start(&progress, "Reading", "bytes", bytes);
    tl->progress = &progress;
    tl->range_lanes = &lanes;
    tl->facts = (struct ct_timeline_facts){0};
    for (uint32_t i = 0; i < tl->file_count; i++) {
        ct_links_free(&tl->files[i].links);
        scan(tl, &tl->files[i]);
    }
    tl->progress = NULL;
    tl->range_lanes = NULL;
    ct_open_ranges_free(&lanes.open);
    ct_key_table_free(&lanes.keys);
    ct_progress_end(&progress);
}

/* ---- clocks ---- */

/* The start of the first record, ns, in the clock of the file that began first. */
static uint64_t find_first(const struct ct_timeline *tl)
{
    uint64_t first_ns = UINT64_MAX;
    for (uint32_t i = 0; i < tl->file_count; i++) {
        const struct ct_timeline_part *p = tl->files[i].part;
        if (p->records)
            first_ns = ct_min(first_ns, p->first_ns + p->shift_ns);
    }
    return first_ns == UINT64_MAX ? 0 : first_ns;
}

/* A time of the timeline in the clock of a file. */
static uint64_t to_file(const struct ct_timeline *tl, const struct ct_timeline_part *p, uint64_t ns)
{
    uint64_t sum;
    if (__builtin_add_overflow(ns, tl->zero_ns, &sum))
        return UINT64_MAX;
    return sum > p->shift_ns ? sum - p->shift_ns : 0;
}

static void set_window(struct ct_timeline *tl)
{
    for (uint32_t i = 0; i < tl->file_count; i++) {
        struct ct_timeline_part *p = tl->files[i].part;
        p->since_ns = to_file(tl, p, tl->o.since_ns);
        p->until_ns = to_file(tl, p, tl->o.until_ns);
        if (tl->facts.ranges)
            ct_timeline_choose_ranges(tl, &tl->files[i]);
    }
}

/* Clocks of processes are tied by the time of day; a sum of two times of files does not overflow.
 */
static void tie_clocks(struct ct_timeline *tl, const uint64_t *unix_ns)
{
    tl->zero_unix_ns = tl->file_count ? unix_ns[0] : 0;
    for (uint32_t i = 1; i < tl->file_count; i++)
        tl->zero_unix_ns = ct_min(tl->zero_unix_ns, unix_ns[i]);
    for (uint32_t i = 0; i < tl->file_count; i++)
        tl->files[i].part->shift_ns = ct_min(unix_ns[i] - tl->zero_unix_ns, INT64_MAX);
}

/* ---- all of it ---- */

/* Takes the files that can be read; where their clocks begin goes to unix_ns. */
static void take_files(struct ct_timeline *tl, char *const *paths, int count, uint64_t *unix_ns)
{
    for (int i = 0; i < count; i++) {
        struct ct_timeline_file *f = &tl->files[tl->file_count];
        *f = (struct ct_timeline_file){.path = paths[i], .index = tl->file_count};
        f->part = ct_memory_array(1, sizeof(*f->part));
        f->part->until_ns = UINT64_MAX;
        if (ct_timeline_open_file(tl, f)) {
            f->bytes = f->t->file_bytes;
            unix_ns[tl->file_count++] = f->t->process.zero_unix_ns;
            ct_timeline_close_file(f);
        } else {
            free(f->part);
        }
    }
}

void ct_timeline_open(struct ct_timeline *tl, char *const *paths, int count,
                      const struct ct_timeline_options *o)
{
    *tl = (struct ct_timeline){.o = *o};
    tl->files = ct_memory_array((size_t)count, sizeof(*tl->files));
    uint64_t *unix_ns = ct_memory_array((size_t)count, sizeof(*unix_ns));
    take_files(tl, paths, count, unix_ns);
    tie_clocks(tl, unix_ns);
    free(unix_ns);
    scan_all(tl);
    tl->zero_ns = find_first(tl);
    tl->zero_unix_ns += tl->zero_ns;
    if (o->since_ns || o->until_ns != UINT64_MAX) {
        set_window(tl);
        scan_all(tl);
    }
    if (tl->facts.ops + tl->facts.calls + tl->facts.ranges) {
        tl->facts.first_ns = find_first(tl) - tl->zero_ns;
        tl->facts.last_start_ns -= tl->zero_ns;
        tl->facts.end_ns -= tl->zero_ns;
    }
    if (!o->as_read)
        ct_timeline_start(tl);
}

static void free_part(struct ct_timeline_part *p)
{
    free(p->shown);
    free(p->after_ns);
    free(p->held);
    free(p->spare);
    free(p->keys);
    free(p);
}

void ct_timeline_close(struct ct_timeline *tl)
{
    for (uint32_t i = 0; i < tl->file_count; i++) {
        ct_timeline_close_file(&tl->files[i]);
        ct_links_free(&tl->files[i].links);
        free_part(tl->files[i].part);
    }
    free(tl->files);
    free(tl->heap);
}
